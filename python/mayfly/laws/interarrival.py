"""Laws of the times between arrivals: exponential, lognormal and Weibull, fitted by mean or by likelihood.

Source: Chen 2012, 5.3.1 and Fig. 5.15, which fits laws of the measured mean to the arrivals of sub-flows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mayfly.arrays import Floats, quantiles
from mayfly.errors import MayflyError
from mayfly.laws.families import Exponential, Family, Lognormal, Weibull
from mayfly.laws.solving import root

LAWS = ("exponential", "lognormal", "weibull")
"""What is fitted."""

SHAPES = (0.01, 100.0)
"""Shapes of the Weibull law that are searched."""


@dataclass(frozen=True)
class Fit:
    """A law fitted to gaps.

    Parameters
    ----------
    law : str
        One of :data:`LAWS`.
    by : str
        ``likelihood``: all parameters maximise it; ``mean``: those that are left once the mean is that of the gaps.
    parameters : dict of float
        ``mean``; ``mu`` and ``sigma`` of the logarithms; ``shape`` and ``scale``.
    mean : float
        Of the law.
    log_likelihood : float
        Of the gaps.
    aic : float
        2 parameters - 2 log-likelihood (Akaike 1974); the mean held fixed is a parameter taken from the gaps too.
    ks : float
        Largest distance between the distribution functions of gaps and law (Kolmogorov).
    """

    law: str
    by: str
    parameters: dict[str, float]
    mean: float
    log_likelihood: float
    aic: float
    ks: float
    distribution: Family = field(repr=False, compare=False)

    def quantiles(self, p: Floats | Sequence[float]) -> Floats:
        """Quantiles of the law: the abscissae of a QQ plot."""
        return self.distribution.ppf(np.asarray(p, dtype=float))


def fits(gaps: Floats | Sequence[float]) -> list[Fit]:
    """Fit every law in both ways.

    Parameters
    ----------
    gaps : array_like, shape (n,)
        Times above 0, at least two different ones.

    Returns
    -------
    list of Fit
        Exponential, lognormal and Weibull by mean, then lognormal and Weibull by likelihood; the exponential law is the
        same either way.

    Raises
    ------
    MayflyError
        Too few gaps, or one that is not above 0.

    Notes
    -----
    With d = log(gap / mean) a lognormal law of the mean of the gaps has mu = log(mean) - sigma^2 / 2, and its
    likelihood is largest for sigma^2 = 2 sqrt(1 + E[d^2]) - 2. The shape k of the Weibull law solves
    E[g^k log g] / E[g^k] - 1 / k = E[log g]; with the mean fixed the scale is mean / Gamma(1 + 1 / k) and the
    likelihood is searched over k.

    Examples
    --------
    >>> [f"{fit.law} {fit.ks:.3f}" for fit in fits([1.0, 2.0, 4.0])][:2]
    ['exponential 0.349', 'lognormal 0.225']
    """
    gaps = np.asarray(gaps, dtype=float).ravel()
    if wrong := gaps[~((gaps > 0) & np.isfinite(gaps))].tolist():
        raise MayflyError(f"gap = {wrong[0]}: must be above 0")
    if len(gaps) < 2 or gaps.min() == gaps.max():
        raise MayflyError(f"{len(gaps)} gaps: must be at least two different ones")
    # In units of their mean: powers neither overflow nor vanish.
    unit = float(gaps.mean())
    ordered = np.sort(gaps / unit)
    ways: list[tuple[str, str, Callable[[Floats], dict[str, float]]]] = [
        ("exponential", "mean", _exponential),
        ("lognormal", "mean", _lognormal_of_mean),
        ("weibull", "mean", _weibull_of_mean),
        ("lognormal", "likelihood", _lognormal),
        ("weibull", "likelihood", _weibull),
    ]
    return [_judged(law, by, way(ordered), ordered, unit) for law, by, way in ways]


def _judged(law: str, by: str, parameters: dict[str, float], ordered: Floats, unit: float) -> Fit:
    found = distribution(law, parameters)
    n = len(ordered)
    log_likelihood = float(found.logpdf(ordered).sum()) - n * math.log(unit)
    reached = found.cdf(ordered)
    distance = max(float((np.arange(1, n + 1) / n - reached).max()), float((reached - np.arange(n) / n).max()))
    whole = {name: scaled(name, value, unit) for name, value in parameters.items()}
    final = distribution(law, whole)
    aic = 2 * len(parameters) - 2 * log_likelihood
    return Fit(law, by, whole, float(final.mean()), log_likelihood, aic, distance, final)


def scaled(name: str, value: float, unit: float) -> float:
    """A parameter of the law of values in units, as one of the values themselves."""
    if name == "mu":
        return value + math.log(unit)
    return value * unit if name in ("mean", "scale") else value


def distribution(law: str, parameters: Mapping[str, float]) -> Family:
    """The law as a distribution; parameters as in :class:`Fit`."""
    if law == "exponential":
        return Exponential(parameters["mean"])
    makers: dict[str, Callable[..., Family]] = {"lognormal": Lognormal, "weibull": Weibull}
    return makers[law](**parameters)


def _exponential(gaps: Floats) -> dict[str, float]:
    return {"mean": 1.0}


def _lognormal(gaps: Floats) -> dict[str, float]:
    logs = np.log(gaps)
    return {"mu": float(logs.mean()), "sigma": float(logs.std())}


def _lognormal_of_mean(gaps: Floats) -> dict[str, float]:
    square = 2 * math.sqrt(1 + float((np.log(gaps) ** 2).mean())) - 2
    return {"mu": -square / 2, "sigma": math.sqrt(square)}


def _weibull(gaps: Floats) -> dict[str, float]:
    logs = np.log(gaps)

    def slope(log_shape: float) -> float:
        shape = math.exp(log_shape)
        weights = np.exp(shape * (logs - logs.max()))
        return float((weights @ logs) / weights.sum()) - 1 / shape - float(logs.mean())

    low, high = map(math.log, SHAPES)
    try:
        shape = math.exp(root(slope, low, high, within=1e-12))
    except ValueError:
        beyond = "above" if slope(high) < 0 else "below"
        why = "the values are nearly equal" if beyond == "above" else "the values spread too far"
        raise MayflyError(f"weibull: its shape would be {beyond} {SHAPES[beyond == 'above']:g}: {why}") from None
    scale = float(np.exp(logs.max()) * np.exp(shape * (logs - logs.max())).mean() ** (1 / shape))
    return {"shape": shape, "scale": scale}


def _weibull_of_mean(gaps: Floats) -> dict[str, float]:
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    logs = np.log(gaps)

    def loss(log_shape: float) -> float:
        shape = math.exp(log_shape)
        reduced = logs + gammaln(1 + 1 / shape)
        with np.errstate(over="ignore"):
            return (
                float(np.exp(shape * reduced).mean() - (shape - 1) * reduced.mean())
                - log_shape
                - gammaln(1 + 1 / shape)
            )

    bounds = (math.log(SHAPES[0]), math.log(SHAPES[1]))
    shape = math.exp(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x)
    return {"shape": shape, "scale": math.exp(-gammaln(1 + 1 / shape))}


BY_LIKELIHOOD = {"exponential": _exponential, "lognormal": _lognormal, "weibull": _weibull}
"""The parameters that make the likelihood largest, of values above 0 whose mean is 1."""


class Fitted(Protocol):
    """What has quantiles."""

    def quantiles(self, p: Floats | Sequence[float]) -> Floats:
        """Quantiles of the law."""


def quantile_pairs(fit: Fitted, gaps: Floats | Sequence[float], points: int = 99) -> tuple[Floats, Floats]:
    """Quantiles of law and gaps at the same probabilities: a QQ plot.

    Parameters
    ----------
    fit : Fitted
        The law.
    gaps : array_like, shape (n,)
        Measured.
    points : int
        How many, at the probabilities i / (points + 1).

    Returns
    -------
    law, measured : numpy.ndarray, shape (points,)
        In the unit of the gaps.

    Examples
    --------
    >>> law, measured = quantile_pairs(fits([1.0, 2.0, 4.0])[0], [1.0, 2.0, 4.0], 1)
    >>> law.round(3).tolist(), measured.tolist()
    ([1.617], [2.0])
    """
    p, measured = quantiles_at(gaps, points)
    return fit.quantiles(p), measured


def quantiles_at(gaps: Floats | Sequence[float], points: int) -> tuple[Floats, Floats]:
    """The probabilities of :func:`quantile_pairs`, and what is measured at them, each of shape (points,)."""
    p = np.arange(1, points + 1) / (points + 1)
    return p, quantiles(np.asarray(gaps, dtype=float), p)
