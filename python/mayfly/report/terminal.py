"""Tables for the terminal, in the form of Chen 2012, Table 4.2."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from .quantity import MISSING, bytes_text, count_text, interval_text, share_text, time_text

_NARROW = 76


class FoldingTable(Table):
    """A table that a terminal narrower than 76 columns gets as several, each of the first column and two others."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render whole, or two columns at a time."""
        if options.max_width >= _NARROW:
            yield from super().__rich_console__(console, options)
            return
        for start in range(1, len(self.columns), 2):
            part = _empty(self.title if start == 1 else None)
            chosen = [self.columns[0], *self.columns[start : start + 2]]
            for column in chosen:
                part.add_column(column.header, justify=column.justify, overflow=column.overflow, no_wrap=column.no_wrap)
            for cells in zip(*(column.cells for column in chosen), strict=True):
                part.add_row(*cells)
            yield part


def _empty(title: Any, kind: type[Table] = Table) -> Table:
    return kind(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
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
        Fits 80 columns; a terminal narrower than 76 gets it in several parts.
    """
    table = _empty(Text("Mean response time [95 % CI]"), FoldingTable)
    table.add_column(Text("discipline"), overflow="fold")
    for name in ("short flows", "long flows", "link\nuse", "drops", "un-\nfinished", "flow table\nmean/max"):
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    for row in summary["disciplines"]:
        table.add_row(
            Text(row["label"]),
            _mean_cell(row["short"]),
            _mean_cell(row["long"]),
            Text(share_text(row["utilisation"])),
            Text(count_text(row["drops"])),
            _unfinished_cell(row),
            Text(f"{count_text(row['flow_table']['mean'])}\n{count_text(row['flow_table']['max'])}"),
        )
    return table


def _mean_cell(flows: Mapping[str, Any]) -> Text:
    cell = Text(time_text(flows["mean_s"]), style="bold")
    if interval := interval_text(flows["mean_s"], flows["ci95"]):
        cell.append("\n" + interval, style="not bold dim")
    return cell


def _unfinished_cell(row: Mapping[str, Any]) -> Text:
    if not row["flows_unfinished"]:
        return Text("0")
    return Text(f"{count_text(row['flows_unfinished'])}\n{bytes_text(row['unfinished_bytes'])}")


def disciplines_table(specs: Iterable[Mapping[str, Any]]) -> Table:
    """Show the registry: id, description and parameters of each discipline.

    Parameters
    ----------
    specs : iterable of mapping
        ``id``, ``about``, ``source`` and ``params``: each ``name``, ``unit``, ``about`` and either ``default``,
        ``min``, ``max`` or ``choices`` (the first is the default).

    Returns
    -------
    rich.table.Table
    """
    table = _empty(None)
    table.add_column("id", style="bold", no_wrap=True)
    table.add_column("description", overflow="fold", ratio=3)
    table.add_column("options (default; bounds)", overflow="fold", ratio=2)
    for spec in specs:
        about = Text(spec["about"])
        if spec.get("source"):
            about.append(f"\n{spec['source']}", style="dim")
        options = Text("\n".join(_param_text(param) for param in spec.get("params", ())) or MISSING)
        table.add_row(Text(spec["id"]), about, options)
    return table


def _param_text(param: Mapping[str, Any]) -> str:
    choices: Sequence[str] | None = param.get("choices")
    if choices:
        return f"{param['name']} = {'|'.join(choices)} ({param.get('default', choices[0])})"
    unit = f" {param['unit']}" if param.get("unit") else ""
    bounds = f"; {param['min']:g} to {param['max']:g}" if param.get("min") is not None else ""
    default = (
        f"{param['default']:g}" if isinstance(param.get("default"), int | float) else str(param.get("default", ""))
    )
    return f"{param['name']} ({default}{unit}{bounds})"
