"""What the estimator says on the samples of a run, against the packets that were counted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mayfly.errors import MayflyError
from mayfly.estimate import Estimates, Samples, estimate
from mayfly.models.tcp.drop_laws import Red
from mayfly.models.tcp.fluid import Fluid, Group
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures

RATE = "28mbit"
FROM_S = 100.0
"""Estimates count from here on; the published methods begin here (II.C)."""

PUBLISHED = ("basic", "p0", "loss", "multihop", "cbr")
METHODS = (*PUBLISHED, "default")
STARTS = (0.3, 0.5, 0.7, 0.9)
"""Shares that the published method is started with: the text tells none."""

TUNED = {"drop_scale": 10, "zero_intervals": 1, "start_share": 0.9}
"""What the text does not print of the published methods, as ``mayfly reproduce calibrate zhao-2004-ponrt`` chose it by
half of the printed errors (`unknowns.py`, docs/papers/zhao-2004-settings.md); the gains and filters are those printed.
V.B: the method "is manually tuned by finding the minimal MSE among various settings"."""

SETTLED_S = 10.0
"""Time after a step of the load from which on the estimate should be right."""


@dataclass(frozen=True)
class Known:
    """What the estimator is told.

    Parameters
    ----------
    rtt : str
        Round-trip time without queueing.
    true_rtt : str
        That of the flows, or its range, where ``rtt`` is not.
    options : dict
        Of all methods.
    published : dict
        Of the published methods only.
    """

    rtt: str = "100ms"
    true_rtt: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    published: dict[str, Any] = field(default_factory=dict)


def samples_of(run: RunResult) -> Samples:
    """Samples of a run as the estimator takes them.

    Parameters
    ----------
    run : RunResult
        With samples.

    Returns
    -------
    Samples
        With the truth.
    """
    names = ("time_s", "queue_mean_packets", "arrivals", "drops", "nonresponsive_arrivals")
    times, queue, arrivals, drops, true = (run.samples[name].cast(float).to_numpy() for name in names)
    return Samples(times, queue, arrivals, drops, true, run.discipline.label)


def true_shares(found: Estimates) -> np.ndarray:
    """True share at each sample that counts; samples of a run have it."""
    assert found.actual is not None, "samples of a run have the truth"
    return found.actual[found.counted]


def said(samples: Samples, method: str, known: Known, **more: float) -> Estimates:
    """Estimates of one method; a published one begins at 100 s, the default with the run.

    Parameters
    ----------
    samples : Samples
        With the truth.
    method : str
        Id.
    known : Known
        What it is told.
    **more
        Options over those.

    Returns
    -------
    Estimates
        Scored from 100 s on.
    """
    options = dict(known.options)
    if method in PUBLISHED:
        options |= {"start": FROM_S} | known.published
    return estimate(samples, RATE, known.rtt, method=method, from_s=FROM_S, options=options | more)


def scored(name: str, found: Estimates) -> Measures:
    """Figures of merit under names that begin with ``name``."""
    score, document = found.score, found.document()
    if score is None:
        raise MayflyError(f"{name}: no sample counts in the score: the run must be longer")
    mean = float(np.mean([row["estimate"] for row in document["series"]]))
    return {
        f"{name}_mse": score.mse,
        f"{name}_error": score.relative_error,
        f"{name}_off": abs(score.relative_error),
        f"{name}_mean": mean,
        f"{name}_trusted": document["trusted"],
    }


def late_error(found: Estimates, period_s: float) -> float:
    """Largest error of the mean estimate between 10 s after a step and the next step.

    Parameters
    ----------
    found : Estimates
        Of a load that steps every ``period_s``.
    period_s : float
        Above 10 s.

    Returns
    -------
    float
        Over the steps from 100 s on; estimates are averaged from 10 s after a step to the next one.
    """
    times = np.array(found.columns["time_s"])
    errors = np.array(found.columns["share"]) - found.actual
    since = np.mod(times, period_s)
    kept = found.counted & (since >= SETTLED_S)
    steps = np.floor(times / period_s)
    return max(abs(float(errors[kept & (steps == step)].mean())) for step in np.unique(steps[kept]))


def accuracy(
    known: Known | None = None, period_s: float = 0.0, steady: bool = False
) -> Callable[[RunResult], Measures]:
    """A measure of all methods.

    Parameters
    ----------
    known : Known, optional
        What they are told; the settings of II.C when not given.
    period_s : float
        Of a load that steps; 0 for none.
    steady : bool
        Of the settings of II.C, with a load that does not change: measures of the round-trip time too.

    Returns
    -------
    callable
        Run to its measures.
    """
    known = known or Known()

    def measure(run: RunResult) -> Measures:
        samples = samples_of(run)
        found = {method: said(samples, method, known) for method in METHODS}
        first = float(true_shares(found["default"])[0])
        measures = traffic(run, found["default"])
        if steady:
            measures |= steadiness(run)
            doubled = TUNED | {"drop_scale": 2 * TUNED["drop_scale"]}
            measures |= scored("basic-doubled", said(samples, "basic", known, **doubled))
        for method, estimates in found.items():
            measures |= scored(method, estimates)
        for start in STARTS:
            measures |= scored(f"p0-{start:g}", said(samples, "p0", known, start_share=start))
            measures |= scored(f"p0-tuned-{start:g}", said(samples, "p0", known, **TUNED | {"start_share": start}))
        for method in PUBLISHED:
            measures |= scored(f"{method}-tuned", said(samples, method, known, **TUNED))
            measures |= scored(f"{method}-right", said(samples, method, known, start_share=min(first, 0.99)))
        if known.true_rtt:
            told = Known(known.true_rtt)
            measures |= scored("told", said(samples, "default", told))
        if period_s > SETTLED_S:
            measures |= {f"{method}_late": late_error(found[method], period_s) for method in METHODS}
        return measures

    return measure


def traffic(run: RunResult, found: Estimates) -> Measures:
    """What the queue met after the warm-up: drop rates in per cent, mean queue, true share, share of CBR flows."""
    counted = run.counters
    arrivals = {row["group"]: row["arrivals"] for row in run.classes}
    measures = {
        "drops": 100 * counted["drops"] / counted["arrivals"],
        "queue": counted["queue_mean_packets"],
        "share": float(np.nanmean(true_shares(found))),
        "cbr_share": arrivals.get("ltnrf", 0) / sum(arrivals.values()),
    }
    for link in run.interfaces:
        measures[f"drops {link['name']}"] = 100 * link["drops"] / max(link["arrivals"], 1)
    return measures


CAPACITY_PPS = 3500.0
"""C of II.C: 28 Mb/s in packets of 1000 bytes."""
PATH_S = 0.1
"""T_p of II.C."""
TCP_FLOWS, CBR_PPS = 35, 125.0
"""Flows of II.C, and the rate of a CBR flow."""


def round_trips(run: RunResult) -> tuple[np.ndarray, np.ndarray]:
    """R(t) = q(t) / C + T_p by sampling interval (Zhao 2004, Eq. 2.9), of the settings of II.C.

    Parameters
    ----------
    run : RunResult
        With samples.

    Returns
    -------
    tuple of two ndarray, each of shape ``(n_samples,)``
        End of each interval from 100 s on, and R there, s.
    """
    samples = samples_of(run)
    kept = samples.time_s > FROM_S
    return samples.time_s[kept], PATH_S + samples.queue_pkts[kept] / CAPACITY_PPS


def equilibrium_rtt_s(cbr_flows: int) -> float:
    """R_0 of the fluid model beside so many CBR flows (Zhao 2004, Eq. 2.2 and 2.18 at rest), s."""
    red = Red(15, 45, 0.1, spacing="wait")
    group = Group(TCP_FLOWS, PATH_S, window=64)
    fluid = Fluid(CAPACITY_PPS, (group,), red, nonresponsive_pps=cbr_flows * CBR_PPS, buffer_packets=60)
    return float(fluid.equilibrium().rtts_s[0])


def steadiness(run: RunResult) -> Measures:
    """Deviation of R(t) over its mean and over the model's equilibrium, its drift, and R beside what TCP measured."""
    _, rtts = round_trips(run)
    flows = {group: rows for (group,), rows in run.records.group_by("group")}
    rest = equilibrium_rtt_s(flows["ltnrf"].height)
    first, second = np.array_split(rtts, 2)
    return {
        "rtt_ms": 1000 * float(rtts.mean()),
        "rtt_deviation": float(rtts.std() / rtts.mean()),
        "rtt_from_rest": float(np.sqrt(np.mean((rtts - rest) ** 2)) / rest),
        "rtt_drift": float(second.mean() / first.mean()),
        "rtt_tcp": float(flows["ltrf"]["rtt_mean_s"].mean() / rtts.mean()),
    }
