"""The overview of a comparison in the terminal, a row per discipline.

What users feel comes first, then the queue and the means of Chen 2012, Table 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mayfly.comparison.links import links_sentence, use_text, ways
from mayfly.comparison.ordering import grouped, marks
from mayfly.comparison.user_metrics import (
    MEASURES,
    Felt,
    Measure,
    ends_text,
    is_none,
    load_sentence,
    loaded_figures,
    measured,
    none_sentence,
    place_sentence,
    series_sentence,
    streams_sentence,
    think_times,
)
from mayfly.show.plots import MANY
from mayfly.show.table import LABEL, Cell, Row, Table
from mayfly.text.readable import (
    bytes_text,
    count_text,
    interval_text,
    memory_text,
    share_text,
    spread_text,
    time_text,
)

if TYPE_CHECKING:
    from mayfly.summary_types import Direction, DisciplineRow, Resampling, Summary

WIDE = 110
"""Columns of a terminal from which on the flow table has room unasked."""

COMMAND = "command"
"""Name of the row of the recommended discipline where its command puts it."""

CHOSEN = "*"
"""Stands before the discipline that is recommended."""


def users_table(summary: Summary) -> Table | None:
    """What users feel, side by side: 95th percentiles of short transfers and pings, a call, pages, long transfers.

    Parameters
    ----------
    summary : mapping
        As ``summary.json`` (docs/tables.md).

    Returns
    -------
    Table or None
        None without ``users``. Fits 80 columns, intervals below the figures up to six disciplines; the recommended
        discipline is marked, and has a second row where it was run as its command puts it. A terminal narrower than the
        table gets it in several parts. A share that is 0 under every discipline has no column: :func:`legend` says so.
    """
    rows = summary["disciplines"]
    if not any(row.get("users") for row in rows):
        return None
    found = summary.get("recommendation")
    chosen = found and found["discipline"]
    columns = [
        measure
        for measure in MEASURES
        if measure.head and any(measured(row, measure) for row in rows) and not is_none(rows, measure)
    ]
    if not columns:
        return None
    few = len(rows) <= MANY
    title = "What users feel [95 % CI]" if few and _has_intervals(rows, columns) else "What users feel"
    body: list[str | Row] = []
    for name, members in [("", rows)] if few else grouped(rows):
        if name:
            body.append(name)
        for row in members:
            recommended = row["label"] == chosen
            mark = f"{CHOSEN} " if recommended else "  "
            label = Cell(f"{mark if chosen else ''}{row['label']}", True if recommended else None)
            body.append((label, *(_figure_cell(measured(row, column), column, few) for column in columns)))
            if recommended and found and (own := loaded_figures(found, row["label"])):
                body.append((f"  {COMMAND}", *(_figure_cell(own.get(column.id), column, few) for column in columns)))
    heads = ("discipline", *(column.head for column in columns))
    return Table(title, heads, tuple(body), narrow="fold" if few else "hide", widest=LABEL, padded=few)


def _has_intervals(rows: list[DisciplineRow], columns: Sequence[Measure]) -> bool:
    return any(own.ci95 for row in rows for column in columns if (own := measured(row, column)))


def loaded_table(summary: Summary) -> Table | None:
    """What users feel with the command: a row for each discipline that was run where the command puts it.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    Table or None
        The recommended discipline first, with the intervals of its hours; None where none was run so.
    """
    found = summary.get("recommendation")
    if not found or not found.get("as_loaded"):
        return None
    own = {one["discipline"]: loaded_figures(found, one["discipline"]) for one in found["as_loaded"]}
    known = {id for felt in own.values() for id in felt}
    columns = [measure for measure in MEASURES if measure.in_report and measure.id in known]
    body: list[str | Row] = [
        (label, *(_figure_cell(felt.get(column.id), column, True) for column in columns)) for label, felt in own.items()
    ]
    note = (
        "The capture once more, with the discipline at a shaper where the command puts it: behind the provider's FIFO "
        "for what arrives. The tables above have each discipline at the link itself."
    )
    heads = ("discipline", *(column.title.replace(", ", "\n") for column in columns))
    return Table("What users feel with the command", heads, tuple(body), notes=(note,))


def _figure_cell(found: Felt | None, column: Measure, intervals: bool) -> Cell:
    if found is None:
        return Cell(time_text(None))
    if (value := found.value) is None:
        return Cell("never")
    text = {"mos": f"{value:.1f}", "share": f"{100 * value:.1f} %"}.get(column.unit) or time_text(value)
    return Cell(text, below=ends_text(found, column) if intervals else "")


def legend(summary: Summary, means: bool = True) -> list[str]:
    """What the words of the tables mean and which link they are of, in sentences.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.
    means : bool
        Whether the table of :func:`overview_table` has means.

    Returns
    -------
    list of str
        One sentence about short and long, one about the load under which ping and call were taken, one about the two
        directions, one about the intervals, as far as the summary has them.
    """
    said = []
    blocks = [row["users"] for row in summary["disciplines"] if row.get("users")]
    # Endless flows are no transfers.
    transfers = next((block["transfers"]["all"] for block in blocks if block["transfers"]), None)
    if transfers is not None:
        long = "long ones more than 1 MB"
        if not any(bin_["flows"] for bin_ in transfers if bin_["to_kb"] is None):
            long = "long are the largest 1 %, as none has more than 1 MB"
        said.append(
            f"Short transfers have at most 100 kB, {long}; p95: 95 of 100 are faster."
            + (" In means, long are the largest flows that carry half of the bytes." if means else "")
        )
    else:
        said.append("Long flows are the largest that together carry half of the bytes; the others are short.")
    advice = summary.get("recommendation")
    if said_where := place_sentence(summary):
        chosen = advice and advice["discipline"] is not None
        said.append(
            said_where.replace("sentence is", f"sentence and the row `{COMMAND}` are") if chosen else said_where
        )
    rows = summary["disciplines"]
    of_rows = (streams_sentence(rows), series_sentence(rows), none_sentence(rows), load_sentence(rows))
    said += [sentence for sentence in (*of_rows, links_sentence(summary)) if sentence]
    if resampling := summary.get("resampling"):
        if resampling["hours"]:
            said.append(
                f"Intervals: 95 %, from {resampling['hours']} hours like this one, drawn from its "
                f"{resampling['sessions']:,} sessions of {resampling['hosts']:,} hosts." + _settled(resampling)
            )
            if advice and any(one["hours"] for one in advice["as_loaded"]):
                said.append("Those of the first sentence are from the same hours, run with the command.")
        else:
            said.append(
                "Intervals are of the flows of this run, too narrow for another hour like it; none was drawn: "
                f"{resampling['why_none']}."
            )
    return said


def _settled(resampling: Resampling) -> str:
    """Why there are fewer hours than there could be, with a space before it."""
    if not resampling["settled"]:
        return ""
    most = resampling["most"]
    return (
        f" More would hardly change what is recommended; `--replications {most}` draws {most}, for steadier intervals."
    )


def overview_table(summary: Summary, wide: bool = True, means: bool = True) -> Table:
    """Disciplines side by side: mean response time of short and long flows with its 95 % interval, and the queue.

    Parameters
    ----------
    summary : mapping
        As ``summary.json`` (docs/tables.md).
    wide : bool
        Whether the flow table and its memory have columns.
    means : bool
        Whether the mean response times have columns.

    Returns
    -------
    Table
        Fits 80 columns. Up to six disciplines have their intervals below the means, and a terminal narrower than 76
        gets the table in several parts. More are grouped by family, one line each, and columns without room are left
        out. On a terminal the best of a column are bold and green, the worst red, as far as intervals can tell.
    """
    rows = summary["disciplines"]
    order = ways(summary)
    titled = "whole connections, think times included" if think_times(summary) else ""
    return (_few if len(rows) <= MANY else _many)(rows, order, wide, means, titled)


def _head(name: str, order: Sequence[Direction]) -> str:
    """Head of a column of the queue; both directions where there are two."""
    return f"{name}\n{'/'.join(order)}" if order else name


def _of_ways(row: DisciplineRow, order: Sequence[Direction], key: QueueKey, text: Callable[[Any], str]) -> str:
    """A figure of the queue in each direction, the busier one first; of the only queue where there is one."""
    links = row.get("links")
    if not order or not links:
        return text(row.get(key))
    return "/".join(text(links[way].get(key)) for way in order)


QueueKey = Literal["utilisation", "drops", "marks"]
"""What both a row and its links have of a queue."""

_QUEUE = "The link and its queue"


def _title(means: bool, titled: str, interval: str) -> str:
    """Title of the overview; ``titled`` says what the means are of."""
    if not means:
        return _QUEUE
    return f"{f'Mean of {titled}' if titled else 'Mean response time'}{interval}"


def _few(rows: list[DisciplineRow], order: Sequence[Direction], wide: bool, means: bool, titled: str) -> Table:
    marked_packets = any(row.get("marks") for row in rows)
    names = [*(["short flows", "long flows"] if means else []), _head("link use", order), _head("drops", order)]
    names += [*([_head("marks", order)] if marked_packets else []), "un-\nfinished"]
    names += ["flow table\nmean/max\nmemory"] if wide else []
    marked = marks(rows)
    body: list[tuple[Cell | str, ...]] = [
        (
            row["label"],
            *([_mean_cell(row, name, marked) for name in ("short", "long")] if means else []),
            _of_ways(row, order, "utilisation", use_text if order else share_text),
            _of_ways(row, order, "drops", count_text),
            *([_of_ways(row, order, "marks", count_text)] if marked_packets else []),
            _unfinished_cell(row, marked),
            *([f"{_entries(row)}\n{memory_text(row['flow_table'].get('bytes'))}"] if wide else []),
        )
        for row in rows
    ]
    title = _title(means, titled, " [95 % CI]")
    return Table(title, ("discipline", *names), tuple(body), narrow="fold", widest=0)


def _many(rows: list[DisciplineRow], order: Sequence[Direction], wide: bool, means: bool, titled: str) -> Table:
    marked_packets = any(row.get("marks") for row in rows)
    names = [*(["short flows", "long flows"] if means else []), "un-\nfinished", _head("drops", order)]
    names += [*([_head("marks", order)] if marked_packets else []), _head("link use", order)]
    names += ["flow table\nmean/max", "memory"] if wide else []
    marked = marks(rows)
    body: list[str | Row] = []
    for name, members in grouped(rows):
        if name:
            body.append(name)
        for row in members:
            body.append(
                (
                    f"  {row['label']}" if name else row["label"],
                    *(
                        Cell(spread_text(row[of]["mean_s"], row[of]["ci95"]), _good(row, marked[of]))
                        for of in (("short", "long") if means else ())
                    ),
                    Cell(count_text(row["flows_unfinished"]), _good(row, marked["flows_unfinished"])),
                    _of_ways(row, order, "drops", count_text),
                    *([_of_ways(row, order, "marks", count_text)] if marked_packets else []),
                    _of_ways(row, order, "utilisation", use_text if order else share_text),
                    *([_entries(row), memory_text(row["flow_table"].get("bytes"))] if wide else []),
                )
            )
    title = _title(means, titled, ", ± half the 95 % interval")
    return Table(title, ("discipline", *names), tuple(body), widest=LABEL, padded=False)


def _good(row: DisciplineRow, marked: Mapping[str, str]) -> bool | None:
    return {"best": True, "worst": False}.get(marked.get(row["label"], ""))


def _entries(row: DisciplineRow) -> str:
    """Mean and largest flow table."""
    table = row["flow_table"]
    return "0" if table["max"] == 0 else f"{count_text(table['mean'])}/{count_text(table['max'])}"


def _mean_cell(row: DisciplineRow, name: Literal["short", "long"], marked: Mapping[str, Mapping[str, str]]) -> Cell:
    flows = row[name]
    return Cell(time_text(flows["mean_s"]), _good(row, marked[name]), interval_text(flows["mean_s"], flows["ci95"]))


def _unfinished_cell(row: DisciplineRow, marked: Mapping[str, Mapping[str, str]]) -> Cell:
    endless, below = row.get("flows_endless") or 0, ""
    if row["flows_unfinished"] > endless:
        below = bytes_text(row["unfinished_bytes"])
    elif endless:
        below = "endless"
    return Cell(count_text(row["flows_unfinished"]), _good(row, marked["flows_unfinished"]), below)
