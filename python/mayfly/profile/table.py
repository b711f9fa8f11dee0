"""Connections as the profile reads them: the one place that knows where they come from.

Principle: captures are read by :mod:`mayfly.workload.capture`; a table saved earlier is read from Parquet. Nothing
else in this package opens a file of connections, so that a richer table is a change of this module alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.workload import capture
from mayfly.workload.lists import first_line

READ = ("packets", "wire_bytes", "payload_bytes", "distinct_bytes", "missing_bytes", "first_s", "last_s")
"""What is read of each direction."""

COLUMNS = {
    **{name: kind for name, kind in capture.COLUMNS.items() if not name.startswith(("opener_", "responder_"))},
    **{
        name: capture.COLUMNS[name]
        for side in ("opener", "responder")
        for name in (f"{side}_port", *(f"{side}_{what}" for what in READ))
    },
    "opener_from": capture.COLUMNS["opener_from"],
}
"""Columns a table must have, and their types; it may have more."""

NEVER_NULL = [name for name in COLUMNS if name != "rtt_s" and not name.endswith(("first_s", "last_s"))]

PARQUET = b"PAR1"


@dataclass(frozen=True, eq=False)
class Connections:
    """Connections of one or several captures on one time axis.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        ``connection_id`` from 0, the columns of :data:`COLUMNS`, and what else the source has. Times in s since the
        first packet of the earliest capture.
    sources : tuple of str
        Names of the files, without folders.
    counts : dict of int
        Sums over the captures: ``packets``, ``decoded``, ``evicted``, ``truncated`` captures, and packets left out by
        reason in ``skipped``. Empty when a table has been read, which does not hold them.
    first_epoch_s : float or None
        Seconds since 1970 of time 0, where a capture tells.
    duration_s : float
        From the first packet to the last.
    """

    frame: pl.DataFrame
    sources: tuple[str, ...]
    counts: dict = field(default_factory=dict)
    first_epoch_s: float | None = None
    duration_s: float = 0.0


def read_connections(
    paths: Sequence[str | os.PathLike], *, progress: Callable[[float], None] | None = None
) -> Connections:
    """Read captures, or tables of connections, as one.

    Parameters
    ----------
    paths : sequence of path
        Captures (:func:`mayfly.workload.capture.connections`) or Parquet tables with the columns of :data:`COLUMNS`.
    progress : callable, optional
        Called with the fraction done, by the size of the files.

    Returns
    -------
    Connections
        Ordered by start. A connection that goes on in the next capture counts in both. Tables begin at the same time 0,
        captures at their own clock.

    Raises
    ------
    MayflyError
        No file, one that cannot be read, captures and tables together, or a table without a column.

    Examples
    --------
    >>> read = read_connections(["captures/office.pcap.gz"])
    >>> read.frame.height, read.counts["decoded"], round(read.duration_s, 1)
    (707, 71390, 74.8)
    """
    if not paths:
        raise MayflyError("captures = []: must be at least one file")
    files = [Path(path) for path in paths]
    kinds = [_is_table(file) for file in files]
    if len(set(kinds)) > 1:
        raise MayflyError(f"{files[kinds.index(True)]}: a table beside captures; profile the one or the other")
    sizes = [max(file.stat().st_size, 1) if file.is_file() else 1 for file in files]
    frames, counts = [], []
    for place, file in enumerate(files):
        frame, count = (_table(file), {}) if kinds[0] else capture.connections(file)
        frames.append(frame)
        counts.append(count)
        if progress is not None:
            progress(sum(sizes[: place + 1]) / sum(sizes))
    return _joined(frames, counts, tuple(file.name for file in files))


def _joined(frames: list[pl.DataFrame], counts: list[dict], sources: tuple[str, ...]) -> Connections:
    epochs = [count.get("first_epoch_s") for count in counts]
    known = [epoch for epoch in epochs if epoch is not None]
    first = min(known, default=None)
    times = [name for name in frames[0].columns if name.endswith("_s") and name != "rtt_s"]
    shifted = []
    ends = []
    for frame, count, epoch in zip(frames, counts, epochs, strict=True):
        shift = 0.0 if epoch is None or first is None else epoch - first
        shifted.append(frame.with_columns(pl.col(times) + shift) if shift else frame)
        ends.append(shift + count["duration_s"] if "duration_s" in count else (frame["end_s"].max() or 0.0))
    frame = pl.concat(shifted, how="diagonal").drop("connection_id", strict=False)
    frame = frame.sort("start_s", maintain_order=True).with_row_index("connection_id")
    frame = frame.with_columns(pl.col("connection_id").cast(pl.Int64))
    summed: dict = {}
    if counts[0]:
        summed = {name: sum(count[name] for count in counts) for name in ("packets", "decoded", "evicted")}
        summed["truncated"] = sum(bool(count["truncated"]) for count in counts)
        reasons = counts[0]["skipped"]
        summed["skipped"] = {reason: sum(count["skipped"][reason] for count in counts) for reason in reasons}
    start = min(frame["start_s"].min() or 0.0, 0.0) if frame.height else 0.0
    return Connections(frame, sources, summed, first, max(ends) - start)


def _is_table(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(len(PARQUET)) == PARQUET
    except OSError as error:
        raise MayflyError(f"{file}: cannot be read: {error.strerror or error}") from None


def _table(file: Path) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise MayflyError(f"{file}: cannot be read as Parquet: {first_line(error)}") from None
    for name, kind in COLUMNS.items():
        if name not in frame.columns:
            raise MayflyError(f"{file}: column {name} is missing: not a table of connections")
        try:
            frame = frame.with_columns(pl.col(name).cast(kind))
        except pl.exceptions.PolarsError:
            raise MayflyError(f"{file}: column {name} holds {frame[name].dtype}: must be {kind}") from None
        if name in NEVER_NULL and frame[name].null_count():
            raise MayflyError(f"{file}: column {name} has no value in some row")
    return frame
