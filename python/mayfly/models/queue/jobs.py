"""Jobs at one server, simulated: what the models of :mod:`mayfly.models.queue.policies` must agree with.

Principle: the simulation knows orders of service and nothing of the formulas. Jobs arrive, pass levels of strict
priority as they are served, and leave; each level has an order of its own (crate ``jobs``). Means
come with the interval that groups of busy periods give: these are independent, so the interval needs no assumption on
how long one job is felt by others.

Source: Kleinrock 1976, chapter 4 (multilevel queues); Crane and Iglehart 1975 (regenerative simulation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw
from mayfly.metrics.intervals import student_t
from mayfly.workload.arrivals import exponential, stream

if TYPE_CHECKING:
    from mayfly.models.queue.policies import Policy

STRETCH = 1 << 17
"""Jobs given to the server at a time; it does not change the result."""

BATCHES = 64
"""Groups of busy periods that an interval is taken from."""


@dataclass(frozen=True)
class Level:
    """A level of priority.

    Parameters
    ----------
    order : str
        How it serves its jobs: ``fcfs``, ``lcfs`` (preemptive), ``ps``, ``las``, ``srpt``, ``psjf`` or ``sjf``.
    upto : float
        Attained service at which jobs go on to the next level, units of size; infinite in the last.
    """

    order: str
    upto: float = math.inf


def levels(text: str, thresholds: Sequence[float] = ()) -> list[Level]:
    """Levels of priority, first to last.

    Parameters
    ----------
    text : str
        Orders parted by ``|``; ``ps*`` is as many levels of that order as the thresholds make.
    thresholds : sequence of float
        Attained services at which jobs go on, ascending, one fewer than levels.

    Returns
    -------
    list of Level

    Raises
    ------
    MayflyError
        An order is unknown, or orders and thresholds do not fit.

    Examples
    --------
    >>> levels("ps|fcfs", [20.0])
    [Level(order='ps', upto=20.0), Level(order='fcfs', upto=inf)]
    >>> [level.order for level in levels("las*", [1.0, 2.0])]
    ['las', 'las', 'las']
    >>> levels("ps|ps")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: levels = ps|ps: must have 1 thresholds, not 0
    """
    orders = [text[:-1]] * (len(thresholds) + 1) if text.endswith("*") else text.split("|")
    known = _native.job_orders()
    for order in orders:
        if order not in known:
            raise MayflyError(f"order = {order}: must be one of {', '.join(known)}")
    if len(orders) != len(thresholds) + 1:
        raise MayflyError(f"levels = {text}: must have {len(orders) - 1} thresholds, not {len(thresholds)}")
    return [Level(order, float(upto)) for order, upto in zip(orders, [*thresholds, math.inf], strict=True)]


def played(row: Policy, **given: Any) -> list[Level]:
    """The levels that play a policy of the registry.

    Parameters
    ----------
    row : Policy
        Of :data:`mayfly.models.queue.policies.POLICIES`.
    **given
        Parameters of the policy; ``threshold`` and ``thresholds`` part the levels.

    Returns
    -------
    list of Level

    Raises
    ------
    MayflyError
        The policy is more than orders of service, or a parameter is out of its bounds.

    Examples
    --------
    >>> from mayfly.models.queue.policies import POLICIES
    >>> played(POLICIES["las"])
    [Level(order='las', upto=inf)]
    """
    if not row.stations:
        raise MayflyError(f"policy = {row.id}: the job-level simulation cannot play it")
    checked = row.checked(given)
    parting = [np.atleast_1d(checked[name]) for name in ("threshold", "thresholds") if name in checked]
    return levels(row.stations, np.concatenate([np.empty(0), *parting]).tolist())


@dataclass(frozen=True)
class SizeMeans:
    """Means by size and how sure they are.

    Parameters
    ----------
    edges : numpy.ndarray, shape (n_classes + 1,)
        A class has the jobs with ``edges[i] < size <= edges[i + 1]``.
    jobs : numpy.ndarray, shape (n_classes,)
        Jobs counted.
    mean : numpy.ndarray, shape (n_classes,)
        Mean of what was counted; NaN where there is no job, or one that has not ended.
    half_width : numpy.ndarray, shape (n_classes,)
        Of the interval round it.
    level : float
        Chance that the interval of one class holds its mean.
    """

    edges: Floats
    jobs: Floats
    mean: Floats
    half_width: Floats
    level: float


def ratio_means(counts: Floats, sums: Floats, level: float) -> tuple[Floats, Floats]:
    """Means of a regenerative process and the half-widths of their intervals.

    Parameters
    ----------
    counts, sums : numpy.ndarray, shape (n_batches, n_classes)
        Jobs of independent batches, and the sum of what was seen of them.
    level : float
        Chance that an interval holds its mean, above 0, below 1.

    Returns
    -------
    mean, half_width : numpy.ndarray, shape (n_classes,)
        NaN without jobs.

    Notes
    -----
    The mean is the ratio of sums R = S/N. With d = S_b - R N_b of each of B batches, its deviation is
    sqrt(B/(B-1) sum of d^2) / N, and the interval has Student's t of B - 1 degrees (Crane and Iglehart 1975).

    Examples
    --------
    >>> mean, half = ratio_means(np.array([[2.0], [2.0]]), np.array([[3.0], [5.0]]), 0.95)
    >>> mean.tolist(), half.round(3).tolist()
    ([2.0], [6.353])
    """
    batches, jobs = len(counts), counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / jobs
        squares = np.sum((sums - mean * counts) ** 2, axis=0) * batches / max(batches - 1, 1)
        deviation = np.sqrt(squares) / jobs
    return mean, deviation * student_t(max(batches - 1, 1), (1 + level) / 2)


@dataclass(frozen=True)
class JobRun:
    """Jobs and what became of them, in order of arrival.

    Parameters
    ----------
    arrivals, sizes : numpy.ndarray, shape (n_jobs,)
        As given.
    response_time : numpy.ndarray, shape (n_jobs,)
        Units of size at unit rate; NaN where a job had not ended.
    cycle : numpy.ndarray, shape (n_jobs,)
        Number of the busy period the job was served in, from 0; -1 where it had not ended.
    """

    arrivals: Floats
    sizes: Floats
    response_time: Floats
    cycle: Integers

    def mean_by_size(
        self,
        edges: Sequence[float] | Floats,
        values: Floats | None = None,
        *,
        level: float = 0.99,
        batches: int = BATCHES,
    ) -> SizeMeans:
        """Mean response time, or mean of other values of the jobs, by class of size.

        Parameters
        ----------
        edges : array_like, shape (n_classes + 1,)
            Ascending.
        values : numpy.ndarray, shape (n_jobs,), optional
            What to take the mean of, such as the response time less that of a model.
        level : float
            Of the intervals, above 0, below 1.
        batches : int
            Groups the interval is taken from, 2 or more.

        Returns
        -------
        SizeMeans

        Raises
        ------
        MayflyError
            There are fewer than 2 batches.

        Notes
        -----
        Batches are equal numbers of busy periods, the few left over not counted, if there are twice as many busy
        periods as batches, which makes them independent; else equal numbers of jobs, which are nearly so as long as
        they are much longer than the time a job is felt.

        Examples
        --------
        >>> run = simulate_jobs("fcfs", [0.0, 1.0, 4.0, 8.0], [2.0, 2.0, 1.0, 2.0])
        >>> run.mean_by_size([0.0, 1.0, 2.0], batches=2).mean.round(6).tolist()
        [1.0, 2.333333]
        """
        if batches < 2:
            raise MayflyError(f"batches = {batches}: must be at least 2")
        edges = np.asarray(edges, dtype=float)
        values = self.response_time if values is None else values
        each = (int(self.cycle.max(initial=-1)) + 1) // batches
        if each >= 2 and np.all(self.cycle >= 0):
            batch: Integers = self.cycle // each
        else:
            batch = np.arange(len(values)) * batches // max(len(values), 1)
        counts, sums = _sums(batch, np.digitize(self.sizes, edges, right=True) - 1, values, (batches, len(edges) - 1))
        mean, half = ratio_means(counts, sums, level)
        return SizeMeans(edges, counts.sum(axis=0), mean, half, level)


def _sums(batch: Integers, place: Integers, values: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Number and sum of ``values`` by batch and class; what is in none is left out."""
    inside = (place >= 0) & (place < shape[1]) & (batch < shape[0])
    index = batch[inside].astype(np.int64) * shape[1] + place[inside]
    cells = shape[0] * shape[1]
    counts = np.bincount(index, minlength=cells).astype(float)
    sums = np.asarray(np.bincount(index, values[inside], minlength=cells), dtype=float)
    return counts.reshape(shape), sums.reshape(shape)


def _server(order: str | Sequence[Level]) -> _native.JobServer:
    chosen = levels(order) if isinstance(order, str) else order
    try:
        return _native.JobServer([(level.order, level.upto) for level in chosen])
    except ValueError as error:
        raise MayflyError(str(error)) from None


def _columns(left: _native.Table) -> dict[str, Any]:
    """Arrays of the columns: Any, as some hold whole numbers and some do not."""
    return {column.name: column.to_numpy() for column in pl.DataFrame(left)}


def simulate_jobs(
    order: str | Sequence[Level],
    arrivals: Sequence[float] | Floats,
    sizes: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    until: float = math.inf,
) -> JobRun:
    """Serve jobs at one server of rate 1.

    Parameters
    ----------
    order : str or sequence of Level
        One order for all, or levels as :func:`levels` makes them.
    arrivals : array_like, shape (n_jobs,)
        Arrival times, ascending, 0 or more.
    sizes : array_like, shape (n_jobs,)
        Above 0 and finite.
    weights : array_like, shape (n_jobs,), optional
        Work per unit of size, above 0 and finite, 1 when not given. Thresholds and LAS go by attained size, the server
        by work: an acknowledgement ages by the data it acknowledges (Urvoy-Keller 2007, 4).
    until : float
        When to stop, not before the last arrival; when all jobs have ended if infinite.

    Returns
    -------
    JobRun

    Raises
    ------
    MayflyError
        A value is outside its bounds, or lengths differ.

    Examples
    --------
    >>> simulate_jobs("las", [0.0, 1.0], [4.0, 2.0]).response_time.tolist()
    [6.0, 3.0]
    >>> simulate_jobs(levels("fcfs|fcfs", [1.0]), [0.0, 1.0], [4.0, 2.0]).response_time.tolist()
    [5.0, 5.0]
    >>> simulate_jobs("ps", [0.0], [4.0], until=3.0).response_time.tolist()
    [nan]
    """
    times, sizes = (np.ascontiguousarray(column, dtype=float) for column in (arrivals, sizes))
    weights = None if weights is None else np.ascontiguousarray(weights, dtype=float)
    check_jobs(times, sizes, weights, until)
    server = _server(order)
    response, cycle = np.full(len(times), np.nan), np.full(len(times), -1, dtype=np.int64)
    for left in _served(server, times, sizes, weights, until):
        job = left["job"].astype(np.intp)
        response[job], cycle[job] = left["response_time"], left["cycle"]
    return JobRun(times, sizes, response, cycle)


def _served(
    server: _native.JobServer, arrivals: Floats, sizes: Floats, weights: Floats | None, until: float
) -> Iterator[dict[str, Any]]:
    for start in range(0, len(arrivals), STRETCH):
        part = slice(start, start + STRETCH)
        yield _columns(server.offer(arrivals[part], sizes[part], None if weights is None else weights[part]))
    yield _columns(server.finish(until))


def check_jobs(arrivals: Floats, sizes: Floats, weights: Floats | None, until: float) -> None:
    if arrivals.ndim != 1 or any(column.shape != arrivals.shape for column in (sizes, weights) if column is not None):
        raise MayflyError(f"{arrivals.shape} arrivals: sizes and weights must be of the same one-dimensional shape")
    for name, column in (("size", sizes), ("weight", weights)):
        if column is not None and (wrong := column[~((column > 0) & (column < math.inf))]).size:
            raise MayflyError(f"{name} = {wrong[0]:g}: must be above 0 and finite")
    if not np.all(np.isfinite(arrivals)) or (arrivals.size and arrivals[0] < 0) or np.any(np.diff(arrivals) < 0):
        raise MayflyError("arrivals: must ascend from 0 or more and be finite")
    if arrivals.size and not until >= arrivals[-1]:
        raise MayflyError(f"until = {until:g}: must not be before the last arrival, {arrivals[-1]:g}")


def poisson_jobs(law: ServiceLaw, rho: float, n: int, seed: int = 1) -> tuple[Floats, Floats]:
    """Poisson arrivals and independent sizes, as an M/G/1 queue has them.

    Parameters
    ----------
    law : ServiceLaw
        Sizes.
    rho : float
        Offered load, above 0; 1 and more are overload.
    n : int
        Jobs, 0 or more.
    seed : int
        Of the streams ``jobs, arrivals`` and ``jobs, sizes``: all policies are given the same jobs.

    Returns
    -------
    arrivals, sizes : numpy.ndarray, shape (n,)

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> arrivals, sizes = poisson_jobs(service_law("exponential:mean=2"), 0.5, 100_000)
    >>> bool(abs(sizes.sum() / arrivals[-1] - 0.5) < 0.01)
    True
    """
    if not 0 < rho < math.inf:
        raise MayflyError(f"rho = {rho}: must be above 0 and finite")
    gaps = exponential(stream(seed, "jobs", "arrivals"), n)
    return np.cumsum(gaps) * (law.mean / rho), law.sample(stream(seed, "jobs", "sizes"), n)


def simulate_poisson(
    order: str | Sequence[Level],
    law: ServiceLaw,
    rho: float,
    jobs: float,
    edges: Sequence[float] | Floats,
    *,
    seed: int = 1,
    less: Callable[[Floats], Floats] | None = None,
    level: float = 0.99,
    batches: int = BATCHES,
) -> SizeMeans:
    """Mean response time by size of a stable M/G/1 queue, in memory that does not grow with the run.

    Parameters
    ----------
    order : str or sequence of Level
        As for :func:`simulate_jobs`.
    law : ServiceLaw
        Sizes.
    rho : float
        Offered load, above 0, below 1.
    jobs : float
        Jobs to expect, at least 2 batches of busy periods.
    edges : array_like, shape (n_classes + 1,)
        Of the classes of size, ascending.
    seed : int
        As for :func:`poisson_jobs`; the jobs are the same.
    less : callable, optional
        What a model says by size; the mean is then that of the difference, without the chance of which sizes came.
    level : float
        Of the intervals.
    batches : int
        Groups of busy periods, 2 or more.

    Returns
    -------
    SizeMeans

    Raises
    ------
    MayflyError
        A value is outside its bounds.

    Notes
    -----
    ``batches`` groups of as many busy periods as ``jobs (1 - rho) / batches`` are simulated, whatever number of jobs
    these have: independent samples of one law, the last as good as the first. A run neither starts nor stops in the
    middle of anything, so there is no warm-up.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> means = simulate_poisson("fcfs", service_law("exponential:mean=1"), 0.5, 2e5, [0.0, np.inf])
    >>> bool(abs(means.mean[0] - 2.0) < means.half_width[0])
    True
    """
    if not 0 < rho < 1:
        raise MayflyError(f"rho = {rho}: must be above 0 and below 1; simulate_jobs plays an overload")
    each = round(jobs * (1 - rho) / batches)
    if batches < 2 or each < 1:
        raise MayflyError(
            f"jobs = {jobs:g}: must be {batches} batches of a busy period or more, {batches / (1 - rho):g}"
        )
    edges = np.asarray(edges, dtype=float)
    counts, sums = np.zeros((2, batches, len(edges) - 1))
    for left in _until_cycle(_server(order), law, rho, batches * each, seed):
        values = left["response_time"] if less is None else left["response_time"] - less(left["size"])
        place = np.digitize(left["size"], edges, right=True) - 1
        more = _sums(left["cycle"] // np.uint64(each), place, values, counts.shape)
        counts += more[0]
        sums += more[1]
    mean, half = ratio_means(counts, sums, level)
    return SizeMeans(edges, counts.sum(axis=0), mean, half, level)


def _until_cycle(
    server: _native.JobServer, law: ServiceLaw, rho: float, cycles: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Poisson jobs as they leave, until so many busy periods are over."""
    gaps, draws = stream(seed, "jobs", "arrivals"), stream(seed, "jobs", "sizes")
    last, ended = 0.0, 0
    while ended < cycles:
        times = np.cumsum(np.r_[last, exponential(gaps, STRETCH)])[1:]
        last = float(times[-1])
        left = _columns(server.offer(times * (law.mean / rho), law.sample(draws, STRETCH)))
        # A busy period in progress is not over, though some of its jobs have left.
        ended = int(left["cycle"][-1]) if len(left["cycle"]) else ended
        yield left
