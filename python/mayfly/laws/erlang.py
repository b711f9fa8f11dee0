"""The sum of several exponential values of mean 1: the lower incomplete gamma function of a whole number.

Principle: ``scipy.special`` has the same and takes longer to import than a model to answer.
"""

import math

import numpy as np

from mayfly.arrays import Floats

_TERMS = 40
"""Terms of the series, whose ratio is below (stages + 1) / (stages + term)."""


def erlang_cdf(stages: int, x: Floats | float) -> Floats:
    """P(sum <= x) of ``stages`` values, exact but for a few roundings of doubles, relative.

    Parameters
    ----------
    stages : int
        From 1 to 10.
    x : array_like
        From 0 on; infinite is taken.

    Returns
    -------
    ndarray
        As ``x``.

    Examples
    --------
    >>> float(erlang_cdf(1, np.log(2.0))), float(erlang_cdf(3, np.inf))
    (0.5, 1.0)
    """
    x = np.asarray(x, dtype=float)
    # Beyond, what is left is below the smallest double.
    x = np.minimum(x, 1e3)
    # The tail of few terms, where it is small; else a series, of which nothing is taken away.
    tail = np.exp(-x) * sum(x**stage / math.factorial(stage) for stage in range(stages))
    low = np.minimum(x, stages + 1)
    total = np.ones_like(low)
    for term in range(_TERMS, 0, -1):
        total = 1 + low / (stages + term) * total
    series = np.exp(-low) * low**stages / math.factorial(stages) * total
    found: Floats = np.where(x <= stages + 1, series, 1 - tail)[()]
    return found
