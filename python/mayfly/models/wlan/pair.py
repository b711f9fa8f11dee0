"""One TCP transfer in a cell: a sender that always has data against a receiver that answers every other packet.

Principle: a Markov chain over the ends of transmissions. Its state is what is left of the backoff of the node that did
not send, its stage, the answers that wait, and the packets since the last answer. In the idle slots between two ends
both count down; the chain gives their number and the collisions of a cycle, that is, of one answer and its packets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import product
from numbers import Integral

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.models.wlan.times import TCP_ACK_BYTES, CellTimes

STAGE = 2
"""Last stage that is followed; windows stay at its length. One more stage moves the throughput by less than 10^-4."""

WAITING = 12
"""Answers that can wait; one more is lost, with a probability the result states."""

FRESH = ("draws", "at-once")
"""What an answer does that meets no other: draw a backoff, since the frame it answers has just taken the medium, or
follow it without one, as ns-3.37 has it."""


@dataclass(frozen=True)
class PairCycle:
    """One answer, and the packets it answers.

    Parameters
    ----------
    idle_slots : float
        Slots of backoff in which both count down, mean.
    collisions : float
        Mean number.
    lost : float
        Answers that found no room in the chain: an error of the truncation.
    """

    idle_slots: float
    collisions: float
    lost: float


@dataclass(frozen=True)
class PairThroughput:
    """A TCP transfer alone in a cell.

    Parameters
    ----------
    throughput_bps : float
        IP bits of data.
    cycle_s : float
        From one answer to the next, seconds.
    collision_sender, collision_receiver : float
        Probabilities that a transmission of either collides.
    """

    throughput_bps: float
    cycle_s: float
    collision_sender: float
    collision_receiver: float


def single_tcp(
    times: CellTimes,
    *,
    packet_bytes: int = 1500,
    answer_bytes: int = TCP_ACK_BYTES,
    per_answer: int = 2,
    fresh: str = "draws",
    after_failure: str = "timeout",
) -> PairThroughput:
    """Throughput of one TCP transfer whose window keeps the sender of the cell busy.

    Parameters
    ----------
    times : CellTimes
        Of the link, with both lengths.
    packet_bytes, answer_bytes : int
        IP packets of the data, and of the acknowledgements.
    per_answer : int
        Packets for one acknowledgement, from 1 to 8; 2 with delayed acknowledgements.
    fresh : str
        ``draws`` or ``at-once``: an acknowledgement that finds its node's queue empty and backoff over. 802.11 lets it
        draw a backoff; ns-3.37 sends it DIFS after the frame that it answers. Of an upload, whose acknowledgements
        come over the wire at any time, ``draws`` is near in both.
    after_failure : str
        When the sender contends again after a collision: ``timeout``, after its timeout and DIFS since the end of its
        frame (802.11); ``timeout-and-difs``, DIFS after its timeout (ns-3); ``with-others``, with the receiver. The
        receiver's own timeout is over by the end of the longer frame.

    Returns
    -------
    PairThroughput
        IP bits, as the other models; TCP payload is 1460 / 1500 of it.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    T = d T_data + T_ack + x T_collision + i sigma with d packets, x collisions and i idle slots in a cycle: times as in
    :func:`mayfly.models.wlan.dcf.saturation`. No frame is given up, none is damaged, no packet is lost.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11a", lengths=[1536, 76]))
    >>> single_tcp(times).throughput_bps < 2 * 12000 / (2 * times.exchange_s(1500) + times.exchange_s(40))
    True
    """
    cycle = pair_cycle(times.cw_min, times.cw_max, per_answer, fresh, head_start_slots(times, after_failure))
    cycle_s = (
        per_answer * times.exchange_s(packet_bytes)
        + times.exchange_s(answer_bytes)
        + cycle.collisions * times.collision_s(max(packet_bytes, answer_bytes))
        + cycle.idle_slots * times.slot_s
    )
    return PairThroughput(
        throughput_bps=8 * packet_bytes * per_answer / cycle_s,
        cycle_s=cycle_s,
        collision_sender=cycle.collisions / (per_answer + cycle.collisions),
        collision_receiver=cycle.collisions / (1 + cycle.collisions),
    )


def head_start_slots(times: CellTimes, after_failure: str) -> int:
    """Whole slots for which the sender of the longest frame of a collision waits longer than the others.

    Parameters
    ----------
    times : CellTimes
        Of the link.
    after_failure : str
        As for :func:`single_tcp`.

    Returns
    -------
    int
        From 0.

    Raises
    ------
    MayflyError
        Another rule.
    """
    waits_s = {
        "with-others": 0.0,
        "timeout": times.ack_timeout_s - times.difs_s,
        "timeout-and-difs": times.ack_timeout_s,
    }
    if after_failure not in waits_s:
        raise MayflyError(f"after_failure = {after_failure}: must be one of {', '.join(waits_s)}")
    return max(int(waits_s[after_failure] / times.slot_s + 1e-9), 0)


@cache
def pair_cycle(
    cw_min: int, cw_max: int, per_answer: int = 2, fresh: str = "draws", head_start_slots: int = 0
) -> PairCycle:
    """Idle slots and collisions of a cycle, by the rule of 802.11: idle slots alone count down.

    Parameters
    ----------
    cw_min, cw_max : int
        Contention windows, slots less one; the least from 1 to 127.
    per_answer, fresh
        As for :func:`single_tcp`.
    head_start_slots : int
        Slots that the receiver counts before the sender does after a collision, from 0 to 100.

    Returns
    -------
    PairCycle
        Means.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Examples
    --------
    >>> cycle = pair_cycle(15, 1023)
    >>> 0 < cycle.collisions < 0.2 and 14 < cycle.idle_slots < 18
    True
    """
    if not 1 <= cw_min <= 127 or cw_max < cw_min:
        raise MayflyError(f"cw_min = {cw_min}: must be from 1 to 127, and cw_max = {cw_max} not below")
    if not (isinstance(per_answer, Integral) and 1 <= per_answer <= 8):
        raise MayflyError(f"per_answer = {per_answer}: must be from 1 to 8")
    if fresh not in FRESH:
        raise MayflyError(f"fresh = {fresh}: must be one of {', '.join(FRESH)}")
    if not (isinstance(head_start_slots, Integral) and 0 <= head_start_slots <= 100):
        raise MayflyError(f"head_start_slots = {head_start_slots}: must be from 0 to 100")
    chain = _Chain(cw_min, cw_max, per_answer, fresh, head_start_slots)
    share = chain.stationary()
    answers = share @ chain.answered
    return PairCycle(
        idle_slots=float(share @ chain.slots / answers),
        collisions=float(share @ chain.collided / answers),
        lost=float(share @ chain.lost / answers),
    )


class _Chain:
    """Transitions from one end of a transmission to the next.

    States: ``S`` the sender has succeeded and draws, the receiver keeps a rest at a stage; ``R`` the receiver has
    succeeded and draws, the sender keeps a rest; ``C`` both have collided and draw. Each with the answers that wait
    and the packets since the last one.
    """

    def __init__(self, cw_min: int, cw_max: int, per_answer: int, fresh: str, head_start: int):
        self.windows = [min((cw_min + 1) << stage, cw_max + 1) for stage in range(STAGE + 1)]
        self.per_answer, self.fresh, self.head_start = per_answer, fresh, head_start
        shape = (STAGE + 1, self.windows[-1], WAITING + 1, per_answer)
        kept = np.arange(2 * math.prod(shape)).reshape(2, *shape)
        self.kept = {"S": kept[0], "R": kept[1]}
        both = (STAGE + 1, STAGE + 1, WAITING + 1, per_answer)
        self.both = kept.size + np.arange(math.prod(both)).reshape(both)
        self.size = kept.size + self.both.size
        self.slots, self.collided, self.answered, self.lost = np.zeros((4, self.size))
        self.entries: list[tuple[Integers, Integers, Floats]] = []
        for waiting, since in product(range(WAITING + 1), range(per_answer)):
            for stage in range(STAGE + 1) if waiting else [0]:
                self._sender_draws(stage, waiting, since)
            for stage in range(STAGE + 1):
                self._receiver_draws(stage, waiting, since)
            collided = range(1, STAGE + 1) if waiting else ()
            for sender, receiver in product(collided, collided):
                self._both_draw(sender, receiver, waiting, since)

    def stationary(self) -> Floats:
        """Shares of the states."""
        from scipy.sparse import coo_array

        rows, columns, chances = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        moves = coo_array((chances, (columns, rows)), shape=(self.size, self.size)).tocsr()
        share = np.zeros(self.size)
        share[self.kept["S"][0, 0, 0, 0]] = 1.0
        for _ in range(100_000):
            moved = moves @ share
            if np.abs(moved - share).sum() < 1e-10:
                break
            share = moved
        result: Floats = moved / moved.sum()
        return result

    def _sender_draws(self, stage: int, waiting: int, since: int) -> None:
        window = self.windows[0]
        rest, drawn = np.divmod(np.arange(self.windows[stage] * window), window)
        self._contest(self.kept["S"][stage, rest, waiting, since], drawn, rest, 1 / window, (0, stage), waiting, since)

    def _receiver_draws(self, stage: int, waiting: int, since: int) -> None:
        window = self.windows[0]
        rest, drawn = np.divmod(np.arange(self.windows[stage] * window), window)
        self._contest(self.kept["R"][stage, rest, waiting, since], rest, drawn, 1 / window, (stage, 0), waiting, since)

    def _both_draw(self, sender: int, receiver: int, waiting: int, since: int) -> None:
        own, other = self.windows[sender], self.windows[receiver]
        drawn, rest = np.divmod(np.arange(own * other), other)
        state = np.full(own * other, self.both[sender, receiver, waiting, since])
        stages = (sender, receiver)
        self._contest(state, drawn + self.head_start, rest, 1 / (own * other), stages, waiting, since, drawn)

    def _contest(
        self,
        state: Integers,
        sender: Integers,
        receiver: Integers,
        chance: float,
        stages: tuple[int, int],
        waiting: int,
        since: int,
        drawn: Integers | None = None,
    ) -> None:
        """From states in which both counters are known: who sends first, and what is left to the other.

        ``drawn`` is the sender's counter without the head start, to which it falls back once the medium turns busy.
        """
        first = (np.minimum(sender, receiver) if waiting else sender).astype(float)
        self._add(self.slots, state, first * chance)
        if not waiting:
            self._sent(state, np.maximum(receiver - sender, 0), 0, chance, 0, since)
            return
        wins = sender < receiver
        self._sent(state[wins], (receiver - sender)[wins], stages[1], chance, waiting, since)
        meet = sender == receiver
        self._add(self.collided, state[meet], chance)
        following = self.both[min(stages[0] + 1, STAGE), min(stages[1] + 1, STAGE), waiting, since]
        self._move(state[meet], np.full(meet.sum(), following), chance)
        loses = sender > receiver
        left = sender - receiver
        if drawn is not None:
            left = np.where(receiver < self.head_start, drawn, left)
        self._add(self.answered, state[loses], chance)
        self._move(state[loses], self.kept["R"][stages[0], left[loses], waiting - 1, since], chance)

    def _sent(self, state: Integers, rest: Integers, stage: int, chance: float, waiting: int, since: int) -> None:
        """The sender succeeds; with the last packet of its cycle an answer comes."""
        if since + 1 < self.per_answer:
            self._move(state, self.kept["S"][stage, rest, waiting, since + 1], chance)
            return
        if waiting == WAITING:
            self._add(self.lost, state, chance)
        after = min(waiting + 1, WAITING)
        draws = (rest == 0) & (waiting == 0) & (self.fresh == "draws")
        self._move(state[~draws], self.kept["S"][stage, rest[~draws], after, 0], chance)
        window = self.windows[0]
        for counter in range(window):
            self._move(state[draws], np.full(draws.sum(), self.kept["S"][0, counter, after, 0]), chance / window)

    def _move(self, state: Integers, to: Integers, chance: float) -> None:
        self.entries.append((state, to, np.full(len(state), chance)))

    def _add(self, total: Floats, state: Integers, amount: Floats | float) -> None:
        np.add.at(total, state, amount)
