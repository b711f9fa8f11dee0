"""The apps model: connections of a capture with their exchanges, pauses and paces kept.

Principle: :mod:`mayfly.workload.connections` takes each connection apart into trains; here each becomes a script
(:mod:`mayfly.workload.scripts`) in which an end speaks when it has heard what came before and thought about it for as
long as it did. What TCP and the path took in the capture is left out, so that the replay can take its own. The other
form sends every packet when it was captured, as UDP, whatever becomes of the ones before. Source: Chen 2012, 9.2.1 and
9.3.2, which does the second and leaves the first to future work.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload.bursts import MOST_BURSTS, MOST_BYTES
from mayfly.workload.capture import RTT_BOUNDS_S, opener_is_near
from mayfly.workload.captured_link import FULL, PACKET_BYTES, CapturedLink, captured_link
from mayfly.workload.closed_loop import LASTED
from mayfly.workload.connections import Reading, ReadOptions
from mayfly.workload.lists import flow_list
from mayfly.workload.sides import near_side

MOST_TRAINS = MOST_BURSTS
"""Trains and packets read of a capture at most, those of the largest workload."""

ENDS = ("opener", "responder")

DELAYED_ACK_S = 0.04
"""What an end waits at most for data on which its acknowledgement can ride (Linux), s."""

LEAST_RTO_S = 0.2
"""Least retransmission timeout (Linux), s."""

LONGEST_REPAIR_S = 2.0
"""What the repair of a lost end of a flight takes at most, twice doubled, s."""

PAUSING = 0.05
"""Of the trains of a host on an idle link, those that come after a pause of its own: from this share on it pauses."""

ASIDE_SEGMENTS = 3
"""What one end says while the other goes on has no more segments than this, or it is part of a conversation."""

QUEUE_CHANGES = 0.25
"""What is not more than this share of the queue is not told from its changes ..."""

LEAST_WAIT_S = 0.002
"""... and this, s: no wait."""


def read_options(*, initial_window: int = 1, delayed_ack: bool = True) -> ReadOptions:
    """How a capture is read for a replay.

    Parameters
    ----------
    initial_window, delayed_ack
        Of the ideal transfer beside which a train is called slow: those of the TCP that replays it.

    Returns
    -------
    ReadOptions
    """
    return ReadOptions(
        max_trains=MOST_TRAINS,
        max_packets=MOST_BURSTS,
        pauses=True,
        initial_window=initial_window,
        delayed_ack=delayed_ack,
    )


def scripted_flows(
    reading: Reading,
    networks: Sequence[str] | None = None,
    *,
    mss: int = 1460,
    rates_bps: dict[str, float] | None = None,
    link: CapturedLink | None = None,
) -> pl.DataFrame:
    """Connections of a capture as application-limited TCP, its UDP flows packet by packet.

    Parameters
    ----------
    reading : Reading
        Read with :func:`read_options`.
    networks : sequence of str, optional
        Internal side; found by :func:`mayfly.workload.sides.near_side` when None.
    mss : int
        Payload of a full packet of the replay, bytes.
    rates_bps : dict of float, optional
        Of the link that was captured, ``down`` and ``up``: what it did is then left out
        (:mod:`mayfly.workload.captured_link`), as far as the reading has volumes. Else as Chen 2012 has it.
    link : CapturedLink, optional
        The link of these rates, where it is known already.

    Returns
    -------
    polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list with ``script``, and ``connection_id``; with ``rates_bps`` also the time that each
        connection lasted, for :func:`mayfly.workload.closed_loop.closed`, whose scripts end in ``done``.

    Raises
    ------
    MayflyError
        The capture holds more trains or packets than were kept, a wait above a day, or nothing to replay.

    Notes
    -----
    One row per TCP connection with payload, from the end that speaks first to the other; ``start_s`` is its first
    packet, or a round-trip time before the first data where the beginning was not captured.

    With the parts of the handshake, tap to opener and back and tap to responder and back (medians of the capture where
    it was not measured), a train waits for what is left of the time at the tap, at least 0:

    - the first one, ``setup_s`` less the whole round trip, of a responder less its own part too;
    - after a train of the other side, the warm-up less the part of its own side;
    - after one of its own side (a pause), the pause less the whole round trip.

    The replay waits for the acknowledgement before a pause, so that a pause lasts longer by what its receiver delays
    that.

    A train that took longer than the ideal transfer of its packets is released evenly over the time it took, a packet
    of the replay at a time; any other as fast as the window allows. So a link that was slow in the capture stays as
    slow; Chen 2012, 9.2.1, spreads the surplus of all trains of a side over all of its packets instead.

    With ``rates_bps`` the parts of the path are the least of any connection to the same address, a wait is also less
    the queue at the time, though no less than the time since its side acknowledged what it answers, and a train that
    was slow while the link was full, or that lost packets, is not paced.
    """
    return flows_and_asides(reading, networks, mss=mss, rates_bps=rates_bps, link=link)[0]


def flows_and_asides(
    reading: Reading,
    networks: Sequence[str] | None,
    *,
    mss: int,
    rates_bps: dict[str, float] | None,
    link: CapturedLink | None = None,
) -> tuple[pl.DataFrame, list[dict[str, int]]]:
    """The flows of :func:`scripted_flows`, and how much of the connections is in none of them.

    Parameters
    ----------
    reading, networks, mss, rates_bps, link
        As there.

    Returns
    -------
    polars.DataFrame
        As there.
    list of dict of int
        TCP payload that is left out since nobody waits for it, and all of it, by ``down`` and ``up``, bytes.
    """
    check_complete(reading)
    if rates_bps is None:
        link = None
    elif link is None:
        link = captured_link(reading, near_hosts(reading, networks), rates_bps)
    known = with_paths(reading, networks, link)
    from_opener = pl.col("side") == "opener"
    up = pl.when(from_opener).then("opener_up").otherwise(~pl.col("opener_up"))
    trains = timed_trains(reading, mss=mss, link=link).join(known, on="connection_id", maintain_order="left")
    trains = trains.with_columns(direction=pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")))
    carried = reading.trains.join(known, on="connection_id", maintain_order="left").select(
        "bytes", direction=pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down"))
    )
    # A flow with a script is over for others when its last train has come in, where the captured link is known.
    last = pl.int_range(pl.len()) == pl.len() - 1
    train = pl.struct(
        (pl.col("direction") == "up").alias("up"),
        pl.col("bytes").alias("size_bytes"),
        "wait_ns",
        "pace_ns",
        pl.lit([], pl.List(pl.Int64)).alias("parts"),
        pl.lit(False).alias("streams"),
        (last if link is not None else pl.lit(False)).alias("done"),
    )
    asked_s = pl.col("first_data_s") - pl.col("rtt_s").fill_null(0.0)
    scripts = (
        trains.with_columns(first_data_s="start_s")
        .group_by("connection_id", maintain_order=True)
        .agg(
            train.alias("script"),
            pl.col("side", "direction", "first_data_s").first(),
            pl.col("end_s").last().alias("last_data_s"),
        )
        .join(known.drop("opener_up"), on="connection_id", maintain_order="left")
    )
    first = pl.col("side") == "opener"
    tcp = scripts.select(
        "connection_id",
        "direction",
        "rtt_s",
        "script",
        pl.when(pl.col("setup_s").is_null()).then(asked_s).otherwise("begun_s").alias("start_s"),
        pl.when(first).then("opener").otherwise("responder").alias("src"),
        pl.when(first).then("responder").otherwise("opener").alias("dst"),
        pl.when(first).then(pl.lit("sender")).otherwise(pl.lit("receiver")).alias("opened_by"),
        pl.lit("tcp").alias("protocol"),
        *([] if link is None else [pl.col("last_data_s")]),
    )
    if link is not None:
        tcp = tcp.with_columns((pl.col("last_data_s") - pl.col("start_s")).alias(LASTED)).drop("last_data_s")
    everything, kept = (
        {way: int(rows.filter(direction=way)["bytes"].sum()) for way in ("down", "up")} for rows in (carried, trains)
    )
    left = {way: everything[way] - kept[way] for way in everything}
    return listed([tcp, datagrams(reading, known, "udp")], mss), [left, everything]


def near_hosts(reading: Reading, networks: Sequence[str] | None) -> frozenset[str]:
    """Addresses on the near side of the link."""
    frame = reading.connections.filter(pl.col("protocol") != "icmp")
    return near_side(frame, networks).hosts


def timed_trains(reading: Reading, *, mss: int = 1460, link: CapturedLink | None = None) -> pl.DataFrame:
    """Trains with what their sides add to the time that the path takes.

    Parameters
    ----------
    reading, mss
        As for :func:`scripted_flows`, which has the rules.

    Returns
    -------
    polars.DataFrame, shape (n_trains, 11)
        The columns of ``trains``, and ``before``, the side of the train before (null for the first), ``wait_ns`` and
        ``pace_ns``.
    """
    if link is not None:
        return _trains_without(link, reading, mss)
    names = ("setup_s", "to_opener_s", "to_responder_s")
    known = with_paths(reading, []).select("connection_id", *names)
    trains = reading.trains.join(known, on="connection_id", maintain_order="left")
    trains = trains.with_columns(before=pl.col("side").shift(1).over("connection_id"))
    from_opener, before = pl.col("side") == "opener", pl.col("before")
    own_s = pl.when(from_opener).then("to_opener_s").otherwise("to_responder_s")
    whole_s = pl.col("to_opener_s") + pl.col("to_responder_s")
    first_s = pl.col("setup_s").fill_null(0.0) - whole_s - pl.when(from_opener).then(0.0).otherwise("to_responder_s")
    later_s = pl.col("warm_up_s") - pl.when(pl.col("side") == before).then(whole_s).otherwise(own_s)
    wait_s = pl.when(before.is_null()).then(first_s).otherwise(later_s)
    lasted_s, gaps = pl.col("end_s") - pl.col("start_s"), (pl.col("bytes") + mss - 1) // mss - 1
    pace_s = pl.when((lasted_s > pl.col("theoretical_s")) & (gaps > 0)).then(lasted_s / gaps).otherwise(0.0)
    return trains.with_columns(wait_ns=in_ns(wait_s), pace_ns=in_ns(pace_s)).drop(names)


def _trains_without(link: CapturedLink, reading: Reading, mss: int) -> pl.DataFrame:
    """The same without what the captured link did."""
    frame = reading.connections
    own = with_paths(reading, []).select("connection_id", "setup_s", "to_opener_s", "to_responder_s")
    ends = [
        frame.select("connection_id", pl.col(end).alias("address"))
        .join(link.bases, on="address", how="left")
        .select("connection_id", pl.col("base_s").alias(f"{end}_base_s"), pl.col("address").alias(end))
        for end in ENDS
    ]
    lost = [pl.col(f"{end}_retransmits") + pl.col(f"{end}_lost_before") > 0 for end in ENDS]
    losses = frame.select("connection_id", *(one.alias(f"{end}_lost") for end, one in zip(ENDS, lost, strict=True)))
    trains = reading.trains
    for table in (own, *ends, losses):
        trains = trains.join(table, on="connection_id", maintain_order="left")
    from_opener = pl.col("side") == "opener"

    def of_side(name: str) -> pl.Expr:
        return pl.when(from_opener).then(f"opener_{name}").otherwise(f"responder_{name}")

    trains = trains.with_columns(
        before=pl.col("side").shift(1).over("connection_id"),
        own_s=of_side("base_s").fill_null(pl.when(from_opener).then("to_opener_s").otherwise("to_responder_s")),
        whole_s=pl.col("opener_base_s").fill_null(pl.col("to_opener_s"))
        + pl.col("responder_base_s").fill_null(pl.col("to_responder_s")),
        address=pl.when(from_opener).then("opener").otherwise("responder"),
        lost=of_side("lost"),
    )
    near = trains["address"].is_in(list(link.near)).to_numpy()
    starts, last = trains["start_s"].to_numpy(), trains["end_s"].to_numpy()
    own_queue = link.queue_at(starts, near)
    trains = trains.with_columns(
        own_queue_s=pl.Series(own_queue),
        # A round trip of a sender's own data has the queues of both sides of the tap in it.
        whole_queue_s=pl.Series(own_queue + link.queue_at(starts, ~near)),
        busy=pl.Series(link.is_busy(starts, last, near)),
        full_before=pl.Series(link.is_busy(starts - trains["warm_up_s"].to_numpy(), starts, near, FULL)),
        rate_bps=pl.Series(np.where(near, link.rates_bps["up"], link.rates_bps["down"])),
    )
    trains = _without_asides(trains, mss)
    same = (pl.col("side") == pl.col("before")).fill_null(False)
    idle = ~pl.col("full_before") & ~pl.col("busy")
    paused = same & (pl.col("warm_up_s") > pl.col("whole_s") + LEAST_RTO_S)
    trains = trains.with_columns(
        pauses=((paused & idle).sum() > PAUSING * idle.sum()).over("address"),
    )
    trains = _without_flights(trains, mss).with_columns(
        usual_s=pl.col("heard_s").median().over("address").fill_null(0.0)
    )
    before, handshake_s = pl.col("before"), pl.col("to_opener_s") + pl.col("to_responder_s")
    # The queue of the handshake is in the parts of the connection's own handshake.
    first_s = (
        pl.col("setup_s").fill_null(0.0) - handshake_s - pl.when(from_opener).then(0.0).otherwise("to_responder_s")
    )
    # An end that answers at once acknowledges with the answer; one that thinks has acknowledged before, some time late.
    heard_s = _answered_at_once()
    late_s = _told(pl.col("warm_up_s") - pl.col("own_s") - pl.col("own_queue_s") - heard_s, pl.col("own_queue_s"))
    answered_s = (
        pl.when(pl.col("heard_s").is_null())
        .then(late_s)
        .otherwise(heard_s + pl.min_horizontal(late_s, pl.lit(DELAYED_ACK_S)))
    )
    went_on_s = _went_on_s()
    wait_s = (
        pl.when(before.is_null()).then(first_s).when(pl.col("side") == before).then(went_on_s).otherwise(answered_s)
    )
    lasted_s, gaps = pl.col("end_s") - pl.col("start_s"), (pl.col("bytes") + mss - 1) // mss - 1
    sent_s = 8 * pl.col("bytes") / pl.col("rate_bps")
    slow = (lasted_s > pl.col("theoretical_s") + sent_s) & (gaps > 0) & ~pl.col("busy") & ~pl.col("lost")
    return trains.with_columns(
        wait_ns=in_ns(wait_s), pace_ns=in_ns(pl.when(slow).then(lasted_s / gaps).otherwise(0.0))
    ).select(*reading.trains.columns, "before", "wait_ns", "pace_ns")


def _answered_at_once() -> pl.Expr:
    """Since its side acknowledged what a train answers, 0 where that is not known.

    An answer whose packets were all lost comes a timeout late, and nothing of the connection tells: where the link is
    busy and the same host mostly answers sooner, it is that.
    """
    # Behind its acknowledgement an answer has its own transmission.
    heard_s = (pl.col("heard_s").fill_null(0.0) - 8 * PACKET_BYTES / pl.col("rate_bps")).clip(0.0)
    lost = (heard_s >= LEAST_RTO_S) & pl.col("full_before") & (pl.col("usual_s") < LEAST_RTO_S / 4)
    return pl.when(lost).then("usual_s").otherwise(heard_s)


def _told(wait_s: pl.Expr, queue_s: pl.Expr) -> pl.Expr:
    """A wait as far as it is more than a queue that changes."""
    return pl.when(wait_s > QUEUE_CHANGES * queue_s + LEAST_WAIT_S).then(wait_s).otherwise(0.0)


def _went_on_s() -> pl.Expr:
    """How long a side paused that had all acknowledged.

    Behind a full link the end of a flight may have been lost, of which nothing is seen but the time until it comes
    again: of a host that pauses on an idle link, too, it is a pause.
    """
    wait_s = _told(pl.col("warm_up_s") - pl.col("whole_s") - pl.col("whole_queue_s"), pl.col("whole_queue_s"))
    lost = pl.col("full_before") & (wait_s < LONGEST_REPAIR_S) & ~pl.col("pauses")
    return pl.when(lost).then(0.0).otherwise(wait_s)


def _without_asides(trains: pl.DataFrame, mss: int) -> pl.DataFrame:
    """Without what one end says while the other goes on: a few bytes that nobody waits for.

    An end that had not acknowledged all when it spoke was not asked; and one that goes on sooner than an answer could
    have come was not answered.
    """
    unasked = pl.col("heard_s").is_null() & pl.col("before").is_not_null() & (pl.col("before") != pl.col("side"))
    goes_on = (pl.col("side").shift(-1) != pl.col("side")) & (pl.col("side").shift(1) == pl.col("side").shift(-1))
    too_soon = goes_on & (pl.col("warm_up_s").shift(-1) < pl.col("own_s").shift(-1))
    aside = (unasked | too_soon).over("connection_id").fill_null(False) & (pl.col("bytes") <= ASIDE_SEGMENTS * mss)
    kept = trains.filter(~aside).with_columns(
        before=pl.col("side").shift(1).over("connection_id"),
        since_s=pl.col("start_s") - pl.col("end_s").shift(1).over("connection_id"),
    )
    same = (pl.col("side") == pl.col("before")).fill_null(False)
    return kept.with_columns(warm_up_s=pl.when(same).then("since_s").otherwise("warm_up_s")).drop("since_s")


def _without_flights(trains: pl.DataFrame, mss: int) -> pl.DataFrame:
    """Trains of one side in a row that were flights of one train: between them nothing but a round trip passed."""
    same = (pl.col("side") == pl.col("before")).fill_null(False)
    goes_on = same & (_went_on_s() <= 0.0)
    return (
        trains.with_columns(number=(~goes_on).cum_sum())
        .group_by("connection_id", "number", maintain_order=True)
        .agg(
            pl.col("end_s").max(),
            pl.col("packets", "bytes", "theoretical_s").sum(),
            pl.col("busy", "lost").any(),
            pl.all().exclude("end_s", "packets", "bytes", "theoretical_s", "busy", "lost").first(),
        )
        .drop("number")
    )


def recorded_flows(reading: Reading, networks: Sequence[str] | None = None) -> pl.DataFrame:
    """The packets of a capture at the times they were captured, as UDP.

    Parameters
    ----------
    reading, networks
        As for :func:`scripted_flows`.

    Returns
    -------
    polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list with ``bursts``, and ``connection_id``: a row per direction with UDP packets or with
        payload of TCP. Retransmissions and packets that only acknowledge are left out: they answer a network.

    Raises
    ------
    MayflyError
        As :func:`scripted_flows`.
    """
    check_complete(reading)
    return listed([datagrams(reading, with_paths(reading, networks), None)], 1460)


def check_complete(reading: Reading) -> None:
    """Refuse a reading that left trains or packets out."""
    for name in ("trains", "packets"):
        left_out = reading.counts[f"{name}_left_out"]
        if left_out:
            kept = getattr(reading, name).height
            raise MayflyError(f"{name} = {kept + left_out}: must be at most {kept} to replay a capture by its {name}")


def with_paths(reading: Reading, networks: Sequence[str] | None, link: CapturedLink | None = None) -> pl.DataFrame:
    """Ends, direction, beginning and round-trip times of each TCP connection and UDP flow; without a link's queue."""
    frame = reading.connections.filter(pl.col("protocol") != "icmp")
    measured = pl.col("rtt_s").is_between(*RTT_BOUNDS_S)
    parts = {f"to_{end}_s": pl.when(measured).then(f"handshake_to_{end}_s") for end in ENDS}
    known = frame.with_columns(rtt_s=pl.when(measured).then("rtt_s"), **parts)
    if link is not None:
        known = _without_queue(known, link)
    return known.select(
        *("connection_id", "protocol", *ENDS, "setup_s", pl.col("start_s").alias("begun_s")),
        pl.col("rtt_s").fill_null(pl.col("rtt_s").median()),
        *(pl.col(name).fill_null(pl.col(name).median()).fill_null(0.0) for name in parts),
        opener_is_near(near_side(frame, networks).hosts).alias("opener_up"),
    )


def _without_queue(known: pl.DataFrame, link: CapturedLink) -> pl.DataFrame:
    """Connections with the least round-trip times between their ends, where these are known."""
    for end in ENDS:
        bases = link.bases.select(pl.col("address").alias(end), pl.col("base_s").alias(f"{end}_base_s"))
        known = known.join(bases, on=end, how="left", maintain_order="left")
    least_s = pl.col("opener_base_s") + pl.col("responder_base_s")
    return known.with_columns(rtt_s=pl.when(least_s.is_between(*RTT_BOUNDS_S)).then(least_s).otherwise("rtt_s"))


def usual_rtt_s(reading: Reading, link: CapturedLink) -> float | None:
    """Round-trip time of the path of probes, in whatever form a capture is replayed.

    Parameters
    ----------
    reading : Reading
    link : CapturedLink
        The link that was captured, at the rates of the replay.

    Returns
    -------
    float or None
        Median over the TCP connections whose own is known, without the queue of the captured link, s. UDP tells no
        round-trip times, and its look-ups, which go to a server nearby, would outvote the paths of transfers.
    """
    tcp = reading.connections.filter(pl.col("protocol") == "tcp")
    measured = pl.when(pl.col("rtt_s").is_between(*RTT_BOUNDS_S)).then("rtt_s")
    median = _without_queue(tcp.with_columns(rtt_s=measured), link)["rtt_s"].median()
    return float(median) if isinstance(median, float) else None


def datagrams(reading: Reading, known: pl.DataFrame, protocol: str | None) -> pl.DataFrame:
    """Flows of the captured packets, those of one protocol or all."""
    since_s = pl.col("time_s") - pl.col("time_s").first().over("connection_id", "side")
    length = (pl.col("wire_bytes") / pl.col("packets")).round().cast(pl.Int64).clip(UDP_HEADER_BYTES + 1, MOST_BYTES)
    packets = reading.packets.join(known, on="connection_id", maintain_order="left")
    if protocol is not None:
        packets = packets.filter(protocol=protocol)
    flows = (
        packets.with_columns(
            burst=pl.struct(
                (since_s.round(9) * 1e9).round().cast(pl.Int64).alias("at_ns"),
                pl.lit(0, pl.Int64).alias("gap_ns"),
                pl.col("packets").cast(pl.Int64),
                length.alias("packet_bytes"),
            )
        )
        .group_by("connection_id", "side", maintain_order=True)
        .agg(
            pl.col("burst").alias("bursts"),
            pl.col("time_s").first().alias("start_s"),
            pl.col(*ENDS, "rtt_s", "opener_up").first(),
        )
    )
    from_opener = pl.col("side") == "opener"
    up = pl.when(from_opener).then("opener_up").otherwise(~pl.col("opener_up"))
    return flows.select(
        "connection_id",
        pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        "rtt_s",
        "bursts",
        "start_s",
        pl.when(from_opener).then("opener").otherwise("responder").alias("src"),
        pl.when(from_opener).then("responder").otherwise("opener").alias("dst"),
        pl.when(from_opener).then(pl.lit("sender")).otherwise(pl.lit("receiver")).alias("opened_by"),
        pl.lit("udp").alias("protocol"),
    )


def listed(parts: list[pl.DataFrame], mss: int) -> pl.DataFrame:
    """One flow list of them, the first flow at 0."""
    rows = pl.concat(parts, how="diagonal")
    if rows.height == 0:
        raise MayflyError("no TCP connection with payload and no UDP flow to replay")
    start_s = (pl.col("start_s") - pl.col("start_s").min()).alias("start_s")
    rows = rows.with_columns(start_s).sort("start_s", "connection_id", maintain_order=True).with_row_index("flow_id")
    rows = rows.with_columns(pl.col("flow_id").cast(pl.Int64))
    beside = [name for name in ("connection_id", LASTED) if name in rows.columns]
    kept = [name for name in rows.columns if name not in beside and rows[name].null_count() < rows.height]
    flows = flow_list(rows.select(kept), mss=mss, source="flows of the capture")
    return flows.join(rows.select("flow_id", *beside), on="flow_id", maintain_order="left")


def in_ns(seconds: pl.Expr) -> pl.Expr:
    """Whole nanoseconds, at least 0; 0 for null."""
    return (seconds.fill_null(0.0).clip(0.0) * 1e9).round().cast(pl.Int64)
