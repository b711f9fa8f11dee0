"""What a packet costs under a queue discipline, in instructions: qemu counts one as a nanosecond (-icount shift=0).

Packets go out of the ring of a packet socket (kernel/uml/cost.py) into a device that frees them. Where each leaves at
once the time of the call is all of the kernel's work; else that in which the processor is not idle, less what it takes
to make the ring ready.
"""

import mmap
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "uml"))
import cost
import frames

BLOCK = 1 << 20
LENGTH = 1000
SLOT_S = {False: 0.25, True: 2.0}
MANY = 8192
"""Frames from which on the long slot is needed: sending all of them takes longer."""
COPIES = 16
FLOWS_OF_A_HOST = 16


def tc(words: str) -> None:
    subprocess.run(["tc", *words.split()], check=True)


def packet(flow: int) -> bytes:
    """Of a host that has some flows."""
    head = struct.pack("!HHHH", 1024 + flow % FLOWS_OF_A_HOST, 5001, LENGTH - frames.ETHERNET - 20, 0)
    host = flow // FLOWS_OF_A_HOST
    return frames.ipv4(17, head + bytes(LENGTH - frames.ETHERNET - 28), f"10.1.{host >> 8}.{host & 255}", "10.2.0.1")


def ring(count: int, flows: int):
    """A socket with a ring of so many frames, of so many flows in turn."""
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.setsockopt(cost.SOL_PACKET, cost.PACKET_VERSION, struct.pack("i", cost.TPACKET_V2))
    size = count * cost.FRAME_SIZE
    sender.setsockopt(
        cost.SOL_PACKET,
        cost.PACKET_TX_RING,
        struct.pack("IIII", BLOCK, size // BLOCK, cost.FRAME_SIZE, count),
    )
    sender.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, 1 << 30)
    sender.bind((cost.DEVICE, 0))
    memory = mmap.mmap(sender.fileno(), size)
    head = bytes(12) + struct.pack("!H", 0x0800)
    for slot in range(count):
        frame = head + packet(slot % flows)
        start = slot * cost.FRAME_SIZE + cost.DATA_OFFSET
        memory[start : start + len(frame)] = frame
    return sender, memory


def busy_ns() -> int:
    """Time that the processor was not idle, to a hundredth of a second."""
    up, idle = (float(text) for text in Path("/proc/uptime").read_text().split())
    return round((up - idle) * 1e9)


def sent(sender, memory, count: int) -> tuple[int, int]:
    """Sends all frames by one call; ns in which they were made ready for it, and of the call."""
    begin = time.monotonic_ns()
    for slot in range(count):
        struct.pack_into("II", memory, slot * cost.FRAME_SIZE, cost.TP_STATUS_SEND_REQUEST, LENGTH)
    ready = time.monotonic_ns()
    sender.send(b"")
    return ready - begin, time.monotonic_ns() - ready


def measured(case: dict, sender, memory) -> dict:
    """Instructions per packet: of one that leaves at once, or of those that all wait first (``waits``)."""
    count, rounds = case["count"], case["rounds"]
    slot_s = SLOT_S[count > MANY]
    if case["waits"]:
        tc(f"qdisc add dev {cost.DEVICE} root handle 1: netem delay 1ms slot {slot_s}s {slot_s}s limit {4 * count}")
        tc(f"qdisc add dev {cost.DEVICE} parent 1:1 handle 10: {case['leaf']}")
    else:
        for line in case["lines"]:
            tc(line.replace("DEV", f"dev {cost.DEVICE}"))
    before = busy_ns()
    ready = calls = 0
    for _ in range(rounds):
        found = sent(sender, memory, count)
        ready, calls = ready + found[0], calls + found[1]
        time.sleep(2 * slot_s if case["waits"] else 0.01)
    spent = busy_ns() - before - ready if case["waits"] else calls
    shown = subprocess.run(
        ["tc", "-s", "-j", "qdisc", "show", "dev", cost.DEVICE], capture_output=True, text=True
    ).stdout
    tc(f"qdisc del dev {cost.DEVICE} root")
    return {"ns": spent / rounds / count, "shown": shown}


def free_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemFree:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo tells no MemFree")


def memory_bytes(leaf: str) -> float:
    """Of one that nothing waits in: the mean of several."""
    for number in range(COPIES):
        frames.ip(f"link add idle{number} type dummy")
    tc(f"qdisc add dev idle0 root handle 10: {leaf}")  # what loads a module is not counted
    before = free_bytes()
    for number in range(1, COPIES):
        tc(f"qdisc add dev idle{number} root handle 10: {leaf}")
    found = (before - free_bytes()) / (COPIES - 1)
    for number in range(COPIES):
        frames.ip(f"link del idle{number}")
    return found


def run(settings: dict) -> dict:
    """Each case in turn.

    Parameters
    ----------
    settings : dict
        ``cases``: ``flows``, ``count`` (frames of the ring), ``rounds``, ``waits``, and ``leaf`` (below netem), or
        ``lines`` of tc in which DEV is the device; cases with the same flows and count one after the other.
        ``memory``: leaves of which the memory is told.

    Returns
    -------
    dict
        ``cases``: ``ns`` per packet and what tc shows; ``memory``: bytes.
    """
    subprocess.run(["modprobe", "-a", "dummy", *settings["modules"]], check=True)
    frames.ip(f"link add {cost.DEVICE} type dummy")
    frames.ip(f"link set {cost.DEVICE} up")
    found, held = [], None
    for case in settings["cases"]:
        if held is None or held[0] != (case["count"], case["flows"]):
            if held is not None:
                held[2].close()
                held[1].close()
            held = ((case["count"], case["flows"]), *ring(case["count"], case["flows"]))
        found.append(measured(case, held[1], held[2]))
    return {"cases": found, "memory": {leaf: memory_bytes(leaf) for leaf in settings["memory"]}}
