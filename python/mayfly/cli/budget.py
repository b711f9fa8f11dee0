"""The memory and time that a command may take: it ends with one line before the machine swaps, or it is killed.

Principle: all that a command reads ends up in the memory of its process, whatever reads it (Python, polars, our native
code). A thread looks at that every now and then, since none of these can be asked to stop.
"""

import threading
import time
from collections.abc import Callable

from mayfly.errors import MayflyError
from mayfly.limits import LOOK_S, limits, more_memory, more_time, seconds_text, taken_bytes

LEAST_BYTES = 300 * 10**6
"""A command takes about so much before it has read anything."""

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


class Budget:
    """Watches what the process takes of memory and time, and ends it.

    Parameters
    ----------
    most_bytes : int
    most_s : float, optional
        From now on; no limit when None.
    end : callable
        Called with the line to say, in a thread of its own; it does not come back.
    """

    def __init__(self, most_bytes: int, most_s: float | None, end: Callable[[str], None]):
        self.most_bytes = most_bytes
        self.most_s = most_s
        self._end = end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="budget", daemon=True)

    def start(self) -> "Budget":
        """Watches from now on, where the system tells what a process takes."""
        limits.memory_bytes, limits.time_s, limits.begun_s = self.most_bytes, self.most_s, time.monotonic()
        try:
            taken_bytes()
        except (OSError, ValueError):
            limits.memory_bytes = None
        if limits.memory_bytes is not None or self.most_s is not None:
            self._thread.start()
        return self

    def stop(self) -> None:
        """Watches no more."""
        self._over.set()
        limits.memory_bytes = limits.asked_bytes = limits.time_s = None
        limits.base_bytes, limits.files_bytes, limits.maps_data = 0, 0, False

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            if limits.memory_bytes is not None and taken_bytes() > self.most_bytes:
                return self._end(
                    reached(f"{self.most_bytes / 1e9:.3g} GB of memory", more_memory(self.most_bytes), limits.come)
                )
            if self.most_s is not None and time.monotonic() - limits.begun_s > self.most_s:
                return self._end(reached(seconds_text(self.most_s), more_time(self.most_s), limits.come))
        return None


def reached(limit: str, more: str, come: str) -> str:
    """What is said when a limit is reached, and how far reading had come.

    Examples
    --------
    >>> reached("2 GB of memory", "--memory 4gb", "")
    'stopped at 2 GB of memory: `mayfly --memory 4gb COMMAND` goes on; less input takes less'
    """
    after = f" after {come}" if come else ""
    return f"stopped at {limit}{after}: `mayfly {more} COMMAND` goes on; less input takes less"


def parsed_time(text: str) -> float:
    """Seconds of ``--time``.

    Raises
    ------
    MayflyError
        No time, or less than a second.
    """
    from mayfly.text import quantity

    seconds = quantity.seconds(text, "--time")
    if seconds < 1.0:
        raise MayflyError(
            f"--time {text}: must be at least 1s; a command takes about so much before it has read anything"
        )
    return seconds
