"""Loss, queueing delay and active flows under each discipline and of each class, and the estimate in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import ClassRow, DisciplineRow, DisciplineRowPart, QueueDelay, Summary


def measure(of: Measured) -> DisciplineRowPart:
    """Loss, queueing delay, active flows and Jain's index; ``classes`` where flows have groups."""
    from mayfly.metrics import class_rows
    from mayfly.metrics.congestion import congestion_row, with_delays

    work = of.workload
    delays = [run.counters["queueing_delay"] for run in of.runs]
    found = congestion_row(of.records, delays, **work.span, propagation_rtt_s=work.propagation_rtt_s)
    if work.grouped:
        counts = [run.classes for run in of.runs]
        spans = [(run.counters["end_ns"] - run.counters["begin_ns"]) * 1e-9 for run in of.runs]
        found["classes"] = with_delays(class_rows(counts, spans, work.link["rate_bps"]), counts)
    return found


def tables(summary: Summary) -> tuple[Table, ...]:
    """Both tables, for the page; none for summaries written before there were such measures."""
    rows = summary["disciplines"]
    if not all("queueing_delay" in row for row in rows):
        return ()
    heads: tuple[str, ...] = ("discipline", "packets lost", "flows with loss", *_DELAY, "active flows\nmean / max")
    body: list[tuple[str, ...]] = [(row["label"], *_whole(row)) for row in rows]
    if any(row.get("jain") is not None for row in rows):
        heads += ("Jain index",)
        indices = (MISSING if row["jain"] is None else f"{row['jain']:.3f}" for row in rows)
        body = [(*cells, index) for cells, index in zip(body, indices, strict=True)]
    found = [Table("Loss and queueing delay", heads, tuple(body), notes=_NOTES, page_only=True)]
    classes = [(row["label"], own) for row in rows for own in row.get("classes", ())]
    if classes:
        heads = ("discipline", "class", "throughput", "of what was sent", "dropped", "marked", *_DELAY[:-1])
        body = [(label, own["group"] or MISSING, *_class(own)) for label, own in classes]
        found.append(Table("Classes of traffic", heads, tuple(body), names=2, page_only=True))
    return tuple(found)


_NOTES = (
    "Queueing delay: from arrival at the bottleneck queue to the start of transmission, over all packets that left it. "
    "Relative: its mean over the round-trip propagation delay (Zhao 2004, IV.A.3). Active flows have started and not "
    "finished (Rai 2003, 4.3).",
)
_DELAY = ("queueing delay\nmean", "deviation", "maximum", "relative")


def _whole(row: DisciplineRow) -> tuple[str, ...]:
    loss, active = row["loss"], row["active_flows"]
    relative = row["queueing_delay"].get("relative")
    return (
        share_text(loss["rate"]),
        f"{count_text(loss['flows'])} ({share_text(loss['share'])})",
        *_delay(row["queueing_delay"]),
        MISSING if relative is None else digits(relative),
        f"{count_text(active['mean'])} / {count_text(active['max'])}",
    )


def _class(own: ClassRow) -> tuple[str, ...]:
    return (
        f"{digits(own['throughput_mbps'])} Mbit/s",
        share_text(own["share"]),
        share_text(own["drop_rate"]),
        share_text(own["mark_rate"]),
        *_delay(own["queueing_delay"]),
    )


def _delay(delay: QueueDelay) -> tuple[str, ...]:
    return tuple(time_text(delay[name]) for name in ("mean_s", "deviation_s", "max_s"))


SECTION = Section(measure, tables)


def measure_estimator(of: Measured) -> DisciplineRowPart:
    """The key ``nonresponsive``, of disciplines that estimate it."""
    from mayfly.metrics.estimates import estimate_row

    found = estimate_row(of.samples, of.workload.begin_s)
    return {"nonresponsive": found} if found else {}


ESTIMATOR = Section(measure_estimator)
