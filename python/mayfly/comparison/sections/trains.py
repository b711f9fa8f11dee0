"""How long trains, or recorded flows, take under each discipline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.table import Table
from mayfly.text.readable import count_text, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import Summary

HEADS = ("discipline", "of", "count", "not whole", "mean", "median", "95 %")
KINDS: Mapping[Literal["trains", "recorded"], tuple[str, str]] = {
    "trains": ("Time of a train", "From its first data being handed to TCP to its last byte."),
    "recorded": ("Time of a recorded flow", "From its first packet being sent to its last one; flows that lost none."),
}


def tables(summary: Summary) -> tuple[Table, ...]:
    """Times of trains or recorded flows, a row per discipline; none unless a capture was replayed so."""
    kind = next((kind for kind in KINDS if rows_with(summary, kind)), None)
    if kind is None:
        return ()
    lines = []
    for row in summary["disciplines"]:
        own = row[kind]
        times = (time_text(own["mean_s"]), time_text(own["p50_s"]), time_text(own["p95_s"]))
        lines.append((row["label"], kind, count_text(own["count"]), count_text(own["unfinished"]), *times))
    title, note = KINDS[kind]
    return (Table(title, HEADS, tuple(lines), names=2, notes=(note,)),)


SECTION = Section(tables=tables)
