"""How long trains of scripted flows, and recorded flows of datagrams, are under way, and web pages take to load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly.metrics.users import transfers_of

if TYPE_CHECKING:
    from mayfly.summary_types import MeanTimes, PageGroup


_RUN = ("discipline", "replication")


def train_times(records: pl.DataFrame, trains: pl.DataFrame) -> dict[str, pl.Series]:
    """Times of the trains of scripted flows and of all other flows of TCP.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records.
    trains : polars.DataFrame, shape (n_trains, ...)
        Their trains.

    Returns
    -------
    dict of polars.Series
        Seconds by label of the discipline. A train that never began, as its connection did not get there, is an
        unfinished one where it began under another discipline: null.

    Examples
    --------
    >>> run = {"discipline": "fifo", "replication": 0}
    >>> records = pl.DataFrame({"flow_id": [7], "protocol": "tcp", "response_time_s": 9.0, **run})
    >>> trains = pl.DataFrame({"flow_id": [7, 7], "train": [0, 1], "part": pl.Series([None, None], dtype=pl.Int64),
    ...     "start_s": [1.0, 8.0], "end_s": [1.5, 8.25], **run})
    >>> train_times(records, trains)["fifo"].to_list()
    [0.5, 0.25]
    """
    runs = _runs(records)
    own = [_whole_trains(trains, run) for run in runs]
    keys = [one.select("flow_id", "train") for one in own]
    alike = all(one.equals(keys[0]) for one in keys)
    named = keys[0] if alike else pl.concat(keys).unique()
    scripted = named.select("flow_id").unique()
    times: dict[str, list[pl.Series]] = {}
    others: dict[str, list[pl.Series]] = {}
    for run, began in zip(runs, own, strict=True):
        tcp = _of_run(records, run, ("flow_id", "protocol", "response_time_s")).filter(protocol="tcp")
        count = began.height if alike else named.join(tcp, on="flow_id", how="semi").height
        never = pl.Series("response_time_s", [None] * (count - began.height), dtype=pl.Float64)
        label = run["discipline"]
        times.setdefault(label, []).append((began["end_s"] - began["start_s"]).alias("response_time_s"))
        times[label].append(never)
        others.setdefault(label, []).append(tcp.join(scripted, on="flow_id", how="anti")["response_time_s"])
    return {label: pl.concat([*times[label], *others[label]]) for label in times}


def exchange_records(records: pl.DataFrame, trains: pl.DataFrame) -> pl.DataFrame:
    """Exchanges in the place of the scripted flows, so that :func:`mayfly.metrics.answer` speaks of them.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records.
    trains : polars.DataFrame, shape (n_trains, ...)
        Their trains.

    Returns
    -------
    polars.DataFrame, shape (n_exchanges + n_other_flows, ...)
        ``discipline``, ``replication``, ``flow_id`` (counted anew, the same for an exchange in every run),
        ``size_bytes``, ``start_s``, ``finish_s``, ``response_time_s``, ``protocol``, ``packets_sent``, ``drops``. An
        exchange that never began in one run and did in another is an unfinished one.

    Examples
    --------
    >>> from mayfly.workload.scripts import Train, column
    >>> run = {"discipline": "fifo", "replication": 0}
    >>> records = pl.DataFrame({"flow_id": [7], "protocol": "tcp", "size_bytes": [500], "start_s": 0.9, "finish_s": 9.0,
    ...     "response_time_s": 8.1, "direction": "down", "opened_by": "receiver", "packets_sent": 2, "drops": 0, **run})
    >>> records = records.with_columns(column([[Train(True, 100), Train(False, 400, wait_ns=7_000_000_000)]]))
    >>> trains = pl.DataFrame({"flow_id": [7, 7], "train": [0, 1], "part": pl.Series([None, None], dtype=pl.Int64),
    ...     "size_bytes": [100, 400], "start_s": [1.0, 8.0], "end_s": [1.5, 8.75], **run})
    >>> round(exchange_records(records, trains)["response_time_s"].item(), 6)
    0.85
    """
    scripted = trains.select("flow_id").unique()
    taken = ("flow_id", "protocol", "size_bytes", "start_s", "response_time_s", "direction", "opened_by", "script")
    runs = _runs(records)
    every = [_exchanges(_of_run(records, run, taken), _whole_trains(trains, run), scripted) for run in runs]
    began = [own.filter(pl.col("start_s").is_not_null()).select("flow_id", "train") for own in every]
    named = pl.concat(began).unique().sort("flow_id", "train").with_row_index("place")
    found = [_numbered(own, named).select(*_literals(run), *_OF_EXCHANGE) for run, own in zip(runs, every, strict=True)]
    wanted = (*_OF_EXCHANGE, "packets_sent", "drops")
    held = [name for name in wanted if name in records.columns]
    # Of the columns that the tables share, those of the exchanges come first.
    others = records.select(*_RUN, *held).join(scripted, on="flow_id", how="anti")
    return pl.concat([*found, others.with_columns(pl.col("flow_id") + named.height)], how="diagonal")


_OF_EXCHANGE = ("flow_id", "size_bytes", "start_s", "finish_s", "response_time_s", "protocol")


def _runs(records: pl.DataFrame) -> list[dict[str, Any]]:
    """Discipline and replication of each run, in the order of both."""
    return records.select(_RUN).unique().sort(_RUN).to_dicts()


def _of_run(table: pl.DataFrame, run: dict[str, Any], names: Sequence[str]) -> pl.DataFrame:
    """Columns of the rows of one run, so that no more than a run is copied at a time."""
    own = (table["discipline"] == run["discipline"]) & (table["replication"] == run["replication"])
    return table.select(names).filter(own)


def _literals(run: dict[str, Any]) -> tuple[pl.Expr, pl.Expr]:
    number = pl.lit(run["replication"], dtype=pl.Int32)
    return pl.lit(run["discipline"]).alias("discipline"), number.alias("replication")


def _whole_trains(trains: pl.DataFrame, run: dict[str, Any]) -> pl.DataFrame:
    """When the trains of a run began and ended, without their parts, by flow and place in the script."""
    own = _of_run(trains, run, ("flow_id", "train", "part", "start_s", "end_s"))
    return own.filter(pl.col("part").is_null()).sort("flow_id", "train")


def _exchanges(records: pl.DataFrame, trains: pl.DataFrame, scripted: pl.DataFrame) -> pl.DataFrame:
    """Exchanges of the scripted flows of a run, whether they began or not."""
    said = records["flow_id"].is_in(scripted["flow_id"].implode())
    # Rows of scripts are moved only where they must be.
    every = transfers_of(records if said.all() else records.filter(said), trains, every=True)
    return every.select("flow_id", "train", "size_bytes", "start_s", "response_time_s")


def _numbered(exchanges: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """Those that began in some run, in the order of their numbers."""
    own = exchanges.join(named, on=["flow_id", "train"]).sort("place")
    return own.select(
        pl.col("place").cast(pl.Int64).alias("flow_id"),
        "size_bytes",
        "start_s",
        (pl.col("start_s") + pl.col("response_time_s")).alias("finish_s"),
        "response_time_s",
        protocol=pl.lit("tcp"),
    )


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
        Their trains. Objects are the parts of the answers, and answers without parts: trains of the end that did not
        open the connection, as of exchanges (docs/users.md).

    Returns
    -------
    polars.DataFrame, shape (n_objects, ...)
        ``group`` (where the records have it) and ``load_s`` (null when it has not come in) of what was asked for.

    Examples
    --------
    >>> records = pl.DataFrame({"flow_id": [0], "stage": [1], "start_s": [2.0], "direction": "down",
    ...     "opened_by": "receiver", "group": "a"})
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
    # What is forward in a script goes as the flow does, and is said by the sender.
    other = pl.when(pl.col("direction") == "up").then(pl.lit("down")).otherwise(pl.lit("up"))
    asks = pl.when(pl.col("opened_by") == "receiver").then(other).otherwise("direction")
    openers = pages.select(*flow, asks=asks)
    has_parts = pl.col("part").is_not_null().any().over([*flow, "train"])
    objects = trains.filter(pl.col("part").is_not_null() | ~has_parts).join(openers, on=flow)
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
