"""Numbers of one run that the claims of Chen 2012, ch. 4 need."""

import polars as pl

from mayfly.arrays import number
from mayfly.metrics.departures import inter_departures, regularity
from mayfly.metrics.progress import plateaus
from mayfly.metrics.size_classes import classes, completed_tcp
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures, or_nan

THRESHOLD_PACKETS = 20
"""``th`` of EFD and Run2C (Chen 2012, 4.3.1.1 and 4.6.2)."""

THRESHOLD_BYTES = 30_000
"""The same in bytes."""

SIZES = {
    "small": (1, 20),
    "middling": (21, 300),
    "large": (1001, None),
    "below_th": (11, 20),
    "above_th": (21, 40),
    "hundreds": (101, 300),
    "thousands": (1001, None),
}
"""Ranges of flow size in MSS, both ends included."""


def transfers(run: RunResult) -> Measures:
    """Measures of the TCP workload (Chen 2012, 4.5 to 4.6.3).

    Parameters
    ----------
    run : RunResult
        With samples fine enough to see stalls of a second.

    Returns
    -------
    dict of float
        Response times in s, sizes in MSS, tables and queues in entries and packets.
    """
    return responses(run) | outcomes(run) | queues(run) | fragments(run) | stalls(run)


def responses(run: RunResult) -> Measures:
    """Mean response times of the classes of Table 4.2, and by size (Fig. 4.9)."""
    done = run.records.with_columns(classes(run.records)).filter(completed_tcp())
    found: Measures = {}
    for name in ("short", "long"):
        own = done.filter(pl.col("class") == name)
        found |= {
            f"{name}_s": or_nan(own["response_time_s"].mean()),
            f"{name}_packets": or_nan(own["size_packets"].mean()),
        }
    return found | {f"{name}_s": or_nan(_sized(done, name)["response_time_s"].mean()) for name in SIZES}


def _sized(records: pl.DataFrame, name: str) -> pl.DataFrame:
    least, most = SIZES[name]
    size = pl.col("size_packets")
    return records.filter((size >= least) & (size <= most) if most else size >= least)


def outcomes(run: RunResult) -> Measures:
    """Complete and incomplete connections, and how far the latter came (4.6.2, Fig. 4.8)."""
    unfinished = run.records.filter(pl.col("finish_s").is_null())
    small = unfinished.filter(pl.col("delivered_bytes") <= THRESHOLD_BYTES).height
    return {
        "completed": float(run.records.height - unfinished.height),
        "unfinished": float(unfinished.height),
        "unfinished_small": float(small),
        "utilisation": run.counters["utilisation"],
    }


def queues(run: RunResult) -> Measures:
    """Flow table and queue (4.5.1, 4.5.2, 4.6.1)."""
    samples, counters = run.samples, run.counters
    backlog = samples["backlog_packets"]
    found = {
        "table_mean": counters["flow_table_mean"],
        "table_max": float(counters["flow_table_max"]),
        "queue_mean": counters["queue_mean_packets"],
        "table_above_queue": float((samples["flow_table"] > backlog).sum()),
    }
    if samples["high_backlog_packets"].null_count() == 0:
        found["low_share_waiting"] = 1 - number(samples["high_backlog_packets"].sum()) / number(backlog.sum())
    return found


def fragments(run: RunResult) -> Measures:
    """Load of the high priority queue, and fragments by size (4.5.3, Fig. 4.4 and 4.5)."""
    records = run.records
    if records["sorted_packets"].null_count() > 0:
        return {}
    high = records["high_packets"]
    low = records["sorted_packets"] - high
    found = {"high_share": number(high.sum()) / number(records["sorted_packets"].sum())}
    if records["fragments"].null_count() > 0:
        return found
    found["high_volume"] = or_nan(high.filter(high > 0).mean())
    found["low_volume"] = or_nan(low.filter(low > 0).mean())
    for name in ("hundreds", "thousands"):
        own = _sized(records.filter(completed_tcp()), name)
        found[f"{name}_fragments"] = or_nan(own["fragments"].mean())
        found[f"{name}_packets"] = or_nan(own["size_packets"].mean())
    return found


def stalls(run: RunResult) -> Measures:
    """Time the three largest transfers stand still (4.6.3, Fig. 4.11)."""
    found = plateaus(run.samples, run.records)
    return {"longest_stall_s": or_nan(found["longest_s"].max()), "stalled_share": or_nan(found["stalled_share"].mean())}


def cbr(run: RunResult) -> Measures:
    """Loss and regularity of the CBR flow, and what TCP pays (4.6.4, Fig. 4.12 and 4.13).

    Parameters
    ----------
    run : RunResult
        With one UDP flow, which is traced.

    Returns
    -------
    dict of float
        ``loss``; of the times between departures, the share ``regular`` within 10 % of the sender's, the share
        ``batched`` below half of it, and ``jitter``, their standard deviation over it; ``tcp_loss`` per TCP packet
        sent and ``tcp_small_s``, the mean response time of transfers up to `th`.
    """
    udp = run.records.filter(pl.col("protocol") == "udp")
    tcp = run.records.filter(pl.col("protocol") == "tcp")
    period_s = udp["packet_bytes"].item() * 8 / udp["rate_bps"].item()
    return {
        "loss": udp["drops"].item() / udp["packets_sent"].item(),
        **regularity(inter_departures(run.packets), period_s),
        "tcp_loss": number(tcp["drops"].sum()) / number(tcp["packets_sent"].sum()),
        "tcp_small_s": or_nan(_sized(tcp, "small")["response_time_s"].mean()),
    }
