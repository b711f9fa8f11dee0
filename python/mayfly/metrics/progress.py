"""Lock-outs: how long the largest transfers stand still (Chen 2012, 4.6.3)."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.metrics.curves import PROGRESS_COLUMNS
from mayfly.metrics.size_classes import parts_by, run_keys

_SCHEMA: dict[str, pl.DataType] = {
    "rank": pl.Int64(),
    "flow_id": pl.Int64(),
    "start_s": pl.Float64(),
    "lifetime_s": pl.Float64(),
    "longest_s": pl.Float64(),
    "stalled_share": pl.Float64(),
}


def largest_flows(records: pl.DataFrame) -> list[int]:
    """Ids of the three largest flows, largest first; of equal sizes, the lower id first.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; of several runs the first counts, as they share a workload.

    Returns
    -------
    list of int
        Fewer than three when there are fewer flows.
    """
    for key in run_keys(records):
        records = records.filter(pl.col(key) == pl.col(key).first())
    ranked = records.sort(["size_bytes", "flow_id"], descending=[True, False])
    return ranked["flow_id"].head(len(PROGRESS_COLUMNS)).to_list()


def plateaus(
    samples: pl.DataFrame, records: pl.DataFrame, largest: list[int] | None = None, stall_s: float = 1.0
) -> pl.DataFrame:
    """Time the largest transfers spend without progress.

    Parameters
    ----------
    samples : polars.DataFrame
        Samples with ``time_s`` and ``progress_1_bytes`` to ``progress_3_bytes``.
    records : polars.DataFrame
        Flow records of the same runs, for the start and the finish of each transfer.
    largest : list of int, optional
        Ids of the flows behind the progress columns (``workload.largest_flows`` of the summary); taken from the records
        when None.
    stall_s : float
        A time without progress longer than this is a stall, s, > 0.

    Returns
    -------
    polars.DataFrame
        One row per run and transfer: the run's columns, ``rank`` (1 is the largest), ``flow_id``, ``start_s``,
        ``lifetime_s`` (start to finish, or to the last sample), ``longest_s`` without progress, ``stalled_share`` of
        the lifetime in stalls.

    Raises
    ------
    MayflyError
        ``stall_s`` not above 0.

    Notes
    -----
    A stall is seen from the first to the last sample with the same progress: it is underestimated by at most two
    sampling periods, so that a steady transfer has none.
    """
    if not stall_s > 0:
        raise MayflyError(f"stall_s = {stall_s}: must be above 0 s")
    ids = largest_flows(records) if largest is None else largest
    keys = run_keys(samples)
    runs = parts_by(samples, keys)
    rows = []
    for run, part in runs.items():
        conditions = [pl.col(key) == value for key, value in zip(keys, run, strict=True) if key in records.columns]
        flows = {row["flow_id"]: row for row in records.filter(*conditions, pl.col("flow_id").is_in(ids)).to_dicts()}
        for rank, (flow_id, column) in enumerate(zip(ids, PROGRESS_COLUMNS, strict=False), start=1):
            if flow_id not in flows or column not in part.columns:
                continue
            known = part.filter(pl.col(column).is_not_null()).sort("time_s")
            measured = _stalls(known["time_s"].to_numpy(), known[column].to_numpy(), flows[flow_id], stall_s)
            if measured is not None:
                rows.append((*run, rank, flow_id, flows[flow_id]["start_s"], *measured))
    return pl.DataFrame(rows, schema={key: samples.schema[key] for key in keys} | _SCHEMA, orient="row")


def _stalls(
    time_s: Floats, progress: Floats, flow: dict[str, Any], stall_s: float
) -> tuple[float, float, float] | None:
    """Lifetime, longest time without progress, share of the lifetime in stalls; None when no sample falls inside."""
    start_s = flow["start_s"]
    end_s = flow["finish_s"]
    if end_s is None:
        end_s = float(time_s[-1]) if time_s.size else start_s
    inside = (time_s >= start_s) & (time_s <= end_s)
    if not inside.any() or end_s <= start_s:
        return None
    times = np.concatenate(([start_s], time_s[inside]))
    values = np.concatenate(([0], progress[inside]))
    first = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1))
    last = np.append(first[1:] - 1, values.size - 1)
    still_s = times[last] - times[first]
    lifetime_s = float(end_s - start_s)
    return lifetime_s, float(still_s.max()), float(still_s[still_s > stall_s].sum()) / lifetime_s
