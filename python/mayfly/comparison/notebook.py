"""A comparison in a notebook: bars of what was measured, the overview, and the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly.comparison.choice import leading, leading_sentences
from mayfly.comparison.overview import overview_table
from mayfly.show.notebook import Bars, bars
from mayfly.show.palette import styles
from mayfly.text.readable import count_text, time_text

Row = Mapping[str, Any]

MEASURES: tuple[tuple[str, tuple[str, ...], str, str, float], ...] = (
    ("Ping under load, 95th percentile", ("users", "ping"), "p95_ms", "p95_ci95", 1e-3),
    ("Short transfers, 95th percentile", ("users", "short"), "p95_s", "p95_ci95", 1.0),
    ("Long transfers, 95th percentile", ("users", "long"), "p95_s", "p95_ci95", 1.0),
    ("Short flows, mean response time", ("short",), "mean_s", "ci95", 1.0),
    ("Long flows, mean response time", ("long",), "mean_s", "ci95", 1.0),
)
"""Title, place in a row of the summary, value, interval, and seconds in a unit of both."""

MOST = 3
"""Panels drawn: the first that the runs have."""


def in_short(summary: Mapping[str, Any], records: Any) -> str:
    """What was compared, on one line.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.
    records : polars.DataFrame
        Flow records.

    Returns
    -------
    str
    """
    labels = [row["label"] for row in summary["disciplines"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if len(labels) > 6 else "")
    flows = count_text(summary["workload"]["flows"])
    of = summary.get("capture", {}).get("path", "")
    where = f" of {of.rpartition('/')[2]}" if of else ""
    return f"{summary['command']}{where}, {flows} flows, {shown}; {records.height:,} records"


def plot(summary: Mapping[str, Any]) -> str:
    """Bars of the leading disciplines, as SVG.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    str
        Empty where no discipline has a figure.
    """
    labels = leading(summary["disciplines"])
    rows = [row for label in labels for row in summary["disciplines"] if row["label"] == label]
    looks = styles([row["label"] for row in summary["disciplines"]])
    panels = [panel for panel in (_panel(rows, *measure) for measure in MEASURES) if panel is not None][:MOST]
    return bars(labels, [looks[label].colour for label in labels], panels) if panels else ""


def _panel(
    rows: Sequence[Row], title: str, place: Sequence[str], value: str, interval: str, unit_s: float
) -> Bars | None:
    found = [_at(row, place) for row in rows]
    values = [None if at.get(value) is None else at[value] * unit_s for at in found]
    if not any(values):
        return None
    ends = [at.get(interval) for at in found]
    intervals = [None if of is None or None in of else [end * unit_s for end in of] for of in ends]
    return Bars(title, values, intervals, [time_text(seconds) for seconds in values])


def _at(row: Row, place: Sequence[str]) -> Row:
    for name in place:
        row = row.get(name) or {}
    return row


def shown(summary: Mapping[str, Any]) -> list[Any]:
    """Sentences of the answer, the plot and the overview.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list
        Text, SVG and a table, in the order of a notebook.
    """
    first, _ = leading_sentences(summary)
    recommended = [(summary.get("recommendation") or {}).get("sentence", "")]
    return [part for part in (*recommended, plot(summary), overview_table(summary), *first) if part]
