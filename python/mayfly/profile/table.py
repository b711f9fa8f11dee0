"""Connections as the profile reads them: the one place that knows where they come from.

Principle: captures are read and tables kept by :mod:`mayfly.workload.connections`. Nothing else in this package opens a
file of connections, so that another table is a change of this module alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text.parquet import is_parquet
from mayfly.workload.captured import read_captured
from mayfly.workload.columns import Columns, Table, columns_of
from mayfly.workload.reading import MOST_TRAINS, MOST_VOLUMES, most_connections, most_open
from mayfly.workload.sieve import refuse_of_table

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import polars as pl

    from mayfly.profile.shards import Sharding
    from mayfly.workload import connections as kept

SIDE = (
    *("packets", "wire_bytes", "payload_bytes", "distinct_bytes", "missing_bytes"),
    *("data_packets", "retransmits", "lost_before", "first_s", "last_s"),
)
"""What is read of each direction."""

READ = (
    *("protocol", "opener", "opener_port", "responder", "responder_port", "opener_from", "state"),
    *("start_s", "end_s", "rtt_s"),
    *(f"{end}_{name}" for end in ("opener", "responder") for name in SIDE),
)
"""Columns of a connection that are read; a table has more."""


def __getattr__(name: str) -> Any:
    if name != "COLUMNS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mayfly.workload import connections as kept

    # The types of what is read, as tables have them.
    return {name: kept.COLUMNS[name] for name in READ}


@dataclass(frozen=True, eq=False)
class Connections:
    """Connections of one or several captures on one time axis.

    Parameters
    ----------
    rows : polars.DataFrame or Columns, shape (n_connections, n_columns)
        ``connection_id``, the columns :data:`READ`, and more of the source. Times in s since the first packet.
    sources : tuple of str
        Names of the files, without folders.
    counts : dict
        As :func:`mayfly.workload.connections.connections` returns it; empty for a table made by hand.
    first_epoch_s : float or None
        Seconds since 1970 of time 0, where a capture tells.
    duration_s : float
        From the first packet to the last.
    trains : polars.DataFrame, optional
        Their trains, where asked for.
    carried : polars.DataFrame or CaptureProfile, optional
        What each direction carried when (:class:`mayfly.workload.connections.Reading`), or what has read it; a table of
        connections has none.
    folder : TemporaryDirectory, optional
        Of what of them waits in files, as long as it is asked for.
    """

    rows: Table
    sources: tuple[str, ...]
    counts: dict[str, Any] = field(default_factory=dict[str, Any])
    first_epoch_s: float | None = None
    duration_s: float = 0.0
    trains: pl.DataFrame | None = None
    carried: pl.DataFrame | _native.CaptureProfile | None = None
    folder: TemporaryDirectory[str] | None = None

    @cached_property
    def columns(self) -> Columns:
        """The connections as columns."""
        return columns_of(self.rows)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The connections as a table, shape (n_connections, n_columns)."""
        return self.columns.frame

    @cached_property
    def volumes(self) -> pl.DataFrame | None:
        """What each direction carried when, by connection and time, as a table."""
        if not isinstance(self.carried, _native.CaptureProfile):
            return self.carried
        import polars as pl

        return pl.DataFrame(self.carried.volumes())


def read_profiled(
    names: list[str], internal: Sequence[str] | None, *, volumes: bool = True, unanswered: bool = False
) -> tuple[Connections, dict[str, Any]]:
    """Read captures as one, without a table of polars, and tell the classes of connections.

    Parameters
    ----------
    names : sequence of str
        Of captures.
    internal : str or sequence of str, optional
        CIDRs of the site.
    volumes : bool
        Keep the volumes.
    unanswered : bool
        As of :func:`mayfly.workload.captured.read_captured`.

    Returns
    -------
    Connections
        Whose columns have the classes, too.
    dict
        ``site`` of the document.

    Raises
    ------
    MayflyError
        As :func:`read_connections`; ``internal`` is no CIDR, or holds no host.
    """
    found = read_captured(names, internal, max_volumes=MOST_VOLUMES * volumes, unanswered=unanswered)
    counts = found.counts
    rest = (counts.get("first_epoch_s"), counts["duration_s"])
    return Connections(
        found.columns, _sources(names), counts, *rest, carried=found.read, folder=found.folder
    ), found.site


def names_of(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[str], list[str]]:
    """Names of files, and those of them that are tables of connections.

    Raises
    ------
    MayflyError
        No file, or one that cannot be opened.
    """
    if not paths:
        raise MayflyError("captures = []: must be at least one file")
    names = [os.fspath(path) for path in paths]
    tables = [name for name in names if name != "-" and is_parquet(name)]
    if tables:
        refuse_of_table(tables[0])
    return names, tables


def _sources(names: Sequence[str]) -> tuple[str, ...]:
    return tuple("standard input" if name == "-" else Path(name).name for name in names)


def read_connections(
    paths: Sequence[str | os.PathLike[str]],
    *,
    progress: Callable[[float], None] | None = None,
    trains: bool = False,
    volumes: bool = False,
    sharding: Sharding | None = None,
) -> Connections:
    """Read captures as one, or a table of connections.

    Parameters
    ----------
    paths : sequence of path
        Captures (:func:`mayfly.workload.connections.read_captures`; ``-`` is the standard input), or one table that
        :func:`mayfly.workload.connections.write_connections` kept.
    progress : callable, optional
        Called with 1 when all is read.
    trains : bool
        Keep the trains, at most :data:`mayfly.workload.reading.MOST_TRAINS`; a table of connections has none.
    volumes : bool
        Keep the volumes, at most :data:`mayfly.workload.connections.MOST_VOLUMES`.
    sharding : Sharding, optional
        Captures are read by many processes (:mod:`mayfly.profile.shards`); a table is read by none.

    Returns
    -------
    Connections
        In the order of first packets.

    Raises
    ------
    MayflyError
        No file, one that cannot be read, or a table beside other files; a table, or files that must be merged, for many
        processes.

    Examples
    --------
    >>> read = read_connections(["captures/office.pcap.gz"])
    >>> read.frame.height, read.counts["decoded"], round(read.duration_s, 1)
    (707, 71390, 74.8)
    """
    from mayfly.workload import connections as kept

    names, tables = names_of(paths)
    if tables and len(names) > 1:
        raise MayflyError(f"{tables[0]}: a table beside other files; profile it alone, or the captures")
    if tables and trains:
        raise MayflyError(f"{tables[0]}: a table of connections holds no trains; profile the captures")
    if tables and sharding is not None:
        raise MayflyError(f"{tables[0]}: a table of connections is read at once; leave out --workers and --cluster")
    if tables:
        frame, counts = kept.read_connections(names[0])
        found = when = None
    else:
        most_trains, most_volumes = MOST_TRAINS if trains else 0, MOST_VOLUMES * volumes
        if sharding is None:
            options = kept.ReadOptions(
                max_flows=most_open(), max_held=most_connections(), max_trains=most_trains, max_volumes=most_volumes
            )
            reading = kept.read_captures(names, options, gives_up=True)
        else:
            reading = _reading_of_shards(names, sharding, most_trains, most_volumes)
        frame, counts = reading.connections, reading.counts
        found, when = reading.trains if trains else None, reading.volumes if volumes else None
    if missing := [name for name in READ if name not in frame.columns]:
        raise MayflyError(f"{names[0]}: column {missing[0]} is missing: read the capture again")
    # What an earlier profile added is found anew.
    frame = frame.select(name for name in frame.columns if name == "connection_id" or name in kept.COLUMNS)
    if progress is not None:
        progress(1.0)
    duration_s = counts.get("duration_s", _span(frame))
    return Connections(frame, _sources(names), counts, counts.get("first_epoch_s"), duration_s, found, when)


def _reading_of_shards(names: Sequence[str], sharding: Sharding, most_trains: int, most_volumes: int) -> kept.Reading:
    import polars as pl

    from mayfly.profile.shards import read_shards, told_of
    from mayfly.workload import connections as kept

    read = read_shards(names, sharding, most_trains, most_volumes)
    try:
        rows = _native.list_shards(read.folders, told_of(read), None)
        path = read.place.path("connections.parquet")
        rows.write(path, json.dumps(read.counts))
        frame, counts = kept.read_connections(path)
        parts = [pl.DataFrame(part) for part in rows.trains()]
        trains = pl.concat([pl.DataFrame(schema=kept.TRAINS.schema), *parts])
        volumes, width_ns, left_out = rows.volumes(read.volumes, most_volumes, read.first_ns)
        counts |= {"volume_width_s": width_ns * 1e-9, "volumes_left_out": left_out}
        ordered = trains.sort("connection_id", maintain_order=True)
        return kept.Reading(frame, ordered, pl.DataFrame(), counts, pl.DataFrame(volumes))
    except OSError as error:
        raise MayflyError(f"{read.place.name}: shards that were read are damaged: {error}") from None
    finally:
        read.place.remove()


def _span(frame: pl.DataFrame) -> float:
    return float(frame["end_s"].to_numpy().max() - frame["start_s"].to_numpy().min()) if frame.height else 0.0
