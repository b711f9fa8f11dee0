"""Numbers of one run in a wireless cell that the claims of Chen 2012, ch. 6, 7 and 9.3.1 need."""

import polars as pl

from mayfly.arrays import number
from mayfly.metrics.size_classes import classes, completed_tcp
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures, or_nan

WAYS = ("down", "up")

RECEIVER_WINDOW = 43
"""65 KB in MSS (Chen 2012, 6.4; Urvoy-Keller 2007, 6.1)."""

MSS_BYTES = 1460

SIZES = {"small": (1, 20), "middling": (21, 300), "large": (301, None), "below_th": (11, 20), "above_th": (21, 40)}
"""Ranges of flow size in MSS, both ends included."""


def persistent(run: RunResult) -> Measures:
    """Measures of endless transfers both ways (Chen 2012, 6.4 and 7.3; Urvoy-Keller 2007, 4).

    Parameters
    ----------
    run : RunResult
        In a cell.

    Returns
    -------
    dict of float
        Over the whole run, payload: ``down_mbps``, ``up_mbps``, ``total_mbps`` and ``ratio``, up over down, where a
        direction that got nothing counts one segment; ``down_rtt_s``, ``down_cwnd`` and those of uploads, means over
        flows, windows up to that of the receiver; ``data_loss`` and ``ack_loss`` at the access point, per packet
        offered; ``window_ratio``, the mean window of an upload over that of a download.
    """
    seconds = run.counters["end_ns"] * 1e-9
    found: Measures = {}
    for way in WAYS:
        own = run.records.filter(pl.col("direction") == way)
        found[f"{way}_mbps"] = number(own["delivered_bytes"].sum()) * 8e-6 / seconds
        found[f"{way}_rtt_s"] = or_nan(own["rtt_mean_s"].mean())
        found[f"{way}_cwnd"] = number(own["cwnd_mean_packets"].clip(upper_bound=RECEIVER_WINDOW).mean())
    least = MSS_BYTES * 8e-6 / seconds
    found["total_mbps"] = found["down_mbps"] + found["up_mbps"]
    found["ratio"] = max(found["up_mbps"], least) / max(found["down_mbps"], least)
    found["window_ratio"] = found["up_cwnd"] / found["down_cwnd"]
    return found | losses(run)


def losses(run: RunResult) -> Measures:
    """Packets dropped at the access point over those offered: with payload, and acknowledgements alone."""
    cell = run.cell
    assert cell is not None, "runs of this paper are of a cell"
    return {f"{kind}_loss": cell[f"{kind}_drops"] / max(cell[f"{kind}_arrivals"], 1) for kind in ("data", "ack")}


def transfers(run: RunResult) -> Measures:
    """Measures of a mixed workload (Chen 2012, 6.5, 7.4, appendix A).

    Parameters
    ----------
    run : RunResult
        In a cell, with transfers both ways.

    Returns
    -------
    dict of float
        Mean response times of completed transfers, s: ``down_short_s``, ``up_long_s`` and so on, classes drawn in each
        direction apart as in the appendix, with ``down_short_packets`` and so on, their mean sizes in MSS; by range of
        size for each direction and for both, ``down_small_s``, ``small_s``; ``unfinished``, share of the transfers.
        What no transfer belongs to is left out.
    """
    found: Measures = {"unfinished": run.records["finish_s"].null_count() / run.records.height}
    for way in WAYS:
        own = run.records.filter(pl.col("direction") == way)
        done = own.with_columns(classes(own)).filter(completed_tcp())
        for name in ("short", "long"):
            part = done.filter(pl.col("class") == name)
            found |= _mean(f"{way}_{name}", part) | _mean(f"{way}_{name}", part, "size_packets", "packets")
        for name in SIZES:
            found |= _mean(f"{way}_{name}", sized(done, name))
    done = run.records.filter(completed_tcp())
    for name in SIZES:
        found |= _mean(name, sized(done, name))
    return found | losses(run)


def sized(records: pl.DataFrame, name: str) -> pl.DataFrame:
    """Records of a range of `SIZES`."""
    least, most = SIZES[name]
    size = pl.col("size_packets")
    return records.filter((size >= least) & (size <= most) if most else size >= least)


def _mean(name: str, records: pl.DataFrame, column: str = "response_time_s", unit: str = "s") -> Measures:
    mean = records[column].mean()
    return {} if mean is None else {f"{name}_{unit}": number(mean)}


def by_latency(run: RunResult) -> Measures:
    """Measures of the topological model (Chen 2012, 9.3.1).

    Parameters
    ----------
    run : RunResult
        With transfers of the groups ``intranet`` and ``internet``, or of none.

    Returns
    -------
    dict of float
        Mean response times, s, of completed transfers by range of size: ``small_s`` of all, ``intranet_small_s`` and
        ``internet_small_s``; ``all_s`` and so on of all sizes.
    """
    done = run.records.filter(completed_tcp())
    found = _mean("all", done)
    for name in SIZES:
        found |= _mean(name, sized(done, name))
    for group in ("intranet", "internet"):
        own = done.filter(pl.col("group") == group)
        found |= _mean(f"{group}_all", own)
        for name in SIZES:
            found |= _mean(f"{group}_{name}", sized(own, name))
    return found
