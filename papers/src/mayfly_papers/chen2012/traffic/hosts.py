"""Chen 2012, ch. 8: load over time, what hosts send and receive, and roles over several traces, on captures at hand.

Ratios are medians over the clients of a site, of captures where at least `FEWEST` clients have one. *Most* is more than
half. Of no capture at hand are there several traces: those of Fig. 8.12 are parts of one.
"""

from collections.abc import Callable, Collection
from functools import cache

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.profile.roles.answer import trained
from mayfly.profile.roles.features import host_features
from mayfly.profile.roles.several import over_traces
from mayfly_papers.declare import data
from mayfly_papers.declare.capture_facts import CAPTURES, constant, fact, profiled
from mayfly_papers.declare.declaration import Claim, Printed, Row
from mayfly_papers.declare.rows import Quantity, at_least, at_most, nearer_one, within

PRINTED = data.printed(__package__)

FEWEST = 5
"""Fewest clients that a median is taken over."""

EXTERNAL, INTERNAL, BOTH = ("office", "mix"), ("lab", "mix"), ("mix",)
"""Captures with at least `FEWEST` clients with traffic across the boundary, inside it, and both."""

SITES = ("10.10.0.0/24", "203.0.113.0/24", "198.51.100.0/24")
"""Networks of the office with its servers."""

ROLES = {f"10.10.0.{host}": "client" for host in range(11, 17)} | dict.fromkeys(
    ("203.0.113.10", "198.51.100.20", "203.0.113.130", "198.51.100.140"), "server"
)
"""Roles in the office, which was made for this project."""

TRACES = 5
"""Parts of equal time that the lab is cut into: as many as there are traces of LBNL."""

DIFFERENCES = data.reasons(__package__)


def clients(name: str, side: str) -> pl.DataFrame:
    """Clients of a site that have traffic of a side.

    Parameters
    ----------
    name : str
        Of a capture.
    side : str
        ``internal``, ``external`` or ``both``.

    Returns
    -------
    polars.DataFrame
        Rows of :func:`mayfly.profile.ratios.host_traffic`.
    """
    sides = ("internal", "external") if side == "both" else (side,)
    moved = [pl.col(f"{one}_up_packets") + pl.col(f"{one}_down_packets") > 0 for one in sides]
    return profiled(name).hosts.filter(pl.col("role") == "client", *moved)


def over_clients(name: str, side: str, of: Callable[[pl.DataFrame], float]) -> Quantity:
    """A number of the clients of a capture."""
    return constant(lambda: of(clients(name, side)))


def median(name: str, ratio: str, measure: str) -> Quantity:
    """Median of a ratio over the clients that have it."""
    return fact(name, lambda d: d["hosts"][ratio][measure]["q50"])


def busier(name: str, groups: str, upper: str, lower: str) -> Quantity:
    """Share of the bins with traffic of two groups in which one has more than the other (Fig. 8.2).

    Parameters
    ----------
    name : str
        Of a capture.
    groups : str
        ``by_side_bps`` or ``by_class_bps``.
    upper, lower : str
        Groups.

    Returns
    -------
    callable
        Runs to the share.
    """

    def of(document: dict) -> float:
        more, less = (np.array(document["load"][groups][group]) for group in (upper, lower))
        return float(np.mean((more > less)[more + less > 0]))

    return fact(name, of)


@cache
def roles_over_traces() -> pl.DataFrame:
    """Roles of the hosts of the lab in `TRACES` parts of it, told by what was learned from the office (Fig. 8.12).

    Returns
    -------
    polars.DataFrame
        Of :func:`mayfly.profile.roles.several.over_traces`.
    """
    model = trained([CAPTURES["office"][0]], ROLES, internal=SITES).model
    lab = profiled("lab")
    part = (pl.col("start_s") / lab.connections.duration_s * TRACES).floor().clip(0, TRACES - 1)
    parts = [lab.frame.filter(part == place) for place in range(TRACES)]
    return over_traces([model.apply(host_features(frame, _seen(frame, lab.sides.internal))) for frame in parts])


def _seen(frame: pl.DataFrame, hosts: Collection[str]) -> list[str]:
    """Hosts of a site that occur in a part of its capture."""
    return sorted(set(hosts) & {*frame["opener"], *frame["responder"]})


def steady_share(hosts: pl.DataFrame) -> float:
    """Share of the hosts that are told the same role in three to five traces, and never the other."""
    always = pl.col("verdict").is_in(["always server", "always client"])
    return hosts.filter(always, pl.max_horizontal("server", "client") >= 3).height / hosts.height


def _claim(name: str, figure: str, section: str, says: str, rows: list[Row], note: str = "") -> Claim:
    used = ", ".join(dict.fromkeys(row.name.rpartition(", ")[2] for row in rows))
    return Claim(
        f"figure-{figure.replace('.', '-')}-{name}",
        f"Chen 2012, {section}, Fig. {figure}",
        says,
        f"Profile of: {used}",
        tuple(rows),
        DIFFERENCES.get(f"figure-{figure.replace('.', '-')}-{name}"),
        note,
    )


_ONE = "The lab alone was recorded inside a site. Working hours and the backup at night are of a day, which none has."


def load() -> list[Claim]:
    """Fig. 8.2."""
    sides = at_least("bins of 10 s with more internal, lab", busier("lab", "by_side_bps", "internal", "external"), 0.5)
    classes = at_least("bins of 10 s with more lc-ls, lab", busier("lab", "by_class_bps", "lc-ls", "ls-ls"), 0.5)
    return [
        _claim("sides", "8.2", "8.3.1", "internal load is above external load most of the time", [sides], _ONE),
        _claim("classes", "8.2", "8.3.1", "clients and servers make the bulk of the internal load", [classes], _ONE),
    ]


def ratios() -> list[Claim]:
    """Fig. 8.7 and 8.8."""
    more, most = [], []
    for name in BOTH:
        above = over_clients(name, "both", lambda c: number((c["internal_external_bytes"] > 1).mean()))
        inside = over_clients(name, "both", lambda c: number(c["internal_external_bytes"].is_between(1, 100).mean()))
        more.append(at_least(f"clients with more internal bytes, {name}", above, 0.5))
        most.append(at_least(f"clients with a ratio of 1 to 100, bytes, {name}", inside, 0.75))
        for measure in ("bytes", "packets"):
            middle = median(name, "internal_external", measure)
            most.append(at_least(f"median, {measure}, {name}", middle, 1, printed=Printed(PRINTED["ratios"]["median"])))
    fair = [
        within(
            f"median, bytes, {name}",
            median(name, "down_up_internal", "bytes"),
            1.25,
            printed=Printed(PRINTED["ratios"]["median, bytes"]),
        )
        for name in INTERNAL
    ]
    down = [
        at_least(
            f"median, bytes, {name}",
            median(name, "down_up_external", "bytes"),
            1,
            printed=Printed(PRINTED["ratios"]["median, bytes 2"]),
        )
        for name in EXTERNAL
    ]
    return [
        _claim("most", "8.7", "8.3.3", "most clients have more internal than external traffic", more),
        _claim(
            "ratio",
            "8.7",
            "8.3.3",
            "internal over external traffic has a median of about 10 and is 1 to 100 for three quarters of the clients",
            most,
        ),
        _claim("internal", "8.8", "8.3.3", "internal downloads over uploads have a median of about 1", fair),
        _claim("external", "8.8", "8.3.3", "external downloads over uploads have a median of about 10", down),
    ]


def both_ways() -> list[Claim]:
    """Fig. 8.9 and 8.10."""

    def share(name: str, side: str, way: str, other: str, measure: str) -> Quantity:
        upper, lower = (f"{side}_{one}_{measure}" for one in (way, other))
        return over_clients(name, side, lambda c: number((c[upper] > c[lower]).mean()))

    def packet(name: str) -> Quantity:
        """Median of the mean packet down over the mean packet up, of clients that have both."""

        def of(c: pl.DataFrame) -> float:
            sizes = [pl.col(f"internal_{way}_bytes") / pl.col(f"internal_{way}_packets") for way in ("down", "up")]
            both = c.filter(pl.col("internal_down_packets") > 0, pl.col("internal_up_packets") > 0)
            return number(both.select(sizes[0] / sizes[1]).to_series().median())

        return over_clients(name, "internal", of)

    down = [
        at_least(
            f"clients that receive more bytes, external, {name}", share(name, "external", "down", "up", "bytes"), 0.5
        )
        for name in EXTERNAL
    ]
    fair = [
        nearer_one(
            f"median down over up, internal, bytes, {name}",
            median(name, "down_up_internal", "bytes"),
            median(name, "down_up_external", "bytes"),
            "nearer to 1 than external",
        )
        for name in BOTH
    ]
    packets = [
        nearer_one(
            f"median down over up, external, packets, {name}",
            median(name, "down_up_external", "packets"),
            median(name, "down_up_external", "bytes"),
            "nearer to 1 than in bytes",
        )
        for name in EXTERNAL
    ]
    opposite = [
        nearer_one(
            f"median down over up, internal, bytes, {name}",
            median(name, "down_up_internal", "bytes"),
            median(name, "down_up_internal", "packets"),
            "nearer to 1 than in packets",
        )
        for name in INTERNAL
    ]
    small = [
        row
        for name in INTERNAL
        for row in (
            at_least(f"clients that send more packets, {name}", share(name, "internal", "up", "down", "packets"), 0.5),
            at_least(f"mean packet down over mean packet up, median, {name}", packet(name), 1),
        )
    ]
    return [
        _claim("external", "8.9", "8.3.3", "external traffic is more of downloads than of uploads, in bytes", down),
        _claim("internal", "8.9", "8.3.3", "internal traffic is nearer to symmetric than external, in bytes", fair),
        _claim(
            "external", "8.10", "8.3.3", "external traffic is nearer to symmetric in packets than in bytes", packets
        ),
        _claim(
            "internal", "8.10", "8.3.3", "internal traffic is nearer to symmetric in bytes than in packets", opposite
        ),
        _claim(
            "small", "8.10", "8.3.3", "inside, clients send more packets than they receive, and smaller ones", small
        ),
    ]


def roles() -> list[Claim]:
    """Fig. 8.12 and 8.13."""
    steady = at_most(
        "hosts of one role in 3 to 5 of 5 parts, lab", constant(lambda: steady_share(roles_over_traces())), 0.5
    )
    small = [
        at_least(
            f"hosts below 1 MB, {name}",
            fact(name, lambda d: d["hosts"]["traffic_bytes"]["below_1_MB"]),
            0.8,
            printed=Printed(PRINTED["roles"]["hosts below 1 MB"]),
        )
        for name in CAPTURES
    ]
    return [
        _claim(
            "steady",
            "8.12",
            "8.4.2.2",
            "few hosts are told the same role in three to five traces by what was learned at another site",
            [steady],
            f"C4.5 learned from the office; the lab in {TRACES} parts of equal time. Fewer than 10 connections in a "
            "part: no role in it. That is so of ten of its 16 hosts in all parts; the three that have a role in every "
            "part keep it.",
        ),
        _claim(
            "below",
            "8.13",
            "8.4.3",
            "more than 80 % of the hosts of the traces where roles fail have less than 1 MB",
            small,
            "Said of LBNL, in 10 min to 1 h; the captures here are of 75 s to 83 min.",
        ),
    ]


CLAIMS = (*load(), *ratios(), *both_ways(), *roles())
"""In the order of the thesis."""
