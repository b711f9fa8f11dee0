"""Which law fits: likelihood, AIC, Kolmogorov-Smirnov and Anderson-Darling with p by parametric bootstrap.

Principle: the tables of both tests hold for a law fixed beforehand, not for one fitted to the same values. So samples
are drawn from the fitted law, the law is fitted to each of them again, and p is the share of them that lie at least as
far away (Stute, Gonzalez Manteiga and Presedo Quindimil 1993).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mayfly import _native
from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.interarrival import quantiles_at
from mayfly.profile.laws import LAWS
from mayfly.text.files import first_line

BOOTSTRAP = 99
"""Samples drawn for p: it is known to 1 / 100."""

MOST = 1000
"""Values that are tested; of more, these many drawn without replacement.

With a large sample the test rejects every law, so it does not show which one is near.
"""

EQUAL = 1e-9
"""Difference of values, as a share of them, below which they are equal: what a float holds of a time in a capture."""


@dataclass(frozen=True)
class Fit:
    """A law fitted to values.

    Parameters
    ----------
    law : str
        One of :data:`mayfly.profile.laws.LAWS`.
    parameters : dict of float
        In the unit of the values.
    mean : float or None
        Of the law; None where it has none.
    log_likelihood, aic : float
        Of all values; AIC is 2 parameters - 2 log-likelihood (Akaike 1974).
    ks, ad : float
        Distance of Kolmogorov and Smirnov, statistic of Anderson and Darling, of all values.
    ks_p, ad_p : float or None
        By bootstrap, on at most :data:`MOST` values; None when none was asked for.
    tested : int
        How many values p is of.
    """

    law: str
    parameters: dict[str, float]
    mean: float | None
    log_likelihood: float
    aic: float
    ks: float
    ad: float
    ks_p: float | None
    ad_p: float | None
    tested: int
    distribution: Any = field(repr=False, compare=False)

    def quantiles(self, p: Floats | Sequence[float]) -> Floats:
        """Quantiles of the law."""
        return np.asarray(self.distribution.ppf(np.asarray(p, dtype=float)))


def differ(values: Floats) -> bool:
    """Whether there are two values that differ by more than :data:`EQUAL`; none is below 0."""
    return len(values) > 0 and float(values.max()) > float(values.min()) * (1 + EQUAL)


def fits_of(
    values: Floats | Sequence[float],
    *,
    bootstrap: int = BOOTSTRAP,
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
    not_fitted: dict[str, str] | None = None,
) -> list[Fit]:
    """Fit every law that can be, the best by AIC first.

    Parameters
    ----------
    values : array_like, shape (n,)
        Above 0, at least eight, two of them different.
    bootstrap : int
        Samples for p, from 0.
    seed : int
        Of the samples.
    progress : callable, optional
        Called with the fraction done.
    not_fitted : dict of str, optional
        Gets the reason of each law that cannot be fitted, such as a Weibull law to values that are nearly equal.

    Returns
    -------
    list of Fit

    Raises
    ------
    MayflyError
        Too few values, one that is not above 0, or a negative ``bootstrap`` or ``seed``.

    Notes
    -----
    The Pareto law has its minimum at the smallest value, where the statistic of Anderson and Darling is infinite: that
    one value is left out of the statistic, here and in the samples. Sizes are whole bytes and often equal: a law
    without steps is then rejected for the steps.

    Examples
    --------
    >>> drawn = np.random.default_rng(1).lognormal(3.0, 1.5, 400)
    >>> best = fits_of(drawn, bootstrap=0)[0]
    >>> best.law, round(best.parameters["mu"], 2)
    ('lognormal', 2.88)
    """
    values = np.asarray(values, dtype=float).ravel()
    if wrong := values[~((values > 0) & np.isfinite(values))].tolist():
        raise MayflyError(f"value = {wrong[0]}: must be above 0")
    if len(values) < 8 or not differ(values):
        raise MayflyError(f"{len(values)} values to fit: must be at least eight, two of them different")
    if bootstrap < 0:
        raise MayflyError(f"bootstrap = {bootstrap}: must be 0 or more samples")
    if seed < 0:
        raise MayflyError(f"seed = {seed}: must be 0 or more")
    unit = float(values.mean())
    ordered = np.sort(values / unit)
    rng = np.random.default_rng(seed)
    tested = ordered if len(ordered) <= MOST else np.sort(rng.choice(ordered, MOST, replace=False))
    found = []
    for place, name in enumerate(LAWS):
        try:
            found.append(_fitted(name, ordered, unit, tested, bootstrap, rng))
        except (MayflyError, ArithmeticError) as error:
            if not_fitted is not None:
                not_fitted[name] = first_line(error)
        if progress is not None:
            progress((place + 1) / len(LAWS))
    return sorted(found, key=lambda fit: fit.aic)


def _fitted(name: str, ordered: Floats, unit: float, tested: Floats, bootstrap: int, rng: np.random.Generator) -> Fit:
    law = LAWS[name]
    with np.errstate(all="ignore"):
        parameters = law.fit(ordered)
        distribution = law.distribution(parameters)
        log_likelihood = float(distribution.logpdf(ordered).sum()) - len(ordered) * math.log(unit)
    if not all(map(math.isfinite, (log_likelihood, *parameters.values()))):
        raise MayflyError(f"{name}: its likelihood has no maximum: the values are nearly equal, or spread too far")
    whole = {key: law.scaled(key, value, unit) for key, value in parameters.items()}
    final = law.distribution(whole)
    mean = float(final.mean())
    ps: tuple[float | None, float | None] = (None, None)
    if bootstrap:
        # What is drawn from a law near its bounds may lie beyond them.
        with contextlib.suppress(MayflyError, ArithmeticError), np.errstate(all="ignore"):
            ps = bootstrap_p(name, tested, bootstrap, rng)
    return Fit(
        name,
        whole,
        mean if math.isfinite(mean) else None,
        log_likelihood,
        2 * len(parameters) - 2 * log_likelihood,
        *distances(name, parameters, ordered),
        *ps,
        len(tested),
        final,
    )


def distances(name: str, parameters: Mapping[str, float], ordered: Floats) -> tuple[float, float]:
    """Distances between a law and ordered values.

    Parameters
    ----------
    name : str
        Of the law.
    parameters : mapping of float
        Its parameters.
    ordered : numpy.ndarray, shape (n,)
        Ascending.

    Returns
    -------
    ks, ad : float
        Largest distance between the distribution functions; A^2 = -n - sum (2i - 1) (log F(x_i) + log S(x_(n+1-i))) /
        n.
    """
    return _native.law_distances(name, list(parameters.values()), np.ascontiguousarray(ordered, dtype=float))


def bootstrap_p(name: str, values: Floats, samples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Probabilities of distances at least as large when the law holds, its parameters unknown.

    Parameters
    ----------
    name : str
        Of the law.
    values : numpy.ndarray, shape (n,)
        Ascending, above 0.
    samples : int
        Drawn from the fitted law, from 1.
    rng : numpy.random.Generator
        What draws the seed of the samples.

    Returns
    -------
    ks_p, ad_p : float
        (1 + samples at least as far) / (1 + samples), from 1 / (1 + samples) to 1.
    """
    try:
        return _native.bootstrap_law(name, np.ascontiguousarray(values, dtype=float), samples, int(rng.integers(2**63)))
    except ValueError as error:
        raise MayflyError(first_line(error)) from None


def fits_document(fits: Sequence[Fit], values: Floats, points: int = 49) -> list[dict[str, Any]]:
    """The fits for JSON, the best first, each with the points of its QQ plot (quantiles of law and values)."""
    rows = []
    # Quantiles of the values are the same beside every law.
    shares, measured = quantiles_at(values, points)
    for fit in fits:
        law = fit.quantiles(shares)
        names = ("law", "parameters", "mean", "log_likelihood", "aic", "ks", "ks_p", "ad", "ad_p", "tested")
        rows.append({name: getattr(fit, name) for name in names})
        finite = np.isfinite(law)
        rows[-1]["qq"] = {"law": law[finite].tolist(), "measured": measured[finite].tolist()}
    return rows
