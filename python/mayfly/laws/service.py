"""Laws of service times for the queueing models: what a formula needs of a law of sizes, at one unit of size per time.

Principle: every model here is made of truncated moments, E[min(X, x)^k]. A law gives them in closed form (those of
:mod:`mayfly.workload` do where one exists) or as running sums (discrete laws and samples), and means over the law by
quadrature that follows both its quantiles and the powers of two.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Floats, Integers, Numbers, distinct
from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from mayfly.laws.continuous import ContinuousLaw
    from mayfly.laws.sizes import BoundedPareto, Exponential

LARGEST = 1e15
"""Largest size of a discrete law: squares and sums keep their digits."""

ORDERS = 4
"""Moments a discrete law keeps running sums of: 0 to 3."""


class ServiceLaw(ABC):
    """Sizes of jobs, real numbers above 0 in any unit; a server works one unit of size per unit of time."""

    smallest: float
    """Lower end of the sizes."""

    largest: float
    """Upper end of the sizes; may be infinite."""

    @abstractmethod
    def survival(self, x: Floats | float) -> Floats:
        """P(X > x), in the shape of ``x``."""

    @abstractmethod
    def partial_moment(self, order: int, x: Floats | float) -> Floats:
        """E[X^order; X <= x], in the shape of ``x``; ``order`` from 0 to 3."""

    @abstractmethod
    def quantile(self, p: Floats | float) -> Floats:
        """Smallest size whose distribution function reaches ``p``, 0 <= p <= 1."""

    @abstractmethod
    def expect(self, function: Callable[[Floats], Floats], breaks: Sequence[float] | Floats = ()) -> float:
        """E[function(X)].

        Parameters
        ----------
        function : callable
            Of an array of sizes, shape ``(n,)``, to an array of that shape; between ``breaks`` smooth.
        breaks : sequence of float
            Sizes at which the function jumps or bends.

        Returns
        -------
        float
            Infinite where the function is, with some probability.
        """

    def truncated(self, order: int, x: Floats | float) -> Floats:
        """E[min(X, x)^order] (Chen 2012, 5.2.1: m_i(x)), in the shape of ``x``.

        Examples
        --------
        >>> Discrete([1.0, 3.0], [0.5, 0.5]).truncated(2, [0.5, 2.0, 4.0]).tolist()
        [0.25, 2.5, 5.0]
        """
        x = np.asarray(x, dtype=float)
        beyond = self.survival(x)
        # The part beyond an infinite cut is that of no jobs.
        return self.partial_moment(order, x) + np.where(beyond > 0, np.where(beyond > 0, x, 0.0) ** order * beyond, 0.0)

    def cdf(self, x: Floats | float) -> Floats:
        """P(X <= x), in the shape of ``x``."""
        return 1.0 - self.survival(x)

    def moment(self, order: int) -> float:
        """E[X^order]; infinite where the tail is too heavy."""
        return float(self.partial_moment(order, math.inf))

    @cached_property
    def mean(self) -> float:
        """E[X]."""
        return self.moment(1)

    @property
    def cov(self) -> float:
        """Coefficient of variation: deviation over mean; infinite without variance."""
        return math.sqrt(max(self.moment(2) / self.mean**2 - 1, 0.0))

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` independent sizes, shape (n,), by inversion: one uniform number each."""
        return self.quantile(rng.random(n))


SPREAD = (
    1.279812543885835e-12,
    7.392257778017794e-12,
    4.016000583859088e-11,
    2.0522634252189396e-10,
    9.865876450376946e-10,
    4.462172453901611e-09,
    1.898956246588768e-08,
    7.6049605164887e-08,
    2.866515718791933e-07,
    1.0170832425687032e-06,
    3.3976731247300535e-06,
    1.0688525774934402e-05,
    3.167124183311986e-05,
    8.841728520080377e-05,
    0.00023262907903552502,
    0.0005770250423907659,
    0.0013498980316300933,
    0.002979763235054555,
    0.006209665325776132,
    0.012224472655044696,
    0.022750131948179195,
    0.040059156863817086,
    0.06680720126885807,
    0.10564977366685535,
    0.15865525393145707,
    0.2266273523768682,
    0.3085375387259869,
    0.4012936743170763,
    0.5,
    0.5987063256829237,
    0.6914624612740131,
    0.7733726476231317,
    0.8413447460685429,
    0.8943502263331446,
    0.9331927987311419,
    0.9599408431361829,
    0.9772498680518208,
    0.9877755273449553,
    0.9937903346742238,
    0.9970202367649454,
    0.9986501019683699,
    0.9994229749576092,
    0.9997673709209645,
    0.9999115827147992,
    0.9999683287581669,
    0.9999893114742251,
    0.9999966023268753,
    0.9999989829167575,
    0.9999997133484281,
    0.9999999239503948,
    0.9999999810104375,
    0.9999999955378276,
    0.9999999990134123,
    0.9999999997947736,
    0.99999999995984,
    0.9999999999926077,
    0.9999999999987201,
)
"""Probabilities of a normal law from 7 deviations below its mean to 7 above, at quarters of one: dense at both ends.

``scipy.special.ndtr(numpy.linspace(-7, 7, 57))``, written out since its import takes longer than most answers do.
"""


class Continuous(ServiceLaw):
    """A law with a density.

    Parameters
    ----------
    law : ContinuousLaw or BoundedPareto or Exponential
        Of :mod:`mayfly.workload`; what it calls packets is the unit of size.

    Raises
    ------
    MayflyError
        The mean is infinite.

    Examples
    --------
    >>> from mayfly.laws.sizes import Exponential
    >>> law = Continuous(Exponential(2.0))
    >>> round(law.moment(2), 12), round(law.expect(lambda x: x * x), 9)
    (8.0, 8.0)
    """

    def __init__(self, law: ContinuousLaw | BoundedPareto | Exponential):
        self.law = law
        with np.errstate(divide="ignore"):
            self.smallest, self.largest = (float(law.quantile(p)) for p in (0.0, 1.0))
        if not math.isfinite(law.mean()):
            raise MayflyError(f"{law}: must have a finite mean")

    def __repr__(self) -> str:
        return f"Continuous({self.law!r})"

    def pdf(self, x: Floats | float) -> Floats:
        """Density at ``x``, in its shape."""
        return self.law.pdf(x)

    def survival(self, x: Floats | float) -> Floats:
        """P(X > x), in the shape of ``x``."""
        return self.law.survival(x)

    def partial_moment(self, order: int, x: Floats | float) -> Floats:
        """E[X^order; X <= x], in the shape of ``x``."""
        return self.law.partial_moment(order, x)

    def quantile(self, p: Floats | float) -> Floats:
        """Size whose distribution function is ``p``, 0 <= p <= 1."""
        return self.law.quantile(p)

    def expect(self, function: Callable[[Floats], Floats], breaks: Sequence[float] | Floats = ()) -> float:
        """E[function(X)]; see :meth:`ServiceLaw.expect`. The error is below 1e-10 of the mean for smooth functions."""
        at, weights = self.nodes(breaks)
        with np.errstate(invalid="ignore"):
            return float(np.sum(np.where(weights > 0, function(at) * weights, 0.0)))

    def nodes(self, breaks: Sequence[float] | Floats = ()) -> tuple[Floats, Floats]:
        """Sizes and weights that sum a function to its mean.

        Parameters
        ----------
        breaks : sequence of float
            Sizes no panel reaches across.

        Returns
        -------
        at, weights : numpy.ndarray, shape (n_nodes,)
            Weights hold the density.
        """
        inside = [cut for cut in breaks if self.edges[0] < cut < self.edges[-1]]
        edges = np.union1d(self.edges, inside) if inside else self.edges
        points, weights = np.polynomial.legendre.leggauss(20)
        half = np.diff(edges) / 2
        at = (edges[:-1] + half)[:, None] + half[:, None] * points
        return at.ravel(), (half[:, None] * weights * self.pdf(at)).ravel()

    @cached_property
    def edges(self) -> Floats:
        """Panels of the quadrature: powers of two and quantiles, as far as the mean has a part that counts."""
        low = self.smallest if self.smallest > 0 else float(self.quantile(1e-14))
        high = self.largest
        if not math.isfinite(high):
            high = max(self.mean, low)
            while high < 1e280 and high * float(self.survival(high)) > 1e-14 * self.mean:
                high *= 2
        steps = low * 2.0 ** np.arange(1, max(math.ceil(math.log2(high / low)), 1))
        spread = self.quantile(np.array(SPREAD))
        inner = np.concatenate([steps, spread])
        found = distinct(np.concatenate([[self.smallest, low, high], inner[(inner > low) & (inner < high)]]))
        # Panels as narrow as a rounding hold nothing.
        kept: Floats = found[np.concatenate([[True], np.diff(found) > 1e-12 * found[1:]])]
        return kept


class Discrete(ServiceLaw):
    """Sizes from a list, each with a share: one size, whole packets, or a sample.

    Parameters
    ----------
    values : array_like, shape (n_values,)
        Above 0, at most 10^15; in any order, repeated ones are added up.
    shares : array_like, shape (n_values,), optional
        0 or more; divided by their sum. The same for all when not given.

    Raises
    ------
    MayflyError
        A value is out of its bounds, or there is none.

    Examples
    --------
    >>> law = Discrete([3.0, 1.0, 1.0])
    >>> round(law.mean, 3), law.survival([0.5, 1.0, 2.0]).round(3).tolist()
    (1.667, [1.0, 0.333, 0.333])
    """

    def __init__(self, values: Numbers | Sequence[float], shares: Floats | Sequence[float] | None = None):
        given = np.asarray(values, dtype=float).ravel()
        weights = np.ones(len(given)) if shares is None else np.asarray(shares, dtype=float).ravel()
        if len(given) == 0 or len(given) != len(weights):
            raise MayflyError(f"{len(given)} sizes with {len(weights)} shares: must be as many, at least 1")
        if wrong := given[~((given > 0) & (given <= LARGEST))].tolist():
            raise MayflyError(f"size = {wrong[0]:g}: must be above 0 and at most {LARGEST:g}")
        if not (np.all(weights >= 0) and 0 < weights.sum() < math.inf):
            raise MayflyError("shares: must be 0 or more, finite, and not all 0")
        found, place = np.unique(given, return_inverse=True)
        counts = np.bincount(place, weights)
        self.values, self.shares = found[counts > 0], counts[counts > 0] / counts.sum()
        self.smallest, self.largest = float(self.values[0]), float(self.values[-1])

    def __repr__(self) -> str:
        return f"Discrete({len(self.values)} sizes from {self.smallest:g} to {self.largest:g})"

    @cached_property
    def _sums(self) -> list[Floats]:
        return [np.r_[0.0, np.cumsum(self.shares * self.values**order)] for order in range(ORDERS)]

    @cached_property
    def _beyond(self) -> Floats:
        # Summed from the far end: differences from 1 would lose the rare large jobs.
        beyond: Floats = np.r_[np.cumsum(self.shares[::-1])[::-1], 0.0]
        return beyond

    def place(self, x: Floats | float) -> Integers:
        """How many of the values do not exceed ``x``, in its shape."""
        return np.searchsorted(self.values, np.asarray(x, dtype=float), side="right")

    def survival(self, x: Floats | float) -> Floats:
        """P(X > x), in the shape of ``x``."""
        return self._beyond[self.place(x)]

    def partial_moment(self, order: int, x: Floats | float) -> Floats:
        """E[X^order; X <= x], in the shape of ``x``; ``order`` from 0 to 3."""
        return self._sums[order][self.place(x)]

    def truncated(self, order: int, x: Floats | float) -> Floats:
        """E[min(X, x)^order], in the shape of ``x``."""
        x = np.minimum(np.asarray(x, dtype=float), self.largest)
        place = self.place(x)
        return self._sums[order][place] + x**order * self._beyond[place]

    def quantile(self, p: Floats | float) -> Floats:
        """Smallest size whose distribution function reaches ``p``, 0 <= p <= 1."""
        from mayfly.laws.sizes import fraction

        reached = np.r_[self._sums[0][1:-1], 1.0]
        return self.values[np.searchsorted(reached, fraction(p), side="left")]

    def expect(self, function: Callable[[Floats], Floats], breaks: Sequence[float] | Floats = ()) -> float:
        """E[function(X)]: a sum; see :meth:`ServiceLaw.expect`."""
        return float(np.sum(function(self.values) * self.shares))


def deterministic(value: float) -> Discrete:
    """All jobs of one size.

    Parameters
    ----------
    value : float
        Above 0, at most 10^15.

    Examples
    --------
    >>> deterministic(2.0).cov
    0.0
    """
    if not 0 < value <= LARGEST:
        raise MayflyError(f"value = {value}: must be above 0 and at most {LARGEST:g}")
    return Discrete([value])
