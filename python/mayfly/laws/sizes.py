"""Size laws of flows, in whole packets of one MSS.

A law knows its moments, distribution function, quantiles and how to sample by inversion; the power laws are also solved
from three of minimum, maximum, mean and coefficient of variation (CoV), the way the literature states them.
Source: Chen 2012, 4.4.2 (bounded Zipf as the discrete bounded Pareto).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np

from mayfly.arrays import Floats, Integers, Numbers
from mayfly.errors import MayflyError
from mayfly.laws.erlang import erlang_cdf
from mayfly.laws.solving import FLATTEST, MAX_PACKETS, STEEPEST, solve


class SizeLaw(Protocol):
    """What a workload needs of a size law; sizes in packets."""

    def mean(self) -> float:
        """Mean size, packets."""

    def mean_packets(self) -> float:
        """Mean of the size rounded up to whole packets."""

    def sample(self, rng: np.random.Generator, n: int) -> Numbers:
        """``n`` independent sizes, one uniform number each."""


@runtime_checkable
class QuantileLaw(Protocol):
    """What has a distribution function: the laws here, and those of service times."""

    def cdf(self, x: Floats | float, /) -> Floats:
        """P(X <= x), in the shape of ``x``."""

    def quantile(self, p: Floats | float, /) -> Numbers:
        """Smallest size whose distribution function reaches ``p``, 0 <= p <= 1."""


@dataclass(frozen=True)
class PowerLaw(ABC):
    """What the bounded power laws share: P or density ~ x^-(exponent+1) from ``minimum`` to ``maximum`` packets."""

    whole: ClassVar[bool] = False
    """Whether sizes, and so the bounds, are whole packets."""

    minimum: float
    maximum: float
    exponent: float

    def __post_init__(self) -> None:
        if not 0 < self.minimum <= self.maximum <= MAX_PACKETS:
            bounds = f"minimum = {self.minimum}, maximum = {self.maximum}"
            raise MayflyError(f"{bounds}: must be 0 < minimum <= maximum <= {MAX_PACKETS} packets")
        if not FLATTEST <= self.exponent <= STEEPEST:
            raise MayflyError(f"exponent = {self.exponent}: must be from {FLATTEST} to {STEEPEST}")

    @abstractmethod
    def moment(self, order: int) -> float:
        """E[(X / minimum)^order]."""

    def mean(self) -> float:
        """Mean size, packets."""
        return self.minimum * self.moment(1)

    def cov(self) -> float:
        """Coefficient of variation: standard deviation over mean."""
        first, second = self.moment(1), self.moment(2)
        return math.sqrt(max(second - first * first, 0.0)) / first

    @abstractmethod
    def quantile(self, p: Floats | float) -> Numbers:
        """Smallest size, packets, whose distribution function reaches ``p``, 0 <= p <= 1."""

    @abstractmethod
    def mass_weighted_quantile(self, p: Floats | float) -> Numbers:
        """Smallest size, packets, up to which the flows carry the fraction ``p`` of all packets, 0 <= p <= 1."""

    @classmethod
    def solve(
        cls,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        mean: float | None = None,
        cov: float | None = None,
    ) -> Self:
        """Find the law with the values given; the others and the exponent follow.

        Parameters
        ----------
        minimum, maximum, mean : float, optional
            Packets, 0 < minimum < mean < maximum <= 10^7.
        cov : float, optional
            Coefficient of variation, > 0. Three of the four are given; where all are, they must agree within 0.5 %.

        Returns
        -------
        PowerLaw
            Of two laws with the same minimum, maximum and CoV the one with the larger mean.

        Raises
        ------
        MayflyError
            No such law exists; the message names a value and what it would have to be.

        Notes
        -----
        The bounds of the discrete law are whole: solved for, ``maximum`` is the smallest whose CoV reaches the asked
        one, and ``minimum`` the nearest, refused where its CoV is off by more than 0.5 %.

        Examples
        --------
        >>> law = BoundedZipf.solve(minimum=6, mean=40, cov=6)
        >>> law.maximum, round(law.exponent, 4)
        (12121, 1.0213)
        >>> BoundedZipf.solve(minimum=6, maximum=6849, mean=40, cov=6)
        Traceback (most recent call last):
        mayfly.errors.MayflyError: cov = 6: at minimum 6, maximum 6849, mean 40 the coefficient of variation is 4.84
        """
        given = {"minimum": minimum, "maximum": maximum, "mean": mean, "cov": cov}
        return cast(Self, _solved(cls, **{name: value for name, value in given.items() if value is not None}))


@lru_cache(maxsize=64, typed=True)
def _solved(law: type[PowerLaw], **given: float) -> PowerLaw:
    """The law of those values; each replication of a run asks for it anew."""
    return solve(law, **given)


@dataclass(frozen=True)
class BoundedZipf(PowerLaw):
    """Whole sizes k = minimum..maximum packets with P(X=k) ~ k^-(exponent+1).

    Parameters
    ----------
    minimum, maximum : int
        Packets, 1 <= minimum <= maximum <= 10^7.
    exponent : float
        Tail exponent, from -1 (uniform) to 1000; 1.1 is heavy, 0.99 carries half the packets in a few large flows.

    Examples
    --------
    >>> law = BoundedZipf.solve(minimum=6, maximum=6849, mean=40)
    >>> round(law.exponent, 4), round(law.cov(), 2)
    (0.9935, 4.84)
    >>> [int(size) for size in law.quantile([0.0, 0.5, 1.0])]
    [6, 11, 6849]
    """

    whole: ClassVar[bool] = True

    minimum: int
    maximum: int
    exponent: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("minimum", self.minimum), ("maximum", self.maximum)):
            if value != math.floor(value):
                raise MayflyError(f"{name} = {value}: must be a whole number of packets")
            object.__setattr__(self, name, int(value))

    def moment(self, order: int) -> float:
        """E[(X / minimum)^order]."""
        steep = self.exponent + 1
        return power_sum(steep - order, self.minimum, self.maximum) / power_sum(steep, self.minimum, self.maximum)

    @cached_property
    def table(self) -> Floats:
        """P(X <= k) for k = minimum..maximum, shape (maximum - minimum + 1,)."""
        return normalised_sum(self.weights(self.exponent + 1))

    def weights(self, steep: float) -> Floats:
        """(k / minimum)^-steep for k = minimum..maximum."""
        return (np.arange(self.minimum, self.maximum + 1) / self.minimum) ** -steep

    def mean_packets(self) -> float:
        """Mean size, packets: sizes are whole."""
        return self.mean()

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        index = np.floor(np.asarray(size, dtype=float)) - self.minimum
        inside = np.clip(index, 0, len(self.table) - 1).astype(np.int64)
        return np.where(index < 0, 0.0, self.table[inside])

    def quantile(self, p: Floats | float) -> Integers:
        """Smallest size, packets, whose distribution function reaches ``p``, 0 <= p <= 1."""
        return self.minimum + np.searchsorted(self.table, fraction(p), side="left")

    def mass_weighted_quantile(self, p: Floats | float) -> Integers:
        """Smallest size, packets, up to which the flows carry the fraction ``p`` of all packets, 0 <= p <= 1.

        Examples
        --------
        >>> int(wired().mass_weighted_quantile(0.5))
        221
        """
        return self.minimum + np.searchsorted(normalised_sum(self.weights(self.exponent)), fraction(p), side="left")

    def sample(self, rng: np.random.Generator, n: int) -> Integers:
        """``n`` independent sizes, packets, shape (n,), int64: the exact inverse of the table, one uniform number each.

        Examples
        --------
        >>> BoundedZipf(6, 100, 1.1).sample(np.random.default_rng(1), 5).tolist()
        [10, 50, 6, 49, 8]
        """
        return self.minimum + np.searchsorted(self.table, rng.random(n), side="right")


@dataclass(frozen=True)
class BoundedPareto(PowerLaw):
    """Real sizes from minimum to maximum packets with density ~ x^-(exponent+1).

    Parameters
    ----------
    minimum, maximum : float
        Packets, 0 < minimum <= maximum <= 10^7.
    exponent : float
        Tail exponent, from -1 (uniform) to 1000.

    Examples
    --------
    >>> law = BoundedPareto.solve(minimum=1, mean=10, cov=8)
    >>> round(law.mean(), 9), round(law.cov(), 9)
    (10.0, 8.0)
    """

    def moment(self, order: int) -> float:
        """E[(X / minimum)^order]."""
        if self.minimum == self.maximum:
            return 1.0
        ratio = self.maximum / self.minimum
        return float(power_integral(self.exponent + 1 - order, ratio) / power_integral(self.exponent + 1, ratio))

    def mean_packets(self) -> float:
        """Mean of the size rounded up to whole packets: the sum of P(X > k) over k >= 0."""
        first, last = math.ceil(self.minimum), math.floor(self.maximum)
        return first + float(np.sum(1.0 - self.cdf(np.arange(first, last + 1, dtype=float))))

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        if self.minimum == self.maximum:
            return np.where(np.asarray(size) < self.minimum, 0.0, 1.0)
        ratio = np.clip(np.asarray(size, dtype=float), self.minimum, self.maximum) / self.minimum
        steep = self.exponent + 1
        return power_integral(steep, ratio) / power_integral(steep, self.maximum / self.minimum)

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet. Without range there is none: 0 everywhere."""
        size = np.asarray(size, dtype=float)
        inside = (size >= self.minimum) & (size <= self.maximum) & (self.minimum < self.maximum)
        ratio = np.where(inside, size, self.minimum) / self.minimum
        whole = self.minimum * power_integral(self.exponent + 1, self.maximum / self.minimum)
        return np.where(inside, ratio ** -(self.exponent + 1), 0.0) / (whole or 1.0)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets: from the far end, so that the rare large sizes keep their digits."""
        if self.minimum == self.maximum:
            return 1.0 - self.cdf(size)
        ratio = np.clip(np.asarray(size, dtype=float), self.minimum, self.maximum) / self.minimum
        steep, most = self.exponent + 1, self.maximum / self.minimum
        beyond: Floats = ratio ** (1 - steep) * power_integral(steep, most / ratio) / power_integral(steep, most)
        return beyond

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size], a ratio of two integrals of powers."""
        ratio = np.clip(np.asarray(size, dtype=float), self.minimum, self.maximum) / self.minimum
        if self.minimum == self.maximum:
            return self.minimum**order * self.cdf(size)
        steep, most = self.exponent + 1, self.maximum / self.minimum
        return self.minimum**order * power_integral(steep - order, ratio) / power_integral(steep, most)

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        return self.inverse(fraction(p), self.exponent)

    def mass_weighted_quantile(self, p: Floats | float) -> Floats:
        """Size, packets, up to which the flows carry the fraction ``p`` of all packets, 0 <= p <= 1."""
        return self.inverse(fraction(p), self.exponent - 1)

    def inverse(self, p: Floats, exponent: float) -> Floats:
        """Quantile ``p`` of the bounded Pareto law of this range and ``exponent``."""
        log_ratio = math.log(self.maximum / self.minimum)
        turn = -exponent * log_ratio
        if abs(turn) < 1e-9:
            return self.minimum * np.exp(p * log_ratio)
        # The logarithm of 0 (p = 1, all weight at the lower end) is the upper end.
        with np.errstate(divide="ignore"):
            growth = np.log1p(p * math.expm1(turn)) / -exponent
        return np.clip(self.minimum * np.exp(np.minimum(growth, log_ratio)), self.minimum, self.maximum)

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` independent sizes, packets, shape (n,), float64: by inversion, one uniform number each."""
        return self.quantile(rng.random(n))


@dataclass(frozen=True)
class Deterministic:
    """Every flow has the same ``size``, packets, from 1 to 10^7.

    Examples
    --------
    >>> Deterministic(10).sample(np.random.default_rng(1), 3).tolist()
    [10, 10, 10]
    """

    size: int

    def __post_init__(self) -> None:
        if not (1 <= self.size <= MAX_PACKETS and self.size == math.floor(self.size)):
            raise MayflyError(f"size = {self.size}: must be a whole number from 1 to {MAX_PACKETS} packets")

    def mean(self) -> float:
        """Mean size, packets."""
        return float(self.size)

    def mean_packets(self) -> float:
        """Mean size, packets: it is whole."""
        return float(self.size)

    def cov(self) -> float:
        """Coefficient of variation: 0."""
        return 0.0

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        return np.where(np.asarray(size) < self.size, 0.0, 1.0)

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whatever ``p``, 0 <= p <= 1."""
        return np.full_like(fraction(p), self.size)

    def sample(self, rng: np.random.Generator, n: int) -> Integers:
        """``n`` times the size, packets; takes nothing from ``rng``."""
        return np.full(n, int(self.size), dtype=np.int64)


@dataclass(frozen=True)
class Exponential:
    """Real sizes with density exp(-x / scale) / scale; ``scale`` is the mean, packets, above 0, at most 10^7.

    Examples
    --------
    >>> Exponential(10.0).cov()
    1.0
    """

    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale <= MAX_PACKETS:
            raise MayflyError(f"scale = {self.scale}: must be above 0 and at most {MAX_PACKETS} packets")

    def mean(self) -> float:
        """Mean size, packets."""
        return float(self.scale)

    def mean_packets(self) -> float:
        """Mean of the size rounded up to whole packets, which is geometric."""
        return -1.0 / math.expm1(-1.0 / self.scale)

    def cov(self) -> float:
        """Coefficient of variation: 1."""
        return 1.0

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        return -np.expm1(-np.maximum(size, 0.0) / self.scale)

    def pdf(self, size: Floats | float) -> Floats:
        """Density at ``size``, packets; 1/packet."""
        return np.where(np.asarray(size) < 0, 0.0, self.survival(size) / self.scale)

    def survival(self, size: Floats | float) -> Floats:
        """P(X > size), ``size`` in packets."""
        return np.exp(-np.maximum(size, 0.0) / self.scale)

    def partial_moment(self, order: int, size: Floats | float) -> Floats:
        """E[X^order; X <= size]: scale^k times the lower incomplete gamma function of k + 1."""
        reached = erlang_cdf(order + 1, np.maximum(size, 0.0) / self.scale)
        return self.scale**order * math.factorial(order) * reached

    def quantile(self, p: Floats | float) -> Floats:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        return -self.scale * np.log1p(-fraction(p))

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` independent sizes, packets, shape (n,), float64: by inversion, one uniform number each."""
        return self.quantile(rng.random(n))


def wired() -> BoundedZipf:
    """Solve the law of the wired scenario: minimum 6, mean 40, CoV 6.

    Chen 2012, 4.4.2, also asks for a maximum of 10 MB (6849 packets), which makes the CoV 4.84; minimum, mean and CoV
    are kept here, since they reproduce the class means of Table 4.2.

    Examples
    --------
    >>> law = wired()
    >>> f"{law.minimum} to {law.maximum} packets, mean {law.mean():.2f}, CoV {law.cov():.3f}"
    '6 to 12121 packets, mean 40.00, CoV 6.000'
    """
    return BoundedZipf.solve(minimum=6, mean=40, cov=6)


def fraction(p: Floats | float) -> Floats:
    """``p`` as an array, each from 0 to 1."""
    p = np.asarray(p, dtype=float)
    if not np.all((p >= 0) & (p <= 1)):
        raise MayflyError(f"p = {p}: must be from 0 to 1")
    return p


def power_integral(steep: float, ratio: Floats | float) -> Floats:
    """Integral of x^-steep from 1 to ``ratio``."""
    log_ratio: Floats = np.log(ratio)
    turn = (1 - steep) * log_ratio
    small = np.abs(turn) < 1e-8
    safe = np.where(small, 1.0, turn)
    return log_ratio * np.where(small, 1 + turn / 2, np.expm1(safe) / safe)


def power_sum(steep: float, first: int, last: int) -> float:
    """Sum of (k / first)^-steep over k = first..last: the first terms one by one, the rest by Euler-Maclaurin.

    Examples
    --------
    >>> abs(power_sum(2.0, 1, 10**7) - (np.pi**2 / 6 - 1e-7)) < 1e-13
    True
    """
    # What the formula leaves out is below 1e-12 from 30 times the steepness on; terms below 1e-20 do not count.
    negligible = first * math.expm1(min(46 / max(steep, 1e-9), 20))
    head = min(last, first + 64 + math.ceil(min(30 * abs(steep), negligible)))
    total = float(np.sum((np.arange(first, head) / first) ** -steep))
    edges: list[float] = [(head / first) ** -steep, (last / first) ** -steep]
    total += edges[0] * head * float(power_integral(steep, last / head)) + sum(edges) / 2
    # B2/2! = 1/12 and B4/4! = -1/720, times the difference of the first and third derivatives.
    rise = edges[1] / last - edges[0] / head
    bend = (edges[1] / last**3 - edges[0] / head**3) * (steep + 1) * (steep + 2)
    return total - steep * rise / 12 + steep * bend / 720


def normalised_sum(weights: Floats) -> Floats:
    """Sum ``weights`` up and divide by their sum; ends in 1."""
    cumulative = np.cumsum(weights)
    shares: Floats = cumulative / cumulative[-1]
    return shares
