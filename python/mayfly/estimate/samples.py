"""Samples of a queue: ours, those of ns-2, or polls of a real interface."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.estimate.polls import is_polls, polled
from mayfly.text.long_lines import HEADER_BYTES, refuse_long_lines
from mayfly.text.quantity import shown

if TYPE_CHECKING:
    import polars as pl

QUEUES = ("queue_mean_packets", "mean_queue_pkts", "queue_packets", "backlog_packets", "inst_queue_pkts")
"""Columns that may hold the queue, packets; a mean over the interval comes first."""

RUN = ("discipline", "replication")

STDIN = "-"
"""The standard input in place of a file."""


@dataclass(frozen=True)
class Read:
    """What was read of a file.

    Parameters
    ----------
    source : str
        Its name.
    packet_bytes : int
        Of a typical packet: samples have the bytes of the packets that came.
    before : int
        Rows before the first sample that have no packets: the first poll.
    left_out : dict of tuple of int
        Rows of other runs, and their bytes, by reason.
    """

    source: str
    packet_bytes: int
    before: int = 0
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict)


MOST_ARRIVALS = 1e9
"""Arrivals of a sample from here on are no number of packets."""


def rows_of(arrivals: Floats, packet_bytes: int) -> tuple[int, int]:
    """Samples, and the bytes of the packets that came, in whole packets; impossible numbers have none.

    Examples
    --------
    >>> rows_of(np.array([2.0, 3.7, -1.0, np.nan]), 100)
    (4, 500)
    """
    usable = arrivals[np.isfinite(arrivals) & (arrivals >= 0) & (arrivals < MOST_ARRIVALS)]
    return len(arrivals), int(np.floor(usable).astype(np.int64).sum()) * packet_bytes % 2**64


@dataclass(frozen=True)
class Samples:
    """What was seen of a queue since the sample before.

    Parameters
    ----------
    time_s : numpy.ndarray, shape (n,)
        Clock at the end of each interval, s.
    queue_pkts : numpy.ndarray, shape (n,)
        Mean queue of the interval where it is known, else at its end, packets.
    arrivals, drops : numpy.ndarray, shape (n,)
        Packets that came, those that were dropped included, and packets dropped.
    nonresponsive : numpy.ndarray, shape (n,), optional
        Of the arrivals, those of traffic that does not respond; None where that is not known.
    name : str
        What they are of.
    read : Read, optional
        What was read, of samples from a file.

    Notes
    -----
    Values need not be sane: the estimator counts what it refuses.
    """

    time_s: Floats
    queue_pkts: Floats
    arrivals: Floats
    drops: Floats
    nonresponsive: Floats | None = None
    name: str = ""
    read: Read | None = None

    def interval_s(self) -> float:
        """Median time between samples, s.

        Raises
        ------
        MayflyError
            The clock never moves on.

        Examples
        --------
        >>> ones = np.ones(3)
        >>> Samples(np.array([0.0, 0.5, 1.0]), ones, ones, ones).interval_s()
        0.5
        """
        steps = np.diff(self.time_s)
        steps = steps[np.isfinite(steps) & (steps > 0)]
        if not steps.size:
            raise MayflyError(f"{self.name or 'samples'}: must have two samples or more with a clock that moves on")
        return float(np.median(steps))

    def truth(self, begins_s: Floats, ends_s: Floats) -> Floats | None:
        """Share of the arrivals that did not respond, in intervals.

        Parameters
        ----------
        begins_s, ends_s : numpy.ndarray, shape (m,)
            Intervals, s: samples after the begin and up to the end count.

        Returns
        -------
        numpy.ndarray, shape (m,), or None
            NaN where nothing came; None where that is not known, or the clock went back.

        Examples
        --------
        >>> of = lambda *values: np.array(values, float)
        >>> samples = Samples(of(1, 2, 3), of(0, 0, 0), of(4, 6, 10), of(0, 0, 0), of(1, 3, 9))
        >>> samples.truth(of(0, 2), of(2, 3))
        array([0.4, 0.9])
        """
        if self.nonresponsive is None or not (np.diff(self.time_s) > 0).all():
            return None

        def within(values: Floats) -> Floats:
            total = np.concatenate([[0.0], np.cumsum(values)])
            # Clocks of the estimator are rounded to its ticks.
            slack = 0.01 * self.interval_s()
            at = [np.searchsorted(self.time_s, times + slack, side="right") for times in (begins_s, ends_s)]
            difference: Floats = total[at[1]] - total[at[0]]
            return difference

        came = within(self.arrivals)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(came > 0, within(self.nonresponsive) / came, np.nan)


def read_samples(
    path: str | os.PathLike[str], *, packet_bytes: int = 1000, run: str | None = None, device: str | None = None
) -> Samples:
    r"""Reads samples, whatever they are; told apart by content, not by name.

    Parameters
    ----------
    path : path
        CSV (also gzipped) or Parquet with ``time_s``, ``arrivals``, ``drops`` and a queue (:data:`QUEUES`), with the
        truth in ``nonresponsive_arrivals`` (ours) or ``nonresp_fraction`` (ns-2) where it is known; or polls of
        ``tc -s qdisc`` with the time before each (:mod:`mayfly.estimate.polls`). ``-`` is the standard input.
    packet_bytes : int
        Of a typical packet: turns bytes of polls into packets.
    run : str, optional
        Discipline whose samples are taken, where the file has several.
    device : str, optional
        Interface whose polls are taken, where there are several.

    Returns
    -------
    Samples

    Raises
    ------
    MayflyError
        The file is missing or is no table of samples, or holds several runs and none is chosen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "queue.csv")
    >>> _ = path.write_text("time_s,queue_packets,arrivals,drops\n0.03,4,110,0\n0.06,9,115,2\n")
    >>> read_samples(path).queue_pkts
    array([4., 9.])
    """
    path = Path(path)
    name = printable_name(path)
    try:
        content = _content(path, name)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "not a whole gzip file"
        raise MayflyError(f"{path}: cannot be read: {reason}") from None
    if is_polls(content):
        time_s, queue_pkts, arrivals, drops = polled(content, packet_bytes, device, name)
        return Samples(time_s, queue_pkts, arrivals, drops, name=name, read=Read(os.fspath(path), packet_bytes, 1))
    table = _table(content, name)
    samples = _of_table(table, name, run)
    left = _left_out(table, name, run, samples, packet_bytes)
    return replace(samples, read=Read(os.fspath(path), packet_bytes, left_out=left))


def _content(path: Path, name: str) -> bytes:
    """All of a file, of which the beginning is looked at first: what is no table may have no end."""
    with contextlib.nullcontext(sys.stdin.buffer) if str(path) == STDIN else path.open("rb") as file:
        head = file.read(HEADER_BYTES + 1)
        packed = head.startswith(b"\x1f\x8b")
        begins = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEADER_BYTES + 1) if packed else head
        _refuse_no_samples(begins, name)
        content = head + file.read()
    return gzip.decompress(content) if packed else content


def _refuse_no_samples(head: bytes, name: str) -> None:
    """Refuse what begins neither as polls nor as a table of samples."""
    from mayfly.text.parquet import MAGIC

    first, ends, _ = head.partition(b"\n")
    if head.startswith(MAGIC) or is_polls(head):
        return
    refuse_long_lines(io.BytesIO(head), name)
    if ends and first.strip():
        _needed(_table(first + ends, name), name)


def printable_name(path: Path) -> str:
    """The file's name without what a terminal would obey."""
    if str(path) == STDIN:
        return "standard input"
    return "".join(letter if letter.isprintable() else "?" for letter in path.name)


def _table(content: bytes, name: str) -> pl.DataFrame:
    import polars as pl

    from mayfly.text.parquet import MAGIC, read_parquet

    try:
        if content.startswith(MAGIC):
            return read_parquet(content)
        # As text: a word in a column of numbers is then told with its row.
        return pl.read_csv(io.BytesIO(content), infer_schema=False)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise MayflyError(f"{name}: cannot be read as a table: {shown(reason)}") from None


def _of_table(table: pl.DataFrame, name: str, run: str | None) -> Samples:
    table = _one_run(table, name, run)
    needed = _needed(table, name)
    if table.height < 2:
        raise MayflyError(f"{name}: has {table.height} samples: must have 2 or more")
    time_s, queue_pkts, arrivals, drops = (_numbers(table, column, name) for column in needed)
    samples = Samples(time_s, queue_pkts, arrivals, drops, name=name)
    if "nonresponsive_arrivals" in table.columns:
        return replace(samples, nonresponsive=_numbers(table, "nonresponsive_arrivals", name))
    if "nonresp_fraction" in table.columns:
        return replace(samples, nonresponsive=_numbers(table, "nonresp_fraction", name) * samples.arrivals)
    return samples


def _needed(table: pl.DataFrame, name: str) -> list[str]:
    """Columns that samples have: time, queue, arrivals, drops."""
    queue = next((column for column in QUEUES if column in table.columns), None)
    needed = ["time_s", queue or QUEUES[0], "arrivals", "drops"]
    if missing := [column for column in needed if column not in table.columns]:
        raise MayflyError(
            f"{name}: has no column {missing[0]}: must have time_s, a queue ({QUEUES[0]}), arrivals, drops"
        )
    return needed


def _one_run(table: pl.DataFrame, name: str, run: str | None) -> pl.DataFrame:
    """The rows of one discipline and its first replication."""
    import polars as pl

    if "discipline" in table.columns:
        runs = table["discipline"].unique(maintain_order=True).to_list()
        if run is None and len(runs) > 1:
            raise MayflyError(f"{name}: has samples of {', '.join(map(str, runs))}: choose one with --discipline")
        if run is not None and run not in runs:
            raise MayflyError(f"discipline = {shown(run)}: must be one of {', '.join(map(str, runs))}")
        if run is not None:
            table = table.filter(pl.col("discipline") == run)
    elif run is not None:
        raise MayflyError(f"discipline = {shown(run)}: {name} does not say of which discipline its samples are")
    if "replication" in table.columns and table.height:
        table = table.filter(pl.col("replication") == pl.col("replication").min())
    return table


def _left_out(
    table: pl.DataFrame, name: str, run: str | None, samples: Samples, packet_bytes: int
) -> dict[str, tuple[int, int]]:
    """Rows of other disciplines, and of other replications, and the bytes of their packets."""
    import polars as pl

    if table.height == len(samples.time_s):
        return {}
    of = table if run is None else table.filter(pl.col("discipline") == run)
    whole, own = (rows_of(_numbers(rows, "arrivals", name), packet_bytes) for rows in (table, of))
    used = rows_of(samples.arrivals, packet_bytes)
    parts = {"filter": (whole, own), "aside": (own, used)}
    left = {reason: (all_of[0] - part[0], all_of[1] - part[1]) for reason, (all_of, part) in parts.items()}
    return {reason: amount for reason, amount in left.items() if amount[0]}


def _numbers(table: pl.DataFrame, column: str, name: str) -> Floats:
    import polars as pl

    values = table[column]
    numbers = (values.str.strip_chars() if values.dtype == pl.String else values).cast(pl.Float64, strict=False)
    # An empty cell is a missing value, a word is a mistake.
    words = numbers.is_null() & values.is_not_null()
    if words.any():
        row = words.to_list().index(True)
        raise MayflyError(f"{name}, row {row + 1}: {column} = {shown(values[row])}: must be a number")
    known: Floats = numbers.fill_null(np.nan).to_numpy().astype(float, order="C", copy=True)
    return known
