"""Pictures of the page of today: response time by size, fairness by buffer, the threshold, load times of pages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.today.measures import EDGES, SHARES
from mayfly_papers.today.runs import (
    CELL,
    DRAWN_BUFFERS,
    EXPERIMENTS,
    LOADS,
    NAMES,
    THRESHOLDS,
    WIDE,
    WINDOWS,
    WIRED,
    efd_of,
    wired_id,
)

HOW = "Means over the replications."


def figures(runs: Runs | None = None) -> Iterable[Figure]:
    """All of them.

    Parameters
    ----------
    runs : Runs, optional
        Of the page; two replications each of its own when not given.

    Yields
    ------
    Figure
        Wired, then a cell, then thresholds and pages.
    """
    measured = runs or Runs(replace(experiment, replications=2) for experiment in EXPERIMENTS)
    for transport, name in (("cubic", "CUBIC"), ("bbr", "BBR")):
        for load in LOADS:
            yield by_size(measured, transport, name, load)
    yield fairness(measured)
    for size, title in (("small", "Transfers up to 20 MSS"), ("middling", "Transfers of 21 to 300 MSS")):
        yield by_threshold(measured, size, title)
    for name, version in (("http1", "HTTP/1.1"), ("http2", "HTTP/2")):
        yield page_times(measured, name, version)


def _mean(runs: Runs, experiment: str, discipline: str, measure: str) -> float:
    values = runs.values(experiment, discipline, measure)
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _curve(discipline: str, x: Sequence[float], y: Sequence[float]) -> Curve:
    about = f"the discipline {discipline}" if discipline != WIDE else "EFD with a threshold of 80 packets"
    return Curve(NAMES[discipline], about, list(x), list(y))


def by_size(runs: Runs, transport: str, name: str, load: float) -> Figure:
    """Response time by size, as Fig. 4.9."""
    middles = [float(np.sqrt(low * high)) for low, high in pairwise(EDGES)]
    identity = wired_id(transport, load)
    curves = tuple(
        _curve(d, middles, [_mean(runs, identity, d, f"size_{k}_s") for k in range(len(middles))])
        for d in (*WIRED, WIDE)
    )
    return Figure(
        f"by-size-{identity}".replace(".", "-"),
        f"Response time by size, {name}, {load:g} Mb/s over 10 Mb/s",
        f"Completed transfers; the threshold of EFD is 20 packets where none is named. {HOW}",
        "size, MSS",
        "response time, s",
        curves,
    )


def fairness(runs: Runs) -> Figure:
    """Uploads over downloads by buffer, as Fig. 6.2."""
    curves = tuple(
        _curve(d, DRAWN_BUFFERS, [_mean(runs, f"5v5-{buffer}", d, "ratio") for buffer in DRAWN_BUFFERS]) for d in CELL
    )
    return Figure(
        "cell-fairness",
        "Five uploads against five downloads, 802.11a, CUBIC",
        f"Goodput of uploads over that of downloads; 1 is fair. {HOW}",
        "buffer of the access point, packets",
        "uploads over downloads",
        curves,
    )


def by_threshold(runs: Runs, size: str, title: str) -> Figure:
    """Response times by threshold for each initial window."""
    curves = tuple(
        Curve(
            f"initial window {window}",
            f"EFD, CUBIC with an initial window of {window} segments",
            list(THRESHOLDS),
            [_mean(runs, f"window-{window}", efd_of(th), f"{size}_s") for th in THRESHOLDS],
        )
        for window in WINDOWS
    )
    return Figure(
        f"threshold-{size}",
        f"{title} by threshold of EFD, CUBIC, 8 Mb/s over 10 Mb/s",
        HOW,
        "threshold, packets of 1500 bytes",
        "response time, s",
        curves,
    )


def page_times(runs: Runs, name: str, version: str) -> Figure:
    """Distribution of the load times of pages."""
    curves = tuple(
        _curve(d, [_mean(runs, "pages", d, f"{name}_p{share}_s") for share in SHARES], SHARES) for d in (*WIRED, WIDE)
    )
    return Figure(
        f"pages-{name}",
        f"Load times of pages over {version} beside two bulk transfers, CUBIC",
        "Share of the pages that are complete after a time: means of the quantiles over the replications.",
        "load time, s",
        "share of the pages, %",
        curves,
        logarithms="x",
    )


FIGURES = (Drawn("", figures),)
