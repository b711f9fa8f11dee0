"""Saturated stations under the distributed coordination function: who sends how often, and what is left of the rate.

Principle: time is cut into virtual slots, each an idle slot or one contest for the medium, in which every waiting
station counts down by one. A station sends in a virtual slot with probability tau whatever the others do; the windows
give tau from the probability p of a collision, the others give p from tau. Two rules of counting: ``every-slot`` is
the chain of Bianchi 2000 with frames given up after some tries, ``idle-slots`` that of 802.11 (802.11-2020, 10.3.4.3).

Source: Bianchi 2000; Bianchi and Tinnirello 2005 for windows by conditional probabilities and finite retries; for
``idle-slots`` the observation that the slot after a frame is its sender's (Foh and Tantra 2005; Tinnirello, Bianchi,
Xiao 2010). Their formulas were not at hand: those here are derived below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import TypeVar

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.wlan.times import CellTimes

RULES = ("every-slot", "idle-slots")
"""What counts a backoff down: every virtual slot, or idle slots alone."""

MOST_STATIONS = 10_000

DEPTHS = 40
"""Transmissions right after one another that are followed; the next has a probability below 2^-40."""


@dataclass(frozen=True)
class Saturation:
    """A cell whose stations always have a frame to send.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`.
    attempt_probability : float
        tau: that a station begins to send in a virtual slot.
    collision_probability : float
        That a transmission collides.
    drop_probability : float
        That a frame is given up after its last try.
    throughput_bps : float
        IP bits of all stations.
    station_bps : tuple of float
        IP bits of each.
    """

    rule: str
    attempt_probability: float
    collision_probability: float
    drop_probability: float
    throughput_bps: float
    station_bps: tuple[float, ...]


def saturation(
    times: CellTimes | Sequence[CellTimes],
    stations: int | None = None,
    *,
    packet_bytes: int = 1500,
    rule: str = "every-slot",
    tries: int = 7,
    wait: str = "difs",
) -> Saturation:
    """Throughput of saturated stations.

    Parameters
    ----------
    times : CellTimes or sequence of CellTimes
        Of all stations, or of each: their rates may differ, slot and windows not.
    stations : int, optional
        How many when ``times`` is one for all, from 1 to 10,000.
    packet_bytes : int
        IP packets, one of the lengths in ``times``.
    rule : str
        ``every-slot`` or ``idle-slots``.
    tries : int
        Transmissions of a frame in all, from 1 to 255; then the window starts anew.
    wait : str
        After the longest frame of a collision, see :meth:`CellTimes.collision_s`.

    Returns
    -------
    Saturation
        Rates and probabilities.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    A contest takes DIFS, frame, SIFS and acknowledgement if one station sends, else the longest frame and ``wait``, of
    all stations. Bianchi 2000, Eq. 13: S = P_1 L / (P_0 sigma + P_1 T_s + (1 - P_0 - P_1) T_c), with P_k the
    probability of k senders. Where rates differ every station still has the same share of the successes (Heusse et al.
    2003): T_s is the mean over the stations, T_c the mean of the longest of two or more.

    That stations are independent is an approximation. Beside a direct simulation of the same rules (802.11a, 7 tries)
    throughput is at most 0.5 %, the collision probability 0.008 off, both with two stations.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11a", lengths=[1536]))
    >>> alone = saturation(times, 1)
    >>> round(12000 / alone.throughput_bps * 1e6, 3), round(alone.throughput_bps / 1e6, 3)
    (393.5, 30.496)
    >>> ten = saturation(times, 10, wait="timeout")
    >>> round(ten.throughput_bps / 1e6, 2), round(ten.collision_probability, 3)
    (27.36, 0.389)
    """
    each = _each(times, stations)
    n, cell = len(each), each[0]
    if not (isinstance(tries, Integral) and 1 <= tries <= 255):
        raise MayflyError(f"tries = {tries}: must be from 1 to 255")
    if rule not in RULES:
        raise MayflyError(f"rule = {rule}: must be one of {', '.join(RULES)}")
    windows = np.minimum((cell.cw_min + 1) * 2.0 ** np.arange(tries), cell.cw_max + 1)
    success_s = float(np.mean([one.exchange_s(packet_bytes) for one in each]))
    lost_s = np.sort([one.collision_s(packet_bytes, wait) for one in each])
    solve = _every_slot if rule == "every-slot" else _idle_slots
    found = solve(windows, n)
    collision_s = sum(_longest_s(lost_s, tau) for tau in found.colliding)
    bps = 8 * packet_bytes * found.successes / (found.idle * cell.slot_s + found.successes * success_s + collision_s)
    return Saturation(
        rule=rule,
        attempt_probability=found.tau,
        collision_probability=found.collided,
        drop_probability=found.dropped,
        throughput_bps=bps,
        station_bps=(bps / n,) * n,
    )


@dataclass(frozen=True)
class _Contention:
    """A mean virtual slot: idle slots and successes in it; probabilities to send of which two or more collide."""

    tau: float
    collided: float
    dropped: float
    idle: float
    successes: float
    colliding: tuple[float, ...]


def _each(times: CellTimes | Sequence[CellTimes], stations: int | None) -> Sequence[CellTimes]:
    """Times of each station."""
    if isinstance(times, CellTimes):
        if not (isinstance(stations, Integral) and 1 <= stations <= MOST_STATIONS):
            raise MayflyError(f"stations = {stations}: must be from 1 to {MOST_STATIONS}")
        return [times] * int(stations)
    if stations is not None and stations != len(times):
        raise MayflyError(f"stations = {stations}: must be as many as there are times, {len(times)}")
    if not 1 <= len(times) <= MOST_STATIONS:
        raise MayflyError(f"times of {len(times)} stations: must be from 1 to {MOST_STATIONS}")
    if len({(one.slot_s, one.cw_min, one.cw_max) for one in times}) > 1:
        raise MayflyError("stations with different slots or windows: must be the same in a cell")
    return times


Stations = TypeVar("Stations", float, "Floats")
"""A number of stations, or an array of them."""


def _none(n: Stations, tau: float) -> Stations:
    """P(no one of n sends)."""
    chance: Stations = (1 - tau) ** n
    return chance


def _one(n: Stations, tau: float) -> Stations:
    """P(one of n sends)."""
    chance: Stations = n * tau * (1 - tau) ** (n - 1)
    return chance


def _others(n: int, tau: float) -> float:
    """P(one or more of n - 1 send)."""
    return -float(np.expm1((n - 1) * np.log1p(-tau))) if tau < 1 else float(n > 1)


def _longest_s(sorted_s: Floats, tau: float) -> float:
    """E[longest of those who send, nothing where fewer than two do], stations sorted by their time."""
    upto = np.arange(1, len(sorted_s) + 1, dtype=float)
    below = (1 - tau) ** (len(sorted_s) - upto)
    two = 1 - _none(upto, tau) - _one(upto, tau)
    return float(np.diff(below * two, prepend=0.0) @ sorted_s)


def _every_slot(windows: Floats, n: int) -> _Contention:
    """The chain of Bianchi 2000 with as many stages as tries.

    A station comes to stage i with probability p^i and spends (W_i + 1) / 2 virtual slots there, that of its
    transmission with them.
    """
    from scipy.optimize import brentq

    stages = np.arange(len(windows))

    def tau(p: float) -> float:
        reached = p**stages
        return float(reached.sum() / (reached @ (windows + 1) / 2))

    p = 0.0 if n == 1 else float(brentq(lambda p: p - _others(n, tau(p)), 0.0, 1.0, xtol=1e-15))
    sends = tau(p)
    return _Contention(sends, p, p ** len(windows), _none(n, sends), _one(n, sends), (sends,))


def _idle_slots(windows: Floats, n: int) -> _Contention:
    """The rule of 802.11, in virtual slots.

    A busy slot counts nobody down, so right after it only those may send who sent in it and drew 0. They do, until
    none draws 0: a burst. After it every counter is at least 1, the next slot is idle and counts all down. Burst and
    idle slot are one virtual slot, in which all who wait count down by one, as in Bianchi's chain. Who sent draws
    b from 1 to W - 1 at the end of a burst and has b - 1 after it: W / 2 virtual slots to the next burst, with it.

    In a burst, who succeeded sends on alone with probability 1 / W_0, surely with success. Of those who collided each
    goes to its next stage and sends again with probability 1 / W there: the others in the d-th transmission of a burst
    send with probability tau Q_d, Q_d the product of the mean 1 / W of the stages they went to.
    """
    from scipy.optimize import brentq

    if windows[0] < 2:
        raise MayflyError("cw_min = 0: must be at least 1, else who sends first never stops")
    if n == 1:
        tau = float(2 / windows[0])
        return _Contention(tau, 0.0, 0.0, 1.0, float(tau * windows[0] / (windows[0] - 1)), ())

    def excess(tau: float) -> float:
        return float(2 / (_stages(windows, n, tau)[0] @ windows) - tau)

    tau = float(brentq(excess, 1e-12, 1.0, xtol=1e-15))
    stages, again, ends = _stages(windows, n, tau)
    sends = tau * np.r_[1.0, np.cumprod(again)]
    # One sends at depth d: one is left of those who collided before, not of one who had succeeded.
    first = _one(n, sends[0]) + sum(
        _one(n, now) - chance * _one(n, before) for (before, now), chance in zip(pairwise(sends), again, strict=True)
    )
    successes = float(first * windows[0] / (windows[0] - 1))
    collided = float(sum(n * now - _one(n, now) for now in sends))
    won, lost = stages @ ends
    dropped = float(lost / (won + lost))
    return _Contention(tau, collided / (successes + collided), dropped, 1.0, successes, tuple(sends.tolist()))


def _stages(windows: Floats, n: int, tau: float) -> tuple[Floats, Floats, Floats]:
    """Solve for the stages at a given tau.

    Returns the shares of the stages at which stations begin bursts; probabilities to send on after the first, second,
    ... collision of a burst; and frames sent and given up in a burst, by the stage at which it begins.
    """
    count = len(windows)
    after = np.r_[np.arange(1, count), 0]
    shares = np.eye(count)[0]
    for _ in range(1000):
        again, others, mix, sends = [], [], shares, tau
        for _ in range(DEPTHS):
            others.append(_others(n, sends))
            mix = np.bincount(after, mix / windows[after], count)
            again.append(mix.sum())
            sends *= again[-1]
            mix = mix / again[-1]
            if sends < 1e-16:
                break
        collides = np.array(others) / np.r_[1.0, others[:-1]]
        moves, ends = np.zeros((count, count)), np.zeros((count, 2))
        starts = stage = np.arange(count)
        here = np.ones(count)
        for collision in collides:
            moves[:, 0] += here * (1 - collision)
            ends[:, 0] += here * (1 - collision) * windows[0] / (windows[0] - 1)
            here = here * collision
            ends[:, 1] += here * (stage == count - 1)
            stage = after[stage]
            moves[starts, stage] += here * (1 - 1 / windows[stage])
            here = here / windows[stage]
        moves[starts, stage] += here
        # Stationary: inflow equals outflow in all stages but one, and the shares sum to 1.
        balance = moves.T - np.eye(count)
        balance[-1] = 1.0
        # Shares below the rounding may come out below 0.
        found = np.abs(np.linalg.solve(balance, np.r_[np.zeros(count - 1), 1.0]))
        if np.abs(found - shares).max() < 1e-13:
            return found, np.array(again), ends
        shares = found
    raise MayflyError(f"{n} stations: the shares of the backoff stages do not settle")
