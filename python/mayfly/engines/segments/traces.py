"""Traces of patterns: recorded in the kernel, kept as lines of JSON, read again."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from mayfly.engines import guest
from mayfly.engines.segments.patterns import DELAY_S, MTU, RATE_BPS, Pattern
from mayfly.errors import MayflyError
from mayfly.scenario.transport import Tcp
from mayfly.text.files import complete

PROGRAM = "segments.py"
HZ = 1000
"""Ticks a second of the kernel, as most distributions have them."""

PER_GUEST = 100
"""Patterns of a boot."""


@dataclass(frozen=True)
class Packet:
    """A packet as its host sent it; numbers are bytes of payload before, times nanoseconds since the SYN.

    Parameters
    ----------
    time_ns : int
        When its host sent it.
    direction : int
        0 from the sender of the data, 1 back to it.
    seq, bytes : int
        First byte, and how many.
    ack : int or None
        Next byte expected; None in a SYN.
    flags : int
        As in the header.
    window : int
        As in the header, not scaled.
    tsval, tsecr : int or None
        Since the first time stamp of that end.
    sack : tuple of int
        Left and right edges, the newest block first.
    ecn : int
        Codepoint when it was sent.
    fate : str
        `passed`, `dropped`, `delayed`, `marked`.
    arrival_ns : int or None
        When it came to the other host.
    """

    time_ns: int
    direction: int
    seq: int
    bytes: int
    ack: int | None
    flags: int
    window: int
    tsval: int | None
    tsecr: int | None
    sack: tuple[int, ...]
    ecn: int
    fate: str
    arrival_ns: int | None


@dataclass(frozen=True)
class Trace:
    """A pattern and what the kernel made of it.

    Parameters
    ----------
    pattern : dict
        As :meth:`Pattern.row` gives it.
    link : dict
        ``rate_bps``, ``delay_s``, ``mtu``.
    kernel : str
        Release.
    hz : int
        Ticks a second, at which most timers of the kernel fire.
    mss, size_bytes : int
        Payload of a full segment and of the flow.
    finished : bool
        Whether all was acknowledged.
    packets : tuple of Packet
        In order of time.
    states : tuple of dict
        The sender's `tcp_info` where it changed: ``time_ns``, ``packets`` (how many had been sent), its fields.
    """

    pattern: dict[str, Any]
    link: dict[str, Any]
    kernel: str
    hz: int
    mss: int
    size_bytes: int
    finished: bool
    packets: tuple[Packet, ...]
    states: tuple[dict[str, int], ...]

    @property
    def id(self) -> str:
        """Of the pattern."""
        return cast(str, self.pattern["id"])


def recorded(patterns: Sequence[Pattern]) -> Iterator[dict[str, Any]]:
    """Leads each pattern through the kernel.

    Parameters
    ----------
    patterns : sequence of Pattern
        Those to run, `PER_GUEST` of them in a boot.

    Yields
    ------
    dict
        One trace, for JSON.

    Raises
    ------
    MayflyError
        No kernel, or the guest failed.
    """
    link = {"rate_bps": RATE_BPS, "delay_s": DELAY_S, "mtu": MTU}
    memory = Tcp(preset="linux-6.1" if guest.series() == guest.KERNEL else "linux-7.3").receive_memory
    for first in range(0, len(patterns), PER_GUEST):
        some = patterns[first : first + PER_GUEST]
        rows = [pattern.row() for pattern in some]
        settings = {**link, "hz": HZ, "receive_memory": memory, "patterns": rows}
        told = guest.run(settings, program=PROGRAM, hz=HZ)
        for row, seen in zip(rows, told["patterns"], strict=True):
            yield {
                "pattern": row,
                "link": link,
                "kernel": told["kernel"],
                "hz": HZ,
                "mss": seen["mss"],
                "size_bytes": seen["bytes"],
                "finished": seen["finished"],
                "packet_columns": told["columns"],
                "packets": seen["packets"],
                "state_columns": told["info"],
                "states": seen["info"],
            }


def write(path: Path, patterns: Sequence[Pattern]) -> None:
    """Leads each pattern through the kernel, and keeps the traces in a file, which appears when all are done.

    Parameters
    ----------
    path : Path
        Compressed when its name ends with `.gz`.
    patterns : sequence of Pattern
        Those to run.

    Raises
    ------
    MayflyError
        As `recorded`.
    """
    with complete(path) as partial, opened(partial, "w", path.suffix == ".gz") as file:
        for row in recorded(patterns):
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def opened(path: Path, mode: str, compressed: bool) -> TextIO:
    """A file of traces."""
    return cast(TextIO, gzip.open(path, f"{mode}t") if compressed else path.open(mode))


def read(path: Path) -> Iterator[Trace]:
    """Traces of a file.

    Parameters
    ----------
    path : Path
        Lines of JSON, as `recorded` gives them.

    Yields
    ------
    Trace
        In the order of the file.

    Raises
    ------
    MayflyError
        A line that is no trace.
    """
    with opened(path, "r", path.suffix == ".gz") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield _trace(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise MayflyError(f"{path}, line {number}: no trace of a pattern: {error!r}") from error


def _trace(row: dict[str, Any]) -> Trace:
    packets = []
    for values in row["packets"]:
        fields = dict(zip(row["packet_columns"], values, strict=True))
        packets.append(Packet(**{**fields, "sack": tuple(fields["sack"])}))
    states = tuple(dict(zip(row["state_columns"], values, strict=True)) for values in row["states"])
    same = ("pattern", "link", "kernel", "hz", "mss", "size_bytes", "finished")
    return Trace(**{name: row[name] for name in same}, packets=tuple(packets), states=states)
