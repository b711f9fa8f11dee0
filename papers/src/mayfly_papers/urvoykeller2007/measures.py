"""Numbers of one run that the claims of Urvoy-Keller 2007 need, and the queues with one server beside them."""

from dataclasses import replace

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.laws.service import Discrete
from mayfly.metrics.active import active_flows
from mayfly.metrics.size_classes import completed_tcp
from mayfly.models.queue.flow_records import by_size
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES
from mayfly.models.wlan.tcp import capacity_bps, rate_with_uploads
from mayfly.simulate.run import RunResult
from mayfly_papers.chen2012.wlan.measures import losses
from mayfly_papers.declare.declaration import Measures, or_nan
from mayfly_papers.urvoykeller2007 import passage
from mayfly_papers.urvoykeller2007.windows import outstanding

PACKET_BYTES, ACK_BYTES, SEGMENT_BYTES = 1500, 40, 1460
PACKET_BITS = 8.0 * PACKET_BYTES
SMALLEST_PACKETS = 3
"""k of the paper, MSS."""

QUANTILES = {"smallest": (0.0, 0.0), "half": (0.0, 0.5), "ninety": (0.8, 0.95), "largest": (0.99, 1.0)}
"""Parts of the flows by quantile of their size, the lower excluded but at 0; the smallest are those of 3 MSS."""

WINDOW = 21
"""Neighbouring sizes of the median filter, as for the figures of Chen 2012."""

POINT_PERCENTILES = (5, 50, 95)
"""Percentiles of the errors over the sizes of a figure."""

PASSAGE = "passage_s"
"""Column of a download's time at the access point, in the reading that counts."""


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
    assert run.cell is not None, "runs of this paper are of a cell"
    seconds, records, nodes = run.counters["end_ns"] * 1e-9, run.records, run.cell["nodes"]
    active = active_flows(records, seconds, seconds / 4)["mean"].to_list()
    again = float(records["retransmits"].sum())
    return {
        "unique_mbps": number(records["delivered_bytes"].sum()) * 8e-6 / seconds * PACKET_BYTES / SEGMENT_BYTES,
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
        ``smallest_cwnd`` of what is outstanding, of flows that were traced; ``smallest_again``, packets sent again
        over those of the flows; ``smallest_done``, the share that completed.
    """
    own = run.records.filter(pl.col("direction") == direction)
    own = own.join(outstanding(run), on="flow_id", how="left", maintain_order="left")
    found: Measures = {}
    for name in QUANTILES:
        part = _part(own, name)
        done = part.filter(completed_tcp())
        found[f"{name}_done"] = done.height / max(part.height, 1)
        if done.height:
            found[f"{name}_s"] = number(done["response_time_s"].mean())
            found[f"{name}_rtt_s"] = or_nan(done["rtt_mean_s"].mean())
            found[f"{name}_cwnd"] = or_nan(done["window_packets"].mean())
            found[f"{name}_again"] = number(done["retransmits"].sum()) / number(done["size_packets"].sum())
    return found


def _part(flows: pl.DataFrame, name: str) -> pl.DataFrame:
    size = pl.col("size_packets")
    if name == "smallest":
        return flows.filter(size == SMALLEST_PACKETS)
    low, high = QUANTILES[name]
    least = -1 if low == 0 else flows["size_packets"].quantile(low, "lower")
    return flows.filter((size > least) & (size <= flows["size_packets"].quantile(high, "lower")))


def downloads(run: RunResult, *, window: int, reading: str) -> Measures:
    """All of downloads alone, with the models (Fig. 11 to 18, Table 1).

    Parameters
    ----------
    run : RunResult
        Of downloads, traced.
    window : int
        The initial one, packets.
    reading : str
        Of the time at the access point, one of :data:`mayfly_papers.urvoykeller2007.passage.READINGS`.

    Returns
    -------
    dict of float
        As of `load` and `by_quantile`, with those of `beside_models`.
    """
    return load(run) | by_quantile(run) | beside_models(run, window=window, reading=reading)


def mixed(run: RunResult, *, window: int, reading: str) -> Measures:
    """Downloads and uploads apart (Fig. 19 to 22).

    Parameters
    ----------
    run : RunResult
        With both.
    window, reading
        As of `downloads`.

    Returns
    -------
    dict of float
        ``down_half_s``, ``up_half_s`` and so on; `beside_models` of the downloads.
    """
    found: Measures = {}
    for way in ("down", "up"):
        found |= {f"{way}_{name}": value for name, value in by_quantile(run, way).items()}
    return found | beside_models(run, window=window, reading=reading)


def capacity_only(run: RunResult, *, window: int, reading: str) -> Measures:
    """The capacity estimate (Table 1).

    Parameters
    ----------
    run : RunResult
        Of downloads under LAS, traced.
    window, reading
        As of `downloads`.

    Returns
    -------
    dict of float
        ``capacity_mbps``, by Eq. 10 (:func:`mayfly.models.wlan.tcp.capacity_bps`), and ``capacity_present_mbps`` and so
        on, the same by each reading.
    """
    return capacities(run, passage.times(run, window), reading)


def capacities(run: RunResult, times: pl.DataFrame, reading: str) -> Measures:
    """The estimate by each reading of the time at the access point, and by the one that counts."""
    found = {}
    for name in passage.READINGS:
        rate, smallest_s, *_ = _seen(_timed(run, times, name))
        found[f"capacity_{name}_mbps"] = capacity_bps(rate, SMALLEST_PACKETS * PACKET_BYTES, smallest_s) / 1e6
    return {"capacity_mbps": found[f"capacity_{reading}_mbps"]} | found


def timed(run: RunResult, *, window: int, reading: str) -> RunResult:
    """The run with the column `PASSAGE` in its records; null where the flow was not traced."""
    return _timed(run, passage.times(run, window), reading)


def _timed(run: RunResult, times: pl.DataFrame, reading: str) -> RunResult:
    own = times.select("flow_id", pl.col(reading).alias(PASSAGE))
    return replace(run, records=run.records.join(own, on="flow_id", how="left", maintain_order="left"))


def _seen(run: RunResult) -> tuple[float, float, float, float]:
    """Rate of the downloads with their share of acknowledgements, mean passage of the smallest, and both rates."""
    seconds = run.counters["end_ns"] * 1e-9
    down = run.records.filter(pl.col("direction") == "down")
    rates = down.height / seconds, (run.records.height - down.height) / seconds
    smallest = down.filter((pl.col("size_packets") == SMALLEST_PACKETS) & completed_tcp())
    return rate_with_uploads(*rates), number(smallest[PASSAGE].mean()), *rates


def beside_models(run: RunResult, *, window: int, reading: str) -> Measures:
    """Time at the access point against M/G/1 PS and LASACK, without uploads LAS (Fig. 16 to 18, 21, 22).

    Parameters
    ----------
    run : RunResult
        With downloads, traced.
    window, reading
        As of `downloads`.

    Returns
    -------
    dict of float
        As of `capacities`, which means something under LAS and LASACK; ``half_passage_s`` and so
        on, measured, and ``half_las``, the model over it with the capacity of the run, left out where the flows cut off
        at that size are too many; for PS ``half_bits``, the mean size, and ``offered_bps`` of the downloads. Of the
        points of the figure, one for each size, ``las_raw_5``, ``las_raw_50`` and ``las_raw_95``, quantiles of the
        model over the mean of the size where the model is finite, and ``bit_s_raw_5`` and so on, of that mean over
        the size, s/bit; ``las_filtered_5`` and so on after the median filter. ``starved_share``, downloads of sizes
        that the model starves, and with some ``starved_done`` and ``served_done``, who of these and of the others
        completed.
    """
    times = passage.times(run, window)
    found = capacities(run, times, reading)
    run = _timed(run, times, reading)
    capacity, queue, uploads = fitted(run)
    own = with_model(run, capacity, queue, uploads)
    found["offered_bps"] = queue.rho * capacity
    for name in QUANTILES:
        done = _part(own, name).filter(completed_tcp())
        if not done.height:
            continue
        measured, model = number(done[PASSAGE].mean()), number(done["model_s"].mean())
        found[f"{name}_passage_s"] = measured
        if np.isfinite(model):
            found[f"{name}_las"] = model / measured
        found[f"{name}_bits"] = number(done["size_packets"].mean()) * PACKET_BITS
    return found | point_errors(own) | starved(own)


def fitted(run: RunResult) -> tuple[float, MG1, float]:
    """Of a run that is `timed`: capacity by Eq. 10, bit/s, the queue of its downloads, in s, uploads per download."""
    rate, smallest_s, down_rate, up_rate = _seen(run)
    capacity = capacity_bps(rate, SMALLEST_PACKETS * PACKET_BYTES, smallest_s)
    packets = run.records.filter(pl.col("direction") == "down")["size_packets"].to_numpy()
    law = Discrete(packets * (PACKET_BITS / capacity))
    return capacity, MG1(law, down_rate * law.mean), up_rate / down_rate


def with_model(run: RunResult, capacity: float, queue: MG1, uploads: float) -> pl.DataFrame:
    """The downloads with ``model_s``; infinite where those cut off at that size overload the queue (Eq. 4 to 8)."""
    own = run.records.filter(pl.col("direction") == "down")
    sizes, place = np.unique(own["size_packets"].to_numpy(), return_inverse=True)
    service = sizes * (PACKET_BITS / capacity)
    times = POLICIES["lasack"].response(queue, service, uploads=uploads, ack=ACK_BYTES / (2 * PACKET_BYTES))
    return own.with_columns(pl.Series("model_s", times[place], dtype=pl.Float64))


def points(own: pl.DataFrame) -> pl.DataFrame:
    """Means of the completed downloads by size, raw and filtered, beside the model: the points of a figure."""
    done = own.filter(completed_tcp()).with_columns(response_time_s=PASSAGE)
    return by_size(done, WINDOW)


def point_errors(own: pl.DataFrame) -> Measures:
    """Quantiles of both models over the points."""
    table, found = points(own), {}
    for kind, column in (("raw", "simulated_mean_s"), ("filtered", "filtered_s")):
        finite = table.filter(pl.col("model_mean_s").is_finite())
        for name, values in (
            ("las", finite["model_mean_s"] / finite[column]),
            ("bit_s", table[column] / (table["size_packets"] * PACKET_BITS)),
        ):
            for percent in POINT_PERCENTILES:
                found[f"{name}_{kind}_{percent}"] = or_nan(values.quantile(percent / 100, "linear"))
    return found


def starved(own: pl.DataFrame) -> Measures:
    """Downloads of sizes with an infinite response time, and whether they completed."""
    endless = own["model_s"].is_infinite()
    found = {"starved_share": number(endless.mean())}
    if 0 < found["starved_share"] < 1:
        for name, chosen in (("starved", endless), ("served", ~endless)):
            part = own.filter(chosen)
            found[f"{name}_done"] = part.filter(completed_tcp()).height / part.height
    return found
