"""Declared claims of a paper: what is printed, how ours is measured, and the verdict that follows from both.

A claim owns rows. A row compares one measured quantity, with a value per replication, with a printed number, with a
direction, or with both. Runs belong to experiments, which claims share; each is simulated once per :class:`Runs`.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly.arrays import number_or_none
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import student_ci95, student_t
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.isolated import PathsAlone
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.declare.agreement import factor_between, narrow

if TYPE_CHECKING:
    from mayfly_papers.declare.measured import Kept

Measures = dict[str, float]
"""Numbers of one run by name; NaN is one that the run does not have, as a mean over no flow."""


def or_nan(value: object) -> float:
    """A mean or extreme of a column as a measure: NaN where it is null, as that of an empty column is.

    Examples
    --------
    >>> or_nan(pl.Series([1.0, 2.0]).mean()), or_nan(pl.Series([], dtype=pl.Float64).mean())
    (1.5, nan)
    """
    found = number_or_none(value)
    return math.nan if found is None else found


Values = np.ndarray
"""One number per replication, shape ``(n_replications,)``."""


class Verdict(StrEnum):
    """How ours stands to what the paper says, best first.

    Notes
    -----
    ``AGREES``: the printed number lies where 95 % of single runs of ours fall, and these do not spread by more than a
    factor of 2 (:func:`mayfly_papers.declare.agreement.narrow`): a wider band would hold almost any number.
    ``DIRECTION``: the claimed direction holds, its 95 % interval excludes the opposite. ``UNDECIDED``: that interval
    contains both, or the printed number carries no direction and lies in a band that is wider. ``DIFFERS``: the
    opposite holds, or the printed number, which carries no direction, is outside.
    """

    AGREES = "agrees"
    DIRECTION = "same direction"
    UNDECIDED = "undecided"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Experiment:
    """Runs of one scenario under several disciplines.

    Parameters
    ----------
    id : str
        How claims name it.
    overrides : mapping
        Values by dotted field of the scenario, over ``scenario``.
    disciplines : tuple of str
        Labels.
    replications : int
        Runs with seeds 1, 2, ...
    measure : callable
        Reduces a run to the numbers that claims need.
    scenario : str
        A ready scenario.
    prepare : callable, optional
        Changes the flow list that was drawn, given it and the replication.
    flows : callable, optional
        Gives the flow list in place of the scenario's workload, given the scenario and the replication.
    whole : bool
        Something happens at given times, or is measured then: the run cannot be shorter.
    """

    id: str
    overrides: Mapping[str, Any]
    disciplines: tuple[str, ...]
    replications: int
    measure: Callable[[RunResult], Measures]
    scenario: str = "wired"
    prepare: Callable[[pl.DataFrame, int], pl.DataFrame] | None = None
    flows: Callable[[Scenario, int], pl.DataFrame] | None = None
    whole: bool = False

    def loaded(self) -> Scenario:
        """The scenario with the overrides in place."""
        return load_scenario(self.scenario, {**self.overrides, "replications": self.replications})


class Runs:
    """Measured numbers of experiments, each simulated when first asked for.

    Parameters
    ----------
    experiments : iterable of Experiment
        With different ids.
    kept : Kept, optional
        Where an interrupted run left its numbers, and this one leaves its own.
    """

    def __init__(self, experiments: Iterable[Experiment], kept: "Kept | None" = None) -> None:
        self._kept = kept
        self._experiments = {experiment.id: experiment for experiment in experiments}
        self._measured: dict[str, Future[dict[str, list[Measures]]]] = {}
        self._lock = threading.Lock()
        self.pool: Executor | None = None
        """Who runs the simulations, where several experiments are under way."""
        self.seconds: dict[str, float] = {}
        self._asked: dict[str, None] = {}

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments there are, in the order in which they run."""
        return tuple(self._experiments.values())

    def asked(self) -> tuple[str, ...]:
        """Experiments whose values were asked for since the last call."""
        asked, self._asked = tuple(self._asked), {}
        return asked

    def values(self, experiment: str, discipline: str, measure: str) -> Values:
        """One measure under one discipline.

        Parameters
        ----------
        experiment, discipline, measure : str
            As declared.

        Returns
        -------
        ndarray, shape ``(n_replications,)``
            By replication; the same replication of two disciplines has the same workload.

        Raises
        ------
        MayflyError
            No such experiment, discipline or measure.
        """
        known: Mapping[str, Any] = self._experiments
        if experiment in known:
            self._asked[experiment] = None
            known = self.run(experiment)
            if discipline in known:
                runs = known[discipline]
                if all(measure in run for run in runs):
                    return np.array([run[measure] for run in runs], dtype=float)
                known = runs[0]
        raise MayflyError(f"{experiment}, {discipline}, {measure}: not declared; there are {', '.join(known)}")

    def run(self, identity: str) -> dict[str, list[Measures]]:
        """Run an experiment, or wait for whoever does.

        Parameters
        ----------
        identity : str
            Of an experiment that is declared.

        Returns
        -------
        dict of list of dict
            As :func:`simulate`.
        """
        with self._lock:
            found = self._measured.get(identity)
            if found is None:
                ours = self._measured[identity] = Future()
        if found is not None:
            return found.result()
        try:
            ours.set_result(self._read_or_run(self._experiments[identity]))
        except BaseException as error:
            ours.set_exception(error)
            raise
        return ours.result()

    def _read_or_run(self, experiment: Experiment) -> dict[str, list[Measures]]:
        found = self._kept.read(experiment) if self._kept else None
        if found is None:
            began = time.perf_counter()
            found = simulate(experiment, self.pool), time.perf_counter() - began
            if self._kept:
                self._kept.write(experiment, *found)
        measured, self.seconds[experiment.id] = found
        return measured


def simulate(experiment: Experiment, pool: Executor | None = None) -> dict[str, list[Measures]]:
    """Runs an experiment and keeps its measures.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    pool : Executor, optional
        Who runs the simulations; a thread for each core when not given.

    Returns
    -------
    dict of list of dict
        Measures by discipline, then replication.
    """
    scenario = experiment.loaded()
    draw = experiment.flows or workload
    lists = [draw(scenario, replication) for replication in range(experiment.replications)]
    paths = PathsAlone()

    def job(pair: tuple[str, int]) -> Measures:
        label, replication = pair
        flows = lists[replication]
        if experiment.prepare is not None:
            flows = experiment.prepare(flows, replication)
        return experiment.measure(run_one(scenario, parse(label), flows, replication, paths=paths))

    pairs = [(label, replication) for label in experiment.disciplines for replication in range(experiment.replications)]
    with ThreadPoolExecutor(os.cpu_count()) if pool is None else nullcontext(pool) as workers:
        measured = list(workers.map(job, pairs))
    of: dict[str, list[Measures]] = {label: [] for label in experiment.disciplines}
    for (label, _), measures in zip(pairs, measured, strict=True):
        of[label].append(measures)
    return of


@dataclass(frozen=True)
class Printed:
    """A number of the paper.

    Parameters
    ----------
    value : float
        In the unit of its row.
    ci95 : tuple of float, optional
        Interval printed with it.
    """

    value: float
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class Row:
    """One comparison.

    Parameters
    ----------
    name : str
        What is compared.
    ours : callable
        Runs to one number per replication.
    unit : str
        Of both numbers.
    printed : Printed, optional
        The paper's number.
    margin : callable, optional
        Runs to one number per replication, above 0 where the claimed direction holds.
    direction : str
        The direction in words.
    lenient : callable, optional
        The margin at twice the threshold that stands for a word such as *negligible* or *close*; absent where the
        direction has no such threshold.

    Raises
    ------
    MayflyError
        Neither a printed number nor a direction.
    """

    name: str
    ours: Callable[[Runs], Values]
    unit: str = ""
    printed: Printed | None = None
    margin: Callable[[Runs], Values] | None = None
    direction: str = ""
    lenient: Callable[[Runs], Values] | None = None

    def __post_init__(self) -> None:
        if self.printed is None and self.margin is None:
            raise MayflyError(f"row '{self.name}': must have a printed number or a direction")


@dataclass(frozen=True)
class Difference:
    """Why a claim does not come out as printed.

    Parameters
    ----------
    verdict : Verdict
        The verdict explained here; `Finding.expected` says which others it allows.
    reason : str
        Found by experiment, with the numbers.
    test : str
        The run that shows it, by the id of a claim among the page's `TESTS`; empty when the reason is argued.
    """

    verdict: Verdict
    reason: str
    test: str = ""

    @property
    def tested(self) -> bool:
        """Whether a run that can be repeated shows it."""
        return bool(self.test)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, with the comparisons that decide it.

    Parameters
    ----------
    id : str
        Unique, of words and dashes.
    source : str
        Paper, section, table or figure.
    says : str
        The statement in our words.
    settings : str
        What was run.
    rows : tuple of Row
        All must hold.
    difference : Difference, optional
        Explains a claim that does not come out as printed; a claim without one must not differ.
    note : str
        How the statement was made measurable.
    """

    id: str
    source: str
    says: str
    settings: str
    rows: tuple[Row, ...]
    difference: Difference | None = None
    note: str = ""

    def check(self, runs: Runs) -> "Finding":
        """Compares ours with the paper.

        Parameters
        ----------
        runs : Runs
            With the experiments the rows name.

        Returns
        -------
        Finding
            Every row with its verdict.
        """
        return Finding(self, tuple(compared(row, runs) for row in self.rows))


@dataclass(frozen=True)
class RowFinding:
    """A row with what was measured.

    Parameters
    ----------
    row : Row
        The comparison.
    mean : float
        Of ours, over replications.
    ci95 : list of float, optional
        Interval of that mean, Student's t.
    one_run : tuple of float, optional
        Where 95 % of single runs fall; null when nothing is printed to compare with it.
    verdict : Verdict
        What follows.
    replications : int
        That it follows from.
    margin : tuple of float, optional
        95 % interval of the mean margin; null for a row without a direction.
    at_twice : Verdict, optional
        What the direction gives at twice its threshold; null for a row that has none.
    """

    row: Row
    mean: float
    ci95: list[float] | None
    one_run: tuple[float, float] | None
    verdict: Verdict
    replications: int
    margin: tuple[float, float] | None = None
    at_twice: Verdict | None = None

    @property
    def factor(self) -> float | None:
        """How far ours is from a printed number above 0, as a factor of at least 1; null without one."""
        return factor_between(self.mean, self.row.printed.value) if self.row.printed else None


@dataclass(frozen=True)
class Finding:
    """A claim with what was measured.

    Parameters
    ----------
    claim : Claim
        The claim.
    rows : tuple of RowFinding
        In its order.
    """

    claim: Claim
    rows: tuple[RowFinding, ...] = field(repr=False)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its rows."""
        order = list(Verdict)
        return max((row.verdict for row in self.rows), key=order.index)

    @property
    def undecided_replications(self) -> int:
        """Replications that leave a row undecided, the fewest of such rows; 0 when there is none."""
        return min((row.replications for row in self.rows if row.verdict is Verdict.UNDECIDED), default=0)

    @property
    def expected(self) -> bool:
        """Whether what is declared stands.

        Notes
        -----
        A claim that differs needs a reason why it fails; one for a printed number that is off while its direction
        holds does not say why the opposite does. A reason why it fails is contradicted when every row agrees or has
        the direction, each by its own interval. An undecided claim contradicts neither.
        """
        failures = (Verdict.UNDECIDED, Verdict.DIFFERS)
        explained = self.claim.difference is not None and self.claim.difference.verdict in failures
        if self.verdict is Verdict.DIFFERS:
            return explained
        return self.verdict is Verdict.UNDECIDED or not explained

    @property
    def account(self) -> str:
        """Its verdict, the one that is explained, and a line per row: what to read when it does not stand."""
        rows = "\n".join(
            f"  {found.verdict}: {found.row.name}: {found.mean:.4g} {found.ci95}, one run {found.one_run}, "
            f"printed {found.row.printed}"
            for found in self.rows
        )
        explained = self.claim.difference.verdict if self.claim.difference else "nothing"
        return f"{self.claim.id}: {self.verdict}, while {explained} is explained:\n{rows}"


def compared(row: Row, runs: Runs) -> RowFinding:
    """Compares one row.

    Parameters
    ----------
    row : Row
        The comparison.
    runs : Runs
        Measured numbers.

    Returns
    -------
    RowFinding
        With the verdict.

    Raises
    ------
    MayflyError
        A value or a margin is not finite.
    """
    ours = _finite(row, "values", row.ours(runs))
    replications = ours.size
    one_run = single_run_interval(ours) if row.printed else None
    inside = bool(row.printed and one_run and one_run[0] <= row.printed.value <= one_run[1])
    verdict = Verdict.UNDECIDED if inside else Verdict.DIFFERS
    margin, at_twice = None, None
    if row.margin is not None:
        margins = _finite(row, "margins", row.margin(runs))
        margin = mean_interval(margins)
        if row.lenient is not None:
            at_twice = direction(mean_interval(_finite(row, "margins", row.lenient(runs))))
        if not (inside and one_run and narrow(one_run)):
            verdict, replications = direction(margin), margins.size
    if inside and one_run and narrow(one_run):
        verdict = Verdict.AGREES
    return RowFinding(row, float(ours.mean()), student_ci95(ours), one_run, verdict, replications, margin, at_twice)


def direction(margin: tuple[float, float]) -> Verdict:
    """What the interval of a margin decides.

    Examples
    --------
    >>> [str(direction(interval)) for interval in ((0.1, 0.2), (-0.1, 0.2), (-0.2, -0.1))]
    ['same direction', 'undecided', 'differs']
    """
    low, high = margin
    return Verdict.DIRECTION if low > 0 else Verdict.DIFFERS if high < 0 else Verdict.UNDECIDED


def _finite(row: Row, what: str, values: Values) -> Values:
    if not np.isfinite(values).all():
        raise MayflyError(f"row '{row.name}': {what} {values.tolist()}: must be finite")
    return values


def mean_interval(values: Values) -> tuple[float, float]:
    """95 % interval of a mean over replications.

    Parameters
    ----------
    values : ndarray, shape ``(n_replications,)``
        At least two.

    Returns
    -------
    tuple of two float
        As :func:`mayfly.metrics.intervals.student_ci95`.

    Raises
    ------
    MayflyError
        Fewer than two values.

    Examples
    --------
    >>> [round(end, 3) for end in mean_interval(np.array([1.0, 3.0]))]
    [-10.706, 14.706]
    """
    found = student_ci95(values)
    if found is None:
        raise MayflyError(f"{len(values)} replications: must be at least 2 for an interval")
    low, high = found
    return low, high


def single_run_interval(values: Values) -> tuple[float, float]:
    """Where 95 % of further single runs fall: a paper that ran once printed one of them.

    Parameters
    ----------
    values : ndarray, shape ``(n_replications,)``
        At least two.

    Returns
    -------
    tuple of two float
        Prediction interval ``mean +- t s sqrt(1 + 1/n)``, of the logarithms where all values are above 0.

    Raises
    ------
    MayflyError
        Fewer than two values.

    Examples
    --------
    >>> low, high = single_run_interval(np.array([0.5, 2.0]))
    >>> low < 0.5 < 2.0 < high and abs(low * high - 1) < 1e-9
    True
    """
    if values.size < 2:
        raise MayflyError(f"{values.size} replications: must be at least 2")
    logs = bool((values > 0).all())
    sample = np.log(values) if logs else values
    half = student_t(values.size - 1) * float(sample.std(ddof=1)) * math.sqrt(1 + 1 / values.size)
    low, high = float(sample.mean()) - half, float(sample.mean()) + half
    return (math.exp(low), math.exp(high)) if logs else (low, high)
