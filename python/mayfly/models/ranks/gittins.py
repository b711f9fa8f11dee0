"""The Gittins policy: of all that know the law of sizes but no size, the one with the least mean response time.

Principle: a job is worth serving by what it may still take against its chance to end: the least ratio of the two, over
all the service one could give it next, is its rank. In a figure of E[min(X, age)] over P(X <= age) that ratio is the
slope of the tangent to what lies ahead: the lower convex hull, built from the far end.

Source: Gittins 1989; Aalto, Ayesta and Righter 2009; Scully 2018, 2.2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mayfly.arrays import Booleans, Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.service import Continuous, Discrete, ServiceLaw
from mayfly.models.queue.mg1 import MG1, over
from mayfly.models.queue.quadrature import Panels, gauss
from mayfly.models.ranks.age_rank import AgeRank, Function
from mayfly.models.ranks.soap import response as soap_response

ATOMS = 500
"""Most sizes of a discrete law: its rank has a piece for each."""

ORDER = 24
"""Ages of a panel of the law at which the rank is computed; between them it is interpolated."""

FLAT = 1e-9
"""Relative difference below which ranks count as equal."""

NEAR = 0.02
"""Chance to end below which ratios are integrals of the density: differences of moments would lose their digits."""

TIE = 1e-12
"""Relative rise given to a rank over a piece in which it never falls."""

LEAST = 1e-11
"""Share of the jobs, and of the work, that is left past the last age looked at."""

SECTIONS = 32
"""Steps to the best end: its distance is 10^-7 of a panel, and the ratio is flat there."""

GOLDEN = (math.sqrt(5) - 1) / 2


def response(queue: MG1, x: Floats) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes; the policy is that for their law.
    x : numpy.ndarray
        Sizes, 0 or more.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``.

    Raises
    ------
    MayflyError
        The load is 1 or more and the rank is not one that only rises, or a discrete law has too many sizes.

    Notes
    -----
    By :func:`mayfly.models.ranks.soap.response` with the rank of :func:`rank`.

    Examples
    --------
    Where the hazard rate falls it is least attained service:

    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.queue import las
    >>> queue = MG1(service_law("hyperexponential:mean=1,cov=5"), 0.5)
    >>> bool(np.allclose(response(queue, np.array([1.0])), las.response(queue, np.array([1.0]))))
    True
    """
    return soap_response(queue, x, rank(queue.law))


@lru_cache(maxsize=16)
def rank(law: ServiceLaw) -> AgeRank:
    """The rank by age: the inverse of the Gittins index.

    Parameters
    ----------
    law : ServiceLaw
        Sizes.

    Returns
    -------
    AgeRank

    Notes
    -----
    r(a) = inf over b > a of E[min(X, b) - a | X > a] / P(X <= b | X > a). It is the inverse of the hazard rate where
    the best b is the next moment, and falls where it is not.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> rank(service_law("exponential:mean=2")).worst(np.array([1.0, 5.0])).round(9).tolist()
    [2.0, 2.0]
    """
    if isinstance(law, Discrete):
        return _of_atoms(law)
    assert isinstance(law, Continuous)
    return _of_density(law)


def lowest(ages: tuple[Floats, Floats, Floats], ends: tuple[Floats, Floats, Floats]) -> tuple[Floats, Integers]:
    """Ranks at ages, and the best service to give next.

    Parameters
    ----------
    ages : tuple of numpy.ndarray, each of shape (n,)
        Ascending ages, P(X > age) above 0, and E[max(X - age, 0)].
    ends : tuple of numpy.ndarray, each of shape (m,)
        The same of the ages up to which a job may be served.

    Returns
    -------
    ranks : numpy.ndarray, shape (n,)
        Least ratios over the ends beyond each age.
    best : numpy.ndarray, shape (n,)
        Place of that end.

    Examples
    --------
    Half of the jobs have size 1, half 4:

    >>> lowest(([0.0, 1.0], [1.0, 0.5], [2.5, 1.5]), ([1.0, 4.0], [0.5, 0.0], [1.5, 0.0]))[0].tolist()
    [2.0, 3.0]
    """
    (at, ahead, owed), (upto, left, over_it) = (tuple(np.asarray(row) for row in rows) for rows in (ages, ends))
    ranks, best = np.empty(len(at)), np.empty(len(at), dtype=int)
    hull: list[int] = []
    place = len(upto)
    for k in range(len(at) - 1, -1, -1):
        while place > 0 and upto[place - 1] > at[k]:
            place -= 1
            while len(hull) > 1 and _slope(left, over_it, place, hull[-1]) >= _slope(left, over_it, *hull[:-3:-1]):
                hull.pop()
            hull.append(place)
        ratios = over(owed[k] - over_it[hull], ahead[k] - left[hull])
        nearest = int(np.argmin(ratios))
        ranks[k], best[k] = ratios[nearest], hull[nearest]
    return ranks, best


def _slope(left: Floats, owed: Floats, begin: int, end: int) -> float:
    gain = left[begin] - left[end]
    return (owed[begin] - owed[end]) / gain if gain > 0 else math.inf


def _of_atoms(law: Discrete) -> AgeRank:
    """The rank of a discrete law: it falls between sizes and may rise at one."""
    if len(law.values) > ATOMS:
        raise MayflyError(f"law = {law}: gittins takes at most {ATOMS} different sizes")
    starts = np.r_[0.0, law.values[:-1]]
    left, work = law.survival(law.values), law.truncated(1, law.values)

    def function(ages: Floats) -> Floats:
        gap = np.searchsorted(starts, ages, side="right") - 1
        # Past the last size nobody is left.
        at = np.minimum(ages, np.nextafter(law.largest, 0.0))
        ahead, spent = law.survival(starts)[gap], law.truncated(1, at)
        beyond = law.values > at[:, None]
        ratios = over(work - spent[:, None], np.where(beyond, ahead[:, None] - left, 0.0))
        result: Floats = ratios.min(axis=1)
        return result

    return AgeRank(function, law.values)


def _of_density(law: Continuous) -> AgeRank:
    """The rank of a law with a density: pieces that rise with the inverse of the hazard rate, and pieces that fall."""
    exact = _Ratio(law)
    edges, turns = exact.panels.edges, exact.turns()
    if not turns and exact.rising[len(exact.rising) // 2] and not exact.flat:
        # Any rank that rises is least attained service; the age has no plateau where rounding would decide.
        return AgeRank(lambda ages: ages)
    ages = exact.ages
    bounds = [0.0, *turns, float(ages[-1])]
    pieces = [_piece(exact, edges, start, end) for start, end in pairwise(bounds)]
    return AgeRank(_joined(bounds, pieces), turns)


def _piece(exact: _Ratio, edges: Floats, start: float, end: float) -> Function:
    """The rank between two turns."""
    probes = start + (end - start) * np.linspace(0.0, 1.0, 9)
    ranks, now = exact.at(probes)
    if np.ptp(ranks[:-1]) <= FLAT * ranks[0]:
        return lambda ages: np.full(len(ages), ranks[0])
    if now[4]:
        # Ages break ties: where the hazard rate settles, rounding would.
        return lambda ages: exact.hazard(ages) * (1 + TIE * (ages - start) / (end - start))
    panels = Panels(np.r_[start, edges[(edges > start) & (edges < end)], end], ORDER)
    values = exact.at(panels.nodes)[0]
    return lambda ages: panels.at(values, ages)


def _joined(bounds: list[float], pieces: list[Function]) -> Function:
    """One function of pieces; past the last age a rank that rose goes on to rise, and any other stays."""
    last = bounds[-1]
    final, before = (float(pieces[-1](np.array([age]))[0]) for age in (last, (bounds[-2] + last) / 2))

    def function(ages: Floats) -> Floats:
        within = np.minimum(ages, last)
        place = np.clip(np.searchsorted(bounds, within, side="right") - 1, 0, len(pieces) - 1)
        found = np.empty(len(ages))
        for number, piece in enumerate(pieces):
            mine = place == number
            found[mine] = piece(within[mine])
        return np.where((ages > last) & (final > before), final * (ages / last), found)

    return function


class _Ratio:
    """Ranks of a law with a density, to the digits of its moments.

    Parameters
    ----------
    law : Continuous
        Sizes.
    """

    def __init__(self, law: Continuous):
        self.law = law
        whole = np.unique(np.r_[0.0, law.edges])
        # A third of the panels of moments: here the far tail has to be right by itself.
        thirds = (whole[:-1, None] + np.diff(whole)[:, None] * np.arange(3) / 3).ravel()
        close: Floats = np.empty(0)
        if law.smallest > 0:
            close = law.smallest * (1 - 2.0 ** -np.arange(1, 30, dtype=float))
        self.panels = Panels(np.unique(np.r_[thirds, close, whole[-1]]), 12)
        self.first = whole[1] if law.smallest == 0 else 0.0
        edges = self.panels.edges
        self.values = law.survival(self.panels.nodes)
        self.ends = np.unique(np.r_[edges[edges >= law.smallest], self._middles(edges[edges >= law.smallest])])
        ages = np.unique(np.r_[edges, self._middles(edges)])
        counts = (law.survival(ages) > LEAST) & (self.owed(ages) > LEAST * law.mean)
        self.ages = ages[counts]
        self.best = lowest(self._drawn(self.ages), self._drawn(self.ends))[1]
        ranks, self.rising = self.at(self.ages)
        self.flat = bool(np.ptp(ranks) <= FLAT * ranks[0])

    @staticmethod
    def _middles(edges: Floats) -> Floats:
        return edges[:-1] + np.diff(edges) / 2

    def _drawn(self, ages: Floats) -> tuple[Floats, Floats, Floats]:
        return ages, self.law.survival(ages), self.owed(ages)

    def owed(self, ages: Floats) -> Floats:
        """E[max(X - age, 0)], shape (n,)."""
        return self.panels.beyond(self.values, ages)

    def hazard(self, ages: Floats) -> Floats:
        """Inverse of the hazard rate, the ratio for the next moment."""
        # At 0 itself a density may be infinite.
        ages = np.maximum(ages, self.first)
        return over(self.law.survival(ages), self.law.pdf(ages))

    def ratio(self, ages: Floats, begun: tuple[Floats, Floats], ends: Floats) -> Floats:
        """Ratio for service from each age, with its P(X > age) and E[max(X - age, 0)], to each end."""
        law, (ahead, owed) = self.law, begun
        gain = ahead - law.survival(ends)
        found = over(owed - self.owed(ends), gain)
        near = np.flatnonzero(gain < NEAR * ahead)
        points, weights = gauss(12)
        at = ages[near, None] + (ends - ages)[near, None] * (points + 1) / 2
        found[near] = over((law.survival(at) * weights).sum(axis=-1), (law.pdf(at) * weights).sum(axis=-1))
        return found

    def at(self, ages: Floats) -> tuple[Floats, Booleans]:
        """Ranks, and whether the best is to serve for the next moment only."""
        place = np.clip(np.searchsorted(self.ages, ages, side="right") - 1, 0, len(self.ages) - 2)
        low, high = np.sort([self.best[place], self.best[place + 1]], axis=0)
        now, ranks = self.hazard(ages), np.full(len(ages), np.inf)
        # Where the next end is the best one before and after, the next moment is.
        beyond = np.searchsorted(self.ends, ages, side="right")
        far = np.flatnonzero(high > beyond)
        begin = np.maximum(self.ends[np.maximum(low[far] - 1, 0)], ages[far])
        end = np.maximum(self.ends[np.minimum(high[far] + 1, len(self.ends) - 1)], begin)
        ranks[far] = self._least(ages[far], begin, end)
        return np.minimum(ranks, now), now <= ranks * (1 + FLAT)

    def _least(self, ages: Floats, low: Floats, high: Floats) -> Floats:
        """Least ratio over the ends from ``low`` to ``high``, by golden section."""
        begun = self.law.survival(ages), self.owed(ages)
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        a, b = self.ratio(ages, begun, inner), self.ratio(ages, begun, outer)
        for _ in range(SECTIONS):
            left = a < b
            low, high = np.where(left, low, inner), np.where(left, outer, high)
            inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            fresh = self.ratio(ages, begun, np.where(left, inner, outer))
            a, b = np.where(left, fresh, b), np.where(left, a, fresh)
        return np.minimum(np.minimum(a, b), self.ratio(ages, begun, high))

    def turns(self) -> list[float]:
        """Ages between which the rank either rises, or falls towards one best end that changes smoothly."""
        rises = self.rising
        change = np.flatnonzero(rises[1:] != rises[:-1])
        low, high = self.ages[change], self.ages[change + 1]
        for _ in range(46):
            middle = low + (high - low) / 2
            same = self.at(middle)[1] == rises[change]
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        result: list[float] = high[(high > 0) & (high < self.ages[-1])].tolist()
        return result
