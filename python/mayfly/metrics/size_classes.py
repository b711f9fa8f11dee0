"""Short and long flows: the long ones are the largest that together carry half of the bytes (Chen 2012, 4.6.2)."""

from collections.abc import Sequence
from typing import Any

import polars as pl

_RUN_KEYS = ("discipline", "replication")


def run_keys(frame: pl.DataFrame) -> list[str]:
    """Columns that tell one run from another, among those the frame has.

    Parameters
    ----------
    frame : polars.DataFrame
        Flow records or samples.

    Returns
    -------
    list of str
    """
    return [key for key in _RUN_KEYS if key in frame.columns]


def completed_tcp() -> pl.Expr:
    """Rows that count for response times: TCP flows with a finish time (Chen 2012, 4.6.2).

    Returns
    -------
    polars.Expr
        Boolean over flow records.
    """
    return (pl.col("protocol") == "tcp") & pl.col("finish_s").is_not_null()


def classes(records: pl.DataFrame) -> pl.Series:
    """Class of each flow: ``long`` for the largest completed TCP flows that together carry half of the bytes.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records, shape ``(n_flows, ...)``; disciplines and replications are classed apart.

    Returns
    -------
    polars.Series
        Named ``class``, shape ``(n_flows,)``: ``"short"``, ``"long"``, null for UDP and for unfinished flows.

    Notes
    -----
    From the largest down, every flow is long until the sum reaches half of the bytes; the flow that reaches it is long.
    Of equal sizes, the lower ``flow_id`` comes first (Chen 2012, 4.6.2).

    Examples
    --------
    >>> classes(pl.DataFrame({"flow_id": [0, 1, 2], "protocol": "tcp", "size_bytes": [1, 3, 2],
    ...                       "finish_s": [1.0, 1.0, 1.0]})).to_list()
    ['short', 'long', 'short']
    """
    keys = run_keys(records)
    rows = records.select(*keys, "flow_id", "protocol", "size_bytes", "finish_s").with_row_index("row")
    ranked = rows.filter(completed_tcp()).sort(["size_bytes", "flow_id"], descending=[True, False])
    size = pl.col("size_bytes").cast(pl.Int64)
    before, total = size.cum_sum() - size, size.sum()
    if keys:
        before, total = before.over(keys), total.over(keys)
    ranked = ranked.select(
        "row", pl.when(2 * before < total).then(pl.lit("long")).otherwise(pl.lit("short")).alias("class")
    )
    return rows.select("row").join(ranked, on="row", how="left", maintain_order="left")["class"]


def parts_by(table: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Split a table by columns, in order of first appearance.

    Records are put together run after run, so that the rows of one part mostly follow each other: the parts are then
    views of the table. Where they do not, the rows are copied.

    Parameters
    ----------
    table : polars.DataFrame
        With the columns ``keys``.
    keys : sequence of str
        What the rows of a part have in common; no key is one part.

    Returns
    -------
    dict of tuple to polars.DataFrame
        The values of the keys, and the rows that have them, in their order.

    Examples
    --------
    >>> parts = parts_by(pl.DataFrame({"of": ["b", "b", "a"], "x": [1, 2, 3]}), ["of"])
    >>> {key: part["x"].to_list() for key, part in parts.items()}
    {('b',): [1, 2], ('a',): [3]}
    """
    if not keys:
        return {(): table}
    if not table.height:
        return {}
    changes = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in keys)
    starts = table.select(changes.arg_true()).to_series().to_list()
    # The first row differs from none before it, unless its values are null.
    starts = sorted({0, *starts})
    values = table.select(keys)[starts].rows()
    if len(set(values)) < len(values):
        return table.partition_by(keys, as_dict=True, maintain_order=True)
    ends = [*starts[1:], table.height]
    return {value: table.slice(start, end - start) for value, start, end in zip(values, starts, ends, strict=True)}
