"""M/G/1 least attained service, also called foreground-background: the job served least so far goes first.

Source: Kleinrock 1976, p. 172; Chen 2012, Eq. 5.3, 5.4 and 5.7; Urvoy-Keller 2007, Eq. 4 and 9.
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
        Arrivals and sizes; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite from the size on at which the jobs cut off there are a load of 1.

    Notes
    -----
    Chen 2012, Eq. 5.3: (W_o(x) + x) / (1 - rho(x)): a job is delayed by all others cut off at its own size. In overload
    the large jobs starve and the small ones do not notice (Urvoy-Keller 2007, 7.1).

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("deterministic:value=1"), 0.5), np.array([1.0])).tolist()
    [3.0]
    """
    x = np.asarray(x, dtype=float)
    return over(queue.backlog(x) + x, 1 - queue.load(x))
