"""EFD and its variants by sub-flows: response times of sub-flows in two queues, and from them those of flows.

Principle: sub-flows are the jobs of an M/G/1 queue with two levels. The high queue serves their first packets, the low
one the rest in the time that is left. FIFO at packet level is processor sharing at the level of sub-flows. A flow takes
as long as its sub-flows one after the other: the network adds nothing. Source: Chen 2012, 5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mayfly.arrays import Floats, Numbers
from mayfly.errors import MayflyError
from mayfly.models.efd.subflow_law import FlowPackets, Splitting, SubflowLaw
from mayfly.models.queue.mg1 import MG1

ORDERS = ("fifo", "las")
"""Orders of service within a queue."""

VARIANTS = tuple(f"{high}+{low}" for low in ORDERS for high in ORDERS)
"""High queue + low queue (Chen 2012, 5.3.1); the first is EFD."""

CONTROL = 4
"""SYN, ACK, FIN and ACK of a flow, sub-flows of one packet each (Chen 2012, 5.3.2.1)."""


@dataclass(frozen=True, eq=False)
class EfdModel:
    """Sub-flows of a law of sizes at a load.

    Parameters
    ----------
    flows : FlowPackets
        Sizes of flows.
    rho : float
        Offered load of their data, above 0, below 1.
    threshold : int
        Packets of a sub-flow that go to the high queue, from 1.
    splitting : Splitting
        How flows fall into sub-flows.

    Raises
    ------
    MayflyError
        A value is out of its bounds.
    """

    flows: FlowPackets
    rho: float
    threshold: int
    splitting: Splitting

    def __post_init__(self) -> None:
        if not 0 < self.rho < 1:
            raise MayflyError(f"rho = {self.rho}: must be above 0 and below 1")
        if self.threshold < 1:
            raise MayflyError(f"threshold = {self.threshold}: must be at least 1 packet")

    @cached_property
    def subflows(self) -> SubflowLaw:
        """Sub-flows of the flows."""
        return SubflowLaw(self.splitting.counts(self.flows))

    @cached_property
    def queue(self) -> MG1:
        """The queue of sub-flows: they arrive as a Poisson process, which flows in the network do not make them."""
        return MG1(self.subflows.discrete(), self.rho)

    @property
    def high_load(self) -> float:
        """Load of the high queue."""
        return float(self.queue.load(self.threshold))

    def subflow_response(self, variant: str, packets: Numbers) -> Floats:
        """Mean response time of sub-flows.

        Parameters
        ----------
        variant : str
            One of :data:`VARIANTS`.
        packets : numpy.ndarray
            Sizes, whole, from 0.

        Returns
        -------
        numpy.ndarray
            In the shape of ``packets``, transmissions of a packet.

        Notes
        -----
        Up to the threshold Eq. 5.2 with the load of the high queue for ``fifo``, and Eq. 5.3 for ``las``. Behind it
        Eq. 5.6 for ``fifo``, processor sharing in a level below, and Eq. 5.3 for ``las``: how a queue serves its own
        level does not change what a job waits for in another (Kleinrock 1976, 4.7).
        """
        high, low = _orders(variant)
        sizes = np.asarray(packets, dtype=float)
        short = sizes <= self.threshold
        found = np.empty(sizes.shape)
        found[short] = self._level(high)(sizes[short])
        found[~short] = self._level(low)(sizes[~short])
        return found

    def _level(self, order: str) -> Callable[[Floats], Floats]:
        from mayfly.models.queue import las

        return self._shared if order == "fifo" else lambda sizes: las.response(self.queue, sizes)

    def _shared(self, sizes: Floats) -> Floats:
        from mayfly.models.queue import levels

        return levels.response(self.queue, sizes, threshold=self.threshold)

    def flow_response(self, variant: str, packets: Numbers, control: bool = True) -> Floats:
        """Mean response time of flows.

        Parameters
        ----------
        variant : str
            One of :data:`VARIANTS`.
        packets : numpy.ndarray
            Sizes, whole, from 0.
        control : bool
            Whether SYN, ACK, FIN and ACK are sub-flows of one packet too.

        Returns
        -------
        numpy.ndarray
            In the shape of ``packets``, transmissions of a packet.

        Notes
        -----
        Chen 2012, 5.3.2.1: T(3) = 5 T_sub(1) + 1 T_sub(2) with, and T_sub(1) + T_sub(2) without control packets.
        """
        packets = np.asarray(packets, dtype=np.int64)
        upto = np.arange(int(packets.max(initial=0)) + 1)
        cost = np.r_[0.0, self.subflow_response(variant, upto[1:])]
        alone = self.subflow_response(variant, np.array([1]))[0]
        result: Floats = self.splitting.totals(cost)[packets] + (CONTROL * alone if control else 0.0)
        return result


def _orders(variant: str) -> tuple[str, str]:
    if variant not in VARIANTS:
        raise MayflyError(f"variant = {variant}: must be one of {', '.join(VARIANTS)}")
    high, _, low = variant.partition("+")
    return high, low
