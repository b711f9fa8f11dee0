"""Tails and percentiles of a time from its Laplace transform.

Principle: the tail at t is a Fourier series of the transform along a vertical line in the complex plane; Euler's
summation makes a few terms of it enough. A percentile is where the tail crosses. Jumps the series would smooth: see
:mod:`mayfly.models.ranks.point_masses`.

Source: Abate and Whitt 2006, A unified framework for numerically inverting Laplace transforms, section 4 (Euler).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from mayfly.arrays import Complexes, Floats, Integers
from mayfly.errors import MayflyError

TERMS = 12
"""M of Abate and Whitt: 2 M + 1 values of the transform a time, an error of about 10^(-0.6 M) of a smooth tail."""

STEPS = 300
"""Quarterings of a time before a percentile is given up."""

LEAST = 1e-15
"""A tail of no more counts as that."""

ROUNDING = 1e-12
"""Share beyond P(time = 0) that is none."""

Tail = Callable[["Integers", "Floats"], "Floats"]
"""Of rows and times, shape (k,), to P(time of the row > time), shape (k,)."""


@cache
def euler(terms: int = TERMS) -> tuple[Complexes, Floats]:
    """Nodes and weights of the inversion.

    Parameters
    ----------
    terms : int
        M, from 2 to 20; beyond that rounding grows faster than the error falls.

    Returns
    -------
    nodes : numpy.ndarray of complex, shape (2 M + 1,)
        beta: the transform is taken at ``nodes / t``.
    weights : numpy.ndarray, shape (2 M + 1,)
        f(t) = sum of weights Re F(nodes / t) / t.

    Notes
    -----
    beta_k = M ln(10) / 3 + i pi k; weights 10^(M/3) (-1)^k xi_k, with xi_0 = 1/2, then 1 up to k = M, and from there
    the tail of a binomial law of M halves (Abate and Whitt 2006, Eq. 35 and 36).

    Examples
    --------
    >>> nodes, weights = euler()
    >>> bool(abs(np.sum(weights * (1 / (1 + nodes / 2.0)).real) / 2.0 - math.exp(-2.0)) < 1e-7)
    True
    """
    if not 2 <= terms <= 20:
        raise MayflyError(f"terms = {terms}: must be from 2 to 20")
    k = np.arange(2 * terms + 1)
    choose = np.array([math.comb(terms, j) for j in range(terms + 1)]) / 2.0**terms
    xi = np.ones(2 * terms + 1)
    xi[0] = 0.5
    xi[terms:] = np.cumsum(choose[::-1])[::-1]
    nodes: Complexes = terms * math.log(10) / 3 + 1j * math.pi * k
    return nodes, 10 ** (terms / 3) * (-1.0) ** k * xi


def invert(values: Complexes, times: Floats) -> Floats:
    """A function of time from its transform.

    Parameters
    ----------
    values : numpy.ndarray of complex, shape (..., 2 M + 1)
        Transform at ``euler(M)[0] / time``.
    times : numpy.ndarray, shape (...,)
        Above 0.

    Returns
    -------
    numpy.ndarray, shape (...,)

    Examples
    --------
    >>> times = np.array([0.5, 3.0])
    >>> s = euler()[0] / times[:, None]
    >>> bool(np.all(abs(invert(1 / (1 + s) ** 2, times) - times * np.exp(-times)) < 1e-7))
    True
    """
    weights = euler((values.shape[-1] - 1) // 2)[1]
    return values.real @ weights / times


def quantiles(tail: Tail, share: Floats, first: Floats, guess: Floats, tolerance: float = 1e-8) -> Floats:
    """Times a share of the law does not exceed.

    Parameters
    ----------
    tail : callable
        See :data:`Tail`; falling in time.
    share : numpy.ndarray, shape (n_rows, n_shares)
        Above 0, below 1.
    first : numpy.ndarray, shape (n_rows,)
        P(time = 0).
    guess : numpy.ndarray, shape (n_rows,)
        A time to start from, such as the mean.
    tolerance : float
        Relative, of the time.

    Returns
    -------
    numpy.ndarray, shape (n_rows, n_shares)
        Smallest time at which the distribution function reaches the share.

    Raises
    ------
    MayflyError
        No bracket was found.

    Examples
    --------
    >>> found = quantiles(lambda row, t: 0.5 * np.exp(-t), np.array([[0.4, 0.75]]), np.array([0.5]), np.ones(1))
    >>> found.round(6).tolist()
    [[0.0, 0.693147]]
    """
    from scipy.optimize.elementwise import find_root

    row, column = np.nonzero(share > first[:, None] + ROUNDING)
    found = np.zeros(share.shape)
    if len(row) == 0:
        return found
    beyond = 1 - share[row, column]
    low, up = _bracket(tail, row, beyond, guess[row])

    def excess(logarithm: Floats, place: Integers) -> Floats:
        place = place.astype(np.intp)
        # A tail falls by powers or exponentials: its logarithm is all but straight.
        result: Floats = np.log(np.maximum(tail(row[place], np.exp(logarithm)), LEAST) / beyond[place])
        return result

    place = np.arange(len(row))
    root = find_root(
        excess, (np.log(low), np.log(up)), args=(place,), tolerances={"xatol": tolerance, "fatol": 0.0, "frtol": 0.0}
    )
    if not np.all(root.success):
        raise MayflyError("percentile: not found within its bracket; the transform is not that of a time that ends")
    found[row, column] = np.exp(root.x)
    return found


def _bracket(tail: Tail, row: Integers, beyond: Floats, guess: Floats) -> tuple[Floats, Floats]:
    """Times at which the tail is above and not above ``beyond``, four times apart or less."""
    low, up = np.full(len(guess), np.nan), guess.copy()
    searching = np.arange(len(row))
    for factor in (4.0, 0.25):
        for _ in range(STEPS):
            above = tail(row[searching], up[searching] if factor > 1 else low[searching]) > beyond[searching]
            moving = searching[above] if factor > 1 else searching[~above]
            if len(moving) == 0:
                break
            if factor > 1:
                low[moving], up[moving] = up[moving], up[moving] * factor
            else:
                low[moving], up[moving] = low[moving] * factor, low[moving]
            searching = moving
        else:
            raise MayflyError(f"percentile: no bracket in {STEPS} steps; the transform is not that of a time that ends")
        searching = np.flatnonzero(np.isnan(low))
        low[searching] = up[searching] / 4
    return low, up
