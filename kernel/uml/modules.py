"""Kernel modules of the guest, by system call: kmod may not be installed, and is not needed."""

import ctypes
import os
from pathlib import Path

FINIT_MODULE, DELETE_MODULE = 313, 176  # x86_64
FOLDER = Path("/run/modules")
"""Where init.py mounts the modules and plug-ins that the host built, if a run wants any."""

libc = ctypes.CDLL(None, use_errno=True)


def load(name: str) -> None:
    """Loads a module, ``sch_efd`` for one; OSError if the kernel refuses."""
    descriptor = os.open(FOLDER / f"{name}.ko", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.syscall(FINIT_MODULE, descriptor, b"", 0):
            raise OSError(ctypes.get_errno(), f"load {name}")
    finally:
        os.close(descriptor)


def unload(name: str) -> None:
    """Removes a module; OSError if it is in use."""
    if libc.syscall(DELETE_MODULE, name.encode(), os.O_NONBLOCK):
        raise OSError(ctypes.get_errno(), f"unload {name}")


def loaded() -> list[str]:
    """Names of the modules that are loaded."""
    return [line.split()[0] for line in Path("/proc/modules").read_text().splitlines()]
