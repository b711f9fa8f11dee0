"""Both directions of the bottleneck link.

``down``, toward the receivers of a scenario or the internal side of a capture, is the simulator's forward queue; ``up``
is the reverse one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mayfly.comparison.links import WAYS
from mayfly.comparison.sections.section import Section
from mayfly.link_trace.facts import trace_facts

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.scenario.scenario import Scenario

_DOWN = {
    "utilisation": "utilisation",
    "drops": "drops",
    "marks": "marks",
    "queue_mean_packets": "queue_mean_packets",
    "throughput_mbps": "throughput_down_mbps",
    "peak_utilisation": "peak_utilisation",
}
_UP = {
    "utilisation": "reverse_utilisation",
    "drops": "reverse_drops",
    "marks": "reverse_marks",
    "queue_mean_packets": "reverse_queue_mean_packets",
    "queue_delay_mean_s": "reverse_queue_delay_mean_s",
    "throughput_mbps": "throughput_up_mbps",
    "peak_utilisation": "reverse_peak_utilisation",
}
"""Of each measure its name in the counters of a run."""

_TOTALS = ("drops", "marks")


def has_two_queues(scenario: Scenario) -> bool:
    """Whether the network is one link with a queue in each direction."""
    return scenario.network.topology == "dumbbell" and scenario.network.wlan is None


def links_of(
    scenario: Scenario, offered: Mapping[str, Any], used: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
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
    found: dict[str, Any] = {}
    for way in WAYS:
        mbps = offered[way]["mbps"]
        load = None if mbps is None else mbps * 1e6 / rates[way]
        found[way] = {"rate_bps": rates[way], "buffer": list(buffers[way]), "offered_mbps": mbps, "load": load}
        if traces[way] is not None:
            found[way]["trace"] = traces[way].document
    sent = {way: ((used or {}).get(way) or {}).get("utilisation") or 0.0 for way in WAYS}
    busier = max(WAYS, key=lambda way: (found[way]["load"] or 0.0, sent[way], way == "down"))
    return {"busier": busier, **found}


def measure(of: Measured) -> dict[str, Any]:
    """The key ``links``: what each of the two queues did; None for a network that is not one link."""
    from mayfly.metrics.users import means

    if not has_two_queues(of.workload.scenario):
        return {"links": None}
    counters = [run.counters for run in of.runs]
    ways = {way: {name: _over(name, key, counters) for name, key in names.items()} for way, names in _MEASURES}
    ways["down"]["queue_delay_mean_s"] = means([run["queueing_delay"]["mean_s"] for run in counters])
    return {"links": ways}


_MEASURES = (("down", _DOWN), ("up", _UP))


def _over(name: str, key: str, counters: list[dict[str, Any]]) -> float | None:
    """Total of counts, mean of the rest over the replications, largest peak; None for what a run does not tell."""
    from mayfly.metrics.users import means

    known = [run[key] for run in counters if run.get(key) is not None]
    combine: Callable[[list[Any]], float | None] = means
    if name in _TOTALS:
        combine = sum
    elif name == "peak_utilisation":
        combine = max
    return combine(known) if known else None


def notes(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """What each trace is, where the link varies."""
    links = summary.get("links") or {}
    told = [
        f"{way}: the link varies: {trace_facts(links[way]['trace'])}"
        for way in WAYS
        if (links.get(way) or {}).get("trace")
    ]
    return (*told, "loads and uses of a link that varies are shares of its mean rate") if told else ()


SECTION = Section(measure, notes=notes)
