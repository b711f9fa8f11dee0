"""What passed the link when, from the volumes of a capture: the load of the link in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import _native
from mayfly.arrays import Booleans, Floats, Integers, distinct
from mayfly.workload.columns import Columns, Table, columns_of, hosts_of_ends, sums_at
from mayfly.workload.sides import crossing_share, opener_is_near

if TYPE_CHECKING:
    import polars as pl

DIRECTIONS = ("down", "up")
"""To the near side, and from it."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets that passed a link, in windows of time.

    Parameters
    ----------
    moved : mayfly._native.LinkTraffic
        The rows, by connection.
    hosts : list of str
        Addresses.
    near_host, far_host : numpy.ndarray of int, shape (n_connections,)
        Place among them of the ends of each connection at both ends of the link.
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

    moved: _native.LinkTraffic
    hosts: list[str]
    near_host: Integers
    far_host: Integers
    width_s: float
    duration_s: float
    near: frozenset[str]
    found_by: str = "given"
    crossing: float = 1.0
    whole: bool = True

    def rows(self, direction: str) -> int:
        """How many rows went in a direction."""
        return self.moved.rows(direction == "up")

    def carried(self, direction: str) -> int:
        """Bytes of IP packets that passed in a direction."""
        return self.moved.carried(direction == "up")

    def loads(self, direction: str, width_s: float) -> Loads:
        """Load of a direction in the windows that have any.

        Parameters
        ----------
        direction : str
            One of :data:`DIRECTIONS`.
        width_s : float
            Of the windows, s; at least that of the rows.

        Returns
        -------
        Loads
            Of IP packets. A last window that the capture does not fill is left out.
        """
        found = self._loads.get((direction, width_s))
        if found is None:
            found = self._loads[direction, width_s] = _loads_of(self.moved.loads(direction == "up", width_s))
        return found

    def largest_load(self, direction: str, width_s: float, *, acknowledged: bool = False) -> float:
        """The largest load in windows of a width, or of what is acknowledged, bit/s; 0 of none."""
        up = (direction == "up") != acknowledged
        return self.moved.largest_load(up, width_s, acknowledged)

    def acknowledged(self, direction: str, width_s: float) -> Loads:
        """Payload of TCP that arrived in a direction, by the acknowledgements that pass back.

        Parameters
        ----------
        direction, width_s
            As for :meth:`loads`.

        Returns
        -------
        Loads
            As :meth:`loads`, of payload. What is lost behind the tap is not in it, and what waits there is in it when
            it has arrived.
        """
        return _loads_of(self.moved.acknowledged(direction == "down", width_s))

    def longest_silence_s(self) -> float | None:
        """Longest time between the start of one row and the next, s; None where all begin at once."""
        return self.moved.longest_silence_s()

    def bytes_of_hosts(self) -> dict[str, dict[str, int]]:
        """What each host of the near side received and sent, ``down`` and ``up``."""
        found: dict[str, dict[str, int]] = {}
        for way in DIRECTIONS:
            for host, carried in self._by_host(self.moved.by_connection(way == "up")).items():
                found.setdefault(host, dict.fromkeys(DIRECTIONS, 0))[way] = carried
        return found

    def bytes_in(self, window: int, direction: str, width_s: float) -> dict[str, int]:
        """Bytes of each host of the near side in a direction and a window of a width."""
        return self._by_host(self.moved.by_connection(direction == "up", (window, width_s)))

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
        found = self.moved.waits(width_s, np.ascontiguousarray(windows, dtype=np.int64), windows_width_s)
        return {way: np.frombuffer(waits) for way, waits in zip(DIRECTIONS, found, strict=True)}

    @cached_property
    def _loads(self) -> dict[tuple[str, float], Loads]:
        """What :meth:`loads` has found: the guess, the overview and the page ask for the same."""
        return {}

    def _by_host(self, found: tuple[bytes, bytes]) -> dict[str, int]:
        carried, there = np.frombuffer(found[0], np.int64), np.frombuffer(found[1], np.bool_)
        rows = np.flatnonzero(there)
        hosts = self.near_host[rows]
        sums = sums_at(hosts, carried[rows], len(self.hosts))
        return {self.hosts[host]: int(sums[host]) for host in distinct(hosts).tolist()}


@dataclass(frozen=True, eq=False)
class Loads:
    """Load of a direction in the windows that have any.

    Parameters
    ----------
    windows : numpy.ndarray of int, shape (n_windows,)
        Counted from time 0, ascending.
    bps : numpy.ndarray, shape (n_windows,)
        Load, bit/s.
    """

    windows: Integers
    bps: Floats

    def kept(self, which: Booleans) -> Loads:
        """Some of the windows."""
        return Loads(self.windows[which], self.bps[which])


def _loads_of(found: tuple[bytes, bytes]) -> Loads:
    return Loads(np.frombuffer(found[0], np.int64), np.frombuffer(found[1]))


def _rows_of(ids: Integers, wanted: Integers) -> Integers:
    """Where each of some numbers is among ``ids``, of which no two are equal; -1 where it is not."""
    if np.array_equal(ids, np.arange(len(ids))):
        return np.where(wanted < len(ids), wanted, -1)
    order = np.argsort(ids)
    place = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
    return np.where(ids[place] == wanted, place, -1)


def traffic_of(
    frame: Table,
    volumes: pl.DataFrame | _native.CaptureProfile,
    *,
    width_s: float,
    duration_s: float,
    near: frozenset[str],
    found_by: str = "given",
    whole: bool = True,
    crossing: float | None = None,
) -> Traffic:
    """Give the volumes of a capture their directions.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections, with ``connection_id``.
    volumes : polars.DataFrame, shape (n_volumes, 7), or CaptureProfile
        Of :func:`mayfly.workload.connections.read_captures`, or what has read the connections.
    width_s, duration_s : float
        Of their windows, and of the capture.
    near : frozenset of str
        Addresses on the near side of the link; between two of one side, the opener is near
        (:func:`mayfly.workload.sides.opener_is_near`).
    found_by : str
        How they were found.
    whole : bool
        Whether every packet is in a volume.
    crossing : float, optional
        Share of the bytes that crosses, where it is known.

    Returns
    -------
    Traffic
    """
    table = columns_of(frame)
    opener_near = opener_is_near(table, near)
    hosts, opener, responder = hosts_of_ends(table)
    near_host, far_host = np.where(opener_near, opener, responder), np.where(opener_near, responder, opener)
    _, pairs = np.unique(near_host.astype(np.int64) * len(hosts) + far_host, return_inverse=True)
    pairs = np.ascontiguousarray(pairs, dtype=np.uint32)
    if isinstance(volumes, _native.CaptureProfile):
        moved = volumes.traffic(opener_near.view(np.uint8), pairs, width_s, duration_s)
    else:
        moved = _of_table(table, volumes, opener_near, pairs, width_s, duration_s)
    if crossing is None:
        crossing = crossing_share(table, near)
    return Traffic(moved, hosts, near_host, far_host, width_s, duration_s, near, found_by, crossing, whole)


def _of_table(
    table: Columns, volumes: pl.DataFrame, opener_near: Booleans, pairs: Integers, width_s: float, duration_s: float
) -> _native.LinkTraffic:
    place = _rows_of(table["connection_id"], volumes["connection_id"].to_numpy())
    if (place < 0).any():
        volumes, place = volumes.filter(place >= 0), place[place >= 0]
    up = (volumes["side"] == "opener").to_numpy() == opener_near[place]

    def column(name: str, kind: Any) -> Any:
        return np.ascontiguousarray(volumes[name].to_numpy(), dtype=kind)

    return _native.LinkTraffic.of(
        np.ascontiguousarray(place, dtype=np.int64),
        np.ascontiguousarray(up).view(np.uint8),
        column("start_s", np.float64),
        column("wire_bytes", np.int64),
        column("acked_bytes", np.int64),
        column("rtt_s", np.float64),
        pairs,
        width_s,
        duration_s,
    )
