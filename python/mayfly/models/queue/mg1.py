"""The M/G/1 queue: Poisson arrivals of jobs, independent sizes of any law, one server; what all its policies share.

Source: Kleinrock 1976, chapter 4; Chen 2012, 5.2.1; Urvoy-Keller 2007, 5.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw


@dataclass(frozen=True)
class MG1:
    """Arrivals and sizes of a queue.

    Parameters
    ----------
    law : ServiceLaw
        Sizes; the server works one unit of size per unit of time.
    rho : float
        Offered load, above 0; at 1 and above the queue grows without end, though not for every job.

    Raises
    ------
    MayflyError
        The load is out of its bounds.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> MG1(service_law("exponential:mean=2"), 0.5).arrival_rate
    0.25
    """

    law: ServiceLaw
    rho: float

    def __post_init__(self) -> None:
        if not 0 < self.rho < math.inf:
            raise MayflyError(f"rho = {self.rho}: must be above 0 and finite")

    @property
    def arrival_rate(self) -> float:
        """Jobs per unit of time."""
        return self.rho / self.law.mean

    def load(self, x: Floats | float) -> Floats:
        """Load of all jobs cut off at ``x``, in its shape: lambda E[min(X, x)] (Chen 2012, rho(x))."""
        return self.arrival_rate * self.law.truncated(1, x)

    def backlog(self, x: Floats | float) -> Floats:
        """Mean unfinished work of all jobs cut off at ``x``, in its shape; infinite where their load is 1 or more.

        Notes
        -----
        Chen 2012, Eq. 5.4, W_o(x) = lambda E[min(X, x)^2] / (2 (1 - rho(x))), after Pollaczek and Khinchine.
        """
        return over(self.arrival_rate * self.law.truncated(2, x) / 2, 1 - self.load(x))

    def load_below(self, x: Floats | float) -> Floats:
        """Load of the jobs of at most ``x``, in its shape: lambda E[X; X <= x]."""
        return self.arrival_rate * self.law.partial_moment(1, x)

    def backlog_below(self, x: Floats | float) -> Floats:
        """Mean unfinished work of the jobs of at most ``x`` alone, in its shape; infinite at a load of 1 or more."""
        return over(self.arrival_rate * self.law.partial_moment(2, x) / 2, 1 - self.load_below(x))


def over(numerator: Floats, idle: Floats | float) -> Floats:
    """``numerator / idle`` with both broadcast; infinite where no time is idle."""
    idle = np.asarray(idle, dtype=float)
    return np.where(idle > 0, numerator / np.where(idle > 0, idle, 1.0), np.inf)
