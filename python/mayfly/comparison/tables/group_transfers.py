"""Response times of the transfers of each group in each direction: terminal and page."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from mayfly.show.lines_table import Line, lines_html, lines_table
from mayfly.text.readable import MISSING, count_text, spread_text

TITLE = "Transfers by group and direction"

Row = Mapping[str, Any]


def transfers_table(rows: Sequence[Row]) -> Table:
    """The lines for the terminal.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``group_transfers``.

    Returns
    -------
    rich.table.Table
    """
    return lines_table(TITLE, "group", *_lines(rows))


def transfers_html(rows: Sequence[Row]) -> str:
    """Section of the report; empty where no transfers with a group go up.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str
        HTML.
    """
    if not any("group_transfers" in row for row in rows):
        return ""
    note = '<p class="soft">Short and long flows are classed within each group and direction.</p>'
    return lines_html(TITLE, "group", *_lines(rows)) + note


def _lines(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[Line]]:
    return group_lines((row["label"], row["group_transfers"]) for row in rows if "group_transfers" in row)


def group_lines(groups: Iterable[tuple[str, Sequence[Row]]]) -> tuple[tuple[str, ...], list[Line]]:
    """Heads and lines.

    Parameters
    ----------
    groups : iterable of (str, sequence of mapping)
        Discipline, and rows of :func:`mayfly.metrics.groups.group_classes`.

    Returns
    -------
    heads : tuple of str
    lines : list of Line
    """
    heads = ("flows", "un-\nfinished", "short flows", "long flows")
    lines = []
    for label, rows in groups:
        for position, own in enumerate(rows):
            cells = (
                count_text(own["flows"]),
                count_text(own["flows"] - own["completed"]),
                spread_text(own["short"]["mean_s"], own["short"]["ci95"]),
                spread_text(own["long"]["mean_s"], own["long"]["ci95"]),
            )
            name = f"{own['group'] or MISSING}, {own['direction']}"
            lines.append(Line(label if position == 0 else "", name, cells))
    return heads, lines
