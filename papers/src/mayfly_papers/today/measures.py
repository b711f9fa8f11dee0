"""Numbers of one run that the page of today's transport and rivals needs."""

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.metrics.progress import plateaus
from mayfly.metrics.size_classes import completed_tcp
from mayfly.metrics.trains import page_loads
from mayfly.simulate.run import RunResult
from mayfly_papers.chen2012.wired import measures as wired_measures
from mayfly_papers.chen2012.wlan import measures as wlan_measures
from mayfly_papers.declare.declaration import Measures

RANGES = {"small": (1, 20), "middling": (21, 300), "large": (301, None)}
"""Ranges of flow size in MSS, both ends included: up to the threshold of EFD, and beyond."""

EDGES = tuple(np.unique(np.round(10 ** np.arange(np.log10(6), 4.2, 0.2))).tolist())
"""Bounds of the sizes of a curve, MSS, five a decade."""

SHARES = (1, *range(5, 100, 5), 99)
"""Per cent of the pages of a curve."""


def transfers(run: RunResult) -> Measures:
    """Measures of transfers through one link (Chen 2012, 4.5 and 4.6).

    Parameters
    ----------
    run : RunResult
        Without samples, or with some fine enough to see stalls.

    Returns
    -------
    dict of float
        Those of :func:`by_size` and :func:`curve`; ``unfinished``, share of the transfers; ``table_mean``,
        ``queue_mean``, in entries and packets; ``memory_bytes``, most that the discipline held for flows;
        ``utilisation``; ``loss``, drops per packet sent; with samples ``longest_stall_s`` of the three largest
        transfers.
    """
    tcp = run.records.filter(pl.col("protocol") == "tcp")
    counters = run.counters
    found = (
        by_size(tcp)
        | curve(tcp)
        | {
            "unfinished": tcp["finish_s"].null_count() / tcp.height,
            "table_mean": counters["flow_table_mean"],
            "memory_bytes": float(counters["flow_table_bytes"]),
            "queue_mean": counters["queue_mean_packets"],
            "utilisation": counters["utilisation"],
            "loss": number(tcp["drops"].sum()) / number(tcp["packets_sent"].sum()),
        }
    )
    if run.samples.height:
        found["longest_stall_s"] = plateaus(run.samples, run.records)["longest_s"].max()
    return found


def by_size(records: pl.DataFrame) -> Measures:
    """Mean response times of completed transfers by `RANGES`, s, and the 99 % quantile of the small ones."""
    done = records.filter(completed_tcp())
    found = {}
    for name, (least, most) in RANGES.items():
        own = done.filter(pl.col("size_packets").is_between(least, most or 2**40))["response_time_s"]
        if own.len():
            found[f"{name}_s"] = number(own.mean())
            if name == "small":
                found["small_p99_s"] = float(np.percentile(own.to_numpy(), 99))
    return found


def curve(records: pl.DataFrame) -> Measures:
    """Mean response times of completed transfers between `EDGES`, s, ``size_0_s`` and so on; NaN without any."""
    done = records.filter(completed_tcp())
    place = np.searchsorted(EDGES, done["size_packets"].to_numpy(), side="right") - 1
    took = done["response_time_s"].to_numpy()
    means = [float(took[place == k].mean()) if (place == k).any() else float("nan") for k in range(len(EDGES) - 1)]
    return {f"size_{k}_s": mean for k, mean in enumerate(means)}


def stream(run: RunResult) -> Measures:
    """Measures of one stream at a constant rate beside transfers (4.6.4).

    Parameters
    ----------
    run : RunResult
        With one UDP flow, which is traced.

    Returns
    -------
    dict of float
        Those of :func:`mayfly_papers.chen2012.wired.measures.cbr`, and of the packets that were sent on, the 99 %
        quantile of their time in the queue, ``wait_p99_s``.
    """
    waits = (run.packets["departed_s"] - run.packets["queued_s"]).drop_nulls()
    return wired_measures.cbr(run) | {"wait_p99_s": float(np.percentile(waits.to_numpy(), 99))}


def bulk(run: RunResult) -> Measures:
    """Measures of small transfers beside endless ones of the group ``bulk``.

    Parameters
    ----------
    run : RunResult
        After a warm-up.

    Returns
    -------
    dict of float
        Those of :func:`by_size` of the finite ones; ``bulk_rtt_s``, mean round trip of the endless ones;
        ``utilisation``.
    """
    endless = pl.col("group") == "bulk"
    finite = run.records.filter(endless.not_() | pl.col("group").is_null())
    return by_size(finite) | {
        "bulk_rtt_s": run.records.filter(endless)["rtt_mean_s"].mean(),
        "utilisation": run.counters["utilisation"],
    }


def pages(run: RunResult) -> Measures:
    """Load times of web pages by version of HTTP.

    Parameters
    ----------
    run : RunResult
        Of the scenario ``pages``.

    Returns
    -------
    dict of float
        ``http1_s`` and ``http2_s``, the medians of complete pages, ``http1_p95_s`` and so on, for each of `SHARES`;
        ``bulk_mbps``.
    """
    loads = page_loads(run.records)
    found: Measures = {}
    for name, group in (("http1", "http/1.1"), ("http2", "http/2")):
        own = loads.filter(pl.col("group") == group)["load_s"].drop_nulls().to_numpy()
        found[f"{name}_s"] = float(np.median(own))
        found |= {f"{name}_p{share}_s": float(np.percentile(own, share)) for share in SHARES}
    endless = run.records.filter(pl.col("group") == "bulk")
    return found | {
        "bulk_mbps": number(endless["delivered_bytes"].sum()) * 8e-9 / (run.counters["end_ns"] * 1e-9) * 1e3
    }


def answers(run: RunResult) -> Measures:
    """Answers over connections that stay open beside answers over connections of their own.

    Parameters
    ----------
    run : RunResult
        With groups ``kept``, scripts of requests and answers, and ``fresh``, one request and one answer each.

    Returns
    -------
    dict of float
        ``kept_s`` and ``fresh_s``, from the request to the last byte of the answer, means over answers that came.
    """
    asked = run.trains.filter(pl.col("direction") == "up").select("flow_id", train=pl.col("train") + 1, at="start_s")
    told = run.trains.filter(pl.col("direction") == "down").join(asked, on=["flow_id", "train"])
    took = told.join(run.records.select("flow_id", "group"), on="flow_id")
    mean = took.group_by("group").agg((pl.col("end_s") - pl.col("at")).mean().alias("s"))
    return {f"{row['group']}_s": row["s"] for row in mean.iter_rows(named=True)}


def isolation(run: RunResult) -> Measures:
    """What users with a long transfer each keep beside a greedy one (groups ``long``, ``attacker``, ``short``).

    Parameters
    ----------
    run : RunResult
        Of ``gaming-split`` or ``gaming-spaced``.

    Returns
    -------
    dict of float
        ``long_mbps``, goodput of the long transfers together; ``short_s``, mean response time of completed short ones;
        ``attacker_s``, mean response time of the greedy user's split transfers, where they are finite.
    """
    seconds = run.counters["end_ns"] * 1e-9
    of = {name: run.records.filter(pl.col("group") == name) for name in ("long", "short", "attacker")}
    found = {
        "long_mbps": number(of["long"]["delivered_bytes"].sum()) * 8e-6 / seconds,
        "short_s": of["short"].filter(completed_tcp())["response_time_s"].mean(),
        "attacker_mbps": number(of["attacker"]["delivered_bytes"].sum()) * 8e-6 / seconds,
    }
    batches = (
        of["attacker"]
        .filter(pl.col("protocol") == "tcp")
        .group_by("start_s")
        .agg(
            took=pl.when(pl.col("finish_s").is_not_null().all()).then(
                pl.col("finish_s").max() - pl.col("start_s").first()
            )
        )
    )
    done = batches["took"].drop_nulls()
    return found | ({"attacker_s": done.mean()} if done.len() else {})


def cell(run: RunResult) -> Measures:
    """Measures of endless transfers both ways (6.4) and what they cost in delay.

    Parameters
    ----------
    run : RunResult
        In a cell.

    Returns
    -------
    dict of float
        Those of :func:`mayfly_papers.chen2012.wlan.measures.persistent`.
    """
    return wlan_measures.persistent(run)


def mixed(run: RunResult) -> Measures:
    """Measures of transfers both ways in a cell (6.5).

    Parameters
    ----------
    run : RunResult
        In a cell.

    Returns
    -------
    dict of float
        By direction: ``down_small_s`` and so on, mean response times by `RANGES`; ``unfinished``, share.
    """
    found: Measures = {"unfinished": run.records["finish_s"].null_count() / run.records.height}
    for way in wlan_measures.WAYS:
        own = by_size(run.records.filter(pl.col("direction") == way))
        found |= {f"{way}_{name}": value for name, value in own.items()}
    return found


def by_latency(run: RunResult) -> Measures:
    """Measures of the topological model (9.3.1): response times by latency and `RANGES`.

    Parameters
    ----------
    run : RunResult
        With transfers of the groups ``intranet`` and ``internet``.

    Returns
    -------
    dict of float
        ``intranet_small_s`` and so on.
    """
    found: Measures = {}
    for group in ("intranet", "internet"):
        own = by_size(run.records.filter(pl.col("group") == group))
        found |= {f"{group}_{name}": value for name, value in own.items()}
    return found
