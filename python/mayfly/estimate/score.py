"""How far estimates are from the truth, as Zhao 2004, II.C measures it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mayfly.errors import MayflyError


@dataclass(frozen=True)
class Score:
    """Two figures of merit.

    Parameters
    ----------
    mse : float
        Mean squared error.
    relative_error : float
        Sum of the errors over the sum of the true values: above 0 when the estimates are too high.
    count : int
        Estimates compared.
    """

    mse: float
    relative_error: float
    count: int


def score(estimates: ArrayLike, actual: ArrayLike) -> Score | None:
    """Compares estimates with the truth.

    Parameters
    ----------
    estimates, actual : array_like, shape (n,)
        Shares; where the truth is NaN there is nothing to compare.

    Returns
    -------
    Score or None
        None when there is no true value above 0.

    Raises
    ------
    MayflyError
        The arrays differ in length.

    Notes
    -----
    MSE = sum (e_i - a_i)² / n and RE = sum (e_i - a_i) / sum a_i (Zhao 2004, II.C).

    Examples
    --------
    >>> score([0.5, 0.75], [0.75, 0.75])
    Score(mse=0.03125, relative_error=-0.16666666666666666, count=2)
    """
    estimates, actual = np.asarray(estimates, float), np.asarray(actual, float)
    if estimates.shape != actual.shape:
        raise MayflyError(f"estimates = {estimates.size} values: must be as many as the true ones, {actual.size}")
    known = np.isfinite(actual)
    if not actual[known].sum() > 0:
        return None
    errors = estimates[known] - actual[known]
    return Score(float((errors**2).mean()), float(errors.sum() / actual[known].sum()), int(known.sum()))
