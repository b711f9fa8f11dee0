"""Figures 1, 3 to 10, 12 and 13 of Zhao 2004 as figures: estimates beside the truth, from the first seed."""

from collections.abc import Iterable, Sequence

import numpy as np

from mayfly.discipline_registry import parse
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.zhao2004.estimator.measures import (
    FROM_S,
    PATH_S,
    PUBLISHED,
    TUNED,
    Known,
    equilibrium_rtt_s,
    round_trips,
    said,
    samples_of,
)
from mayfly_papers.zhao2004.estimator.scenarios import (
    BRANCHES,
    CBR_LOADS,
    EXPERIMENTS,
    HOPS,
    MIN_THRESHOLDS,
    PERIODS,
    RANGE,
    RTTS_MS,
    fixed,
)

ABOUT = {
    "truth": "share of the arriving packets that does not respond, counted",
    "basic": "published, Eq. 2.16, tuned",
    "p0": "published, with Eq. 2.17, tuned",
    "loss": "published, Eq. 2.19, tuned",
    "multihop": "published, Eq. 2.23, tuned",
    "default": "default method of Mayfly",
    "p0, untuned": "p0 with p as a share, started at one half",
    "default, true RTT": "default told the round-trip time of the flows",
    "R(t)": "round-trip time, queue and propagation, mean of each second",
    "R_0 of the model": "round-trip time at rest of the fluid model",
}
_TIME, _SHARE = "time (s)", "share of arrivals"


def figures() -> list[Figure]:
    """All of them, from the first replication.

    Returns
    -------
    list of Figure
        In the order of the dissertation.
    """
    return list(figures_of(EXPERIMENTS))


def figures_of(experiments: Sequence[Experiment]) -> Iterable[Figure]:
    """The same from experiments of one's own, by the ids of the declared ones.

    Parameters
    ----------
    experiments : sequence of Experiment
        With all ids.

    Yields
    ------
    Figure
        In the order of the dissertation.
    """
    runs = Runs(experiments)
    for flows in (16, 22, 25):
        yield round_trip(runs[f"cbr-{flows}"], flows)
    for flows in (16, 22, 25):
        yield over_time(runs, "3", f"cbr-{flows}", f"{flows} CBR flows", ("basic", "default"))
    loads = [f"cbr-{flows}" for flows in CBR_LOADS]
    yield errors(runs, "4", loads, CBR_LOADS, "CBR flows of 1 Mb/s", ("basic", "p0", "p0, untuned", "default"))
    for period in PERIODS:
        yield over_time(runs, "5", f"on-off-{period}", f"on and off {period} s each", ("p0", "default"))
    yield over_time(runs, "6", "short-flows", "short TCP flows beside long ones and CBR", ("p0", "default"))
    shown = ("p0", "default", "default, true RTT")
    yield over_time(runs, "7", "rtt-range", "24.4 to 175.5 ms, R_0 of 90 ms", shown, RANGE)
    times = [f"rtt-{rtt}" for rtt in RTTS_MS]
    for which, name in (("mse", "8a"), ("error", "8b")):
        known = [fixed(rtt) for rtt in RTTS_MS]
        yield errors(
            runs, name, times, RTTS_MS, "round-trip time of the flows (ms), R_0 of 120 ms", shown, which, known
        )
    for name, text in (("slow", "1 to 20 s"), ("fast", "0.1 to 1 s")):
        yield over_time(runs, "9", f"vbr-{name}", f"16 VBR flows, rates kept for {text}", ("p0", "default"))
    raised = [f"min-th-{low}" for low in MIN_THRESHOLDS]
    yield errors(runs, "10", raised, MIN_THRESHOLDS, "minimum threshold of RED (packets)", ("p0", "loss", "default"))
    for name, ways in BRANCHES.items():
        number = "13" if name == "uneven" else "12"
        text = f"link 1 of two hops, {ways[0]} and {ways[1]} CBR flows"
        yield over_time(runs, number, f"hops-{name}", text, ("multihop", "default"), HOPS)


class Runs:
    """First replication of each experiment, run when first asked for."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        self._experiments = {experiment.id: experiment for experiment in experiments}
        self._runs: dict[str, RunResult] = {}

    def __getitem__(self, identity: str) -> RunResult:
        if identity not in self._runs:
            experiment = self._experiments[identity]
            scenario = experiment.loaded()
            self._runs[identity] = run_one(scenario, parse(experiment.disciplines[0]), workload(scenario))
        return self._runs[identity]


def round_trip(run: RunResult, flows: int) -> Figure:
    """Round-trip time by time from 100 s on, beside the equilibrium of the model."""
    times, rtts = round_trips(run)
    whole = np.floor(times - FROM_S).astype(int)
    means = np.bincount(whole, rtts) / np.bincount(whole)
    seconds, rest = np.arange(means.size), 1000 * equilibrium_rtt_s(flows)
    curves = (
        Curve("R(t)", ABOUT["R(t)"], (seconds + 0.5).tolist(), (1000 * means).tolist()),
        Curve("R_0 of the model", ABOUT["R_0 of the model"], [0.0, float(means.size)], [rest, rest]),
    )
    caption = (
        f"The text says that measured round-trip times deviate little from the equilibrium. Seed 1, {1000 * PATH_S:g} "
        f"ms of it propagation: mean {1000 * rtts.mean():.1f} ms, standard deviation {1000 * rtts.std():.1f} ms of "
        f"intervals of 33 ms; {rest:.1f} ms at rest in the model."
    )
    title = f"Figure 1: round-trip time beside {flows} CBR flows"
    return Figure(
        f"fig-1-cbr-{flows}",
        title,
        caption,
        _TIME,
        "round-trip time (ms)",
        curves,
        False,
        source="Zhao 2004, Fig. 1",
    )


def _estimates(run: RunResult, kind: str, known: Known):
    """Estimates by the name of their curve."""
    samples = samples_of(run)
    if kind == "default, true RTT":
        return said(samples, "default", Known(known.true_rtt))
    if kind == "p0, untuned":
        return said(samples, "p0", known)
    return said(samples, kind, known, **(TUNED if kind in PUBLISHED else {}))


def over_time(
    runs: Runs, figure: str, identity: str, text: str, kinds: Sequence[str], known: Known | None = None
) -> Figure:
    """Estimates and truth by time from 100 s on."""
    found = {kind: _estimates(runs[identity], kind, known or Known()) for kind in kinds}
    first = next(iter(found.values()))
    times = np.array(first.columns["time_s"])[first.counted]
    curves = [Curve("truth", ABOUT["truth"], (times - FROM_S).tolist(), first.actual[first.counted].tolist())]
    told = []
    for kind, estimates in found.items():
        kept = estimates.counted
        own = (np.array(estimates.columns["time_s"])[kept] - FROM_S).tolist()
        curves.append(Curve(kind, ABOUT[kind], own, np.array(estimates.columns["share"])[kept].tolist()))
        told.append(f"{kind}: MSE {estimates.score.mse:.4f}, relative error {estimates.score.relative_error:+.1%}.")
    caption = f"Seed 1, time since {FROM_S:g} s. " + " ".join(told)
    return Figure(
        f"fig-{figure}-{identity}",
        f"Figure {figure}: {text}",
        caption,
        _TIME,
        _SHARE,
        tuple(curves),
        False,
        source=f"Zhao 2004, Fig. {figure}",
    )


def errors(
    runs: Runs,
    figure: str,
    identities: Sequence[str],
    x: Sequence[float],
    axis: str,
    kinds: Sequence[str],
    which: str = "mse",
    known: Sequence[Known] | None = None,
) -> Figure:
    """MSE or relative error by a setting."""
    told = known or [Known()] * len(identities)
    curves = []
    for kind in kinds:
        scores = [_estimates(runs[name], kind, own).score for name, own in zip(identities, told, strict=True)]
        values = [score.mse if which == "mse" else score.relative_error for score in scores]
        curves.append(Curve(kind, ABOUT[kind], list(x), values))
    title = {"mse": "mean squared error", "error": "relative error"}[which]
    return Figure(
        f"fig-{figure}",
        f"Figure {figure}: {title}",
        "Seed 1.",
        axis,
        title,
        tuple(curves),
        False,
        source=f"Zhao 2004, Fig. {figure}",
    )


FIGURES = (Drawn.of_own_runs("Zhao 2004, Fig. 1, 3 to 10, 12, 13", figures),)
