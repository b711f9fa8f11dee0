"""M/G/1 under any policy that is a rank function: SOAP, schedules ordered by age-based priority.

Principle: a job sees, when it comes, the work that goes before it (a queue of its own, with jobs that come back to it),
and each unit of its service takes as long as the busy period of what arrives and goes before it.

Source: Scully, Harchol-Balter and Scheller-Wolf 2018, Theorem 5.5 (mean); the level-crossing argument behind it.
"""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over
from mayfly.models.ranks.ranks import Part, Rank, check_stable


def response(queue: MG1, x: Floats, rank: Rank) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    x : numpy.ndarray
        Sizes, 0 or more.
    rank : Rank
        The policy.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite where what goes first is a load of 1 or more.

    Raises
    ------
    MayflyError
        The load is 1 or more and the rank lets jobs get ahead again.

    Notes
    -----
    Scully 2018, Theorem 5.5: with r the worst rank of a size x, w(a) its worst rank from age a on,

        E[T(x)] = lambda / 2 sum over i of E[X_i^old[r]^2] / ((1 - rho_0^old[r]) (1 - rho^new[r-]))
                  + integral over a < x of 1 / (1 - rho^new[w(a)-]).

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.ranks.ranks import Constant, Remaining
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> response(queue, np.array([1.0, 2.0]), Constant()).round(9).tolist()
    [2.0, 3.0]
    >>> response(queue, np.array([1.0, 2.0]), Remaining()).round(6).tolist()
    [1.232062, 2.942588]
    """
    sizes = np.asarray(x, dtype=float).ravel()
    # Where the rank is made of steps, many sizes have the same worst rank.
    worst, place = np.unique(rank.worst(sizes), return_inverse=True)
    now, later = rank.waiting(worst)
    check_stable(queue.rho, later)
    squares = queue.arrival_rate / 2 * _sum(queue, now + later, 2)
    wait = over(over(squares, 1 - load(queue, now)), 1 - load(queue, rank.arriving(worst)))

    ranks, total = rank.residence(queue.law, sizes)
    unit = over(np.ones(len(ranks)), 1 - load(queue, rank.arriving(ranks)))
    return (wait[place] + total(unit)).reshape(np.shape(x))


def load(queue: MG1, parts: list[Part]) -> Floats:
    """Load of the work of parts, shape (n,)."""
    return queue.arrival_rate * _sum(queue, parts, 1)


def _sum(queue: MG1, parts: list[Part], order: int) -> Floats:
    return sum((part.moment(queue.law, order) for part in parts), np.zeros(1))
