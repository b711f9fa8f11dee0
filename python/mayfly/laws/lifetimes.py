"""Laws that fit sizes and times between arrivals: lognormal, Weibull, shifted exponential, hyperexponential.

Chen 2012, 8.3, fits lognormal sizes and Weibull inter-arrival times; Urvoy-Keller 2007 uses lognormal and shifted
exponential sizes; queueing theory takes hyperexponential ones where sizes vary more than exponential ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.continuous import LARGEST_SCALE, ContinuousLaw, check_between, two_of
from mayfly.laws.sizes import Exponential, fraction


@dataclass(frozen=True)
class Lognormal(ContinuousLaw):
    """Sizes whose logarithm is normal.

    Parameters
    ----------
    mu, sigma : float
        Mean and deviation of the logarithm of the size in packets; mu from -16 to 16, sigma above 0, at most 6.

    Examples
    --------
    >>> law = Lognormal.solve(mean=40, cov=3)
    >>> round(law.mean(), 9), round(law.cov(), 9)
    (40.0, 3.0)
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        check_between("mu", self.mu, -16, 16)
        check_between("sigma", self.sigma, 0, 6)

    @classmethod
    def solve(cls, *, mean: float, cov: float) -> Lognormal:
        """The law of that mean, packets, and coefficient of variation: cov^2 = exp(sigma^2) - 1."""
        known = two_of({"mean": mean, "cov": cov})
        spread = math.log1p(known["cov"] ** 2)
        return cls(math.log(known["mean"]) - spread / 2, math.sqrt(spread))

    def mean(self) -> float:
        """Mean size, packets."""
        return math.exp(self.mu + self.sigma**2 / 2)

    def cov(self) -> float:
        """Coefficient of variation."""
        return math.sqrt(math.expm1(self.sigma**2))

    def _score(self, size: Floats | float) -> Floats:
        with np.errstate(divide="ignore"):
            return (np.log(np.maximum(size, 0.0)) - self.mu) / self.sigma

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        safe = np.where(size > 0, size, 1.0)
        density = np.exp(-(self._score(safe) ** 2) / 2) / (safe * self.sigma * math.sqrt(2 * math.pi))
        return np.where(size > 0, density, 0.0)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        from scipy.special import ndtr

        return ndtr(-self._score(size))

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        from scipy.special import ndtri

        return np.exp(self.mu + self.sigma * ndtri(fraction(p)))

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: exp(k mu + k^2 sigma^2 / 2) Phi((log x - mu) / sigma - k sigma)."""
        from scipy.special import ndtr

        whole = math.exp(order * self.mu + (order * self.sigma) ** 2 / 2)
        return whole * ndtr(self._score(size) - order * self.sigma)

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        from scipy.special import ndtr

        beyond = self.mean() * float(ndtr(self.sigma - self._score(size)))
        return beyond - size * float(self.survival(size))


@dataclass(frozen=True)
class Weibull(ContinuousLaw):
    """P(X > x) = exp(-(x / scale)^shape).

    Parameters
    ----------
    shape : float
        From 0.1 on, at most 100; below 1 the tail is heavier than exponential.
    scale : float
        Packets, above 0, at most 10^7.

    Examples
    --------
    >>> law = Weibull.solve(mean=40, cov=3)
    >>> round(law.mean(), 9), round(law.cov(), 9), round(law.shape, 4)
    (40.0, 3.0, 0.4113)
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        if not 0.1 <= self.shape <= 100:
            raise MayflyError(f"shape = {self.shape}: must be from 0.1 to 100")
        check_between("scale", self.scale, 0, LARGEST_SCALE, "packets")

    @classmethod
    def solve(
        cls,
        *,
        shape: float | None = None,
        scale: float | None = None,
        mean: float | None = None,
        cov: float | None = None,
    ) -> Weibull:
        """The law from two of its parameters and moments; shape and cov say the same and do not go together."""
        known = two_of({"shape": shape, "scale": scale, "mean": mean, "cov": cov})
        if "cov" in known and "shape" in known:
            raise MayflyError(f"cov = {cov}: must be left out where shape is given")
        if "cov" in known:
            known["shape"] = cls._shape_of(known["cov"])
        if "shape" not in known:
            raise MayflyError("given scale, mean: must be one of them, and shape or cov")
        found = cls(known["shape"], known.get("scale", 1.0))
        return cls(found.shape, known["mean"] / found.mean()) if "mean" in known else found

    @classmethod
    def _shape_of(cls, cov: float) -> float:
        """The shape of that CoV, which falls as the shape grows."""
        from scipy.optimize import brentq

        most, least = cls(0.1, 1.0).cov(), cls(100, 1.0).cov()
        if not least <= cov <= most:
            raise MayflyError(f"cov = {cov}: must be from {least:.3g} to {most:.3g}")
        return brentq(lambda shape: math.log(cls(shape, 1.0).cov() / cov), 0.1, 100, xtol=1e-14)

    def mean(self) -> float:
        """Mean size, packets."""
        return self.scale * math.gamma(1 + 1 / self.shape)

    def cov(self) -> float:
        """Coefficient of variation: Gamma(1 + 2/shape) / Gamma(1 + 1/shape)^2 - 1 is its square."""
        return math.sqrt(math.expm1(math.lgamma(1 + 2 / self.shape) - 2 * math.lgamma(1 + 1 / self.shape)))

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        ratio = np.where(size > 0, size, self.scale) / self.scale
        density = self.shape / self.scale * ratio ** (self.shape - 1) * np.exp(-(ratio**self.shape))
        return np.where(size > 0, density, 0.0)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        return np.exp(-((np.maximum(size, 0.0) / self.scale) ** self.shape))

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        with np.errstate(divide="ignore"):
            return self.scale * (-np.log1p(-fraction(p))) ** (1 / self.shape)

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: scale^k times the lower incomplete gamma function of 1 + k / shape."""
        from scipy.special import gamma, gammainc

        steep = 1 + order / self.shape
        reached = (np.maximum(size, 0.0) / self.scale) ** self.shape
        return self.scale**order * gamma(steep) * gammainc(steep, reached)

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets: mean times the upper incomplete gamma function of 1/shape."""
        from scipy.special import gammaincc

        return self.mean() * float(gammaincc(1 / self.shape, (size / self.scale) ** self.shape))


@dataclass(frozen=True)
class ShiftedExponential(ContinuousLaw):
    """``minimum`` plus an exponential size.

    Parameters
    ----------
    minimum : float
        Packets, above 0, at most 10^7.
    scale : float
        Mean of what comes on top, packets, above 0, at most 10^7.

    Examples
    --------
    >>> ShiftedExponential.solve(mean=40, cov=0.75)
    ShiftedExponential(minimum=10.0, scale=30.0)
    """

    minimum: float
    scale: float

    def __post_init__(self) -> None:
        check_between("minimum", self.minimum, 0, LARGEST_SCALE, "packets")
        check_between("scale", self.scale, 0, LARGEST_SCALE, "packets")

    @classmethod
    def solve(cls, *, mean: float, minimum: float | None = None, cov: float | None = None) -> ShiftedExponential:
        """The law of that mean, and minimum or cov: cov = scale / (minimum + scale) (Urvoy-Keller 2007, note 5)."""
        known = two_of({"mean": mean, "minimum": minimum, "cov": cov})
        if "mean" not in known:
            raise MayflyError("given minimum, cov: must be mean, and minimum or cov")
        least = known["mean"] * (1 - known["cov"]) if "cov" in known else known["minimum"]
        if not 0 < least < mean:
            bound = "below 1" if "cov" in known else f"below mean = {mean}"
            name, value = ("cov", cov) if "cov" in known else ("minimum", minimum)
            raise MayflyError(f"{name} = {value}: must be {bound}")
        return cls(least, mean - least)

    def mean(self) -> float:
        """Mean size, packets."""
        return self.minimum + self.scale

    def cov(self) -> float:
        """Coefficient of variation."""
        return self.scale / (self.minimum + self.scale)

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        return np.where(size < self.minimum, 0.0, self.survival(size) / self.scale)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        return np.exp(-np.maximum(np.asarray(size, dtype=float) - self.minimum, 0.0) / self.scale)

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        with np.errstate(divide="ignore"):
            return self.minimum - self.scale * np.log1p(-fraction(p))

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        return max(self.minimum - size, 0.0) + self.scale * float(self.survival(size))

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: the binomial sum over the moments of what comes on top."""
        above = Exponential(self.scale)
        rest = np.maximum(np.asarray(size, dtype=float) - self.minimum, 0.0)
        return sum(
            (
                math.comb(order, k) * self.minimum ** (order - k) * above.partial_moment(k, rest)
                for k in range(order + 1)
            ),
            start=np.zeros(()),
        )


@dataclass(frozen=True)
class HyperExponential(ContinuousLaw):
    """One of two exponential laws, by chance.

    Parameters
    ----------
    share : float
        Of the sizes from the first law, above 0, below 1.
    first, second : float
        Means of both laws, packets, above 0, at most 10^7.

    Examples
    --------
    >>> law = HyperExponential.balanced(mean=10, cov=3)
    >>> round(law.mean(), 9), round(law.cov(), 9), round(law.share * law.first, 9)
    (10.0, 3.0, 5.0)
    """

    share: float
    first: float
    second: float

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise MayflyError(f"share = {self.share}: must be above 0 and below 1")
        check_between("first", self.first, 0, LARGEST_SCALE, "packets")
        check_between("second", self.second, 0, LARGEST_SCALE, "packets")

    @classmethod
    def balanced(cls, *, mean: float, cov: float) -> HyperExponential:
        """The law of that mean, packets, and coefficient of variation whose two parts carry half the packets each.

        Raises
        ------
        MayflyError
            The coefficient of variation is not above 1, or so large that a mean is out of its bounds.
        """
        known = two_of({"mean": mean, "cov": cov})
        if not known["cov"] > 1:
            raise MayflyError(f"cov = {cov}: must be above 1 for this law")
        square = cov * cov
        # 1 - sqrt((c2 - 1) / (c2 + 1)) loses its digits for a large CoV.
        rare = 1 / (square + 1) / (1 + math.sqrt((square - 1) / (square + 1)))
        return cls(1 - rare, mean / (2 * (1 - rare)), mean / (2 * rare))

    @property
    def _parts(self) -> tuple[tuple[float, Exponential], tuple[float, Exponential]]:
        return (self.share, Exponential(self.first)), (1 - self.share, Exponential(self.second))

    def mean(self) -> float:
        """Mean size, packets."""
        return self.share * self.first + (1 - self.share) * self.second

    def cov(self) -> float:
        """Coefficient of variation."""
        square = 2 * (self.share * self.first**2 + (1 - self.share) * self.second**2)
        return math.sqrt(square / self.mean() ** 2 - 1)

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        return sum((share * law.pdf(size) for share, law in self._parts), start=np.zeros(()))

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        return sum((share * law.survival(size) for share, law in self._parts), start=np.zeros(()))

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]."""
        return sum((share * law.partial_moment(order, size) for share, law in self._parts), start=np.zeros(()))

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1: by bisection between those of the parts."""
        p = fraction(p)
        ends = [law.quantile(p) for _, law in self._parts]
        low, high = np.minimum(*ends), np.maximum(*ends)
        with np.errstate(invalid="ignore"):
            for _ in range(80):
                middle = (low + high) / 2
                above = self.survival(middle) <= 1 - p
                low, high = np.where(above, low, middle), np.where(above, middle, high)
        return high

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        return float(sum(share * law.scale * law.survival(size) for share, law in self._parts))
