"""Flow lists made of packet captures, which replay them through a bottleneck.

Principle: :mod:`mayfly.workload.connections` has one row per TCP connection or UDP flow; everything here is a polars
expression over these rows. What a capture cannot tell (round-trip time of a connection begun before it,
rate of a single datagram) is filled in by the rules stated at :func:`flows_of_capture`.
"""

import os
from collections.abc import Iterable, Sequence

import polars as pl

from mayfly.workload.connections import COLUMNS, connections
from mayfly.workload.doubts import RTT_BOUNDS_S as RTT_BOUNDS_S
from mayfly.workload.doubts import clock_jump_sentence as clock_jump_sentence
from mayfly.workload.doubts import one_sided_sentence as one_sided_sentence
from mayfly.workload.partial import refuse_partial
from mayfly.workload.sides import near_side, sides_of
from mayfly.workload.sides import networks_of as networks_of

__all__ = ["COLUMNS", "connections", "flows_of_capture", "flows_of_connections"]

SMALLEST_UDP_BYTES = 29
"""IPv4 and UDP header and one byte of payload."""

LARGEST_UDP_BYTES = 65535
"""A packet of segmentation offload is longer than any on the wire; it is replayed at this length."""

SINGLE_BPS = 1e6
"""Rate of a UDP flow of one packet, bit/s: the packet lasts its length at 1 Mbit/s."""

CLOCK_S = 1e-6
"""Shortest span between two packets, the resolution of most captures."""

RATE_BOUNDS_BPS = (1.0, 1e12)
"""Rates a flow list may hold, bit/s."""


def flows_of_capture(
    path: str | os.PathLike[str], *, internal: list[str] | None = None, max_flows: int = 1_000_000
) -> pl.DataFrame:
    """Read a capture as a flow list.

    Parameters
    ----------
    path : path
        Capture, as for :func:`connections`.
    internal : list of str, optional
        CIDRs of the side behind the link (``10.0.0.0/8``, ``2001:db8::/32``). When not given, see
        :func:`mayfly.workload.sides.near_side`.
    max_flows : int
        As for :func:`connections`.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12)
        As :func:`flows_of_connections` returns it.

    Raises
    ------
    MayflyError
        As :func:`connections`, or ``internal`` holds something else than a CIDR, or no host is in it, or a connection
        was given up because ``max_flows`` or a limit of :data:`mayfly.limits.limits` was reached; one line.
    """
    networks = None if internal is None else networks_of(internal)
    frame, counts = connections(path, max_flows=max_flows)
    refuse_partial(counts, os.fspath(path), "a flow list", max_flows)
    if networks is not None:
        sides_of(frame, networks)
    return flows_of_connections(frame, networks)


def flows_of_connections(
    frame: pl.DataFrame,
    networks: Sequence[str] | None = None,
    *,
    from_zero: bool = True,
    near: Iterable[str] | None = None,
) -> pl.DataFrame:
    """Make the flow list of a connection table: one row per direction that carried something.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        As :func:`connections` returns it.
    networks : sequence of str, optional
        CIDRs of the internal side; :func:`mayfly.workload.sides.near_side` finds it when None.
    from_zero : bool
        Whether the first flow starts at 0, or times are those of the connections.
    near : iterable of str, optional
        Hosts of the internal side, in place of its networks.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12)
        The columns of ``docs/tables.md`` and ``connection_id``, sorted by ``start_s``.

    Notes
    -----
    - ICMP is left out.
    - TCP: a row for each direction with payload; ``size_bytes`` is its distinct payload. ``start_s`` is one
      round-trip time before the first payload of the direction, not before the connection. An idle connection is not
      split.
    - UDP: a row for each direction with packets; ``packet_bytes`` is the mean IP length, ``size_bytes`` the payload,
      at least 1. ``rate_bps`` lets the last packet leave when it did: the bits of all packets but one over the span
      from first to last packet (at least 1 us), 1 Mbit/s for a single packet, within 1 bit/s and 1 Tbit/s.
    - ``rtt_s``: the handshake's, else the median over the capture, else null.
    - ``direction``: ``up`` from internal to external, ``down`` from external to internal; where both ends are on the
      same side, ``down`` towards the opener.
    """
    frame = frame.filter(pl.col("protocol") != "icmp")
    if near is None:
        near = near_side(frame, networks).hosts
    measured = pl.when(pl.col("rtt_s").is_between(*RTT_BOUNDS_S)).then("rtt_s")
    known = frame.with_columns(measured.alias("rtt_s"))
    known = known.with_columns(pl.col("rtt_s").fill_null(pl.col("rtt_s").median()))
    ways = known.select("connection_id", opener_near=opener_is_near(near))
    flows = pl.concat([direction_of(known, "opener", "responder"), direction_of(known, "responder", "opener")])
    flows = flows.join(ways, on="connection_id", how="left", maintain_order="left")
    up = (pl.col("opened_by") == "sender") == pl.col("opener_near")
    flows = flows.with_columns(
        pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        (pl.col("start_s") - (pl.col("start_s").min() if from_zero else 0.0)).alias("start_s"),
    ).sort("start_s", "connection_id", "opened_by", descending=[False, False, True])
    return flows.with_row_index("flow_id").select(
        pl.col("flow_id").cast(pl.Int64),
        *("start_s", "src", "dst", "direction", "protocol", "size_bytes", "rtt_s", "opened_by"),
        *("packet_bytes", "rate_bps", "connection_id"),
    )


def direction_of(frame: pl.DataFrame, sender: str, receiver: str) -> pl.DataFrame:
    """Flows sent by ``sender`` (``opener`` or ``responder``), before the shift to 0 and without ``direction``."""

    def sent(name: str) -> pl.Expr:
        return pl.col(f"{sender}_{name}")

    udp = pl.col("protocol") == "udp"
    asked_s = sent("first_data_s") - pl.col("rtt_s").fill_null(0.0)
    start_s = pl.when(udp).then(sent("first_s")).otherwise(pl.max_horizontal("start_s", asked_s))
    packet_bytes = (sent("wire_bytes") / sent("packets")).round().cast(pl.Int64)
    span_s = pl.max_horizontal(sent("last_s") - sent("first_s"), pl.lit(CLOCK_S))
    paced_bps = 8 * sent("wire_bytes") / sent("packets") * (sent("packets") - 1) / span_s
    rate_bps = pl.when(sent("packets") > 1).then(paced_bps.clip(*RATE_BOUNDS_BPS)).otherwise(SINGLE_BPS)
    carried = pl.when(udp).then(sent("packets") > 0).otherwise(sent("distinct_bytes") > 0)
    return frame.filter(carried).select(
        pl.col("connection_id"),
        pl.max_horizontal(start_s, pl.lit(0.0)).alias("start_s"),
        pl.col(sender).alias("src"),
        pl.col(receiver).alias("dst"),
        pl.col("protocol"),
        pl.max_horizontal(sent("distinct_bytes"), pl.lit(1, dtype=pl.Int64)).alias("size_bytes"),
        pl.col("rtt_s"),
        pl.lit("sender" if sender == "opener" else "receiver").alias("opened_by"),
        pl.when(udp).then(packet_bytes.clip(SMALLEST_UDP_BYTES, LARGEST_UDP_BYTES)).alias("packet_bytes"),
        pl.when(udp).then(rate_bps).alias("rate_bps"),
    )


def opener_is_near(hosts: Iterable[str]) -> pl.Expr:
    """Whether the opener of a connection is on the near side of the link, that of ``hosts``.

    Every connection of a capture is taken to pass the link. Between two hosts of one side, the opener is near.
    """
    inside = list(hosts)
    near = pl.col("opener").is_in(inside)
    return pl.when(near != pl.col("responder").is_in(inside)).then(near).otherwise(pl.lit(True))


def hosts_of(frame: pl.DataFrame) -> list[str]:
    """Every address of a connection table, once."""
    return pl.concat([frame["opener"], frame["responder"].alias("opener")]).unique().sort().to_list()
