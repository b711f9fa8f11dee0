"""Fluid model of TCP beside traffic that does not respond to losses, at one congested queue.

Principle: windows grow by a packet per round trip and halve at each loss; the queue takes what is offered beyond the
rate of the link. Drops are fixed, RED's, or what does not fit; losses at other hops and groups of flows with other
round-trip times may be added. No timeouts and no slow start: below some ten packets per window the model is too fast.
Sources: Zhao 2004, Eq. 2.1 to 2.10, 2.18, 2.20, after Misra, Gong and Towsley 2000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.tcp.delay_equations import Past, State, solve
from mayfly.models.tcp.drop_laws import DropLaw, FixedDrops

RateLaw = Callable[[float, float], float]
"""Rate of a flow, packets per second, by loss and round-trip time."""

DropShare = Callable[[float], float]
"""Share of the packets dropped early, by time."""


@dataclass(frozen=True)
class Group:
    """Equal TCP flows.

    Parameters
    ----------
    flows : float
        N_s, above 0.
    rtt_s : float
        T_p, round-trip time without the queue, s, above 0.
    window : float
        Receiver window, packets, above 0.
    elsewhere : float
        p_sum, share of the packets lost at other hops (Zhao 2004, Eq. 2.20), from 0 to below 1.
    per_ack : int
        Packets that an acknowledgement covers, from 1: a window grows by 1 / per_ack per round trip. Zhao has 1.

    Raises
    ------
    MayflyError
        A value out of its bounds.
    """

    flows: float
    rtt_s: float
    window: float = math.inf
    elsewhere: float = 0.0
    per_ack: int = 1

    def __post_init__(self) -> None:
        for name in ("flows", "rtt_s", "window"):
            value = getattr(self, name)
            if not (value > 0 and (name == "window" or math.isfinite(value))):
                raise MayflyError(f"{name} = {value:g}: must be above 0")
        if self.per_ack not in range(1, 1000):
            raise MayflyError(f"per_ack = {self.per_ack}: must be a whole number from 1")
        if not 0 <= self.elsewhere < 1:
            raise MayflyError(f"elsewhere = {self.elsewhere:g}: must be from 0 to below 1")


@dataclass(frozen=True)
class Fluid:
    """Traffic at a queue.

    Parameters
    ----------
    capacity_pps : float
        C, packets per second, above 0.
    groups : tuple of Group
        TCP flows, at least one group.
    drops : DropLaw
        At the queue.
    nonresponsive_pps : float
        N_u X_u, offered whatever happens, packets per second, from 0 (Eq. 2.3).
    nonresponsive_packets : float
        D, offered per round trip of the first group, packets, from 0 (Eq. 2.8, which takes X_u R for constant).
    buffer_packets : float
        Above 0; what comes when it is full is dropped.
    drops_leave : bool
        Whether what is dropped does not enter the queue (Eq. 2.18); else it does (Eq. 2.8).

    Raises
    ------
    MayflyError
        A value out of its bounds.
    """

    capacity_pps: float
    groups: tuple[Group, ...]
    drops: DropLaw = field(default_factory=lambda: FixedDrops(0.01))
    nonresponsive_pps: float = 0.0
    nonresponsive_packets: float = 0.0
    buffer_packets: float = math.inf
    drops_leave: bool = True

    def __post_init__(self) -> None:
        for name in ("capacity_pps", "buffer_packets"):
            if not getattr(self, name) > 0:
                raise MayflyError(f"{name} = {getattr(self, name):g}: must be above 0")
        for name in ("nonresponsive_pps", "nonresponsive_packets"):
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise MayflyError(f"{name} = {value:g}: must be 0 or more")
        if not self.groups:
            raise MayflyError("groups = (): must be one group of TCP flows or more")

    def rtts(self, queue: float) -> list[float]:
        """R of each group at a queue (Eq. 2.9), s."""
        waiting = queue / self.capacity_pps
        return [waiting + group.rtt_s for group in self.groups]

    def nonresponsive(self, rtt_s: float) -> float:
        """Rate of what does not respond, packets per second, while the first group's round trip takes ``rtt_s``."""
        return self.nonresponsive_pps + self.nonresponsive_packets / rtt_s

    def trajectory(
        self,
        duration_s: float,
        initial: Sequence[float] | None = None,
        *,
        step_s: float | None = None,
        drop_share: DropShare | None = None,
    ) -> Trajectory:
        """Windows and queue over time.

        Parameters
        ----------
        duration_s : float
            Above 0.
        initial : sequence of float, optional
            Window of each group, packets, queue, packets, and average queue, at time 0 and before; windows of 1 and an
            empty queue when absent.
        step_s : float, optional
            At most the shortest ``rtt_s``; a tenth of it when absent.
        drop_share : callable, optional
            p(t), share dropped early at each time, in place of ``drops``.

        Returns
        -------
        Trajectory
            With what halving the step changes.

        Raises
        ------
        MayflyError
            A value out of its bounds.

        Notes
        -----
        Zhao 2004, Eq. 2.2, 2.3, 2.9, 2.18, 2.20; the average of RED follows dx/dt = -ln(1 - w_q) (arrivals) (q - x).
        """
        shortest = min(group.rtt_s for group in self.groups)
        step_s = shortest / 10 if step_s is None else step_s
        if not 0 < step_s <= shortest:
            raise MayflyError(f"step_s = {step_s:g}: must be above 0, at most the shortest rtt_s, {shortest:g} s")
        if not 0 < duration_s < math.inf or duration_s / step_s > 1e6:
            raise MayflyError(f"duration_s = {duration_s:g}: must be above 0, at most a million steps of {step_s:g} s")
        start = [1.0] * len(self.groups) + [0.0, 0.0] if initial is None else [float(value) for value in initial]
        if len(start) != len(self.groups) + 2 or min(start) < 0:
            raise MayflyError(f"initial = {start}: must be a window per group, a queue and an average, 0 or more")
        found = solve(self._right(drop_share), start, duration_s, step_s, self._within)
        return Trajectory(self, found.times, found.states, found.error, drop_share)

    def _within(self, state: State) -> State:
        windows = [min(max(w, 0.0), group.window) for w, group in zip(state, self.groups, strict=False)]
        return [*windows, min(max(state[-2], 0.0), self.buffer_packets), max(state[-1], 0.0)]

    def flows_at(self, t: float, state: State, drop_share: DropShare | None) -> tuple[float, float, float]:
        """Arrivals and growth of the queue, packets per second, and the share of the arrivals that is lost."""
        queue = state[-2]
        rtts = self.rtts(queue)
        arrivals = self.nonresponsive(rtts[0]) + sum(
            group.flows * window / rtt for group, window, rtt in zip(self.groups, state, rtts, strict=False)
        )
        early = self.drops.probability(state[-1]) if drop_share is None else drop_share(t)
        entering = arrivals * (1 - early) if self.drops_leave else arrivals
        growth = entering - self.capacity_pps
        if queue <= 0 and growth < 0:
            return arrivals, 0.0, early
        if queue >= self.buffer_packets and growth > 0:
            return arrivals, 0.0, 1 - (1 - early) * self.capacity_pps / entering
        return arrivals, growth, early

    def _right(self, drop_share: DropShare | None) -> Callable[[float, State, Past], State]:
        weight = self.drops.weight
        pace = 0.0 if weight is None else -math.log1p(-weight)

        def right(t: float, state: State, past: Past) -> State:
            state = self._within(state)
            arrivals, growth, _ = self.flows_at(t, state, drop_share)
            slopes = []
            for index, (group, rtt) in enumerate(zip(self.groups, self.rtts(state[-2]), strict=True)):
                before = self._within(past(t - rtt))
                lost = self.flows_at(t - rtt, before, drop_share)[2] + group.elsewhere
                slope = (1 / group.per_ack - state[index] * before[index] * lost / 2) / rtt
                slopes.append(0.0 if slope > 0 and state[index] >= group.window else slope)
            return [*slopes, growth, pace * arrivals * (state[-2] - state[-1])]

        return right

    def equilibrium(self, rate: RateLaw | None = None) -> Equilibrium:
        """Where nothing changes.

        Parameters
        ----------
        rate : callable, optional
            Rate of a flow, packets per second, by loss and round-trip time, s, such as
            :func:`mayfly.models.tcp.laws.pftk_rate`, in place of the windows of Eq. 2.2; the receiver window still
            bounds it.

        Returns
        -------
        Equilibrium
            The only one: what is offered falls with the queue and with the drops.

        Raises
        ------
        MayflyError
            There is none, as nothing but a buffer without end meets the load.

        Notes
        -----
        Zhao 2004, after Eq. 2.12: 2 N_s^2 = z_0^2 p_0, that is W = sqrt(2 / p), or the receiver window; b packets per
        acknowledgement make it sqrt(2 / (b p)). The queue balances (1 - p) (sum of N W / R + N_u X_u) and C. Where RED
        jumps, or the buffer is full, p is what balances.
        """
        from scipy.optimize import brentq

        most = self.buffer_packets
        # Beyond this average RED drops all, so no queue is longer.
        if self.drops.weight is not None:
            most = min(most, 2 * self.drops.max_th + 1)

        def surplus(queue: float, early: float) -> float:
            return self._offered(queue, early, rate) * (1 - early if self.drops_leave else 1) - self.capacity_pps

        def excess(lost: float) -> float:
            return self._offered(most, lost, rate) * (1 - lost) - self.capacity_pps

        def held(queue: float) -> float:
            return surplus(queue, self.drops.probability(queue))

        if held(0.0) <= 0:
            return self._at(0.0, self.drops.probability(0.0), "link not full", rate)
        longest = 1.0
        while longest < min(most, 1e15) and held(longest) >= 0:
            longest *= 2
        longest = min(longest, most)
        if held(longest) < 0:
            queue = brentq(held, 0.0, longest, xtol=1e-12, rtol=1e-14)
            if abs(held(queue)) < 1e-6 * self.capacity_pps:
                return self._at(queue, self.drops.probability(queue), "queue", rate)
            share = brentq(lambda early: surplus(queue, early), 1e-15, 1 - 1e-12, xtol=1e-15)
            return self._at(queue, share, "jump of the drop law", rate)
        if not math.isfinite(self.buffer_packets) or excess(1 - 1e-12) > 0:
            raise MayflyError(
                f"nonresponsive_pps = {self.nonresponsive_pps:g}: must be below capacity_pps, "
                f"{self.capacity_pps:g}, or there must be a buffer"
            )
        early = self.drops.probability(most)
        share = brentq(excess, early, 1 - 1e-12, xtol=1e-15)
        return self._at(most, share, "full buffer", rate)

    def _windows(self, queue: float, lost: float, rate: RateLaw | None) -> list[float]:
        shares = [lost + group.elsewhere for group in self.groups]
        if rate is not None:
            rtts = self.rtts(queue)
            return [
                min(float(rate(share, rtt)) * rtt, group.window)
                for share, rtt, group in zip(shares, rtts, self.groups, strict=True)
            ]
        return [
            min(math.sqrt(2 / (group.per_ack * share)) if share > 0 else math.inf, group.window)
            for share, group in zip(shares, self.groups, strict=True)
        ]

    def _offered(self, queue: float, lost: float, rate: RateLaw | None) -> float:
        rtts = self.rtts(queue)
        windows = self._windows(queue, lost, rate)
        tcp = sum(group.flows * w / rtt for group, w, rtt in zip(self.groups, windows, rtts, strict=True))
        return self.nonresponsive(rtts[0]) + tcp

    def _at(self, queue: float, lost: float, bound: str, rate: RateLaw | None) -> Equilibrium:
        rtts = self.rtts(queue)
        windows = np.array(self._windows(queue, lost, rate))
        return Equilibrium(
            queue_packets=queue,
            loss=lost,
            windows=windows,
            rtts_s=np.array(rtts),
            rates_pps=np.array([group.flows for group in self.groups]) * windows / rtts,
            nonresponsive_pps=self.nonresponsive(rtts[0]),
            bound=bound,
        )


@dataclass(frozen=True)
class Equilibrium:
    """Where nothing changes.

    Parameters
    ----------
    queue_packets : float
        q_0, of the queue and of its average.
    loss : float
        p_0, share of the packets dropped at the queue.
    windows : numpy.ndarray, shape (groups,)
        W_0 of a flow of each group, packets.
    rtts_s : numpy.ndarray, shape (groups,)
        R_0 of each group, s.
    rates_pps : numpy.ndarray, shape (groups,)
        All flows of a group together send, packets per second.
    nonresponsive_pps : float
        Offered by what does not respond, packets per second.
    bound : str
        What holds it: ``queue``, ``link not full``, ``jump of the drop law`` or ``full buffer``.
    """

    queue_packets: float
    loss: float
    windows: Floats
    rtts_s: Floats
    rates_pps: Floats
    nonresponsive_pps: float
    bound: str

    @property
    def psi(self) -> float:
        """Share of the packets that does not respond (Zhao 2004, Eq. 2.10)."""
        return float(self.nonresponsive_pps / (self.nonresponsive_pps + self.rates_pps.sum()))


@dataclass(frozen=True)
class Trajectory:
    """Windows and queue over time.

    Parameters
    ----------
    model : Fluid
        Of what.
    times_s : numpy.ndarray, shape (n,)
        From 0.
    states : numpy.ndarray, shape (n, groups + 2)
        Windows, packets; queue, packets; its average, packets.
    error : numpy.ndarray, shape (groups + 2,)
        Largest change of each when the step was halved.
    drop_share : callable, optional
        p(t), in place of the drop law.
    """

    model: Fluid
    times_s: Floats
    states: Floats
    error: Floats
    drop_share: DropShare | None = None

    @property
    def windows(self) -> Floats:
        """Window of a flow of each group, packets, shape (n, groups)."""
        return self.states[:, :-2]

    @property
    def queue_packets(self) -> Floats:
        """q, shape (n,)."""
        return self.states[:, -2]

    @property
    def average_packets(self) -> Floats:
        """Average of RED, shape (n,)."""
        return self.states[:, -1]

    @property
    def rates_pps(self) -> Floats:
        """What each group sends, packets per second, shape (n, groups)."""
        flows = np.array([group.flows for group in self.model.groups])
        rtts = np.array([group.rtt_s for group in self.model.groups])
        return flows * self.windows / (rtts + self.queue_packets[:, None] / self.model.capacity_pps)

    @property
    def loss(self) -> Floats:
        """Share of the arrivals lost at the queue, shape (n,)."""
        pairs = zip(self.times_s, self.states, strict=True)
        return np.array([self.model.flows_at(t, list(state), self.drop_share)[2] for t, state in pairs])

    @property
    def psi(self) -> Floats:
        """Share of the arrivals that does not respond (Zhao 2004, Eq. 2.10), shape (n,)."""
        rtt = self.model.groups[0].rtt_s + self.queue_packets / self.model.capacity_pps
        other = self.model.nonresponsive_pps + self.model.nonresponsive_packets / rtt
        result: Floats = other / (other + self.rates_pps.sum(axis=1))
        return result
