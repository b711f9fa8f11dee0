"""Sub-flows of EFD: into how many of each size a flow falls, and what of them each queue sees.

A sub-flow is what a flow has waiting without a pause (Chen 2012, 5.1): EFD forgets a flow with its last packet. Sizes
are whole packets with data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.solving import MAX_PACKETS

if TYPE_CHECKING:
    from mayfly.laws.service import Discrete, ServiceLaw

NEGLIGIBLE = 1e-9
"""Share of all packets that are in flows beyond the largest told apart, where a law has no largest."""


class Splitting(Protocol):
    """How flows fall into sub-flows."""

    def counts(self, flows: FlowPackets) -> Floats:
        """Expected sub-flows of 1, 2, ... packets of a flow, shape (largest,)."""

    def totals(self, cost: Floats) -> Floats:
        """Expected sum of a cost over the sub-flows of a flow.

        Parameters
        ----------
        cost : numpy.ndarray, shape (n + 1,)
            Of a sub-flow of 0, 1, ..., n packets.

        Returns
        -------
        numpy.ndarray, shape (n + 1,)
            Of a flow of 0, 1, ..., n packets.
        """


@dataclass(frozen=True, eq=False)
class FlowPackets:
    """Sizes of flows in whole packets.

    Parameters
    ----------
    shares : numpy.ndarray, shape (largest,)
        Of the flows of 1, 2, ... packets; they sum to 1.
    """

    shares: Floats

    @classmethod
    def of_law(cls, law: ServiceLaw) -> FlowPackets:
        """Round a law up to whole packets.

        Parameters
        ----------
        law : ServiceLaw
            In packets.

        Returns
        -------
        FlowPackets
            Of a law without a largest size all flows beyond one with 1e-9 of the packets above it count as that one.

        Raises
        ------
        MayflyError
            Flows that count have more than 10^7 packets.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> FlowPackets.of_law(service_law("deterministic:value=2.5")).shares.tolist()
        [0.0, 0.0, 1.0]
        """
        largest = law.largest
        if not math.isfinite(largest):
            largest = max(law.mean, 1.0)
            while largest <= MAX_PACKETS and law.mean - law.truncated(1, largest) > NEGLIGIBLE * law.mean:
                largest *= 2
        if largest > MAX_PACKETS:
            raise MayflyError(f"largest flow = {largest:g}: must be at most {MAX_PACKETS} packets")
        beyond = np.asarray(law.survival(np.arange(math.ceil(largest) + 1.0)))
        beyond[-1] = 0.0
        return cls(beyond[:-1] - beyond[1:])

    @cached_property
    def beyond(self) -> Floats:
        """P(size > n) for n = 0, 1, ..., largest."""
        result: Floats = np.r_[np.cumsum(self.shares[::-1])[::-1], 0.0]
        return result

    @property
    def mean(self) -> float:
        """Mean size, packets."""
        return float(self.shares @ np.arange(1, len(self.shares) + 1))


@dataclass(frozen=True, eq=False)
class SubflowLaw:
    """Sub-flows of the flows of a link by size.

    Parameters
    ----------
    counts : numpy.ndarray, shape (largest,)
        Expected number of sub-flows of 1, 2, ... packets that a flow falls into.
    """

    counts: Floats

    @property
    def per_flow(self) -> float:
        """Mean number of sub-flows of a flow."""
        return float(self.counts.sum())

    @property
    def packets(self) -> float:
        """Mean number of packets of a flow."""
        return float(self.counts @ self.sizes)

    @property
    def sizes(self) -> Integers:
        """1, 2, ..., shape (largest,)."""
        return np.arange(1, len(self.counts) + 1)

    @property
    def shares(self) -> Floats:
        """Share of the sub-flows that have each size, shape (largest,)."""
        return self.counts / self.per_flow

    @property
    def cov(self) -> float:
        """Coefficient of variation of the size of a sub-flow."""
        mean = float(self.shares @ self.sizes)
        return math.sqrt(max(float(self.shares @ self.sizes**2) / mean**2 - 1, 0.0))

    def upto(self, packets: int) -> float:
        """Share of the sub-flows of at most ``packets`` packets."""
        return float(self.shares[:packets].sum())

    def high(self, threshold: int) -> SubflowLaw:
        """What the high queue sees: the first ``threshold`` packets of each (Chen 2012, Fig. 5.2).

        Examples
        --------
        >>> SubflowLaw(np.array([2.0, 0.0, 1.0])).high(2).counts.tolist()
        [2.0, 1.0]
        """
        if threshold >= len(self.counts):
            return self
        return SubflowLaw(np.r_[self.counts[: threshold - 1], self.counts[threshold - 1 :].sum()])

    def low(self, threshold: int) -> SubflowLaw | None:
        """What the low queue sees: the packets behind the first ``threshold`` of each; None where there are none.

        Examples
        --------
        >>> SubflowLaw(np.array([2.0, 0.0, 1.0])).low(2).counts.tolist()
        [1.0]
        """
        rest = self.counts[threshold:]
        return SubflowLaw(rest) if rest.sum() > 0 else None

    def discrete(self) -> Discrete:
        """The law for the queueing models."""
        from mayfly.laws.service import Discrete

        return Discrete(self.sizes, self.counts)


def measured_shares(packets: Sequence[int] | Floats) -> Floats:
    """Shares of measured sub-flows by size.

    Parameters
    ----------
    packets : array_like, shape (n_subflows,)
        Whole packets; those of 0, which carry no data, are left out.

    Returns
    -------
    numpy.ndarray, shape (largest,)
        Of the sub-flows of 1, 2, ... packets; they sum to 1.

    Raises
    ------
    MayflyError
        No sub-flow has a packet, or one is negative or larger than 10^7 packets.

    Examples
    --------
    >>> measured_shares([1, 3, 0, 1]).round(3).tolist()
    [0.667, 0.0, 0.333]
    """
    sizes = np.asarray(packets).ravel()
    if wrong := sizes[~((sizes >= 0) & (sizes <= MAX_PACKETS) & (sizes == np.floor(sizes)))].tolist():
        raise MayflyError(f"sub-flow = {wrong[0]} packets: must be whole, from 0 to {MAX_PACKETS}")
    counts = np.bincount(sizes.astype(np.int64))[1:]
    if counts.sum() == 0:
        raise MayflyError("no sub-flow has a packet with data")
    result: Floats = counts / counts.sum()
    return result
