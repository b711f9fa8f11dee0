"""The memory that a command may take: it ends with one line before the machine swaps, or the system kills it.

Principle: all that a command reads ends up in the memory of its process, whatever reads it (Python, polars, our native
code). A thread looks at that every now and then, since none of these can be asked to stop.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from mayfly.errors import MayflyError

SHARE = 0.75
"""Of the memory of the machine, or of the control group, without ``--memory``."""

LEAST_BYTES = 300 * 10**6
"""A command takes about so much before it has read anything."""

LOOK_S = 0.02
"""Between two looks at the memory taken: 10 GB/s fill 200 MB meanwhile."""

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def parsed(text: str) -> int:
    """Bytes of an amount such as ``8gb``.

    Parameters
    ----------
    text : str
        Number and unit; without a unit bytes.

    Returns
    -------
    int

    Raises
    ------
    MayflyError
        It is none, or too little to start with.

    Examples
    --------
    >>> parsed("8gb"), parsed("1.5 GiB")
    (8000000000, 1610612736)
    """
    digits = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = text.strip()[len(digits) :].lower()
    try:
        size = float(digits) * _UNITS[unit]
        if LEAST_BYTES <= size <= 2**60:
            return int(size)
    except (ValueError, KeyError):
        pass
    raise MayflyError(f"--memory {text}: must be an amount from {LEAST_BYTES // 10**6}mb on, such as 8gb")


def machine_bytes(root: Path = Path("/")) -> int:
    """Memory of the machine, or what the control groups of this process leave of it.

    Parameters
    ----------
    root : Path
        Of the file system.

    Returns
    -------
    int
        Bytes; 2^60 where nothing tells.
    """
    found = [2**60]
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemTotal:"):
            found.append(int(line.split()[1]) * 1024)
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        if number == "0":
            base, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            base, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        folder = base / path.lstrip("/")
        # A limit of any group above counts. In a container the path is that outside: then the root has the limit.
        for place in (folder, *folder.parents):
            if place == base.parent or not place.is_relative_to(base):
                break
            found += [int(value) for value in _lines(place / name) if value.isdecimal()]
    return min(found)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def taken_bytes() -> int:
    """Memory of this process that is not a file's."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        _, resident, shared, *_ = statm.read().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


class Budget:
    """Watches what the process takes, and ends it.

    Parameters
    ----------
    most_bytes : int
    end : callable
        Called with the line to say, in a thread of its own; it does not come back.
    """

    def __init__(self, most_bytes: int, end: Callable[[str], None]):
        self.most_bytes = most_bytes
        self._end = end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory budget", daemon=True)

    def start(self) -> "Budget":
        """Watches from now on, where the system tells what a process takes."""
        try:
            taken_bytes()
        except (OSError, ValueError):
            return self
        self._thread.start()
        return self

    def stop(self) -> None:
        """Watches no more."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            if taken_bytes() > self.most_bytes:
                self._end(reached(self.most_bytes))
                return


def reached(most_bytes: int) -> str:
    """What is said when it is reached.

    Examples
    --------
    >>> reached(2_000_000_000)
    'stopped at 2 GB of memory: `mayfly --memory 4gb COMMAND` goes on; less input takes less'
    """
    size = f"{most_bytes / 1e9:.3g}"
    more = f"{max(2 * most_bytes / 1e9, 1):.0f}gb"
    return f"stopped at {size} GB of memory: `mayfly --memory {more} COMMAND` goes on; less input takes less"
