"""M/G/1 with levels of strict priority that a job falls through at thresholds, first come first served in each level.

Source: Kleinrock 1976, 4.7 (multilevel processor sharing).
"""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over


def response(queue: MG1, x: Floats, threshold: Floats) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.
    threshold : numpy.ndarray, shape (n_levels - 1,)
        Sizes up to which a job is in each level, ascending; the last level has no end.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite in a level whose jobs, cut off at its end, are a load of 1 or more.

    Notes
    -----
    (W_o(b) + x) / (1 - rho(a)) for a < x <= b, thresholds a and b, with W_o and rho of the jobs cut off there
    (Kleinrock 1976, 4.7). One threshold makes Run2C with two FIFO queues.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> response(queue, np.array([1.0, 2.0]), np.array([1.0])).round(6).tolist()
    [1.193176, 4.386351]
    """
    sizes = np.asarray(x, dtype=float)
    ends = np.r_[0.0, np.ravel(threshold), np.inf]
    level = np.searchsorted(ends[1:-1], sizes, side="left")
    return over(queue.backlog(ends[level + 1]) + sizes, 1 - queue.load(ends[level]))
