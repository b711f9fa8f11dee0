"""How long pages take to load under each discipline: terminal and page."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rich.table import Table
from rich.text import Text

from .quantity import MISSING, count_text, time_text
from .terminal import HidingTable, empty_table

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
    table = empty_table(Text("Page load time"), HidingTable)
    table.add_column(Text("discipline"), overflow="fold", max_width=20)
    table.add_column(Text("group"), overflow="fold", max_width=20)
    for head in HEADS:
        table.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
    for label, group, cells in _lines(rows):
        table.add_row(Text(label), Text(group), *map(Text, cells))
    return table


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
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("discipline", "group", *HEADS))
    lines = [
        (label, "".join(f"<td>{escape(cell)}</td>" for cell in (group, *cells))) for label, group, cells in _lines(rows)
    ]
    body = "".join(f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>' for label, cells in lines)
    return (
        f'<h2>Page load time</h2><div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        '</div><p class="soft">From the start of the first flow of a page to the end of its last.</p>'
    )


def _lines(rows: Sequence[Row]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Label, group and cells, all groups of a discipline together."""
    lines = []
    for row in rows:
        for position, own in enumerate(row.get("pages", ())):
            times = (time_text(own[name]) for name in ("mean_s", "p50_s", "p95_s"))
            cells = (count_text(own["pages"]), count_text(own["unfinished"]), *times)
            lines.append((row["label"] if position == 0 else "", own["group"] or MISSING, cells))
    return lines
