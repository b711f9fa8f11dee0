"""One discipline in figures: its row of ``summary.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.arrays import number_or_none
from mayfly.errors import MayflyError
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.intervals import normal_ci95, on_time_scale, student_ci95
from mayfly.metrics.size_classes import classes, completed_tcp
from mayfly.metrics.totals import COUNTERS, row_of

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRowPart, ResponseTimes


def summarise(
    records: pl.DataFrame, counters: Sequence[Mapping[str, Any]], label: str | None = None
) -> DisciplineRowPart:
    """Row of ``disciplines`` in ``summary.json`` for one discipline (docs/tables.md).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications.
    counters : sequence of mapping, shape ``(n_replications,)``
        In order of replication, each with the keys of `COUNTERS`; a value the run cannot give is None.
    label : str, optional
        Label of the run; the records' ``discipline`` when None.

    Returns
    -------
    dict
        Counts, drops, marks, seconds of processor and packet hops are sums over the replications; utilisation, queue,
        mean flow table and throughput are means; the largest flow table and its memory are the largest of all.

    Raises
    ------
    MayflyError
        No counters, a missing counter, records of several disciplines, no label, or a replication without counters.

    Notes
    -----
    Classes are taken in each replication. The interval of a class mean is normal over flows with one replication (Chen
    2012, Table 4.2), Student's t over the replications' means with two or more; the mean is then the mean of those
    means.
    """
    label = _one_label(records, label)
    _check_counters(records, counters)
    unfinished = records.filter(pl.col("finish_s").is_null())
    # What never ends is not late, and its size is no amount of data.
    sized = unfinished.filter(pl.col("size_bytes") < ENDLESS_BYTES)
    classed = records.with_columns(classes(records))
    flows = {
        "short": class_row(classed, "short", len(counters)),
        "long": class_row(classed, "long", len(counters)),
        "flows_completed": records.height - unfinished.height,
        "flows_unfinished": unfinished.height,
        "flows_endless": unfinished.height - sized.height,
        "unfinished_bytes": int(sized["size_bytes"].sum()),
        "unfinished_delivered_bytes": int(unfinished["delivered_bytes"].sum()),
    }
    return row_of(label, flows, counters)


def _one_label(records: pl.DataFrame, label: str | None) -> str:
    found = records["discipline"].unique().sort().to_list() if "discipline" in records.columns else []
    if len(found) > 1:
        raise MayflyError(f"records of {len(found)} disciplines ({', '.join(found)}): must be of one")
    if label is None and not found:
        raise MayflyError("no label: must be given when the records name no discipline")
    return found[0] if label is None else label


def _check_counters(records: pl.DataFrame, counters: Sequence[Mapping[str, Any]]) -> None:
    if not counters:
        raise MayflyError("0 counters: must be at least 1, one per replication")
    for replication, run in enumerate(counters):
        if missing := [name for name in COUNTERS if name not in run]:
            raise MayflyError(f"counters of replication {replication} lack {', '.join(missing)}")
    numbers = records["replication"].unique().sort().to_list() if records.height else [0]
    if not 0 <= numbers[0] <= numbers[-1] < len(counters):
        raise MayflyError(
            f"replications {numbers[0]} to {numbers[-1]}: must be 0 to {len(counters) - 1}, as there are counters"
        )


def class_row(classed: pl.DataFrame, name: str, replications: int) -> ResponseTimes:
    """Mean response time of one class.

    Parameters
    ----------
    classed : polars.DataFrame
        Flow records of one discipline with ``class`` (:func:`mayfly.metrics.size_classes.classes`).
    name : str
        ``short`` or ``long``.
    replications : int
        Number of runs.

    Returns
    -------
    dict
        ``mean_s``, ``ci95``, ``flows`` and ``mean_size_packets``; intervals as :func:`summarise` says.
    """
    names = {"class", "replication", "protocol", "finish_s", "response_time_s", "size_packets"} & {*classed.columns}
    flows = classed.select(*names).filter((pl.col("class") == name) & completed_tcp())
    if replications == 1:
        values, sizes, interval = flows["response_time_s"], flows["size_packets"], normal_ci95
    else:
        means = flows.group_by("replication", maintain_order=True).agg(
            pl.col("response_time_s").mean(), pl.col("size_packets").mean()
        )
        values, sizes, interval = means["response_time_s"], means["size_packets"], student_ci95
    ends = interval(values.to_numpy())
    return {
        "mean_s": number_or_none(values.mean()),
        "ci95": on_time_scale(ends),
        "flows": flows.height,
        "mean_size_packets": number_or_none(sizes.mean()),
    }
