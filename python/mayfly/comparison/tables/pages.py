"""How long pages take to load under each discipline: terminal and page."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from mayfly.show.lines_table import Line, lines_html, lines_table
from mayfly.text.readable import MISSING, count_text, time_text

TITLE = "Page load time"
HEADS = ("pages", "not\nloaded", "mean", "median", "95 %")

Row = Mapping[str, Any]


def pages_table(rows: Sequence[Row]) -> Table:
    """Page load times for the terminal.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``pages``.

    Returns
    -------
    rich.table.Table
        A line per discipline and group.
    """
    return lines_table(TITLE, "group", HEADS, _lines(rows))


def pages_html(rows: Sequence[Row]) -> str:
    """Section of the report; empty without pages.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str
        HTML.
    """
    if not any("pages" in row for row in rows):
        return ""
    note = '<p class="soft">From the start of the first flow of a page to the end of its last.</p>'
    return lines_html(TITLE, "group", HEADS, _lines(rows)) + note


def _lines(rows: Sequence[Row]) -> list[Line]:
    """Label, group and cells, all groups of a discipline together."""
    lines = []
    for row in rows:
        for position, own in enumerate(row.get("pages", ())):
            times = (time_text(own[name]) for name in ("mean_s", "p50_s", "p95_s"))
            cells = (count_text(own["pages"]), count_text(own["unfinished"]), *times)
            lines.append(Line(row["label"] if position == 0 else "", own["group"] or MISSING, cells))
    return lines
