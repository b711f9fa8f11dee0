"""What a packet costs under a queue discipline: many packets sent from a ring, one system call for thousands.

The clock of the guest stands still while it computes, so the CPU time of the User Mode Linux process is read outside.
`run` only sends, as often as it is told.
"""

import mmap
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames

SOL_PACKET, PACKET_VERSION, PACKET_TX_RING, TPACKET_V2 = 263, 10, 13, 1
FRAME_SIZE, FRAMES = 2048, 4096
WAITING = 512  # divides FRAMES
DELAY_S = 0.001
DATA_OFFSET = 32  # of the packet behind struct tpacket2_hdr, TPACKET2_HDRLEN less its sockaddr_ll
TP_STATUS_SEND_REQUEST = 1
DEVICE = "void"


def tc(command: str) -> None:
    subprocess.run(["tc", *command.split()], check=True)


def ring(flows: int, length: int):
    """A packet socket with a ring of frames of that many flows in turn; sends all of them by one call each time."""
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.setsockopt(SOL_PACKET, PACKET_VERSION, struct.pack("i", TPACKET_V2))
    block = FRAMES * FRAME_SIZE // 64
    sender.setsockopt(SOL_PACKET, PACKET_TX_RING, struct.pack("IIII", block, 64, FRAME_SIZE, FRAMES))
    sender.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, 1 << 30)
    sender.bind((DEVICE, 0))
    memory = mmap.mmap(sender.fileno(), FRAMES * FRAME_SIZE)
    head = bytes(12) + struct.pack("!H", 0x0800)
    for slot in range(FRAMES):
        packet = head + frames.udp(slot % flows * 65_537, length)
        start = slot * FRAME_SIZE
        memory[start + DATA_OFFSET : start + DATA_OFFSET + len(packet)] = packet
    return sender, memory


def ready(memory: mmap.mmap, first: int, count: int, length: int) -> None:
    """Some of the frames are to be sent by the next call."""
    for slot in range(first, first + count):
        struct.pack_into("II", memory, slot * FRAME_SIZE, TP_STATUS_SEND_REQUEST, length)


def set_up(leaf: str, waits: bool) -> None:
    """The device, and the discipline below ``prio``, or ``netem`` where packets wait."""
    frames.ip(f"link add {DEVICE} type dummy")
    frames.ip(f"link set {DEVICE} up")
    if waits:
        tc(f"qdisc add dev {DEVICE} root handle 1: netem delay {DELAY_S}s limit {2 * WAITING}")
    else:
        tc(f"qdisc add dev {DEVICE} root handle 1: prio bands 2 priomap{16 * ' 0'}")
    tc(f"qdisc add dev {DEVICE} parent 1:1 handle 10: {leaf}")


def run(settings: dict) -> dict:
    """Sends ``rounds`` times all frames, of ``flows`` flows and ``length`` bytes, through ``leaf``.

    It is below another: at the root of an idle device fq_codel and sfq are passed by. Below ``prio`` a packet leaves at
    once. With ``waits`` WAITING packets meet below ``netem``, which gives them on when all are due, then all leave.
    """
    set_up(settings["leaf"], settings["waits"])
    count = WAITING if settings["waits"] else FRAMES
    sender, memory = ring(settings["flows"], settings["length"])
    for _ in range(settings["rounds"]):
        for first in range(0, FRAMES, count):
            ready(memory, first, count, settings["length"])
            sender.send(b"")
            if settings["waits"]:
                time.sleep(2 * DELAY_S)  # netem parts packets from their socket: the call does not wait for them
    return {"shown": frames.tc(f"-s qdisc show dev {DEVICE}")}
