"""M/G/1 first come, first served. Source: Pollaczek and Khinchine; Chen 2012, Eq. 5.1 and 5.8."""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1


def response(queue: MG1, x: Floats) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    x : numpy.ndarray
        Sizes, 0 or more.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite at a load of 1 or more, and where sizes have no variance to speak of.

    Notes
    -----
    Chen 2012, Eq. 5.1: lambda m_2 / (2 (1 - rho)) + x.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("exponential:mean=1"), 0.5), np.array([0.0, 2.0])).tolist()
    [1.0, 3.0]
    """
    result: Floats = queue.backlog(np.inf) + np.asarray(x, dtype=float)
    return result
