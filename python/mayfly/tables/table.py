"""The model of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from mayfly import _native

DTYPES: dict[str, pl.DataType] = {
    "int64": pl.Int64(),
    "int32": pl.Int32(),
    "float64": pl.Float64(),
    "bool": pl.Boolean(),
    "string": pl.String(),
    "list[int64]": pl.List(pl.Int64()),
}
"""Polars types by the words of declarations."""


@dataclass(frozen=True)
class Column:
    """A column.

    Parameters
    ----------
    name : str
    type : str
        One of :data:`DTYPES`, or several with ``or`` between them.
    unit : str
        Empty for values without one.
    meaning : str
        Markdown, a sentence.
    nullable : bool
        A value may be null.
    optional : bool
        The column may be absent.
    since : int
        Version of the table that first had it.
    """

    name: str
    type: str
    unit: str
    meaning: str
    nullable: bool = False
    optional: bool = False
    since: int = 1


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    name : str
        As the metadata of its files says.
    columns : tuple of Column
        In their order.
    version : int
        Grows when a column goes or changes its meaning.

    Examples
    --------
    >>> losses = Table("losses", (Column("time_s", "float64", "s", "When the packet was lost."),))
    >>> losses.schema
    {'time_s': Float64}
    >>> print(losses.markdown())
    | column | type | unit | meaning |
    |---|---|---|---|
    | `time_s` | float64 | s | When the packet was lost. |
    """

    name: str
    columns: tuple[Column, ...]
    version: int = 1

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """Polars types by name, of the columns that have one type."""
        return {column.name: DTYPES[column.type] for column in self.columns if column.type in DTYPES}

    def pick(self, names: Iterable[str]) -> tuple[Column, ...]:
        """The columns of these names, in the order of the names."""
        known = {column.name: column for column in self.columns}
        return tuple(known[name] for name in names)

    def without(self, *names: str) -> tuple[Column, ...]:
        """All columns but those of these names."""
        return tuple(column for column in self.columns if column.name not in names)

    def metadata(self) -> dict[str, str]:
        """What a Parquet file says of the table.

        Returns
        -------
        dict of str
            ``mayfly.table``, its name; ``mayfly.schema``, its version; ``mayfly.columns``, JSON with unit, meaning and
            first version of each column.
        """
        told = {
            column.name: {"unit": column.unit, "meaning": column.meaning, "since": column.since}
            for column in self.columns
        }
        return {"mayfly.table": self.name, "mayfly.schema": str(self.version), "mayfly.columns": json.dumps(told)}

    def markdown(self) -> str:
        """The columns as a table of the documentation; ``?`` stands for null after a type, for absence after a name."""
        head = ["| column | type | unit | meaning |", "|---|---|---|---|"]
        return "\n".join(head + [_row(column) for column in self.columns])


def _row(column: Column) -> str:
    name = f"`{column.name}`" + (" ?" if column.optional else "")
    cells = (name, column.type + ("?" if column.nullable else ""), column.unit, column.meaning.replace("|", "\\|"))
    return "| " + " | ".join(cells) + " |"


@cache
def _all() -> dict[str, Table]:
    return {
        table["name"]: Table(
            table["name"], tuple(Column(**column) for column in table["columns"]), version=table["version"]
        )
        for table in json.loads(_native.table_schema())
    }


def native(name: str) -> Table:
    """A table of the compiled module.

    Parameters
    ----------
    name : str
        As declared in Rust.

    Returns
    -------
    Table

    Examples
    --------
    >>> [column.name for column in native("timeouts").columns]
    ['flow_id', 'time_s']
    """
    return _all()[name]
