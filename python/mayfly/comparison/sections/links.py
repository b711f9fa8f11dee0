"""Both directions of the bottleneck link.

``down``, toward the receivers of a scenario or the internal side of a capture, is the simulator's forward queue; ``up``
is the reverse one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mayfly.comparison.links import WAYS
from mayfly.comparison.sections.section import Section
from mayfly.link_trace.facts import trace_facts
from mayfly.metrics.totals import directions, ways_of

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.scenario.scenario import Scenario
    from mayfly.summary_types import DisciplineRowPart, Links, LinksUse, Summary


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
        tells more (:attr:`mayfly.link_trace.trace.LinkTrace.document`). None for a network that is not one link.
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
