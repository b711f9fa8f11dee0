"""Figures of one run that the rows of the arena read."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mayfly.comparison.comparison import gather
from mayfly.metrics.progress import plateaus
from mayfly.metrics.trains import page_loads
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import RunResult

Figures = dict[str, float]

SIZES = {"short": (1, 20), "middling": (21, 300), "long": (301, 2**40)}
"""Packets of a transfer: a click; a page or picture; a download."""

ENDLESS = 1000.0
"""Slowdown that stands for transfers that never finish."""


def transfers(run: RunResult, scenario: Scenario) -> Figures:
    """Response times by `SIZES`, the longest stall, and what the discipline kept about flows.

    Parameters
    ----------
    run : RunResult
    scenario : Scenario
        What ran.

    Returns
    -------
    dict of float
        ``short_s``, ``middling_s``, ``long_s``: means over all transfers of TCP, one that did not finish with the time
        it had, so that who starves somebody gains nothing by it; ``short_p99_s``; ``memory_bytes``; with samples
        ``stall_s`` of the three largest transfers.
    """
    tcp = run.records.filter((pl.col("protocol") == "tcp") & (pl.col("size_bytes") < 2**40))
    end_s = 1e-9 * run.counters["end_ns"]
    tcp = tcp.with_columns(took_s=pl.coalesce("response_time_s", pl.lit(end_s) - pl.col("start_s")))
    found: Figures = {}
    if (table_bytes := run.counters["flow_table_bytes"]) is not None:
        found["memory_bytes"] = float(table_bytes)
    for name, (least, most) in SIZES.items():
        own = tcp.filter(pl.col("size_packets").is_between(least, most))["took_s"].to_numpy()
        if own.size:
            found[f"{name}_s"] = float(own.mean())
            found[f"{name}_p99_s"] = float(np.percentile(own, 99))
    if run.samples.height:
        longest = plateaus(run.samples, run.records)["longest_s"].max()
        if isinstance(longest, float):
            found["stall_s"] = longest
    return found


def beside_bulk(run: RunResult, scenario: Scenario) -> Figures:
    """Short transfers beside endless ones of the group ``bulk``: ``short_s``, and ``bulk_rtt_s`` of the endless."""
    bulk = run.records.filter(pl.col("group") == "bulk")
    rest = run.records.filter(pl.col("group").fill_null("") != "bulk")["response_time_s"].drop_nulls()
    return {"short_s": _mean(rest), "bulk_rtt_s": _mean(bulk["rtt_mean_s"])}


def stream(run: RunResult, scenario: Scenario) -> Figures:
    """One stream of UDP at a constant rate, which is traced.

    Returns
    -------
    dict of float
        ``loss``, share of its packets; ``jitter_s``, mean difference of the time in the queue between one packet that
        passed and the next (RFC 3550, A.8, without its smoothing); ``wait_p99_s`` in the queue.
    """
    udp = run.records.filter(pl.col("protocol") == "udp")
    waits = (run.packets["departed_s"] - run.packets["queued_s"]).drop_nulls().to_numpy()
    if not waits.size:
        return {"loss": 1.0}
    return {
        "loss": float(udp["drops"].sum()) / float(udp["packets_sent"].sum()),
        "jitter_s": float(np.abs(np.diff(waits)).mean()) if waits.size > 1 else 0.0,
        "wait_p99_s": float(np.percentile(waits, 99)),
    }


def pages(run: RunResult, scenario: Scenario) -> Figures:
    """Load times of pages by version of HTTP: ``http1_s`` and ``http2_s``, medians, and ``..._p95_s``; s."""
    loads = page_loads(run.records)
    found: Figures = {}
    for name, group in (("http1", "http/1.1"), ("http2", "http/2")):
        own = loads.filter(pl.col("group") == group)["load_s"].drop_nulls().to_numpy()
        found |= {f"{name}_s": float(np.median(own)), f"{name}_p95_s": float(np.percentile(own, 95))}
    return found


def attack(run: RunResult, scenario: Scenario) -> Figures:
    """Who takes what in a scenario with the groups ``attacker`` (or ``flood``), ``long`` and ``short``.

    Returns
    -------
    dict of float
        ``attacker``, goodput over the fair share; ``long``, the same of the long transfers; ``stall_s`` of these;
        ``slowdown_p50`` and ``slowdown_p95``, within which so many per cent of the short transfers stay, `ENDLESS`
        where these do not finish.
    """
    [row] = gather(scenario, [run], "arena").summary["disciplines"]
    groups = {group["group"]: group for group in row["groups"]}
    found: Figures = {}
    if (attacker := groups.get("attacker")) and attacker["ratio"] is not None:
        found["attacker"] = attacker["ratio"]
    if long := groups.get("long"):
        found["long"] = long["ratio"] or 0.0
        if long["longest_stall_s"] is not None:
            found["stall_s"] = long["longest_stall_s"]
    victims = groups.get("short") or groups.get("flood")
    slow: Mapping[str, Any] | None = victims["slowdown"] if victims else None
    for percent in (50, 95):
        if slow:
            value = slow[f"p{percent}"]
            found[f"slowdown_p{percent}"] = value if value is not None else ENDLESS
    return found


def cell(run: RunResult, scenario: Scenario) -> Figures:
    """Endless transfers both ways: ``balance``, the smaller direction over the larger; ``total_mbps`` of payload."""
    seconds = 1e-9 * run.counters["end_ns"]
    ways = [
        8e-6 * float(run.records.filter(pl.col("direction") == way)["delivered_bytes"].sum()) / seconds
        for way in ("down", "up")
    ]
    return {"balance": min(ways) / max(max(ways), 1e-9), "total_mbps": sum(ways)}


def shares(run: RunResult, scenario: Scenario) -> Figures:
    """Endless transfers beside each other: ``least``, the smallest goodput over the mean; ``rtt_s``; ``total_mbps``."""
    got = run.records["delivered_bytes"].to_numpy().astype(float)
    seconds = 1e-9 * run.counters["end_ns"]
    return {
        "least": float(got.min() / got.mean()),
        "rtt_s": _mean(run.records["rtt_mean_s"]),
        "total_mbps": 8e-6 * float(got.sum()) / seconds,
    }


def controls(run: RunResult, scenario: Scenario) -> Figures:
    """As :func:`shares`, and by name of each transport its mean goodput over that of all transfers."""
    got = run.records.group_by("transport").agg(pl.col("delivered_bytes").mean())
    fair = _mean(run.records["delivered_bytes"])
    return shares(run, scenario) | {str(name): float(mean) / fair for name, mean in got.iter_rows()}


def directions(run: RunResult, scenario: Scenario) -> Figures:
    """Bulk transfers down beside bulk transfers up: ``down_mbps``, and ``short_s`` of what has an end."""
    seconds = 1e-9 * run.counters["end_ns"]
    down = run.records.filter((pl.col("direction") == "down") & (pl.col("group") == "bulk"))
    short = run.records.filter(pl.col("group").fill_null("") != "bulk")["response_time_s"].drop_nulls()
    return {"down_mbps": 8e-6 * float(down["delivered_bytes"].sum()) / seconds, "short_s": _mean(short)}


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")
