"""Two tools on one capture as tables for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import empty_table
from mayfly.text.readable import MISSING


def agreement_tables(document: Mapping[str, Any]) -> list[Table]:
    """Metrics, and the connections that differ most.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.agreement.answer.Agreement.document`.

    Returns
    -------
    list of rich.table.Table
    """
    names = [document[side]["tool"] for side in "ab"]
    names = names if names[0] != names[1] else ["first", "second"]
    tables = [_metrics(document, names)]
    return [*tables, _worst(document, names)] if document["worst"] else tables


def _metrics(document: Mapping[str, Any], names: list[str]) -> Table:
    table = empty_table(Text("Agreement, sums or means over what both tell"))
    table.add_column("metric", overflow="fold")
    for name in (*names, "compared", "equal", "largest\ndifference", "told by\none only"):
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    for row in document["metrics"]:
        values = [_text(row[name], row["unit"]) for name in ("a", "b")]
        alone = row["only_a"] + row["only_b"]
        counts = (f"{row['compared']:,}", f"{row['equal']:,}", _text(row["largest"], row["unit"]), f"{alone:,}")
        table.add_row(row["title"], *values, *counts)
    return table


def _worst(document: Mapping[str, Any], names: list[str]) -> Table:
    table = empty_table(Text("Connections that differ most"))
    table.add_column("connection", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in names:
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    units = {row["metric"]: row["unit"] for row in document["metrics"]}
    for row in document["worst"]:
        ends = f"{row['protocol']} {row['a']}:{row['a_port']} - {row['b']}:{row['b_port']}"
        label = ends if row["number"] == 0 else f"{ends} ({row['number'] + 1})"
        for place, found in enumerate(row["differences"]):
            metric = found["metric"] + (f", {found['direction']}" if found["direction"] else "")
            values = [_text(found[side], units[found["metric"]]) for side in "ab"]
            table.add_row(label if place == 0 else "", metric, *values)
    return table


def _text(value: float | None, unit: str) -> str:
    if value is None:
        return MISSING
    if unit == "s":
        return f"{value * 1000:,.3f} ms"
    return f"{value:,.0f}"
