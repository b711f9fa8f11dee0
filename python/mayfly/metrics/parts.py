"""A table by the runs it holds, without copies."""

from collections.abc import Sequence
from typing import Any

import polars as pl


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
