"""A flood of packets, each of a new flow, into a queue that is full and drains: how long the kernel takes for them.

The guest's clock has to be that of the machine. Many packets are sent with one system call.
"""

import ctypes
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames
import netlink
from frames import tc

DEVICE = "void"
LENGTH = 60
BATCH = 64
"""Packets of a system call."""
SOURCE_AT = frames.ETHERNET + 12
"""Of the sender's address in a frame."""

libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Message(ctypes.Structure):
    """struct mmsghdr."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint),
        ("vectors", ctypes.POINTER(Vector)),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
        ("sent", ctypes.c_uint),
    )


class Sender:
    """A packet socket that sends a batch of packets of new flows with one call, where none of them is refused."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, 1 << 30)
        self.socket.bind((DEVICE, 0))
        packet = bytes(12) + struct.pack("!H", 0x0800) + frames.udp(1, LENGTH)
        self.frames = bytearray(packet * BATCH)
        self.size = len(packet)
        memory = (ctypes.c_char * len(self.frames)).from_buffer(self.frames)
        self.vectors = (Vector * BATCH)()
        self.messages = (Message * BATCH)()
        for slot in range(BATCH):
            self.vectors[slot] = Vector(ctypes.addressof(memory) + slot * self.size, self.size)
            self.messages[slot] = Message(vectors=ctypes.pointer(self.vectors[slot]), vector_count=1)

    def send(self, flow: int) -> float:
        """Sends packets of flows from a number on; seconds that the calls took.

        A packet that is dropped ends a call: the next one goes on behind it.
        """
        for slot in range(BATCH):
            struct.pack_into("!I", self.frames, slot * self.size + SOURCE_AT, flow + slot)
        done = 0
        began = time.perf_counter()
        while done < BATCH:
            sent = libc.sendmmsg(self.socket.fileno(), ctypes.byref(self.messages[done]), BATCH - done, 0)
            done += max(sent, 1)
        return time.perf_counter() - began


def run(settings: dict) -> dict:
    """Sends ``packets`` into ``leaf`` below htb with ``rate``, at least as many as fill it before.

    Returns
    -------
    dict
        ``shown``: what tc tells of the leaf; ``per_s``: packets a second of the calls; ``mean_ns``, ``quantile_ns`` (of
        99.99 %) and ``most_ns``: time of a batch over its packets, of those sent after the queue was full.
    """
    frames.ip(f"link add {DEVICE} type dummy")
    frames.ip(f"link set {DEVICE} up")
    tc(f"qdisc add dev {DEVICE} root handle 1: htb default 1")
    tc(f"class add dev {DEVICE} parent 1: classid 1:1 htb rate {settings['rate']} quantum 60000")
    tc(f"qdisc add dev {DEVICE} parent 1:1 handle 10: {settings['leaf']}")
    sender, link = Sender(), netlink.Netlink(DEVICE)
    took, flow, full = [], 1, False
    while len(took) * BATCH < settings["packets"]:
        assert flow < 10 * settings["packets"], "the queue drains faster than it is filled"
        for _ in range(64):
            seconds = sender.send(flow)
            flow += BATCH
            if full:
                took.append(seconds)
        full = full or any(row.drops for row in link.shown())
    took.sort()
    shown = tc(f"-s qdisc show dev {DEVICE}")
    return {
        "shown": shown,
        "per_s": BATCH * len(took) / sum(took),
        "mean_ns": 1e9 * sum(took) / len(took) / BATCH,
        "quantile_ns": 1e9 * took[int(0.9999 * len(took))] / BATCH,
        "most_ns": 1e9 * took[-1] / BATCH,
    }
