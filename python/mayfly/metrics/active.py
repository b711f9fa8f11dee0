"""Flows in the network at once, over time (Rai 2003, 4.3 and Fig. 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from mayfly.arrays import number_or_none
from mayfly.metrics import curves
from mayfly.metrics.size_classes import parts_by, run_keys

if TYPE_CHECKING:
    from mayfly.summary_types import ActiveFlows

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
    edges = curves.intervals_of(end_s, interval_s, start_s)
    keys = run_keys(records)
    parts = parts_by(records, keys)
    blocks = []
    for key, part in parts.items():
        found = curves.active_flows(part["start_s"].to_numpy(), part["finish_s"].to_numpy(), edges)
        # Of arrays polars asks first whether they are masked, for which numpy imports 7 ms of code.
        block = pl.DataFrame({name: values.tolist() for name, values in found.items()})
        blocks.append(block.select(*[pl.lit(v).alias(k) for k, v in zip(keys, key, strict=True)], pl.all()))
    schema = {key: records.schema[key] for key in keys} | _SCHEMA
    return pl.concat(blocks).cast(pl.Schema(schema)) if blocks else pl.DataFrame(schema=schema)


def active_row(active: pl.DataFrame | None) -> ActiveFlows:
    """Mean over the intervals and runs of :func:`active_flows`, and most of all; of none both are None."""
    if active is None:
        return {"mean": None, "max": None}
    most = number_or_none(active["max"].max())
    return {"mean": number_or_none(active["mean"].mean()), "max": None if most is None else int(most)}
