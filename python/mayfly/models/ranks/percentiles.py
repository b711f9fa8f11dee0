"""Percentiles of response times in the M/G/1 under any policy that is a rank function, by size and over all jobs.

Principle: the distribution of each size is inverted from its transform; that over all jobs is the mean over the law of
sizes, and its percentiles are where the mean crosses.

Source: Scully, Harchol-Balter and Scheller-Wolf 2018, Theorem 5.4; Abate and Whitt 2006.
"""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.laws.service import Continuous, Discrete
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.quadrature import Panels, gauss
from mayfly.models.ranks.age_rank import AgeRank
from mayfly.models.ranks.inversion import quantiles
from mayfly.models.ranks.ranks import Rank
from mayfly.models.ranks.soap import response
from mayfly.models.ranks.tabled import MANY, Tabled
from mayfly.models.ranks.transform import Response
from mayfly.models.ranks.work_transform import nodes, panel_edges

WIDE = 2.2
"""Upper over lower end of a panel of the mean over sizes, at least."""

TOO_MANY = 2000
"""Worst ranks of all sizes from which on the table is made without a look at which size has which."""

ORDER = 4
"""Sizes of a panel."""

CHUNK = 12
"""Sizes looked at together."""

NOBODY = 1e-8
"""Share of a size that is left at a time and does not count."""

FINE = 200
"""Sizes of a panel at which jumps are looked at."""

OVERALL = 1e-6
"""Relative tolerance of the percentiles over all jobs: less than what the mean over sizes is off."""


def times(queue: MG1, rank: Rank, sizes: Floats) -> Response:
    """Response times of jobs of given sizes, by the way that suits the rank."""
    if len(rank.residence(queue.law, sizes)[0]) > TOO_MANY:
        return Tabled(queue, rank, sizes)
    found = Response(queue, rank, sizes)
    return Tabled(queue, rank, sizes) if found.busy_periods() > MANY else found


def _alike(queue: MG1, rank: Rank, sizes: Floats) -> tuple[Response, Integers]:
    """Response times of sizes that are delayed differently, and which of them each size is like."""
    found = times(queue, rank, sizes)
    first, kind = found.alike()
    if len(first) == len(sizes):
        return found, np.arange(len(sizes))
    return times(queue, rank, sizes[first]), kind


def percentiles(queue: MG1, x: Floats, rank: Rank, q: Floats) -> Floats:
    """Percentiles of the response time of jobs of given sizes.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    x : numpy.ndarray, shape (n,)
        Sizes, 0 or more.
    rank : Rank
        The policy.
    q : numpy.ndarray, shape (n_percentiles,)
        Above 0, below 100.

    Returns
    -------
    numpy.ndarray, shape (n_percentiles, n)
        Infinite where what goes first is a load of 1 or more.

    Raises
    ------
    MayflyError
        The load is 1 or more and the rank lets jobs get ahead again.

    Examples
    --------
    First come, first served in M/M/1 at load 1/2, half of the jobs wait: 3, and 3 + 2 ln 5.

    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.ranks.ranks import Constant
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> percentiles(queue, np.array([3.0]), Constant(), np.array([50.0, 90.0])).round(5).tolist()
    [[3.0], [6.21888]]
    """
    sizes, shares = np.asarray(x, dtype=float), np.asarray(q, dtype=float) / 100
    found = np.full((len(shares), len(sizes)), np.inf)
    which = np.flatnonzero(Response(queue, rank, sizes).ends)
    if len(which) == 0:
        return found
    some, place = _alike(queue, rank, sizes[which])
    mean = response(queue, some.sizes, rank) - some.sizes
    guess = np.where(np.isfinite(mean) & (mean > 0), mean, queue.law.mean)
    wanted = np.broadcast_to(shares, (len(some.sizes), len(shares)))
    late = quantiles(some.tail, wanted, some.at_once, guess)
    found[:, which] = (sizes[which][:, None] + late[place]).T
    return found


def overall(queue: MG1, rank: Rank, q: Floats) -> Floats:
    """Percentiles of the response time over all jobs.

    Parameters
    ----------
    queue, rank, q
        As for :func:`percentiles`.

    Returns
    -------
    numpy.ndarray, shape (n_percentiles,)
        Infinite where more jobs than that never end.

    Raises
    ------
    MayflyError
        The load is 1 or more and the rank lets jobs get ahead again.

    Notes
    -----
    P(T > t) = E[P(T(X) > t)]: atoms of the law, or four sizes a panel. The panel in which a size is t is parted there.

    Examples
    --------
    In M/M/1 in order of arrival, times are exponential with mean 1 / (1 - rho): ln 2 times that, and ln 10.

    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.ranks.ranks import Constant
    >>> overall(MG1(service_law("exponential:mean=1"), 0.5), Constant(), np.array([50.0, 90.0])).round(3).tolist()
    [1.386, 4.605]
    """
    shares = np.asarray(q, dtype=float) / 100
    mixture = _Mixture(queue, rank)
    found = np.full(len(shares), np.inf)
    which = shares < 1 - mixture.endless
    if np.any(which):
        wanted = shares[which][None, :]
        found[which] = quantiles(mixture.tail, wanted, np.zeros(1), np.array([queue.law.mean]), OVERALL)[0]
    return found


class _Mixture:
    """Response times of all jobs: sizes that stand for the law, and how much of it each stands for."""

    def __init__(self, queue: MG1, rank: Rank):
        law = queue.law
        self.queue = queue
        self.known: dict[float, float] = {}
        self.edges = np.empty(0)
        if isinstance(law, Discrete):
            at, share, _ = nodes(law, 0.0, np.inf)
        else:
            assert isinstance(law, Continuous)
            bends = rank.bends() if isinstance(rank, AgeRank) else np.empty(0)
            self.edges = _joined(panel_edges(law), bends)
            panels = Panels(self.edges, ORDER)
            at, share = panels.nodes, panels.weights * law.pdf(panels.nodes)
            if (low := float(law.cdf(self.edges[0]))) > 0:
                at, share = np.r_[float(law.partial_moment(1, self.edges[0])) / low, at], np.r_[low, share]
        base = Response(queue, rank, at)
        self.mass = float(share.sum())
        self.endless = float(share[~base.ends].sum()) / self.mass
        self.at, self.share = at[base.ends], share[base.ends] / self.mass
        self.some, self.kind = _alike(queue, rank, self.at)
        self.jumps = self._jumps() if len(self.edges) and self.some.points.mass.shape[1] else None

    def tail(self, row: Integers, time: Floats) -> Floats:
        """P(T > time), shape (k,)."""
        for t in set(time.tolist()) - set(self.known):
            self.known[t] = self._beyond(t)
        return np.array([self.known[t] for t in time.tolist()])

    def _left(self, place: Integers, delay: Floats) -> Floats:
        # Jumps are summed apart, as they are at other times for each size.
        tail = self.some.tail if self.jumps is None else self.some.smooth
        return tail(self.kind[place], delay)

    def _beyond(self, time: float) -> float:
        begun, found = np.flatnonzero(self.at < time), self.endless
        cut = int(np.searchsorted(self.edges, time)) - 1
        parted = np.empty(0, int)
        if 0 <= cut < len(self.edges) - 1:
            low, high = self.edges[cut : cut + 2]
            parted = np.flatnonzero((self.at > low) & (self.at <= high))
        if len(parted) == ORDER:
            begun = begun[self.at[begun] <= low]
            found += self._panel(low, high, time, parted)
            found += float(self.share[self.at > high].sum())
        else:
            found += float(self.share[self.at > time].sum())
        # Longer jobs are later: when none of a size is left, none of a smaller one is.
        for chosen in np.array_split(begun[::-1], max(len(begun) // CHUNK, 1)):
            left = self._left(chosen, time - self.at[chosen])
            found += float(self.share[chosen] @ left)
            if np.all(left < NOBODY):
                break
        # Sizes of just that time are done at once or later.
        same = np.flatnonzero(self.at == time) if len(parted) != ORDER else np.empty(0, int)
        found += float(self.share[same] @ (1 - self.some.at_once[self.kind[same]]))
        if self.jumps is not None:
            at, step, mass = self.jumps
            late = at + step * np.arange(1, mass.shape[0] + 1)[:, None]
            found += float(np.sum(mass[(late > time) & (at < time)]))
        return found

    def _panel(self, low: float, high: float, time: float, place: Integers) -> float:
        """Share of the jobs of a panel not done by a time within it, where sizes below and above it part."""
        points, weights = gauss(2 * ORDER)
        half = (time - low) / 2
        at = low + half * (points + 1)
        # At a given delay the tails of the sizes of a panel are those of a polynomial.
        row, delay = np.tile(place, len(at)), np.repeat(time - at, len(place))
        known = self._left(row, delay).reshape(len(at), len(place))
        each = np.sum(known * _lagrange(self.at[place], at), axis=1)
        law = self.queue.law
        # Only a law with a density has panels.
        assert isinstance(law, Continuous)
        below = float(np.sum(half * weights * law.pdf(at) * each))
        return (below + float(self.queue.law.survival(time) - self.queue.law.survival(high))) / self.mass

    def _jumps(self) -> tuple[Floats, Floats, Floats]:
        """Finely spaced sizes, the steps between their jumps, and shares of all jobs in each: (k,), (k,), (m, k)."""
        found = []
        for low, high in zip(self.edges[:-1], self.edges[1:], strict=True):
            place = np.flatnonzero((self.at > low) & (self.at <= high))
            if len(place) != ORDER:
                continue
            ends = np.linspace(low, high, FINE + 1)
            at = ends[:-1] + np.diff(ends) / 2
            share = -np.diff(self.queue.law.survival(ends)) / self.mass
            between, kinds = _lagrange(self.at[place], at), self.kind[place]
            mass = np.maximum(between @ self.some.points.mass[kinds], 0.0) * share[:, None]
            found.append((at, between @ self.some.points.step[kinds], mass.T))
        at, step, mass = (np.concatenate(columns, axis=-1) for columns in zip(*found, strict=True))
        return at, step, mass


def _lagrange(nodes: Floats, at: Floats) -> Floats:
    """Weights of values at nodes in the polynomial through them at other places, shape (n, n_nodes)."""
    found = np.ones((len(at), len(nodes)))
    for place, node in enumerate(nodes):
        others = np.delete(nodes, place)
        found[:, place] = np.prod((at[:, None] - others) / (node - others), axis=1)
    return found


def _joined(edges: Floats, bends: Floats) -> Floats:
    """Panels as wide as they may be, that end where the rank bends."""
    found = [edges[0]]
    bends = bends[(bends > edges[0]) & (bends < edges[-1])]
    for edge in np.union1d(edges[1:-1], bends):
        if edge in bends or edge > WIDE * found[-1]:
            found.append(edge)
    return np.unique([*found, edges[-1]])
