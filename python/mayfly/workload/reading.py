"""How captures are read: the options of the reader, with their bounds; nothing here needs a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mayfly.errors import MayflyError
from mayfly.limits import READING, limits
from mayfly.workload.sieve import sieve_options
from mayfly.workload.span import Span, counting, span_ns

MAX_ROWS = 2**32 - 2

DUPLICATES = ("auto", "keep", "leave-out", "taps", "all")
"""What may become of copies."""

ASKED = DUPLICATES[:3]
"""Of these, what a command may be asked for."""


@dataclass
class Asked:
    """How captures are read where :class:`ReadOptions` says nothing.

    Parameters
    ----------
    duplicates : str
        One of :data:`ASKED`.
    tunnels : bool
        Whether the packet inside a tunnel counts.
    used : bool
        A capture was read so.
    """

    duplicates: str = "auto"
    tunnels: bool = False
    used: bool = False


_ASKED: ContextVar[Asked | None] = ContextVar("asked", default=None)


@contextmanager
def read_as(
    duplicates: str | None = None, tunnels: bool = False, *, span: Span | None = None, known: bool = False
) -> Iterator[None]:
    """Read captures within the block by what a command was asked for, where :class:`ReadOptions` says nothing.

    Parameters
    ----------
    duplicates : str, optional
        Rule for copies: ``auto``, ``keep`` or ``leave-out``; ``auto`` when absent.
    tunnels : bool
        Whether the packet inside a tunnel counts.
    span : Span, optional
        The time of the captures that counts; all of it when absent.
    known : bool
        Whether it is known that a capture is read.

    Raises
    ------
    MayflyError
        Another word, or no capture was read in the block, and ``tunnels`` asks for one.

    Examples
    --------
    >>> with read_as("keep", tunnels=True):
    ...     options = ReadOptions().for_files(["a.pcap"])
    >>> options["duplicates"], options["tunnels"]
    ('keep', True)
    >>> ReadOptions().for_files(["a.pcap"])["duplicates"]
    'auto'
    """
    if duplicates not in (None, *ASKED):
        raise MayflyError(f"--duplicates {duplicates}: must be auto, keep or leave-out")
    before = _ASKED.set(Asked(duplicates or "auto", tunnels, known))
    try:
        with counting(span):
            yield
        refuse_without_packets()
    finally:
        _ASKED.reset(before)


def refuse_without_packets() -> None:
    """Refuse ``--tunnels`` where no capture was read.

    Raises
    ------
    MayflyError
        It was asked for.
    """
    found = _ASKED.get()
    if found is not None and found.tunnels and not found.used:
        raise MayflyError("--tunnels: looks into the packets of a capture, and none was read")


MOST_TRAINS = 200_000_000
"""Trains, and packets, kept where a capture is replayed, unless memory ends before: those of the largest workload."""

MOST_VOLUMES = 1 << 20
"""Rows of volumes kept where they are asked for without a number: 100 MB while they are read."""


@dataclass(frozen=True)
class ReadOptions:
    """How captures are read.

    Parameters
    ----------
    max_flows : int
        Connections that are open at once, 1 to 2^32 - 2; beyond, the one silent for longest is given up and counted.
        One that both ends closed, that was reset, whose ports were used again, or that is silent for 120 s does not
        count.
    max_held : int
        Connections held at once, whether they are open or not, 1 to 2^32 - 2; beyond, as before. Each takes about 1 kB.
        Without a bound here the memory of :data:`mayfly.limits.limits` is one, where that is set.
    tunnels : bool, optional
        The packet inside GRE, VXLAN, Geneve, GTP-U or IP in IP counts instead of the one outside, with the length that
        the one outside has on the link. None: as :func:`read_as` says, else False.
    window_s : float, optional
        Packets are put into the order of time, each file being out of it by at most this, 0 to 60 s. None: 10 ms for
        several files, and the order of the file for one.
    duplicates : str, optional
        Packets left out as copies of packets before: ``keep`` for none; ``leave-out`` for all that another interface or
        link header captured, or the same one at once; ``auto`` for these where they are more than a fifth of the
        packets; ``taps`` for those another interface or file captured; ``all`` for every equal one. They are counted in
        any case. None: as :func:`read_as` says, else ``auto``, and ``taps`` for files that are merged.
    duplicate_s : float
        With ``taps`` and ``all``: copies are no further apart, 0 to 60 s. Below the least retransmission timeout in
        use, 0.2 s.
    clocks : bool, optional
        Offsets between the clocks of several files are estimated, in a pass of its own, and corrected. None: where
        there are several and none is the standard input.
    max_trains : int
        Trains kept, 0 to 2^32 - 2; further ones are counted.
    pauses : bool
        A train ends also where its side sends nothing for a round-trip time after all of its data was acknowledged.
    max_packets : int
        Packets kept, 0 to 2^32 - 2; further ones are counted.
    packets_of_tcp : bool
        Data packets of TCP are among them.
    max_volumes : int
        Rows of volumes kept, 0 to 2^32 - 2: beyond, their windows become wider, and what still does not fit is counted.
    initial_window : int
        Packets of the first flight of the ideal transfer, 1 to 1000.
    delayed_ack : bool
        Whether its receiver acknowledges every second packet: windows of Chen 2012, Eq. 5.10; else they double.

    Raises
    ------
    MayflyError
        A value beyond its bounds.

    Examples
    --------
    >>> ReadOptions(initial_window=0)
    Traceback (most recent call last):
    mayfly.errors.MayflyError: initial_window = 0: must be 1 to 1000
    """

    max_flows: int = 1_000_000
    max_held: int = MAX_ROWS
    tunnels: bool | None = None
    window_s: float | None = None
    duplicates: str | None = None
    duplicate_s: float = 0.1
    clocks: bool | None = None
    max_trains: int = 0
    pauses: bool = False
    max_packets: int = 0
    packets_of_tcp: bool = True
    max_volumes: int = 0
    initial_window: int = 1
    delayed_ack: bool = True

    def __post_init__(self) -> None:
        bounds = {
            "max_flows": (1, MAX_ROWS),
            "max_held": (1, MAX_ROWS),
            "window_s": (0, 60),
            "duplicate_s": (0, 60),
            "max_trains": (0, MAX_ROWS),
            "max_packets": (0, MAX_ROWS),
            "max_volumes": (0, MAX_ROWS),
            "initial_window": (1, 1000),
        }
        for name, (least, most) in bounds.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise MayflyError(f"{name} = {value}: must be {least} to {most}")
        if self.duplicates not in (None, *DUPLICATES):
            raise MayflyError(f"duplicates = {self.duplicates!r}: must be auto, keep, leave-out, taps or all")

    def for_files(self, paths: Sequence[str]) -> dict[str, Any]:
        """What ``mayfly._native.read_capture`` takes, with the defaults for that many files."""
        several = len(paths) > 1
        window_s = (0.01 if several else 0.0) if self.window_s is None else self.window_s
        asked = _ASKED.get() or Asked()
        asked.used = True
        duplicates = asked.duplicates if self.duplicates is None else self.duplicates
        clocks = (several and "-" not in paths) if self.clocks is None else self.clocks
        return {
            "max_flows": self.max_flows,
            "max_held": self.max_held,
            "tunnels": asked.tunnels if self.tunnels is None else self.tunnels,
            "window_ns": round(window_s * 1e9),
            "duplicates": duplicates,
            "duplicate_ns": round(self.duplicate_s * 1e9),
            "clocks": clocks,
            "series": several
            and self.duplicates not in ("taps", "all")
            and (self.window_s, self.clocks) == (None, None),
            "max_trains": self.max_trains,
            "pauses": self.pauses,
            "max_packets": self.max_packets,
            "packets_of_tcp": self.packets_of_tcp,
            "max_volumes": self.max_volumes,
            "initial_window": self.initial_window,
            "delayed_ack": self.delayed_ack,
            "span_ns": span_ns(paths),
            **sieve_options(),
        }


CONNECTION_BYTES = 1_100
"""Memory that a connection takes while captures are read (1,030 were measured of a million, the program with them)."""

BESIDE_BYTES = 170_000_000
"""Memory of a command without its connections, libraries included: the same in each run, so that as many are held."""


HOST_BYTES = 100
"""Memory of the counts of a host, their table being half full."""

HOSTS_SHARE = 0.05
"""Of the memory of a command, what counts by host may take while connections are read."""


def most_hosts() -> int | None:
    """Hosts that are counted in memory; others wait in files. No limit where memory has none.

    Examples
    --------
    >>> most_hosts() is None
    True
    """
    if limits.memory_bytes is None:
        return None
    return max(int(HOSTS_SHARE * limits.memory_bytes / HOST_BYTES), 1_000)


def most_open() -> int:
    """Connections that may be open at once where :func:`most_connections` bounds all that are held.

    Examples
    --------
    >>> most_open() == ReadOptions.max_flows  # nothing else is a bound
    True
    """
    return ReadOptions.max_flows if limits.memory_bytes is None else MAX_ROWS


def most_connections(most: int = MAX_ROWS, within_bytes: float | None = None) -> int:
    """Connections that may be held at once, open or not, within what reading may take of the memory of a command.

    Parameters
    ----------
    most : int
        In any case.
    within_bytes : float, optional
        What the process that reads may take; of this one when absent.

    Returns
    -------
    int
        At least 1,000.
    """
    if within_bytes is None:
        if limits.memory_bytes is None:
            return most
        within_bytes = READING * (limits.memory_bytes - BESIDE_BYTES) + BESIDE_BYTES
    return max(min(most, int((within_bytes - BESIDE_BYTES) / CONNECTION_BYTES)), 1_000)
