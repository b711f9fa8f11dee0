"""The overview of a comparison in the terminal, a row per discipline, in the form of Chen 2012, Table 4.2."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from mayfly.comparison.choice import grouped, marks
from mayfly.show.plots import MANY
from mayfly.show.terminal import LABEL, FoldingTable, HidingTable, empty_table
from mayfly.text.readable import bytes_text, count_text, interval_text, memory_text, share_text, spread_text, time_text


def overview_table(summary: Mapping[str, Any]) -> Table:
    """Disciplines side by side: mean response time of short and long flows with its 95 % interval, and what it cost.

    Parameters
    ----------
    summary : mapping
        As ``summary.json`` (docs/tables.md).

    Returns
    -------
    rich.table.Table
        Fits 80 columns. Up to six disciplines have their intervals below the means, and a terminal narrower than 76
        gets the table in several parts. More are grouped by family, one line each, and columns without room are left
        out. On a terminal the best of a column are bold and green, the worst red, as far as intervals can tell.
    """
    rows = summary["disciplines"]
    return _few(rows) if len(rows) <= MANY else _many(rows)


def _few(rows: list[Mapping[str, Any]]) -> Table:
    table = empty_table(Text("Mean response time [95 % CI]"), FoldingTable)
    table.add_column(Text("discipline"), overflow="fold")
    marked_packets = any(row.get("marks") for row in rows)
    names = ["short flows", "long flows", "link\nuse", "drops", *(["marks"] if marked_packets else []), "un-\nfinished"]
    for name in (*names, "flow table\nmean/max\nmemory"):
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    marked = marks(rows)
    for row in rows:
        table.add_row(
            Text(row["label"]),
            _mean_cell(row, "short", marked),
            _mean_cell(row, "long", marked),
            Text(share_text(row["utilisation"])),
            Text(count_text(row["drops"])),
            *([Text(count_text(row.get("marks")))] if marked_packets else []),
            _unfinished_cell(row, marked),
            Text(f"{_entries(row)}\n{memory_text(row['flow_table'].get('bytes'))}"),
        )
    return table


def _many(rows: list[Mapping[str, Any]]) -> Table:
    table = empty_table(Text("Mean response time, ± half the 95 % interval"), HidingTable, padding=0)
    table.add_column(Text("discipline"), overflow="fold", max_width=LABEL)
    marked_packets = any(row.get("marks") for row in rows)
    names = ["short flows", "long flows", "un-\nfinished", "drops", *(["marks"] if marked_packets else [])]
    for name in (*names, "flow table\nmean/max", "memory", "link\nuse"):
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    marked = marks(rows)
    for name, members in grouped(rows):
        if name:
            table.add_row(Text(name, style="dim italic"))
        for row in members:
            table.add_row(
                Text(f"  {row['label']}" if name else row["label"]),
                Text(spread_text(row["short"]["mean_s"], row["short"]["ci95"]), _style(row, marked["short"])),
                Text(spread_text(row["long"]["mean_s"], row["long"]["ci95"]), _style(row, marked["long"])),
                Text(count_text(row["flows_unfinished"]), _style(row, marked["flows_unfinished"])),
                Text(count_text(row["drops"])),
                *([Text(count_text(row.get("marks")))] if marked_packets else []),
                Text(_entries(row)),
                Text(memory_text(row["flow_table"].get("bytes"))),
                Text(share_text(row["utilisation"])),
            )
    return table


def _style(row: Mapping[str, Any], marked: Mapping[str, str]) -> str:
    return {"best": "bold green", "worst": "red"}.get(marked.get(row["label"], ""), "")


def _entries(row: Mapping[str, Any]) -> str:
    """Mean and largest flow table."""
    table = row["flow_table"]
    return "0" if table["max"] == 0 else f"{count_text(table['mean'])}/{count_text(table['max'])}"


def _mean_cell(row: Mapping[str, Any], name: str, marked: Mapping[str, Mapping[str, str]]) -> Text:
    flows = row[name]
    cell = Text(time_text(flows["mean_s"]), _style(row, marked[name]))
    if interval := interval_text(flows["mean_s"], flows["ci95"]):
        cell.append("\n" + interval, style="not bold default dim")
    return cell


def _unfinished_cell(row: Mapping[str, Any], marked: Mapping[str, Mapping[str, str]]) -> Text:
    cell = Text(count_text(row["flows_unfinished"]), _style(row, marked["flows_unfinished"]))
    if row["flows_unfinished"]:
        cell.append("\n" + bytes_text(row["unfinished_bytes"]), style="not bold default dim")
    return cell
