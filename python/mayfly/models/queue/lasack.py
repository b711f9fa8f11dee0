"""M/G/1 LASACK: downloads, and acknowledgements of uploads that age by the bytes they acknowledge.

Source: Urvoy-Keller 2007, 5.3.1, Eq. 5 to 8. Eq. 5 prints y in place of y^i in the integrand, as Eq. 6 and 7 show.
"""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.mg1 import MG1, over


def response(queue: MG1, x: Floats, *, uploads: float, ack: float) -> Floats:
    """Mean response time of a download of each size.

    Parameters
    ----------
    queue : MG1
        Sizes, and load of the downloads alone; uploads have the same law. The load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.
    uploads : float
        Uploads per download, lambda_U / lambda_D.
    ack : float
        Bytes of acknowledgements per byte of data: S_ack / (2 MSS) with delayed acknowledgements.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite from the size on at which all that is cut off there is a load of 1.

    Notes
    -----
    Urvoy-Keller 2007, Eq. 8. The acknowledgements of an upload of size y are a job of size ack y, which is served as a
    download of size y would be: E[min(X, x)^i] counts 1 + uploads ack^i times.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> response(queue, np.array([1.0]), uploads=0.5, ack=40 / 3000).round(6).tolist()
    [1.750855]
    """
    backlog, idle = _ahead(queue, x, uploads, ack)
    return over(backlog + np.asarray(x, dtype=float), idle)


def ack_response(queue: MG1, x: Floats, *, uploads: float, ack: float) -> Floats:
    """Mean time that all acknowledgements of an upload of size ``x`` take at the queue; see :func:`response`."""
    backlog, idle = _ahead(queue, x, uploads, ack)
    return over(backlog + ack * np.asarray(x, dtype=float), idle)


def _ahead(queue: MG1, x: Floats, uploads: float, ack: float) -> tuple[Floats, Floats]:
    """Mean backlog of all that is cut off at ``x``, and the share of the time it leaves idle."""
    idle = 1 - (1 + uploads * ack) * queue.load(x)
    arrived = queue.arrival_rate * (1 + uploads * ack**2) * queue.law.truncated(2, x)
    return over(arrived / 2, idle), idle
