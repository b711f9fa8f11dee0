"""The kernel beside the simulator, for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import FoldingTable, empty_table
from mayfly.text.readable import MISSING

_COLUMNS = {
    "short": "short\nflows",
    "long": "long\nflows",
    "utilisation": "link\nuse",
    "queue_mean_packets": "mean\nqueue",
    "drops": "drops",
    "flows_unfinished": "un-\nfinished",
}


def engines_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What the kernel measured over what the simulator did.

    Parameters
    ----------
    rows : sequence of mapping
        ``engines`` of the summary.

    Returns
    -------
    rich.table.Table
        A line per discipline.
    """
    table = empty_table(Text("Linux over simulator"), FoldingTable)
    table.add_column(Text("discipline"), overflow="fold")
    for name in _COLUMNS.values():
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    for row in rows:
        values = (row[name] for name in _COLUMNS)
        table.add_row(Text(row["label"]), *(Text(MISSING if value is None else f"{value:.2f}") for value in values))
    return table
