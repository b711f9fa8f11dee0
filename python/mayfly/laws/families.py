"""Exponential, lognormal, Weibull and Pareto laws of positive values, in closed form.

Principle: the families of ``scipy.stats`` check their arguments at each call, which costs more than the formulas where
a law is fitted a hundred times to samples of itself, and take long to import. Values drawn from a generator are
those that ``scipy.stats`` draws from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mayfly.arrays import Floats


class Family(Protocol):
    """A law of values above 0; arrays in, arrays of their shape out."""

    def cdf(self, x: Floats) -> Floats:
        """Probability of at most ``x``."""

    def sf(self, x: Floats) -> Floats:
        """Probability of more than ``x``."""

    def logpdf(self, x: Floats) -> Floats:
        """Logarithm of the density."""

    def ppf(self, p: Floats) -> Floats:
        """Quantiles at probabilities from 0 to 1."""

    def mean(self) -> float:
        """Mean; infinite where there is none."""

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        """Draw values."""


@dataclass(frozen=True)
class Exponential:
    """``exp(-x / scale)`` lies above x."""

    scale: float

    def cdf(self, x: Floats) -> Floats:
        return -np.expm1(-np.maximum(x, 0) / self.scale)

    def sf(self, x: Floats) -> Floats:
        return np.exp(-np.maximum(x, 0) / self.scale)

    def logpdf(self, x: Floats) -> Floats:
        return np.where(np.less(x, 0), -np.inf, -np.asarray(x) / self.scale - math.log(self.scale))

    def ppf(self, p: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return -np.log1p(-np.asarray(p)) * self.scale

    def mean(self) -> float:
        return self.scale

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return random_state.standard_exponential(size) * self.scale


@dataclass(frozen=True)
class Lognormal:
    """Logarithms are normal, of mean ``mu`` and deviation ``sigma``."""

    mu: float
    sigma: float

    def _reduced(self, x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return (np.log(np.maximum(x, 0)) - self.mu) / self.sigma

    def cdf(self, x: Floats) -> Floats:
        from scipy.special import ndtr

        return ndtr(self._reduced(x))

    def sf(self, x: Floats) -> Floats:
        from scipy.special import ndtr

        return ndtr(-self._reduced(x))

    def logpdf(self, x: Floats) -> Floats:
        reduced = self._reduced(x)
        inside = np.isfinite(reduced)
        logs = np.where(inside, reduced * self.sigma + self.mu, 0)
        densities = -(np.where(inside, reduced, 0) ** 2) / 2 - logs - math.log(self.sigma * math.sqrt(2 * math.pi))
        return np.where(inside, densities, -np.inf)

    def ppf(self, p: Floats) -> Floats:
        from scipy.special import ndtri

        return np.exp(self.mu + self.sigma * ndtri(p))

    def mean(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(self.mu + self.sigma**2 / 2))

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return np.exp(self.mu + self.sigma * random_state.standard_normal(size))


@dataclass(frozen=True)
class Weibull:
    """``exp(-(x / scale)^shape)`` lies above x."""

    shape: float
    scale: float

    def _power(self, x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return (np.maximum(x, 0) / self.scale) ** self.shape

    def cdf(self, x: Floats) -> Floats:
        return -np.expm1(-self._power(x))

    def sf(self, x: Floats) -> Floats:
        return np.exp(-self._power(x))

    def logpdf(self, x: Floats) -> Floats:
        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(x / self.scale)
            rest = np.where((x == 0) & (self.shape == 1), 0.0, (self.shape - 1) * logs)
            return np.where(x < 0, -np.inf, math.log(self.shape / self.scale) + rest - self._power(x))

    def ppf(self, p: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return (-np.log1p(-np.asarray(p))) ** (1 / self.shape) * self.scale

    def mean(self) -> float:
        try:
            return self.scale * math.gamma(1 + 1 / self.shape)
        except OverflowError:
            return math.inf

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return self.ppf(random_state.uniform(size=size))


@dataclass(frozen=True)
class Pareto:
    """``(minimum / x)^exponent`` lies above x, from ``minimum`` on."""

    exponent: float
    minimum: float

    def _logs(self, x: Floats) -> Floats:
        return np.log(np.maximum(x, self.minimum) / self.minimum)

    def cdf(self, x: Floats) -> Floats:
        return -np.expm1(-self.exponent * self._logs(x))

    def sf(self, x: Floats) -> Floats:
        return np.exp(-self.exponent * self._logs(x))

    def logpdf(self, x: Floats) -> Floats:
        densities = math.log(self.exponent / self.minimum) - (self.exponent + 1) * self._logs(x)
        return np.where(np.less(x, self.minimum), -np.inf, densities)

    def ppf(self, p: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return self.minimum * (1 - np.asarray(p)) ** (-1 / self.exponent)

    def mean(self) -> float:
        return self.minimum * self.exponent / (self.exponent - 1) if self.exponent > 1 else math.inf

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return self.ppf(random_state.uniform(size=size))
