"""What reading may take of memory and time, and how far it has come.

Principle: captures are read to the end, or up to a point where what was read is a capture of its own: an answer from a
part, said to be one, is worth more than none. The command line sets :data:`limits`; a program that imports Mayfly has
none unless it sets its own.
"""

import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mayfly.errors import MayflyError

SHARE = 0.75
"""Of the memory of the machine, or of the control group, without ``--memory``."""

READING = 0.4
"""Of the memory and the time of a command, what reading a capture may take, its base apart: tables and answers need the
rest.

Of a million flows of one packet each, reading takes 0.96 of the 1.9 GB that their whole profile takes."""

SIMULATING = 0.8
"""Of the memory and the time of a command, what reading and simulating may take; what is complete is answered for."""

LOOK_S = 0.02
"""Between two looks at the memory taken: 10 GB/s fill 200 MB meanwhile."""

DRAWN_BYTES = 150
"""Memory that a flow takes at least while a list is drawn (166 to 207 were measured, 94 of them the list itself)."""

RECORD_BYTES = 250
"""Memory that the record of a flow takes at least (287 were measured)."""

FRAME_BYTES = 130
"""Memory that a frame or a packet of speech in the table of a run takes at least (133 were measured)."""

SMALL_FILE_BYTES = 1 << 20
"""Largest file whose tables one thread makes sooner than several, which wait for each other at every step."""

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
    asked_bytes : int, optional
        What a user gave as ``memory_bytes``; None where it is a share of the machine.
    told : callable, optional
        Called while something is read with what was read, in words, and with the share of it, None where nobody knows
        how long it is; with an empty text at the end.
    come : str
        How far the reading has come, in words; empty before it began.
    base_bytes : int
        What the process took before it read anything; 0 before that.
    files_bytes : int
        Pages of files that count as memory: the program and its libraries, the most that there were before data was
        mapped.
    maps_data : bool
        Whether files of data are mapped, whose pages the system takes back when it needs them: they do not count.
    """

    memory_bytes: int | None = None
    time_s: float | None = None
    begun_s: float = 0.0
    asked_bytes: int | None = None
    told: Callable[[str, float | None], None] | None = None
    come: str = ""
    base_bytes: int = 0
    files_bytes: int = 0
    maps_data: bool = False


limits = Limits()
"""Of this process."""


counted: set[int] = set()
"""Processes whose memory counts to this one's: they read for it."""


def taken_bytes() -> int:
    """Memory of this process with its program and libraries, and of those that read for it.

    Raises
    ------
    OSError
        The system does not tell.
    """
    own, files = _own_and_files("self")
    if not limits.maps_data:
        limits.files_bytes = max(limits.files_bytes, files)
    taken = own + min(files, limits.files_bytes)
    for process in tuple(counted):
        # One that has just ended takes nothing.
        with contextlib.suppress(OSError, ValueError):
            taken += _own_and_files(str(process))[0]
    return taken


def _own_and_files(process: str) -> tuple[int, int]:
    """Bytes that are in memory: of no file, and of files."""
    # Asked fifty times a second: as few calls of the system as it takes.
    statm = os.open(f"/proc/{process}/statm", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _, resident, shared, *_ = os.read(statm, 256).split()
    finally:
        os.close(statm)
    page = os.sysconf("SC_PAGE_SIZE")
    return (int(resident) - int(shared)) * page, int(shared) * page


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


def reached(share: float) -> tuple[str, str] | None:
    """Which limit is reached to this share, and the option that raises it.

    Parameters
    ----------
    share : float
        Of the memory and the time of the command.

    Returns
    -------
    tuple of str or None
        None where neither is.

    Examples
    --------
    >>> limits.memory_bytes = 100
    >>> reached(0.5)
    ('5e-08 GB of memory', '--memory 1gb')
    >>> limits.memory_bytes = None
    >>> reached(0.5)
    """
    if memory_reached(share) and limits.memory_bytes is not None:
        return f"{share_bytes(share) / _BYTES:.3g} GB of memory", more_memory(limits.memory_bytes)
    if limits.time_s is not None and time.monotonic() - limits.begun_s > share * limits.time_s:
        return seconds_text(share * limits.time_s), more_time(limits.time_s)
    return None


def at_once(each_bytes: float, share: float = SIMULATING) -> int:
    """How many equal pieces of work fit into a share of the memory of the command, next to what is taken: at least one.

    Parameters
    ----------
    each_bytes : float
        What one of them takes, > 0.
    share : float
        Of the memory.

    Returns
    -------
    int
        At most as many as there are processors.

    Examples
    --------
    >>> limits.memory_bytes = 10**12
    >>> at_once(9e11)
    1
    >>> limits.memory_bytes = None
    >>> at_once(9e11) == os.cpu_count()
    True
    """
    most = os.cpu_count() or 1
    if limits.memory_bytes is None:
        return most
    return max(1, min(most, int((share_bytes(share) - taken_bytes()) / each_bytes)))


def give_back() -> None:
    """Return what was freed to the system, where its allocator holds it back: before work that takes as much again."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def memory_reached(share: float) -> bool:
    """Whether the memory of the command is taken to this share.

    Examples
    --------
    >>> memory_reached(0.5)
    False
    """
    return limits.memory_bytes is not None and taken_bytes() > share_bytes(share)


def share_bytes(share: float) -> float:
    """A share of the memory of the command: of what it did not take before it read anything, and that.

    Examples
    --------
    >>> limits.memory_bytes, limits.base_bytes = 1_000, 200
    >>> share_bytes(0.5)
    600.0
    >>> limits.memory_bytes, limits.base_bytes = None, 0
    """
    assert limits.memory_bytes is not None
    return limits.base_bytes + share * max(limits.memory_bytes - limits.base_bytes, 0)


def refuse_flows(flows: float, each_bytes: int, what: str, noun: str = "flows") -> None:
    """Refuses what clearly takes more memory than there is, before any of it is taken.

    Parameters
    ----------
    flows : float
        Expected number.
    each_bytes : int
        What one takes at least, bytes.
    what : str
        How messages call what was asked for.
    noun : str
        How they call what there are so many of.

    Raises
    ------
    MayflyError
        They take more than the command may, beside what is taken.

    Examples
    --------
    >>> limits.memory_bytes = 100_000_000_000
    >>> refuse_flows(1000, DRAWN_BYTES, "load = 10mbit")
    >>> refuse_flows(4e9, DRAWN_BYTES, "load")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: load: 4e+03 M flows take 6e+02 GB or more, and the command has 100 GB of memory: ...
    >>> limits.memory_bytes = None
    """
    flows = min(flows, 1e18)
    most, needed = limits.memory_bytes, flows * each_bytes
    if most is not None and needed > most - taken_bytes():
        raise MayflyError(
            f"{what}: {_many(round(flows))} {noun} take {needed / _BYTES:.2g} GB or more, and the command has "
            f"{most / _BYTES:.3g} GB of memory: `mayfly {more_memory(round(needed))} COMMAND` has more; must be fewer"
        )


class Look:
    """Looks on while captures are read: tells how far it is, and ends it where a share of a limit is reached.

    Parameters
    ----------
    paths : sequence of str
        Files, ``-`` the standard input.
    gives_up : bool
        Where memory is reached, connections are given up before the reading is: who reads keeps them in a file, or says
        how many they were.
    """

    def __init__(self, paths: "list[str]", gives_up: bool = False):
        self._gives_up = gives_up
        if limits.memory_bytes is not None and not limits.base_bytes:
            limits.base_bytes = taken_bytes()
        known = all(os.path.isfile(path) for path in paths)
        self._bytes = sum(os.path.getsize(path) for path in paths) if known else 0
        self.stopped: dict[str, Any] | None = None

    def __call__(self, packets: int, connections: int, read_bytes: int) -> bool | None:
        """Whether to read on; None: with fewer connections in memory, if that is possible.

        Parameters
        ----------
        packets, connections : int
            Found so far.
        read_bytes : int
            Of the files.

        Returns
        -------
        bool or None
        """
        limits.come = f"{_many(packets)} packets, {_many(connections)} connections"
        if limits.told is not None:
            limits.told(limits.come, min(read_bytes / self._bytes, 1.0) if self._bytes else None)
        limit = reached(READING)
        if limit is None:
            return True
        at, more = limit
        self.stopped = {"at": at, "packets": packets, "connections": connections, "more": more}
        return None if self._gives_up and memory_reached(READING) else False

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


def one_thread_if_small(path: str | os.PathLike[str]) -> None:
    """Loads the library for tables with one thread where a file is small; of no effect where it is loaded already.

    Parameters
    ----------
    path : path
        What the tables are made of; of what is no file nobody knows how long it is.
    """
    name = "POLARS_MAX_THREADS"
    if "polars" in sys.modules or name in os.environ or not os.path.isfile(path):
        return
    if os.path.getsize(path) > SMALL_FILE_BYTES:
        return
    os.environ[name] = "1"
    try:
        import polars

        # The threads start when they are asked for first.
        polars.thread_pool_size()
    finally:
        del os.environ[name]
