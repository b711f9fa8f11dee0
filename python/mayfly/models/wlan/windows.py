"""Uploads against downloads at an access point with one FIFO queue: the ratio of their throughputs.

Principle: all packets of the cell have the same round trip, most of it in the queue of the access point, so
throughputs are as the windows (Pilosof et al. 2003, as told by Urvoy-Keller 2007, section 4). An upload has its full
window: what it puts into the queue are acknowledgements, which repair one another's loss. Downloads have what is left
of the buffer.

The text of Pilosof et al. was not at hand. Reconstructed from that one idea: what each window takes of the buffer, and
the three cases that follow. Added: timeouts, which decide where windows are near one packet (Padhye et al. 2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from mayfly.errors import MayflyError

CASES = ("fair", "shared", "starved")
"""All windows fit into the buffer; acknowledgements fit and leave some of it to the downloads; they alone fill it."""


@dataclass(frozen=True)
class WindowRatio:
    """Windows of long transfers, and their ratio.

    Parameters
    ----------
    case : str
        One of :data:`CASES`.
    window_up, window_down : float
        Of each upload and each download, packets.
    ratio : float
        Throughput of all uploads over that of all downloads, by the windows.
    fair_packets : float
        The least buffer into which all windows fit.
    starved_packets : float
        The buffer that the acknowledgements can fill.
    """

    case: str
    window_up: float
    window_down: float
    ratio: float
    fair_packets: float
    starved_packets: float


def window_ratio(
    buffer_packets: int, uploads: int, downloads: int, *, window: int = 43, per_ack: int = 2
) -> WindowRatio:
    """Ratio of the throughputs of long uploads and downloads by their windows.

    Parameters
    ----------
    buffer_packets : int
        Of the access point, for packets of any length, from 1.
    uploads, downloads : int
        Transfers, from 1 each.
    window : int
        Receiver window, packets, from 1.
    per_ack : int
        Packets for an acknowledgement, from 1.

    Returns
    -------
    WindowRatio
        In packets.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    An upload of window w has at most w / per_ack acknowledgements in the queue, a download w packets.

    - fair, B >= n_d w + n_u w / per_ack: nothing is lost, ratio n_u / n_d;
    - shared, B > n_u w / per_ack + n_d: w_d = (B - n_u w / per_ack) / n_d. Downloads that lose packets swing between
      half of it and all of it: the mean window is between 3/4 of w_d and w_d, the ratio up to 4/3 of the one here;
    - starved: w_d = 1, the least that a sender has. Timeouts make the ratio of throughputs larger
      (:func:`starved_ratio`).

    Examples
    --------
    >>> found = window_ratio(300, 5, 5)
    >>> found.case, found.window_down, round(found.ratio, 3), found.fair_packets, found.starved_packets
    ('shared', 38.5, 1.117, 322.5, 107.5)
    >>> window_ratio(30, 5, 5).case, window_ratio(30, 5, 5).ratio
    ('starved', 43.0)
    """
    for name, value in (
        ("buffer_packets", buffer_packets),
        ("uploads", uploads),
        ("downloads", downloads),
        ("window", window),
        ("per_ack", per_ack),
    ):
        if not (isinstance(value, Integral) and 1 <= value <= 10**9):
            raise MayflyError(f"{name} = {value}: must be from 1 to 10^9")
    acknowledgements = uploads * window / per_ack
    fair = downloads * window + acknowledgements
    left = (buffer_packets - acknowledgements) / downloads
    case, window_down = ("shared", left) if left > 1 else ("starved", 1.0)
    if buffer_packets >= fair:
        case, window_down = "fair", float(window)
    ratio = uploads * window / (downloads * window_down)
    return WindowRatio(case, float(window), window_down, ratio, fair, acknowledgements)


def starved_ratio(
    loss: float,
    upload_bps: float,
    uploads: int,
    downloads: int,
    *,
    window: int = 43,
    per_ack: int = 2,
    packet_bytes: int = 1500,
    timeout_s: float = 1.0,
) -> float:
    """Ratio of the throughputs of starved downloads, timeouts counted.

    Parameters
    ----------
    loss : float
        Share of the packets of the downloads that the queue drops, above 0, below 1: measured. Where all uploads always
        had a packet to send, the access point would send one packet for each of theirs, and drop 1 - per_ack / uploads.
    upload_bps : float
        What all uploads get, IP bits a second, above 0: nearly the capacity of the cell
        (:func:`mayfly.models.wlan.pair.single_tcp`).
    uploads, downloads, window, per_ack
        As for :func:`window_ratio`.
    packet_bytes : int
        IP packets with data.
    timeout_s : float
        First timeout of a sender, in the main the least that it may be; seconds, above 0.

    Returns
    -------
    float
        Throughput of all uploads over that of all downloads.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    The round trip is that of Little's law, all windows of the uploads over their throughput. Downloads deliver what
    Padhye et al. 2000 have for TCP Reno under independent losses, :func:`delivered_per_s`.

    Examples
    --------
    >>> round(starved_ratio(0.29, 25.8e6, 5, 5))
    245
    """
    window_ratio(1, uploads, downloads, window=window, per_ack=per_ack)
    if not 0 < upload_bps < math.inf:
        raise MayflyError(f"upload_bps = {upload_bps:g}: must be above 0")
    sent_per_s = upload_bps / (8 * packet_bytes)
    rtt_s = uploads * window / sent_per_s
    return sent_per_s / (downloads * delivered_per_s(loss, rtt_s, timeout_s, per_ack=per_ack, window=window))


def delivered_per_s(loss: float, rtt_s: float, timeout_s: float, *, per_ack: int = 2, window: int = 43) -> float:
    """Packets that a TCP Reno transfer delivers under independent losses.

    Parameters
    ----------
    loss : float
        p: above 0, below 1.
    rtt_s, timeout_s : float
        Round trip and first timeout, seconds, above 0.
    per_ack : int
        b: packets for an acknowledgement, from 1.
    window : int
        Receiver window, packets: the rate is at most a window in a round trip.

    Returns
    -------
    float
        Packets a second.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Padhye et al. 2000, throughput: ((1-p)/p + W/2 + Q) / (RTT (b W/2 + 1) + Q T0 f(p) / (1-p)), with
    W = (2+b)/(3b) + sqrt(8(1-p)/(3bp) + ((2+b)/(3b))^2), f(p) = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6 and Q the
    probability that a loss ends in a timeout.

    Examples
    --------
    >>> round(delivered_per_s(0.01, 0.1, 1.0, per_ack=1), 1)
    91.5
    """
    if not 0 < loss < 1:
        raise MayflyError(f"loss = {loss:g}: must be above 0 and below 1")
    for name, value in (("rtt_s", rtt_s), ("timeout_s", timeout_s)):
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value:g}: must be above 0")
    kept, b = 1 - loss, per_ack
    half = (2 + b) / (3 * b)
    swing = half + math.sqrt(8 * kept / (3 * b * loss) + half**2)
    chance = 1.0
    if swing > 3:
        chance = (1 - kept**3) * (1 + kept**3 * (1 - kept ** (swing - 3))) / (1 - kept**swing)
    series = 1 + loss + sum(2 ** (power - 1) * loss**power for power in range(2, 7))
    delivered = kept / loss + swing / 2 + chance
    taken_s = rtt_s * (b * swing / 2 + 1) + chance * timeout_s * series / kept
    result: float = min(delivered / taken_s, window / rtt_s)
    return result
