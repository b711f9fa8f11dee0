"""Figures 9.9 to 9.14 of Chen 2012 as figures: the first replication, 9.14 means over all."""

from typing import Any

import polars as pl

from mayfly_papers.chen2012.apps import replay as chen2012_apps
from mayfly_papers.chen2012.enterprise import claims as chen2012_enterprise
from mayfly_papers.chen2012.wlan import topology as chen2012_topology
from mayfly_papers.chen2012.wlan.topology import NAMES
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Drawn, Figure
from mayfly_papers.declare.figure_parts import (
    SECONDS,
    SIZE,
    FirstRuns,
    all_by_size,
    figure,
    measured,
    runs_or_own,
    share_up_to,
)
from mayfly_papers.declare.rows import quantity

LATENCIES = {"intranet": "low latency", "internet": "high latency"}

_WIRED = (
    "The thesis: transfers fare alike in both models; those of low latency are near the whole. For those of high "
    "latency "
    "disciplines show no difference in underload, where the path takes most of the time, and a pronounced one in "
    "overload."
)
_CELL = (
    "The thesis: both models are alike as a whole; for transfers of high latency the difference of the disciplines is "
    "there at a moderate load and stronger at a high one, and adds to the whole."
)


def _of(number: str) -> str:
    return f"Chen 2012, Fig. {number}"


def wired(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 9.9 and 9.10.

    Parameters
    ----------
    runs : Runs, optional
        Of the page.
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(chen2012_enterprise.EXPERIMENTS, runs, most_s)
    loads = (chen2012_enterprise.UNDERLOAD, chen2012_enterprise.OVERLOADS[-1])
    text = "300 packets, load of both directions, seed 1"
    return [*_models(first, ("9.9", "9.10"), "wired-{model}-{load}", loads, f"{_WIRED} {text}.")]


def cell(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 9.11 and 9.12.

    Parameters
    ----------
    runs : Runs, optional
        Of the page.
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(chen2012_topology.EXPERIMENTS, runs, most_s)
    text = "A cell of 802.11a, 30 packets, load of both directions, seed 1"
    return [*_models(first, ("9.11", "9.12"), "{model}-{load}", chen2012_topology.LOADS, f"{_CELL} {text}.")]


def _models(
    first: FirstRuns, numbers: tuple[str, str], identity: str, loads: tuple[int, ...], caption: str
) -> list[Figure]:
    """The legacy model as a whole, the topological one by latency, a figure for each load."""
    legacy, topological = [], []
    for load in loads:
        what = f"legacy model, {load} Mb/s"
        curves = all_by_size(first, identity.format(model="legacy", load=load), NAMES)
        legacy.append(figure(_of(numbers[0]), what, caption, SIZE, SECONDS, curves, f"{load}"))
        for group, name in LATENCIES.items():
            what = f"topological model, {name}, {load} Mb/s"
            curves = all_by_size(first, identity.format(model="topological", load=load), NAMES, group=group)
            part = f"{load}-{group}"
            topological.append(figure(_of(numbers[1]), what, caption, SIZE, SECONDS, curves, part))
    return legacy + topological


def apps(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 9.13 and 9.14.

    Parameters
    ----------
    runs : Runs, optional
        Of the page.
    most_s : float, optional
        Simulated time of the runs of Fig. 9.13, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(chen2012_apps.EXPERIMENTS, runs, most_s)
    curves = []
    for form, name in chen2012_apps.FORMS.items():
        records = first(form, "fifo").records
        whole = records.filter(pl.col("finish_s").is_not_null(), pl.col("drops") + pl.col("lost") == 0)
        about = f"without loss under FIFO: {name}"
        curves.append(share_up_to(name, about, whole["size_bytes"].to_numpy()))
    same = (
        "Flows that complete without loss under FIFO, seed 1. The thesis: their sizes are the same in both models, as "
        "the "
        "load is low. Sizes of recorded flows hold the TCP headers."
    )
    kept = runs_or_own(runs, chen2012_apps.EXPERIMENTS)
    bars = [
        measured(
            kept,
            name,
            f"mean of {name} without loss",
            range(len(NAMES)),
            [quantity(form, discipline, "mean_s") for discipline in chen2012_apps.DISCIPLINES],
        )
        for form, name in chen2012_apps.FORMS.items()
    ]
    blurred = (
        "Flows that complete without loss. The thesis: what applications do blurs the differences of the disciplines; "
        "its "
        "flows were recorded UDP. Means over the replications with 95 % intervals."
    )
    more: dict[str, Any] = {"logarithms": False, "places": tuple(chen2012_apps.NAMES.values())}
    return [
        figure(_of("9.13"), "sizes of transfers", same, "bytes", "share at or below", curves, logarithms="x"),
        figure(_of("9.14"), "mean response times", blurred, "discipline", SECONDS, bars, **more),
    ]


WIRED = Drawn("Chen 2012, Fig. 9.9, 9.10", wired)
CELL = Drawn("Chen 2012, Fig. 9.11, 9.12", cell)
APPS = Drawn("Chen 2012, Fig. 9.13, 9.14", apps)

FIGURES = (WIRED,)
