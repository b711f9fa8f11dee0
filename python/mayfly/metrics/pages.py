"""Page load times: how long a stage of flows takes."""

from typing import Any

import numpy as np
import polars as pl


def page_loads(records: pl.DataFrame) -> pl.DataFrame:
    """Load time of each page: from the start of its first flow to the end of its last.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records; each stage with a flow of the direction ``down`` counts as a page, in the group of that.

    Returns
    -------
    polars.DataFrame, shape (n_pages, ...)
        ``group``, ``stage``, ``load_s`` (null when a flow is unfinished), and ``replication`` where it is known.

    Examples
    --------
    >>> records = pl.DataFrame({"stage": [1, 1, 2], "start_s": [0.0, 0.5, 3.0], "finish_s": [1.0, 2.5, None],
    ...     "group": "a", "direction": "down"})
    >>> page_loads(records)["load_s"].to_list()
    [2.5, None]
    """
    keys = [name for name in ("replication", "group", "stage") if name in records.columns]
    down = records.filter(pl.col("stage").is_not_null() & (pl.col("direction") == "down"))
    load_s = pl.col("finish_s").max() - pl.col("start_s").min()
    whole = pl.col("finish_s").is_not_null().all()
    return down.group_by(keys, maintain_order=True).agg(load_s=pl.when(whole).then(load_s))


def page_rows(records: pl.DataFrame) -> list[dict[str, Any]]:
    """Page load times by group.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.

    Returns
    -------
    list of dict
        By group, flows without one last: ``group``, ``pages`` that started, ``unfinished``, and of the others
        ``mean_s``, ``p50_s``, ``p95_s``, s; None where there is none. No rows without stages.
    """
    if "stage" not in records.columns or records["stage"].null_count() == records.height:
        return []
    loads = page_loads(records)
    rows = []
    for group in sorted(loads["group"].unique(), key=lambda name: (name is None, name)):
        own = loads.filter(pl.col("group").eq_missing(pl.lit(group, pl.String)))["load_s"]
        known = own.drop_nulls().to_numpy()
        percentile = {f"p{p}_s": float(np.percentile(known, p)) if len(known) else None for p in (50, 95)}
        mean_s = float(known.mean()) if len(known) else None
        rows.append({"group": group, "pages": len(own), "unfinished": own.null_count(), "mean_s": mean_s, **percentile})
    return rows
