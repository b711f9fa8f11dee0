"""Both directions of the bottleneck link, and the interfaces of a network of several.

``down``, toward the receivers of a scenario or the internal side of a capture, is the simulator's forward queue; ``up``
is the reverse one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mayfly.comparison.links import WAYS
from mayfly.comparison.sections.section import Section
from mayfly.link_trace.facts import trace_facts
from mayfly.metrics.totals import directions, ways_of
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, digits, rate_text, share_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.scenario.scenario import Scenario
    from mayfly.summary_types import DisciplineRow, DisciplineRowPart, Links, LinksUse, Summary


def has_two_queues(scenario: Scenario) -> bool:
    """Whether the network is one link with a queue in each direction."""
    return scenario.network.topology == "dumbbell" and scenario.network.wlan is None


def links_of(scenario: Scenario, offered: Mapping[str, Any], used: LinksUse | None = None) -> Links | None:
    """The key ``links`` of the summary.

    Parameters
    ----------
    scenario : Scenario
        What ran.
    offered : mapping
        Of the workload (:func:`mayfly.workload.mix.offered`).
    used : mapping, optional
        What a run did to both queues, as ``links`` of a row: acknowledgements are no offered load, but they fill a
        link, and decide between directions that are offered the same.

    Returns
    -------
    dict or None
        ``busier``, the direction that is offered the larger share of its rate (then: that used more of it), and for
        ``down`` and ``up`` their ``rate_bps``, ``buffer`` (limit and unit), ``offered_mbps`` and ``load``, its share of
        the rate; None where there is no load to tell. Of a link that varies ``rate_bps`` is the mean, and ``trace``
        has more (:attr:`mayfly.link_trace.trace.LinkTrace.document`). ``shaper`` has the rate and the place of the
        scenario's, where it has one. None for a network that is not one link.
    """
    if not has_two_queues(scenario):
        return None
    network = scenario.network
    rates = {"down": network.rate, "up": network.reverse_rate or network.rate}
    buffers = {"down": network.buffer, "up": network.reverse_buffer or network.buffer}
    traces: dict[str, Any] = dict(zip(("down", "up"), network.traces, strict=True))
    found = directions(rates, buffers, {way: offered[way]["mbps"] for way in WAYS}, used)
    for way in WAYS:
        if traces[way] is not None:
            found[way]["trace"] = traces[way].document
    if (shaper := network.shaper) is not None:
        from mayfly.simulate.network.shaping import shaper_rates

        places = {"down": shaper.place, "up": shaper.reverse_place or shaper.place}
        for way, rate in zip(WAYS, shaper_rates(network), strict=True):
            if rate is not None:
                constant = rate if shaper.controller == "none" else None
                found[way]["shaper"] = {"rate_bps": constant, "behind": places[way] == "behind"}
    return found


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``links``: what each of the two queues did; None for a network that is not one link."""
    return {"links": ways_of([run.counters for run in of.runs]) if has_two_queues(of.workload.scenario) else None}


def notes(summary: Summary) -> tuple[str, ...]:
    """What each trace is, where the link varies."""
    links = summary.get("links")
    told = [
        f"{way}: the link varies: {trace_facts(trace)}"
        for way in WAYS
        if links and (own := links.get(way)) and (trace := own.get("trace"))
    ]
    return (*told, "loads and uses of a link that varies are shares of its mean rate") if told else ()


SECTION = Section(measure, notes=notes)


MOST = 12
"""Interfaces in a table; the busiest, when there are more."""

INTERFACE_HEADS = ("speed", "link use", "arrivals", "drops", "share\ndropped", "mean queue\npackets", "marks", "lost")


def busiest(rows: Sequence[DisciplineRow]) -> list[int]:
    """Positions of the interfaces to show, in order.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``interfaces``.

    Returns
    -------
    list of int
        At most `MOST`, those most used under any discipline; without such that nothing crosses.
    """
    used = [max(each["utilisation"] for each in own) for own in zip(*(row["interfaces"] for row in rows), strict=True)]
    order = sorted((at for at, use in enumerate(used) if use > 0), key=lambda at: -used[at])
    return sorted(order[:MOST])


def measure_interfaces(of: Measured) -> DisciplineRowPart:
    """The key ``interfaces``, of networks with several links."""
    from mayfly.simulate.network.protocol import over_replications

    return {"interfaces": over_replications([run.interfaces for run in of.runs])} if of.runs[0].interfaces else {}


def interface_tables(summary: Summary) -> tuple[Table, ...]:
    """A row per interface and discipline; none for a dumbbell."""
    rows = summary["disciplines"]
    if not all("interfaces" in row for row in rows):
        return ()
    few = len(busiest(rows)) < len(rows[0]["interfaces"])
    notes = (f"The busiest {len(busiest(rows))} of {len(rows[0]['interfaces'])}.",) if few else ()
    heads = ("discipline", "interface", *_interface_heads(rows))
    return (Table("Interfaces", heads, tuple(_interface_lines(rows)), names=2, notes=notes),)


def _interface_heads(rows: Sequence[DisciplineRow]) -> list[str]:
    return [head for head, shown in zip(INTERFACE_HEADS, _interface_shown(rows), strict=True) if shown]


def _interface_shown(rows: Sequence[DisciplineRow]) -> list[bool]:
    """Which columns there are: marks and losses only where there were any."""
    any_of = {key: any(own[key] for row in rows for own in row["interfaces"]) for key in ("marks", "lost")}
    return [True] * (len(INTERFACE_HEADS) - 2) + [any_of["marks"], any_of["lost"]]


def _queue_text(packets: float | None) -> str:
    """Mean queue; what is next to nothing says so."""
    if packets is None:
        return MISSING
    return "< 0.01" if 0 < packets < 0.01 else digits(packets)


def _interface_lines(rows: Sequence[DisciplineRow]) -> list[tuple[str, ...]]:
    """Label, interface and cells, all interfaces of a discipline together."""
    shown, chosen = _interface_shown(rows), busiest(rows)
    lines = []
    for row in rows:
        for position, at in enumerate(chosen):
            own = row["interfaces"][at]
            cells = (
                rate_text(own["rate_bps"]),
                share_text(own["utilisation"]),
                count_text(own["arrivals"]),
                count_text(own["drops"]),
                share_text(own["drops"] / own["arrivals"] if own["arrivals"] else 0.0),
                _queue_text(own["queue_mean_packets"]),
                count_text(own["marks"]),
                count_text(own["lost"]),
            )
            kept = [cell for cell, keep in zip(cells, shown, strict=True) if keep]
            lines.append((row["label"] if position == 0 else "", own["name"], *kept))
    return lines


INTERFACES = Section(measure_interfaces, interface_tables)
