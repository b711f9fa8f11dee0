"""The apps model: connections of a capture with their exchanges, pauses and paces kept.

Principle: :mod:`mayfly.workload.connections` takes each connection apart into trains; here each becomes a script
(:mod:`mayfly.workload.scripts`) in which an end speaks when it has heard what came before and thought about it for as
long as it did. What TCP and the path took in the capture is left out, so that the replay can take its own. The other
form sends every packet when it was captured, as UDP, whatever becomes of the ones before. Source: Chen 2012, 9.2.1 and
9.3.2, which does the second and leaves the first to future work.
"""

from __future__ import annotations

import polars as pl

from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload.bursts import MOST_BURSTS, MOST_BYTES
from mayfly.workload.capture import RTT_BOUNDS_S, Network, hosts_within, internal_hosts, opener_is_near
from mayfly.workload.connections import Reading, ReadOptions
from mayfly.workload.lists import flow_list

MOST_TRAINS = MOST_BURSTS
"""Trains and packets read of a capture at most, those of the largest workload."""

ENDS = ("opener", "responder")


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


def scripted_flows(reading: Reading, networks: list[Network] | None = None, *, mss: int = 1460) -> pl.DataFrame:
    """Connections of a capture as application-limited TCP, its UDP flows packet by packet.

    Parameters
    ----------
    reading : Reading
        Read with :func:`read_options`.
    networks : list of ip_network, optional
        Internal side; inferred by :func:`mayfly.workload.capture.internal_hosts` when None.
    mss : int
        Payload of a full packet of the replay, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list with ``script``, and ``connection_id``.

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
    """
    check_complete(reading)
    known = with_paths(reading, networks)
    from_opener = pl.col("side") == "opener"
    up = pl.when(from_opener).then("opener_up").otherwise(~pl.col("opener_up"))
    trains = timed_trains(reading, mss=mss).join(known, on="connection_id", maintain_order="left")
    trains = trains.with_columns(direction=pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")))
    step = pl.concat_str(
        pl.when(pl.col("wait_ns") > 0).then(pl.format("wait {}ns | ", "wait_ns")).otherwise(pl.lit("")),
        pl.format("{} {}", "direction", "bytes"),
        pl.when(pl.col("pace_ns") > 0).then(pl.format(" pace {}ns", "pace_ns")).otherwise(pl.lit("")),
    )
    asked_s = pl.col("first_data_s") - pl.col("rtt_s").fill_null(0.0)
    scripts = (
        trains.with_columns(step=step, first_data_s="start_s")
        .group_by("connection_id", maintain_order=True)
        .agg(pl.col("step").str.join(" | ").alias("script"), pl.col("side", "direction", "first_data_s").first())
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
    )
    return listed([tcp, datagrams(reading, known, "udp")], mss)


def timed_trains(reading: Reading, *, mss: int = 1460) -> pl.DataFrame:
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


def recorded_flows(reading: Reading, networks: list[Network] | None = None) -> pl.DataFrame:
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


def with_paths(reading: Reading, networks: list[Network] | None) -> pl.DataFrame:
    """Ends, direction, beginning and round-trip times of each TCP connection and UDP flow."""
    frame = reading.connections.filter(pl.col("protocol") != "icmp")
    hosts = internal_hosts(frame) if networks is None else hosts_within(frame, networks)
    measured = pl.col("rtt_s").is_between(*RTT_BOUNDS_S)
    parts = {f"to_{end}_s": pl.when(measured).then(f"handshake_to_{end}_s") for end in ENDS}
    known = frame.with_columns(rtt_s=pl.when(measured).then("rtt_s"), **parts)
    return known.select(
        *("connection_id", "protocol", *ENDS, "setup_s", pl.col("start_s").alias("begun_s")),
        pl.col("rtt_s").fill_null(pl.col("rtt_s").median()),
        *(pl.col(name).fill_null(pl.col(name).median()).fill_null(0.0) for name in parts),
        opener_is_near(hosts).alias("opener_up"),
    )


def datagrams(reading: Reading, known: pl.DataFrame, protocol: str | None) -> pl.DataFrame:
    """Flows of the captured packets, those of one protocol or all."""
    since_s = pl.col("time_s") - pl.col("time_s").first().over("connection_id", "side")
    length = (pl.col("wire_bytes") / pl.col("packets")).round().cast(pl.Int64).clip(UDP_HEADER_BYTES + 1, MOST_BYTES)
    several = pl.when(pl.col("packets") > 1).then(pl.format("x{}/0", "packets")).otherwise(pl.lit(""))
    packets = reading.packets.join(known, on="connection_id", maintain_order="left")
    if protocol is not None:
        packets = packets.filter(protocol=protocol)
    flows = (
        packets.with_columns(burst=pl.concat_str(pl.format("{}:{}", since_s.round(9), length), several))
        .group_by("connection_id", "side", maintain_order=True)
        .agg(
            pl.col("burst").str.join(" ").alias("bursts"),
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
    kept = [name for name in rows.columns if name != "connection_id" and rows[name].null_count() < rows.height]
    flows = flow_list(rows.select(kept), mss=mss, source="flows of the capture")
    return flows.join(rows.select("flow_id", "connection_id"), on="flow_id", maintain_order="left")


def in_ns(seconds: pl.Expr) -> pl.Expr:
    """Whole nanoseconds, at least 0; 0 for null."""
    return (seconds.fill_null(0.0).clip(0.0) * 1e9).round().cast(pl.Int64)
