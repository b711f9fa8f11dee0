"""The connection table of packet captures: what it holds, how it is read and kept.

Principle: ``mayfly._native`` reads the files once and returns one row per TCP connection, UDP flow or ICMP exchange;
``docs/tables.md`` says what each column means. Kept as Parquet, the table carries the version of its columns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.tables import Column, Table, native
from mayfly.text.files import complete

CONNECTIONS = Table(
    "connections",
    (Column("connection_id", "int64", "", "Number of the row."), *native("connections").columns),
    version=native("connections").version,
)
COLUMNS = native("connections").schema
"""Types of the columns of the table after ``connection_id``."""

TRAINS = native("capture_trains")
PACKETS = native("capture_packets")

MAX_ROWS = 2**32 - 2


@dataclass(frozen=True)
class ReadOptions:
    """How captures are read.

    Parameters
    ----------
    max_flows : int
        Connections held at once, 1 to 2^32 - 2; beyond, the one silent for longest is given up and counted.
    tunnels : bool
        The packet inside GRE, VXLAN, Geneve, GTP-U or IP in IP counts instead of the one outside.
    window_s : float, optional
        Packets are put into the order of time, each file being out of it by at most this, 0 to 60 s. None: 10 ms for
        several files, and the order of the file for one.
    duplicates : str, optional
        Packets left out as copies: ``keep`` for none, ``taps`` for those another interface or file captured, ``all``
        for those the same one did, too. None: ``taps`` for several files, ``keep`` for one.
    duplicate_s : float
        Copies are no further apart, 0 to 60 s. Below the least retransmission timeout in use, 0.2 s.
    clocks : bool, optional
        Offsets between the clocks of several files are estimated, in a pass of its own, and corrected. None: where
        there are several and none is the standard input.
    max_trains : int
        Trains kept, 0 to 2^32 - 2; further ones are counted.
    pauses : bool
        A train ends also where its side sends nothing for a round-trip time after all of its data was acknowledged.
    max_packets : int
        Packets kept, 0 to 2^32 - 2; further ones are counted.
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
    tunnels: bool = False
    window_s: float | None = None
    duplicates: str | None = None
    duplicate_s: float = 0.1
    clocks: bool | None = None
    max_trains: int = 0
    pauses: bool = False
    max_packets: int = 0
    initial_window: int = 1
    delayed_ack: bool = True

    def __post_init__(self) -> None:
        bounds = {
            "max_flows": (1, MAX_ROWS),
            "window_s": (0, 60),
            "duplicate_s": (0, 60),
            "max_trains": (0, MAX_ROWS),
            "max_packets": (0, MAX_ROWS),
            "initial_window": (1, 1000),
        }
        for name, (least, most) in bounds.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise MayflyError(f"{name} = {value}: must be {least} to {most}")
        if self.duplicates not in (None, "keep", "taps", "all"):
            raise MayflyError(f"duplicates = {self.duplicates!r}: must be keep, taps or all")

    def for_files(self, paths: Sequence[str]) -> dict[str, Any]:
        """What ``mayfly._native.read_capture`` takes, with the defaults for that many files."""
        several = len(paths) > 1
        window_s = (0.01 if several else 0.0) if self.window_s is None else self.window_s
        duplicates = ("taps" if several else "keep") if self.duplicates is None else self.duplicates
        clocks = (several and "-" not in paths) if self.clocks is None else self.clocks
        return {
            "max_flows": self.max_flows,
            "tunnels": self.tunnels,
            "window_ns": round(window_s * 1e9),
            "duplicates": duplicates,
            "duplicate_ns": round(self.duplicate_s * 1e9),
            "clocks": clocks,
            "max_trains": self.max_trains,
            "pauses": self.pauses,
            "max_packets": self.max_packets,
            "initial_window": self.initial_window,
            "delayed_ack": self.delayed_ack,
        }


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
    """

    connections: pl.DataFrame
    trains: pl.DataFrame
    packets: pl.DataFrame
    counts: dict[str, Any]


def read_captures(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], options: ReadOptions | None = None
) -> Reading:
    """Read captures as one.

    Parameters
    ----------
    paths : path or sequence of paths
        pcap or pcapng, plain, in gzip or in Zstandard, told apart by content; ``-`` is the standard input.
    options : ReadOptions, optional

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
    try:
        connections, trains, packets, counts = _native.read_capture(files, (options or ReadOptions()).for_files(files))
    except ValueError as error:
        raise MayflyError(" ".join(str(error).split())) from None
    frame = pl.DataFrame(connections).with_row_index("connection_id").cast({"connection_id": pl.Int64})
    return Reading(frame, pl.DataFrame(trains), pl.DataFrame(packets), json.loads(counts))


def connections(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, max_flows: int = 1_000_000
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read the connection table of captures.

    Parameters
    ----------
    paths : path or sequence of paths
        As for :func:`read_captures`.
    max_flows : int
        Connections held at once, at least 1; beyond, the one silent for longest is given up and counted.

    Returns
    -------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        ``connection_id`` and :data:`COLUMNS`, in the order of first packets. Times are seconds since the first packet
        of the file, null where nothing was seen; ``docs/tables.md`` explains each column.
    counts : dict
        ``packets`` = ``decoded`` + the sum of ``skipped`` (by reason); ``fragments`` (of ``decoded``, those other than
        the first); ``tunnelled`` (packets inside tunnels, by kind); ``late`` (packets beyond the reordering window);
        ``evicted`` connections; ``trains_left_out``, ``packets_left_out``; ``taps`` (``file``, ``interface``,
        ``packets``, ``duplicates`` of each); ``clocks`` (``ahead_s`` of the first file's, ``bound_s`` of the error,
        packets in ``common``); ``truncated`` (a file ends inside a record); ``duration_s``; ``first_epoch_s`` (s since
        1970, None without packets).

    Raises
    ------
    MayflyError
        As :func:`read_captures`, or ``max_flows`` is out of bounds.
    """
    reading = read_captures(paths, ReadOptions(max_flows=max_flows))
    return reading.connections, reading.counts


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
        As :func:`connections` returns them.

    Raises
    ------
    MayflyError
        The file cannot be read, is no connection table, or one of another version.
    """
    name = os.fspath(path)
    try:
        metadata = pl.read_parquet_metadata(name)
        if metadata.get("mayfly.table") != CONNECTIONS.name:
            raise MayflyError(f"{name}: not a connection table: write one with mayfly.workload.connections")
        version = metadata.get("mayfly.schema")
        if version != str(CONNECTIONS.version):
            raise MayflyError(
                f"{name}: connection table of schema {version}, must be {CONNECTIONS.version}: read the capture again"
            )
        return pl.read_parquet(name), json.loads(metadata["mayfly.counts"])
    except (OSError, pl.exceptions.PolarsError) as error:
        raise MayflyError(f"{name}: {' '.join(str(error).split())}") from None
