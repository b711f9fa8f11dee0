"""Laplace transforms of the work that goes first: parts of sizes, cut at an age or a size, for many ranks at once.

Principle: exponential sizes have a closed form and a discrete law is a sum. Other laws are Gauss-Legendre sums on
panels a third of their size wide, and so are panels with many atoms: a rule of Gauss for the atoms themselves. A
panel that oscillates faster than its nodes resolve is one that the real part of the argument has damped: inversion by
Euler's summation takes arguments whose imaginary part is at most a few times the real one.

Source: Golub and Welsch 1969 (rules of Gauss from moments of a measure, here by Lanczos).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mayfly.arrays import Booleans, Complexes, Floats, Integers
from mayfly.laws.service import Continuous, Discrete, ServiceLaw
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.quadrature import gauss
from mayfly.models.ranks.ranks import Part

ORDER = 10
"""Nodes of a panel."""

RATIO = 1.35
"""Upper over lower end of a panel."""

SCORE = 0.75
"""Width of a panel in standard normal scores of the law: laws narrower than a panel."""

ATOMS = 16
"""Atoms of a panel up to which each counts as it is."""

NEGLIGIBLE = 1e-11
"""Share of the work in sizes so small that they count as one."""

FEW = 64
"""Nodes up to which none are joined."""

SPREAD = 9.0
"""Largest modulus of the arguments over the least real part, up to which nodes are joined: 8.2 in Euler's summation."""

GONE = 28.0
"""Exponent beyond which e^(-x) is nothing."""

NARROW = 4.0
"""Modulus of an exponent up to which jobs are joined."""

JOINED = 8
"""Nodes that stand for all that the arguments do not tell from a polynomial."""

BLOCK = 1 << 18
"""Complex numbers held at a time."""

Phase = tuple[float, float, float]
"""Share, rate and lower end of an exponential law."""


@dataclass(frozen=True)
class Work:
    """Work that arrives as a compound Poisson process, for each of n ranks.

    Parameters
    ----------
    amounts, rates : numpy.ndarray, shape (n, n_nodes)
        Jobs of that much work per unit of time.
    phases : tuple
        Exponential pieces: rate of the phase, and for each rank the work it begins and ends with and how many jobs per
        unit of time have more than that, four arrays of shape (n,).
    atoms : numpy.ndarray of bool, shape (n, n_nodes)
        Which amounts are true ones: many jobs bring just that much. The others stand for what lies round them.
    """

    amounts: Floats
    rates: Floats
    phases: tuple[tuple[float, tuple[Floats, ...]], ...]
    atoms: Booleans

    def take(self, rows: Integers) -> Work:
        """The same for chosen ranks."""
        phases = tuple((mu, tuple(column[rows] for column in columns)) for mu, columns in self.phases)
        return Work(self.amounts[rows], self.rates[rows], phases, self.atoms[rows])

    def jumps(self) -> Work:
        """Only the jobs that bring a true amount."""
        kept = np.flatnonzero(np.any(self.atoms, axis=0))
        rates = np.where(self.atoms, self.rates, 0.0)[:, kept]
        return Work(self.amounts[:, kept], rates, (), self.atoms[:, kept])

    def same(self, other: Work) -> Booleans:
        """Whether it is the same work, shape (n,)."""
        found = np.ones(len(self.amounts), bool)
        # Nodes of the same parts are made alike; rows may be padded differently.
        width = min(self.amounts.shape[1], other.amounts.shape[1])
        for mine, theirs in ((self.amounts, other.amounts), (self.rates, other.rates)):
            found &= np.all(np.isclose(mine[:, :width], theirs[:, :width], rtol=1e-13, atol=0.0), axis=1)
            found &= ~np.any(mine[:, width:], axis=1) & ~np.any(theirs[:, width:], axis=1)
        if len(self.phases) != len(other.phases):
            return np.zeros(len(self.amounts), bool)
        for (_, own), (_, others) in zip(self.phases, other.phases, strict=True):
            for one, another in zip(own, others, strict=True):
                found &= np.isclose(one, another, rtol=1e-14, atol=0.0)
        return found

    def rounded(self, step: Floats) -> Work:
        """The same with amounts that are multiples of a step, shape (n,), where there is one."""
        wide = np.where(np.isfinite(step), step, 1.0)[:, None]
        amounts = np.where(np.isfinite(step)[:, None], np.rint(self.amounts / wide) * wide, self.amounts)
        return Work(amounts, self.rates, self.phases, self.atoms)

    def load(self) -> Floats:
        """Work per unit of time of the amounts, phases apart, shape (n,)."""
        result: Floats = np.sum(self.amounts * self.rates, axis=1)
        return result

    def jobs(self) -> Floats:
        """Jobs per unit of time with any work, shape (n,)."""
        result: Floats = self.rates.sum(axis=1) + sum((more - most for _, (_, _, more, most) in self.phases), 0.0)
        return result

    def at_scale(self, octave: int, load: Floats) -> Work:
        """The same with fewer nodes, for arguments of a real part from 2^octave to twice that.

        Parameters
        ----------
        octave : int
            The moduli of what :func:`busy` is asked for are at most :data:`SPREAD` times as large.
        load : numpy.ndarray, shape (n,)
            Below 1; arguments grow by up to 1 / (1 - load) in busy periods.

        Notes
        -----
        With |s| W <= 4 eight nodes of Gauss are right to 2^16 / (16! 2^15) or 10^-13 of the jobs they stand for; beyond
        Re(s) W = 28 of e^(-s W) as much is left.
        """
        if self.amounts.shape[1] <= FEW:
            return self
        lists: list[tuple[Floats, ...]] = []
        modulus = 2 * SPREAD * 2.0**octave
        # In busy periods arguments grow by what arrives, and by no more than 1 / (1 - load).
        grown = np.minimum(modulus / np.maximum(1 - load, 1e-300), modulus + 2 * self.jobs())
        for at, rate, most in zip(self.amounts, self.rates, grown, strict=True):
            small, large = at < NARROW / most, at > GONE / 2.0**octave
            kept = ~(small | large) & (rate > 0)
            found = [(at[kept], rate[kept])]
            few = small & (rate > 0)
            if np.sum(few) > JOINED:
                order = np.argsort(at[few])
                found.append(gauss_rule(at[few][order], rate[few][order], JOINED))
            else:
                found.append((at[few], rate[few]))
            if np.any(large):
                found.append((np.array([at[large].min()]), np.array([rate[large].sum()])))
            lists.append(tuple(np.concatenate(columns) for columns in zip(*found, strict=True)))
        amounts, rates = _padded(lists, 2)
        return Work(amounts, rates, self.phases, np.zeros((len(lists), 0), bool))

    def derivatives(self, s: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """The exponent lambda E[1 - e^(-s W)] and derivatives of it.

        Parameters
        ----------
        s : numpy.ndarray of complex, shape (n, m)
            Real part 0 or more.

        Returns
        -------
        exponent, slope, bend : numpy.ndarray of complex, shape (n, m)
            The exponent, lambda E[W e^(-s W)] and lambda E[W^2 e^(-s W)].
        """
        exponent, slope, bend = self._nodes(s)
        for mu, (begin, end, more, most) in self.phases:
            share, jumped, each = mu / (mu + s), s / (mu + s), 1 / (mu + s)
            for count, at, sign in ((more, begin, 1), (most, end, -1)):
                done = at[:, None]
                lost = _lost(s * done)
                left = sign * count[:, None] * share * (1 - lost)
                exponent += sign * count[:, None] * (lost + (1 - lost) * jumped)
                slope += left * (each + done)
                bend += left * (2 * each * (each + done) + done**2)
        return exponent, slope, bend

    def exponent(self, s: Complexes) -> Complexes:
        """The exponent lambda E[1 - e^(-s W)], shape (n, m)."""
        return self.derivatives(s)[0]

    def _nodes(self, s: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        found = np.zeros((3, *s.shape), complex)
        count = self.amounts.shape[1]
        some = max(BLOCK // max(count * s.shape[1], 1), 1)
        for start in range(0, len(s) if count else 0, some):
            rows = slice(start, start + some)
            at, rate = self.amounts[rows], self.rates[rows]
            lost = _lost(s[rows, :, None] * at[:, None, :])
            weights = np.stack([rate, rate * at, rate * at * at], axis=2)
            sums = np.moveaxis(lost @ weights, 2, 0)
            found[0, rows] = sums[0]
            found[1:, rows] = np.moveaxis(weights.sum(axis=1)[:, 1:], 1, 0)[:, :, None] - sums[1:]
        return found[0], found[1], found[2]


def _lost(z: Complexes) -> Complexes:
    """1 - e^(-z), with all its digits where z is small."""
    found = np.empty_like(z)
    gone = -np.expm1(-z.real)
    half = z.imag / 2
    sine = np.sin(half)
    sine_left = 2 * (1 - gone) * sine
    found.real = gone + sine_left * sine
    found.imag = sine_left * np.cos(half)
    return found


def work_of(queue: MG1, parts: Sequence[Part], n: int) -> Work:
    """The work of parts.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    parts : sequence of Part
        For n ranks each.
    n : int
        Ranks.

    Returns
    -------
    Work

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> part = Part(np.array([0.0]), np.array([3.0]), np.array([0.0]))
    >>> work = work_of(MG1(service_law("exponential:mean=1"), 0.5), [part], 1)
    >>> round(float(work.exponent(np.ones((1, 1), complex))[0, 0].real), 6)  # (1 - e^-3) / 2 - (1 - e^-6) / 4
    0.225726
    """
    lists: list[list[tuple[Floats, ...]]] = [[] for _ in range(n)]
    closed = _phases(queue.law)
    phases: list[tuple[float, tuple[Floats, ...]]] = []
    for part in parts:
        for row in range(n):
            low, high, shift = float(part.low[row]), float(part.high[row]), float(part.shift[row])
            if not high > low:
                continue
            if part.amount is not None:
                share = float(queue.law.survival(low) - queue.law.survival(high))
                if share > 0 and part.amount[row] > 0:
                    lists[row].append((np.array([part.amount[row]]), np.array([share]), np.array([1.0])))
            elif not closed:
                at, shares_at, true = nodes(queue.law, low, high, shift)
                lists[row].append((at - shift, shares_at, true.astype(float)))
        if part.amount is None:
            phases.extend(_cut(queue.arrival_rate, phase, part) for phase in closed)
    columns = [tuple(np.concatenate(part) for part in zip(*found, strict=True)) for found in lists]
    amounts, shares, atoms = _padded(columns, 3)
    return Work(amounts, shares * queue.arrival_rate, tuple(phases), atoms.astype(bool))


def _padded(lists: Sequence[tuple[Floats, ...]], count: int) -> list[Floats]:
    """``count`` columns of each row as arrays as wide as the longest, zeros after their ends."""
    longest = max((len(row[0]) for row in lists if row), default=0)
    found = [np.zeros((len(lists), longest)) for _ in range(count)]
    for place, row in enumerate(lists):
        for table, column in zip(found, row, strict=False):
            table[place, : len(column)] = column
    return found


def _phases(law: ServiceLaw) -> list[Phase]:
    """The law as a mixture of exponential ones, empty where it is none."""
    from mayfly.laws.lifetimes import HyperExponential, ShiftedExponential
    from mayfly.laws.sizes import Exponential

    own = law.law if isinstance(law, Continuous) else None
    if isinstance(own, Exponential):
        return [(1.0, 1 / own.scale, 0.0)]
    if isinstance(own, ShiftedExponential):
        return [(1.0, 1 / own.scale, own.minimum)]
    if isinstance(own, HyperExponential):
        return [(own.share, 1 / own.first, 0.0), (1 - own.share, 1 / own.second, 0.0)]
    return []


def _cut(arrival_rate: float, phase: Phase, part: Part) -> tuple[float, tuple[Floats, ...]]:
    share, mu, start = phase
    some = (part.high > part.low) & (part.high > start)
    low, high = np.where(some, np.maximum(part.low, start), start), np.where(some, part.high, start)
    more, most = (arrival_rate * share * np.exp(-mu * (end - start)) for end in (low, high))
    # What never ends is of no job.
    high = np.where(most > 0, high, low)
    shift = np.where(some, part.shift, 0.0)
    return mu, (low - shift, high - shift, more, most)


def nodes(law: ServiceLaw, low: float, high: float, shift: float = 0.0) -> tuple[Floats, Floats, Booleans]:
    """Sizes and shares that stand for the law between two sizes.

    Parameters
    ----------
    law : ServiceLaw
        Sizes.
    low, high : float
        Sizes above ``low`` and at most ``high``.
    shift : float
        Finer panels from there on: what counts is how much larger a size is.

    Returns
    -------
    at, share, true : numpy.ndarray, shape (n_nodes,)
        Sizes, shares of the jobs, and whether it is an atom of the law.

    Examples
    --------
    >>> at, share, _ = nodes(Discrete([1.0, 2.0, 5.0]), 1.0, 9.0)
    >>> at.tolist(), share.round(6).tolist()
    ([2.0, 5.0], [0.333333, 0.333333])
    """
    edges = panel_edges(law)
    fine = shift * (1 + 2.0 ** np.arange(-24, 1)) if shift > 0 else np.empty(0)
    inner = np.union1d(edges[(edges > low) & (edges < high)], fine[(fine > low) & (fine < high)])
    ends = np.concatenate([[low], inner, [min(high, max(edges[-1], low))]])
    found = [_panel(law, a, b) for a, b in pairwise(ends.tolist()) if b > a]
    if not found:
        return np.empty(0), np.empty(0), np.empty(0, bool)
    at, share = (np.concatenate(columns) for columns in zip(*(panel[:2] for panel in found), strict=True))
    true = np.concatenate([np.full(len(panel[0]), panel[2]) for panel in found])
    return at[share > 0], share[share > 0], true[share > 0]


@lru_cache(maxsize=65536)
def _panel(law: ServiceLaw, low: float, high: float) -> tuple[Floats, Floats, bool]:
    """Nodes of a panel, and whether they are all its atoms."""
    if isinstance(law, Discrete):
        first, last = law.place(low), law.place(high)
        at, share = law.values[first:last], law.shares[first:last]
        return (at, share, True) if len(at) <= ATOMS else (*gauss_rule(at, share, ORDER), False)
    if high <= panel_edges(law)[0]:
        jobs, work = (float(law.partial_moment(k, high) - law.partial_moment(k, low)) for k in (0, 1))
        return (np.array([work / jobs]), np.array([jobs]), False) if jobs > 0 else (np.empty(0), np.empty(0), False)
    assert isinstance(law, Continuous)
    points, weights = gauss(ORDER)
    half = (high - low) / 2
    at = low + half * (1 + points)
    return at, half * weights * law.pdf(at), False


@lru_cache(maxsize=16)
def panel_edges(law: ServiceLaw) -> Floats:
    """Ends of the panels, from where sizes begin to count to where they end to."""
    if isinstance(law, Discrete):
        first, last = law.smallest, law.largest
        steps = math.ceil(math.log(last / first) / math.log(RATIO))
        return np.nextafter(first * (last / first) ** (np.arange(steps + 1) / max(steps, 1)), math.inf)
    from scipy.special import ndtri

    assert isinstance(law, Continuous)
    given = law.edges[law.edges > 0]
    given = given[law.partial_moment(1, given) > NEGLIGIBLE * law.mean] if law.smallest <= 0 else given
    scores = ndtri(np.clip(law.cdf(given), 1e-12, 1 - 1e-12))
    found, begun = [given[0]], scores[0]
    for edge, following, score, then in zip(given[:-1], given[1:], scores[:-1], scores[1:], strict=True):
        # Panels are joined as long as they stay narrow, in size and in score, and parted where they are not.
        if edge > found[-1] and (following > RATIO * found[-1] or then - begun > SCORE):
            found.append(edge)
            begun = score
        steps = math.ceil(math.log(following / found[-1]) / math.log(RATIO) - 1e-9)
        if steps > 1:
            found.extend(found[-1] * (following / found[-1]) ** (np.arange(1, steps + 1) / steps))
            begun = then
    return np.unique([*found, given[-1]])


def gauss_rule(at: Floats, share: Floats, order: int) -> tuple[Floats, Floats]:
    """The rule of Gauss of atoms: few of them with the same first 2 ``order`` moments.

    Parameters
    ----------
    at, share : numpy.ndarray, shape (n,)
        More than ``order`` atoms, shares above 0.
    order : int
        Nodes of the rule.

    Returns
    -------
    at, share : numpy.ndarray, shape (order,)

    Examples
    --------
    >>> at, share = gauss_rule(np.arange(1.0, 101.0), np.full(100, 0.01), 4)
    >>> bool(np.isclose(np.sum(share * at**7), np.mean(np.arange(1.0, 101.0) ** 7), rtol=1e-12))
    True
    """
    middle, half = (at[0] + at[-1]) / 2, (at[-1] - at[0]) / 2
    y, total = (at - middle) / half, share.sum()
    basis = np.zeros((order, len(y)))
    diagonal, beside = np.zeros(order), np.zeros(order)
    vector = np.sqrt(share / total)
    for k in range(order):
        basis[k] = vector
        vector = y * vector
        # Twice, or rounding lets the vectors lean on each other.
        for _ in range(2):
            along = basis[: k + 1] @ vector
            diagonal[k] += along[k]
            vector = vector - along @ basis[: k + 1]
        beside[k] = math.sqrt(float(vector @ vector))
        vector = vector / beside[k]
    from scipy.linalg import eigh_tridiagonal

    values, vectors = eigh_tridiagonal(diagonal, beside[:-1])
    return middle + half * values, total * vectors[0] ** 2
