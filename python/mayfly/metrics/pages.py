"""Page load times: how long a stage of flows takes, and the objects that its scripts bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from mayfly.metrics.trains import time_row

if TYPE_CHECKING:
    from mayfly.summary_types import PageGroup


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


def object_loads(records: pl.DataFrame, trains: pl.DataFrame) -> pl.DataFrame:
    """Load time of each object of scripted pages: from the start of the page to the last byte of the object.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    trains : polars.DataFrame, shape (n_trains, ...)
        Their trains. Objects are the parts of the answers, and answers without parts: trains of the direction in which
        the script does not begin.

    Returns
    -------
    polars.DataFrame, shape (n_objects, ...)
        ``group`` (where the records have it) and ``load_s`` (null when it has not come in) of what was asked for.

    Examples
    --------
    >>> records = pl.DataFrame({"flow_id": [0], "stage": [1], "start_s": [2.0], "direction": "down", "group": "a"})
    >>> trains = pl.DataFrame({"flow_id": [0, 0, 0, 0], "train": [0, 1, 1, 1], "part": [None, None, 1, 2],
    ...     "direction": ["up", "down", "down", "down"], "end_s": [2.1, 4.0, 3.0, 4.0]})
    >>> object_loads(records, trains)["load_s"].to_list()
    [1.0, 2.0]
    """
    run = [name for name in ("replication",) if name in records.columns]
    pages = records.filter(pl.col("stage").is_not_null() & (pl.col("direction") == "down"))
    began = pages.select("flow_id", *run, *(name for name in ("group",) if name in pages.columns)).with_columns(
        page_s=pages.select(pl.col("start_s").min().over([*run, "stage"])).to_series()
    )
    flow = ["flow_id", *run]
    first = trains.filter(pl.col("train") == 0).group_by(flow).agg(asks=pl.col("direction").first())
    has_parts = pl.col("part").is_not_null().any().over([*flow, "train"])
    objects = trains.filter(pl.col("part").is_not_null() | ~has_parts).join(first, on=flow)
    objects = objects.filter(pl.col("direction") != pl.col("asks")).join(began, on=flow)
    return objects.select(
        *(name for name in ("group",) if name in objects.columns), load_s=pl.col("end_s") - pl.col("page_s")
    )


def page_rows(records: pl.DataFrame, trains: pl.DataFrame | None = None) -> list[PageGroup]:
    """Page load times by group.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    trains : polars.DataFrame, optional
        Trains of their scripts.

    Returns
    -------
    list of dict
        By group, flows without one last: ``group``, ``pages`` that started, ``unfinished``, and of the others
        ``mean_s``, ``p50_s``, ``p95_s``, s; None where there is none. With `trains` the same of ``objects``, with
        ``count`` for those asked for. No rows without stages.
    """
    if "stage" not in records.columns or records["stage"].null_count() == records.height:
        return []
    loads = page_loads(records)
    objects = object_loads(records, trains) if trains is not None and trains.width else None
    rows = []
    for group in sorted(loads["group"].unique(), key=lambda name: (name is None, name)):
        of_group = pl.col("group").eq_missing(pl.lit(group, pl.String))
        own = loads.filter(of_group)["load_s"]
        times = time_row(own)
        row: PageGroup = {
            "group": group,
            "pages": times["count"],
            "unfinished": times["unfinished"],
            "mean_s": times["mean_s"],
            "p50_s": times["p50_s"],
            "p95_s": times["p95_s"],
        }
        if objects is not None and len(found := objects.filter(of_group)["load_s"]):
            row["objects"] = time_row(found)
        rows.append(row)
    return rows
