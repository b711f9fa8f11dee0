"""The table of the report: one row per discipline, which also chooses what the plots show."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from mayfly.show.choice import MANY, grouped, marks
from mayfly.show.palette import Style
from mayfly.text.readable import (
    MISSING,
    bytes_text,
    count_text,
    digits,
    interval_text,
    memory_text,
    share_text,
    time_text,
)

_DASHES = {"solid": "", "dash": "6 3", "dot": "2 2", "dashdot": "6 2 2 2"}

Row = Mapping[str, Any]
Cell = tuple[str, float | None, str]
"""What is shown, what it is sorted by, and whether it is the best or the worst."""


def disciplines_table(rows: Sequence[Row], colours: Mapping[str, Style], first: Sequence[str]) -> str:
    """Write the table with its controls as HTML.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, in the order of the plots.
    colours : mapping of Style
        By label.
    first : sequence of str
        Labels of those the plots show at first.

    Returns
    -------
    str
    """
    columns = _columns(rows)
    lines = []
    many = len(rows) > MANY
    place = 0
    for name, members in grouped(rows) if many else [("", rows)]:
        if name:
            title = f'<th colspan="{len(columns) + 1}" scope="rowgroup">{escape(name)}</th>'
            lines.append(f'<tr class="family" data-family="{escape(name)}">{title}</tr>')
        for row in members:
            cells = [column[place] for column in columns.values()]
            lines.append(line(row["label"], colours[row["label"]], cells, name, row["label"] in first))
            place += 1
    caption = (
        "Mean response time of completed TCP transfers with its 95 % confidence interval, in the form of Chen 2012, "
        "Table 4.2; sizes in MSS packets, queue in packets, flow table in entries, memory as held for flows. "
    )
    if any(marks(rows).values()):
        caption += "The best of a column are bold, the worst underlined, as far as the intervals can tell. "
    caption += "The box before a name puts it into the plots; a click on its row brings it out in all of them."
    return f'{_tools(rows) if many else ""}{framed(("discipline", *columns), lines)}<p class="soft">{caption}</p>'


def framed(heads: Iterable[str], lines: Iterable[str]) -> str:
    """Write the table that the page's script sorts, with headings and lines in HTML."""
    shown = "".join(
        f'<th scope="col" aria-sort="none"><button type="button" class="sort">{name}</button></th>' for name in heads
    )
    return (
        f'<div class="scroll"><table id="disciplines"><thead><tr>{shown}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _tools(rows: Sequence[Row]) -> str:
    """Filter by family, and which of many are in the plots; of use with the script only."""
    names = "".join(f"<option>{escape(name)}</option>" for name, _ in grouped(rows))
    return (
        '<div class="tools" hidden><label>Family <select id="family" autocomplete="off"><option value="">all</option>'
        f'{names}</select></label> <button type="button" id="plot-listed">Plot all listed</button> '
        '<button type="button" id="plot-first">Plot the best of each family</button> '
        '<span id="plotted" role="status"></span></div>'
    )


def line(label: str, style: Style, cells: Iterable[Cell], family: str = "", plotted: bool = True) -> str:
    """Write a line of the table, with the box that puts its name into the plots."""
    label = escape(label)
    checked = " checked" if plotted else ""
    return (
        f'<tr data-discipline="{label}" data-family="{escape(family)}"><th scope="row"><span class="who">'
        f'<input type="checkbox" autocomplete="off"{checked} aria-label="plot {label}">{_swatch(style)}'
        f'<button type="button" class="name" aria-pressed="false">{label}</button></span></th>'
        f"{''.join(map(_cell, cells))}</tr>"
    )


def _swatch(style: Style) -> str:
    """Draw a piece of the line of a discipline."""
    dash = _DASHES[style.dash]
    broken = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        '<svg class="swatch" width="26" height="10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" '
        f'stroke="{style.colour}" stroke-width="{style.width + 1:g}"{broken}/></svg>'
    )


def _cell(cell: Cell) -> str:
    text, value, mark = cell
    known = "" if value is None else f' data-value="{value:.9g}"'
    return f"<td{known}{f' class={mark}' if mark else ''}>{text}</td>"


def _columns(rows: Sequence[Row]) -> dict[str, list[Cell]]:
    """Columns by heading, each with a cell per row."""
    marked = marks(rows)
    columns = {
        "short flows": [_mean_cell(row, "short", marked) for row in rows],
        "long flows": [_mean_cell(row, "long", marked) for row in rows],
        "mean size<br>short / long": [
            (f"{_size(row['short'])} / {_size(row['long'])}", row["short"].get("mean_size_packets"), "") for row in rows
        ],
        "link use": [(share_text(row["utilisation"]), row["utilisation"], "") for row in rows],
        "drops": [(count_text(row["drops"]), row["drops"], "") for row in rows],
    }
    if any(row.get("marks") for row in rows):
        columns["marks"] = [(count_text(row.get("marks")), row.get("marks"), "") for row in rows]
    columns |= {
        "unfinished": [_unfinished_cell(row, marked) for row in rows],
        "queue mean": [(count_text(row["queue_mean_packets"]), row["queue_mean_packets"], "") for row in rows],
        "flow table<br>mean / max": [_table_cell(row["flow_table"]) for row in rows],
        "memory": [(memory_text(row["flow_table"].get("bytes")), row["flow_table"].get("bytes"), "") for row in rows],
    }
    if any((row.get("udp") or {}).get("packets") for row in rows):
        losses = [(row.get("udp") or {}).get("loss") for row in rows]
        columns["UDP loss"] = [(share_text(loss), loss, "") for loss in losses]
    return columns


def _mean_cell(row: Row, name: str, marked: Mapping[str, Mapping[str, str]]) -> Cell:
    flows = row[name]
    interval = interval_text(flows["mean_s"], flows["ci95"])
    text = f"<b>{time_text(flows['mean_s'])}</b>" + (f"<small>{interval}</small>" if interval else "")
    return text, flows["mean_s"], marked[name].get(row["label"], "")


def _unfinished_cell(row: Row, marked: Mapping[str, Mapping[str, str]]) -> Cell:
    count = row["flows_unfinished"]
    text = f"<b>{count_text(count)}</b>" + (f"<small>{bytes_text(row['unfinished_bytes'])}</small>" if count else "")
    return text, count, marked["flows_unfinished"].get(row["label"], "")


def _table_cell(table: Row) -> Cell:
    return f"{count_text(table['mean'])} / {count_text(table['max'])}", table["mean"], ""


def _size(flows: Row) -> str:
    size = flows.get("mean_size_packets")
    return MISSING if size is None else digits(size)
