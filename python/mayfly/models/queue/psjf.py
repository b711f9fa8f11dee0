"""M/G/1 preemptive shortest job first: the least size goes first, of equal sizes the job that came first.

Source: Phipps 1956; Conway, Maxwell and Miller 1967; Wierman and Harchol-Balter 2003, 3.2.
"""

from __future__ import annotations

import math

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over


def response(queue: MG1, x: Floats) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite from the size on up to which the jobs are a load of 1.

    Notes
    -----
    With the load rho(x) of the jobs of at most x, and rho(x-) of the smaller ones:
    lambda E[X^2; X <= x] / (2 (1 - rho(x)) (1 - rho(x-))) + x / (1 - rho(x-)).

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("deterministic:value=1"), 0.5), np.array([1.0])).tolist()
    [1.5]
    """
    x = np.asarray(x, dtype=float)
    return over(queue.backlog_below(x) + x, 1 - queue.load_below(np.nextafter(x, -math.inf)))
