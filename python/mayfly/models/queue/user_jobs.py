"""Users with jobs at one server under lagged fair queueing, simulated: what the formulas of ``lfq`` must agree with.

Principle: the simulation has the tags, lags and clocks of the discipline and no formula (crate ``jobs``, ``Lagged``).
Nothing here looks at what is left of a job, so the time at which any job has been served ``x`` is distributed as the
response time of a job of size ``x``: each job tells of all sizes up to its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw
from mayfly.metrics.intervals import student_t
from mayfly.models.queue.jobs import STRETCH, JobRun, check_jobs, poisson_jobs, ratio_means
from mayfly.workload.arrivals import stream

BATCHES = 32
"""Stretches of a run that an interval is taken from."""

WARM_UP = 0.1
"""Share of the jobs that are not counted: the run begins with nobody there and all credit."""

BEYOND = 10
"""Jobs that are later than a percentile, at least, where it is told."""


MOST_USERS = 1 << 20
"""Users that are remembered."""


@dataclass(frozen=True)
class Times:
    """Response times of given sizes as they were simulated.

    Parameters
    ----------
    at : numpy.ndarray, shape (n,)
        Sizes.
    jobs : numpy.ndarray, shape (n,)
        Jobs of at least that size.
    mean, half_width : numpy.ndarray, shape (n,)
        Mean and half of its interval; NaN without jobs.
    percentiles, percentile_half_width : numpy.ndarray, shape (n_percentiles, n)
        NaN where fewer than ten jobs are beyond it.
    """

    at: Floats
    jobs: Floats
    mean: Floats
    half_width: Floats
    percentiles: Floats
    percentile_half_width: Floats


@dataclass(frozen=True)
class UserRun:
    """Jobs of users and what became of them.

    Parameters
    ----------
    jobs : JobRun
        In order of arrival.
    at : numpy.ndarray, shape (n,)
        Attained services that were looked at.
    mark, job : numpy.ndarray of int, shape (n_passages,)
        Which of ``at``, and which job.
    time : numpy.ndarray, shape (n_passages,)
        From the arrival of the job until it was served as much.
    """

    jobs: JobRun
    at: Floats
    mark: Integers
    job: Integers
    time: Floats

    def times(self, q: Sequence[float] = (), *, level: float = 0.95, batches: int = BATCHES) -> Times:
        """Means and percentiles of the response times of the sizes ``at``.

        Parameters
        ----------
        q : sequence of float
            Percentiles, above 0, below 100.
        level : float
            Of the intervals, above 0, below 1.
        batches : int
            Stretches of equal numbers of jobs, taken for independent, 2 or more.

        Returns
        -------
        Times
        """
        found = [self._of(self.mark == place, q, level, batches) for place in range(len(self.at))]
        columns = [np.array(column, dtype=float) for column in zip(*found, strict=True)] if found else [np.empty(0)] * 5
        jobs, mean, half, late, late_half = columns
        return Times(self.at, jobs, mean, half, late.T, late_half.T)

    def overall(self, q: Sequence[float] = (), *, level: float = 0.95, batches: int = BATCHES) -> Times:
        """The same of all jobs, whatever their size; ``at`` is infinite.

        Parameters
        ----------
        q, level, batches
            As for :meth:`times`.

        Returns
        -------
        Times
            Each of shape (1,), percentiles of shape (n_percentiles, 1).
        """
        number = np.arange(len(self.jobs.sizes))
        ended = np.isfinite(self.jobs.response_time)
        row = _told(number[ended], self.jobs.response_time[ended], len(number), q, level, batches)
        jobs, mean, half, late, late_half = (np.array([column], dtype=float) for column in row)
        return Times(np.array([math.inf]), jobs, mean, half, late.T, late_half.T)

    def _of(
        self, which: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], q: Sequence[float], level: float, batches: int
    ) -> tuple[float, float, float, Floats, Floats]:
        return _told(self.job[which], self.time[which], len(self.jobs.sizes), q, level, batches)


def _told(
    job: Integers, time: Floats, of: int, q: Sequence[float], level: float, batches: int
) -> tuple[float, float, float, Floats, Floats]:
    """Number, mean with half its interval, percentiles with half of theirs."""
    first = math.ceil(of * WARM_UP)
    counted = job >= first
    batch, time = (job[counted] - first) * batches // max(of - first, 1), time[counted]
    counts, sums = np.bincount(batch, minlength=batches), np.bincount(batch, time, minlength=batches)
    mean, half = ratio_means(counts[:, None].astype(float), np.asarray(sums, dtype=float)[:, None], level)
    late, late_half = np.full(len(q), np.nan), np.full(len(q), np.nan)
    for place, value in enumerate(q):
        if len(time) * (1 - value / 100) < BEYOND:
            continue
        late[place] = np.percentile(time, value)
        each = [float(np.percentile(time[batch == one], value)) for one in range(batches) if counts[one]]
        late_half[place] = (
            student_t(len(each) - 1, (1 + level) / 2) * float(np.std(each, ddof=1)) / math.sqrt(len(each))
        )
    return len(time), float(mean[0]), float(half[0]), late, late_half


def simulate_users(
    arrivals: Sequence[float] | Floats,
    sizes: Sequence[float] | Floats,
    users: Sequence[int] | Integers | None = None,
    *,
    user_lag: float,
    flow_lag: float,
    pace: float,
    at: Sequence[float] | Floats = (),
    until: float = math.inf,
) -> UserRun:
    """Serve the jobs of users at one server of rate 1 under lagged fair queueing.

    Parameters
    ----------
    arrivals : array_like, shape (n_jobs,)
        Arrival times, ascending, 0 or more.
    sizes : array_like, shape (n_jobs,)
        Above 0 and finite.
    users : array_like of int, shape (n_jobs,), optional
        Whose each job is, 0 or more, below 2^20; each is of a user of its own, that does not come back, when absent.
    user_lag, flow_lag : float
        0 or more.
    pace : float
        Of the clocks, 0 to 1.
    at : array_like, shape (n,)
        Attained services to look at, ascending, above 0.
    until : float
        When to stop, not before the last arrival; when all jobs have ended if infinite.

    Returns
    -------
    UserRun

    Raises
    ------
    MayflyError
        A value is outside its bounds, or lengths differ.

    Notes
    -----
    The rules are those of ``docs/disciplines/lfq.md`` without packets: tags that grow with what is sent, two clocks and
    two lags. Nothing goes ahead, no user is new, and there are no rounds.

    Examples
    --------
    A user that has been served 4 comes back beside one that has not: it waits until both are level, at 4.

    >>> lags = {"user_lag": 10.0, "flow_lag": 5.0, "pace": 0.0}
    >>> simulate_users([0.0, 4.0, 4.0], [4.0, 1.0, 5.0], [0, 0, 1], **lags).jobs.response_time.tolist()
    [4.0, 6.0, 6.0]
    """
    times, sizes = (np.ascontiguousarray(column, dtype=float) for column in (arrivals, sizes))
    check_jobs(times, sizes, None, until)
    whose = None if users is None else np.asarray(users, dtype=np.int64)
    if whose is not None and (whose.shape != times.shape or np.any((whose < 0) | (whose >= MOST_USERS))):
        raise MayflyError("users: must be a number from 0 to 2^20 - 1 for each job")
    # A lag beyond all work is as good as none, and sums keep their digits.
    most = 2 * float(sizes.sum())
    marks = np.asarray(at, dtype=float)
    try:
        server = _native.LaggedServer(min(user_lag, most), min(flow_lag, most), pace, marks.tolist())
    except ValueError as error:
        raise MayflyError(str(error)) from None
    response, cycle = np.full(len(times), np.nan), np.full(len(times), -1, dtype=np.int64)
    passages = []
    stretches = [slice(start, start + STRETCH) for start in range(0, len(times), STRETCH)]
    for part in [*stretches, None]:
        if part is None:
            tables = server.finish(until)
        else:
            tables = server.offer(times[part], sizes[part], None if whose is None else whose[part].astype(np.uint32))
        left, passed = (pl.DataFrame(table) for table in tables)
        job = left["job"].to_numpy().astype(np.intp)
        response[job], cycle[job] = left["response_time"].to_numpy(), left["cycle"].to_numpy()
        passages.append(passed)
    told = pl.concat(passages)
    mark, number = (told[name].to_numpy().astype(np.int64) for name in ("mark", "job"))
    return UserRun(JobRun(times, sizes, response, cycle), marks, mark, number, told["time"].to_numpy())


def poisson_users(
    law: ServiceLaw,
    rho: float,
    jobs: int,
    users: int,
    *,
    user_lag: float,
    flow_lag: float,
    pace: float,
    at: Sequence[float] | Floats = (),
    seed: int = 1,
) -> UserRun:
    """Users alike, each with Poisson arrivals of jobs; all of them are served.

    Parameters
    ----------
    law : ServiceLaw
        Sizes.
    rho : float
        Offered load of all users, above 0, below 1.
    jobs : int
        How many, 2 per batch or more.
    users : int
        0: each job is of a user of its own.
    user_lag, flow_lag, pace, at
        As for :func:`simulate_users`.
    seed : int
        As for :func:`mayfly.models.queue.jobs.poisson_jobs`; users are drawn from the stream ``jobs, users``.

    Returns
    -------
    UserRun

    Raises
    ------
    MayflyError
        A value is outside its bounds.
    """
    if not 0 < rho < 1:
        raise MayflyError(f"rho = {rho:g}: must be above 0 and below 1 to simulate jobs")
    if jobs < 2 * BATCHES:
        raise MayflyError(f"jobs = {jobs}: must be at least {2 * BATCHES}")
    arrivals, sizes = poisson_jobs(law, rho, jobs, seed)
    whose = (stream(seed, "jobs", "users").random(jobs) * users).astype(np.int64) if users else None
    return simulate_users(arrivals, sizes, whose, user_lag=user_lag, flow_lag=flow_lag, pace=pace, at=at)
