"""What passed the link when, from the volumes of a capture: the load of the link in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Floats, Integers
from mayfly.workload.capture import crossing_share, opener_is_near

DIRECTIONS = ("down", "up")
"""To the near side, and from it."""


@dataclass(frozen=True, eq=False)
class _Timed:
    """Volumes in which something ended a round trip: start, way, and time above the least between tap and sender."""

    starts: Floats
    up: Booleans
    waits: Floats


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets that passed a link, in windows of time.

    Parameters
    ----------
    volumes : polars.DataFrame, shape (n_rows, 7)
        Of :func:`mayfly.workload.connections.read_captures`, by connection and time.
    ends : polars.DataFrame, shape (n_connections, 3)
        ``near`` and ``far``, the addresses at both ends of the link, and ``protocol`` of each connection.
    place : numpy.ndarray of int, shape (n_rows,)
        Row of each volume's connection in ``ends``.
    up : numpy.ndarray of bool, shape (n_rows,)
        Whether the volume went from the near side.
    width_s : float
        Of the windows of the rows.
    duration_s : float
        Of the capture.
    near : frozenset of str
        Addresses on the near side.
    found_by : str
        ``given``, ``site``, or ``openers`` where next to no traffic crosses the boundary of a site.
    crossing : float
        Share of the bytes of all connections that pass between the two sides.
    whole : bool
        Whether every packet is in a row.
    """

    volumes: pl.DataFrame
    ends: pl.DataFrame
    place: Integers
    up: Booleans
    width_s: float
    duration_s: float
    near: frozenset[str]
    found_by: str = "given"
    crossing: float = 1.0
    whole: bool = True

    def went(self, direction: str) -> Booleans:
        """Which rows went in a direction, shape (n_rows,)."""
        return self.up if direction == "up" else ~self.up

    def carried(self, direction: str) -> int:
        """Bytes of IP packets that passed in a direction."""
        return int(self._bytes[self.went(direction)].sum())

    def loads(self, direction: str, width_s: float) -> pl.DataFrame:
        """Load of a direction in the windows that have any.

        Parameters
        ----------
        direction : str
            One of :data:`DIRECTIONS`.
        width_s : float
            Of the windows, s; at least that of the rows.

        Returns
        -------
        polars.DataFrame, shape (n_windows, 2)
            ``window``, counted from time 0, and ``bps``, the load in bit/s of IP packets. A last window that the
            capture does not fill is left out.
        """
        found = self._loads.get((direction, width_s))
        if found is None:
            found = self._loads[direction, width_s] = self._summed(direction, 0, width_s)
        return found

    @property
    def starts_in_order(self) -> Floats:
        """Starts of the rows, s, ascending, shape (n_rows,)."""
        return self._starts[self._order]

    def acknowledged(self, direction: str, width_s: float) -> pl.DataFrame:
        """Payload of TCP that arrived in a direction, by the acknowledgements that pass back.

        Parameters
        ----------
        direction, width_s
            As for :meth:`loads`.

        Returns
        -------
        polars.DataFrame, shape (n_windows, 2)
            As :meth:`loads`, in bit/s of payload. What is lost behind the tap is not in it, and what waits there is in
            it when it has arrived.
        """
        return self._summed("up" if direction == "down" else "down", 1, width_s)

    def bytes_of_hosts(self) -> pl.DataFrame:
        """What each host of the near side received and sent: ``host``, ``down_bytes``, ``up_bytes``."""
        begins = _begins(self.place)
        parts = self.ends.select(host="near")[self.place[begins]]
        sums = [
            pl.Series(f"{way}_bytes", _sums(np.where(self.went(way), self._bytes, 0), begins)) for way in DIRECTIONS
        ]
        return parts.with_columns(sums).group_by("host").agg(pl.col(one.name).sum() for one in sums)

    def bytes_in(self, window: int, direction: str, width_s: float) -> dict[str, int]:
        """Bytes of each host of the near side in a direction and a window of a width."""
        rows = np.flatnonzero((self._windows(self._starts, width_s) == window) & self.went(direction))
        parts = self.ends.select("near")[self.place[rows]].with_columns(pl.Series("bytes", self._bytes[rows]))
        return dict(parts.group_by("near").agg(pl.col("bytes").sum()).iter_rows())

    def waits(self, width_s: float, windows: Integers, windows_width_s: float) -> dict[str, Floats]:
        """Least wait in each window of a width, at the side of the tap of each direction's sender.

        Parameters
        ----------
        width_s : float
            Of the windows, s.
        windows : numpy.ndarray of int
            Wider windows, of which only those count that the middle of a window is in.
        windows_width_s : float
            Of these.

        Returns
        -------
        dict of numpy.ndarray
            s, by direction: what is above the least round-trip time between the tap and a host's peer.
        """
        timed = self._timed
        at = self._windows(timed.starts, width_s)
        above = np.floor(_over((at + 0.5) * width_s, windows_width_s)).astype(np.int64)
        windows = np.sort(windows)
        inside = windows[np.minimum(np.searchsorted(windows, above), len(windows) - 1)] == above
        found = {}
        for direction in DIRECTIONS:
            rows = np.flatnonzero(inside & (timed.up == (direction == "up")))
            rows = rows[np.argsort(at[rows], kind="stable")]
            begins = _begins(at[rows])
            waits = timed.waits[rows]
            found[direction] = np.minimum.reduceat(waits, begins) if len(begins) else waits
        return found

    @cached_property
    def _loads(self) -> dict[tuple[str, float], pl.DataFrame]:
        """What :meth:`loads` has found: the guess, the overview and the page ask for the same."""
        return {}

    @cached_property
    def _timed(self) -> _Timed:
        rtt_s = self.volumes["rtt_s"].to_numpy()
        rows = np.flatnonzero(~np.isnan(rtt_s))
        pairs = self.ends.select(pl.concat_str("near", "far", separator=" ").rank("dense")).to_series().to_numpy()
        rtt_s, up = rtt_s[rows], self.up[rows]
        between = 2 * pairs[self.place[rows]].astype(np.int64) + up
        least = np.full(2 * len(pairs) + 2, np.inf)
        np.minimum.at(least, between, rtt_s)
        return _Timed(self._starts[rows], up, rtt_s - least[between])

    def _summed(self, direction: str, column: int, width_s: float) -> pl.DataFrame:
        starts, *amounts = self._moments[direction]
        windows = self._windows(starts, width_s)
        begins = _begins(windows)
        windows = windows[begins]
        bps = _over(8.0 * _sums(amounts[column], begins), width_s)
        kept = (windows >= 0) & (windows < math.floor(self.duration_s / width_s * (1 + 1e-9)))
        return pl.DataFrame({"window": windows[kept], "bps": bps[kept]})

    @cached_property
    def _starts(self) -> Floats:
        return self.volumes["start_s"].to_numpy()

    @cached_property
    def _order(self) -> Integers:
        # The rows of a connection are in order: a merge of them takes a sixth of the time of another sort.
        return np.argsort(self._starts, kind="stable")

    @cached_property
    def _bytes(self) -> Integers:
        return self.volumes["wire_bytes"].to_numpy()

    @cached_property
    def _moments(self) -> dict[str, tuple[Floats, Integers, Integers]]:
        """Starts in order, bytes and what was acknowledged, by direction: loads of many widths are summed of these."""
        acked = self.volumes["acked_bytes"].to_numpy()
        order, found = self._order, {}
        for direction in DIRECTIONS:
            rows = order[self.went(direction)[order]]
            starts = self._starts[rows]
            begins = _begins(starts)
            found[direction] = (starts[begins], _sums(self._bytes[rows], begins), _sums(acked[rows], begins))
        return found

    def _windows(self, starts: Floats, width_s: float) -> Integers:
        # Rows that reach over an edge go where most of them is.
        windows: Integers = np.floor(_over(starts + self.width_s / 2, width_s)).astype(np.int64)
        return windows


def _over(values: Any, unit: float) -> Floats:
    """Values in a unit, by its reciprocal: so does polars, and what lies on the edge of a window is in one of them."""
    result: Floats = values * (1 / unit)
    return result


def _begins(values: Floats | Integers) -> Integers:
    """Where runs of one value begin, none of no values."""
    return np.flatnonzero(np.concatenate([np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]]))


def _sums(amounts: Integers, begins: Integers) -> Integers:
    """The sum of each run."""
    result: Integers = np.add.reduceat(amounts, begins) if len(begins) else np.zeros(0, dtype=np.int64)
    return result


def _rows_of(ids: Integers, wanted: Integers) -> Integers:
    """Where each of some numbers is among ``ids``, of which no two are equal; -1 where it is not."""
    if np.array_equal(ids, np.arange(len(ids))):
        return np.where(wanted < len(ids), wanted, -1)
    order = np.argsort(ids)
    place = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
    return np.where(ids[place] == wanted, place, -1)


def traffic_of(
    frame: pl.DataFrame,
    volumes: pl.DataFrame,
    *,
    width_s: float,
    duration_s: float,
    near: frozenset[str],
    found_by: str = "given",
    whole: bool = True,
) -> Traffic:
    """Give the volumes of a capture their directions.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections, with ``connection_id``.
    volumes : polars.DataFrame, shape (n_volumes, 7)
        Of :func:`mayfly.workload.connections.read_captures`.
    width_s, duration_s : float
        Of their windows, and of the capture.
    near : frozenset of str
        Addresses on the near side of the link; between two of one side, the opener is near
        (:func:`mayfly.workload.capture.opener_is_near`).
    found_by : str
        How they were found.
    whole : bool
        Whether every packet is in a volume.

    Returns
    -------
    Traffic
    """
    place = _rows_of(frame["connection_id"].to_numpy(), volumes["connection_id"].to_numpy())
    if (place < 0).any():
        volumes, place = volumes.filter(place >= 0), place[place >= 0]
    ends = frame.select(opener_is_near(near).alias("opener_near"), "opener", "responder", "protocol")
    opener_near = ends["opener_near"].to_numpy()
    up = (volumes["side"] == "opener").to_numpy() == opener_near[place]
    ends = ends.select(
        pl.when("opener_near").then("opener").otherwise("responder").alias("near"),
        pl.when("opener_near").then("responder").otherwise("opener").alias("far"),
        "protocol",
    )
    return Traffic(volumes, ends, place, up, width_s, duration_s, near, found_by, crossing_share(frame, near), whole)
