"""Curves of one discipline from arrays: response times, loss and delivered data by size, active flows over time.

What the functions of :mod:`mayfly.metrics` that are named alike have for tables of several disciplines; the page of a
comparison asks these, with or without the library for tables.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats, Integers, Numbers, distinct
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import Z95

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, Any]
"""Arrays by name of the column, one value per row; NaN where there is none. ``tcp`` tells which rows are TCP flows."""

ENDLESS_BYTES = 2**40
"""Size of a flow that never ends."""

PROGRESS_COLUMNS = ("progress_1_bytes", "progress_2_bytes", "progress_3_bytes")
"""Columns of samples: what the largest transfers have delivered."""

TIMED = ("tcp", "finish_s", "size_packets", "response_time_s")
"""Columns of response times by size."""


def columns_of(table: "pl.DataFrame", names: Sequence[str]) -> dict[str, Any]:
    """Columns of a table as arrays.

    Parameters
    ----------
    table : polars.DataFrame
        Flow records or samples.
    names : sequence of str
        Of columns, and ``tcp``.

    Returns
    -------
    dict of ndarray
        Without those that the table has not.
    """
    found = {name: table[name].to_numpy() for name in names if name in table.columns}
    # A column of nothing but null has no type.
    found = {name: values.astype(float) if values.dtype == object else values for name, values in found.items()}
    return found | (
        {"tcp": (table["protocol"].cast(str) == "tcp").fill_null(False).to_numpy()} if "tcp" in names else {}
    )


def completed(flows: Columns) -> Any:
    """Rows that count for response times, as :func:`mayfly.metrics.size_classes.completed_tcp`; bool."""
    return flows["tcp"] & ~np.isnan(flows["finish_s"])


def bins_of(sizes: Numbers, bins_per_decade: int) -> Integers:
    """Number of the geometric bin of each size, packets above 0, by bins per factor of ten."""
    found: Integers = np.floor(np.log10(sizes) * bins_per_decade + 1e-9).astype(np.int64)
    return found


def binned(sizes: Numbers, bins_per_decade: int | None) -> tuple[Integers, Integers, int]:
    """Bins of sizes, ascending.

    Parameters
    ----------
    sizes : array_like, shape (n,)
        Packets.
    bins_per_decade : int or None
        Geometric bins per factor of ten; every size apart when None.

    Returns
    -------
    places : ndarray, shape (n,)
        Number of the bin of each size.
    counts : ndarray, shape (n_bins,)
        Sizes of each.
    n_bins : int
    """
    keys = sizes if bins_per_decade is None else bins_of(sizes, bins_per_decade)
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return places, counts, counts.size


def conditional_mean(flows: Columns, bins_per_decade: int | None) -> dict[str, Any]:
    """Columns of :func:`mayfly.metrics.conditional_mean`, of columns :data:`TIMED`."""
    done = completed(flows)
    size, time_s = flows["size_packets"][done], flows["response_time_s"][done]
    places, counts, bins = binned(size, bins_per_decade)
    sums = (np.bincount(places, weights, bins) for weights in (size, time_s))
    return dict(zip(("size_packets", "mean_s"), (total / counts for total in sums), strict=True)) | {"flows": counts}


def by_percentile(flows: Columns, bins_per_decade: int | None) -> dict[str, Any]:
    """Columns of :func:`mayfly.metrics.by_percentile`, of columns :data:`TIMED`."""
    tcp = flows["tcp"]
    done = completed(flows)[tcp]
    size, time_s = flows["size_packets"][tcp], flows["response_time_s"][tcp]
    places, counts, bins = binned(size, bins_per_decade)
    own = places[done]
    ended = np.bincount(own, minlength=bins)
    kept = ended > 0
    means = [np.bincount(own, weights, bins)[kept] / ended[kept] for weights in (size[done], time_s[done])]
    percentile = 100 * ((np.cumsum(counts) - counts / 2) / max(size.size, 1))
    return {"percentile": percentile[kept], "size_packets": means[0], "mean_s": means[1], "flows": ended[kept]}


def binned_ci(flows: Columns, samples: int) -> dict[str, Any]:
    """Columns of :func:`mayfly.metrics.binned_ci`, of columns :data:`TIMED`."""
    done = np.flatnonzero(completed(flows))
    order = done[np.argsort(flows["size_packets"][done], kind="stable")]
    size = flows["size_packets"][order].astype(float)
    time_s = flows["response_time_s"][order].astype(float)
    starts, end = _bin_starts(size, samples)
    if starts.size == 0:
        return {name: np.empty(0) for name in ("size_packets", "mean_s", "low_s", "high_s", "flows")}
    counts = np.diff(np.append(starts, end))
    mean_s = np.add.reduceat(time_s[:end], starts) / counts
    spread = np.add.reduceat((time_s[:end] - np.repeat(mean_s, counts)) ** 2, starts)
    half_s = Z95 * np.sqrt(spread / (counts - 1) / counts)
    return {
        "size_packets": np.add.reduceat(size[:end], starts) / counts,
        "mean_s": mean_s,
        # On the logarithm, as no time is below 0.
        "low_s": mean_s * np.exp(-half_s / mean_s),
        "high_s": mean_s * np.exp(half_s / mean_s),
        "flows": counts,
    }


def _bin_starts(ascending: Floats, samples: int) -> tuple[Integers, int]:
    """First index of each full bin and the end of the last one; equal values stay in one bin."""
    starts, start = [], 0
    while ascending.size - start >= samples:
        starts.append(start)
        start = int(np.searchsorted(ascending, ascending[start + samples - 1], side="right"))
    return np.array(starts, dtype=np.intp), start


def response_cdf(flows: Columns, points: int) -> dict[str, Any]:
    """Columns of :func:`mayfly.metrics.response_cdf`, of columns :data:`TIMED`."""
    times_s = np.sort(flows["response_time_s"][completed(flows)].astype(float))
    count = times_s.size
    if count == 0:
        return {"response_time_s": np.empty(0), "share": np.empty(0)}
    even = np.linspace(0, count - 1, points // 2)
    tail = count - np.geomspace(1, count, points - points // 2)
    picked = distinct(np.concatenate((even, tail)).round().astype(np.intp))
    return {"response_time_s": times_s[picked], "share": (picked + 1) / count}


def incomplete(flows: Columns, mss: int) -> dict[str, Any]:
    """``delivered_packets``, ``flows`` and ``share`` of :func:`mayfly.metrics.incomplete`.

    Of the columns ``tcp``, ``finish_s`` and ``delivered_bytes``; ``mss`` is in bytes.
    """
    delivered = flows["delivered_bytes"][flows["tcp"] & np.isnan(flows["finish_s"])]
    packets, counts = np.unique((delivered.astype(np.int64) + (mss - 1)) // mss, return_counts=True)
    return {"delivered_packets": packets, "flows": counts, "share": np.cumsum(counts) / max(counts.sum(), 1)}


def least_mss(flows: Columns) -> int:
    """Smallest payload of a full packet, bytes, that agrees with the columns ``size_bytes`` and ``size_packets``."""
    # size_packets = ceil(size_bytes / mss), hence mss >= size_bytes / size_packets of every row.
    tcp = flows["tcp"]
    bounds = flows["size_bytes"][tcp] / flows["size_packets"][tcp]
    return max(1, math.ceil(bounds.max())) if bounds.size else 1


def loss_by_size(flows: Columns, bins_per_decade: int | None) -> dict[str, Any]:
    """Columns of :func:`mayfly.metrics.loss_by_size`; NaN is a loss without packets.

    Of the columns ``tcp``, ``size_packets``, ``drops`` and ``packets_sent``.
    """
    tcp = flows["tcp"]
    size, drops, sent = (np.nan_to_num(flows[name][tcp]) for name in ("size_packets", "drops", "packets_sent"))
    places, counts, bins = binned(size, bins_per_decade)
    sizes, lossy, dropped, packets = (np.bincount(places, weights, bins) for weights in (size, drops > 0, drops, sent))
    with np.errstate(invalid="ignore"):
        loss = np.where(packets > 0, dropped / packets, np.nan)
    whole = {"lossy_flows": lossy, "packets_sent": packets, "drops": dropped}
    return {
        "size_packets": sizes / counts,
        "flows": counts,
        "lossy_share": lossy / counts,
        "loss": loss,
        **{name: values.astype(np.int64) for name, values in whole.items()},
    }


def intervals_of(end_s: float, interval_s: float, start_s: float = 0.0) -> Floats:
    """Ends of the whole intervals of ``interval_s`` from ``start_s`` to ``end_s``, s, shape (n_intervals + 1,).

    Raises
    ------
    MayflyError
        ``interval_s`` not above 0, or no whole interval before ``end_s``.
    """
    if not interval_s > 0:
        raise MayflyError(f"interval_s = {interval_s}: must be above 0 s")
    # A hair more, so that 0.3 / 0.1 is 3.
    intervals = math.floor((end_s - start_s) / interval_s * (1 + 1e-12))
    if intervals < 1:
        raise MayflyError(f"end_s = {end_s}: must be at least start_s + interval_s, {start_s + interval_s:g} s")
    edges: Floats = start_s + interval_s * np.arange(intervals + 1, dtype=float)
    return edges


def active_flows(starts_s: Floats, finishes_s: Floats, edges: Floats) -> dict[str, Any]:
    """``time_s``, ``mean`` and ``max`` of :func:`mayfly.metrics.active_flows` between ``edges``.

    ``finishes_s`` is NaN where a flow goes on to the end.
    """
    times = np.concatenate((starts_s, np.where(np.isnan(finishes_s), math.inf, finishes_s)))
    step = np.repeat([1, -1], starts_s.size)
    # At one instant flows end before others start.
    order = np.lexsort((step, times))
    order = order[times[order] < edges[-1]]
    times, level = times[order], np.cumsum(step[order])
    # Flow-seconds up to each change; between changes the level is constant.
    before = np.concatenate(([0], level))
    at = np.concatenate(([min(edges[0], times[0] if times.size else edges[0])], times, [edges[-1]]))
    area = np.concatenate(([0.0], np.cumsum(before * np.diff(at))))
    mean = np.diff(np.interp(edges, at, area)) / np.diff(edges)
    place = np.searchsorted(times, edges, side="left")
    highest = before[place[:-1]]
    # The end of a flow at the very start of an interval comes before the level found there.
    for row, (first, last) in enumerate(itertools.pairwise(place)):
        if last > first:
            inside = level[first:last]
            opening = highest[row] if times[first] > edges[row] else inside[0]
            highest[row] = max(opening, inside.max())
    return {"time_s": edges[:-1], "mean": mean, "max": highest}


def thinned(series: Columns, points: int) -> dict[str, Any]:
    """Means of columns over equal counts of rows where there are more than ``points``; NaN of none.

    Parameters
    ----------
    series : mapping of ndarray
        Columns of equal length.
    points : int

    Returns
    -------
    dict of ndarray
        As they are where there are no more rows.
    """
    rows = max((len(values) for values in series.values()), default=0)
    if rows <= points:
        return dict(series)
    bucket = np.arange(rows) // -(-rows // points)
    found = {}
    for name, values in series.items():
        known = ~np.isnan(values)
        counts = np.bincount(bucket[known], minlength=bucket[-1] + 1)
        with np.errstate(invalid="ignore"):
            found[name] = np.bincount(bucket[known], values[known], bucket[-1] + 1) / counts
    return found
