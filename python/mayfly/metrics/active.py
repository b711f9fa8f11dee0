"""Flows in the network at once, over time (Rai 2003, 4.3 and Fig. 8)."""

import itertools
import math

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.metrics.parts import parts_by
from mayfly.metrics.size_classes import run_keys

_SCHEMA: dict[str, pl.DataType] = {"time_s": pl.Float64(), "mean": pl.Float64(), "max": pl.Int64()}


def active_flows(records: pl.DataFrame, end_s: float, interval_s: float = 100.0, start_s: float = 0.0) -> pl.DataFrame:
    """Mean and maximum number of active flows in intervals that do not overlap.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; a flow is active from ``start_s`` to ``finish_s``, an unfinished one to the end.
    end_s : float
        End of the last interval, s, > start_s.
    interval_s : float
        Length of an interval, s, > 0; a last one that is shorter does not count.
    start_s : float
        Start of the first interval, s.

    Returns
    -------
    polars.DataFrame
        ``discipline`` and ``replication`` (when the records have them), ``time_s`` (start of the interval), ``mean``
        (over time) and ``max``.

    Raises
    ------
    MayflyError
        ``interval_s`` not above 0, or no whole interval before ``end_s``.

    Examples
    --------
    >>> flows = pl.DataFrame({"start_s": [0.0, 1.0], "finish_s": [2.0, None]})
    >>> active_flows(flows, 4.0, 2.0).rows()
    [(0.0, 1.5, 2), (2.0, 1.0, 1)]
    """
    if not interval_s > 0:
        raise MayflyError(f"interval_s = {interval_s}: must be above 0 s")
    # A hair more, so that 0.3 / 0.1 is 3.
    intervals = math.floor((end_s - start_s) / interval_s * (1 + 1e-12))
    if intervals < 1:
        raise MayflyError(f"end_s = {end_s}: must be at least start_s + interval_s, {start_s + interval_s:g} s")
    edges: Floats = start_s + interval_s * np.arange(intervals + 1, dtype=float)
    keys = run_keys(records)
    parts = parts_by(records, keys)
    blocks = [
        _counted(part, edges).select(*[pl.lit(v).alias(k) for k, v in zip(keys, key, strict=True)], pl.all())
        for key, part in parts.items()
    ]
    schema = {key: records.schema[key] for key in keys} | _SCHEMA
    return pl.concat(blocks).cast(pl.Schema(schema)) if blocks else pl.DataFrame(schema=schema)


def _counted(records: pl.DataFrame, edges: Floats) -> pl.DataFrame:
    starts = records["start_s"].to_numpy()
    ends = records["finish_s"].fill_null(math.inf).to_numpy()
    times = np.concatenate((starts, ends))
    step = np.repeat([1, -1], starts.size)
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
    return pl.DataFrame({"time_s": edges[:-1], "mean": mean, "max": highest})
