"""What reading may take of memory and time, and how far it has come.

Principle: captures are read to the end, or up to a point where what was read is a capture of its own: an answer from a
part, said to be one, is worth more than none. The command line sets :data:`limits`; a program that imports Mayfly has
none unless it sets its own.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

READING = 0.4
"""Of the memory and the time of a command, what reading a capture may take: tables and answers need the rest.

Of a million flows of one packet each, reading takes 0.96 of the 1.9 GB that their whole profile takes."""

LOOK_S = 0.02
"""Between two looks at the memory taken: 10 GB/s fill 200 MB meanwhile."""

_BYTES = 1e9


@dataclass
class Limits:
    """Limits of a command.

    Parameters
    ----------
    memory_bytes : int, optional
        What the process may take; no limit when None.
    time_s : float, optional
        What the command may take from ``begun_s`` on; no limit when None.
    begun_s : float
        Of ``time.monotonic()``.
    told : callable, optional
        Called while something is read with what was read, in words, and with the share of it, None where nobody knows
        how long it is; with an empty text at the end.
    come : str
        How far the reading has come, in words; empty before it began.
    """

    memory_bytes: int | None = None
    time_s: float | None = None
    begun_s: float = 0.0
    told: Callable[[str, float | None], None] | None = None
    come: str = ""


limits = Limits()
"""Of this process."""


def taken_bytes() -> int:
    """Memory of this process that is not a file's.

    Raises
    ------
    OSError
        The system does not tell.
    """
    with open("/proc/self/statm", encoding="ascii") as statm:
        _, resident, shared, *_ = statm.read().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def seconds_text(seconds: float) -> str:
    """A time limit as it was given, in seconds.

    Examples
    --------
    >>> seconds_text(60.0), seconds_text(1.5)
    ('60 s', '1.5 s')
    """
    return f"{seconds:g} s"


def more_memory(most_bytes: int) -> str:
    """Twice the memory, as the option takes it.

    Examples
    --------
    >>> more_memory(2_000_000_000), more_memory(400_000_000)
    ('--memory 4gb', '--memory 1gb')
    """
    return f"--memory {max(2 * most_bytes / _BYTES, 1):.0f}gb"


def more_time(most_s: float) -> str:
    """Twice the time, as the option takes it.

    Examples
    --------
    >>> more_time(30.0)
    '--time 60s'
    """
    return f"--time {2 * most_s:g}s"


class Look:
    """Looks on while captures are read: tells how far it is, and ends it where a share of a limit is reached.

    Parameters
    ----------
    paths : sequence of str
        Files, ``-`` the standard input.
    """

    def __init__(self, paths: "list[str]"):
        known = all(os.path.isfile(path) for path in paths)
        self._bytes = sum(os.path.getsize(path) for path in paths) if known else 0
        self.stopped: dict[str, Any] | None = None

    def __call__(self, packets: int, connections: int, read_bytes: int) -> bool:
        """Whether to read on.

        Parameters
        ----------
        packets, connections : int
            Found so far.
        read_bytes : int
            Of the files.

        Returns
        -------
        bool
        """
        limits.come = f"{_many(packets)} packets, {_many(connections)} connections"
        if limits.told is not None:
            limits.told(limits.come, min(read_bytes / self._bytes, 1.0) if self._bytes else None)
        limit = self._reached()
        if limit is None:
            return True
        reached, more = limit
        self.stopped = {"at": reached, "packets": packets, "connections": connections, "more": more}
        return False

    @staticmethod
    def _reached() -> tuple[str, str] | None:
        if limits.memory_bytes is not None and taken_bytes() > READING * limits.memory_bytes:
            return f"{READING * limits.memory_bytes / _BYTES:.3g} GB of memory", more_memory(limits.memory_bytes)
        if limits.time_s is not None and time.monotonic() - limits.begun_s > READING * limits.time_s:
            return seconds_text(READING * limits.time_s), more_time(limits.time_s)
        return None

    @staticmethod
    def end() -> None:
        """Says that all is read."""
        if limits.told is not None:
            limits.told("", None)


def _many(count: int) -> str:
    """A count in few digits.

    Examples
    --------
    >>> _many(812), _many(3_140_000)
    ('812', '3.14 M')
    """
    return f"{count:,}" if count < 10**6 else f"{count / 1e6:.3g} M"


def stopped_sentence(counts: "dict[str, Any]", duration_s: float) -> str | None:
    """What is said of a capture that was not read to its end; None of one that was.

    Parameters
    ----------
    counts : dict
        Of :func:`mayfly.workload.connections.read_captures`.
    duration_s : float
        From the first packet to the last one read, s.

    Returns
    -------
    str or None

    Examples
    --------
    >>> found = {"at": "0.8 GB of memory", "packets": 9, "connections": 4, "more": "--memory 4gb"}
    >>> stopped_sentence({"stopped": found}, 12.3).partition(":")[0]
    'Partial'
    """
    found = counts.get("stopped")
    if not found:
        return None
    return (
        f"Partial: reading stopped at {found['at']}, after {_many(found['packets'])} packets, "
        f"{_many(found['connections'])} connections and {duration_s:.3g} s of the capture: "
        f"`mayfly {found['more']} COMMAND` reads on"
    )
