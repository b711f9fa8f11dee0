"""Figures that a formula draws: 3.1 and 3.2 of Chen 2012, 7, 8 and 10 of Urvoy-Keller 2007."""

import numpy as np

from mayfly.laws.service_spec import service_law
from mayfly.models.sampling.sampling import sampling_probability
from mayfly.models.wlan.tcp import cycle_capacity
from mayfly.models.wlan.times import CellTimes
from mayfly.scenario.airtimes import airtimes
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import figure
from mayfly_papers.formulas.claims import FIGURE_7, FIGURE_8, SAMPLES, mapped

THRESHOLD = 50
"""T of Fig. 3.1 and 3.2, packets."""

PROBABILITIES = (0.002, 0.02, 0.2)
SIZES = (10, 50, 100, 1000)
"""Flows of Fig. 3.1(b), packets."""


def of_sampling() -> list[Figure]:
    """Chen 2012, Fig. 3.1 and 3.2."""
    return [*sampling(), samples()]


def of_laws() -> list[Figure]:
    """Urvoy-Keller 2007, Fig. 7 and 8."""
    return [lognormal(), pareto()]


def of_cycles() -> list[Figure]:
    """Urvoy-Keller 2007, Fig. 10."""
    return [cycles()]


def sampling() -> list[Figure]:
    """Chen 2012, Fig. 3.1."""
    size, p = np.unique(np.geomspace(1, 1000, 60).round()), np.geomspace(1e-4, 1, 60)
    of_size = [
        Curve(f"p = {own:g}", f"sampled with probability {own:g}", size, sampling_probability(size, own))
        for own in PROBABILITIES
    ]
    of_p = [
        Curve(f"{own} packets", f"a flow of {own} packets", p, sampling_probability(float(own), p)) for own in SIZES
    ]
    ideal = Curve("ideal", "sampled from 50 packets on", [1, THRESHOLD, THRESHOLD, 1000], [0, 0, 1, 1])
    caption = (
        "T_s = 1, T = 50: p = 0.02 is the best choice and still samples a noticeable share of small flows; 0.2 samples "
        "short flows with high probability, 0.002 keeps long flows from being sampled. Short and long flows cannot be "
        "parted strictly."
    )
    more, probability = {"logarithms": "x"}, "probability to be sampled"
    by_size, by_p = "probability that a flow is sampled, by size", "the same by probability of a packet"
    source = "Chen 2012, Fig. 3.1"
    return [
        figure(source, by_size, caption, "packets", probability, [*of_size, ideal], "a", **more),
        figure(source, by_p, caption, "p", probability, of_p, "b", **more),
    ]


def samples() -> Figure:
    """Chen 2012, Fig. 3.2: p = T_s / T."""
    size = np.unique(np.geomspace(1, 1000, 120).round())
    curves = [
        Curve(
            f"T_s = {own}",
            f"{own} samples make a flow long, p = {own / THRESHOLD:g}",
            size,
            sampling_probability(size, own / THRESHOLD, own),
        )
        for own in SAMPLES
    ]
    caption = (
        "T = 50: the higher T_s, the better the classification, at no less state of flows; T_s = T is the strict "
        "threshold of Run2C."
    )
    what = "probability that a flow is sampled, by number of samples"
    source = "Chen 2012, Fig. 3.2"
    return figure(source, what, caption, "packets", "probability to be sampled", curves, logarithms="x")


def lognormal() -> Figure:
    """Urvoy-Keller 2007, Fig. 7."""
    found = mapped(FIGURE_7, 5)
    sigma, mu = (found.points[:, found.names.index(name)] for name in ("sigma", "mu"))
    curves = [
        Curve(
            f"sigma = {own:.3g}",
            "mean and CoV for mu from 7.37 to 8.5",
            found.mean[sigma == own],
            found.cov[sigma == own],
        )
        for own in np.unique(sigma)
    ]
    caption = (
        f"For mu from {mu.min():g} to {mu.max():g} and sigma from {sigma.min():g} to {sigma.max():g}, as others found "
        "for sizes of flows, CoV values lie between 1.5 and 6."
    )
    return figure("Urvoy-Keller 2007, Fig. 7", "lognormal law", caption, "mean (bytes)", "CoV", curves, logarithms="x")


def pareto() -> Figure:
    """Urvoy-Keller 2007, Fig. 8."""
    found = mapped(FIGURE_8, 101)
    curve = Curve("bounded Pareto", "shape from 1 to 2, 3 to 13 333 MSS", found.mean, found.cov)
    used = [service_law(FIGURE_8.replace("1..2", shape)) for shape in ("1.4", "1.73")]
    points = Curve(
        "shapes 1.4 and 1.73", "laws of sections 6 and 7", [u.mean for u in used], [u.cov for u in used], True
    )
    caption = "From 4.5 kB to 20 MB: a mean of about 10 packets goes with a CoV between 2 and 6."
    return figure(
        "Urvoy-Keller 2007, Fig. 8", "bounded Pareto law", caption, "mean (MSS)", "CoV", [points, curve], logarithms="x"
    )


def cycles() -> Figure:
    """Urvoy-Keller 2007, Fig. 10."""
    times = CellTimes.of(airtimes("802.11b", lengths=[1536, 76]))
    windows = np.array([31, 63, 127, 255, 511, 1023])
    found = [cycle_capacity(times, window / 2) for window in windows]
    curves = [
        Curve("down", "downloads alone (Eq. 2)", windows / 2, [own.down_bps / 1e6 for own in found]),
        Curve("down+up", "of downloads among as many uploads", windows / 2, [own.down_bps / 2e6 for own in found]),
        Curve("smallest flows", "flows of 3 MSS (C_k)", windows / 2, [own.smallest_bps / 1e6 for own in found]),
        Curve("smallest, mix", "the same among uploads (C_mix)", windows / 2, [own.mixed_bps / 1e6 for own in found]),
    ]
    caption = "Of ideal cycles of frames, 802.11b at 11 Mb/s: it decays rapidly with contention."
    what, x = "capacity at the level of IP", "slots of backoff, middle of the window"
    return figure("Urvoy-Keller 2007, Fig. 10", what, caption, x, "Mb/s", curves, logarithms=False)


FIGURES = (
    Drawn.of_own_runs("Chen 2012, Fig. 3.1, 3.2", of_sampling),
    Drawn.of_own_runs("Urvoy-Keller 2007, Fig. 7, 8", of_laws),
)
