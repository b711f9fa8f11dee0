"""Laws that are fitted to a profile, by likelihood: exponential, lognormal, Weibull, Pareto and two mixtures.

Principle: exponential, lognormal and Weibull are those of :mod:`mayfly.laws.interarrival`. The Pareto law is that of
the smallest value and an exponent; the mixtures, of two exponentials and of two lognormals, are fitted by expectation
maximisation (Dempster, Laird and Rubin 1977) from the two halves of the ordered values. Values are in units of their
mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws import interarrival
from mayfly.laws.families import Exponential, Family, Lognormal, Pareto

NARROWEST = 0.01
"""Least deviation of a lognormal of the mixture over that of all logarithms.

Without a bound a component that shrinks onto one value makes the likelihood infinite (Hathaway 1985).
"""

TINY = 1e-300
"""Least mean of an exponential law."""

ROUNDS = 500
"""Most rounds of expectation maximisation."""

LEAST_SHARE = 1e-9
"""Least weight of a part of a mixture: one that no value belongs to keeps its place."""

SETTLED = 1e-8
"""Gain of log-likelihood per value at which the rounds end."""


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
        pairs = zip(self.weights, self.parts, strict=True)
        result: Floats = np.sum([weight * getattr(part, name)(x) for weight, part in pairs], axis=0)
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
            low, high = np.where(below, middle, low), np.where(below, high, middle)
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
        Parameters that maximise the likelihood of ordered values of mean 1; takes a start, or None.
    distribution : callable
        From parameters to an object with ``cdf, sf, logpdf, ppf, rvs, mean``.
    scaled : callable
        A parameter by name and value, and a unit: the parameter of values in the unit's own unit.
    """

    fit: Callable[[Floats, Parameters | None], Parameters]
    distribution: Callable[[Mapping[str, float]], Family]
    scaled: Callable[[str, float, float], float]


def _of_gaps(name: str) -> Law:
    return Law(
        lambda values, _: interarrival.BY_LIKELIHOOD[name](values),
        lambda parameters: interarrival.distribution(name, parameters),
        interarrival.scaled,
    )


def _pareto(values: Floats, _: Parameters | None) -> Parameters:
    least = float(values[0])
    total = float(np.log(values / least).sum())
    if not 0 < total < math.inf:
        raise MayflyError(
            "pareto: its exponent has no bound: the values are equal to their last digit, or spread too far"
        )
    return {"minimum": least, "exponent": len(values) / total}


def _pareto_law(parameters: Mapping[str, float]) -> Family:
    return Pareto(**parameters)


def _two_exponentials(values: Floats, start: Parameters | None) -> Parameters:
    half = len(values) // 2
    means = np.array([values[:half].mean(), values[half:].mean()])
    weights = np.array([0.5, 0.5])
    if start is not None:
        means, weights = (
            np.array([start["mean_1"], start["mean_2"]]),
            np.array([start["share_1"], 1 - start["share_1"]]),
        )
    before = -math.inf
    for _round in range(ROUNDS):
        logs = np.log(weights)[:, None] - np.log(means)[:, None] - values / means[:, None]
        whole = np.logaddexp.reduce(logs)
        belong = np.exp(logs - whole)
        counts = np.maximum(belong.sum(axis=1), LEAST_SHARE * len(values))
        means, weights = np.maximum(belong @ values / counts, TINY), counts / counts.sum()
        likelihood = float(whole.mean())
        if likelihood - before < SETTLED:
            break
        before = likelihood
    first = int(np.argmin(means))
    return {"share_1": float(weights[first]), "mean_1": float(means[first]), "mean_2": float(means[1 - first])}


def _two_exponentials_law(parameters: Mapping[str, float]) -> Mixture:
    share = parameters["share_1"]
    parts = tuple(Exponential(parameters[f"mean_{part}"]) for part in (1, 2))
    return Mixture((share, 1 - share), parts)


def _two_lognormals(values: Floats, start: Parameters | None) -> Parameters:
    logs = np.log(values)
    least = (NARROWEST * logs.std()) ** 2
    halves = np.array_split(logs, 2)
    mus, squares = (np.array([function(half) for half in halves]) for function in (np.mean, np.var))
    weights = np.array([0.5, 0.5])
    if start is not None:
        mus = np.array([start["mu_1"], start["mu_2"]])
        squares = np.array([start["sigma_1"], start["sigma_2"]]) ** 2
        weights = np.array([start["share_1"], 1 - start["share_1"]])
    squares = np.maximum(squares, least)
    before = -math.inf
    for _round in range(ROUNDS):
        away = logs - mus[:, None]
        densities = (
            np.log(weights)[:, None] - 0.5 * np.log(2 * np.pi * squares)[:, None] - away**2 / (2 * squares)[:, None]
        )
        whole = np.logaddexp.reduce(densities)
        belong = np.exp(densities - whole)
        counts = np.maximum(belong.sum(axis=1), LEAST_SHARE * len(logs))
        weights, mus = counts / counts.sum(), belong @ logs / counts
        squares = np.maximum((belong * (logs - mus[:, None]) ** 2).sum(axis=1) / counts, least)
        likelihood = float(whole.mean())
        if likelihood - before < SETTLED:
            break
        before = likelihood
    first = int(np.argmin(mus))
    found = {"share_1": float(weights[first])}
    for part, place in ((1, first), (2, 1 - first)):
        found |= {f"mu_{part}": float(mus[place]), f"sigma_{part}": math.sqrt(squares[place])}
    return found


def _two_lognormals_law(parameters: Mapping[str, float]) -> Mixture:
    share = parameters["share_1"]
    parts = tuple(Lognormal(parameters[f"mu_{part}"], parameters[f"sigma_{part}"]) for part in (1, 2))
    return Mixture((share, 1 - share), parts)


def _scaled(name: str, value: float, unit: float) -> float:
    if name.startswith("mu_"):
        return value + math.log(unit)
    return value * unit if name.startswith(("mean_", "minimum")) else value


LAWS = {
    **{name: _of_gaps(name) for name in interarrival.LAWS},
    "pareto": Law(_pareto, _pareto_law, _scaled),
    "two exponentials": Law(_two_exponentials, _two_exponentials_law, _scaled),
    "two lognormals": Law(_two_lognormals, _two_lognormals_law, _scaled),
}
"""What is fitted, by name."""
