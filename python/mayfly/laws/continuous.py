"""What continuous size laws without an upper bound share: sampling by inversion, and the mean of whole packets.

A law gives density, survival function, quantiles and the excess over a size; the rest follows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError

LARGEST_SCALE = 1e7
"""Largest scale of a law, packets."""

ONE_BY_ONE = 1_000_000
"""Sizes up to which the mean of whole packets is summed term by term."""


class ContinuousLaw(ABC):
    """Real sizes in packets, from above 0 without bound."""

    @abstractmethod
    def mean(self) -> float:
        """Mean size, packets; infinite where the tail is too heavy."""

    @abstractmethod
    def cov(self) -> float:
        """Coefficient of variation: standard deviation over mean; infinite where there is no variance."""

    @abstractmethod
    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""

    @abstractmethod
    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""

    @abstractmethod
    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""

    @abstractmethod
    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets: the integral of the survival function from ``size`` on."""

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: the part of a moment that sizes up to ``size`` make, infinite where it has no bound.

        Notes
        -----
        Here by Gauss-Legendre quadrature of the density over the logarithm of the size, in panels of a factor of at
        most 1.5; laws with a closed form have their own.
        """
        upto = np.atleast_1d(np.asarray(size, dtype=float))
        points, weights = np.polynomial.legendre.leggauss(16)
        last = np.minimum(upto, self._negligible(order))
        endless = np.isinf(last)
        first = np.minimum(max(float(self.quantile(0.0)), float(self.quantile(1e-15))), last)
        last = np.where(endless, first, last)
        panels = max(1, math.ceil(math.log(max(np.max(last / first), 1.0)) / math.log(1.5)))
        steps = np.log(last / first)[:, None] / panels
        logs = np.log(first)[:, None] + steps * np.arange(panels)
        at = np.exp(logs[:, :, None] + steps[:, :, None] * (points + 1) / 2)
        inside = np.sum(at ** (order + 1) * self.pdf(at) * weights, axis=(1, 2)) * steps[:, 0] / 2
        return np.where(endless, np.inf, inside).reshape(np.shape(size))

    def _negligible(self, order: int) -> float:
        """A size beyond which the moment has no part that counts; infinite where there is none before 10^90."""
        unit = float(self.quantile(0.5))
        at = 1.0
        while at**order * float(self.survival(at * unit)) > 1e-16:
            at *= 2
            if at > 1e90:
                return math.inf
        return at * unit

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        return 1.0 - self.survival(size)

    def mean_packets(self) -> float:
        """Mean of the size rounded up to whole packets: the sum of P(X > k) over k >= 0.

        Notes
        -----
        Term by term as far as sizes go, at most to 10^6; what lies beyond by Euler-Maclaurin.
        """
        if not math.isfinite(self.mean()):
            return math.inf
        last = math.ceil(min(float(self.quantile(1 - 1e-12)), ONE_BY_ONE))
        head = float(np.sum(self.survival(np.arange(last, dtype=float))))
        return head + self.excess(last) + float(self.survival(last)) / 2 + float(self.pdf(last)) / 12

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` independent sizes, packets, shape (n,), float64: by inversion, one uniform number each."""
        return self.quantile(rng.random(n))


def check_between(name: str, value: float, low: float, high: float, unit: str = "") -> None:
    """Refuse a parameter that is not above ``low`` and at most ``high``."""
    if not low < value <= high:
        raise MayflyError(f"{name} = {value}: must be above {low:g} and at most {high:g}{unit and ' ' + unit}")


def two_of(given: dict[str, float | None]) -> dict[str, float]:
    """Parameters that were given; refuse any number of them but two, and values that are not above 0 and finite."""
    known = {name: value for name, value in given.items() if value is not None}
    for name, value in known.items():
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    if len(known) != 2:
        raise MayflyError(f"given {', '.join(known) or 'nothing'}: must be two of {', '.join(given)}")
    return known
