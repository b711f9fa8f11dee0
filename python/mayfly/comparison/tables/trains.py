"""How long trains, or recorded flows, take under each discipline: terminal and page."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from mayfly.show.lines_table import Line, lines_html, lines_table
from mayfly.text.readable import count_text, time_text

HEADS = ("count", "not whole", "mean", "median", "95 %")
KINDS = {
    "trains": ("Time of a train", "From its first data being handed to TCP to its last byte."),
    "recorded": ("Time of a recorded flow", "From its first packet being sent to its last one; flows that lost none."),
}

Row = Mapping[str, Any]


def trains_table(rows: Sequence[Row]) -> Table:
    """Times of trains or recorded flows for the terminal.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``trains`` or ``recorded``.

    Returns
    -------
    rich.table.Table
        A line per discipline.
    """
    return lines_table(KINDS[_kind(rows)][0], "of", HEADS, _lines(rows))


def trains_html(rows: Sequence[Row]) -> str:
    """Section of the report; empty where there is neither.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str
        HTML.
    """
    if not any("trains" in row or "recorded" in row for row in rows):
        return ""
    title, note = KINDS[_kind(rows)]
    return lines_html(title, "of", HEADS, _lines(rows)) + f'<p class="soft">{note}</p>'


def _kind(rows: Sequence[Row]) -> str:
    return "trains" if any("trains" in row for row in rows) else "recorded"


def _lines(rows: Sequence[Row]) -> list[Line]:
    """A line of each discipline."""
    kind, lines = _kind(rows), []
    for row in rows:
        own = row[kind]
        times = (time_text(own[name]) for name in ("mean_s", "p50_s", "p95_s"))
        lines.append(Line(row["label"], kind, (count_text(own["count"]), count_text(own["unfinished"]), *times)))
    return lines
