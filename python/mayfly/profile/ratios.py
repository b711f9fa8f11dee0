"""Traffic of each host of the site: internal to external, down to up (Chen 2012, 8.3.3, Fig. 8.7 to 8.10)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.profile.classes import share
from mayfly.profile.distributions import summary
from mayfly.workload.columns import Columns, Table, columns_of, hosts_of_ends, sums_at
from mayfly.workload.sides import Sides

if TYPE_CHECKING:
    import polars as pl

RATIOS = {
    "internal_external": ("internal", "external", "both", "both"),
    "down_up_internal": ("internal", "internal", "down", "up"),
    "down_up_external": ("external", "external", "down", "up"),
}
"""Side above and below the line of each ratio, and which way: received by the host is down, sent is up."""

MEASURES = ("bytes", "packets")

LITTLE_BYTES = 1_000_000
"""Traffic below which most hosts stay in the traces where the roles of the paper fail (Chen 2012, 8.4.3)."""


def host_traffic(frame: Table, sides: Sides, roles: Mapping[str, str]) -> pl.DataFrame:
    """What each host of the site sent and received, inside and across.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.
    sides, roles
        As there.

    Returns
    -------
    polars.DataFrame, shape (n_local_hosts, 18)
        ``host, role`` (null when unknown), ``connections``, for each side ``SIDE_up_bytes``, ``SIDE_down_bytes`` and
        the same in packets, and the :data:`RATIOS`, each ``_bytes`` and ``_packets``, null where it would divide by 0.
        A connection between two local hosts counts for both. Ordered by address. Traffic without a host at the other
        end (multicast) is in no column but ``connections``.
    """
    return traffic_of_hosts(columns_of(frame), sides, roles).frame


@dataclass(frozen=True, eq=False)
class HostTraffic:
    """Traffic of hosts as arrays.

    Parameters
    ----------
    hosts : list of str
        In the order of their addresses.
    roles : list of str or None
        Of each.
    columns : dict of numpy.ndarray, shape (n_hosts,)
        Those of :func:`host_traffic` behind both; NaN where a ratio would divide by 0.
    """

    hosts: list[str]
    roles: list[str | None]
    columns: dict[str, Any]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The same as a table, as :func:`host_traffic` returns it."""
        import polars as pl

        words = pl.DataFrame({"host": self.hosts, "role": self.roles}, schema={"host": pl.String, "role": pl.String})
        return words.with_columns(
            pl.Series(name, values).fill_nan(None) if values.dtype.kind == "f" else pl.Series(name, values)
            for name, values in self.columns.items()
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet.

        Raises
        ------
        OSError
            It cannot be written.
        """
        from mayfly import _native

        columns = [("host", self.hosts), ("role", self.roles), *self.columns.items()]
        _native.write_columns(os.fspath(path), columns)


def traffic_of_hosts(table: Columns, sides: Sides, roles: Mapping[str, str]) -> HostTraffic:
    """The same as :func:`host_traffic`, as arrays."""
    names, *ends = hosts_of_ends(table)
    local = sorted((place for place, name in enumerate(names) if name in sides.internal), key=names.__getitem__)
    rank: Integers = np.full(len(names) + 1, -1, dtype=np.int64)
    rank[local] = np.arange(len(local))
    places = [rank[codes] for codes in ends]
    inside = [np.flatnonzero(place >= 0) for place in places]

    def summed(values: Sequence[Any], rows: Sequence[Integers]) -> Integers:
        """Sums of what each end has in some of its rows."""
        found: Integers = np.zeros(len(local), dtype=np.int64)
        for place, of_end, kept in zip(places, values, rows, strict=True):
            found += sums_at(place[kept], of_end if isinstance(of_end, int) else of_end[kept], len(local))
        return found

    columns: dict[str, Any] = {"connections": summed([1, 1], inside)}
    for side in ("internal", "external"):
        of_side = table.words("side").are(side)
        rows = [kept[of_side[kept]] for kept in inside]
        for way in ("up", "down"):
            senders = ("opener", "responder") if way == "up" else ("responder", "opener")
            for measure, column in (("bytes", "wire_bytes"), ("packets", "packets")):
                columns[f"{side}_{way}_{measure}"] = summed([table[f"{end}_{column}"] for end in senders], rows)
    for name, (above, below, up, down) in RATIOS.items():
        for measure in MEASURES:
            over, under = (_part(columns, side, way, measure) for side, way in ((above, up), (below, down)))
            ratio: Floats = np.full(len(local), np.nan)
            np.divide(over, under, out=ratio, where=under > 0)
            columns[f"{name}_{measure}"] = ratio
    hosts = [names[place] for place in local]
    return HostTraffic(hosts, [roles.get(host) for host in hosts], columns)


def _part(columns: Mapping[str, Any], side: str, way: str, measure: str) -> Integers:
    ways = ("up", "down") if way == "both" else (way,)
    found: Integers = sum(
        (columns[f"{side}_{one}_{measure}"] for one in ways[1:]), columns[f"{side}_{ways[0]}_{measure}"]
    )
    return found


def _hosts_of(hosts: HostTraffic | pl.DataFrame) -> HostTraffic:
    if isinstance(hosts, HostTraffic):
        return hosts
    columns = {name: hosts[name].to_numpy() for name in hosts.columns if name not in ("host", "role")}
    return HostTraffic(hosts["host"].to_list(), hosts["role"].to_list(), columns)


def clients_of(hosts: HostTraffic) -> Any:
    """Which hosts are clients, shape (n_hosts,)."""
    return np.array([role == "client" for role in hosts.roles], dtype=bool)


def known(values: Floats) -> Floats:
    """Values without those that are not known."""
    return values[~np.isnan(values)]


def ratios_document(hosts: HostTraffic | pl.DataFrame) -> dict[str, Any]:
    """Distributions of the ratios over the clients that have traffic of both kinds.

    Parameters
    ----------
    hosts : polars.DataFrame or HostTraffic
        Of :func:`host_traffic`.

    Returns
    -------
    dict
        ``hosts``, ``clients``, ``traffic_bytes`` of each host of the site (Fig. 8.13) and the share of the hosts
        ``below_1_MB``, ``chosen`` (clients with internal and external traffic), and by ratio and measure a
        :func:`mayfly.profile.distributions.summary`; ``down_up`` ratios are of all clients with traffic of that side.
    """
    hosts = _hosts_of(hosts)
    clients = clients_of(hosts)
    active = {side: _traffic(hosts, side) > 0 for side in ("internal", "external")}
    both = clients & active["internal"] & active["external"]
    traffic = traffic_bytes(hosts)
    answer: dict[str, Any] = {"hosts": len(hosts.hosts), "clients": int(clients.sum()), "chosen": int(both.sum())}
    answer["traffic_bytes"] = summary(traffic) | {
        "below_1_MB": share(int((traffic < LITTLE_BYTES).sum()), len(traffic))
    }
    for name, (above, below, *_) in RATIOS.items():
        part = both if above != below else clients & active[above]
        answer[name] = {measure: summary(known(hosts.columns[f"{name}_{measure}"][part])) for measure in MEASURES}
    return answer


def traffic_bytes(hosts: HostTraffic | pl.DataFrame) -> Integers:
    """What each host sent and received, inside and across, shape (n_hosts,)."""
    columns = _hosts_of(hosts).columns
    return _part(columns, "internal", "both", "bytes") + _part(columns, "external", "both", "bytes")


def _traffic(hosts: HostTraffic, side: str) -> Integers:
    return _part(hosts.columns, side, "both", "packets")
