"""EFD for flows of all sizes: response times over a path, with the sub-flows that the queues themselves make.

Principle: a flow of TCP is followed packet by packet through the two queues, the others there in their mean
(:mod:`mayfly.models.efd.tagged`); what all flows so have waiting must be that mean. Our own: Chen 2012, 5.3, takes
sub-flows from a simulation or from slow start, and has flows up to the threshold only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mayfly.arrays import Booleans, Floats, Numbers
from mayfly.errors import MayflyError
from mayfly.models.efd.subflow_law import FlowPackets
from mayfly.models.efd.tagged import Others, TaggedFlow
from mayfly.models.tcp.latency import Path, follow

WINDOWS = 7
"""Full windows behind the threshold until a flow is taken to go on as it does: slow start has ended by then."""

MOST_FOLLOWED = 100_000
"""Packets of a flow that are followed at most; bounds the threshold."""

TOLERANCE = 1e-4
"""Change of the means that ends the search, relative to the load, the high queue and a window."""

MOST_ROUNDS = 60
"""Rounds after which the search ends all the same."""

FULL_STEPS = 15
"""Rounds that go all the way to what was found; later ones a shorter part of it."""

NOBODY = 1e-12
"""Load of a link that a flow has to itself."""

UNLIKELY = 1e-5
"""Probability of the states of the low queue that are left out."""


@dataclass(frozen=True)
class Dumbbell:
    """Links, TCP and buffer.

    Parameters
    ----------
    path : Path
        Round-trip time of a small packet and TCP, with the time of a packet on the link; its losses count for nothing.
    access_s : float
        Time of a packet on each of the two access links, s, from 0.
    buffer : float
        Places of the queue, packets, from 1.

    Raises
    ------
    MayflyError
        A value is out of its bounds.
    """

    path: Path
    access_s: float = 0.0
    buffer: float = 300.0

    def __post_init__(self) -> None:
        if not self.path.packet_s > 0:
            raise MayflyError(f"packet_s = {self.path.packet_s:g}: must be above 0 s")
        if not 0 <= self.access_s < math.inf:
            raise MayflyError(f"access_s = {self.access_s:g}: must be 0 s or more")
        if not self.buffer >= 1:
            raise MayflyError(f"buffer = {self.buffer:g}: must be at least 1 packet")
        if not self.path.window < MOST_FOLLOWED / WINDOWS:
            raise MayflyError(f"window = {self.path.window:g}: must be below {MOST_FOLLOWED // WINDOWS} packets")

    @classmethod
    def of_rates(
        cls,
        rate_bps: float,
        rtt_s: float,
        *,
        access_bps: float = math.inf,
        packet_bytes: float = 1500.0,
        header_bytes: float = 40.0,
        buffer: float = 300.0,
        **tcp: float,
    ) -> Dumbbell:
        """A dumbbell of links with rates, as in the scenario `wired`.

        Parameters
        ----------
        rate_bps, access_bps : float
            Of the link and of the access links, bit/s, above 0.
        rtt_s : float
            Propagation there and back, s, from 0; the times of small packets on all links come on top.
        packet_bytes, header_bytes : float
            Of a packet with data and of one without, on the wire.
        buffer : float
            Places of the queue, packets.
        **tcp
            Of :class:`~mayfly.models.tcp.latency.Path`; the window is 43 packets when absent.

        Examples
        --------
        >>> found = Dumbbell.of_rates(10e6, 0.02, access_bps=100e6)
        >>> round(found.path.packet_s, 6), round(found.access_s, 6), round(found.path.rtt_s, 6)
        (0.0012, 0.00012, 0.020077)
        """
        for name, value in {"rate": rate_bps, "access_rate": access_bps, "packet": packet_bytes}.items():
            if not value > 0:
                raise MayflyError(f"{name} = {value:g}: must be above 0")
        if not 0 < header_bytes <= packet_bytes:
            raise MayflyError(
                f"header = {header_bytes:g}: must be above 0, at most the packet of {packet_bytes:g} bytes"
            )
        if not 0 <= rtt_s < math.inf:
            raise MayflyError(f"rtt = {rtt_s:g}: must be 0 s or more")
        bit_s = 1 / rate_bps + 2 / access_bps
        more: dict[str, Any] = {"window": 43} | tcp
        path = Path(rtt_s + 2 * 8 * header_bytes * bit_s, packet_s=8 * packet_bytes / rate_bps, **more)
        return cls(path, 8 * packet_bytes / access_bps, buffer)


@dataclass(frozen=True)
class Means:
    """What flows find in the queues, on average.

    Parameters
    ----------
    high_load : float
        Load of the high queue.
    high : float
        Packets in the high queue, the one in transmission included.
    high_squares : float
        Mean square of the packets that a flow sends through the high queue.
    window : float
        Packets that a flow with any in the low queue has there.
    change : float
        Of the last round of the search.
    """

    high_load: float
    high: float
    high_squares: float
    window: float
    change: float = math.inf


@dataclass(frozen=True, eq=False)
class Followed:
    """A flow that was followed, with so many others in the low queue.

    Parameters
    ----------
    probability : float
        Of so many others.
    ahead : float
        Their packets in the low queue.
    high : numpy.ndarray, shape (n,)
        Whether each packet went through the high queue.
    spent_s : numpy.ndarray, shape (n,)
        Time of each packet in its queue and in transmission, s.
    ends_s : numpy.ndarray, shape (n - 1,)
        From the SYN to the end of the FIN exchange of flows of 1, 2, ... packets, s.
    slope_s : float
        Time of each further packet, s.
    high_share : float
        Of the further packets.
    tail : slice
        The last packets followed: further ones are like these on average.
    """

    probability: float
    ahead: float
    high: Booleans
    spent_s: Floats
    ends_s: Floats
    slope_s: float
    high_share: float
    tail: slice

    def total(self, of_packet: Floats, reached: Floats) -> float:
        """Mean sum over the packets of a flow; ``reached`` has the share of the flows that have each packet."""
        n = len(of_packet)
        return float(of_packet @ reached[:n]) + float(of_packet[self.tail].mean()) * float(reached[n:].sum())

    def high_squares(self, reached: Floats) -> float:
        """Mean square of the high packets of a flow: a flow's h-th adds 2 h - 1."""
        n, count = len(self.high), np.cumsum(self.high)
        further = count[-1] + self.high_share * np.arange(1, len(reached) - n + 1)
        known = float((self.high * (2 * count - 1)) @ reached[:n])
        return known + self.high_share * float((2 * further - self.high_share) @ reached[n:])


def low_states(load: float) -> tuple[Floats, Floats]:
    """How many flows have packets in the low queue: geometric, as in processor sharing, in groups.

    Parameters
    ----------
    load : float
        Of the low queue in the time that the high one leaves it, from 0 to below 1.

    Returns
    -------
    probability, flows : numpy.ndarray, shape (n_groups,)
        Of each group, and mean number in it.

    Examples
    --------
    >>> probability, flows = low_states(0.5)
    >>> probability[:3].round(3).tolist(), flows[:3].round(3).tolist(), round(float(probability @ flows), 4)
    ([0.5, 0.25, 0.125], [0.0, 1.0, 2.0], 1.0)
    """
    if load <= 1e-6:
        return np.ones(1), np.zeros(1)
    last = math.log(UNLIKELY) / math.log(load)
    first = np.unique(np.r_[0:6, np.ceil(6 * 1.5 ** np.arange(0, math.log(last + 6) / math.log(1.5)))])
    first = first[first < max(last, 1)]
    beyond = np.r_[load**first, 0.0]
    above = first * load**first
    probability = beyond[:-1] - beyond[1:]
    return probability, (above - np.r_[above[1:], 0.0]) / probability + load / (1 - load)


@dataclass(frozen=True, eq=False)
class EfdSizes:
    """Flows of all sizes under EFD at a load.

    Parameters
    ----------
    flows : FlowPackets
        Sizes.
    rho : float
        Offered load of their packets, above 0, below 1.
    threshold : int
        Packets of a sub-flow that go to the high queue, from 1.
    network : Dumbbell
        Links, TCP and buffer.

    Raises
    ------
    MayflyError
        A value is out of its bounds.

    Notes
    -----
    docs/models/efd-sizes.md has the assumptions and the errors.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> flows = FlowPackets.of_law(service_law("zipf:min=6,mean=40,cov=6"))
    >>> model = EfdSizes(flows, 0.5, 20, Dumbbell.of_rates(10e6, 0.02, access_bps=100e6))
    >>> model.response([6, 20, 1000]).round(3).tolist(), round(model.means.high_load, 3)
    ([0.099, 0.135, 2.475], 0.221)
    """

    flows: FlowPackets
    rho: float
    threshold: int
    network: Dumbbell

    def __post_init__(self) -> None:
        if not 0 < self.rho < 1:
            raise MayflyError(f"rho = {self.rho:g}: must be above 0 and below 1")
        if not 1 <= self.threshold <= MOST_FOLLOWED:
            raise MayflyError(f"threshold = {self.threshold}: must be from 1 to {MOST_FOLLOWED} packets")

    def response(self, packets: Numbers) -> Floats:
        """Mean time from the SYN to the end of the FIN exchange.

        Parameters
        ----------
        packets : array_like
            Sizes, whole, from 1.

        Returns
        -------
        numpy.ndarray
            In the shape of ``packets``, s.

        Raises
        ------
        MayflyError
            A size is out of its bounds.
        """
        sizes = np.asarray(packets, dtype=float)
        if wrong := sizes[~((sizes >= 1) & (sizes == np.floor(sizes)) & (sizes < math.inf))].tolist():
            raise MayflyError(f"at = {wrong[0]:g}: must be whole packets, from 1")
        ends, slope = self._curve
        within = np.minimum(sizes, len(ends)).astype(np.int64)
        result: Floats = ends[within - 1] + np.maximum(sizes - len(ends), 0.0) * slope
        return result

    def alone(self, packets: Numbers) -> Floats:
        """Time of flows that meet nobody, as :meth:`response`: at next to no load."""
        return replace(self, rho=NOBODY).response(packets)

    @property
    def mean(self) -> float:
        """Mean over all flows, s."""
        return float(self.flows.shares @ self.response(np.arange(1, len(self.flows.shares) + 1)))

    @cached_property
    def means(self) -> Means:
        """The state of the queues that the flows produce and respond to, as a fixed point."""
        found = Means(self.rho / 2, self.rho, float(self.threshold), self._window / 2)
        for number in range(MOST_ROUNDS):
            # Steps get shorter: a packet that is only just high or low would make the search oscillate.
            found = self._next(found, min(1.0, FULL_STEPS / (number + 1)))
            if found.change < TOLERANCE:
                break
        return found

    @property
    def _window(self) -> float:
        """Largest window, packets: no more fit on the path and in the buffer."""
        path = self.network.path
        return max(min(path.window, self.network.buffer + path.rtt_s / path.packet_s), path.initial_window)

    @cached_property
    def _curve(self) -> tuple[Floats, float]:
        """Response times of flows of 1, 2, ... packets, s, and time of each packet more, s."""
        states = self._states(self.means)
        return (
            np.sum([state.probability * state.ends_s for state in states], axis=0),
            sum(state.probability * state.slope_s for state in states),
        )

    def _next(self, means: Means, part: float) -> Means:
        """A part of the way to what flows bring along that find these means (Little)."""
        states, reached = self._states(means), self.flows.beyond
        rate = self.rho / (self.flows.mean * self.network.path.packet_s)

        def mean(of: Callable[[Followed], float]) -> float:
            return sum(state.probability * of(state) for state in states)

        load = self.rho / self.flows.mean * mean(lambda state: state.total(state.high.astype(float), reached))
        high = rate * mean(lambda state: state.total(state.high * state.spent_s, reached))
        low = rate * mean(lambda state: state.total(~state.high * state.spent_s, reached))
        ahead = mean(lambda state: state.ahead)
        window = min(max(means.window * low / ahead, 1e-3), self._window) if ahead > 0 else means.window
        steps = (load - means.high_load, (high - means.high) / max(high, 0.1), (window - means.window) / self._window)
        return Means(
            means.high_load + part * (load - means.high_load),
            means.high + part * (high - means.high),
            mean(lambda state: state.high_squares(reached)),
            means.window * (window / means.window) ** part,
            max(map(abs, steps)),
        )

    def _states(self, means: Means) -> list[Followed]:
        """Flows followed, for each number of others in the low queue."""
        low_load = max(self.rho - means.high_load, 0.0) / (1 - means.high_load)
        return [
            self._follow(means, *state) for state in zip(*map(np.ndarray.tolist, low_states(low_load)), strict=True)
        ]

    def _follow(self, means: Means, probability: float, flows: float) -> Followed:
        """A flow beside so many others in the low queue."""
        network, path, longest = self.network, self.network.path, len(self.flows.shares)
        others = self._others(means)
        low_s = others.low_packet_s(path.packet_s)
        fits = (network.buffer + path.rtt_s / low_s) / (flows + 1)
        window = max(min(self._window, fits), path.initial_window)
        ahead = flows * means.window * window / self._window
        others = replace(others, low_wait_s=others.low_wait_s + ahead * low_s)
        link = TaggedFlow(path.packet_s, network.access_s, self.threshold, others)
        opened_s = link.control(0.0) + path.rtt_s
        followed = min(self.threshold + math.ceil(WINDOWS * min(self._window, longest)), longest) + 1
        arrivals, _ = follow(followed, replace(path, window=window), link, opened_s)
        high, spent_s = link.record()
        tail = slice(followed - min(math.ceil(3 * self._window), followed // 2), followed)
        # The FIN takes the place of a packet, and no time on the links; the last acknowledgement finds the high queue.
        fin_s = arrivals[1:] - path.packet_s - 2 * network.access_s
        ends_s = np.maximum(arrivals[:-1], fin_s) + path.rtt_s + others.rest_s + others.high_wait_s
        high_share = float(high[tail].mean())
        alike_s = float(np.diff(arrivals[tail]).mean()) if followed > 3 else 0.0
        fair_s = (1 - high_share) * (flows + 1) * low_s
        return Followed(probability, ahead, high, spent_s, ends_s, max(alike_s, fair_s), high_share, tail)

    def _others(self, means: Means) -> Others:
        """The others where none has packets in the low queue."""
        packet_s, idle = self.network.path.packet_s, 1 - means.high_load
        low_load = max(self.rho - means.high_load, 0.0)
        # An arrival finds half of the packet in transmission, on average.
        wait_s = max(means.high - means.high_load / 2, 0.0) * packet_s
        work_s = self.rho / self.flows.mean * means.high_squares * packet_s / (2 * idle)
        return Others(means.high_load, wait_s, low_load * packet_s / 2, max(work_s, wait_s), wait_s / idle)
