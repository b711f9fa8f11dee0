"""The overview of a comparison on its page: a row per discipline, which also chooses what the plots show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from mayfly.comparison.ordering import grouped, marks
from mayfly.comparison.user_metrics import (
    MEASURES,
    Measure,
    ends_text,
    is_none,
    load_sentence,
    measured,
    none_sentence,
    series_sentence,
    streams_sentence,
)
from mayfly.show.palette import Style
from mayfly.show.plots import MANY
from mayfly.show.plotted_table import Cell, framed, line, plain_line
from mayfly.text.readable import (
    MISSING,
    bytes_text,
    count_text,
    interval_text,
    memory_text,
    share_text,
    time_text,
)

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, FlowTable


MSS = 1460
"""Payload of a full packet in bytes, where a summary does not tell it."""

RUNS_ON = {
    "kernel": "Linux",
    "module": "module",
    "bpf": "BPF",
    "simulation": "simulation",
    "bound": "nowhere",
}
"""Where a discipline runs, in a word."""

_PLACES = (
    "Runs on: Linux, in the kernel as it is; module, with Mayfly's kernel module; BPF, as a program of Mayfly's; "
    "simulation, only there; nowhere, a bound that knows the future. "
)


def has_users(rows: Sequence[DisciplineRow]) -> bool:
    """Whether the summary tells what users feel."""
    return any(measured(row, measure) for row in rows for measure in MEASURES)


def disciplines_table(
    rows: Sequence[DisciplineRow],
    colours: Mapping[str, Style],
    first: Sequence[str],
    best: Sequence[str] = (),
    mss: int = MSS,
    place: str = "",
) -> str:
    """Write the table that leads the page, with its controls, as HTML.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, in the order of the plots.
    colours : mapping of Style
        By label.
    first : sequence of str
        Labels of those the plots show at first.
    best : sequence of str
        Labels of those that are recommended.
    mss : int
        Payload of a full packet, in bytes.
    place : str
        Where the disciplines are, in a sentence; empty where it need not be said.

    Returns
    -------
    str
    """
    felt = has_users(rows)
    columns = _felt(rows) if felt else _means(rows, mss)
    lines = []
    many = len(rows) > MANY
    at = 0
    for name, members in grouped(rows) if many else [("", rows)]:
        if name:
            title = f'<th colspan="{len(columns) + 1}" scope="rowgroup">{escape(name)}</th>'
            lines.append(f'<tr class="family" data-family="{escape(name)}">{title}</tr>')
        for row in members:
            cells = [column[at] for column in columns.values()]
            label = row["label"]
            lines.append(line(label, colours[label], cells, name, label in first, marked=label in best))
            at += 1
    caption = _FELT if felt else _MEANS
    if not felt and any(marks(rows).values()):
        caption += _MARKED
    if felt:
        sentences = (streams_sentence(rows), series_sentence(rows), none_sentence(rows), load_sentence(rows))
        caption += "".join(f"{escape(said)} " for said in sentences if said)
    if felt and any(row.get("runs_on") for row in rows):
        caption += _PLACES
    if felt and place:
        caption += f"{place} "
    if best:
        caption += "\u2605: recommended. "
    caption += "The box before a name puts it into the plots; a click on its row brings it out in all of them."
    return f'{_tools(rows) if many else ""}{framed(("discipline", *columns), lines)}<p class="soft">{caption}</p>'


def means_table(
    rows: Sequence[DisciplineRow], colours: Mapping[str, Style], mss: int = MSS, think_times: bool = False
) -> str:
    """Write the means of short and long flows as HTML.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.
    colours : mapping of Style
        By label.
    mss : int
        Payload of a full packet, in bytes.
    think_times : bool
        Whether the flows are whole connections with the think times of users and servers.

    Returns
    -------
    str
    """
    columns = _means(rows, mss)
    lines = [
        plain_line(row["label"], colours[row["label"]], [column[place] for column in columns.values()])
        for place, row in enumerate(rows)
    ]
    caption = (_THINKING if think_times else "") + _MEANS + (_MARKED if any(marks(rows).values()) else "")
    return f'{framed(("discipline", *columns), lines, chooses=False)}<p class="soft">{caption}</p>'


_FELT = (
    "Time within which 95 % of the pings, transfers and pages are done, with its 95 % interval in brackets. Short "
    "transfers have at most 100 kB, long ones more than 1 MB, or they are the largest 1 %. "
)
_MEANS = (
    "Mean response time of completed TCP transfers with its 95 % confidence interval. Long flows are the largest that "
    "together carry half of the bytes, short flows all others (Chen 2012, section 4.6.2 and Table 4.2). "
)
_THINKING = "The times are those of whole connections, think times of users and servers included. "
_MARKED = "The best of a column are bold, the worst underlined, as far as the intervals can tell. "


def _tools(rows: Sequence[DisciplineRow]) -> str:
    """Filter by family, and which of many are in the plots; of use with the script only."""
    names = "".join(f"<option>{escape(name)}</option>" for name, _ in grouped(rows))
    return (
        '<div class="tools" hidden><label>Family <select id="family" autocomplete="off"><option value="">all</option>'
        f'{names}</select></label> <button type="button" id="plot-listed">Plot all listed</button> '
        '<button type="button" id="plot-first">Plot the best of each family</button> '
        '<span id="plotted" role="status"></span></div>'
    )


def _felt(rows: Sequence[DisciplineRow]) -> dict[str, list[Cell]]:
    """What users feel, by heading."""
    shown = [measure for measure in MEASURES if measure.in_report and not is_none(rows, measure)]
    columns = {measure.title.replace(", ", "<br>"): [_felt_cell(row, measure) for row in rows] for measure in shown}
    columns |= {
        "unfinished": [_unfinished_cell(row, {}) for row in rows],
        "runs on": [_runs_on(row) for row in rows],
    }
    return {head: cells for head, cells in columns.items() if any(cell[0] not in ("", MISSING) for cell in cells)}


def _users(row: DisciplineRow, key: str) -> Mapping[str, Any]:
    users: Mapping[str, Any] = row.get("users") or {}
    return users.get(key) or {}


def _felt_cell(row: DisciplineRow, measure: Measure) -> Cell:
    found = measured(row, measure)
    if found is None:
        return MISSING, None, ""
    if found.value is None:
        return "<b>never ends</b>", float("inf"), ""
    if not measure.is_time:
        shown, value, good = _share(found.value) if measure.unit == "share" else _number(found.value, measure.unit)
        ends = ends_text(found, measure)
        return f"{shown}<small>{ends}</small>" if ends else shown, value, good
    own = _users(row, measure.part)
    notes = [interval_text(found.value, found.ci95)]
    if own.get("grade"):
        notes.append(f"grade {own['grade']}")
    elif own.get("p50_s") is not None:
        notes.append(f"p50 {time_text(own['p50_s'])}")
    small = "".join(f"<small>{escape(note)}</small>" for note in notes if note)
    return f"<b>{time_text(found.value)}</b>{small}", found.value, ""


def _number(value: float, unit: str) -> Cell:
    return format(value, ".2f" if unit == "mos" else ".3g"), value, ""


def _share(value: float | None) -> Cell:
    return share_text(value), value, ""


def _runs_on(row: DisciplineRow) -> Cell:
    places = row.get("runs_on") or ()
    return "<br>".join(escape(RUNS_ON.get(place, place)) for place in places), None, ""


def _means(rows: Sequence[DisciplineRow], mss: int) -> dict[str, list[Cell]]:
    """Means by class and what they cost, by heading."""
    marked = marks(rows)
    columns: dict[str, list[Cell]] = {
        "short flows": [_mean_cell(row, "short", marked) for row in rows],
        "long flows": [_mean_cell(row, "long", marked) for row in rows],
        "mean size<br>short / long": [_sizes(row, mss) for row in rows],
        "unfinished": [_unfinished_cell(row, marked["flows_unfinished"]) for row in rows],
    }
    if not all(row.get("links") for row in rows):
        # Summaries that do not tell the two directions apart tell of the queue downwards.
        columns |= {
            "link use<br>down": [_share(row["utilisation"]) for row in rows],
            "drops<br>down": [(count_text(row["drops"]), row["drops"], "") for row in rows],
        }
        if any(row.get("marks") for row in rows):
            columns["marks<br>down"] = [(count_text(row.get("marks")), row.get("marks"), "") for row in rows]
        columns["queue mean<br>down"] = [
            (count_text(row["queue_mean_packets"]), row["queue_mean_packets"], "") for row in rows
        ]
    columns |= {
        "flow table<br>mean / max": [_table_cell(row["flow_table"]) for row in rows],
        "memory": [(memory_text(row["flow_table"].get("bytes")), row["flow_table"].get("bytes"), "") for row in rows],
    }
    if any((row.get("udp") or {}).get("packets") for row in rows):
        losses = [(row.get("udp") or {}).get("loss") for row in rows]
        columns["UDP loss"] = [_share(loss) for loss in losses]
    return columns


def _mean_cell(row: DisciplineRow, name: Literal["short", "long"], marked: Mapping[str, Mapping[str, str]]) -> Cell:
    flows = row[name]
    interval = interval_text(flows["mean_s"], flows["ci95"])
    text = f"<b>{time_text(flows['mean_s'])}</b>" + (f"<small>{interval}</small>" if interval else "")
    return text, flows["mean_s"], marked[name].get(row["label"], "")


def _unfinished_cell(row: DisciplineRow, marked: Mapping[str, str]) -> Cell:
    count = row["flows_unfinished"]
    text = f"<b>{count_text(count)}</b>" + (f"<small>{bytes_text(row['unfinished_bytes'])}</small>" if count else "")
    return text, count, marked.get(row["label"], "")


def _table_cell(table: FlowTable) -> Cell:
    return f"{count_text(table['mean'])} / {count_text(table['max'])}", table["mean"], ""


def _sizes(row: DisciplineRow, mss: int) -> Cell:
    """Mean sizes of short and of long flows."""
    packets = [row[name].get("mean_size_packets") for name in ("short", "long")]
    return " / ".join(MISSING if size is None else bytes_text(size * mss) for size in packets), packets[0], ""
