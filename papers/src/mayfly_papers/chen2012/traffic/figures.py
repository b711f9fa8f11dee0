"""Figures 8.1 to 8.10, 8.12 and 8.13 of Chen 2012 as figures, of the captures at hand that are there."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mayfly.profile.distributions import cdf, gaps_within, mass_cdf
from mayfly.profile.load import totals
from mayfly.profile.ratios import traffic_bytes
from mayfly.profile.roles.several import histogram
from mayfly_papers.chen2012.traffic.captures import FOUR
from mayfly_papers.chen2012.traffic.hosts import BOTH, EXTERNAL, INTERNAL, clients, roles_over_traces
from mayfly_papers.declare.capture_facts import CAPTURES, is_present, profiled, told
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import figure

PARTS = ("external up", "external down", "internal up", "internal down", "internal servers")
QUANTILES = np.linspace(0.01, 0.99, 99)
"""Of the quantile plots."""

SIDES = ("internal", "external")
SHARE = "share at or below"


def figures() -> list[Figure]:
    """All of them.

    Returns
    -------
    list of Figure
        In the order of the thesis; the captures beside the checkout left out where they are not there.
    """
    drawn = (composition, loads, sizes, durations, laws, host_ratios, both_ways, roles, host_volumes)
    return [own for draw in drawn for own in draw() if own.curves]


def _there(names: Iterable[str]) -> list[str]:
    return [name for name in names if is_present(name)]


def _figure(number: str, what: str, caption: str, x: str, y: str, curves: Sequence[Curve], **more) -> Figure:
    """One of them, by its number and, behind a blank, its letter or word."""
    place, _, part = number.partition(" ")
    return figure(f"Chen 2012, Fig. {place}", what, caption, x, y, curves, part, **more)


def _distribution(kind: str, about: str, values: np.ndarray, of: Callable = cdf) -> Curve:
    """Distribution function of what is above 0, which a logarithm shows, as a share of all."""
    x, y = of(values)
    return Curve(kind, about, x[x > 0], y[x > 0])


def composition() -> list[Figure]:
    """Fig. 8.1."""
    found = []
    for measure in ("bytes", "packets"):
        curves = []
        for name in _there(CAPTURES):
            shares = [told(name)["directions"][measure][part]["share"] for part in PARTS]
            curves.append(Curve(name, f"capture: {name}", range(len(PARTS)), shares))
        caption = (
            "At Eurecom more than 90 % is internal, shared by uploads and downloads about equally, nearly a fifth of "
            "it between servers; a tenth of the external traffic is uploads. The office and the home were taken at the "
            "link to the outside. Transfers that end in their setup are left out, as there."
        )
        what = f"traffic by class and direction, {measure}"
        bars = {"logarithms": False, "places": PARTS}
        found.append(_figure(f"8.1 {measure}", what, caption, "class", f"share of the {measure}", curves, **bars))
    return found


def loads() -> list[Figure]:
    """Fig. 8.2."""
    caption = (
        "Of the Eurecom trace, in bins of five minutes over a day: internal load is above external load most of the "
        "time, both are high from 8 to 20 h, backups make a peak from 20 to 22 h, and clients with servers are the "
        "bulk of the internal load. The lab is the one capture at hand from inside a site, 83 min in bins of 10 s; "
        "long connections of simulated attacks make its external load."
    )
    found = []
    for part, by, names in (("sides", "side", SIDES), ("classes", "class", ("lc-ls", "ls-ls"))):
        curves = []
        for _ in _there(["lab"]):
            load = profiled("lab").load
            starts, rates = load["start_s"].unique().sort(), totals(load, by)
            curves = [Curve(name, f"traffic: {name}", starts, rates[name]) for name in names if name in rates]
        what = "load over time" if by == "side" else "internal load over time by class"
        found.append(_figure(f"8.2 {part}", what, caption, "time (s)", "bit/s", curves, logarithms=False))
    return found


def sizes() -> list[Figure]:
    """Fig. 8.3."""
    found = []
    for part, of, what, y in (
        ("a", cdf, "flow sizes", SHARE),
        ("b", mass_cdf, "flow sizes, weighted by their bytes", "share of the bytes at or below"),
    ):
        curves = [
            _distribution(name, f"capture: {name}", profiled(name).samples["size_bytes"]["value"].to_numpy(), of)
            for name in _there(CAPTURES)
        ]
        caption = "At Eurecom more than 90 % of the connections are small, and less than 5 % carry most of the bytes."
        found.append(_figure(f"8.3 {part}", what, caption, "bytes", y, curves, logarithms="x"))
    return found


def durations() -> list[Figure]:
    """Fig. 8.4."""
    lasting = (
        "At Eurecom internal flows last 1 ms to 100 s with a median of 0.5 s, external ones 0.5 s to a few hundred "
        "seconds with a median of 10 s, which the text puts down to their round-trip times."
    )
    gaps = "At Eurecom no evident difference of internal and external flows."

    def gaps_of(name: str, side: str) -> np.ndarray:
        return gaps_within(profiled(name).frame, "side").get(side, np.empty(0))

    def durations_of(name: str, side: str) -> np.ndarray:
        return profiled(name).samples["duration_s"].filter(side=side)["value"].to_numpy()

    found = []
    for part, what, caption, of, names in (
        ("a", "flow durations", lasting, durations_of, ("lab", "home", "mix")),
        ("b", "times between arrivals", gaps, gaps_of, ("lab", "home")),
    ):
        curves = [
            _distribution(f"{side}, {name}", f"{side} flows of the capture {name}", of(name, side))
            for name in _there(names)
            for side in SIDES
        ]
        found.append(_figure(f"8.4 {part}", what, caption, f"{what} (s)", SHARE, curves, logarithms="x"))
    return found


def laws() -> list[Figure]:
    """Fig. 8.5 and 8.6."""
    found = []
    for number, measure, unit, what, best in (
        ("8.5", "gap_s", "s", "times between arrivals", "the Weibull law fits best"),
        ("8.6", "size_bytes", "bytes", "flow sizes", "the lognormal law fits best"),
    ):
        for name in _there(CAPTURES if measure == "size_bytes" else ("office", "lab", "home")):
            profile = profiled(name)
            measured = np.quantile(profile.fitted(measure), QUANTILES)
            fits = {fit.law: fit for fit in profile.fits[measure]}
            aic = {law: fits[law].aic for law in FOUR}
            best_of_ours = min(aic, key=aic.__getitem__)
            curves = [
                Curve(law, f"{law} law, by maximum likelihood", fits[law].quantiles(QUANTILES), measured, True)
                for law in FOUR
            ]
            ends = [measured[0], measured[-1]]
            curves.append(Curve("equal", "where both quantiles are the same", ends, ends))
            caption = f"At Eurecom {best}, by eye. Of the {name} it is the {best_of_ours} law, by AIC."
            title = f"quantiles of {what}, {name}"
            found.append(_figure(f"{number} {name}", title, caption, f"law ({unit})", f"measured ({unit})", curves))
    return found


def host_ratios() -> list[Figure]:
    """Fig. 8.7 and 8.8."""
    found = []
    caption = (
        "At Eurecom most of 224 clients have more internal than external traffic, three quarters of them up to 100 "
        "times as much, with a median of about 10, in bytes and in packets. Clients of the mix were recorded with one "
        "application each, which talks to the Internet."
    )
    curves = [
        _distribution(f"{measure}, {name}", f"ratio in {measure}, clients of {name}", _column(name, "both", column))
        for name in _there(BOTH)
        for measure in ("bytes", "packets")
        for column in [f"internal_external_{measure}"]
    ]
    found.append(
        _figure("8.7", "internal over external traffic of clients", caption, "ratio", SHARE, curves, logarithms="x")
    )
    caption = (
        "At Eurecom downloads over uploads of a client are about 1 inside and about 10 across the boundary, in the "
        "median."
    )
    curves = [
        _distribution(f"{side}, {name}", f"{side} flows of the capture {name}", _column(name, side, column))
        for side, names in (("internal", INTERNAL), ("external", EXTERNAL))
        for name in _there(names)
        for column in [f"down_up_{side}_bytes"]
    ]
    return [
        *found,
        _figure("8.8", "downloads over uploads of clients, bytes", caption, "ratio", SHARE, curves, logarithms="x"),
    ]


def _column(name: str, side: str, column: str) -> np.ndarray:
    return clients(name, side)[column].drop_nulls().to_numpy()


def both_ways() -> list[Figure]:
    """Fig. 8.9 and 8.10."""
    caption = (
        "At Eurecom external traffic is more of downloads in bytes and nearer to symmetric in packets. Internal "
        "traffic is nearer to symmetric in bytes: clients send more packets than they receive, and smaller ones."
    )
    found = []
    for number, measure in (("8.9", "bytes"), ("8.10", "packets")):
        for part, side, names in (("a", "external", EXTERNAL), ("b", "internal", INTERNAL)):
            curves = [
                _distribution(
                    f"{way}, {name}", f"what clients of {name} {verb}", _column(name, side, f"{side}_{way}_{measure}")
                )
                for name in _there(names)
                for way, verb in (("up", "send"), ("down", "receive"))
            ]
            what = f"{side} traffic of clients both ways, {measure}"
            found.append(_figure(f"{number} {part}", what, caption, measure, SHARE, curves, logarithms="x"))
    return found


def roles() -> list[Figure]:
    """Fig. 8.12."""
    if not _there(["lab"]):
        return []
    rows = histogram(roles_over_traces())
    told_so = tuple(f"{row['verdict']}, {row['told']}" for row in rows)
    curves = [Curve("hosts", "hosts of the lab, in five parts of it", range(len(rows)), [row["hosts"] for row in rows])]
    caption = (
        "3s2c: three times told to be a server, twice a client. In the five traces of LBNL, by what was learned at "
        "Eurecom, few hosts keep a role three to five times. Here: five parts of the lab, by what was learned from the "
        "office; hosts with fewer than 10 connections in a part have no role in it."
    )
    what = "hosts by role over several traces"
    return [_figure("8.12", what, caption, "told", "hosts", curves, logarithms=False, places=told_so)]


def host_volumes() -> list[Figure]:
    """Fig. 8.13."""
    curves = [_distribution(name, f"capture: {name}", traffic_bytes(profiled(name).hosts)) for name in _there(CAPTURES)]
    caption = (
        "More than 80 % of the hosts of LBNL have less than 1 MB, far less than at Eurecom: the text takes this for "
        "the reason why roles are not told right there."
    )
    return [_figure("8.13", "traffic of hosts", caption, "bytes", SHARE, curves, logarithms="x")]


FIGURES = (Drawn.of_own_runs("Chen 2012, Fig. 8.1 to 8.10, 8.12, 8.13", figures),)
