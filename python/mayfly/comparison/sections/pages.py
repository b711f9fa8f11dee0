"""How long web pages take to load under each discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart, Summary

HEADS = ("pages", "not\nloaded", "mean", "median", "95 %")


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``pages``, of workloads that have some."""
    import polars as pl

    from mayfly.metrics.pages import page_rows

    # Of a capture stages are users who wait (`mayfly.workload.closed_loop`), not pages.
    if "connection_id" in of.records.columns:
        return {}
    found = page_rows(of.records, pl.concat([run.trains for run in of.runs]))
    return {"pages": found} if found else {}


def tables(summary: Summary) -> tuple[Table, ...]:
    """Page load times, a row per discipline and group; none without pages."""
    lines = []
    for row in rows_with(summary, "pages"):
        for position, own in enumerate(row["pages"]):
            times = (time_text(own["mean_s"]), time_text(own["p50_s"]), time_text(own["p95_s"]))
            cells = (count_text(own["pages"]), count_text(own["unfinished"]), *times)
            lines.append((row["label"] if position == 0 else "", own["group"] or MISSING, *cells))
    if not lines:
        return ()
    note = "From the start of the first flow of a page to the end of its last."
    return (Table("Page load time", ("discipline", "group", *HEADS), tuple(lines), names=2, notes=(note,)),)


SECTION = Section(measure, tables)
