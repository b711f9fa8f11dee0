"""M/G/1 least attained service up to a size, shared beyond it: FB + PS on two levels.

Principle: below the threshold a job does not notice what others get beyond it, so it is under least attained service.
What has passed it shares the time that is left, with jobs that come in bulks: those of a busy period of the level
above. In which order that is served does not matter there, so the equation is that of two levels of sharing.

Source: Kleinrock 1976, 4.7; Aalto, Ayesta and Nyberg 2004.
"""

from __future__ import annotations

import math

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue import las, ps
from mayfly.models.queue.levels import TOLERANCE, in_level
from mayfly.models.queue.mg1 import MG1


def response(queue: MG1, x: Floats, threshold: float, tolerance: float = TOLERANCE) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.
    threshold : float
        Size up to which who was served least goes first, 0 or more: at 0 it is processor sharing.
    tolerance : float
        Relative error of a response time beyond the threshold that ends the search for it.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite where the jobs cut off at ``x`` are a load of 1 or more, beyond the threshold
        where all jobs are.

    Notes
    -----
    With threshold a: (W(x) + x) / (1 - rho(x)) for x <= a, (W(a) + a + alpha(x - a)) / (1 - rho(a)) beyond, alpha as in
    :func:`mayfly.models.queue.levels.response`. For sizes with a falling hazard rate the mean over all jobs is at most
    that of processor sharing (Aalto, Ayesta and Nyberg 2004).

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> response(queue, np.array([0.5, 3.0]), 1.0).round(4).tolist()
    [0.6924, 6.9121]
    """
    x = np.asarray(x, dtype=float)
    if threshold == 0:
        return ps.response(queue, x)
    found = las.response(queue, np.minimum(x, threshold))
    beyond = x > threshold
    if beyond.any():
        found[beyond] = in_level(queue, threshold, math.inf, x[beyond], tolerance)
    return found
