"""How long a short TCP transfer takes: set-up, slow start, the first loss, and what is left at the rate of PFTK.

Principle: without loss the flights of slow start are counted one by one (:func:`unloaded`). With loss the mean is put
together from four parts (:func:`latency`), each from the mean of what goes before.
Sources: Cardwell, Savage and Anderson 2000; Sikdar, Kalyanaraman and Vastola 2001, as Chen 2012, Eq. 5.10 quotes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.tcp.laws import backoffs, pftk_rate, square_root_rate, timeout_share

MOST_PACKETS = 2_000_000
"""Largest transfer whose flights are counted."""


@dataclass(frozen=True)
class Path:
    """What a transfer meets.

    Parameters
    ----------
    rtt_s : float
        Round-trip time of a small packet, s, above 0.
    loss : float
        p, of a packet with data to be lost, from 0 to below 1.
    packet_s : float
        Time of a packet with data on the slowest link, s, from 0.
    initial_window : int
        w_1, packets, from 1.
    window : float
        W_max, of the receiver, packets, at least the initial one.
    per_ack : int
        b, packets that an acknowledgement covers, from 1.
    delayed_ack_s : float
        What the receiver waits for b packets, s, from 0; without effect where b is 1.
    rto_s : float
        T_0, the timeout of a packet with data, s, from 0.
    syn_rto_s : float
        T_s, the first timeout of a SYN, s, from 0.
    syn_loss : float
        Of a SYN or its answer to be lost, from 0 to below 0.5.

    Raises
    ------
    MayflyError
        A value out of its bounds.
    """

    rtt_s: float
    loss: float = 0.0
    packet_s: float = 0.0
    initial_window: int = 3
    window: float = math.inf
    per_ack: int = 2
    delayed_ack_s: float = 0.2
    rto_s: float = 1.0
    syn_rto_s: float = 3.0
    syn_loss: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.rtt_s < math.inf:
            raise MayflyError(f"rtt_s = {self.rtt_s:g}: must be above 0 s")
        for name, below in (("loss", 1.0), ("syn_loss", 0.5)):
            if not 0 <= getattr(self, name) < below:
                raise MayflyError(f"{name} = {getattr(self, name):g}: must be from 0 to below {below:g}")
        for name in ("packet_s", "delayed_ack_s", "rto_s", "syn_rto_s"):
            if not 0 <= getattr(self, name) < math.inf:
                raise MayflyError(f"{name} = {getattr(self, name):g}: must be 0 s or more")
        for name in ("initial_window", "per_ack"):
            if getattr(self, name) not in range(1, 1_000_001):
                raise MayflyError(f"{name} = {getattr(self, name)}: must be a whole number from 1")
        if not self.window >= self.initial_window:
            raise MayflyError(f"window = {self.window:g}: must be at least the initial one, {self.initial_window}")

    @property
    def growth(self) -> float:
        """Factor of the window per round trip of slow start, 1 + 1/b (gamma)."""
        return 1 + 1 / self.per_ack


@dataclass(frozen=True)
class Unloaded:
    """A transfer that meets no loss and nobody else.

    Parameters
    ----------
    packets : numpy.ndarray, shape (n,)
        Sizes.
    delivered_s : numpy.ndarray, shape (n,)
        From the SYN to the arrival of the last packet.
    closed_s : numpy.ndarray, shape (n,)
        From the SYN to the last acknowledgement of the FIN exchange: what flow records have as response time.
    flights : numpy.ndarray, shape (n,)
        Flights it took: sendings whose acknowledgements opened the way for the next.
    """

    packets: Floats
    delivered_s: Floats
    closed_s: Floats
    flights: Floats


def unloaded(packets: Floats | int, path: Path) -> Unloaded:
    """Time of transfers without loss, packet by packet.

    Parameters
    ----------
    packets : array_like
        Sizes, whole numbers from 1 to 2 million.
    path : Path
        Its losses count for nothing.

    Returns
    -------
    Unloaded

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    A round trip for the set-up, then slow start: each acknowledgement opens the window by a packet up to the
    receiver's, each b-th packet is acknowledged at once and any other after ``delayed_ack_s``. The slowest link sends a
    packet each ``packet_s``, ahead of all delay. A sender does the same up to its n-th packet whatever comes after, so
    that one pass is enough for all sizes.

    Examples
    --------
    >>> path = Path(rtt_s=0.1, per_ack=1, initial_window=2)
    >>> unloaded([2, 3, 6, 7, 14, 15], path).flights.tolist()
    [1, 2, 2, 3, 3, 4]
    >>> unloaded([6, 14], path).delivered_s.round(3).tolist(), unloaded([5, 6], path).closed_s.round(3).tolist()
    ([0.25, 0.35], [0.35, 0.45])
    """
    sizes = np.atleast_1d(np.asarray(packets, dtype=float))
    wrong = sizes[~((sizes >= 1) & (sizes <= MOST_PACKETS) & (sizes == np.floor(sizes)))]
    if wrong.size:
        raise MayflyError(f"packets = {wrong[0]:g}: must be whole numbers from 1 to {MOST_PACKETS}")
    arrivals, flight = follow(int(sizes.max()) + 1, path)
    at = sizes.astype(int) - 1
    # The FIN takes the place of a packet in the window, and no time on the link.
    ended = np.maximum(arrivals[at], arrivals[at + 1] - path.packet_s)
    return Unloaded(sizes, arrivals[at], ended + path.rtt_s, flight[at])


def follow(
    most: int, path: Path, link: Callable[[float], float] | None = None, opened_s: float | None = None
) -> tuple[Floats, Floats]:
    """Send packets without loss, one by one.

    Parameters
    ----------
    most : int
        Packets, from 1.
    path : Path
        Round-trip time and TCP.
    link : callable, optional
        When the links are through with a packet that is sent at a time, ahead of all delay, s; called in order. When
        absent, the slowest link of the path, that nobody else uses.
    opened_s : float, optional
        First data, s after the SYN; a round trip when absent.

    Returns
    -------
    arrivals : numpy.ndarray, shape (most,)
        Of each packet at the receiver, s after the SYN.
    flight : numpy.ndarray, shape (most,)
        In which it was sent.

    Examples
    --------
    >>> follow(3, Path(rtt_s=0.1, initial_window=2, per_ack=1))[0].round(3).tolist()
    [0.15, 0.15, 0.25]
    """
    arrivals, flight = np.empty(most), np.empty(most, dtype=int)
    half, per_ack, limit = path.rtt_s / 2, path.per_ack, min(path.window, 1e9)
    # Acknowledgements on their way: when they reach the sender, up to which packet, of which flight.
    acks: list[tuple[float, int, int]] = []
    sent, window, waiting, deadline = 0, float(path.initial_window), 0, math.inf
    through = _alone(path.packet_s) if link is None else link

    def send(now: float, upto: int, number: int) -> None:
        nonlocal sent, waiting, deadline
        for index in range(sent, min(upto, most)):
            arrival = through(now) + half
            if waiting and arrival > deadline:
                acks.append((deadline + half, index, flight[index - 1]))
                waiting = 0
            arrivals[index], flight[index] = arrival, number
            waiting += 1
            if waiting == per_ack:
                acks.append((arrival + half, index + 1, number))
                waiting, deadline = 0, math.inf
            elif waiting == 1:
                deadline = arrival + path.delayed_ack_s
        sent = max(sent, min(upto, most))

    send(path.rtt_s if opened_s is None else opened_s, int(window), 1)
    done = 0
    while sent < most:
        if done == len(acks):
            acks.append((deadline + half, sent, flight[sent - 1]))
            waiting, deadline = 0, math.inf
        at, acknowledged, number = acks[done]
        done += 1
        window = min(window + 1, limit)
        send(at, acknowledged + int(window), number + 1)
    return arrivals, flight


def _alone(packet_s: float) -> Callable[[float], float]:
    """A link that sends a packet at a time, for one transfer."""
    free = 0.0

    def through(now: float) -> float:
        nonlocal free
        free = max(free, now) + packet_s
        return free

    return through


@dataclass(frozen=True)
class Latency:
    """Mean time of transfers, by parts.

    Parameters
    ----------
    packets : numpy.ndarray, shape (n,)
        Sizes.
    handshake_s, slow_start_s, first_loss_s, avoidance_s, delayed_ack_s : numpy.ndarray, shape (n,)
        From the SYN to the first data; to the end of the first slow start; what the loss that ends it costs; the rest
        at the rate of PFTK; what the receiver waits once.
    """

    packets: Floats
    handshake_s: Floats
    slow_start_s: Floats
    first_loss_s: Floats
    avoidance_s: Floats
    delayed_ack_s: Floats

    @property
    def total_s(self) -> Floats:
        """From the SYN to the acknowledgement of the last packet, shape (n,)."""
        return self.handshake_s + self.slow_start_s + self.first_loss_s + self.avoidance_s + self.delayed_ack_s


def latency(packets: Floats | float, path: Path, *, slow_start: str = "continuous", losses: str = "bursts") -> Latency:
    """Mean time of transfers over a path that loses packets.

    Parameters
    ----------
    packets : array_like
        d, sizes, from 1.
    path : Path
        What it meets.
    slow_start : str
        ``continuous``: as the paper has it; ``counted``: the flights of :func:`unloaded` up to the first loss, averaged
        over where that is, which also knows of the slowest link.
    losses : str
        ``bursts``: with a packet is lost what follows it in its flight, as the paper has it; ``independent``: packets
        are lost one by one and repaired by selective acknowledgements, so that timeouts come only of losses with fewer
        than three packets behind them and of lost repairs. The second is no formula of a paper.

    Returns
    -------
    Latency
        By parts.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Cardwell et al. 2000: Eq. 4 (set-up), 5 (packets up to the first loss), 11 (window there), 15 (time to there), 16 to
    20 (cost of the loss), 21 to 24 (the rest), 25 (the sum). Eq. 5 as printed counts the lost packet also where none is
    lost, which makes d + 1 of d packets without loss; here it is the mean of the first lost packet or d, (1 - (1 -
    p)^d) / p. A receiver that acknowledges every packet (b = 1) waits for nothing; else the wait is half of
    ``delayed_ack_s``, and all of it where the initial window is 1 (the paper: 100 ms for BSD's clock of 200 ms).

    Examples
    --------
    >>> path = Path(rtt_s=0.1, loss=0.01, per_ack=1, initial_window=2)
    >>> latency([2, 20, 200], path).total_s.round(3).tolist()
    [0.22, 0.526, 2.06]
    """
    d = np.atleast_1d(np.asarray(packets, dtype=float))
    if not ((d >= 1) & np.isfinite(d)).all():
        raise MayflyError(f"packets = {d.min():g}: must be from 1")
    if slow_start not in ("continuous", "counted"):
        raise MayflyError(f"slow_start = {slow_start}: must be continuous or counted")
    if losses not in ("bursts", "independent"):
        raise MayflyError(f"losses = {losses}: must be bursts or independent")
    p, rtt = path.loss, path.rtt_s
    share = -np.expm1(d * math.log1p(-p))
    first = share / p if p > 0 else d
    growth = path.growth
    window = np.minimum(first * (growth - 1) / growth + path.initial_window / growth, path.window)
    lost = np.zeros_like(d)
    rest = np.zeros_like(d)
    if p > 0 and losses == "bursts":
        timed_out = timeout_share(p, window)
        lost = share * (timed_out * backoffs(p) * path.rto_s / (1 - p) + (1 - timed_out) * rtt)
        rest = (d - first) / avoidance_rate(path)
    elif p > 0:
        timeouts = -np.expm1(np.minimum(d, 3) * math.log1p(-p)) + d * p * p
        lost = share * rtt + timeouts * backoffs(p) * path.rto_s / (1 - p)
        rest = (d - first) / avoidance_rate(path, losses)
    starting = _slow_start(first, path) if slow_start == "continuous" else _counted(d, path)
    return Latency(d, np.full_like(d, handshake_s(path)), starting, lost, rest, _waiting(d, path, slow_start))


def handshake_s(path: Path) -> float:
    """Mean time from the first SYN to the first data, s.

    Notes
    -----
    Cardwell et al. 2000, Eq. 4: RTT + T_s (2 (1 - p) / (1 - 2 p) - 2), timeouts doubling without end.

    Examples
    --------
    >>> handshake_s(Path(rtt_s=0.1)), round(handshake_s(Path(rtt_s=0.1, syn_loss=0.01)), 4)
    (0.1, 0.1612)
    """
    p = path.syn_loss
    return path.rtt_s + path.syn_rto_s * 2 * ((1 - p) / (1 - 2 * p) - 1)


def avoidance_rate(path: Path, losses: str = "bursts") -> float:
    """Rate after the first loss, packets per second: PFTK's of packets delivered, or the slowest link's.

    With independent losses that of the square-root law, whose timeouts :func:`latency` counts apart.
    """
    per_ack, window = path.per_ack, path.window
    if losses == "bursts":
        rate = float(
            pftk_rate(path.loss, path.rtt_s, rto_s=path.rto_s, counted="delivered", per_ack=per_ack, window=window)
        )
    else:
        rate = float(square_root_rate(path.loss, path.rtt_s, losses="random", per_ack=per_ack, window=window))
    return min(rate, 1 / path.packet_s) if path.packet_s > 0 else rate


def _slow_start(first: Floats, path: Path) -> Floats:
    """Time to send the packets up to the first loss (Eq. 15), s."""
    growth, start, most = path.growth, path.initial_window, path.window
    free = np.log(first * (growth - 1) / start + 1) / math.log(growth)
    if not math.isfinite(most):
        return path.rtt_s * free
    reached = first * (growth - 1) / growth + start / growth > most
    full = math.log(most / start) / math.log(growth) + 1
    bound = full + (first - (growth * most - start) / (growth - 1)) / most
    return path.rtt_s * np.where(reached, bound, free)


def _waiting(d: Floats, path: Path, slow_start: str) -> Floats:
    if slow_start == "counted" or path.per_ack == 1:
        return np.zeros_like(d)
    return np.full_like(d, path.delayed_ack_s * (1 if path.initial_window == 1 else 0.5))


def _counted(d: Floats, path: Path) -> Floats:
    """Time from the first data to the acknowledgement of the first lost packet, or of the last, s, on average."""
    most = int(min(np.ceil(d.max()), MOST_PACKETS, 50 / path.loss if path.loss > 0 else math.inf))
    arrivals, _ = follow(max(most, 1), path)
    times = arrivals - path.rtt_s / 2
    if path.loss == 0:
        values: Floats = times[np.minimum(np.ceil(d), most).astype(int) - 1]
        return values
    kept = (1 - path.loss) ** np.arange(most)
    before = np.r_[0.0, np.cumsum(kept * path.loss * times)]
    at = np.minimum(np.ceil(d), most).astype(int) - 1
    result: Floats = before[at] + kept[at] * times[at]
    return result


def completion(packets: Floats | int, path: Path, response_s: Floats) -> Floats:
    """Time of transfers that share the slowest link: their own time alone, and what a model of the queue adds.

    Parameters
    ----------
    packets : array_like, shape (n,)
        Sizes, whole numbers from 1.
    path : Path
        With the time of a packet on the link, and without loss.
    response_s : array_like, shape (n,)
        Response times of the M/G/1 queue for these sizes, s, such as those of :mod:`mayfly.models.queue.policies`
        with sizes in packets and ``packet_s`` as the time of one.

    Returns
    -------
    numpy.ndarray, shape (n,)
        From the SYN to the end of the FIN exchange, s.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    unloaded + response - packets packet_s. The models take a transfer for a job that is there as a whole; slow start
    spreads it over round trips in which others are served, and losses are in neither term. For processor sharing and
    LAS the two fit together, for FIFO they do not: docs/models/tcp.md has the errors.

    Examples
    --------
    >>> path = Path(rtt_s=0.1, packet_s=0.001, per_ack=1)
    >>> alone = unloaded([3, 30], path).closed_s
    >>> (completion([3, 30], path, [0.006, 0.060]) - alone).round(6).tolist()
    [0.003, 0.03]
    """
    if not path.packet_s > 0:
        raise MayflyError(f"packet_s = {path.packet_s:g}: must be above 0 s")
    alone = unloaded(packets, path)
    result: Floats = alone.closed_s + np.asarray(response_s, dtype=float) - alone.packets * path.packet_s
    return result
