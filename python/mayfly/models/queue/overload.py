"""Which jobs a queue that orders by size still serves when its load is 1 or more.

Principle: the small ones go first, whatever waits behind them. The largest size served is the one at which the load of
the jobs up to it passes 1; if many jobs have just that size, some of them are served, and all wait without end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.laws.service import Continuous, Discrete, ServiceLaw
from mayfly.models.queue.mg1 import MG1


@dataclass(frozen=True)
class Reach:
    """Sizes that are served.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes.
    last : float
        All smaller jobs are served; infinite below a load of 1.
    rate : float
        Jobs of just that size served per unit of time.
    """

    queue: MG1
    last: float
    rate: float

    def moment(self, order: int, above: Floats | float = 0.0) -> Floats:
        """Of the jobs served that are larger than ``above``: E[X^order] by unit of time, in the shape of ``above``."""
        law, upto = self.queue.law, np.nextafter(self.last, -math.inf) if math.isfinite(self.last) else math.inf
        low = np.minimum(np.asarray(above, dtype=float), upto)
        jobs = law.survival(low) - law.survival(upto) if order == 0 else _between(law, order, low, upto)
        own = np.where(np.asarray(above) < self.last, self.rate * self.last**order, 0.0) if self.rate > 0 else 0.0
        return self.queue.arrival_rate * jobs + own


def _between(law: ServiceLaw, order: int, low: Floats, high: float) -> Floats:
    result: Floats = law.partial_moment(order, high) - law.partial_moment(order, low)
    return result


def reach(queue: MG1) -> Reach:
    """The sizes a queue serves.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> round(reach(MG1(service_law("bounded-pareto:min=1,max=1e4,alpha=1.5"), 1.2)).last, 1)
    32.7
    """
    if queue.rho < 1:
        return Reach(queue, math.inf, 0.0)
    law = queue.law
    if isinstance(law, Discrete):
        place = min(int(np.searchsorted(queue.load_below(law.values), 1.0)), len(law.values) - 1)
        last = float(law.values[place])
        return Reach(queue, last, max(1 - float(queue.load_below(np.nextafter(last, 0.0))), 0.0) / last)
    from scipy.optimize import brentq

    assert isinstance(law, Continuous)
    last = law.edges[-1]
    if float(queue.load_below(last)) > 1:
        last = brentq(lambda x: float(queue.load_below(x)) - 1, law.smallest, last, xtol=1e-300, rtol=1e-15)
    return Reach(queue, float(last), 0.0)
