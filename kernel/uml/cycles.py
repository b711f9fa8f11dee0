"""What a packet costs under queue disciplines in turns, by the time stamp counter, which runs on in the guest.

Bursts take less time than the host lets a process run: the lower ones of many were not interrupted, however busy the
host is. x86 alone.
"""

import ctypes
import mmap
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import cost
import frames

RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")  # rdtsc; shl $32, %rdx; or %rdx, %rax; ret


def counter() -> Callable[[], int]:
    """A function that reads the time stamp counter."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(RDTSC)
    first = ctypes.c_char.from_buffer(code)  # keeps the page
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(first))
    return lambda page=first: read()


def run(settings: dict) -> list[list[int]]:
    """Ticks of ``rounds`` bursts of cost.WAITING packets, for each of ``cases``, which take turns.

    A case has a ``leaf`` and says whether it ``waits``, as in cost.py.
    """
    senders = []
    for number, case in enumerate(settings["cases"]):
        cost.DEVICE = f"void{number}"
        cost.set_up(case["leaf"], case["waits"])
        senders.append(cost.ring(settings["flows"], settings["length"]))
    now = counter()
    found: list[list[int]] = [[] for _ in senders]
    for turn in range(settings["rounds"]):
        first = turn * cost.WAITING % cost.FRAMES
        for case, (sender, memory), ticks in zip(settings["cases"], senders, found, strict=True):
            cost.ready(memory, first, cost.WAITING, settings["length"])
            before = now()
            sender.send(b"")
            if case["waits"]:
                time.sleep(2 * cost.DELAY_S)
            ticks.append(now() - before)
    for number in range(len(senders)):
        frames.ip(f"link del void{number}")
    return found
