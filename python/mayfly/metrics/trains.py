"""How long trains of scripted flows, and recorded flows of datagrams, are under way: what is left without the waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from mayfly.summary_types import MeanTimes


def train_records(records: pl.DataFrame, trains: pl.DataFrame) -> pl.DataFrame:
    """Trains in the place of the scripted flows, so that :func:`mayfly.metrics.answer` speaks of them.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records.
    trains : polars.DataFrame, shape (n_trains, ...)
        Their trains.

    Returns
    -------
    polars.DataFrame, shape (n_trains + n_other_flows, ...)
        ``flow_id`` (counted anew, the same for a train in every run), ``discipline``, ``replication``, ``protocol``,
        ``size_bytes``, ``start_s``, ``finish_s``, ``response_time_s``, ``packets_sent``, ``drops``. A train that never
        began, as its connection did not get there, is an unfinished one.

    Examples
    --------
    >>> run = {"discipline": "fifo", "replication": 0}
    >>> records = pl.DataFrame({"flow_id": [7], "protocol": "tcp", "size_bytes": [500], "start_s": 0.0, "finish_s": 9.0,
    ...     "packets_sent": 2, "drops": 0, **run})
    >>> trains = pl.DataFrame({"flow_id": [7, 7], "train": [0, 1], "part": pl.Series([None, None], dtype=pl.Int64),
    ...     "size_bytes": [100, 400], "start_s": [1.0, 8.0], "end_s": [1.5, 8.25], **run})
    >>> train_records(records, trains)["response_time_s"].to_list()
    [0.5, 0.25]
    """
    whole = trains.filter(pl.col("part").is_null())
    scripted = whole.select("flow_id").unique()
    run = ["discipline", "replication"]
    named = whole.select("flow_id", "train", "size_bytes").unique().sort("flow_id", "train").with_row_index("place")
    every = named.join(records.select(*run, "flow_id").join(scripted, on="flow_id"), on="flow_id")
    own = every.join(whole.drop("size_bytes"), on=["flow_id", "train", *run], how="left").sort(*run, "place")
    own = own.select(
        *run,
        pl.col("place").cast(pl.Int64).alias("flow_id"),
        "size_bytes",
        "start_s",
        pl.col("end_s").alias("finish_s"),
        (pl.col("end_s") - pl.col("start_s")).alias("response_time_s"),
        protocol=pl.lit("tcp"),
    )
    others = records.join(scripted, on="flow_id", how="anti")
    kept = [name for name in (*own.columns, "packets_sent", "drops") if name in others.columns]
    return pl.concat([own, others.select(pl.col(kept)).with_columns(pl.col("flow_id") + named.height)], how="diagonal")


def time_row(times_s: pl.Series) -> MeanTimes:
    """Times of what arrived whole, all of one kind.

    Parameters
    ----------
    times_s : polars.Series, shape (n,)
        Times of one discipline, s; null of what did not arrive whole.

    Returns
    -------
    dict
        ``count``, ``unfinished``, and of the others ``mean_s``, ``p50_s``, ``p95_s``; None where there is none.
    """
    known = times_s.drop_nulls().to_numpy()
    p50_s, p95_s = (float(np.percentile(known, share)) if len(known) else None for share in (50, 95))
    mean_s = float(known.mean()) if len(known) else None
    return {
        "count": len(times_s),
        "unfinished": times_s.null_count(),
        "mean_s": mean_s,
        "p50_s": p50_s,
        "p95_s": p95_s,
    }
