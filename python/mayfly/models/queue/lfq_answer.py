"""What `mayfly model lfq` answers: response times by size beside those of PS and LAS, and what the lag of flows does.

Means are those of the model; percentiles have no formula beyond the lag, so they are of simulated jobs, as are the
means that stand beside the model's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw
from mayfly.models.queue.answer import Answer, answer, finite
from mayfly.models.queue.compared import plain
from mayfly.models.queue.lfq import MOST_SIZES, response, within_time
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES
from mayfly.models.queue.user_jobs import MOST_USERS, Times, poisson_users
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

FACTORS = (0.0, *(2.0**power for power in range(-3, 5)))
"""Lags of the table beside those asked for."""

NOBODY = 1e-9
"""Share of the jobs that counts as none."""

ALIKE = 1e-4
"""Relative difference of means that counts as none."""

FAR = 0.999
"""Quantile of the sizes whose response time is the price."""


@dataclass(frozen=True)
class Choice:
    """What lags do: both of them smaller or larger by the same factor.

    Parameters
    ----------
    user_lag, flow_lag : numpy.ndarray, shape (n,)
        Ascending, from 0, which is PS. With one user, or one transfer each, the last ones are infinite: LAS.
    mean, slowdown : numpy.ndarray, shape (n,)
        Mean response time and mean slowdown over all transfers; units of size.
    short, large : numpy.ndarray, shape (n,)
        Response times of the median size, and of the size that 999 of 1000 do not exceed, over those under PS.
    stall : numpy.ndarray, shape (n,)
        Mean time for which a newcomer of at least the lag keeps all waiting who are level: units of size.
    left : numpy.ndarray, shape (n,)
        What a transfer that was sent the lag of flows has left on average; NaN where there is none.
    gain : numpy.ndarray, shape (n,)
        Share of what LAS would gain over PS in the mean; NaN where that is nothing.
    """

    user_lag: Floats
    flow_lag: Floats
    mean: Floats
    slowdown: Floats
    short: Floats
    large: Floats
    stall: Floats
    left: Floats
    gain: Floats

    @property
    def best(self) -> int:
        """The place of the least mean: of the smallest lags, where several are alike."""
        return int(np.flatnonzero(self.mean <= self.mean.min() * (1 + ALIKE))[0])


def choice(queue: MG1, user_lag: float, flow_lag: float, users: float, pace: float) -> Choice:
    """What lags round given ones do.

    Parameters
    ----------
    queue : MG1
        A load below 1.
    user_lag, flow_lag, users, pace : float
        As for :func:`mayfly.models.queue.lfq.response`, lags above 0: those of the table are powers of two of them.

    Returns
    -------
    Choice

    Notes
    -----
    A newcomer that is a lag behind holds up the others for a busy period that it begins among transfers cut off there:
    B / (1 - rho(B)) on average among users, b / (1 - rho(b)) in a user. What is left at age b is E[X - b; X > b] /
    P(X > b): it grows with b where the hazard rate falls, and then who has been sent little is nearest to its end.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("bounded-pareto:min=1,max=1e4,alpha=1.1"), 0.8)
    >>> for users in (1, 10):
    ...     found = choice(queue, 60.0, 20.0, users, 0.4)
    ...     print(found.gain.round(2).tolist(), float(found.flow_lag[found.best]))
    [0.0, 0.42, 0.55, 0.66, 0.76, 0.83, 0.9, 0.94, 0.97, 1.0] inf
    [0.0, 0.44, 0.53, 0.6, 0.62, 0.57, 0.4, -0.0] 20.0
    """
    law, one_level = queue.law, users in (0, 1)
    factors = np.array([*FACTORS, math.inf] if one_level else FACTORS)
    if not one_level:
        factors = factors[factors * user_lag <= MOST_SIZES * law.mean]
    lags = [np.concatenate([[0.0], lag * factors[1:]]) for lag in (user_lag, flow_lag)]
    ends = np.asarray(law.quantile(np.array([0.5, FAR])), dtype=float)
    rows = []
    for given in zip(*lags, strict=True):
        # A lag that no job passes is none.
        user, flow = (min(lag, law.largest) for lag in given) if one_level else given
        times = partial(response, queue, user_lag=user, flow_lag=flow, users=users, pace=pace)
        rows.append([*_means(law, times, [user, flow]), *times(ends)])
    mean, slow, short, large = np.array(rows, dtype=float).T
    waits = lags[1] if users == 1 else lags[0]
    stall = waits / (1 - queue.load(np.minimum(waits, law.largest)))
    more = np.asarray(law.survival(lags[1]), dtype=float)
    left = np.where(more > NOBODY, (law.mean - law.truncated(1, lags[1])) / np.maximum(more, NOBODY), np.nan)
    most = mean[0] - POLICIES["las"].mean(queue)
    gain = (mean[0] - mean) / most if most > ALIKE * mean[0] else np.full(len(mean), np.nan)
    return Choice(lags[0], lags[1], mean, slow, short / short[0], large / large[0], stall, left, gain)


def _means(law: ServiceLaw, times: Callable[[Floats], Floats], breaks: Sequence[float]) -> tuple[float, float]:
    """Mean of the response time and of the slowdown; times are found once."""
    known: list[Floats] = []

    def mean(x: Floats) -> Floats:
        known.append(times(x))
        return known[0]

    return law.expect(mean, breaks), law.expect(lambda x: known[0] / x, breaks)


@dataclass(frozen=True, repr=False)
class LfqAnswer(Result):
    """Response times under lagged fair queueing, and beside it.

    Parameters
    ----------
    model : Answer
        Of the policy ``lfq``.
    ps, las : Answer
        Of the same sizes.
    asked : tuple of float
        Percentiles.
    simulated, overall : Times, optional
        Of simulated jobs, by size and of all, units of size; None without a simulation.
    jobs, seed : int
        Of the simulation.
    choice : Choice, optional
        None at a load of 1 or more, and without lags.
    """

    model: Answer
    ps: Answer
    las: Answer
    asked: tuple[float, ...]
    simulated: Times | None
    overall: Times | None
    jobs: int
    seed: int
    choice: Choice | None

    @property
    def _one(self) -> float:
        return self.model.time_of_one

    def document(self) -> dict[str, Any]:
        """All of it for JSON; a time that is infinite or was not seen often enough is null.

        Returns
        -------
        dict
            As :meth:`mayfly.models.queue.answer.Answer.document`, with percentiles that are of simulated jobs; ``ps``
            and ``las``, each with ``response_time`` and ``mean``; ``simulated``: ``jobs``, ``seed``,
            ``response_time``, ``ci95`` (half an interval), ``mean``, ``mean_ci95``, ``percentiles_ci95``; and
            ``choice``, with lists by lags (null: no bound) and ``best``, the place of the least mean.
        """
        found = self.model.document()
        for name, other in (("ps", self.ps), ("las", self.las)):
            told = other.document()
            found[name] = {"response_time": told["response_time"], "mean": told["mean"]}
        if self.simulated is not None and self.overall is not None:
            names = [f"{value:g}" for value in self.asked]
            found["percentiles"] = dict(zip(names, map(self._times, self.simulated.percentiles), strict=True))
            found["overall_percentiles"] = {
                name: self._times(row)[0] for name, row in zip(names, self.overall.percentiles, strict=True)
            }
            late = map(self._times, self.simulated.percentile_half_width)
            found["simulated"] = {
                "jobs": self.jobs,
                "seed": self.seed,
                "response_time": self._times(self.simulated.mean),
                "ci95": self._times(self.simulated.half_width),
                "mean": self._times(self.overall.mean)[0],
                "mean_ci95": self._times(self.overall.half_width)[0],
                "percentiles_ci95": dict(zip(names, late, strict=True)),
            }
        if self.choice is not None:
            chosen = self.choice
            found["choice"] = {
                "user_lag": [finite(value) for value in chosen.user_lag.tolist()],
                "flow_lag": [finite(value) for value in chosen.flow_lag.tolist()],
                "mean": self._times(chosen.mean),
                "mean_slowdown": [finite(value) for value in chosen.slowdown.tolist()],
                "gain": [finite(value) for value in chosen.gain.tolist()],
                "short_over_ps": [finite(value) for value in chosen.short.tolist()],
                "large_over_ps": [finite(value) for value in chosen.large.tolist()],
                "stall": self._times(chosen.stall),
                "left": [finite(value) for value in chosen.left.tolist()],
                "best": chosen.best,
            }
        return found

    def _times(self, values: Floats) -> list[float | None]:
        return [finite(value) for value in (np.asarray(values) * self._one).tolist()]

    def tables(self) -> list[Table]:
        """Times by size, and what lags do."""
        return [self._by_size(), *([] if self.choice is None else [self._lags(self.choice)])]

    def _by_size(self) -> Table:
        from rich import box
        from rich.table import Table

        unit = "s" if self.model.seconds else "sizes"
        title = f"lfq: mean response time ({unit}) by size, load {self.model.queue.rho:g}"
        found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        heads = ["size", "up to it", "lfq"]
        heads += ["jobs", "±", *(f"p{value:g}" for value in self.asked)] if self.simulated is not None else []
        for head in [*heads, "ps", "las"]:
            found.add_column(head, justify="right", no_wrap=True)
        shares = self.model.queue.law.cdf(self.model.at)
        for place, size in enumerate(self.model.at):
            cells = [f"{size:.5g}", f"{shares[place]:.2%}", plain(self.model.response_time[place])]
            cells += self._row(self.simulated, place)
            found.add_row(*cells, *(plain(other.response_time[place]) for other in (self.ps, self.las)))
        found.add_row(
            "all", "", plain(self.model.mean), *self._row(self.overall, 0), plain(self.ps.mean), plain(self.las.mean)
        )
        return found

    def _row(self, times: Times | None, place: int) -> list[str]:
        if times is None:
            return []
        seen = [times.mean[place], times.half_width[place], *times.percentiles[:, place]]
        return [self._seen(value) for value in seen]

    def _seen(self, value: float) -> str:
        return "-" if math.isnan(value) else plain(value * self._one)

    def _lags(self, chosen: Choice) -> Table:
        from rich import box
        from rich.table import Table

        unit = "s" if self.model.seconds else "sizes"
        title = f"What lags do, by the model: mean, stall by a newcomer ({unit}); median and large size beside PS"
        found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        for head in ("users'", "flows'", "mean", "slowdown", "LAS's gain", "median", "large", "stall"):
            found.add_column(head, justify="right", no_wrap=True)
        for place in range(len(chosen.mean)):
            gain, lags = chosen.gain[place], (chosen.user_lag[place], chosen.flow_lag[place])
            found.add_row(
                *(f"{lag:.5g}" if math.isfinite(lag) else "none" for lag in lags),
                plain(chosen.mean[place] * self._one),
                f"{chosen.slowdown[place]:.3g}",
                "-" if math.isnan(gain) else f"{gain:.0%}",
                f"{chosen.short[place]:.2f}",
                f"{chosen.large[place]:.2f}",
                plain(chosen.stall[place] * self._one),
            )
        return found

    def sentences(self) -> list[str]:
        """What is exact, what is simulated, and what the lag should be, in words."""
        told = [*self.model.sentences()[:-1]]
        given = self.model.parameters
        users = given["users"]
        lags = f"lags {given['user_lag']:g} (users) and {given['flow_lag']:g} (flows)"
        if users in (0, 1):
            whom = (
                "one user: FB + PS with the lag of flows"
                if users
                else "each transfer a user: FB + PS with that of users"
            )
            told.append(f"{lags}; {whom}, exact but for the pace of clocks, which is in the simulated jobs")
        else:
            told.append(
                f"{lags}; {users:g} users alike, a mean field: an approximation, the simulated jobs tell how good"
            )
        if self.simulated is not None:
            told.append(
                f"jobs, ± (95 %) and percentiles: {self.jobs:,} jobs simulated by the rules of the discipline, seed "
                f"{self.seed}"
            )
        if self.choice is not None:
            told += self._advice(self.choice)
        return [*told, f"after {self.model.policy.source}"]

    def _advice(self, chosen: Choice) -> list[str]:
        unit, law = " s" if self.model.seconds else "", self.model.queue.law
        given, place = self.model.parameters, FACTORS.index(1.0)
        if chosen.best == 0:
            return ["no lag shortens the mean of this law: the least mean is that of processor sharing"]
        best = chosen.flow_lag[chosen.best]
        which = f"lags of {chosen.user_lag[chosen.best]:.4g} and {best:.4g}" if math.isfinite(best) else "no bound, LAS"
        told = [f"of these the mean is least with {which}"]
        left = chosen.left[place]
        if not math.isnan(left) and left > law.mean:
            told.append(
                f"why a lag: what has been sent {given['flow_lag']:g} has {plain(left)} left on average, what is new "
                f"has {plain(law.mean)}: who was sent least is likely to end first"
            )
        if given["users"] not in (0, 1):
            told.append(
                "why not more: the credit of users goes before a short transfer of who has used his; the lag of flows "
                "alone may be larger"
            )
        stall = plain(chosen.stall[place] * self._one)
        told.append(
            f"what it costs: a newcomer with all its credit stalls who is level for {stall}{unit} on average, which "
            "grows faster than the lag"
        )
        return told


def defaults() -> dict[str, float]:
    """Numbers among the options of the discipline, in bytes and s, as its registry has them."""
    from mayfly.discipline_registry import disciplines

    params = next(row["params"] for row in disciplines() if row["id"] == "lfq")
    return {param["name"]: float(param["default"]) for param in params if isinstance(param["default"], int | float)}


def lfq_answer(
    law: str,
    rho: float,
    at: Sequence[float] | None = None,
    *,
    user_lag: float | None = None,
    flow_lag: float | None = None,
    users: float | None = None,
    pace: float | None = None,
    rate_bps: float | None = None,
    unit_bytes: float | None = None,
    percentiles: Sequence[float] = (95.0,),
    jobs: int = 400_000,
    seed: int = 1,
) -> LfqAnswer:
    """Response times under lagged fair queueing.

    Parameters
    ----------
    law, rho, at, rate_bps
        As for :func:`mayfly.models.queue.answer.answer`.
    user_lag, flow_lag : float, optional
        B and b in the unit of the law. Those of the discipline when absent, which needs ``unit_bytes``; with a rate, no
        more than the link sends in the time ``lag_time``.
    users, pace : float, optional
        As for :func:`mayfly.models.queue.lfq.response`.
    unit_bytes : float, optional
        Bytes of a unit of size, above 0; 1 for what needs it when absent.
    percentiles : sequence of float
        Of the simulated jobs, above 0, below 100.
    jobs : int
        Jobs to simulate; 0: none. None are at a load of 1 or more.
    seed : int
        Of the simulated jobs.

    Returns
    -------
    LfqAnswer

    Raises
    ------
    MayflyError
        A value is out of its bounds, or the lags are not known.

    Examples
    --------
    >>> law = "bounded-pareto:min=1,max=1e4,alpha=1.1"
    >>> found = lfq_answer(law, 0.8, [1.0, 20.0], user_lag=60, flow_lag=20, jobs=20000)
    >>> found.model.response_time.round(1).tolist(), found.simulated.mean.round(1).tolist()
    ([3.3, 49.5], [3.3, 50.9])
    """
    if unit_bytes is not None and not unit_bytes > 0:
        raise MayflyError(f"unit = {unit_bytes:g}: must be above 0 bytes")
    known = defaults()
    lags: dict[str, Any] = {"user_lag": user_lag, "flow_lag": flow_lag}
    if missing := [name for name, value in lags.items() if value is None]:
        if unit_bytes is None:
            whole = " and ".join(f"{known[name]:g}" for name in missing)
            raise MayflyError(
                f"{', '.join(missing)}: lfq needs them in the unit of the law, or unit, its bytes: then {whole} bytes"
            )
        both = known["user_lag"], known["flow_lag"]
        if rate_bps is not None:
            both = within_time(*both, rate_bps / 8 * known["lag_time"])
        scaled = dict(zip(lags, both, strict=True))
        lags = {name: scaled[name] / unit_bytes if value is None else value for name, value in lags.items()}
    if wrong := [value for value in percentiles if not 0 < value < 100]:
        raise MayflyError(f"percentiles = {wrong[0]:g}: must be above 0 and below 100")
    one = 1.0 if unit_bytes is None else unit_bytes
    model = answer("lfq", law, rho, at, rate_bps=rate_bps, unit_bytes=one, users=users, pace=pace, **lags)
    ps, las = (answer(name, law, rho, model.at.tolist(), rate_bps=rate_bps, unit_bytes=one) for name in ("ps", "las"))
    given = model.parameters
    simulated = overall = None
    if jobs and rho < 1:
        whose = given["users"]
        if whose != round(whose) or whose > MOST_USERS:
            raise MayflyError(
                f"users = {whose:g}: must be whole, at most {MOST_USERS}, to simulate jobs; not so with jobs = 0"
            )
        marks = np.unique(model.at[model.at > 0])
        run = poisson_users(model.queue.law, rho, jobs, int(whose), at=marks, seed=seed, **_lags_of(given))
        simulated, overall = _at(run.times(percentiles), model.at), run.overall(percentiles)
    both = given["user_lag"] > 0 and given["flow_lag"] > 0
    chosen = choice(model.queue, **given) if rho < 1 and both else None
    asked = tuple(float(value) for value in percentiles)
    return LfqAnswer(model, ps, las, asked, simulated, overall, jobs, seed, chosen)


def _lags_of(given: dict[str, Any]) -> dict[str, float]:
    return {name: given[name] for name in ("user_lag", "flow_lag", "pace")}


def _at(times: Times, at: Floats) -> Times:
    """The times of sizes in the order in which they were asked for; NaN for those of nothing."""
    place = np.searchsorted(times.at, at)
    known = np.append(times.at, np.inf)[place] == at

    def column(values: Floats) -> Floats:
        widened = np.concatenate([values, np.full((*values.shape[:-1], 1), np.nan)], axis=-1)
        return widened[..., np.where(known, place, len(times.at))]

    columns = (times.jobs, times.mean, times.half_width, times.percentiles, times.percentile_half_width)
    return Times(at, *map(column, columns))
