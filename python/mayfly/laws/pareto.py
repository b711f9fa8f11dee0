"""Unbounded Pareto laws of flow sizes. The bounded one is in :mod:`mayfly.laws.sizes`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.continuous import LARGEST_SCALE, ContinuousLaw, check_between, two_of
from mayfly.laws.sizes import fraction

STEEPEST = 1000.0
"""Largest tail exponent."""


@dataclass(frozen=True)
class ParetoII(ContinuousLaw):
    """Pareto law shifted to 0 (Lomax): P(X > x) = (1 + x / scale)^-shape.

    Parameters
    ----------
    shape : float
        Tail exponent, above 0, at most 1000; the mean is finite above 1, the variance above 2.
    scale : float
        Packets, above 0, at most 10^7.

    Notes
    -----
    Rai 2003, Table 1, writes P(1, 1.2, 12) for the object sizes of a web page: minimum 1, shape 1.2 and mean 12 cannot
    all hold for an ordinary Pareto law. This one with shape 1.2 and mean 12, rounded up to whole packets, can (shared
    errata); it is the ``ParetoII`` of ns-2's web workload.

    Examples
    --------
    >>> law = ParetoII.solve(shape=1.2, mean=12)
    >>> round(law.scale, 9), round(law.mean_packets(), 2)
    (2.4, 12.54)
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check_between("shape", self.shape, 0, STEEPEST)
        check_between("scale", self.scale, 0, LARGEST_SCALE, "packets")

    @classmethod
    def solve(
        cls,
        *,
        shape: float | None = None,
        scale: float | None = None,
        mean: float | None = None,
        cov: float | None = None,
    ) -> ParetoII:
        """Find the law from two of its parameters and moments.

        Parameters
        ----------
        shape, scale : float, optional
            As of the law.
        mean : float, optional
            Packets, > 0.
        cov : float, optional
            Coefficient of variation, > 1.

        Returns
        -------
        ParetoII
            With the two values given.

        Raises
        ------
        MayflyError
            Not two values, or no law has them.

        Notes
        -----
        Mean scale / (shape - 1); squared coefficient of variation shape / (shape - 2).

        Examples
        --------
        >>> ParetoII.solve(mean=10, cov=2)
        ParetoII(shape=2.6666666666666665, scale=16.666666666666664)
        """
        known = two_of({"shape": shape, "scale": scale, "mean": mean, "cov": cov})
        if cov is not None:
            if cov <= 1 or shape is not None:
                bound = "left out where shape is given" if shape is not None else "above 1 for this law"
                raise MayflyError(f"cov = {cov}: must be {bound}")
            known["shape"] = shape = 2 * cov * cov / (cov * cov - 1)
        if mean is not None:
            if shape is None:
                known["shape"] = shape = 1 + known["scale"] / mean
            if shape <= 1:
                raise MayflyError(f"shape = {shape}: must be above 1 for a finite mean")
            known["scale"] = mean * (shape - 1)
        return cls(known["shape"], known["scale"])

    def mean(self) -> float:
        """Mean size, packets; infinite for a shape of at most 1."""
        return self.scale / (self.shape - 1) if self.shape > 1 else math.inf

    def cov(self) -> float:
        """Coefficient of variation; infinite for a shape of at most 2."""
        return math.sqrt(self.shape / (self.shape - 2)) if self.shape > 2 else math.inf

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        inside = self.shape / self.scale * np.exp(-(self.shape + 1) * np.log1p(np.maximum(size, 0) / self.scale))
        return np.where(size < 0, 0.0, inside)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        return np.exp(-self.shape * np.log1p(np.maximum(size, 0.0) / self.scale))

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        with np.errstate(divide="ignore"):
            return self.scale * np.expm1(-np.log1p(-fraction(p)) / self.shape)

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: the incomplete beta function B(k + 1, shape - k) of x / (x + scale) if shape > k."""
        from scipy.special import beta, betainc

        ratio = np.maximum(np.asarray(size, dtype=float), 0.0) / self.scale
        front = self.shape * self.scale**order
        if (rest := self.shape - order) > 0:
            with np.errstate(invalid="ignore"):
                v = np.where(np.isinf(ratio), 1.0, ratio / (1 + ratio))
            return front * beta(order + 1, rest) * betainc(order + 1, rest, v)
        return front * self._unbounded(order, ratio)

    def _unbounded(self, order: int, ratio: Floats) -> Floats:
        """Integral of u^order (1 + u)^(-shape-1) from 0 to ``ratio`` where it grows without bound, shape <= order.

        Up to 1 by quadrature, as the sum of powers of 1 + u would lose its digits there.
        """
        points, weights = np.polynomial.legendre.leggauss(20)
        first = np.minimum(ratio, 1.0)[..., None]
        at = first * (points + 1) / 2
        found = np.sum(at**order * (1 + at) ** (-self.shape - 1) * weights, axis=-1) * first[..., 0] / 2
        beyond = np.maximum(ratio, 1.0)
        for power in range(order + 1):
            steep = power - self.shape
            grown = np.log((1 + beyond) / 2) if steep == 0 else ((1 + beyond) ** steep - 2.0**steep) / steep
            found = found + math.comb(order, power) * (-1.0) ** (order - power) * grown
        return np.where(np.isinf(ratio), np.inf, found)

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        return float(self.survival(size)) * (self.scale + size) / (self.shape - 1) if self.shape > 1 else math.inf


@dataclass(frozen=True)
class BiPareto(ContinuousLaw):
    """Two Pareto laws with a bend between (Nuzman, Saniee, Sweldens and Weiss 2002).

    Parameters
    ----------
    minimum : float
        k, packets, above 0, at most 10^7.
    body, tail : float
        alpha and beta: exponents below and above the bend, above 0, at most 1000.
    bend : float
        c: the bend lies near ``bend`` times ``minimum``; above 0, at most 10^7.

    Notes
    -----
    P(X > x) = (x/k)^-alpha ((x/k + c) / (1 + c))^(alpha - beta) for x >= k.

    Examples
    --------
    >>> law = BiPareto.solve(mean=40, body=0.2, tail=2.5, bend=20)
    >>> round(law.mean(), 9), round(law.minimum, 3)
    (40.0, 3.796)
    """

    minimum: float
    body: float
    tail: float
    bend: float

    def __post_init__(self) -> None:
        check_between("minimum", self.minimum, 0, LARGEST_SCALE, "packets")
        check_between("body", self.body, 0, STEEPEST)
        check_between("tail", self.tail, 0, STEEPEST)
        check_between("bend", self.bend, 0, LARGEST_SCALE)

    @classmethod
    def solve(
        cls, *, body: float, tail: float, bend: float, minimum: float | None = None, mean: float | None = None
    ) -> BiPareto:
        """The law of these exponents and bend, and of that minimum or mean, packets; the mean needs a tail above 1."""
        if minimum is not None and mean is None:
            return cls(minimum, body, tail, bend)
        if mean is None or minimum is not None:
            raise MayflyError("minimum, mean: must be one of them")
        if not (tail > 1 and 0 < mean < math.inf):
            raise MayflyError(f"mean = {mean}, tail = {tail}: must be above 0, and above 1")
        return cls(mean / cls(1.0, body, tail, bend).mean(), body, tail, bend)

    def _beyond(self, start: float, order: int) -> float:
        """Integral of y^(order-1) P(X > k y) over y from ``start`` on."""
        from scipy.special import hyp2f1

        steep = self.tail - order
        if steep <= 0:
            return math.inf
        bent = hyp2f1(self.tail - self.body, steep, steep + 1, -self.bend / start)
        return float((1 + self.bend) ** (self.tail - self.body) * start**-steep / steep * float(bent))

    def mean(self) -> float:
        """Mean size, packets; infinite for a tail of at most 1."""
        return self.minimum * (1 + self._beyond(1.0, 1))

    def cov(self) -> float:
        """Coefficient of variation; infinite for a tail of at most 2."""
        second = 1 + 2 * self._beyond(1.0, 2)
        first = 1 + self._beyond(1.0, 1)
        return math.sqrt(max(second / first**2 - 1, 0.0)) if math.isfinite(second) else math.inf

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: by quadrature, the whole moment in closed form."""
        size = np.asarray(size, dtype=float)
        whole = self.minimum**order * (1 + (order * self._beyond(1.0, order) if order else 0))
        inside = super().partial_moment(order, np.where(np.isinf(size), self.minimum, size))
        return np.where(np.isinf(size), whole, inside)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        ratio = np.maximum(np.asarray(size, dtype=float) / self.minimum, 1.0)
        return ratio**-self.body * ((ratio + self.bend) / (1 + self.bend)) ** (self.body - self.tail)

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        ratio = np.maximum(size / self.minimum, 1.0)
        steep = self.body / ratio + (self.tail - self.body) / (ratio + self.bend)
        return np.where(size < self.minimum, 0.0, self.survival(size) * steep / self.minimum)

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1: by bisection of the logarithm."""
        with np.errstate(divide="ignore", over="ignore"):
            target = -np.log1p(-fraction(p))
            low, high = target / max(self.body, self.tail), target / min(self.body, self.tail)
            for _ in range(100):
                middle = (low + high) / 2
                # log((e^u + c) / (1 + c)) without overflow.
                bent = np.logaddexp(middle, math.log(self.bend)) - math.log1p(self.bend)
                above = self.body * middle + (self.tail - self.body) * bent >= target
                low, high = np.where(above, low, middle), np.where(above, middle, high)
            return self.minimum * np.exp(high)

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        if size < self.minimum:
            return self.mean() - size
        return self.minimum * self._beyond(size / self.minimum, 1)
