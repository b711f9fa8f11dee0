"""Tables for the terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from mayfly.show import table as shown
from mayfly.text.readable import harmless

if TYPE_CHECKING:
    import polars as pl

_FOLDED = 18


class PlainConsole(Console):
    """A terminal that shows what strangers wrote and does not obey it: colours and moves come from us alone."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render, control characters of the text escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=harmless(segment.text))


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


def drawn(table: shown.Table) -> Table:
    """Draw a table for the terminal: good is bold green, bad is red.

    Parameters
    ----------
    table : mayfly.show.table.Table
        What to draw.

    Returns
    -------
    rich.table.Table
        A terminal too narrow for it gets its first columns or several parts, as ``narrow`` says.
    """
    kind = HidingTable if table.narrow == "hide" else FoldingTable
    found = empty_table(Text(table.title), kind, (0, 1, 0, 0) if table.padded else 0)
    for head in table.heads[: table.names]:
        found.add_column(Text(head), overflow="fold", max_width=table.folds_at)
    for head in table.heads[table.names :]:
        found.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
    for row in table.cells():
        if isinstance(row, str):
            found.add_row(Text(row, style="dim italic"))
        else:
            found.add_row(*map(_text, row))
    return found


_STYLES = {True: "bold green", False: "red", None: ""}


def _text(cell: shown.Cell) -> Text:
    text = Text(cell.text, _STYLES[cell.good])
    return text.append(f"\n{cell.below}", style="not bold default dim") if cell.below else text


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
