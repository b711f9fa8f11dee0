"""What the figures of the papers are made of: first replications, means with intervals, curves by flow size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.metrics import conditional_mean
from mayfly.metrics.intervals import student_ci95
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.declare.declaration import Experiment, Runs
from mayfly_papers.declare.exhibits import cited
from mayfly_papers.declare.figure import Curve, Figure
from mayfly_papers.declare.rows import Quantity

BINS_PER_DECADE = 20
"""Bins of flow size."""

OWN_REPLICATIONS = 2
"""Of what is drawn without the runs of the claims: the fewest that have an interval."""

SIZE, SECONDS = "flow size (MSS)", "mean response time (s)"


class FirstRuns:
    """First replication of experiments, by id and discipline; those of the last experiment asked for are kept.

    Parameters
    ----------
    experiments : iterable of Experiment
        With different ids.
    runs : Runs, optional
        Whose experiments are run in place of those of the same id: they may be shorter.
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.
    """

    def __init__(
        self, experiments: Iterable[Experiment], runs: Runs | None = None, most_s: float | None = None
    ) -> None:
        shorter = runs.experiments if runs is not None else ()
        self._experiments = {experiment.id: experiment for experiment in (*experiments, *shorter)}
        self._most_s = most_s
        self._kept: dict[tuple[str, str], RunResult] = {}

    def __call__(self, identity: str, discipline: str) -> RunResult:
        """Run it, or give what is kept."""
        if not any(kept == identity for kept, _ in self._kept):
            self._kept = {}
        if (identity, discipline) not in self._kept:
            self._kept[identity, discipline] = self._run(self._experiments[identity], discipline)
        return self._kept[identity, discipline]

    def _run(self, experiment: Experiment, discipline: str) -> RunResult:
        scenario = experiment.loaded()
        if self._most_s is not None and scenario.duration > self._most_s:
            scenario = scenario.override(duration=f"{self._most_s}s", warm_up="0s")
        flows = experiment.flows(scenario, 0) if experiment.flows else workload(scenario)
        if experiment.prepare is not None:
            flows = experiment.prepare(flows, 0)
        return run_one(scenario, parse(discipline), flows)


def runs_or_own(runs: Runs | None, experiments: Iterable[Experiment]) -> Runs:
    """The runs of the claims, or fewer of one's own."""
    if runs is not None:
        return runs
    return Runs(replace(experiment, replications=OWN_REPLICATIONS) for experiment in experiments)


def figure(
    source: str, what: str, caption: str, x: str, y: str, curves: Iterable[Curve], part: str = "", **more: Any
) -> Figure:
    """One figure of a paper.

    Parameters
    ----------
    source : str
        Such as ``Chen 2012, Fig. 4.9``: one figure.
    what, caption : str
        Title behind the number, and what the text says of it.
    x, y : str
        Titles of the axes.
    curves : iterable of Curve
        Of it.
    part : str
        Letter or word that tells it from other figures of the figure.
    **more
        ``logarithms`` and ``places``.

    Returns
    -------
    Figure
    """
    [identity] = cited(source)
    key = identity.replace(".", "-") + (f"-{part}" if part else "")
    title = f"Figure {source.rpartition('Fig. ')[2]}: {what}"
    return Figure(key, title, caption, x, y, tuple(curves), source=source, **more)


def measured(runs: Runs, kind: str, about: str, x: Sequence[float], quantities: Iterable[Quantity]) -> Curve:
    """Means over the replications with their 95 % intervals.

    Parameters
    ----------
    runs : Runs
        Measured numbers.
    kind, about : str
        As in `Curve`.
    x : sequence of float
        Where each is drawn.
    quantities : iterable of callable
        One for each x; what a run was too short to measure is left out.

    Returns
    -------
    Curve
    """
    means, halves = [], []
    for quantity in quantities:
        try:
            values = quantity(runs)
        except MayflyError:
            values = np.array([np.nan])
        interval = student_ci95(values) if np.isfinite(values).all() else None
        means.append(float(values.mean()))
        halves.append((interval[1] - interval[0]) / 2 if interval else 0.0)
    return Curve(kind, about, x, means, half=halves)


def by_size(kind: str, about: str, records: pl.DataFrame) -> Curve:
    """Mean response time of completed transfers by flow size, in bins."""
    table = conditional_mean(records, BINS_PER_DECADE)
    return Curve(kind, about, table["size_packets"], table["mean_s"])


def all_by_size(
    first: FirstRuns, experiment: str, disciplines: Mapping[str, str], suffix: str = "", **of: Any
) -> list[Curve]:
    """The same under several disciplines.

    Parameters
    ----------
    first : FirstRuns
        Runs.
    experiment : str
        Id.
    disciplines : mapping of str
        Names by label.
    suffix : str
        Put behind the names.
    **of
        Values of columns that the records must have: ``direction="down"``.

    Returns
    -------
    list of Curve
    """
    found = []
    for label, name in disciplines.items():
        records = first(experiment, label).records.filter(**of)
        found.append(by_size(f"{name}{suffix}", f"under {name}{suffix}", records))
    return found


def share_up_to(kind: str, about: str, values: np.ndarray, points: int = 300) -> Curve:
    """Distribution function of values, what a logarithm does not show counted in it."""
    ordered = np.sort(np.asarray(values, dtype=float))
    places = np.unique(np.linspace(0, max(len(ordered) - 1, 0), points).round().astype(int))[: len(ordered)]
    x = ordered[places]
    y = np.searchsorted(ordered, x, side="right") / max(len(ordered), 1)
    return Curve(kind, about, x[x > 0], y[x > 0])
