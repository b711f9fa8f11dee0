"""Flows as the flights of TCP's slow start: the first of two ways to guess their sub-flows under EFD.

Each flight is a sub-flow: its packets come together and are gone before the next one. Source: Chen 2012, 5.3.2.1; the
windows are those of Sikdar, Kalyanaraman and Vastola 2003 for a receiver that acknowledges every second packet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.models.efd.subflow_law import FlowPackets

WINDOW = 43
"""Largest window, packets: 64.5 kB (Chen 2012, 5.3.2.1)."""


def windows(flights: int, largest: int = WINDOW) -> Integers:
    """Window of each flight.

    Parameters
    ----------
    flights : int
        How many, from 0.
    largest : int
        Largest window, packets, from 1.

    Returns
    -------
    numpy.ndarray, shape (flights,)
        Packets.

    Notes
    -----
    Chen 2012, Eq. 5.10: floor(2^((n-1)/2) + 2^((n-2)/2)) for n = 1, 2, ..., which gives the sequence printed from its
    first term on. A sender that counts its acknowledgements one by one has 28 and 42 packets in place of 27 and 38 in
    flights 9 and 10.

    Examples
    --------
    >>> windows(12).tolist()
    [1, 2, 3, 4, 6, 9, 13, 19, 27, 38, 43, 43]
    """
    # Beyond 2^40 packets the cap has long been reached.
    n = np.minimum(np.arange(1, flights + 1), 80)
    return np.minimum(np.floor(2.0 ** ((n - 1) / 2) + 2.0 ** ((n - 2) / 2)), largest).astype(np.int64)


def flights(packets: int, largest: int = WINDOW) -> Integers:
    """Flights of a flow.

    Parameters
    ----------
    packets : int
        Of the flow, from 0.
    largest : int
        Largest window, packets.

    Returns
    -------
    numpy.ndarray, shape (n_flights,)
        Packets of each; the last takes what is left.

    Examples
    --------
    >>> flights(8).tolist()
    [1, 2, 3, 2]
    """
    sizes = _enough(packets, largest)
    before = np.cumsum(sizes) - sizes
    found: Integers = np.minimum(sizes, packets - before)
    return found[before < packets]


def flight_count(packets: Floats, largest: int = WINDOW) -> Floats:
    """How many flights flows of given sizes take: their time in slow start without loss is as many round trips.

    Parameters
    ----------
    packets : numpy.ndarray
        Sizes, whole, from 0.
    largest : int
        Largest window, packets.

    Returns
    -------
    numpy.ndarray
        In the shape of ``packets``, int64.

    Notes
    -----
    Sikdar, Kalyanaraman and Vastola 2001 have the latency of a short transfer so; before the cap n flights hold about
    (1 + 2^(-1/2)) (2^(n/2) - 1) / (2^(1/2) - 1) packets, the sum of Eq. 5.10 without rounding down.

    Examples
    --------
    >>> flight_count(np.array([1, 3, 10, 100])).tolist()
    [1, 2, 4, 10]
    """
    packets = np.asarray(packets)
    held = np.cumsum(_enough(int(packets.max(initial=0)), largest))
    return np.where(packets > 0, np.searchsorted(held, packets) + 1, 0)


def _enough(packets: int, largest: int) -> Integers:
    """Windows that together hold at least ``packets``."""
    if largest < 1:
        raise MayflyError(f"window = {largest}: must be at least 1 packet")
    # The cap is reached within 80 flights, whatever it is.
    return windows(80 + packets // largest, largest)


@dataclass(frozen=True)
class Flights:
    """Splitting of flows into flights.

    Parameters
    ----------
    window : int
        Largest window, packets.
    """

    window: int = WINDOW

    def counts(self, flows: FlowPackets) -> Floats:
        """Expected sub-flows of 1, 2, ... packets of a flow, shape (largest,).

        Parameters
        ----------
        flows : FlowPackets
            Sizes.

        Returns
        -------
        numpy.ndarray
            Exact sums over the law: a flight is full for all flows that reach its end, and short for one size each.

        Examples
        --------
        >>> Flights().counts(FlowPackets(np.array([0.0, 0.5, 0.0, 0.0, 0.5]))).tolist()
        [1.5, 1.0]
        """
        largest = len(flows.shares)
        sizes = _enough(largest, self.window)
        ends = np.cumsum(sizes)
        sizes, ends = sizes[ends - sizes < largest], ends[ends - sizes < largest]
        found = np.zeros(int(sizes.max()))
        whole = ends <= largest
        np.add.at(found, sizes[whole] - 1, flows.beyond[ends[whole] - 1])
        for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
            short = flows.shares[end - size : end - 1]
            found[: len(short)] += short
        return np.trim_zeros(found, "b")

    def totals(self, cost: Floats) -> Floats:
        """Sum a cost over the sub-flows of a flow of each size, as ``Splitting`` of ``subflow_law`` describes.

        Examples
        --------
        >>> Flights().totals(np.array([0.0, 1.0, 10.0, 100.0])).tolist()
        [0.0, 1.0, 2.0, 11.0]
        """
        packets = np.arange(len(cost))
        sizes = _enough(len(cost), self.window)
        ends = np.cumsum(sizes)
        # Flights that are full, and what is left for the next one.
        full = np.searchsorted(ends, packets, side="right")
        starts = np.r_[0, ends]
        capped = np.minimum(sizes, len(cost) - 1)
        rest = packets - starts[full]
        result: Floats = np.r_[0.0, np.cumsum(cost[capped])][full] + np.where(rest > 0, cost[rest], 0.0)
        return result
