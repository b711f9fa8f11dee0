"""Figures 19 and 22 to 24 of Zhao 2004 as figures: estimates beside what came, in the kernel and the simulator."""

import re
from collections.abc import Iterable

from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.zhao2004.testbed.measures import BEGIN_S, Series, kernel_document, kernel_series
from mayfly_papers.zhao2004.testbed.scenarios import DISCIPLINE, EXPERIMENTS, LOADS, simulated

FILTERED = "through a filter that keeps 0.975 of the old value per estimation interval"
ABOUT = {
    "tc": "share that tc shows, estm over 2^14, by estimation interval",
    "counted": "share of UDP and web in the bytes that came, by estimation interval",
    "measured, kernel": f"share of UDP and web in the bytes that came, {FILTERED}",
    "estimate, kernel": f"of sch_estmred, {FILTERED}",
    "measured, simulator": f"share of UDP and web in the packets that came, {FILTERED}",
    "estimate, simulator": f"of estmred, {FILTERED}",
}
SAYS = {
    "22": "The text: the higher the load, the more accurate the estimate.",
    "23": "The text: the estimate follows the load; the filter takes over 100 s to forget, hence the long slopes.",
    "24": "The text: short TCP transfers are estimated as part of what does not respond.",
}
TITLES = {
    "22-63": "UDP at 0.65 of the link",
    "22-76": "UDP at 0.78 of the link",
    "22-87": "UDP at 0.90 of the link",
    "23": "UDP at 0.65, from 100 to 170 s at 0.90 of the link",
    "24": "UDP at 0.65 of the link, ten web users from 90 to 170 s",
}


def figures(runs: Runs | None = None) -> Iterable[Figure]:
    """All of them; the simulator's runs are its own.

    Yields
    ------
    Figure
        In the order of the dissertation.
    """
    yield shown()
    for experiment, number in zip(EXPERIMENTS, LOADS, strict=True):
        scenario = experiment.loaded()
        flows = (experiment.flows or workload)(scenario, 0)
        run = run_one(scenario, parse(DISCIPLINE), flows)
        yield one(number, kernel_series(number)[0], simulated(run, LOADS[number]))


def shown() -> Figure:
    """Figure 19: what tc shows of Figure 22, 87 %."""
    series = kernel_series("22-87")[0]
    status = kernel_document()["figures"]["22-87"][0]["status"]
    estimated, counted = series.estimated.tolist(), series.measured.tolist()
    curves = (
        Curve("tc", ABOUT["tc"], series.time_s.tolist(), estimated, points=True),
        Curve("counted", ABOUT["counted"], series.time_s.tolist(), counted),
    )
    told = re.findall(r"estm \d+ = \S+", status)[0]
    caption = f"The text: an estm of 14259 is a share of 0.87. Seed 1 in the kernel; at the end tc shows {told}."
    title = f"Figure 19: what tc shows, {TITLES['22-87']}"
    y = "share that does not respond"
    return Figure("fig-19", title, caption, "time (s)", y, curves, False, source="Zhao 2004, Fig. 19")


def one(figure: str, kernel: Series, simulator: Series) -> Figure:
    """One figure, by its number and, where there are several, its load."""
    curves, told = [], []
    for place, series in (("kernel", kernel), ("simulator", simulator)):
        times = series.time_s[series.counted]
        for kind, values in zip(("measured", "estimate"), series.smoothed(), strict=True):
            name = f"{kind}, {place}"
            curves.append(Curve(name, ABOUT[name], times.tolist(), values.tolist()))
        told.append(f"MSE in the {place} {series.mse():.5f}, unfiltered {series.mse_unsmoothed():.5f}.")
    number = figure.partition("-")[0]
    caption = f"{SAYS[number]} Seed 1, from {BEGIN_S:g} s on. {' '.join(told)}"
    source = f"Zhao 2004, Fig. {number}"
    title = f"Figure {number}: {TITLES[figure]}"
    y = "share that does not respond"
    return Figure(f"fig-{figure}", title, caption, "time (s)", y, tuple(curves), False, source=source)


FIGURES = (Drawn("Zhao 2004, Fig. 19, 22 to 24", figures),)
