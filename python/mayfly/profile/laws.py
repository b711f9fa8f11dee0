"""Laws that are fitted to a profile, by likelihood: exponential, lognormal, Weibull, Pareto and two mixtures.

Principle: exponential, lognormal and Weibull are those of :mod:`mayfly.laws.interarrival`. The Pareto law is that of
the smallest value and an exponent; the mixtures, of two exponentials and of two lognormals, are fitted by expectation
maximisation (Dempster, Laird and Rubin 1977) from the two halves of the ordered values. Values are in units of their
mean. The crate ``laws`` fits; here is what is asked of a law that was fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mayfly import _native
from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws import interarrival
from mayfly.laws.families import Exponential, Family, Lognormal, Pareto
from mayfly.text.files import first_line


@dataclass(frozen=True)
class Logarithms(Lognormal):
    """A lognormal law that does without ``scipy`` and the time to import it, for the quantiles of a plot."""

    def cdf(self, x: Floats) -> Floats:
        """Probability of at most ``x``."""
        reduced = np.asarray(self._reduced(x))
        return np.reshape(_native.normal_probabilities(np.ascontiguousarray(reduced)), reduced.shape)

    def ppf(self, p: Floats) -> Floats:
        """Quantiles."""
        flat = np.ascontiguousarray(p, dtype=float)
        return np.exp(self.mu + self.sigma * np.reshape(_native.normal_quantiles(flat), flat.shape))


@dataclass(frozen=True)
class Mixture:
    """Two laws, one of which is drawn for each value.

    Parameters
    ----------
    weights : tuple of float
        Probabilities, of sum 1.
    parts : tuple of Family
        The laws.
    """

    weights: tuple[float, ...]
    parts: tuple[Family, ...]

    def _sum(self, name: str, x: Floats) -> Floats:
        first, *rest = (weight * getattr(part, name)(x) for weight, part in zip(self.weights, self.parts, strict=True))
        result: Floats = sum(rest, first)
        return result

    def cdf(self, x: Floats) -> Floats:
        """Probability of at most ``x``."""
        return self._sum("cdf", x)

    def sf(self, x: Floats) -> Floats:
        """Probability of more than ``x``."""
        return self._sum("sf", x)

    def logpdf(self, x: Floats) -> Floats:
        """Logarithm of the density."""
        pairs = zip(self.weights, self.parts, strict=True)
        result: Floats = np.logaddexp.reduce([math.log(weight) + part.logpdf(x) for weight, part in pairs])
        return result

    def mean(self) -> float:
        """Mean of the law."""
        return sum(weight * float(part.mean()) for weight, part in zip(self.weights, self.parts, strict=True))

    def ppf(self, p: Floats) -> Floats:
        """Quantiles, by bisection between those of the parts."""
        p = np.asarray(p, dtype=float)
        ends = np.array([part.ppf(p) for part in self.parts])
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(200):
            middle = (low + high) / 2
            below = self.cdf(middle) < p
            before = low, high
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            # Neighbours: no further round changes them.
            if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
                break
        result: Floats = (low + high) / 2
        return result

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        """Draw values."""
        which = random_state.random(size) < self.weights[0]
        drawn = [part.rvs(size=size, random_state=random_state) for part in self.parts]
        return np.where(which, *drawn)


Parameters = dict[str, float]


@dataclass(frozen=True)
class Law:
    """A kind of law.

    Parameters
    ----------
    fit : callable
        Parameters that maximise the likelihood of ordered values of mean 1.
    distribution : callable
        From parameters to an object with ``cdf, sf, logpdf, ppf, rvs, mean``.
    scaled : callable
        A parameter by name and value, and a unit: the parameter of values in the unit's own unit.
    """

    fit: Callable[[Floats], Parameters]
    distribution: Callable[[Mapping[str, float]], Family]
    scaled: Callable[[str, float, float], float]


def _fit(name: str) -> Callable[[Floats], Parameters]:
    def fit(values: Floats) -> Parameters:
        try:
            return dict(_native.fit_law(name, values))
        except ValueError as error:
            raise MayflyError(first_line(error)) from None

    return fit


def _of_gaps(name: str) -> Law:
    return Law(_fit(name), lambda parameters: _family(name, parameters), interarrival.scaled)


def _family(name: str, parameters: Mapping[str, float]) -> Family:
    return Logarithms(**parameters) if name == "lognormal" else interarrival.distribution(name, parameters)


def _pareto_law(parameters: Mapping[str, float]) -> Family:
    return Pareto(**parameters)


def _two_exponentials_law(parameters: Mapping[str, float]) -> Mixture:
    share = parameters["share_1"]
    parts = tuple(Exponential(parameters[f"mean_{part}"]) for part in (1, 2))
    return Mixture((share, 1 - share), parts)


def _two_lognormals_law(parameters: Mapping[str, float]) -> Mixture:
    share = parameters["share_1"]
    parts = tuple(Logarithms(parameters[f"mu_{part}"], parameters[f"sigma_{part}"]) for part in (1, 2))
    return Mixture((share, 1 - share), parts)


def _scaled(name: str, value: float, unit: float) -> float:
    if name.startswith("mu_"):
        return value + math.log(unit)
    return value * unit if name.startswith(("mean_", "minimum")) else value


LAWS = {
    **{name: _of_gaps(name) for name in interarrival.LAWS},
    "pareto": Law(_fit("pareto"), _pareto_law, _scaled),
    "two exponentials": Law(_fit("two exponentials"), _two_exponentials_law, _scaled),
    "two lognormals": Law(_fit("two lognormals"), _two_lognormals_law, _scaled),
}
"""What is fitted, by name."""
