"""What the guest tells of flows and queue as the tables of docs/tables.md."""

from typing import Any

import polars as pl

from mayfly.headers import UDP_HEADER_BYTES
from mayfly.scenario.transport import Tcp


def records_frame(flows: pl.DataFrame, told: list[dict[str, Any]], tcp: Tcp) -> pl.DataFrame:
    """The flow list with the outcome of each flow.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    told : list of dict, shape (n_flows,)
        By the guest.
    tcp : Tcp
        Of the scenario: without FIN exchange a flow ends with its last data.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Flow records, without ``slowdown``, ``discipline`` and ``replication``; null is what the kernel does not tell.
    """
    known = flows.select("protocol", "size_bytes", "start_s", "opened_by", "packet_bytes").iter_rows(named=True)
    outcomes = [
        _udp(row, one, tcp) if row["protocol"] == "udp" else _tcp(row, one, tcp.fin)
        for row, one in zip(known, told, strict=True)
    ]
    found = pl.DataFrame(outcomes, schema=_OUTCOME)
    none = {name: pl.lit(None, pl.Int64) for name in ("high_packets", "sorted_packets", "fragments")}
    delays = {f"queue_delay_{name}": pl.lit(None, pl.Float64) for name in ("mean_s", "deviation_s", "max_s")}
    return (
        flows.with_columns(size_packets=(pl.col("size_bytes") + (tcp.mss - 1)) // tcp.mss)
        .with_columns(found.get_columns())
        .with_columns(**none)
        .with_columns(response_time_s=pl.col("finish_s") - pl.col("start_s"))
        .with_columns(queue_packets=pl.lit(None, pl.Int64), **delays)
    )


_OUTCOME = {
    "finish_s": pl.Float64,
    "delivered_bytes": pl.Int64,
    "packets_sent": pl.Int64,
    "retransmits": pl.Int64,
    "timeouts": pl.Int64,
    "drops": pl.Int64,
    "lost": pl.Int64,
    "marks": pl.Int64,
    "rtt_mean_s": pl.Float64,
    "cwnd_mean_packets": pl.Float64,
    "gave_up": pl.Boolean,
    "first_data_s": pl.Float64,
    "first_sent_s": pl.Float64,
    "last_data_s": pl.Float64,
}
"""In the order of the simulator's records."""


def _tcp(row: dict[str, Any], told: dict[str, Any], fin: bool) -> dict[str, Any]:
    sender, receiver = told.get("sender") or {}, told.get("receiver") or {}
    opens = row["opened_by"] == "sender"
    # The kernel counts no SYN-ACK with the connection that it opens.
    sent = sender.get("segs_out", 0) + (1 if sender and not opens else 0)
    back = receiver.get("segs_out", 0) + (1 if receiver and opens else 0)
    lost = max(sent - receiver.get("segs_in", 0), 0) + max(back - sender.get("segs_in", 0), 0)
    return {
        "finish_s": told.get("finish_s" if fin else "last_data_s"),
        "delivered_bytes": told["received_bytes"],
        "packets_sent": sent,
        "retransmits": sender.get("total_retrans", 0),
        "drops": lost,
        "lost": 0,
        "marks": sender.get("delivered_ce", 0),
        "gave_up": told["gave_up"],
        "first_data_s": told.get("first_data_s"),
        "first_sent_s": row["start_s"] if opens else None,
        "last_data_s": told.get("last_data_s"),
    }


def _udp(row: dict[str, Any], told: dict[str, Any], tcp: Tcp) -> dict[str, Any]:
    payload = (row["packet_bytes"] or tcp.mss + tcp.headers_bytes) - UDP_HEADER_BYTES
    ended = told["settled"] and told["arrived"]
    return {
        "finish_s": told["last_data_s"] if ended else None,
        "delivered_bytes": min(told["arrived"] * payload, row["size_bytes"]),
        "packets_sent": told["sent"],
        "retransmits": 0,
        "timeouts": 0,
        "drops": told["sent"] - told["arrived"],
        "lost": 0,
        "marks": 0,
        "gave_up": False,
        "first_data_s": told.get("first_data_s"),
        "first_sent_s": row["start_s"] if told["sent"] else None,
        "last_data_s": told["last_data_s"] if ended else None,
    }


def samples_frame(told: list[dict[str, Any]], watched: int) -> pl.DataFrame:
    """Time series of the forward queue.

    Parameters
    ----------
    told : list of dict, shape (n_samples,)
        By the guest.
    watched : int
        Flows whose progress was watched.

    Returns
    -------
    polars.DataFrame, shape (n_samples, ...)
        Samples of docs/tables.md, without ``discipline`` and ``replication``.
    """
    rows = pl.DataFrame(told, schema=_SAMPLE)
    offered = pl.col("packets") + pl.col("backlog_packets") + pl.col("drops")
    none = {name: pl.lit(None, pl.Int64) for name in ("high_backlog_packets", "flow_table")}
    progress = {
        f"progress_{k + 1}_bytes": pl.col("progress").list.get(k) if k < watched else pl.lit(None, pl.Int64)
        for k in range(3)
    }
    return rows.select(
        "time_s",
        "backlog_packets",
        "backlog_bytes",
        **none,
        arrivals=offered - offered.shift(1, fill_value=0),
        drops=pl.col("drops") - pl.col("drops").shift(1, fill_value=0),
        queue_mean_packets=pl.col("queue_mean_packets"),
        nonresponsive_arrivals=pl.lit(None, pl.Int64),
        nonresponsive_drops=pl.lit(None, pl.Int64),
        nonresponsive_estimate=pl.lit(None, pl.Float64),
        nonresponsive_doubt=pl.lit(None, pl.String),
        **progress,
    )


_SAMPLE = {
    "time_s": pl.Float64,
    "packets": pl.Int64,
    "drops": pl.Int64,
    "backlog_packets": pl.Int64,
    "backlog_bytes": pl.Int64,
    "queue_mean_packets": pl.Float64,
    "progress": pl.List(pl.Int64),
}
