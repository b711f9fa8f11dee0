"""Ours: a capture, or a table of connections made of one."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from mayfly.profile.agreement.table import Seen, Tool, by_opener, in_order
from mayfly.text.parquet import MAGIC
from mayfly.workload.account import account_of, aside_of
from mayfly.workload.connections import connections, read_connections
from mayfly.workload.formats.packets import PCAP

SAME = (
    *("packets", "wire_bytes", "payload_bytes", "distinct_bytes", "data_packets", "acks", "retransmits"),
    *("retransmitted_bytes", "zero_windows", "keep_alives", "missing_bytes"),
)
"""Metrics that a column has as they are."""

COMPARED = ("tcp", "udp")
"""Protocols of the connections that are compared."""


def seen(frame: pl.DataFrame, source: str) -> Seen:
    """Our metrics of a connection table.

    Parameters
    ----------
    frame : polars.DataFrame
        Of :func:`mayfly.workload.connections.connections`.
    source : str
        Name of its file.

    Returns
    -------
    Seen
        ``out_of_order`` are all packets that filled a gap: early ones of another path, late ones lost before the tap.
    """
    frame = frame.filter(pl.col("protocol").is_in(COMPARED))
    sides = (("opener", "responder"), ("responder", "opener"))
    tcp = pl.col("protocol") == "tcp"
    extra = [
        pl.when(tcp).then(pl.col(f"{end}_reordered") + pl.col(f"{end}_lost_before")).alias(f"{end}_out_of_order")
        for end, _ in sides
    ]
    extra += [
        pl.when(tcp).then(pl.col(f"data_ack_to_{other}_{name}")).alias(f"{end}_rtt_{name}")
        for end, other in sides
        for name in ("samples", "min_s", "mean_s", "max_s")
    ]
    extra += [pl.col(f"handshake_to_{other}_s").alias(f"{end}_handshake_s") for end, other in sides]
    frame = frame.with_columns(extra).with_columns(
        (pl.col(f"{end}_retransmits") + pl.col(f"{end}_out_of_order")).alias(f"{end}_repeats") for end, _ in sides
    )
    more = ("out_of_order", "repeats", "rtt_samples", "rtt_min_s", "rtt_mean_s", "rtt_max_s", "handshake_s")
    found = by_opener(frame, {name: name for name in (*SAME, *more)})
    found = found.with_columns(frame["start_s"], (frame["end_s"] - frame["start_s"]).alias("duration_s"))
    return Seen("mayfly", source, in_order(found))


def _read(path: Path) -> Seen:
    with path.open("rb") as file:
        kept = file.read(len(MAGIC)) == MAGIC
    frame, counts = read_connections(path) if kept else connections(path)
    found = seen(frame, path.name)
    if "account" not in counts:
        return found
    used = frame.filter(pl.col("protocol").is_in(COMPARED)).select("connection_id")
    return replace(found, account=account_of(counts, [path], aside_of(frame, used)))


MAYFLY = Tool(
    id="mayfly",
    title="a capture, or connections.parquet of mayfly profile",
    sniff=lambda head: head.startswith(MAGIC) or PCAP.sniff(head),
    read=_read,
)
