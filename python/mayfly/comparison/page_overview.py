"""The overview of a comparison on its page: a row per discipline, which also chooses what the plots show."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mayfly.comparison.choice import grouped, marks
from mayfly.show.palette import Style
from mayfly.show.plots import MANY
from mayfly.show.plotted_table import Cell, framed, line
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

Row = Mapping[str, Any]


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


def _tools(rows: Sequence[Row]) -> str:
    """Filter by family, and which of many are in the plots; of use with the script only."""
    names = "".join(f"<option>{escape(name)}</option>" for name, _ in grouped(rows))
    return (
        '<div class="tools" hidden><label>Family <select id="family" autocomplete="off"><option value="">all</option>'
        f'{names}</select></label> <button type="button" id="plot-listed">Plot all listed</button> '
        '<button type="button" id="plot-first">Plot the best of each family</button> '
        '<span id="plotted" role="status"></span></div>'
    )


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
