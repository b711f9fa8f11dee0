"""Marks that queue disciplines of Linux count, next to the packets with *congestion experienced* that a receiver gets.

`run` overloads the link below each discipline of the settings, and returns what tc prints of it and the receiver's count.
"""

import ctypes
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from frames import DEVICE, ETHERNET, FAR, Link, ip, tc

CE = 3
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
TOOLS = Path("/run/tools")
RATE, LENGTH = "10mbit", 1442
SPACING_S = 0.0006
"""Twice the rate of the link: a frame of 1442 bytes takes it 1.15 ms."""


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Puts the process into another network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net") as here, open(f"/run/netns/{namespace}") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
        try:
            yield
        finally:
            libc.setns(here.fileno(), CLONE_NEWNET)


def receiver() -> socket.socket:
    """Takes IPv4 packets at the far end; none is lost for want of memory."""
    with inside(FAR):
        found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        found.bind(("sink", 0x0800))
        found.setblocking(False)
    return found


def counted(far: socket.socket) -> dict[str, int]:
    """IPv4 packets that came, and those of them with the mark."""
    packets = marked = 0
    while True:
        try:
            frame = far.recv(2048)
        except BlockingIOError:
            return {"packets": packets, "ce": marked}
        packets += 1
        marked += frame[ETHERNET + 1] & 3 == CE


def overloaded(leaf: str, codes: list[int], frames: int) -> dict:
    """Sends packets with these ECN fields in turn, a flow of each, and waits until all have gone."""
    link = Link(leaf, RATE)
    try:
        far = receiver()
        for number in range(frames):
            link.udp([number % len(codes)], LENGTH, codes[number % len(codes)])
            time.sleep(SPACING_S)
        time.sleep(100)
        found = {"tc": tc(f"-s -j qdisc show dev {DEVICE}")} | counted(far)
        far.close()
        return found
    finally:
        link.close()


def run(settings: dict) -> dict:
    """`cases`: name to `leaf`, words of tc; `codes`, ECN fields of the packets. `tc`: another one than the system's."""
    if settings.get("tc"):
        TOOLS.mkdir()
        (TOOLS / "tc").symlink_to(settings["tc"])
        os.environ["PATH"] = f"{TOOLS}:{os.environ['PATH']}"
    ip("link set lo up")
    cases = settings["cases"].items()
    return {name: overloaded(case["leaf"], case["codes"], settings["frames"]) for name, case in cases}
