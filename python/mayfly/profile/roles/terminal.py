"""Roles of hosts as tables for the terminal, in the form of Chen 2012, Tables 8.3 and 8.4 and Fig. 8.12."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import empty_table
from mayfly.text.readable import MISSING


def trials_table(trials: Mapping[str, Any]) -> Table:
    """Success rates of a hold-out.

    Parameters
    ----------
    trials : mapping
        Of :func:`mayfly.profile.roles.validation.hold_out`.

    Returns
    -------
    rich.table.Table
    """
    table = empty_table(Text("Hold-out"))
    columns = [(f"trial {place}", trial) for place, trial in enumerate(trials["trials"], start=1)]
    columns.append(("all", trials["pooled"]))
    table.add_column("", no_wrap=True)
    for name, _ in columns:
        table.add_column(Text(name, justify="right"), justify="right", no_wrap=True)
    table.add_row("tested", *(str(trial["tested"]) for _, trial in columns))
    table.add_row("rate %", *(f"{100 * trial['rate']:.2f}" for _, trial in columns))
    for level in ("80", "90"):
        table.add_row(f"{level} % CI", *(_interval(trial[f"ci{level}"]) for _, trial in columns))
    table.add_row("mean %", f"{100 * trials['mean']:.2f}", *[""] * (len(columns) - 1))
    table.add_row("std", f"{trials['std']:.2f}", *[""] * (len(columns) - 1))
    return table


def _interval(ends: Sequence[float]) -> str:
    return f"[{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"


def traces_table(traces: Sequence[Mapping[str, Any]]) -> Table:
    """Hosts by role in each trace."""
    table = empty_table(Text("Hosts by role"))
    table.add_column(Text("trace"), overflow="fold")
    for name in ("servers", "clients", "insufficient traffic", "labelled and right"):
        table.add_column(Text(name, justify="right"), justify="right")
    for row in traces:
        score = row["score"]
        said = MISSING if score is None else f"{score['right']} of {score['tested']}"
        table.add_row(Text(row["name"]), str(row["server"]), str(row["client"]), str(row["insufficient"]), said)
    return table


def histogram_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Hosts by how often each role was told: Fig. 8.12."""
    table = empty_table(Text("Over the traces"))
    table.add_column("verdict")
    for name in ("told", "hosts"):
        table.add_column(Text(name, justify="right"), justify="right")
    for row in rows:
        table.add_row(row["verdict"], row["told"], str(row["hosts"]))
    return table
