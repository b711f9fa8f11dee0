"""Table of the report: loss, queueing delay and active flows under each discipline, and of each class of traffic."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mayfly.show.lines_table import html_rows
from mayfly.text.readable import MISSING, count_text, digits, share_text, time_text

Row = Mapping[str, Any]


def congestion_html(rows: Sequence[Row]) -> str:
    """Section of the report; empty for summaries written before there were such measures.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str
        HTML.
    """
    if not all("queueing_delay" in row for row in rows):
        return ""
    heads = ("discipline", "packets lost", "flows with loss", *_DELAY, "active flows<br>mean / max")
    body = [(escape(row["label"]), *_whole(row)) for row in rows]
    if any(row.get("jain") is not None for row in rows):
        heads += ("Jain index",)
        indices = (MISSING if row["jain"] is None else f"{row['jain']:.3f}" for row in rows)
        body = [(*cells, index) for cells, index in zip(body, indices, strict=True)]
    text = "<h2>Loss and queueing delay</h2>" + html_rows(heads, body)
    text += (
        '<p class="soft">Queueing delay: from arrival at the bottleneck queue to the start of transmission, over all '
        "packets that left it. Relative: its mean over the round-trip propagation delay (Zhao 2004, IV.A.3). Active "
        "flows have started and not finished (Rai 2003, 4.3).</p>"
    )
    classes = [(row["label"], own) for row in rows for own in row.get("classes", ())]
    if not classes:
        return text
    heads = ("discipline", "class", "throughput", "of what was sent", "dropped", "marked", *_DELAY[:-1])
    body = [(escape(label), escape(own["group"] or MISSING), *_class(own)) for label, own in classes]
    return text + "<h2>Classes of traffic</h2>" + html_rows(heads, body)


_DELAY = ("queueing delay<br>mean", "deviation", "maximum", "relative")


def _whole(row: Row) -> tuple[str, ...]:
    loss, active = row["loss"], row["active_flows"]
    relative = row["queueing_delay"].get("relative")
    return (
        share_text(loss["rate"]),
        f"{count_text(loss['flows'])} ({share_text(loss['share'])})",
        *_delay(row["queueing_delay"]),
        MISSING if relative is None else digits(relative),
        f"{count_text(active['mean'])} / {count_text(active['max'])}",
    )


def _class(own: Row) -> tuple[str, ...]:
    return (
        f"{digits(own['throughput_mbps'])} Mbit/s",
        share_text(own["share"]),
        share_text(own["drop_rate"]),
        share_text(own["mark_rate"]),
        *_delay(own["queueing_delay"]),
    )


def _delay(delay: Row) -> tuple[str, ...]:
    return tuple(time_text(delay[name]) for name in ("mean_s", "deviation_s", "max_s"))
