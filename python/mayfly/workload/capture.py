"""Flow lists made of packet captures, which replay them through a bottleneck.

Principle: :mod:`mayfly.workload.connections` has one row per TCP connection or UDP flow, and crate ``replay`` makes the
transfers of these rows. What a capture cannot tell (round-trip time of a connection begun before it,
rate of a single datagram) is filled in by the rules stated at :func:`flows_of_capture`.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats
from mayfly.workload.columns import Table, columns_of
from mayfly.workload.connections import COLUMNS, connections
from mayfly.workload.doubts import RTT_BOUNDS_S as RTT_BOUNDS_S
from mayfly.workload.doubts import one_sided_sentence as one_sided_sentence
from mayfly.workload.doubts import refuse_partial
from mayfly.workload.quic import MARKS, QUIC, quic_rows
from mayfly.workload.sides import near_side, sides_of
from mayfly.workload.sides import networks_of as networks_of
from mayfly.workload.sieve import read_through

__all__ = ["COLUMNS", "connections", "flows_of_capture", "flows_of_connections"]

_SENT: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("first_s", "last_s", "first_data_s"), pl.Float64),
    **dict.fromkeys(("packets", "wire_bytes", "distinct_bytes"), pl.Int64),
}
"""What the transfers of an end depend on."""


def flows_of_capture(
    path: str | os.PathLike[str],
    *,
    internal: Sequence[str] | None = None,
    max_flows: int = 1_000_000,
    filter: str | None = None,
) -> pl.DataFrame:
    """Read a capture as a flow list.

    Parameters
    ----------
    path : path
        Capture, as for :func:`connections`.
    internal : str or sequence of str, optional
        CIDRs of the side behind the link (``10.0.0.0/8``, ``2001:db8::/32``). When not given, see
        :func:`mayfly.workload.sides.near_side`.
    max_flows : int
        As for :func:`connections`.
    filter : str, optional
        Which packets count (:func:`mayfly.workload.sieve.read_through`); all when absent.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12 or 13)
        As :func:`flows_of_connections` returns it.

    Raises
    ------
    MayflyError
        As :func:`connections`, or ``internal`` holds something else than a CIDR, or no host is in it, or a connection
        was given up because ``max_flows`` or a limit of :data:`mayfly.limits.limits` was reached; one line.
    """
    networks = None if internal is None else networks_of(internal)
    with read_through(filter):
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
    others: bool = False,
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
    others : bool
        Whether IP protocols other than TCP, UDP and ICMP are in the list, as UDP: they load the link.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12 or 13)
        The columns of ``docs/tables.md`` and ``connection_id``, sorted by ``start_s``.

    Notes
    -----
    - ICMP is left out, and other protocols are without ``others``.
    - TCP and QUIC: a row for each direction with payload, of QUIC as far as lengths of packets tell, with
      ``transport`` ``quic``; ``size_bytes`` is its distinct payload. ``start_s`` is one
      round-trip time before the first payload of the direction, not before the connection. An idle connection is not
      split.
    - Other UDP: a row for each direction with packets; ``packet_bytes`` is the mean IP length, ``size_bytes`` the
      payload, at least 1. ``rate_bps`` lets the last packet leave when it did: the bits of all packets but one over
      the span from first to last packet (at least 1 us), 1 Mbit/s for a single packet, within 1 bit/s and 1 Tbit/s.
    - ``rtt_s``: the handshake's, else the median over the capture, else null.
    - ``direction``: ``up`` from internal to external, ``down`` from external to internal; where both ends are on the
      same side, ``down`` towards the opener.
    """
    frame = frame.filter(pl.col("protocol").is_in(["tcp", "udp", *(["other"] if others else [])]))
    frame = frame.with_columns(pl.col("protocol").replace({"other": "udp"}))
    if near is None:
        near = near_side(frame, networks).hosts
    flows = _flows_of(frame, near)
    starts = pl.col("start_s") - (pl.col("start_s").min() if from_zero else 0.0)
    flows = flows.with_columns(starts.alias("start_s")).with_row_index("flow_id")
    quic = flows["transport"].null_count() < flows.height
    return flows.select(*FLOW_COLUMNS, *(["transport"] if quic else []))


FLOW_COLUMNS = (
    pl.col("flow_id").cast(pl.Int64),
    *("start_s", "src", "dst", "direction", "protocol", "size_bytes", "rtt_s", "opened_by"),
    *("packet_bytes", "rate_bps", "connection_id"),
)
"""Of :func:`flows_of_connections`; ``transport`` follows where a connection is QUIC."""


def is_quic(columns: Iterable[str]) -> pl.Expr:
    """Whether a connection is QUIC, for certain or probably.

    Parameters
    ----------
    columns : iterable of str
        Those of the table: without the marks, none is.

    Returns
    -------
    polars.Expr
        Booleans.
    """
    known = [pl.col(name) for name in MARKS if name in columns]
    if not known:
        return pl.lit(False)
    return (pl.any_horizontal(known) & (pl.col("protocol") == "udp")).fill_null(False)


def _flows_of(frame: pl.DataFrame, near: Iterable[str], usual_rtt_s: float | None = None) -> pl.DataFrame:
    """Flows of connections without ICMP, by start; ``usual_rtt_s`` is the median of more connections than these."""
    frame = frame.with_columns(transport=pl.when(is_quic(frame.columns)).then(pl.lit(QUIC)))
    # A transfer of QUIC is one of TCP with another transport.
    frame = frame.with_columns(
        protocol=pl.when(pl.col("transport").is_null()).then("protocol").otherwise(pl.lit("tcp"))
    )
    udp, sent = pl.col("protocol") == "udp", [f"{end}_{name}" for end in ("opener", "responder") for name in _SENT]
    times = (pl.col("start_s", "rtt_s").cast(pl.Float64), udp.fill_null(False).alias("udp"))
    sides = (pl.col(name).cast(_SENT[name.partition("_")[2]]) for name in sent)
    # Crate ``replay`` has the rules.
    found = pl.DataFrame(_native.transfers(frame.select(*times, *sides), usual_rtt_s))
    ends = frame.select(
        "connection_id", "opener", "responder", "protocol", "transport", opener_near=opener_is_near(near)
    )
    flows = pl.concat([found, ends[found["row"]]], how="horizontal")
    opens = pl.col("from_opener")
    return flows.with_columns(
        pl.when(opens).then("opener").otherwise("responder").alias("src"),
        pl.when(opens).then("responder").otherwise("opener").alias("dst"),
        pl.when(opens == pl.col("opener_near")).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        pl.when(opens).then(pl.lit("sender")).otherwise(pl.lit("receiver")).alias("opened_by"),
    ).sort(*BY_START, descending=[False, False, True])


BY_START = ("start_s", "connection_id", "opened_by")
"""Flows are in this order, senders that opened their connection before receivers that did."""

PART = 1 << 16
"""Connections whose flows are made at once: some 100 MB of memory."""


def flows_in_parts(
    table: Table, networks: Sequence[str] | None = None, *, from_zero: bool = True, rows: int = PART
) -> Iterator[pl.DataFrame]:
    """Make the flow list of any number of connections, part by part.

    Parameters
    ----------
    table : Columns or polars.DataFrame, shape (n_connections, n_columns)
        Connections in the order of first packets, ``connection_id`` among their columns.
    networks, from_zero
        As for :func:`flows_of_connections`.
    rows : int
        Connections whose flows are made at once, from 1.

    Yields
    ------
    polars.DataFrame, shape (n_flows, 12 or 13)
        Together, in this order, the list of :func:`flows_of_connections`.

    Notes
    -----
    No flow starts before its connection. Flows wait for their part until no later connection starts before them.
    """
    columns = columns_of(table)
    if not columns.height:
        return
    flows = columns.words("protocol").among(("tcp", "udp"))
    near = near_side(columns.chosen(flows), networks).hosts
    usual_rtt_s = _usual_rtt_s(columns["rtt_s"][flows])
    begins = range(0, columns.height, rows)
    # Where packets are not in order, a later connection may start before the ones before it.
    earliest = [float(np.min(columns["start_s"][begin : begin + rows], initial=np.inf)) for begin in begins]
    after = [*np.minimum.accumulate(earliest[::-1])[::-1][1:], np.inf]
    given = (*FLOW_COLUMNS, "transport") if quic_rows(columns).any() else FLOW_COLUMNS
    names = (
        *_COLUMNS,
        *(name for name in MARKS if name in columns),
        *(f"{end}_{name}" for end in ("opener", "responder") for name in _SENT),
    )
    waiting: pl.DataFrame | None = None
    done, first_s = 0, 0.0
    for begin, until_s in zip(begins, after, strict=True):
        own = np.flatnonzero(flows[begin : begin + rows]) + begin
        found = _flows_of(columns.part(names, own), near, usual_rtt_s)
        if waiting is not None and waiting.height:
            found = pl.concat([waiting, found]).sort(*BY_START, descending=[False, False, True])
        count = int(found["start_s"].search_sorted(until_s, side="right"))
        ready, waiting = found[:count], found[count:]
        if not count:
            continue
        if not done:
            first_s = float(ready["start_s"][0]) if from_zero else 0.0
        ready = ready.with_columns(pl.col("start_s") - first_s)
        yield ready.with_row_index("flow_id", offset=done).select(given)
        done += count


_COLUMNS = ("connection_id", "opener", "responder", "protocol", "start_s", "rtt_s")


def _usual_rtt_s(rtts_s: Floats) -> float | None:
    """Median of the round-trip times that a flow list may hold, as crate ``replay`` has it."""
    least, most = RTT_BOUNDS_S
    known = pl.Series(rtts_s[(rtts_s >= least) & (rtts_s <= most)])
    return None if known.is_empty() else float(cast("float", known.median()))


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
