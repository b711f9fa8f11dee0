"""A workload made of a capture, and flows drawn from it, as tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import empty_table
from mayfly.text.readable import MISSING, bytes_text, count_text, digits, time_text


def _table(title: str, heads: Sequence[str]) -> Table:
    table = empty_table(Text(title))
    for place, head in enumerate(heads):
        side: JustifyMethod = "right" if place else "left"
        table.add_column(Text(head, justify=side), justify=side, no_wrap=True)
    return table


def classes_table(document: Mapping[str, Any]) -> Table:
    """Rate, load and laws of each class.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.workload.answer.Made.document`.

    Returns
    -------
    rich.table.Table
    """
    table = _table("Workload", ["", "per s", "Mbit/s", "of laws", "sizes", "mean", "RTT median"])
    for row in document["classes"]:
        rtt = row["rtt"]
        cells = [
            digits(row["rate"]),
            digits(row["measured_bps"] / 1e6),
            digits(row["expected_bps"] / 1e6),
            row["size"]["law"],
            bytes_text(row["size"]["mean_bytes"]),
            MISSING if rtt is None else time_text(rtt["median_s"]),
        ]
        table.add_row(Text(_named(row)), *map(Text, cells))
    return table


def drawn_table(document: Mapping[str, Any]) -> Table:
    """What was drawn beside what the laws expect.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.workload.answer.Drawn.document`.

    Returns
    -------
    rich.table.Table
    """
    table = _table("Drawn, and what the laws expect", ["", "flows", "expected", "mean size", "", "Mbit/s", "expected"])
    for row in document["classes"]:
        mean, ends = row["size_mean_bytes"], row["size_ci95_bytes"]
        half = "" if ends is None or not mean else f" ±{50 * (ends[1] - ends[0]) / mean:.0f} %"
        cells = [
            count_text(row["flows"]),
            f"{count_text(round(row['flows_expected']))} ±{digits(row['flows_sd'])}",
            bytes_text(mean) + half,
            bytes_text(row["size_mean_expected_bytes"]),
            digits(row["load_bps"] / 1e6),
            digits(row["load_expected_bps"] / 1e6),
        ]
        table.add_row(Text(_named(row)), *map(Text, cells))
    return table


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['class']} {row['direction']} {row['protocol']}"
