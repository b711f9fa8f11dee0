"""Laws of a workload file: fitted ones, cut at the largest measured value, and measured ones.

Principle: everything is drawn by inversion, one uniform number a value. A fitted law is conditioned on values up to its
``maximum``: laws with a heavy tail keep a mean, and nothing is drawn that was not seen.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from mayfly.arrays import Floats, Numbers
from mayfly.fields import Section
from mayfly.profile.laws import LAWS

FINE = 20_001
"""Points of the grid on which a fitted law is integrated."""

LEAST = 1e-9
"""First point of that grid, over the maximum."""

Share = Annotated[float, Field(ge=0, le=1)]
Above = Annotated[float, Field(gt=0)]


class Measured(Section):
    """Values as they were measured, each step as likely as its weight."""

    law: Literal["empirical"] = "empirical"
    values: list[Annotated[float, Field(ge=0)]] = Field(min_length=1, description="ascending")
    weights: list[Above] = Field(min_length=1, description="how many measured values each stands for")

    @model_validator(mode="after")
    def _match(self) -> Measured:
        if len(self.values) != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights: must be as many as the {len(self.values)} values")
        if (np.diff(self.values) <= 0).any():
            raise ValueError("values: must ascend")
        return self

    @cached_property
    def _shares(self) -> Floats:
        shares = np.cumsum(self.weights) / np.sum(self.weights)
        return np.append(shares[:-1], 1.0)

    def mean(self) -> float:
        """Mean of the law."""
        return float(np.average(self.values, weights=self.weights))

    def square(self) -> float:
        """Mean of the squares."""
        return float(np.average(np.square(self.values), weights=self.weights))

    def sf(self, x: Numbers) -> Floats:
        """Probability of more than ``x``."""
        below = np.searchsorted(np.asarray(self.values), np.asarray(x, dtype=float), side="right")
        return 1 - np.concatenate([[0.0], self._shares])[below]

    def quantile(self, u: Floats) -> Floats:
        """Values of uniform numbers in (0, 1]."""
        return np.asarray(self.values)[np.searchsorted(self._shares, u, side="left")]

    def residual(self, u: Floats) -> Floats:
        """Times to the next arrival from a moment at random, of uniform numbers in (0, 1]."""
        values = np.concatenate([[0.0], self.values])
        reached = np.concatenate([[0.0], np.cumsum(np.diff(values) * (1 - np.append(0.0, self._shares[:-1])))])
        result: Floats = np.interp(u * reached[-1], reached, values)
        return result


class Fitted(Section):
    """A law fitted to what was measured, given that a value is at most ``maximum``."""

    law: Literal["exponential", "lognormal", "weibull", "pareto", "two exponentials", "two lognormals"]
    parameters: dict[str, float] = Field(description="as mayfly profile names them, in the unit of the values")
    maximum: Above = Field(description="largest measured value")
    zero: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="share of the values that are 0")
    ks: Share | None = Field(None, description="distance between law and measured values, Kolmogorov and Smirnov")

    @model_validator(mode="after")
    def _makes_sense(self) -> Fitted:
        try:
            reached = float(self._distribution.cdf(self.maximum))
        except (KeyError, ValueError, ZeroDivisionError, OverflowError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"parameters of {self.law}: {what}") from None
        if not 0 < reached <= 1:
            raise ValueError(f"parameters of {self.law}: must allow for values up to the maximum, {self.maximum:g}")
        return self

    @cached_property
    def _distribution(self) -> Any:
        return LAWS[self.law].distribution(self.parameters)

    @cached_property
    def _reached(self) -> float:
        return float(self._distribution.cdf(self.maximum))

    @cached_property
    def _grid(self) -> tuple[Floats, Floats, Floats]:
        """Points, probability of more, and its integral up to them."""
        x = np.concatenate([[0.0], np.geomspace(LEAST * self.maximum, self.maximum, FINE)])
        more = self.sf(x)
        return x, more, np.concatenate([[0.0], np.cumsum(np.diff(x) * (more[1:] + more[:-1]) / 2)])

    def mean(self) -> float:
        """Mean of the law: the integral of the probability of more."""
        return float(self._grid[2][-1])

    def square(self) -> float:
        """Mean of the squares."""
        x, more, _ = self._grid
        return float((np.diff(x**2) * (more[1:] + more[:-1]) / 2).sum())

    def sf(self, x: Numbers) -> Floats:
        """Probability of more than ``x``."""
        up_to = np.clip(self._distribution.cdf(np.asarray(x, dtype=float)) / self._reached, 0, 1)
        result: Floats = (1 - self.zero) * (1 - up_to)
        return result

    def quantile(self, u: Floats) -> Floats:
        """Values of uniform numbers in (0, 1]."""
        u = np.asarray(u, dtype=float)
        above = np.clip((u - self.zero) / (1 - self.zero), 0, 1)
        drawn = np.minimum(self._distribution.ppf(np.where(u > self.zero, above, 0.5) * self._reached), self.maximum)
        return np.where(u > self.zero, drawn, 0.0)

    def residual(self, u: Floats) -> Floats:
        """Times to the next arrival from a moment at random, of uniform numbers in (0, 1]."""
        x, _, integral = self._grid
        result: Floats = np.interp(np.asarray(u) * integral[-1], integral, x)
        return result


Values = Annotated[Measured | Fitted, Field(discriminator="law")]
"""A law in a workload file."""


def cov(law: Measured | Fitted) -> float:
    """Coefficient of variation."""
    mean = law.mean()
    return math.sqrt(max(law.square() - mean**2, 0.0)) / mean


def measured(values: Floats, points: int) -> Measured:
    """The law of values, of at most so many steps; its mean is theirs.

    Parameters
    ----------
    values : array_like, shape (n,)
        From 0 on, at least one.
    points : int
        Most steps, at least 2.

    Returns
    -------
    Measured
        Every different value a step where there are no more. Otherwise the largest ``points / 2`` keep theirs, and
        the others are joined to groups of equally many, each of which stands at its mean.

    Examples
    --------
    >>> measured([5.0, 1.0, 1.0], 10).model_dump()
    {'law': 'empirical', 'values': [1.0, 5.0], 'weights': [2.0, 1.0]}
    >>> few = measured(np.arange(1.0, 101.0), 10)
    >>> len(few.values), few.mean(), few.values[-1]
    (10, 50.5, 100.0)
    """
    steps, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    if len(steps) > points:
        kept = points // 2
        groups = np.array_split(np.repeat(steps[:-kept], counts[:-kept]), points - kept)
        # Groups of one value each share its mean: they are one step.
        means, which = np.unique([float(group.mean()) for group in groups], return_inverse=True)
        sizes = np.bincount(which, weights=[len(group) for group in groups])
        steps, counts = np.concatenate([means, steps[-kept:]]), np.concatenate([sizes, counts[-kept:]])
    return Measured(values=steps.tolist(), weights=[float(count) for count in counts])


def fitted(values: Floats, points: int) -> Measured | Fitted:
    """The law that fits best by AIC; the measured one of fewer than eight values above 0, or of equal ones.

    Parameters
    ----------
    values : array_like, shape (n,)
        From 0 on, at least one; zeros become the share ``zero``.
    points : int
        As for :func:`measured`.

    Returns
    -------
    Measured or Fitted

    Examples
    --------
    >>> law = fitted(np.random.default_rng(1).lognormal(3.0, 1.5, 400), 100)
    >>> law.law, round(law.parameters["mu"], 2), round(law.ks, 2)
    ('lognormal', 2.88, 0.04)
    """
    from mayfly.profile.answer import FEWEST
    from mayfly.profile.fitting import fits_of

    values = np.asarray(values, dtype=float)
    above = values[values > 0]
    if len(above) < FEWEST or above.min() == above.max():
        return measured(values, points)
    best = fits_of(above, bootstrap=0)[0]
    return Fitted(
        law=best.law,
        parameters=best.parameters,
        maximum=float(above.max()),
        zero=1 - len(above) / len(values),
        ks=best.ks,
    )
