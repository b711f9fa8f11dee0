"""The connection table of packet captures: what it holds, how it is read and kept.

Principle: ``mayfly._native`` reads the files once and returns one row per TCP connection, UDP flow or ICMP exchange;
``docs/tables.md`` says what each column means. Kept as Parquet, the table carries the version of its columns.
"""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import Look
from mayfly.tables import Column, Table, native
from mayfly.text.files import complete, first_line
from mayfly.text.parquet import read_parquet, read_parquet_metadata
from mayfly.text.readable import printable
from mayfly.workload.account import sums_of_connections
from mayfly.workload.doubts import SKIPPED as SKIPPED
from mayfly.workload.doubts import why_no_flow as why_no_flow
from mayfly.workload.doubts import why_nothing as why_nothing
from mayfly.workload.reading import MOST_VOLUMES as MOST_VOLUMES
from mayfly.workload.reading import ReadOptions as ReadOptions
from mayfly.workload.sieve import noted

CONNECTIONS = Table(
    "connections",
    (Column("connection_id", "int64", "", "Number of the row."), *native("connections").columns),
    version=native("connections").version,
)
COLUMNS = native("connections").schema
"""Types of the columns of the table after ``connection_id``."""

TRAINS = native("capture_trains")
PACKETS = native("capture_packets")
VOLUMES = native("capture_volumes")


@dataclass(frozen=True)
class Reading:
    """What captures hold.

    Parameters
    ----------
    connections : polars.DataFrame, shape (n_connections, n_columns)
        ``connection_id`` and :data:`COLUMNS`, in the order of first packets.
    trains : polars.DataFrame, shape (n_trains, 8)
        :data:`TRAINS`, by connection and time; empty unless ``max_trains`` allows some.
    packets : polars.DataFrame, shape (n_packets, 5)
        :data:`PACKETS`, those of UDP and those with new data of TCP, by connection and time; empty unless
        ``max_packets`` allows some.
    counts : dict
        As :func:`connections` returns it.
    volumes : polars.DataFrame, shape (n_volumes, 7)
        :data:`VOLUMES`, what each direction of a connection carried in each window of ``counts["volume_width_s"]``
        with traffic, by connection and time; empty unless ``max_volumes`` allows some.
    """

    connections: pl.DataFrame
    trains: pl.DataFrame
    packets: pl.DataFrame
    counts: dict[str, Any]
    volumes: pl.DataFrame = field(default_factory=pl.DataFrame)


def read_captures(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: ReadOptions | None = None,
    *,
    gives_up: bool = False,
) -> Reading:
    """Read captures as one.

    Parameters
    ----------
    paths : path or sequence of paths
        pcap or pcapng, plain, in gzip, Zstandard or LZ4, told apart by content; ``-`` is the standard input. Files that
        follow one another in time are one capture, in whatever order they are named; files of the same time are merged.
    options : ReadOptions, optional
    gives_up : bool
        Where memory is reached, connections are given up, those that were silent for longest, before the reading is.

    Returns
    -------
    Reading

    Raises
    ------
    MayflyError
        No file is given, or one cannot be read, is empty or no capture; one line.

    Examples
    --------
    >>> reading = read_captures("captures/office.pcap.gz", ReadOptions(max_trains=10**6))
    >>> reading.trains.height == reading.connections.select("opener_trains", "responder_trains").sum_horizontal().sum()
    True
    """
    files = [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]
    if not files:
        raise MayflyError("no capture given: name at least one file, or - for the standard input")
    look = Look(files, gives_up)
    try:
        connections, trains, packets, volumes, told = _native.read_capture(
            files, (options or ReadOptions()).for_files(files), look
        )
    except ValueError as error:
        raise MayflyError(" ".join(str(error).split())) from None
    frame = pl.DataFrame(connections).with_row_index("connection_id").cast({"connection_id": pl.Int64})
    look.end()
    counts = noted(json.loads(told))
    counts["stopped"] = look.stopped if counts["stopped"] else None
    return Reading(frame, pl.DataFrame(trains), pl.DataFrame(packets), counts, pl.DataFrame(volumes))


def connections(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, max_flows: int = 1_000_000
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read the connection table of captures.

    Parameters
    ----------
    paths : path or sequence of paths
        As for :func:`read_captures`.
    max_flows : int
        Connections that are open at once, at least 1; beyond, the one silent for longest is given up and counted in
        ``evicted``. One that both ends closed, that was reset, or that is silent for 120 s does not count: of those
        there may be as many as memory holds (1 kB each, :data:`mayfly.limits.limits`).

    Returns
    -------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        ``connection_id`` and :data:`COLUMNS`, in the order of first packets. Times are seconds since the first packet
        of the file, null where nothing was seen; ``docs/tables.md`` explains each column.
    counts : dict
        ``packets`` = ``decoded`` + the sum of ``skipped`` (by reason); ``copies`` (packets that repeat one before; if
        left out, they are in ``skipped`` as ``duplicate``); ``fragments`` (of ``decoded``, those other than the first);
        ``tunnelled`` (packets inside tunnels, by kind); ``late`` (packets beyond the reordering window);
        ``evicted`` connections; ``unanswered`` (of these ``connections`` in which one end never sent a packet, their
        ``packets`` and ``bytes``); ``trains_left_out``, ``packets_left_out``, ``volumes_left_out`` (packets),
        ``volume_width_s``; ``link_types`` (packets of those that are not decoded, by number); ``other_protocols``
        (``packets`` and ``bytes`` of IP protocols that are not decoded, by number); ``taps`` (``file``,
        ``interface``, ``name`` or None, ``packets``, ``duplicates`` of each); ``clocks`` (``ahead_s`` of the first
        file's, ``bound_s`` of the error, packets in ``common``); ``truncated`` (a file ends inside a record);
        ``nanoseconds`` (a pcap file of microseconds has nanoseconds, and was read so);
        ``stopped`` (None, or where a limit of :mod:`mayfly.limits` ended the reading: ``at``, ``packets``,
        ``connections``, ``more``); ``duration_s``;
        ``first_epoch_s`` (s since 1970, None without packets); ``account`` (packets and bytes ``seen``, ``used`` and
        ``left_out`` by reason, :func:`mayfly.workload.account.account_of`), ``cannot_answer`` (None, or a sentence).

    Raises
    ------
    MayflyError
        As :func:`read_captures`, or ``max_flows`` is out of bounds.
    """
    reading = read_captures(paths, ReadOptions(max_flows=max_flows))
    return reading.connections, reading.counts


LONGEST_S = 2**63 * 1e-9
"""What nanoseconds since the first packet hold."""


def write_connections(frame: pl.DataFrame, counts: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Keep a connection table as Parquet, with the version of its columns and what was counted.

    Parameters
    ----------
    frame, counts
        As :func:`connections` returns them.
    path : path
        File to write; nothing is left under this name when writing fails.

    Raises
    ------
    MayflyError
        The file cannot be written.
    """
    metadata = CONNECTIONS.metadata() | {"mayfly.counts": json.dumps(counts)}
    try:
        with complete(path) as partial:
            frame.write_parquet(partial, compression_level=1, metadata=metadata)
    except (OSError, pl.exceptions.PolarsError) as error:
        # Polars tells a full disk as a mistake of the computation.
        raise MayflyError(f"{os.fspath(path)}: {getattr(error, 'strerror', None) or error}") from None


def read_connections(path: str | os.PathLike[str]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read back what :func:`write_connections` kept.

    Parameters
    ----------
    path : path

    Returns
    -------
    frame, counts
        As :func:`connections` returns them. Of a file without Mayfly's metadata, which Polars drops when it writes,
        ``counts`` has ``rewritten`` (True) and the ``packets`` of the rows, all of them ``decoded``.

    Raises
    ------
    MayflyError
        The file cannot be read, is no connection table, or one of another version.
    """
    name = os.fspath(path)
    try:
        metadata = read_parquet_metadata(name)
        of = metadata.get("mayfly.table")
        if of not in (None, CONNECTIONS.name):
            raise MayflyError(f"{name}: a table of {printable(of)}, must be one of connections")
        version = metadata.get("mayfly.schema")
        if of is not None and version != str(CONNECTIONS.version):
            raise MayflyError(
                f"{name}: connection table of schema {version}, must be {CONNECTIONS.version}: read the capture again"
            )
        frame = read_parquet(name)
        if of is None:
            _refuse_another(name, frame)
        # What did not fit into memory was written first.
        if "connection_id" in frame.columns and not frame["connection_id"].is_sorted():
            frame = frame.sort("connection_id")
        counts = _counts_of(frame) if of is None else json.loads(metadata["mayfly.counts"])
    except (OSError, pl.exceptions.PolarsError, KeyError, ValueError) as error:
        raise MayflyError(f"{name}: a damaged connection table: {first_line(error)}") from None
    _refuse_damage(name, frame, counts)
    # Tables of before have none.
    counts.setdefault("account", sums_of_connections(frame))
    return frame, counts


def _refuse_another(name: str, frame: pl.DataFrame) -> None:
    """Refuses a file without metadata whose columns are not those of the table."""
    missing = [column for column in ("connection_id", *COLUMNS) if column not in frame.columns]
    wrong = [column for column, kind in COLUMNS.items() if column not in missing and frame.schema[column] != kind]
    if len(missing) > len(COLUMNS) // 2:
        raise MayflyError(f"{name}: not a connection table: write one with mayfly.workload.connections")
    if missing or wrong:
        what = f"column {missing[0]} is missing" if missing else f"{wrong[0]} is {frame.schema[wrong[0]]}"
        raise MayflyError(
            f"{name}: a connection table without Mayfly's metadata, which Polars drops when it writes, and {what}: "
            "write all columns, or use mayfly.workload.connections.write_connections"
        )


def _counts_of(frame: pl.DataFrame) -> dict[str, Any]:
    """What the rows of a table tell of its capture."""
    packets = sum(int(frame[f"{end}_packets"].sum()) for end in ("opener", "responder"))
    counts = {"packets": packets, "decoded": packets, "skipped": {}, "stopped": None, "rewritten": True}
    return counts | {"account": sums_of_connections(frame)}


def _refuse_damage(name: str, frame: pl.DataFrame, counts: object) -> None:
    """A byte that is wrong in a file can be a value that no capture gives."""
    if not isinstance(counts, dict):
        raise MayflyError(f"{name}: a damaged connection table: what was counted is no mapping")
    for column, kind in COLUMNS.items():
        if column in frame.columns and frame.schema[column] != kind:
            raise MayflyError(f"{name}: a damaged connection table: {column} is {frame.schema[column]}, must be {kind}")
    for column in ("protocol", "opener", "responder", "state", "opener_from", "start_s", "end_s"):
        if column in frame.columns and frame[column].null_count():
            raise MayflyError(f"{name}: a damaged connection table: {column} is missing in a row")
    for column, kind in frame.schema.items():
        if kind == pl.Float64 and not (frame[column].abs() <= LONGEST_S).all():
            raise MayflyError(f"{name}: a damaged connection table: {column} holds a time beyond 292 years")
        if kind == pl.Int64 and isinstance(least := frame[column].min(), int) and least < 0:
            raise MayflyError(f"{name}: a damaged connection table: {column} = {least}, must be 0 or more")
    for column in ("opener", "responder"):
        if column in frame.columns:
            for host in frame[column].unique():
                try:
                    ipaddress.ip_address(host)
                except ValueError:
                    raise MayflyError(
                        f"{name}: a damaged connection table: {column} = {printable(host)}: must be an IP address"
                    ) from None
