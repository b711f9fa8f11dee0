"""Capacity of a cell for TCP by idealised cycles, and its estimate from the response times of the smallest flows.

A cycle is a sequence of exchanges without collision: each takes DIFS, the same mean backoff, a frame, SIFS and its
acknowledgement. Source: Urvoy-Keller 2007, 5.2, 6.1.1 and 7.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from mayfly.errors import MayflyError
from mayfly.models.wlan.times import TCP_ACK_BYTES, CellTimes

FIGURE_WINDOWS = (31, 63, 127, 255, 511, 1023)
"""Contention windows of Urvoy-Keller 2007, Figure 10, slots less one."""


@dataclass(frozen=True)
class CycleCapacity:
    """What the cell carries of TCP data when its cycles are ideal.

    Parameters
    ----------
    backoff_slots : float
        Before each frame.
    down_bps : float
        Downloads alone: 2 MSS / T_down (Urvoy-Keller 2007, Eq. 2), with two packets for an acknowledgement.
    down_up_bps : float
        Downloads, and as much again uploads: 2 MSS / (2 T_down).
    smallest_bps : float
        C_k: flows of the smallest size, with their set-up and end.
    mixed_bps : float
        C_mix: the same for downloads among uploads (Eq. 11).
    down_s : float
        T_down: time of the cycle of two packets and an acknowledgement (Eq. 2), seconds.
    """

    backoff_slots: float
    down_bps: float
    down_up_bps: float
    smallest_bps: float
    mixed_bps: float
    down_s: float


def cycle_s(times: CellTimes, packets_bytes: Sequence[int], backoff_slots: float, propagation_s: float = 0.0) -> float:
    """Time of the frames of a cycle.

    Parameters
    ----------
    times : CellTimes
        With the lengths of all packets.
    packets_bytes : sequence of int
        IP packets of the cycle.
    backoff_slots : float
        c: before each frame, from 0.
    propagation_s : float
        One way, seconds, from 0; a frame and its acknowledgement wait for it once each.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Urvoy-Keller 2007, Eq. 2, with the times that frames really take. As printed it has one preamble for a frame and its
    acknowledgement, no MAC header (h is defined and not used) and acknowledgements at the data rate: 4.5 Mb/s for C_k
    at the smallest window, where the text reads 3.5 off its figure. Full times give 3.56, acknowledgements at 2 Mb/s.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11b", lengths=[1536, 76]))
    >>> round(cycle_s(times, [1500, 1500, 40], 15.5) * 1e3, 3)
    4.722
    """
    for name, value in (("backoff_slots", backoff_slots), ("propagation_s", propagation_s)):
        if not 0 <= value < math.inf:
            raise MayflyError(f"{name} = {value:g}: must be at least 0")
    each = backoff_slots * times.slot_s + 2 * propagation_s
    return sum(times.exchange_s(bytes) + each for bytes in packets_bytes)


def cycle_capacity(
    times: CellTimes,
    backoff_slots: float | None = None,
    *,
    packet_bytes: int = 1500,
    ack_bytes: int = TCP_ACK_BYTES,
    per_ack: int = 2,
    smallest_packets: int = 3,
    control_packets: int = 5,
    upload_share: float = 1 / 3,
    propagation_s: float = 0.0,
) -> CycleCapacity:
    """Capacities by ideal cycles, of Urvoy-Keller 2007 by default.

    Parameters
    ----------
    times : CellTimes
        With both lengths.
    backoff_slots : float, optional
        c: mean backoff before each frame; half the smallest contention window when not given.
    packet_bytes, ack_bytes : int
        IP packets with data, and without.
    per_ack : int
        Packets for an acknowledgement, from 1 to 100.
    smallest_packets, control_packets : int
        k: packets with data of the smallest flow, from 1, and those without, from 0.
    upload_share : float
        Of the traffic, from 0 to 1, for C_mix.
    propagation_s : float
        One way, seconds.

    Returns
    -------
    CycleCapacity
        IP bits a second of data.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    C_mix = k MSS / ((1 - u) T + u 2 T), u the share of uploads: 3/4 of C_k with u = 1/3. The middle term of Eq. 11 as
    printed has the weights exchanged; the text and the right-hand side, 9 MSS / (4 T_down), have them so. The text
    lists six packets without data (SYN, SYN-ACK, the last ACK, FIN-ACK, two acknowledgements) and counts five: so here.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11b", lengths=[1536, 76]))
    >>> found = cycle_capacity(times)
    >>> [round(bps / 1e6, 2) for bps in (found.down_bps, found.down_up_bps, found.smallest_bps, found.mixed_bps)]
    [5.08, 2.54, 3.56, 2.67]
    """
    for name, value, least in (
        ("per_ack", per_ack, 1),
        ("smallest_packets", smallest_packets, 1),
        ("control_packets", control_packets, 0),
    ):
        if not (isinstance(value, Integral) and least <= value <= 10_000):
            raise MayflyError(f"{name} = {value}: must be from {least} to 10000")
    if not 0 <= upload_share <= 1:
        raise MayflyError(f"upload_share = {upload_share:g}: must be from 0 to 1")
    slots = times.cw_min / 2 if backoff_slots is None else backoff_slots

    def bps(packets: int, without: int) -> float:
        cycle = [packet_bytes] * packets + [ack_bytes] * without
        return 8 * packet_bytes * packets / cycle_s(times, cycle, slots, propagation_s)

    down, smallest = bps(per_ack, 1), bps(smallest_packets, control_packets)
    mixed = smallest / (1 + upload_share)
    return CycleCapacity(slots, down, down / 2, smallest, mixed, 8 * packet_bytes * per_ack / down)


def response_of_smallest_s(arrival_rate: float, size_bytes: float, capacity_bps: float) -> float:
    """Mean response time of the flows of the smallest size under LAS.

    Parameters
    ----------
    arrival_rate : float
        lambda: flows a second, at least 0.
    size_bytes : float
        k: above 0.
    capacity_bps : float
        C: above the rate at which flows of this size would come, 8 lambda k.

    Returns
    -------
    float
        T(k), seconds.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Urvoy-Keller 2007, Eq. 9: T(k) = lambda (k/C)^2 / (2 (1 - lambda k/C)^2) + (k/C) / (1 - lambda k/C).

    Examples
    --------
    >>> round(response_of_smallest_s(25.0, 4500, 3.5e6), 5)
    0.01624
    """
    _check(arrival_rate, size_bytes)
    if not 8 * arrival_rate * size_bytes < capacity_bps < math.inf:
        raise MayflyError(f"capacity_bps = {capacity_bps:g}: must be above {8 * arrival_rate * size_bytes:g}")
    alone_s = 8 * size_bytes / capacity_bps
    stretched_s = alone_s / (1 - arrival_rate * alone_s)
    return arrival_rate * stretched_s**2 / 2 + stretched_s


def capacity_bps(arrival_rate: float, size_bytes: float, response_s: float) -> float:
    """Capacity at which the smallest flows have a given mean response time under LAS.

    Parameters
    ----------
    arrival_rate : float
        lambda: flows a second, at least 0; with uploads that of :func:`rate_with_uploads`.
    size_bytes : float
        k: above 0.
    response_s : float
        T(k): mean response time at the queue of the access point, seconds, above 0.

    Returns
    -------
    float
        C, bits a second.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Urvoy-Keller 2007, Eq. 10: C = lambda k s / (s - 1) = k s (s + 1) / (2 T), s = sqrt(1 + 2 lambda T), the inverse of
    :func:`response_of_smallest_s`. The second form holds without arrivals too.

    Examples
    --------
    >>> round(capacity_bps(25.0, 4500, response_of_smallest_s(25.0, 4500, 3.5e6)))
    3500000
    """
    _check(arrival_rate, size_bytes)
    if not 0 < response_s < math.inf:
        raise MayflyError(f"response_s = {response_s:g}: must be above 0")
    root = math.sqrt(1 + 2 * arrival_rate * response_s)
    return 8 * size_bytes * root * (root + 1) / (2 * response_s)


def rate_with_uploads(
    downloads: float, uploads: float, ack_bytes: float = TCP_ACK_BYTES, packet_bytes: float = 1500
) -> float:
    """Arrival rate of the downloads that load the access point as much as given downloads and uploads.

    Parameters
    ----------
    downloads, uploads : float
        lambda_D and lambda_U: flows a second, at least 0.
    ack_bytes, packet_bytes : float
        S_ack and MSS of the paper: IP packets, bytes.

    Returns
    -------
    float
        lambda_D + S_ack / MSS lambda_U, flows a second (Urvoy-Keller 2007, 7.1).

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Examples
    --------
    >>> round(rate_with_uploads(20.0, 10.0), 3)
    20.267
    """
    for name, value in (("downloads", downloads), ("uploads", uploads)):
        if not 0 <= value < math.inf:
            raise MayflyError(f"{name} = {value:g}: must be at least 0")
    if not 0 < ack_bytes <= packet_bytes:
        raise MayflyError(f"ack_bytes = {ack_bytes:g}: must be above 0, and packet_bytes = {packet_bytes:g} not below")
    return downloads + ack_bytes / packet_bytes * uploads


def _check(arrival_rate: float, size_bytes: float) -> None:
    if not 0 <= arrival_rate < math.inf:
        raise MayflyError(f"arrival_rate = {arrival_rate:g}: must be at least 0")
    if not 0 < size_bytes < math.inf:
        raise MayflyError(f"size_bytes = {size_bytes:g}: must be above 0")
