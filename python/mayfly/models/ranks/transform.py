"""Distribution of the response time in the M/G/1 under any policy that is a rank function: SOAP, its transforms.

Principle: a job waits for the busy period that the work before it starts, then each unit of its service for the busy
periods of what arrives and goes before it. Transforms of busy periods are the solution of Kendall's equation, and the
distribution comes from the transform by numerical inversion.

Source: Scully, Harchol-Balter and Scheller-Wolf 2018, Theorem 5.4; Kleinrock 1975, 5.8 (busy periods).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mayfly.arrays import Booleans, Complexes, Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.quadrature import Panels
from mayfly.models.ranks.inversion import TERMS, euler, invert
from mayfly.models.ranks.point_masses import PointMasses, Ramps, masses, step_of
from mayfly.models.ranks.ranks import Rank, check_stable
from mayfly.models.ranks.soap import load
from mayfly.models.ranks.work_transform import SPREAD, Work, work_of

CLOSE = 1e-5
"""Relative step of Halley after which Kendall's equation counts as solved: what is left is of its third power."""

STEPS = 60
"""Steps before it is given up; 2 to 4 are usual."""


def busy(work: Work, s: Complexes, load: Floats) -> Complexes:
    """What a unit of work becomes with the busy periods of what arrives meanwhile.

    Parameters
    ----------
    work : Work
        Of the jobs that arrive, for n ranks.
    s : numpy.ndarray of complex, shape (n, m)
        Real part above 0.
    load : numpy.ndarray, shape (n,)
        Of that work, below 1.

    Returns
    -------
    numpy.ndarray of complex, shape (n, m)
        sigma: work of transform W(s) takes a time of transform W(sigma).

    Raises
    ------
    MayflyError
        The steps do not settle.

    Notes
    -----
    Kendall's equation for the busy period, B(s) = X(s + lambda - lambda B(s)), with sigma = s + lambda (1 - B(s)):
    sigma - lambda (1 - X(sigma)) = s. The left side has a derivative of positive real part where that of sigma is 0 or
    more, so there is one solution, and its real part is not below that of s.

    Examples
    --------
    The busy period of M/M/1 at load 1/2:

    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.ranks.ranks import Part
    >>> queue, whole = MG1(service_law("exponential:mean=1"), 0.5), [Part(np.zeros(1), np.full(1, np.inf), np.zeros(1))]
    >>> sigma = busy(work_of(queue, whole, 1), np.ones((1, 1)) + 0j, np.array([0.5]))
    >>> (1 / (1 + sigma)).round(9).tolist(), round(2.5 - (2.5**2 - 2) ** 0.5, 9)
    ([[(0.438447187+0j)]], 0.438447187)
    """
    found = s + work.exponent(s / (1 - load)[:, None])
    active = np.arange(len(s))
    # Where s is small, what rounding leaves of 1 - X(sigma).
    rounding = 1e-15 * work.jobs() / (1 - load)
    for _ in range(STEPS):
        part = work if len(active) == len(s) else work.take(active)
        now, wanted = found[active], s[active]
        exponent, slope, bend = part.derivatives(now)
        step = (now - exponent - wanted) / (1 - slope)
        step /= 1 - step * bend / (1 - slope) / 2
        now = now - step
        now.real = np.maximum(now.real, wanted.real)
        found[active] = now
        active = active[np.any(np.abs(step) > CLOSE * np.abs(now) + rounding[active, None], axis=1)]
        if len(active) == 0:
            return found
    raise MayflyError(f"busy period: not settled in {STEPS} steps")


@dataclass(frozen=True)
class Response:
    """Response times under a rank function, as transforms and distributions; times are less the size itself.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    rank : Rank
        The policy.
    sizes : numpy.ndarray, shape (n,)
        Of the jobs, 0 or more.

    Raises
    ------
    MayflyError
        The load is 1 or more and the rank lets jobs get ahead again.

    Examples
    --------
    First come, first served in M/M/1: a wait of more than t has the probability 0.5 e^(-t / 2).

    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.ranks.ranks import Constant
    >>> found = Response(MG1(service_law("exponential:mean=1"), 0.5), Constant(), np.array([3.0]))
    >>> found.tail(np.array([0]), np.array([2.0])).round(6).tolist()
    [0.18394]
    """

    queue: MG1
    rank: Rank
    sizes: Floats

    @cached_property
    def _worst(self) -> tuple[Floats, Integers]:
        return np.unique(self.rank.worst(self.sizes), return_inverse=True)

    @cached_property
    def _waiting(self) -> tuple[Work, Work, Floats, Floats]:
        """Old work from age 0 and from later ages, the chance to find none, and the load of the former; by rank."""
        ranks, _ = self._worst
        now, later = self.rank.waiting(ranks)
        check_stable(self.queue.rho, later)
        first = load(self.queue, now)
        free = np.broadcast_to(1 - first - load(self.queue, later), len(ranks))
        return work_of(self.queue, now, len(ranks)), work_of(self.queue, later, len(ranks)), free, first

    @cached_property
    def _service(self) -> tuple[Floats, Floats]:
        """Worst ranks to come in the service of each job, and how much of it each has, shape (n, n_ranks)."""
        ranks, total = self.rank.residence(self.queue.law, self.sizes, self._grid)
        # Ranks before which the same work goes count once.
        edge = self.queue.law.place if isinstance(self.queue.law, Discrete) else np.asarray
        keys = [edge(end) for part in self.rank.arriving(ranks) for end in (part.low, part.high)]
        keys += [part.amount for part in self.rank.arriving(ranks) if part.amount is not None]
        _, first, place = np.unique(
            np.stack([*keys, np.zeros(len(ranks))], axis=1), axis=0, return_index=True, return_inverse=True
        )
        shares = np.zeros((len(self.sizes), len(first)))
        np.add.at(shares.T, place, total(np.eye(len(place))).T)
        used = np.any(shares != 0, axis=0)
        return ranks[first][used], shares[:, used]

    @property
    def _grid(self) -> Panels | None:
        """On which the service is summed; that of the law's moments if None."""
        return None

    @cached_property
    def _arriving(self) -> tuple[Work, Floats]:
        """New work, and its load, at the worst ranks and then at those of service."""
        ranks = np.concatenate([self._worst[0], self._service[0]])
        parts = self.rank.arriving(ranks)
        return work_of(self.queue, parts, len(ranks)), np.broadcast_to(load(self.queue, parts), len(ranks))

    @cached_property
    def ends(self) -> Booleans:
        """Whether jobs of each size end, shape (n,)."""
        worst, place = self._worst
        result: Booleans = ((self._waiting[2] > 0) & (load(self.queue, self.rank.arriving(worst)) < 1))[place]
        return result

    @cached_property
    def at_once(self) -> Floats:
        """P(response time = size), shape (n,): nobody before, and nobody comes who would be."""
        worst, place = self._worst
        _, shares = self._service
        result: Floats = self._waiting[2][place] * np.exp(-shares @ self._arriving[0].jobs()[len(worst) :])
        return result

    def alike(self) -> tuple[Integers, Integers]:
        """A size of each kind that is delayed alike, and of which kind each size is."""
        worst, place = self._worst
        shares = np.where(self._arriving[0].jobs()[len(worst) :] > 0, self._service[1], 0.0)
        _, first, kind = np.unique(np.c_[place, shares], axis=0, return_index=True, return_inverse=True)
        return first, kind

    def busy_periods(self) -> float:
        """Different busy periods in the service of a job, on average."""
        return float(np.count_nonzero(self._service[1])) / max(len(self.sizes), 1)

    def transform(self, row: Integers, s: Complexes) -> Complexes:
        """E[e^(-s (T(x) - x))].

        Parameters
        ----------
        row : numpy.ndarray, shape (k,)
            Which of the sizes.
        s : numpy.ndarray of complex, shape (k, m)
            Real part above 0.

        Returns
        -------
        numpy.ndarray of complex, shape (k, m)

        Notes
        -----
        Scully 2018, Theorem 5.4. Of the old work U, of worst rank r, by level crossings

            E[e^(-s U)] = (s P(U = 0) + sum over i >= 1 of lambda (1 - X_i(s))) / (s - lambda (1 - X_0(s)))

        X_i = X_i^old[r] and P(U = 0) = 1 - sum of rho_i. It takes U(sigma_r), the service
        exp(-integral of sigma_w(a) da), with sigma of :func:`busy` for X^new[r-].
        """
        real = s.real.min(axis=1)
        if np.any(np.abs(s).max(axis=1) > SPREAD * real):
            return self._transform(row, s, self._works)
        octaves = np.floor(np.log2(real)).astype(int)
        found = np.empty(s.shape, complex)
        for octave in np.unique(octaves).tolist():
            mine = octaves == octave
            found[mine] = self._transform(row[mine], s[mine], self._scaled(octave))
        return found

    @property
    def _works(self) -> tuple[Work, Work, Work]:
        return self._waiting[0], self._waiting[1], self._arriving[0]

    @cached_property
    def _kept(self) -> dict[int, tuple[Work, Work, Work]]:
        return {}

    def _scaled(self, octave: int) -> tuple[Work, Work, Work]:
        """Works with the nodes that arguments of that size tell apart."""
        if octave not in self._kept:
            now, later, arriving = self._works
            loads = np.minimum(self._arriving[1], 1.0)
            first = loads[: len(self._worst[0])]
            self._kept[octave] = (
                now.at_scale(octave, first),
                later.at_scale(octave, first),
                arriving.at_scale(octave, loads),
            )
        return self._kept[octave]

    def _transform(self, row: Integers, s: Complexes, works: tuple[Work, Work, Work]) -> Complexes:
        now, later, arriving = works
        mine = self._worst[1][row]
        sigma = busy(arriving.take(mine), s, self._arriving[1][mine])
        # Where the same work is old and new, what is left of sigma is s.
        left = s.copy()
        if np.any(other := ~self._same[mine]):
            left[other] = sigma[other] - now.take(mine[other]).exponent(sigma[other])
        old = sigma * self._waiting[2][mine][:, None] + later.take(mine).exponent(sigma)
        result: Complexes = old / left * np.exp(-self._delay(row, s, sigma, arriving))
        return result

    @cached_property
    def _same(self) -> Booleans:
        """Whether old work from age 0 is what new jobs bring, at each worst rank."""
        now, _, arriving = self._works
        return now.same(arriving.take(np.arange(len(self._worst[0]))))

    def _delay(self, row: Integers, s: Complexes, first: Complexes, arriving: Work) -> Complexes:
        """Integral of sigma - s over the service, with ``first`` the sigma at the worst rank, shape (k, m)."""
        worst, place = self._worst
        ranks, shares = self._service
        job, rank = np.nonzero(shares[row])
        share = shares[row][job, rank][:, None]
        found = np.zeros(s.shape, complex)
        same = ranks[rank] == worst[place[row]][job]
        np.add.at(found, job[same], share[same] * (first - s)[job[same]])
        job, share, at = job[~same], share[~same], rank[~same] + len(worst)
        np.add.at(found, job, share * (busy(arriving.take(at), s[job], self._arriving[1][at]) - s[job]))
        return found

    @cached_property
    def points(self) -> PointMasses:
        """Jumps of the law: no work was found, and only jobs of some amounts come."""
        from scipy.sparse import coo_array

        worst, place = self._worst
        arriving, _ = self._arriving
        jumps = arriving.jumps()
        load, others = jumps.load(), arriving.jobs() - jumps.jobs()
        _, shares = self._service
        step = np.full(len(self.sizes), np.nan)
        for row in np.flatnonzero(self.at_once > 0):
            mine = len(worst) + np.flatnonzero(shares[row])
            step[row] = step_of(np.unique(jumps.amounts[mine][jumps.rates[mine] > 0]))

        def transform(s: Complexes) -> Complexes:
            job, rank = np.nonzero(shares)
            # Sizes of the same step share their busy periods.
            _, first, pair = np.unique(np.c_[rank, step[job]], axis=0, return_index=True, return_inverse=True)
            at, of = rank[first] + len(worst), job[first]
            # A job of another amount ends it: as if its busy period never did.
            sigma = busy(jumps.take(at).rounded(step[of]), s[of] + others[at, None], load[at])
            sums = coo_array((shares[job, rank], (job, pair)), shape=(len(s), len(first))).tocsr()
            found: Complexes = np.asarray(sums @ (sigma - s[of]))
            return np.asarray(self._waiting[2][place][:, None] * np.exp(-found), dtype=complex)

        return masses(transform, step) if np.any(np.isfinite(step)) else PointMasses.none(len(self.sizes))

    @cached_property
    def ramps(self) -> Ramps:
        """Kinks of the law: of all old work one job of a true amount is left, and nobody comes.

        Notes
        -----
        What is left of an amount b is uniform up to b: of density P(U = 0) lambda P(X_0^old = b), for later ages
        without the first factor. That nobody comes until it is done has a probability that falls exponentially.
        """
        _, place = self._worst
        now, later, arriving = self._works
        free = self._waiting[2][place]
        quiet = self.at_once / np.where(free > 0, free, 1.0)
        height = [quiet[:, None] * work.jumps().rates[place] for work in (now, later)]
        height[0] = height[0] * free[:, None]
        end = [work.jumps().amounts[place] for work in (now, later)]
        return Ramps.heaviest(np.concatenate(height, axis=1), np.concatenate(end, axis=1), arriving.jobs()[place])

    def tail(self, row: Integers, time: Floats) -> Floats:
        """P(T(x) - x > time).

        Parameters
        ----------
        row : numpy.ndarray, shape (k,)
            Which of the sizes.
        time : numpy.ndarray, shape (k,)
            Above 0.

        Returns
        -------
        numpy.ndarray, shape (k,)
        """
        return np.clip(self.smooth(row, time) + self.points.beyond(row, time), 0.0, 1.0)

    def smooth(self, row: Integers, time: Floats) -> Floats:
        """The part of :meth:`tail` without jumps."""
        s = euler(TERMS)[0] / time[:, None]
        known = self.points.lacking(row, s) + self.ramps.lacking(row, s)
        return invert((1 - self.transform(row, s) - known) / s, time) + self.ramps.beyond(row, time)
