"""Statements of the papers that a formula answers: sampling of packets and laws of sizes. Nothing is simulated."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np

from mayfly.laws.service_spec import service_law
from mayfly.models.laws.summary import LawMap, law_map, mass_of_largest
from mayfly.models.sampling.sampling import misclassified, packets_until_sampled, sampling_probability
from mayfly_papers.chen2012.traffic import roles as chen2012_roles
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Row
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, within

PRINTED_LAW = "zipf:min=1,max=1e6,alpha=1.1"
SAMPLES = (1, 5, 25, 50)
FIGURE_7 = "lognormal:mu=7.37..8.5,sigma=0.98..1.92"
FIGURE_8 = "bounded-pareto:min=3,max=13333,alpha=1..2"

DIFFERENCES = reasons(__package__)


def constant(value: Callable[[], float]) -> Quantity:
    """A quantity that no run changes."""
    return lambda runs: np.full(2, value())


@cache
def mapped(spec: str, steps: int) -> LawMap:
    """A map of mean and CoV."""
    return law_map(spec, steps)


@cache
def wrong(samples: int) -> float:
    """Share of the flows misclassified, for a threshold of 50 packets."""
    return misclassified(service_law(PRINTED_LAW), 50, samples).total


def _sampled(packets: int, probability: float) -> Quantity:
    return constant(lambda: float(sampling_probability(packets, probability)))


def _claim(name: str, source: str, says: str, settings: str, rows: list[Row], note: str = "") -> Claim:
    return Claim(name, source, says, settings, tuple(rows), DIFFERENCES.get(name), note)


def misclassification() -> Claim:
    """The example of 2.6 %."""
    share = constant(lambda: misclassified(service_law(PRINTED_LAW), 100).total / 0.026)
    return _claim(
        "misclassified",
        "Chen 2012, 3.2",
        "2.6 % of the flows are misclassified with T_s = 1, T = 100 and a bounded Pareto law from 1 to 10^6, shape 1.1",
        f"`mayfly model sampling --threshold 100 --law {PRINTED_LAW}`",
        [within("misclassified flows over 2.6 %", share, 1.02)],
        "The law of whole sizes, P(k) ~ k^-2.1; within the rounding of two digits. Real sizes, rounded up, give 4.4 %.",
    )


def figure_3_1() -> Claim:
    """One sample makes a flow long."""
    rows = [
        within(
            "packets until sampled, p = 0.02, over 50", constant(lambda: float(packets_until_sampled(0.02)) / 50), 1.001
        ),
        at_least("P_s of 10 packets, p = 0.02", _sampled(10, 0.02), 0.1, direction="above 0.1: noticeable"),
        at_least("P_s of 10 packets, p = 0.2", _sampled(10, 0.2), 0.5, direction="above 0.5: high"),
        at_most("P_s of 100 packets, p = 0.002", _sampled(100, 0.002), 0.5, direction="below 0.5: prevented"),
    ]
    return _claim(
        "figure-3-1",
        "Chen 2012, 3.2, Fig. 3.1",
        "for T = 50 the best p is 0.02, which still samples a noticeable share of small flows; p = 0.2 samples short "
        "flows with high probability, p = 0.002 prevents long flows from being sampled",
        "`mayfly model sampling --p 0.002,0.02,0.2 --at 1,10,50,100,1000`",
        rows,
    )


def figure_3_2() -> Claim:
    """More samples."""

    def misjudged(samples: int) -> Quantity:
        # What is compared in logarithms must be above 0.
        return constant(lambda: wrong(samples) + 1e-12)

    rows = [below(f"T_s = {more}", misjudged(more), misjudged(less)) for less, more in pairwise(SAMPLES)]
    rows.append(at_most("T_s = T", constant(lambda: wrong(50)), 1e-12))
    return _claim(
        "figure-3-2",
        "Chen 2012, 3.2, Fig. 3.2",
        "the higher T_s, the better the classification; with T_s = T, p = 1, it is the strict threshold of Run2C",
        f"`mayfly model sampling --ts 1,5,25,50 --threshold 50 --law {PRINTED_LAW}`",
        rows,
        "By the share of the flows misclassified, T = 50, beside the next lower T_s.",
    )


def figure_7() -> Claim:
    """Lognormal laws."""

    def near(name: str, value: Callable[[], float], printed: float) -> Row:
        return within(f"{name} CoV over {printed:g}", constant(lambda: value() / printed), 1.1)

    rows = [
        near("smallest", lambda: float(mapped(FIGURE_7, 5).cov.min()), 1.5),
        near("largest", lambda: float(mapped(FIGURE_7, 5).cov.max()), 6),
    ]
    return _claim(
        "figure-7",
        "Urvoy-Keller 2007, 5.1.1, Fig. 7",
        "CoV values lie between 1.5 and 6 for mu from 7.37 to 8.5 and sigma from 0.98 to 1.92",
        f"`mayfly model law {FIGURE_7}`",
        rows,
    )


def figure_8() -> Claim:
    """Bounded Pareto laws."""

    def mean_at(cov: float) -> float:
        found = mapped(FIGURE_8, 101)
        return float(np.interp(cov, found.cov[::-1], found.mean[::-1]))

    def tens_of_packets(cov: float) -> Quantity:
        return constant(lambda: mean_at(cov) / 10)

    rows = [within(f"mean at CoV {cov}, over 10 packets", tens_of_packets(cov), 2) for cov in (2, 4, 6)]
    rows.append(
        within(
            "CoV for shape 1.4, over 5.5",
            constant(lambda: service_law(FIGURE_8.replace("1..2", "1.4")).cov / 5.5),
            1.01,
        )
    )
    rows.append(
        within(
            "CoV for shape 1.73, over 3", constant(lambda: service_law(FIGURE_8.replace("1..2", "1.73")).cov / 3), 1.01
        )
    )
    return _claim(
        "figure-8",
        "Urvoy-Keller 2007, 5.1.1, 6 and 7, Fig. 8",
        "with k = 4.5 kB and P = 20 MB a mean around 10 packets corresponds to CoV values between 2 and 6; shape 1.4 "
        "has a CoV of about 5.5, shape 1.73 of about 3",
        f"`mayfly model law {FIGURE_8}`, packets of 1.5 kB",
        rows,
        "*Around 10*: within a factor of 2.",
    )


def mass_of_the_law() -> Claim:
    """Mass-weighted distribution."""
    share = constant(lambda: float(mass_of_largest(service_law("pareto-ii:shape=1.2,mean=12"), 0.05)) / 0.5)
    return _claim(
        "mass-of-the-law",
        "Rai 2003, 4.2, Fig. 6(b)",
        "the 5 % largest flows account for about 50 % of the load",
        "`mayfly model law pareto-ii:shape=1.2,mean=12`",
        [within("mass of the 5 % largest, over 50 %", share, 1.2)],
        "P(1, 1.2, 12) as Pareto II, see [the founding papers](founding.md).",
    )


CLAIMS = (
    misclassification(),
    figure_3_1(),
    figure_3_2(),
    figure_7(),
    figure_8(),
    mass_of_the_law(),
    *chen2012_roles.CLAIMS,
)
"""All of them."""
