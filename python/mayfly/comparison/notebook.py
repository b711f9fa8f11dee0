"""A comparison in a notebook: bars of what was measured, the overview, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mayfly.comparison.ordering import leading, leading_sentences
from mayfly.comparison.overview import overview_table
from mayfly.comparison.text import switching_sentences
from mayfly.comparison.user_metrics import MEASURES, Felt, measured, place_sentence, think_times
from mayfly.show.notebook import Bars, bars
from mayfly.show.palette import styles
from mayfly.text.readable import count_text, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, Summary


MOST = 3
"""Panels drawn: the first that the runs have."""


def in_short(summary: Summary, records: Any) -> str:
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


def plot(summary: Summary) -> str:
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
    felt = [_panel(measure.title, [measured(row, measure) for row in rows]) for measure in MEASURES if measure.pictured]
    panels = [panel for panel in (*felt, *(_mean_panel(rows, name) for name in ("short", "long"))) if panel][:MOST]
    return bars(labels, [looks[label].colour for label in labels], panels) if panels else ""


def _panel(title: str, found: Sequence[Felt | None]) -> Bars | None:
    values = [None if own is None else own.value for own in found]
    if not any(values):
        return None
    intervals = [None if own is None else own.ci95 for own in found]
    return Bars(f"{title[0].upper()}{title[1:]}", values, intervals, [time_text(seconds) for seconds in values])


def _mean_panel(rows: Sequence[DisciplineRow], name: Literal["short", "long"]) -> Bars | None:
    """Mean response time of a class of flows."""
    classes = [row.get(name) or {} for row in rows]
    return _panel(f"{name} flows, mean response time", [Felt(of.get("mean_s"), of.get("ci95")) for of in classes])


def shown(summary: Summary) -> list[Any]:
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
    from mayfly.show.terminal import drawn

    first, _ = leading_sentences(summary)
    found = summary.get("recommendation")
    recommended = [found["sentence"], *switching_sentences(summary)[:2]] if found else []
    overview = drawn(overview_table(summary, means=not think_times(summary)))
    return [part for part in (*recommended, place_sentence(summary), plot(summary), overview, *first) if part]
