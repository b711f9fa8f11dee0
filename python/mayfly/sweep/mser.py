"""Warm-up of a series: where to cut it so that its mean is known best (MSER-5)."""

import numpy as np
from numpy.typing import ArrayLike

BATCH = 5
"""Observations in a batch (White, Cobb and Spratt 2000)."""


def mser(values: ArrayLike, batch: int = BATCH) -> int | None:
    """Observations to leave out at the beginning.

    Parameters
    ----------
    values : array_like, shape (n,)
        In order of time.
    batch : int
        Observations averaged before.

    Returns
    -------
    int or None
        A multiple of `batch`; None where the best cut lies in the second half: the series is too short to tell.

    Notes
    -----
    The cut ``d`` that minimises ``sum_{j > d} (b_j - mean)^2 / (m - d)^2`` over the batch means ``b_j``: the squared
    standard error of the mean of what is left (White 1997, An effective truncation heuristic; White, Cobb and Spratt
    2000, MSER-5).

    Examples
    --------
    >>> mser([100.0] * 10 + [1.0, 2.0] * 100)
    10
    >>> mser(range(100)) is None
    True
    """
    series = np.asarray(values, dtype=float)
    count = series.size // batch
    if count < 4:
        return None
    means = series[: count * batch].reshape(count, batch).mean(axis=1)
    means = means - means.mean()
    left = np.arange(count, 0, -1)
    total, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    spread = np.maximum(squares - total**2 / left, 0.0) / left**2
    # The last few are nearly constant by chance.
    best = int(np.argmin(spread[: count - 3]))
    return None if best > count // 2 else best * batch
