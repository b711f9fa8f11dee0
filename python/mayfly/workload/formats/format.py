"""What a format of flow lists is, and what its reader is told."""

import gzip
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from mayfly.errors import MayflyError
from mayfly.summary_types import Accounted
from mayfly.text.files import reading
from mayfly.text.long_lines import refuse_long_lines
from mayfly.text.readable import printable
from mayfly.workload.account import started

HEAD_BYTES = 65536
"""Bytes of a file that tell its format."""


@dataclass(frozen=True)
class Rules:
    """What turns the rows of a file into flows.

    Parameters
    ----------
    mss : int
        Payload of a full packet, bytes, 1 to 65535: where sizes are counted in packets.
    networks : sequence of str, optional
        The near side of the link, for formats of connections; inferred when None.
    notes : list of str
        Where the reader puts what the user should know of the flows, a sentence each.
    until_s : float, optional
        End of the run that the flows are for: those that start later are aside in the account; None where all count.
    accounts : list of dict
        Where the reader puts the account of the file (:mod:`mayfly.workload.account`); one that reads every row as a
        flow leaves that to its caller.
    part : callable, optional
        Takes the flows that the answer is about out of those that start in time: others are aside in the account.
    """

    mss: int = 1460
    networks: Sequence[str] | None = None
    notes: list[str] = field(default_factory=list)
    until_s: float | None = None
    accounts: list[Accounted] = field(default_factory=list)
    part: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    def started(self, flows: pl.DataFrame) -> pl.DataFrame:
        """Of flows those that count: in time, or when others of which nobody knows the end yet are over."""
        in_time = started(flows, self.until_s)
        return in_time if self.part is None else self.part(in_time)


@dataclass(frozen=True)
class Format:
    """One format.

    Parameters
    ----------
    id : str
        Name on the command line.
    title : str
        What it is, in a line.
    holds : str
        What of a flow it can hold, in a line.
    suffixes : tuple of str
        Endings of a name that choose it for writing; the longest that fits counts.
    sniff : callable
        Whether the first :data:`HEAD_BYTES` of a file, uncompressed, are of it.
    read : callable, optional
        From path and :class:`Rules` to a normalised flow list.
    write : callable, optional
        Writes a normalised flow list to an open path that will get the name in its third argument; gives sentences on
        what the format does not hold, if any.
    source : str
        Who defines it.
    parts : callable, optional
        Reads the same flow list part by part in the order of the list: one of any length.
    write_parts : callable, optional
        Writes such parts to an open path that will get the name in its third argument.
    """

    id: str
    title: str
    holds: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[[Path, Rules], pl.DataFrame] | None = None
    write: Callable[[pl.DataFrame, Path, str], list[str] | None] | None = None
    source: str = ""
    parts: Callable[[Path, Rules], Iterator[pl.DataFrame]] | None = None
    write_parts: Callable[[Iterator[pl.DataFrame], Path, str], None] | None = None


def head_of(path: str | os.PathLike[str]) -> bytes:
    """First bytes of a file, out of gzip where it is in gzip.

    Raises
    ------
    MayflyError
        It is missing, no regular file, or cannot be read; one line.
    """
    path, source = Path(path), printable(path)
    with reading(source):
        if not path.exists():
            raise MayflyError(f"{source}: no such file")
        if not path.is_file():
            raise MayflyError(f"{source}: not a regular file")
        with opened(path) as file:
            return file.read(HEAD_BYTES)


def opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """A file open for reading, out of gzip where it is in gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")


def refuse_endless(path: Path) -> None:
    """Refuse a file of text whose lines do not end (:mod:`mayfly.text.long_lines`).

    Raises
    ------
    MayflyError
        One line.
    """
    source = printable(path)
    with reading(source), opened(path) as file:
        refuse_long_lines(cast("BinaryIO", file), source)


def lines(path: Path) -> io.TextIOWrapper:
    """The same as lines of text; bytes that are no UTF-8 become marks that no parser takes for a number."""
    return io.TextIOWrapper(opened(path), encoding="utf-8", errors="replace", newline=None)


def first_words(head: bytes) -> list[str]:
    """Lines of the head that hold something, without blanks around them."""
    return [line for line in (line.strip() for line in head.decode("utf-8", "replace").splitlines()) if line]
