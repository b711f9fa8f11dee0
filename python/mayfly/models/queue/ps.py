"""M/G/1 processor sharing: what FIFO and fair queueing do to TCP flows of equal round-trip times.

Source: Kleinrock 1976, 4.4; Chen 2012, Eq. 5.2 and 5.9; Urvoy-Keller 2007, Eq. 3.
"""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over


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
        In the shape of ``x``; infinite at a load of 1 or more.

    Notes
    -----
    Chen 2012, Eq. 5.2: x / (1 - rho), whatever the law.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("deterministic:value=1"), 0.5), np.array([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """
    return over(np.asarray(x, dtype=float), 1 - queue.rho)
