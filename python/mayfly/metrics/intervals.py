"""Confidence intervals of a mean."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

Z95 = 1.959963984540054

HIGHEST_MOS, LOWEST_MOS = 4.5, 1.0
"""Ends of the scale of the E-model (ITU-T G.107)."""


def normal_ci95(values: ArrayLike) -> list[float] | None:
    """95 % interval of the mean of many values, by the normal law.

    Parameters
    ----------
    values : array_like, shape ``(n,)``
        Any unit; the result has the same.

    Returns
    -------
    list of two float, or None
        None with fewer than two values.

    Notes
    -----
    ``mean +- 1.96 s / sqrt(n)`` with the sample deviation ``s`` (divisor ``n - 1``), as Chen 2012, Table 4.2.

    Examples
    --------
    >>> [round(bound, 4) for bound in normal_ci95([1.0, 3.0])]
    [0.04, 3.96]
    """
    return _interval(values, lambda degrees: Z95)


def student_ci95(values: ArrayLike) -> list[float] | None:
    """95 % interval of the mean of a few independent values, by Student's t.

    Parameters
    ----------
    values : array_like, shape ``(n,)``
        One value per replication; any unit.

    Returns
    -------
    list of two float, or None
        None with fewer than two values.

    Examples
    --------
    >>> [round(bound, 3) for bound in student_ci95([1.0, 3.0])]
    [-10.706, 14.706]
    """
    return _interval(values, student_t)


def on_mos_scale(ends: list[float] | None) -> list[float] | None:
    """An interval of opinions, cut where their scale ends: no call is better or worse.

    Parameters
    ----------
    ends : list of two float, or None
        Mean opinion scores.

    Returns
    -------
    list of two float, or None
        None as given.

    Examples
    --------
    >>> on_mos_scale([2.3, 5.1])
    [2.3, 4.5]
    """
    return None if ends is None else [max(ends[0], LOWEST_MOS), min(ends[1], HIGHEST_MOS)]


def on_time_scale(ends: list[float] | None) -> list[float] | None:
    """A symmetric interval of a mean of times, formed on the logarithm where it would reach below 0.

    Parameters
    ----------
    ends : list of two float, or None
        Mean less and plus half a width, s; the mean is above 0.

    Returns
    -------
    list of two float, or None
        None as given. By the delta method the logarithm of a mean ``m`` has the error ``h / m`` of a mean with the
        error ``h``: the interval is ``m exp(-+ h / m)``, which is the symmetric one where ``h`` is small.

    Examples
    --------
    >>> on_time_scale([0.5, 1.5]), [round(end, 2) for end in on_time_scale([-1.0, 3.0])]
    ([0.5, 1.5], [0.14, 7.39])
    """
    if ends is None or ends[0] > 0:
        return ends
    mean, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    if mean <= 0:
        return [0.0, 0.0]
    factor = math.exp(half / mean)
    return [mean / factor, mean * factor]


def student_t(degrees: int, quantile: float = 0.975) -> float:
    """A quantile of Student's t with so many degrees of freedom; by default that of a 95 % interval."""
    from scipy.special import stdtrit  # 0.25 s to import, which a single replication goes without

    return float(stdtrit(degrees, quantile))


def _interval(values: ArrayLike, quantile: Callable[[int], float]) -> list[float] | None:
    sample = np.asarray(values, dtype=float)
    if sample.size < 2:
        return None
    mean = float(sample.mean())
    half = quantile(sample.size - 1) * float(sample.std(ddof=1)) / sample.size**0.5
    return [mean - half, mean + half]
