"""Tables for the terminal, in the form of Chen 2012, Table 4.2."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from mayfly.show.choice import MANY, grouped, marks
from mayfly.text.readable import bytes_text, count_text, interval_text, memory_text, share_text, spread_text, time_text

if TYPE_CHECKING:
    import polars as pl

_LABEL = 26
_FOLDED = 18


class FoldingTable(Table):
    """A table that a terminal too narrow for it gets as several, each of the first column and as many others as fit."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render whole, or some columns at a time."""
        columns = range(1, len(self.columns))
        if _width(self, console, options, [0, *columns]) <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        title, part = self.title, [0]
        for column in columns:
            if len(part) > 1 and _width(self, console, options, [*part, column]) > options.max_width:
                yield _part(self, part, title)
                title, part = None, [0]
            part.append(column)
        yield _part(self, part, title)


class HidingTable(Table):
    """A table of many rows: a terminal too narrow for it gets the first columns, and the names of the others."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the columns that fit, at least two."""
        kept = len(self.columns)
        while kept > 2 and _width(self, console, options, range(kept)) > options.max_width:
            kept -= 1
        yield from _part(self, range(kept), self.title).__rich_console__(console, options)
        if hidden := [str(column.header).replace("-\n", "").replace("\n", " ") for column in self.columns[kept:]]:
            yield Text(f"no room for: {', '.join(hidden)}", style="dim")


def _width(table: Table, console: Console, options: ConsoleOptions, chosen: Any) -> int:
    """What some columns of a table take, in characters; those that fold no more than `_FOLDED`."""
    part = _part(table, chosen, None)
    for column in part.columns:
        if not column.no_wrap:
            column.max_width = min(column.max_width or _FOLDED, _FOLDED)
    return Measurement.get(console, options.update(width=1000), part).maximum


def _part(table: Table, chosen: Any, title: Any) -> Table:
    """Some columns of a table."""
    part = empty_table(title, padding=table.padding)
    columns = [table.columns[at] for at in chosen]
    for column in columns:
        part.add_column(
            column.header,
            justify=column.justify,
            overflow=column.overflow,
            no_wrap=column.no_wrap,
            max_width=column.max_width,
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*cells)
    return part


def empty_table(title: Any, kind: type[Table] = Table, padding: Any = (0, 1, 0, 0)) -> Table:
    """A table without rows, in the style of all."""
    return kind(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=padding,
    )


def comparison_table(summary: Mapping[str, Any]) -> Table:
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
    table.add_column(Text("discipline"), overflow="fold", max_width=_LABEL)
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


def plain_table(frame: "pl.DataFrame") -> Table:
    """Any table, numbers with four digits.

    Parameters
    ----------
    frame : polars.DataFrame

    Returns
    -------
    rich.table.Table
    """
    table = Table(box=None, pad_edge=False)
    for name, kind in frame.schema.items():
        table.add_column(Text(name), justify="right" if kind.is_numeric() else "left")
    for row in frame.iter_rows():
        table.add_row(*(Text("" if v is None else f"{v:.4g}" if isinstance(v, float) else str(v)) for v in row))
    return table
