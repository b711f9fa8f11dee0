"""M/G/1 shortest job first without preemption: a job that has begun is ended.

Source: Phipps 1956; Kleinrock 1976, 3.6.
"""

from __future__ import annotations

import math

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over
from mayfly.models.queue.overload import reach


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
        In the shape of ``x``; infinite from the size on up to which the jobs are a load of 1, and where sizes have no
        variance.

    Notes
    -----
    lambda E[X^2] / (2 (1 - rho(x)) (1 - rho(x-))) + x, loads as in :mod:`mayfly.models.queue.psjf`. In
    overload the job in service is one of those that are served at all.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("exponential:mean=1"), 0.5), np.array([0.0, 1.0])).round(6).tolist()
    [0.5, 1.663821]
    """
    x = np.asarray(x, dtype=float)
    in_service = reach(queue).moment(2) / 2
    smaller = 1 - queue.load_below(np.nextafter(x, -math.inf))
    return over(over(in_service, 1 - queue.load_below(x)), smaller) + x
