"""Fairness of an allocation in one number."""

import numpy as np
from numpy.typing import ArrayLike

from mayfly.errors import MayflyError


def jain_index(shares: ArrayLike) -> float | None:
    """Jain's fairness index (Jain, Chiu and Hawe 1984, Eq. 1).

    Parameters
    ----------
    shares : array_like, shape ``(n,)``
        What each got, any unit, >= 0.

    Returns
    -------
    float or None
        ``(sum x)^2 / (n sum x^2)``, from 1/n (one has all) to 1 (equal shares). None when there is nobody, or nobody
        got anything.

    Raises
    ------
    MayflyError
        A share below 0 or not finite.

    Examples
    --------
    >>> jain_index([1, 1, 1, 1]), jain_index([4, 0, 0, 0]), jain_index([2, 1, 1])
    (1.0, 0.25, 0.8888888888888888)
    """
    values = np.asarray(shares, dtype=float)
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise MayflyError("shares: must be finite and at least 0")
    largest = values.max(initial=0.0)
    if largest == 0:
        return None
    scaled = values / largest
    return float(scaled.sum() ** 2 / (values.size * (scaled**2).sum()))
