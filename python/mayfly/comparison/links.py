"""Both queues of a link in the summary: which direction is the busier, and what each discipline did to either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mayfly.show.table import Table
from mayfly.text.readable import MISSING, bytes_text, count_text, digits, rate_text, share_text, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import Direction, LinkDirection, LinkUse, Summary

WAYS: Mapping[Direction, str] = {"down": "down, to the inside", "up": "up, from the inside"}
"""Directions of a link."""

_HEADS = ("link use", "busiest\nsecond", "drops", "marks", "mean queue\npackets", "queueing delay\nmean")


def ways(summary: Summary) -> list[Direction]:
    """Directions of the link, the busier first; none where the summary tells of no two.

    Examples
    --------
    >>> ways({"links": {"busier": "up", "down": {}, "up": {}}}), ways({})
    (['up', 'down'], [])
    """
    links = summary.get("links")
    return [] if not links else sorted(WAYS, key=lambda way: way != links["busier"])


def link_facts(summary: Summary) -> dict[str, str]:
    """Rate, buffer and offered load of each direction, the busier first.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    dict of str
        By direction.
    """
    facts = dict[str, str]()
    links = summary.get("links")
    if not links:
        return facts
    for way in ways(summary):
        own = links[way]
        rate = rate_text(own["rate_bps"])
        if trace := own.get("trace"):
            rate = f"varies as {trace['file']}, mean {rate}"
        parts = [rate, f"buffer {buffer_text(own['buffer'])}"]
        if (mbps := own.get("offered_mbps")) is not None:
            load = "" if (share := own.get("load")) is None else f" (load {digits(share)})"
            parts.append(f"{digits(mbps)} Mbit/s offered{load}")
        facts[f"{way}, the busier" if way == links["busier"] else way] = ", ".join(parts)
    return facts


def buffer_text(value: Any) -> Any:
    """``[300, "packets"]`` or ``[450000, "bytes"]`` as a scenario writes it; anything else as it is."""
    match value:
        case [int(size), "packets"]:
            return f"{size:,} packets"
        case [int(size), "bytes"]:
            return bytes_text(size)
    return value


def links_table(summary: Summary) -> Table | None:
    """Both queues under each discipline, the busier first.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    Table or None
        None where the summary tells of no two directions.
    """
    order = ways(summary)
    rows = [(row["label"], links) for row in summary["disciplines"] if (links := row.get("links"))]
    if not order or not rows:
        return None
    lines: list[str | tuple[str, ...]] = []
    for way in order:
        lines.append(WAYS[way] + (": the busier" if way == order[0] else ""))
        lines += [(label, *_cells(links[way])) for label, links in rows]
    note = (
        "Each direction has a queue of its own. Busiest second: the largest share of the rate that was sent in any "
        "second of the run; below 100 % the link was never full."
    )
    return Table("The link, both directions", ("discipline", *_HEADS), tuple(lines), notes=(note,))


def _cells(own: LinkUse) -> tuple[str, ...]:
    queue, delay = own.get("queue_mean_packets"), own.get("queue_delay_mean_s")
    return (
        share_text(own.get("utilisation")),
        share_text(own.get("peak_utilisation")),
        count_text(own.get("drops")),
        count_text(own.get("marks")),
        MISSING if queue is None else count_text(queue),
        time_text(delay),
    )


def links_sentence(summary: Summary) -> str | None:
    """Both directions of the link with their rates, loads and buffers, the busier one first; None where it has none."""
    if not (links := summary.get("links")):
        return None
    first, last = ways(summary)
    return f"The busier direction is {first}: {_link_text(links[first])}; {last}: {_link_text(links[last])}."


def _link_text(link: LinkDirection) -> str:
    load = "nothing offered"
    if link["load"] is not None:
        often = f"{link['load']:.1f} times as much" if link["load"] > 1 else f"{use_text(link['load'])} of it"
        load = f"offered {often}"
    return f"{rate_text(link['rate_bps'])}, {load}, buffer {buffer_text(link['buffer'])}"


def use_text(share: float | None) -> str:
    """Share of a link that is used, in per cent of two digits."""
    if share is None:
        return share_text(share)
    if 0 < share < 0.0001:
        return "<0.01 %"
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"
