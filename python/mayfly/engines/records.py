"""What the guest tells of flows and queue as the tables of docs/tables.md."""

from typing import Any

import polars as pl

from mayfly.headers import UDP_HEADER_BYTES
from mayfly.scenario.transport import Tcp
from mayfly.simulate import columns
from mayfly.tables import native


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
    return columns.records_frame(flows, pl.DataFrame(outcomes, schema=native("flows").schema), tcp.mss).drop("begun_s")


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
        "rtt_mean_s": told.get("rtt_mean_s"),
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
    before = {"arrivals": 0, "drops": 0}
    rows = []
    for one in told:
        now = {"arrivals": one["packets"] + one["backlog_packets"] + one["drops"], "drops": one["drops"]}
        progress = {f"progress_{k + 1}_bytes": one["progress"][k] for k in range(min(watched, 3))}
        since = {name: now[name] - before[name] for name in now}
        rows.append({name: one[name] for name in _QUEUE} | since | progress)
        before = now
    return pl.DataFrame(rows, schema=native("samples").schema)


_QUEUE = ("time_s", "backlog_packets", "backlog_bytes", "queue_mean_packets")
"""What the guest tells as the table has it."""
