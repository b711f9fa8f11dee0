"""Figures 6.2 to 6.8 and 7.2 to 7.5 of Chen 2012 as figures: means over the replications, or the first of them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mayfly_papers.chen2012.enterprise import figures as enterprise_figures
from mayfly_papers.chen2012.wlan import appendix as tables
from mayfly_papers.chen2012.wlan import cell, mixed
from mayfly_papers.chen2012.wlan.appendix import ASYMMETRIC, LARGE, SYMMETRIC, Mix
from mayfly_papers.chen2012.wlan.cell import NAMES, SMALL
from mayfly_papers.chen2012.wlan.printed_tables import LARS
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import SECONDS, SIZE, FirstRuns, all_by_size, figure, measured, runs_or_own
from mayfly_papers.declare.rows import quantity

BUFFER = "buffer of the access point (packets)"
WAYS = {"down": "downloads", "up": "uploads"}
_MEANS = "Means over the replications with 95 % intervals."
_RTT = ("efd", "pefd", "efdack")
"""Disciplines of Fig. 6.3."""


def _of(number: str) -> str:
    return f"Chen 2012, Fig. {number}"


def _by_buffer(runs: Runs, kind: str, about: str, discipline: str, measure: str, unit: str = "packets") -> Curve:
    ids = [f"5v5-{packets}" + ("" if unit == "packets" else "-in-bytes") for packets in SMALL]
    return measured(runs, kind, about, SMALL, [quantity(identity, discipline, measure) for identity in ids])


def _under(runs: Runs, measure: str, unit: str = "packets") -> list[Curve]:
    return [_by_buffer(runs, NAMES[d], f"under {NAMES[d]}", d, measure, unit) for d in cell.DISCIPLINES]


def endless(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 6.2: over all replications."""
    runs = runs_or_own(runs, cell.EXPERIMENTS)
    caption = (
        "The thesis: with small buffers uploads get far more than downloads under FIFO and SCFQ, 2 to 3 orders of "
        "magnitude more under BEFD; LASACK and LARS share fairly, PEFD and EFDACK well above 20 packets, at no loss of "
        f"throughput. Five uploads against five downloads. {_MEANS}"
    )
    found = []
    for part, measure, what, y, scale in (
        ("up", "up_mbps", "throughput of the uploads", "Mb/s", False),
        ("down", "down_mbps", "throughput of the downloads", "Mb/s", False),
        ("ratio", "ratio", "uploads over downloads", "ratio", "y"),
    ):
        more: dict[str, Any] = {"part": part, "logarithms": scale}
        found.append(figure(_of("6.2"), what, caption, BUFFER, y, _under(runs, measure), **more))
    return found


def windows(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 6.3: over all replications."""
    runs = runs_or_own(runs, cell.EXPERIMENTS)
    caption = (
        "The thesis: under BEFD the windows of downloads do not grow; EFDACK parts uploads from downloads and makes "
        f"round-trip times longer where windows are larger, PEFD does so to a lesser extent. {_MEANS}"
    )
    found = []
    for part, what, y in (("rtt_s", "round-trip times", "s"), ("cwnd", "congestion windows", "MSS")):
        curves = [
            _by_buffer(runs, f"{NAMES[d]}, {text}", f"{text} under {NAMES[d]}", d, f"{way}_{part}")
            for d in _RTT
            for way, text in WAYS.items()
        ]
        more: dict[str, Any] = {"part": part.partition("_")[0], "logarithms": False}
        found.append(figure(_of("6.3"), f"{what} by buffer", caption, BUFFER, y, curves, **more))
    return found


def variants(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 6.4 and 6.5.

    Parameters
    ----------
    runs : Runs, optional
        Of the page.
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
        In the order of the paper.
    """
    first = FirstRuns(mixed.EXPERIMENTS, runs, most_s)
    found = []
    for number, unit in (("6.4", "bytes"), ("6.5", "packets")):
        for part, load in (("a", 10), ("b", 20)):
            labels = {"fifo": "FIFO"} | {label: name for name, label in mixed.VARIANTS[unit].items()}
            caption = (
                f"Queues of EFD counting {unit}, high+low; {load} Mb/s both ways, 1:1, 30 packets, seed 1. The thesis: "
                "at "
                "10 Mb/s all four are alike and serve short flows faster than FIFO; at 20 Mb/s FIFO+LAS is best, "
                "FIFO+FIFO by bytes close to it, and LAS in the high queue does harm."
            )
            curves = all_by_size(first, f"variants-{load}", labels)
            what = f"orders inside EFD by {unit}, {load} Mb/s"
            found.append(figure(_of(number), what, caption, SIZE, SECONDS, curves, part))
    return found


_SYMMETRIC = (
    "The thesis: FIFO is unfair to downloads at all loads; the size-based disciplines mitigate that and improve short "
    "flows much, at a negligible cost to long ones. LASACK is a little better than PEFD and EFDACK for middling flows; "
    "Run2CACK changes more sharply."
)
_ASYMMETRIC = f"{_SYMMETRIC} Ten downloads for an upload."
_LARGE = (
    "The thesis: with 300 packets FIFO is no longer unfair, at the cost of very long times in the queue; PEFD, EFDACK "
    "and LASACK neither suffer nor benefit. Ten downloads for an upload."
)


def mixes(number: str, mix: Mix, says: str, runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 6.6, 6.7 or 6.8, a figure for each load and direction.

    Parameters
    ----------
    number : str
        Of the figure.
    mix : Mix
        Its mix of transfers.
    says : str
        What the text says of it.
    runs, most_s
        As of :func:`variants`.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(tables.EXPERIMENTS, runs, most_s)
    labels = {d: NAMES[d] for d in tables.DISCIPLINES}
    found = []
    for load in mixed.LOADS:
        for way, text in WAYS.items():
            curves = all_by_size(first, mix.experiment(load), labels, direction=way)
            caption = f"{says} {load} Mb/s both ways, {mix.buffer} packets, seed 1."
            part, what = f"{load}-{way}", f"{text}, {load} Mb/s, {mix.downs_per_up}:1, {mix.buffer} packets"
            found.append(figure(_of(number), what, caption, SIZE, SECONDS, curves, part))
    return found


def units(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 7.2 and 7.3: over all replications."""
    runs = runs_or_own(runs, cell.EXPERIMENTS)
    says = {
        "packets": "The thesis: uploads push out downloads under FIFO, SCFQ, BEFD and Run2CACK, which lose very many; "
        "LASACK and LARS are fair, PEFD and EFDACK nearly so above 20 packets, with negligible loss.",
        "bytes": "The thesis: with a buffer in bytes FIFO, Run2CACK and BEFD lose far less and are fairer. Others "
        "hardly change; downloads get a little more than uploads under PEFD and EFDACK.",
    }
    found = []
    for number, unit in (("7.2", "packets"), ("7.3", "bytes")):
        for part, measure, what, y, scale in (
            ("ratio", "ratio", "uploads over downloads", "ratio", "y"),
            ("total", "total_mbps", "aggregate throughput", "Mb/s", False),
            ("loss", "data_loss", "loss of downloads at the access point", "loss", False),
        ):
            caption = f"{says[unit]} Five uploads against five downloads. {_MEANS}"
            more: dict[str, Any] = {"part": part, "logarithms": scale}
            curves = _under(runs, measure, unit)
            found.append(figure(_of(number), f"{what}, buffer in {unit}", caption, BUFFER, y, curves, **more))
    return found


def mixed_units(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 7.4 and 7.5; parameters as of :func:`variants`."""
    first = FirstRuns(mixed.EXPERIMENTS, runs, most_s)
    groups: tuple[tuple[str, Mapping[str, str], str], ...] = (
        (
            "7.4",
            {d: NAMES[d] for d in ("fifo", "run2cack", "efd")},
            "The thesis: a buffer in bytes lowers the response times of small and middling flows both ways under FIFO, "
            "Run2CACK and BEFD; it does not make them fairer.",
        ),
        (
            "7.5",
            {d: NAMES[d] for d in ("scfq", "lasack", LARS, "pefd", "efdack")},
            "The thesis: SCFQ, LASACK, LARS, PEFD and EFDACK do not depend on the unit; all but SCFQ are fair for most "
            "sizes.",
        ),
    )
    found = []
    for number, labels, says in groups:
        for unit in ("packets", "bytes"):
            curves = [
                curve
                for way, text in WAYS.items()
                for curve in all_by_size(first, f"unit-{unit}", labels, f", {text}", direction=way)
            ]
            caption = f"{says} 10 Mb/s both ways, 1:1, 30 packets or 45 000 bytes, seed 1."
            found.append(figure(_of(number), f"mixed load, buffer in {unit}", caption, SIZE, SECONDS, curves, unit))
    return found


FIGURES = (
    Drawn("Chen 2012, Fig. 6.2", endless),
    Drawn("Chen 2012, Fig. 6.3", windows),
    Drawn("Chen 2012, Fig. 6.4, 6.5", variants),
    Drawn("Chen 2012, Fig. 6.6", partial(mixes, "6.6", SYMMETRIC, _SYMMETRIC)),
    Drawn("Chen 2012, Fig. 6.7", partial(mixes, "6.7", ASYMMETRIC, _ASYMMETRIC)),
    Drawn("Chen 2012, Fig. 6.8", partial(mixes, "6.8", LARGE, _LARGE)),
    Drawn("Chen 2012, Fig. 7.2, 7.3", units),
    Drawn("Chen 2012, Fig. 7.4, 7.5", mixed_units),
    enterprise_figures.CELL,
)
"""All of them."""
