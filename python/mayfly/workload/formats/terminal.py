"""Formats of flow lists as a table for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import empty_table


def formats_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Formats with what can be done with each.

    Parameters
    ----------
    rows : sequence of mapping
        Of :func:`mayfly.workload.formats.registry.rows`.

    Returns
    -------
    rich.table.Table
    """
    table = empty_table(Text("Formats of flows"))
    table.add_column("id", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("endings", overflow="fold")
    for name in ("what", "holds"):
        table.add_column(name, overflow="fold")
    for row in rows:
        able = ", ".join(what for what in ("read", "write") if row[what])
        table.add_row(row["id"], able, " ".join(row["suffixes"]), Text(row["title"]), Text(row["holds"]))
    return table
