"""M/G/1 shortest remaining processing time: the job with the least left to do goes first. No policy has a lower mean.

Source: Schrage and Miller 1966.
"""

from __future__ import annotations

import math

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over
from mayfly.models.queue.overload import Reach, reach
from mayfly.models.queue.quadrature import Panels
from mayfly.models.ranks.ranks import law_panels

NEAR = 45
"""Halvings of the distance to the largest size served: the integral grows without bound there, as a logarithm."""


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
    lambda (E[X^2; X <= x] + x^2 P(X > x)) / (2 (1 - rho(x)) (1 - rho(x-))) + integral over t < x of 1 / (1 - rho(t)),
    rho(t) the load of the jobs of at most t. In overload only the larger jobs that are served at all count. The
    integral is one of Gauss and Legendre on panels that follow the law, right to 1e-10.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> response(MG1(service_law("exponential:mean=1"), 0.5), np.array([1.0, 2.0])).round(6).tolist()
    [1.232062, 2.942588]
    """
    sizes = np.asarray(x, dtype=float)
    served = reach(queue)
    larger = served.moment(0, sizes) * sizes**2 / 2
    load = queue.load_below(sizes)
    squares = queue.arrival_rate * queue.law.partial_moment(2, sizes) / 2 + larger
    wait = over(over(squares, 1 - load), 1 - queue.load_below(np.nextafter(sizes, -math.inf)))
    return np.where(sizes < served.last, wait + _residence(queue, sizes, served), np.inf)


def _residence(queue: MG1, sizes: Floats, served: Reach) -> Floats:
    """Integral of 1 / (1 - rho(t)) over t below each size, for the sizes that are served."""
    ends = np.where(sizes < served.last, sizes, 0.0).ravel()
    panels = law_panels(queue.law, float(np.max(ends, initial=0.0)))
    if math.isfinite(served.last):
        close = served.last * (1 - 2.0 ** -np.arange(1, NEAR))
        edges = np.union1d(panels.edges[panels.edges < served.last], close)
        panels = Panels(edges[np.r_[True, np.diff(edges) > 1e-15 * edges[1:]]], panels.order)
    unit = over(np.ones(len(panels.nodes)), 1 - queue.load_below(panels.nodes))
    return panels.upto(unit, ends).reshape(sizes.shape)
