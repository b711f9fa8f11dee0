"""Traffic of each host of the site: internal to external, down to up (Chen 2012, 8.3.3, Fig. 8.7 to 8.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from mayfly.arrays import Floats
from mayfly.profile.classes import share
from mayfly.profile.distributions import summary
from mayfly.profile.sides import Sides

RATIOS = {
    "internal_external": ("internal", "external", "both", "both"),
    "down_up_internal": ("internal", "internal", "down", "up"),
    "down_up_external": ("external", "external", "down", "up"),
}
"""Side above and below the line of each ratio, and which way: received by the host is down, sent is up."""

MEASURES = ("bytes", "packets")

LITTLE_BYTES = 1_000_000
"""Traffic below which most hosts stay in the traces where the roles of the paper fail (Chen 2012, 8.4.3)."""


def host_traffic(frame: pl.DataFrame, sides: Sides, roles: Mapping[str, str]) -> pl.DataFrame:
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
    halves = pl.concat(
        frame.select(
            pl.col(me).alias("host"),
            "side",
            pl.col(f"{me}_wire_bytes").alias("up_bytes"),
            pl.col(f"{peer}_wire_bytes").alias("down_bytes"),
            pl.col(f"{me}_packets").alias("up_packets"),
            pl.col(f"{peer}_packets").alias("down_packets"),
        )
        for me, peer in (("opener", "responder"), ("responder", "opener"))
    )
    halves = halves.filter(pl.col("host").is_in(list(sides.internal)))
    names = [f"{way}_{measure}" for way in ("up", "down") for measure in MEASURES]
    sums = [
        pl.col(name).filter(pl.col("side") == side).sum().alias(f"{side}_{name}")
        for side in ("internal", "external")
        for name in names
    ]
    known = list(roles), list(roles.values())
    role = (
        pl.col("host").replace_strict(*known, default=None, return_dtype=pl.String)
        if roles
        else pl.lit(None, pl.String)
    )
    table = halves.group_by("host").agg(pl.len().cast(pl.Int64).alias("connections"), *sums).sort("host")
    return table.with_columns(
        [
            _ratio(*sides_and_ways, measure).alias(f"{name}_{measure}")
            for name, sides_and_ways in RATIOS.items()
            for measure in MEASURES
        ]
    ).select("host", role.alias("role"), pl.exclude("host"))


def _ratio(above: str, below: str, up: str, down: str, measure: str) -> pl.Expr:
    def part(side: str, way: str) -> pl.Expr:
        ways = ("up", "down") if way == "both" else (way,)
        return pl.sum_horizontal(pl.col(f"{side}_{one}_{measure}") for one in ways)

    under = part(below, down)
    return pl.when(under > 0).then(part(above, up) / under)


def ratios_document(hosts: pl.DataFrame) -> dict[str, Any]:
    """Distributions of the ratios over the clients that have traffic of both kinds.

    Parameters
    ----------
    hosts : polars.DataFrame
        Of :func:`host_traffic`.

    Returns
    -------
    dict
        ``hosts``, ``clients``, ``traffic_bytes`` of each host of the site (Fig. 8.13) and the share of the hosts
        ``below_1_MB``, ``chosen`` (clients with internal and external traffic), and by ratio and measure a
        :func:`mayfly.profile.distributions.summary`; ``down_up`` ratios are of all clients with traffic of that side.
    """
    clients = hosts.filter(pl.col("role") == "client")
    both = clients.filter(pl.all_horizontal(_traffic(side) > 0 for side in ("internal", "external")))
    traffic = traffic_bytes(hosts)
    answer: dict[str, Any] = {"hosts": hosts.height, "clients": clients.height, "chosen": both.height}
    answer["traffic_bytes"] = summary(traffic) | {
        "below_1_MB": share(int((traffic < LITTLE_BYTES).sum()), len(traffic))
    }
    for name, (above, below, *_) in RATIOS.items():
        part = both if above != below else clients.filter(_traffic(above) > 0)
        answer[name] = {measure: summary(part[f"{name}_{measure}"].drop_nulls().to_numpy()) for measure in MEASURES}
    return answer


def traffic_bytes(hosts: pl.DataFrame) -> Floats:
    """What each host sent and received, inside and across, shape (n_hosts,)."""
    names = [f"{side}_{way}_bytes" for side in ("internal", "external") for way in ("up", "down")]
    return hosts.select(pl.sum_horizontal(names)).to_series().to_numpy()


def _traffic(side: str) -> pl.Expr:
    return pl.col(f"{side}_up_packets") + pl.col(f"{side}_down_packets")
