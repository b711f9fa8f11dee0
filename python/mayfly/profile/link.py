"""A guess of the link that a capture was taken at: its rate from the plateau of the load, its buffer from the delay.

Principle: a link that is full carries its rate, no more and no less, however the senders share it. So the load of many
windows of time lies at one value, and next to none above it. That alone does not tell a full link from a sender that
holds to a rate of its own; at a full link packets wait or are lost. Both are asked for, and without both there is no
guess. While the link is full, a packet waits for what is in the queue: the longest wait times the rate is the buffer,
as far as it was ever filled.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mayfly.arrays import Floats, Integers, quantiles
from mayfly.errors import MayflyError, given
from mayfly.profile.traffic import DIRECTIONS, Loads, Traffic, traffic_of
from mayfly.show.notebook import Result
from mayfly.text.readable import bytes_text, rate_text, share_text, time_text
from mayfly.workload.columns import Columns, Table, begins_of, columns_of
from mayfly.workload.sides import opener_is_near

if TYPE_CHECKING:
    from mayfly import summary_types

WIDTHS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Windows in which a plateau is looked for, the narrowest first."""

BAND = 0.04
"""Half the width of a plateau, as a share of its rate."""

PACKET_BYTES = 1500
"""What a window may hold more or less of."""

LEAST_WINDOWS = 12
"""Fewest windows of a plateau."""

LEAST_S = 0.5
"""Shortest time at the plateau, s."""

ABOVE = 0.1
"""Most windows above a plateau, as a share of those at it."""

ABOVE_OF_ACKS = 0.35
"""The same of what is acknowledged: an acknowledgement that fills a hole brings what had arrived before."""

PEAKED = 2.0
"""How many times as many windows a plateau holds as the bands of the same width below and above it."""

WAIT_S = 0.02
"""Windows in which the least wait is taken, s: of many packets, that of one that was answered at once."""

LEAST_WAIT_S = 1e-3
"""Wait below which nothing waits, s."""

MOSTLY_TCP = 0.9
"""TCP's share of the bytes from which acknowledgements tell the load."""

ACKNOWLEDGES = 150
"""Mean length of packets, bytes, up to which most of them only acknowledge: 40 to 80, and a request now and then."""

MEANWHILE = 0.5
"""Share of the time of a plateau that is also at that of the other direction, from which on it follows that one:
some full windows lie outside the band."""

LEAST_LOST = 1e-4
"""Share of data packets sent again below which nothing is lost."""


@dataclass(frozen=True)
class DirectionGuess:
    """What one direction of the link shows.

    Parameters
    ----------
    direction : str
        ``down`` or ``up``.
    busiest_bps : float or None
        Load of its busiest second.
    rate_bps : float or None
        The guess; None where there is none.
    rate_low_bps, rate_high_bps : float or None
        Where 90 % of the windows of the plateau lie, and what a packet more or less makes.
    width_s : float or None
        Of the windows of the plateau.
    full_s : float
        Time at the plateau.
    full_share : float
        The same as a share of the capture.
    buffer_bytes : float or None
        The guess; None where no round-trip time tells.
    buffer_low_bytes, buffer_high_bytes : float or None
        From the wait that 75 % of the windows stay within to the longest.
    wait_s : float or None
        The wait that stands for a full buffer.
    lost : float or None
        Share of the TCP data packets of the direction that were sent again.
    perhaps_full_s : float
        Time at a plateau of which nothing says whether packets wait or are lost there, s; 0 where there is a guess, and
        where something says that none do.
    perhaps_bps : float or None
        Rate of that plateau.
    why : str
        What the guess rests on, what to doubt in it, or why there is none.
    buffer_why : str
        The same of the buffer.
    """

    direction: str
    busiest_bps: float | None = None
    rate_bps: float | None = None
    rate_low_bps: float | None = None
    rate_high_bps: float | None = None
    width_s: float | None = None
    full_s: float = 0.0
    full_share: float = 0.0
    buffer_bytes: float | None = None
    buffer_low_bytes: float | None = None
    buffer_high_bytes: float | None = None
    wait_s: float | None = None
    lost: float | None = None
    perhaps_full_s: float = 0.0
    perhaps_bps: float | None = None
    why: str = ""
    buffer_why: str = ""

    def sentences(self) -> list[str]:
        """The guess and its doubt, in words."""
        if self.rate_bps is None:
            return [f"{self.direction}: no guess of the rate: {self.why}"]
        told = [
            f"{self.direction}: {rate_text(self.rate_bps)} guessed "
            f"({rate_text(self.rate_low_bps)} to {rate_text(self.rate_high_bps)}): {self.why}"
        ]
        if self.buffer_bytes is None:
            return [*told, f"{self.direction}: no guess of the buffer: {self.buffer_why}"]
        return [
            *told,
            f"{self.direction}: a buffer of {bytes_text(self.buffer_bytes)} guessed "
            f"({bytes_text(self.buffer_low_bytes)} to {bytes_text(self.buffer_high_bytes)}): {self.buffer_why}",
        ]


@dataclass(frozen=True, repr=False)
class LinkGuess(Result):
    """Both directions of a link.

    Parameters
    ----------
    down, up : DirectionGuess
    partial : tuple of str
        What was not read of the capture, in sentences.
    """

    down: DirectionGuess
    up: DirectionGuess
    partial: tuple[str, ...] = ()

    @property
    def busier(self) -> DirectionGuess:
        """The direction that is full for longer; of none that is, the one with the busiest second."""
        return max((self.down, self.up), key=lambda one: (one.full_s, one.busiest_bps or 0.0))

    def _in_short(self) -> str:
        return "; ".join(
            f"{one.direction} {rate_text(one.rate_bps)}, buffer {bytes_text(one.buffer_bytes)}"
            for one in (self.down, self.up)
        )

    def sentences(self) -> list[str]:
        """Both guesses with their doubts, in words; the busier direction first."""
        other = self.up if self.busier is self.down else self.down
        return [*self.partial, *self.busier.sentences(), *other.sentences()]

    def document(self) -> summary_types.Guess:
        """Both directions for JSON."""
        from dataclasses import asdict

        down, up = (cast("summary_types.DirectionGuess", asdict(one)) for one in (self.down, self.up))
        return {"busier": cast("summary_types.Direction", self.busier.direction), "down": down, "up": up}

    def required(self, *, rate: bool, buffer: bool) -> DirectionGuess:
        """The busier direction, with a guess.

        Parameters
        ----------
        rate, buffer : bool
            What is asked for.

        Returns
        -------
        DirectionGuess

        Raises
        ------
        MayflyError
            There is no plateau, or no buffer can be told.
        """
        found = self.busier
        if found.rate_bps is None:
            missing = " and ".join(given(name) for name, asked in (("--rate", rate), ("--buffer", buffer)) if asked)
            lacks = "nothing" if found.perhaps_full_s else "no plateau"
            raise MayflyError(f"{lacks} to guess the link from ({found.direction}: {found.why}); give {missing}")
        if buffer and found.buffer_bytes is None:
            raise MayflyError(
                f"the buffer cannot be guessed ({found.direction}: {found.buffer_why}); give {given('--buffer')}"
            )
        return found


def guess_link(capture: str | os.PathLike[str], *, internal: Sequence[str] | None = None) -> LinkGuess:
    """Guess rate and buffer of the link that a capture was taken at.

    Parameters
    ----------
    capture : path
        pcap or pcapng. The standard input cannot be read again by what comes after: it is refused.
    internal : str or sequence of str, optional
        Networks (CIDR) on the near side; as :func:`mayfly.workload.sides.near_side` when absent.

    Returns
    -------
    LinkGuess

    Raises
    ------
    MayflyError
        The capture cannot be read, or is the standard input; ``internal`` is no network or matches no host.

    Examples
    --------
    >>> guess = guess_link("captures/office.pcap.gz", internal=["10.10.0.0/24"])
    >>> guess.busier.direction
    'down'
    """
    from mayfly.workload.connections import MOST_VOLUMES, ReadOptions, read_captures, why_nothing
    from mayfly.workload.doubts import partial_sentences
    from mayfly.workload.sides import near_side, networks_of, sides_of

    if os.fspath(capture) == "-":
        raise MayflyError("--rate and --buffer cannot be guessed from the standard input: give them, or a file")
    networks = None if internal is None else networks_of(internal)
    reading = read_captures(capture, ReadOptions(max_volumes=MOST_VOLUMES))
    frame = reading.connections
    if not frame.height:
        why = why_nothing(reading.counts)
        raise MayflyError(f"{os.fspath(capture)}: no connection in it to guess the link from: {why}")
    table = columns_of(frame)
    if networks is not None:
        sides_of(table, networks)
    near = near_side(table, networks)
    traffic = traffic_of(
        table,
        reading.volumes,
        width_s=reading.counts["volume_width_s"],
        duration_s=reading.counts["duration_s"],
        near=near.hosts,
        crossing=near.crossing,
        whole=not reading.counts["volumes_left_out"],
    )
    return replace(link_guess(table, traffic), partial=tuple(partial_sentences(reading.counts)))


def guessed_link(
    capture: str | os.PathLike[str], rate: str | int | None, buffer: str | int | None, internal: Sequence[str] | None
) -> tuple[str | int, str | int, LinkGuess | None]:
    """Fill in the rate and the buffer that are not given.

    Parameters
    ----------
    capture, internal
        As for :func:`guess_link`.
    rate, buffer : str or int, optional
        As given.

    Returns
    -------
    rate, buffer : str or int
        As given, or the guesses of both directions as ``down/up``: bit/s, and bytes. A direction without a guess of its
        own is taken to be as the busier one.
    guess : LinkGuess or None
        None where both were given.

    Raises
    ------
    MayflyError
        What is not given cannot be guessed.
    """
    if rate is not None and buffer is not None:
        return rate, buffer, None
    guess = guess_link(capture, internal=internal)
    found = guess.required(rate=rate is None, buffer=buffer is None)
    both = (guess.down, guess.up)
    if rate is None:
        rate = "/".join(f"{round(one.rate_bps or found.rate_bps or 0.0)}bit" for one in both)
    if buffer is None:
        sizes = (one.buffer_bytes or found.buffer_bytes or 0.0 for one in both)
        buffer = "/".join(f"{max(round(size), PACKET_BYTES)}B" for size in sizes)
    return rate, buffer, guess


def link_guess(frame: Table, traffic: Traffic) -> LinkGuess:
    """Guess a link from what crossed it.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    traffic : Traffic
        Of the same.

    Returns
    -------
    LinkGuess
    """
    table = columns_of(frame)
    (down, up), plateaus = zip(*(_of_direction(table, traffic, direction) for direction in DIRECTIONS), strict=True)
    guesses = {"down": down, "up": up}
    for one, other in (("down", "up"), ("up", "down")):
        own, its = plateaus[DIRECTIONS.index(one)], plateaus[DIRECTIONS.index(other)]
        if own is None or its is None or guesses[other].rate_bps is None:
            continue
        if (
            own.rate_bps < its.rate_bps
            and sent_by_tcp(table, traffic.near, one).packet_bytes <= ACKNOWLEDGES
            and own.follows(its)
        ):
            held = f"the load stays at {rate_text(own.rate_bps)} while {other} is full"
            why = f"{held}: most of its packets only acknowledge what comes there"
            guesses[one] = DirectionGuess(one, guesses[one].busiest_bps, lost=guesses[one].lost, why=why)
    return LinkGuess(guesses["down"], guesses["up"])


@dataclass(frozen=True)
class _Plateau:
    width_s: float
    rate_bps: float
    windows: Loads
    """Those at the plateau."""

    by_acks: bool

    def follows(self, other: _Plateau) -> bool:
        """Whether most of its time is that of another one."""
        middles_s = (self.windows.windows + 0.5) * self.width_s
        at = np.floor(middles_s / other.width_s).astype(np.int64)
        return float(np.isin(at, other.windows.windows).mean()) >= MEANWHILE


def _of_direction(table: Columns, traffic: Traffic, direction: str) -> tuple[DirectionGuess, _Plateau | None]:
    """The guess, and the plateau that it rests on, if there is one."""
    sent = sent_by_tcp(table, traffic.near, direction)
    again, lost_after = sent.again, sent.lost_after
    second = max(1.0, traffic.width_s)
    loads = traffic.loads(direction, second).bps
    none = DirectionGuess(direction, float(loads.max()) if len(loads) else None, lost=again)
    if not traffic.whole or traffic.width_s > WIDTHS_S[-1]:
        return _with(none, why="the capture holds too many connections to tell its load by the second"), None
    if not traffic.rows(direction):
        return _with(none, why="no packet went that way"), None
    plateau = _plateau_of(traffic, direction, sent)
    if plateau is None:
        return _with(none, why="the load never stays at one value for long, as that of a full link does"), None
    waits = _waits(traffic, plateau)
    full_s = plateau.width_s * len(plateau.windows.bps)
    held = f"the load stays at {rate_text(plateau.rate_bps)} for {time_text(full_s)}"
    if not len(waits) and (again or 0.0) < LEAST_LOST:
        return _with(
            none,
            perhaps_full_s=full_s,
            perhaps_bps=plateau.rate_bps,
            why=f"{held}, as that of a full link or of senders that hold to it, and nothing tells whether packets "
            f"wait or are lost there: {_untold(sent)}",
        ), plateau
    longest = float(quantiles(waits, (0.9,))[0]) if len(waits) else 0.0
    if longest < LEAST_WAIT_S and (again or 0.0) < LEAST_LOST:
        return _with(
            none, why=f"{held}, but nothing waits or is lost there: the senders may hold to it by themselves"
        ), plateau
    # What passes the tap and is lost behind it does not pass the link.
    kept = 1.0 if plateau.by_acks else 1 - lost_after
    rate = plateau.rate_bps * kept
    packet_bps = 8 * PACKET_BYTES / plateau.width_s
    low, high = (float(x) * kept for x in quantiles(plateau.windows.bps, (0.05, 0.95)))
    found = _with(
        none,
        rate_bps=rate,
        rate_low_bps=min(low, rate - packet_bps / 2),
        rate_high_bps=max(high, rate + packet_bps / 2),
        width_s=plateau.width_s,
        full_s=full_s,
        full_share=min(full_s / traffic.duration_s, 1.0),
        why=f"{held}, in windows of {time_text(plateau.width_s)}" + (", by what is acknowledged" * plateau.by_acks),
    )
    return _with_buffer(found, waits), plateau


def _untold(sent: Sent) -> str:
    """Why there is no evidence of waiting, nor of none."""
    if sent.tcp_share < 0.5:
        return f"{share_text(1 - sent.tcp_share)} of its bytes are not TCP, whose acknowledgements would"
    return "too few packets of TCP were acknowledged meanwhile"


def _with(guess: DirectionGuess, **changes: Any) -> DirectionGuess:
    return replace(guess, **changes)


def _plateau_of(traffic: Traffic, direction: str, sent: Sent) -> _Plateau | None:
    """The plateau in the narrowest windows that show one."""
    for by_acks in (False, True):
        # What is before the queue at the tap comes in bursts; what is acknowledged comes as the link let it through.
        if by_acks and sent.tcp_share < MOSTLY_TCP:
            return None
        for width_s in WIDTHS_S:
            if width_s < 2 * traffic.width_s or traffic.duration_s / width_s < LEAST_WINDOWS:
                continue
            largest = traffic.largest_load(direction, width_s, acknowledged=by_acks)
            if too_narrow(width_s, largest * (sent.wire_over_payload if by_acks else 1.0)):
                continue
            loads = traffic.loads(direction, width_s)
            if by_acks:
                acknowledged = traffic.acknowledged(direction, width_s)
                loads = Loads(acknowledged.windows, acknowledged.bps * sent.wire_over_payload)
            rate = plateau_rate(loads.bps, width_s, ABOVE_OF_ACKS if by_acks else ABOVE)
            if rate is not None:
                return _Plateau(width_s, rate, loads.kept(np.abs(loads.bps - rate) <= BAND * rate), by_acks)
    return None


def too_narrow(width_s: float, bps: float) -> bool:
    """Whether a packet is more than half the band of a load in windows of a width, and so of every smaller one."""
    return 8 * PACKET_BYTES / width_s > bps * BAND


def plateau_rate(loads_bps: Floats, width_s: float, most_above: float = ABOVE) -> float | None:
    """Where the load of many windows lies, and next to none above.

    Parameters
    ----------
    loads_bps : numpy.ndarray, shape (n_windows,)
        Load of windows.
    width_s : float
        Of the windows, s.
    most_above : float
        Most windows above, as a share of those at the plateau.

    Returns
    -------
    float or None
        bit/s: the median of the plateau. None where there is none: less than :data:`LEAST_WINDOWS` windows or
        :data:`LEAST_S` in the band of :data:`BAND`, more above it than ``most_above`` of these, or no peak, or windows
        so narrow that a packet is more than half the band.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> full, rising = np.full(60, 10e6), rng.uniform(0, 10e6, 300)
    >>> plateau_rate(np.concatenate([rising, full]), 0.1), plateau_rate(rising, 0.1)
    (10000000.0, None)
    """
    loads_bps = loads_bps[loads_bps > 0]
    if len(loads_bps) < LEAST_WINDOWS:
        return None
    largest = float(loads_bps.max())
    if too_narrow(width_s, largest):
        return None
    # No band of a candidate reaches lower.
    ordered = np.sort(loads_bps[loads_bps >= largest / 3 * (1 - 4 * BAND)])
    # Of an ordered array; `numpy.unique` imports masked arrays for it.
    candidates = ordered[ordered >= ordered[-1] / 3]
    candidates = candidates[begins_of(candidates)]
    if len(candidates) > 2000:
        candidates = candidates[np.linspace(0, len(candidates) - 1, 2000).astype(int)]

    def up_to(values: Floats) -> Integers:
        return np.searchsorted(ordered, values, side="right")

    above = len(ordered) - up_to(candidates * (1 + BAND))
    inside = len(ordered) - above - up_to(candidates * (1 - BAND))
    below = up_to(candidates * (1 - BAND)) - up_to(candidates * (1 - 3 * BAND))
    least = max(LEAST_WINDOWS, LEAST_S / width_s)
    higher = up_to(candidates * (1 + 3 * BAND)) - up_to(candidates * (1 + BAND))
    narrow = 8 * PACKET_BYTES / width_s > candidates * BAND
    peaked = inside >= PEAKED * np.maximum(below, higher)
    fits = (inside >= least) & (above <= most_above * inside) & peaked & ~narrow
    if not fits.any():
        return None
    best = candidates[fits][np.argmax((inside - above - below)[fits])]
    return _median(ordered[np.abs(ordered - best) <= BAND * best])


def _median(values: Floats) -> float:
    """As numpy's, which imports masked arrays for it."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


@dataclass(frozen=True)
class Sent:
    """What TCP sent in one direction, and how long its packets are.

    Parameters
    ----------
    again : float or None
        Share of the data packets that were sent again; None without any.
    lost_after : float
        Share of the data packets that passed the tap and were sent again: most of them were lost behind it.
    wire_over_payload : float
        Bytes of IP packets over those of payload.
    tcp_share : float
        TCP's share of the bytes of the direction.
    packet_bytes : float
        Mean length of all packets of the direction, TCP or not; infinite without any.
    """

    again: float | None
    lost_after: float
    wire_over_payload: float
    tcp_share: float
    packet_bytes: float


def sent_by_tcp(frame: Table, near: frozenset[str], direction: str) -> Sent:
    """Sum up what TCP sent in a direction.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    near : frozenset of str
        Addresses on the near side.
    direction : str
        ``down`` or ``up``.

    Returns
    -------
    Sent
    """
    ends = ("opener", "responder")
    names = ("data_packets", "retransmits", "lost_before", "wire_bytes", "payload_bytes")
    table = columns_of(frame)
    tcp, opener_near = table.words("protocol").are("tcp"), opener_is_near(table, near)
    sums = dict.fromkeys(names, 0)
    whole = packets = 0
    for end in ends:
        sent = opener_near == ((end == "opener") == (direction == "up"))
        whole += int(table[f"{end}_wire_bytes"][sent].sum())
        packets += int(table[f"{end}_packets"][sent].sum())
        for name in names:
            sums[name] += int(table[f"{end}_{name}"][sent & tcp].sum())
    data = sums["data_packets"]
    return Sent(
        (sums["retransmits"] + sums["lost_before"]) / data if data else None,
        min(sums["retransmits"] / data, 1.0) if data else 0.0,
        sums["wire_bytes"] / sums["payload_bytes"] if sums["payload_bytes"] else 1.0,
        sums["wire_bytes"] / whole if whole else 0.0,
        whole / packets if packets else float("inf"),
    )


def _waits(traffic: Traffic, plateau: _Plateau) -> Floats:
    """Least wait in each short window at the plateau, at whichever side of the tap it is larger, s."""
    width_s = max(WAIT_S, 2 * traffic.width_s)
    best = np.zeros(0)
    for waits in traffic.waits(width_s, plateau.windows.windows, plateau.width_s).values():
        if len(waits) >= LEAST_WINDOWS and (not len(best) or _median(waits) > _median(best)):
            best = waits
    return best


def _with_buffer(found: DirectionGuess, waits: Floats) -> DirectionGuess:
    if len(waits) < LEAST_WINDOWS:
        return _with(found, buffer_why="too few round trips ended while the link was full")
    typical, full, longest = (float(x) for x in quantiles(waits, (0.75, 0.98, 1.0)))
    rate = found.rate_bps or 0.0
    lost = (found.lost or 0.0) >= LEAST_LOST
    reason = f"packets wait {time_text(full)} at most, beyond the least round-trip time"
    if lost:
        reason += (
            f", and {share_text(found.lost)} of the data packets are lost; a discipline that keeps its queue short "
            "looks like a short buffer"
        )
    elif found.lost is None:
        reason += "; whether packets are lost no connection of TCP shows, so the buffer may be larger"
    else:
        reason += "; nothing is lost, so the buffer may be larger"
    return _with(
        found,
        wait_s=full,
        buffer_bytes=rate * full / 8,
        buffer_low_bytes=rate * typical / 8,
        buffer_high_bytes=rate * longest / 8,
        buffer_why=reason,
    )
