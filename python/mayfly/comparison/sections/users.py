"""What users of the link feel under each discipline: their figures, pages, media, and times of trains."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mayfly import _native
from mayfly.comparison.sections.section import Section, rows_with
from mayfly.metrics.deadlines import FRAME_DEADLINE_S
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart, Media, Summary


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``users``: transfers by size, ping, call, pages, video, downloads, streams."""
    from mayfly.metrics.users import Rule

    rule = of.workload.rule or Rule()
    observed = [run.observed for run in of.runs if run.observed is not None]
    span_s = (of.workload.begin_s, of.end_s)
    decided = (rule.above, rule.least_bytes, rule.while_busy)
    return {"users": json.loads(_native.users_of_runs(observed, of.runs[0].idle_rtt_s, span_s, *decided))}


SECTION = Section(measure)


TRAIN_HEADS = ("discipline", "of", "count", "not whole", "mean", "median", "95 %")
KINDS: Mapping[Literal["trains", "recorded"], tuple[str, str]] = {
    "trains": ("Time of a train", "From its first data being handed to TCP to its last byte."),
    "recorded": ("Time of a recorded flow", "From its first packet being sent to its last one; flows that lost none."),
}


def train_tables(summary: Summary) -> tuple[Table, ...]:
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
    # Half of the trains are requests: users feel exchanges, which the first table has.
    return (Table(title, TRAIN_HEADS, tuple(lines), names=2, notes=(note,), page_only=kind == "trains"),)


TRAINS = Section(tables=train_tables)


PAGE_HEADS = ("pages", "not\nloaded", "mean", "median", "95 %")


def measure_pages(of: Measured) -> DisciplineRowPart:
    """The key ``pages``, of workloads that have some."""
    import polars as pl

    from mayfly.metrics.trains import page_rows

    # Of a capture stages are users who wait (`mayfly.workload.replayed`), not pages.
    if "connection_id" in of.records.columns:
        return {}
    found = page_rows(of.records, pl.concat([run.trains for run in of.runs]))
    return {"pages": found} if found else {}


def page_tables(summary: Summary) -> tuple[Table, ...]:
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
    return (Table("Page load time", ("discipline", "group", *PAGE_HEADS), tuple(lines), names=2, notes=(note,)),)


PAGES = Section(measure_pages, page_tables)


def measure_media(of: Measured) -> DisciplineRowPart:
    """The key ``media``, of workloads that have calls, films or games."""
    from mayfly.metrics.media import call_rows, film_rows, gaming_rows

    frames, segments = of.frames, of.segments
    end_s = of.end_s
    found: Media = {
        "calls": call_rows(of.records, frames, end_s),
        "films": film_rows(of.records, segments, end_s),
        "games": gaming_rows(of.records, frames, end_s),
    }
    return {"media": found} if any(found.values()) else {}


def _number(value: float | None) -> str:
    return MISSING if value is None else digits(value)


def _ms(value: float | None) -> str:
    return MISSING if value is None else time_text(value / 1e3)


def _share(value: float | None) -> str:
    return MISSING if value is None else share_text(value)


Kind = Literal["calls", "films", "games"]
Column = tuple[str, Callable[[Mapping[str, Any]], str]]

_DELAYS: tuple[Column, ...] = (
    ("delay\nmedian", lambda row: _ms(row["delay_p50_ms"])),
    ("delay\n95 %", lambda row: _ms(row["delay_p95_ms"])),
)

MEDIA_KINDS: dict[Kind, tuple[str, str, tuple[Column, ...]]] = {
    "calls": (
        "Calls",
        "Rate of what came whole; delay from the making of a unit to its last packet; MOS of speech by the E-model. "
        "The video stands still where the next whole frame is more than 150 ms and two frames late.",
        (
            ("way", lambda row: row["direction"]),
            ("calls", lambda row: count_text(row["calls"])),
            ("Mbit/s", lambda row: _number(row["rate_mbps"])),
            ("MOS", lambda row: MISSING if row["mos"] is None else f"{row['mos']:.1f}"),
            ("packets\nlost", lambda row: _share(row["loss"])),
            *_DELAYS,
            ("jitter", lambda row: _ms(row["jitter_ms"])),
            ("stands\nstill", lambda row: _share(row["frozen"])),
        ),
    ),
    "films": (
        "Films",
        "Means over the films; they stand still for a share of the time from their beginning on.",
        (
            ("films", lambda row: count_text(row["films"])),
            ("Mbit/s", lambda row: _number(row["rate_mbps"])),
            ("switches", lambda row: _number(row["switches"])),
            ("begins\nafter", lambda row: time_text(row["startup_s"])),
            ("stalls", lambda row: _number(row["stalls"])),
            ("stands\nstill", lambda row: _share(row["stalled_share"])),
        ),
    ),
    "games": (
        "Games",
        f"A frame is late when its last packet comes more than {time_text(FRAME_DEADLINE_S)} after it was made, lost "
        "when a packet of it never comes.",
        (
            ("streams", lambda row: count_text(row["streams"])),
            ("frames\nlate", lambda row: _share(row["late"])),
            ("frames\nlost", lambda row: _share(row["lost"])),
            *_DELAYS,
            ("delay\n99 %", lambda row: _ms(row["delay_p99_ms"])),
        ),
    ),
}


def media_tables(summary: Summary) -> tuple[Table, ...]:
    """A table each of calls, films and games, where there are some: a row per discipline and group."""
    found = []
    for kind, (title, note, columns) in MEDIA_KINDS.items():
        lines = []
        for row in rows_with(summary, "media"):
            groups: Sequence[Mapping[str, Any]] = row["media"][kind]
            for position, own in enumerate(groups):
                label = row["label"] if position == 0 else ""
                lines.append((label, own["group"] or MISSING, *(cell(own) for _, cell in columns)))
        if lines:
            heads = ("discipline", "group", *(head for head, _ in columns))
            found.append(Table(title, heads, tuple(lines), names=3 if kind == "calls" else 2, notes=(note,)))
    return tuple(found)


MEDIA = Section(measure_media, media_tables)
