"""Stationary and busy periods of a load (Chen 2012, 8.3.1), each found by a test.

Principle: a period is stationary as long as the test of Kwiatkowski, Phillips, Schmidt and Shin (1992) for a constant
level does not reject it. A rejected one is cut where its partial sums lie farthest from zero, which estimates where
the level changes, and each half is tested again. A stationary period of a mean above that of all is busy when its bins
are larger than all others by the test of Mann and Whitney (1947), with the correction of Holm (1979) for as many tests
as there are periods.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mayfly.arrays import Floats

LEVEL = 0.05
"""Level of the tests."""

_FEW = 8
"""Values of a sample from which on the normal law is near enough, as scipy has it."""

SHORTEST = 6
"""Bins of the shortest period that is tested or cut off."""

TESTS = {
    "stationary": "KPSS test of a constant level (Kwiatkowski et al. 1992), cut where the partial sums are largest",
    "busy": "mean above that of all bins; Mann-Whitney test against the others, one-sided, Holm's correction",
}
"""What each finding comes from."""


@dataclass(frozen=True)
class Period:
    """Bins of one level.

    Parameters
    ----------
    begin, end : int
        First bin, and the one after the last.
    mean : float
        Of the load.
    statistic, p : float or None
        Of the KPSS test; None where there are too few bins or all are equal.
    stationary : bool or None
        Whether the test leaves a constant level standing; None where it was not done.
    busy_p : float or None
        Of the Mann-Whitney test after correction; None where there is one period only, or it is not
        stationary, or its mean is not above that of all bins.
    """

    begin: int
    end: int
    mean: float
    statistic: float | None
    p: float | None
    stationary: bool | None
    busy_p: float | None = None

    @property
    def busy(self) -> bool:
        """Whether its load is above that of the others."""
        return self.busy_p is not None and self.busy_p < LEVEL


def kpss(values: Floats) -> tuple[float, float]:
    """Test a series for a constant level.

    Parameters
    ----------
    values : array_like, shape (n,)
        Load of consecutive bins, at least two different values.

    Returns
    -------
    statistic, p : float
        Sum of squares of the partial sums of the residuals over n^2 and the long-run variance; the probability of a
        larger one when the level is constant.

    Notes
    -----
    Long-run variance with Bartlett weights up to the lag floor(4 (n / 100)^(1/4)), their l4. Under a constant level the
    statistic tends to the integral of a squared Brownian bridge, the law of Cramer and von Mises (:func:`bridge_tail`).

    Examples
    --------
    >>> statistic, p = kpss(np.array([1.0, 2, 1, 2, 1, 2, 1, 2]))
    >>> round(statistic, 4), round(p, 2)
    (0.1875, 0.29)
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    residuals = values - values.mean()
    # In units of their deviation: squares neither overflow nor vanish.
    residuals = residuals / residuals.std()
    variance = float((residuals**2).mean())
    lags = int(4 * (n / 100) ** 0.25)
    for lag in range(1, lags + 1):
        variance += 2 * (1 - lag / (lags + 1)) * float(residuals[lag:] @ residuals[:-lag]) / n
    statistic = float((np.cumsum(residuals) ** 2).sum()) / (n**2 * variance)
    return statistic, bridge_tail(statistic)


def bridge_tail(x: float) -> float:
    """Probability that the integral of a squared Brownian bridge exceeds ``x``.

    Parameters
    ----------
    x : float
        Above 0.

    Returns
    -------
    float
        Anderson and Darling 1952, Eq. 4.35.

    Examples
    --------
    >>> [round(bridge_tail(x), 3) for x in (0.347, 0.461, 0.743)]
    [0.1, 0.05, 0.01]
    """
    total = 0.0
    for term in range(40):
        step = 4 * term + 1
        u = step * step / (16 * x)
        # The exponentials of the series and of the Bessel function are joined.
        weight = math.exp(math.lgamma(term + 0.5) - math.lgamma(term + 1) - 2 * u)
        if weight == 0:
            break  # and so are all behind it
        total += weight * math.sqrt(step) * _scaled_bessel(u)
    result: float = min(max(1 - total / (math.pi**1.5 * math.sqrt(x)), 0.0), 1.0)
    return result


def _scaled_bessel(u: float) -> float:
    """``exp(u) K(u)`` of order 1/4: the integral of exp(-u (cosh t - 1)) cosh(t / 4) over t from 0 (DLMF 10.32.9).

    By the trapezoidal rule, whose error falls as exp(-pi^2 / step) here, and as exp(-2 pi^2 / (u step^2)) where the
    integrand is a narrow bell: no more than what doubles round. scipy has the function, and takes longer to import than
    a profile to find its periods.
    """
    step = 0.125 / math.sqrt(1 + u / 30)
    last = math.acosh(1 + 50 / u)
    nodes = (step * node for node in range(1, math.ceil(last / step) + 1))
    return step * math.fsum([0.5, *(math.exp(-u * (math.cosh(t) - 1)) * math.cosh(t / 4) for t in nodes)])


def periods_of(load: Floats) -> list[Period]:
    """Cut a load into stationary periods, and tell the busy ones.

    Parameters
    ----------
    load : array_like, shape (n_bins,)
        Load of consecutive whole bins.

    Returns
    -------
    list of Period
        In order, covering all bins; empty without bins.

    Notes
    -----
    Each of the nested tests is at 5 %: of constant loads one in twenty is cut. A period of fewer than 12 bins that is
    rejected is not cut further and is not stationary; one of fewer than 6 is not tested.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = periods_of(np.concatenate([rng.normal(10, 1, 60), rng.normal(30, 1, 40)]))
    >>> [(period.begin, period.end, period.stationary, period.busy) for period in found]
    [(0, 60, True, False), (60, 100, True, True)]
    """
    load = np.asarray(load, dtype=float)
    found: list[Period] = []
    waiting = [(0, len(load))] if len(load) else []
    while waiting:
        begin, end = waiting.pop()
        part = load[begin:end]
        statistic = p = stationary = None
        if len(part) >= SHORTEST and part.min() < part.max():
            statistic, p = kpss(part)
            stationary = p >= LEVEL
        elif len(part) >= SHORTEST:
            stationary = True
        if stationary is False and len(part) >= 2 * SHORTEST:
            sums = np.abs(np.cumsum(part - part.mean()))[SHORTEST - 1 : len(part) - SHORTEST]
            cut = begin + SHORTEST + int(np.argmax(sums))
            waiting += [(cut, end), (begin, cut)]
            continue
        found.append(Period(begin, end, float(part.mean()), statistic, p, stationary))
    return _with_busy(found, load)


def _with_busy(periods: list[Period], load: Floats) -> list[Period]:
    # Ranks alone would call the smallest trickle busy beside bins of nothing.
    high = [place for place, period in enumerate(periods) if period.stationary and period.mean > load.mean()]
    tested = high if len(periods) > 1 else []
    ps = {}
    for place in tested:
        inside = np.zeros(len(load), dtype=bool)
        inside[periods[place].begin : periods[place].end] = True
        ps[place] = larger_p(load[inside], load[~inside])
    corrected, largest = {}, 0.0
    for rank, place in enumerate(sorted(tested, key=ps.__getitem__)):
        largest = max(largest, min(ps[place] * (len(tested) - rank), 1.0))
        corrected[place] = largest
    return [Period(**(asdict(period) | {"busy_p": corrected.get(place)})) for place, period in enumerate(periods)]


def larger_p(values: Floats, others: Floats) -> float:
    """Probability of values at least as large beside others of the same law: the test of Mann and Whitney (1947).

    Parameters
    ----------
    values, others : array_like, shape (n,) and (m,)
        At least one of each.

    Returns
    -------
    float
        One-sided p: exact where one sample has at most 8 values and none are equal, else by the normal approximation
        with corrections for ties and continuity, as ``scipy.stats.mannwhitneyu(values, others, "auto",
        alternative="greater")``, whose import takes longer than a profile.

    Examples
    --------
    >>> larger_p([3, 4], [1, 2])
    0.16666666666666666
    """
    values, others = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    n, m = len(values), len(others)
    _, place, counts = np.unique(np.concatenate([values, others]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    wins = ranks[:n].sum() - n * (n + 1) / 2
    if min(n, m) <= _FEW and counts.max() == 1:
        return _exact_p(n, m, int(wins))
    ties = float((counts.astype(float) ** 3 - counts).sum()) / ((n + m) * (n + m - 1))
    variance = n * m / 12 * ((n + m + 1) - ties)
    if variance == 0:
        return 1.0
    return min(1.0, math.erfc((wins - n * m / 2 - 0.5) / math.sqrt(2 * variance)) / 2)


def _exact_p(n: int, m: int, wins: int) -> float:
    """Share of the orders of both samples in which the first wins at least so many of its n times m comparisons."""
    few, many = sorted((n, m))
    # Orders by wins: the coefficients of the Gaussian binomial, the product of (1 - x^(many + i)) / (1 - x^i).
    orders = np.zeros(n * m + 1, dtype=object)
    orders[0] = 1
    for i in range(1, few + 1):
        if many + i < len(orders):
            orders[many + i :] = orders[many + i :] - orders[: -(many + i)]
        for first in range(min(i, len(orders))):
            orders[first::i] = np.cumsum(orders[first::i])
    return int(orders[wins:].sum()) / math.comb(n + m, n)


def periods_document(periods: list[Period], starts_s: Floats, bin_s: float) -> list[dict[str, Any]]:
    """The periods for JSON, with their times in s and mean loads in bit/s."""
    return [
        {
            "start_s": float(starts_s[period.begin]),
            "end_s": float(starts_s[period.end - 1]) + bin_s,
            "bins": period.end - period.begin,
            "mean_bps": period.mean,
            "kpss": period.statistic,
            "kpss_p": period.p,
            "stationary": period.stationary,
            "busy_p": period.busy_p,
            "busy": period.busy,
        }
        for period in periods
    ]
