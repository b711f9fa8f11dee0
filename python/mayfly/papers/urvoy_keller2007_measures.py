"""Numbers of one run that the claims of Urvoy-Keller 2007 need, and the queues with one server beside them."""

import numpy as np
import polars as pl

from mayfly.metrics.active import active_flows
from mayfly.metrics.size_classes import completed_tcp
from mayfly.models.wlan_tcp import capacity_bps, rate_with_uploads
from mayfly.papers.declaration import Measures
from mayfly.papers.wlan_measures import losses
from mayfly.simulate.run import RunResult

PACKET_BYTES, ACK_BYTES, SEGMENT_BYTES = 1500, 40, 1460
SMALLEST_PACKETS = 3
"""k of the paper, MSS."""

QUANTILES = {"smallest": (0.0, 0.0), "half": (0.0, 0.5), "ninety": (0.8, 0.95), "largest": (0.99, 1.0)}
"""Parts of the flows by quantile of their size, the lower excluded but at 0; the smallest are those of 3 MSS."""


def load(run: RunResult) -> Measures:
    """What the cell carried, who waited, and what was lost where (Fig. 11, 12, 15).

    Parameters
    ----------
    run : RunResult
        Of downloads.

    Returns
    -------
    dict of float
        ``unique_mbps`` and ``again_mbps``, first transmissions that arrived and retransmissions, IP; ``unfinished``
        flows at the end; ``growth`` of the flows active in the last quarter over the second; ``mac_retries``,
        ``queue_drops`` and ``tcp_again``, frames and packets in all.
    """
    seconds, records, nodes = run.counters["end_ns"] * 1e-9, run.records, run.cell["nodes"]
    active = active_flows(records, seconds, seconds / 4)["mean"].to_list()
    again = float(records["retransmits"].sum())
    return {
        "unique_mbps": records["delivered_bytes"].sum() * 8e-6 / seconds * PACKET_BYTES / SEGMENT_BYTES,
        "again_mbps": again * PACKET_BYTES * 8e-6 / seconds,
        "unfinished": float(records["finish_s"].null_count()),
        "growth": active[3] / active[1],
        "mac_retries": float(sum(nodes["retries"])),
        "queue_drops": float(run.cell["data_drops"] + run.cell["ack_drops"]),
        "tcp_again": again,
    } | losses(run)


def by_quantile(run: RunResult, direction: str = "down") -> Measures:
    """Completed flows by quantile of size (Fig. 13, 14, 19, 20).

    Parameters
    ----------
    run : RunResult
        With flows in that direction.
    direction : str
        ``down`` or ``up``.

    Returns
    -------
    dict of float
        For each of `QUANTILES`: ``smallest_s`` and so on, the mean response time; ``smallest_rtt_s``,
        ``smallest_cwnd``; ``smallest_again``, packets sent again over those of the flows; ``smallest_done``, the share
        that completed.
    """
    own = run.records.filter(pl.col("direction") == direction)
    found: Measures = {}
    for name in QUANTILES:
        part = _part(own, name)
        done = part.filter(completed_tcp())
        found[f"{name}_done"] = done.height / max(part.height, 1)
        if done.height:
            found[f"{name}_s"] = done["response_time_s"].mean()
            found[f"{name}_rtt_s"] = done["rtt_mean_s"].mean()
            found[f"{name}_cwnd"] = done["cwnd_mean_packets"].mean()
            found[f"{name}_again"] = done["retransmits"].sum() / done["size_packets"].sum()
    return found


def _part(flows: pl.DataFrame, name: str) -> pl.DataFrame:
    size = pl.col("size_packets")
    if name == "smallest":
        return flows.filter(size == SMALLEST_PACKETS)
    low, high = QUANTILES[name]
    least = -1 if low == 0 else flows["size_packets"].quantile(low, "lower")
    return flows.filter((size > least) & (size <= flows["size_packets"].quantile(high, "lower")))


def downloads(run: RunResult) -> Measures:
    """All of downloads alone, with the models (Fig. 11 to 18, Table 1).

    Parameters
    ----------
    run : RunResult
        Of downloads.

    Returns
    -------
    dict of float
        As of `load` and `by_quantile`, with those of `beside_models`.
    """
    return load(run) | by_quantile(run) | beside_models(run)


def mixed(run: RunResult) -> Measures:
    """Downloads and uploads apart (Fig. 19 to 22).

    Parameters
    ----------
    run : RunResult
        With both.

    Returns
    -------
    dict of float
        ``down_half_s``, ``up_half_s`` and so on; `beside_models` of the downloads.
    """
    found: Measures = {}
    for way in ("down", "up"):
        found |= {f"{way}_{name}": value for name, value in by_quantile(run, way).items()}
    return found | beside_models(run)


def capacity_only(run: RunResult) -> Measures:
    """The capacity estimate (Table 1).

    Parameters
    ----------
    run : RunResult
        Of downloads under LAS.

    Returns
    -------
    dict of float
        ``capacity_mbps``, by Eq. 10 (:func:`mayfly.models.wlan_tcp.capacity_bps`).
    """
    rate, smallest_s, _, _ = _seen(run)
    return {"capacity_mbps": capacity_bps(rate, SMALLEST_PACKETS * PACKET_BYTES, smallest_s) / 1e6}


def _seen(run: RunResult) -> tuple[float, float, float, float]:
    """Rate of the downloads with their share of acknowledgements, mean presence of the smallest, and both rates."""
    seconds = run.counters["end_ns"] * 1e-9
    down = run.records.filter(pl.col("direction") == "down")
    rates = down.height / seconds, (run.records.height - down.height) / seconds
    smallest = down.filter((pl.col("size_packets") == SMALLEST_PACKETS) & completed_tcp())
    return rate_with_uploads(*rates), float(smallest["presence_s"].mean()), *rates


def beside_models(run: RunResult) -> Measures:
    """Time at the access point against M/G/1 PS and LAS or LASACK, by quantile of size (Fig. 16 to 18, 21, 22).

    Parameters
    ----------
    run : RunResult
        With downloads.

    Returns
    -------
    dict of float
        ``capacity_mbps``, estimated in this run, which means something under LAS and LASACK; ``half_presence_s`` and so
        on, measured, and ``half_las``, the model over it with the capacity of the run, left out where the flows cut off
        at that size are too many; for PS ``half_bits``, the mean size, and ``offered_bps`` of the downloads.
    """
    rate, smallest_s, down_rate, up_rate = _seen(run)
    capacity = capacity_bps(rate, SMALLEST_PACKETS * PACKET_BYTES, smallest_s)
    own = run.records.filter(pl.col("direction") == "down")
    sizes = own["size_packets"].to_numpy() * 8.0 * PACKET_BYTES / capacity
    found: Measures = {"capacity_mbps": capacity / 1e6, "offered_bps": down_rate * float(sizes.mean()) * capacity}
    for name in QUANTILES:
        done = _part(own, name).filter(completed_tcp())
        if not done.height:
            continue
        measured = float(done["presence_s"].mean())
        found[f"{name}_presence_s"] = measured
        at = done["size_packets"].to_numpy() * 8.0 * PACKET_BYTES / capacity
        las = las_response_s(sizes, down_rate, up_rate, at)
        if np.isfinite(las).all():
            found[f"{name}_las"] = float(las.mean()) / measured
        found[f"{name}_bits"] = float(at.mean()) * capacity
    return found


def las_response_s(sizes: np.ndarray, down_rate: float, up_rate: float, at: np.ndarray) -> np.ndarray:
    """Mean response time of downloads in an M/G/1 queue under LASACK; without uploads under LAS.

    Parameters
    ----------
    sizes : ndarray, shape ``(n,)``
        A sample of service times, s.
    down_rate, up_rate : float
        Flows a second; acknowledgements of uploads are served as flows S_ack / (2 MSS) as large.
    at : ndarray, shape ``(m,)``
        Service times of flows, s.

    Returns
    -------
    ndarray, shape ``(m,)``
        Seconds; infinite where the flows cut off at that size overload the queue.

    Notes
    -----
    Urvoy-Keller 2007, Eq. 4 to 8, with y^i in Eq. 5 (shared errata): m_i = E[min(X, x)^i].

    Examples
    --------
    >>> las_response_s(np.array([1.0, 1.0]), 0.5, 0.0, np.array([1.0])).tolist()
    [3.0]
    """
    ordered = np.sort(sizes)
    sums = [np.r_[0.0, np.cumsum(ordered**power)] for power in (1, 2)]
    place = np.searchsorted(ordered, at, side="right")
    above = ordered.size - place
    first, second = ((total[place] + above * at**power) / ordered.size for power, total in enumerate(sums, start=1))
    small = ACK_BYTES / (2 * PACKET_BYTES)
    left = 1 - (down_rate + small * up_rate) * first
    waits = (down_rate + small**2 * up_rate) * second / (2 * np.where(left > 0, left, 1) ** 2)
    return np.where(left > 0, waits + at / np.where(left > 0, left, 1), np.inf)
