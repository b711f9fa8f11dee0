"""Totals of the runs of a discipline, and its row of ``summary.json`` once its flows are measured.

Nothing here loads a library: runs of plain transfers have their rows from here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mayfly.summary_types import BufferUnit, Direction, DisciplineRowPart, LinkDirection, Links, LinksUse, LinkUse

COUNTERS = (
    "drops",
    "utilisation",
    "queue_mean_packets",
    "flow_table_mean",
    "flow_table_max",
    "flow_table_bytes",
    "cpu_s",
    "packet_hops",
    "throughput_down_mbps",
    "throughput_up_mbps",
    "udp_packets",
    "udp_lost",
    "marks",
)


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

WAYS: tuple[Direction, Direction] = ("down", "up")
"""Directions of a link."""

_TOTALS = ("drops", "marks")


def derived(counters: Mapping[str, Any], rate_bps: float, reverse_rate_bps: float | None) -> dict[str, float]:
    """Rates that follow from the totals of a run.

    Parameters
    ----------
    counters : mapping
        Native table ``counters``.
    rate_bps, reverse_rate_bps : float
        Speeds of both directions, bit/s; the reverse one as the other when None.

    Returns
    -------
    dict
        ``utilisation``, ``throughput_down_mbps``, ``throughput_up_mbps``, ``reverse_utilisation``.
    """
    seconds = max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9
    down_bps, up_bps = (counters[name] * 8 / seconds for name in ("sent_bytes", "reverse_sent_bytes"))
    return {
        "utilisation": down_bps / rate_bps,
        "throughput_down_mbps": down_bps / 1e6,
        "throughput_up_mbps": up_bps / 1e6,
        "reverse_utilisation": up_bps / (reverse_rate_bps or rate_bps),
    }


def derived_of_cell(cell: Mapping[str, Any]) -> dict[str, float]:
    """Use and throughput of a cell, in place of those of a link.

    Parameters
    ----------
    cell : mapping
        Totals of the cell (:func:`mayfly.simulate.network.cell.totals`).

    Returns
    -------
    dict
        ``utilisation``, the share of time for which the medium was taken; ``throughput_down_mbps`` and
        ``throughput_up_mbps``, IP packets acknowledged on the air: data, retransmissions and acknowledgements.
    """
    access_point, *stations = cell["nodes"]["acked_bytes"]
    return {
        "utilisation": cell["busy_s"] / cell["seconds"],
        "throughput_down_mbps": access_point * 8 / cell["seconds"] / 1e6,
        "throughput_up_mbps": sum(stations) * 8 / cell["seconds"] / 1e6,
    }


def row_of(label: str, flows: Mapping[str, Any], counters: Sequence[Mapping[str, Any]]) -> DisciplineRowPart:
    """Row of ``disciplines`` in ``summary.json``.

    Parameters
    ----------
    label : str
        Of the discipline.
    flows : mapping
        What was measured of its flows: ``short``, ``long``, ``flows_completed``, ``flows_unfinished``,
        ``flows_endless``, ``unfinished_bytes`` and ``unfinished_delivered_bytes``.
    counters : sequence of mapping, shape ``(n_replications,)``
        Each with the keys of `COUNTERS`; a value the run cannot give is None.

    Returns
    -------
    dict
        As :func:`mayfly.metrics.summary.summarise` says.
    """
    packets, lost = _total(counters, "udp_packets"), _total(counters, "udp_lost")
    identity, options = split_label(label)
    return {
        "id": identity,
        "label": label,
        "options": cast("dict[str, str]", options),
        "short": flows["short"],
        "long": flows["long"],
        "flows_completed": flows["flows_completed"],
        "flows_unfinished": flows["flows_unfinished"],
        "flows_endless": flows["flows_endless"],
        "unfinished_bytes": flows["unfinished_bytes"],
        "unfinished_delivered_bytes": flows["unfinished_delivered_bytes"],
        "utilisation": _mean(counters, "utilisation"),
        "drops": _total(counters, "drops"),
        "marks": _total(counters, "marks"),
        "queue_mean_packets": _mean(counters, "queue_mean_packets"),
        "flow_table": {
            "mean": _mean(counters, "flow_table_mean"),
            "max": max(_known(counters, "flow_table_max"), default=None),
            "bytes": max(_known(counters, "flow_table_bytes"), default=None),
        },
        "throughput_mbps": {
            "down": _mean(counters, "throughput_down_mbps"),
            "up": _mean(counters, "throughput_up_mbps"),
        },
        "udp": {"packets": packets, "lost": lost, "loss": lost / packets if packets and lost is not None else None},
        "cpu_s": _total(counters, "cpu_s"),
        "packet_hops": _total(counters, "packet_hops"),
    }


def ways_of(counters: Sequence[Mapping[str, Any]]) -> LinksUse:
    """What each of the two queues did in runs with these totals."""
    down, up = ({name: _over(name, key, counters) for name, key in names.items()} for names in (_DOWN, _UP))
    down["queue_delay_mean_s"] = means([run["queueing_delay"]["mean_s"] for run in counters])
    return {"down": cast("LinkUse", down), "up": cast("LinkUse", up)}


def directions(
    rates: Mapping[str, float],
    buffers: Mapping[str, Sequence[Any]],
    offered_mbps: Mapping[str, float | None],
    used: LinksUse | None,
) -> Links:
    """The key ``links`` of the summary, of a link without a trace.

    Parameters
    ----------
    rates : mapping
        Speed of each direction, ``down`` and ``up``, bit/s.
    buffers : mapping
        Limit and unit.
    offered_mbps : mapping
        Offered load, Mbit/s; None where it is unknown.
    used : mapping or None
        What a run did to both queues (:func:`ways_of`).

    Returns
    -------
    dict
        ``busier``, the direction that is offered the larger share of its rate, of equal shares the one that used more;
        for ``down`` and ``up`` their ``rate_bps``, ``buffer``, ``offered_mbps`` and ``load``, its share of the rate.
    """
    down, up = (_direction(rates[way], buffers[way], offered_mbps[way]) for way in ("down", "up"))
    sent = {way: 0.0 if used is None else used[way]["utilisation"] or 0.0 for way in WAYS}
    loads: Mapping[Direction, float] = {"down": down["load"] or 0.0, "up": up["load"] or 0.0}
    busier = max(WAYS, key=lambda way: (loads[way], sent[way], way == "down"))
    return {"busier": busier, "down": down, "up": up}


def _direction(rate_bps: float, buffer: Sequence[Any], mbps: float | None) -> LinkDirection:
    load = None if mbps is None else mbps * 1e6 / rate_bps
    limit, unit = buffer
    # A list, as in JSON, which the type calls a pair.
    pair = cast("tuple[int, BufferUnit]", [limit, unit])
    return {"rate_bps": rate_bps, "buffer": pair, "offered_mbps": mbps, "load": load}


def split_label(label: str) -> tuple[str, dict[str, int | float | str]]:
    """Id and options of a label.

    Parameters
    ----------
    label : str
        As in ``efd(threshold=40, high=las)``.

    Returns
    -------
    id : str
    options : dict
        Values that read as numbers are numbers.

    Examples
    --------
    >>> split_label("efd(threshold=40, high=las)")
    ('efd', {'threshold': 40, 'high': 'las'})
    """
    identity, _, inside = label.partition("(")
    pairs = (pair.partition("=") for pair in inside.removesuffix(")").split(",") if "=" in pair)
    return identity, {name.strip(): _number_or_word(value.strip()) for name, _, value in pairs}


def _number_or_word(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _known(counters: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [run[name] for run in counters if run[name] is not None]


def _mean(counters: Sequence[Mapping[str, Any]], name: str) -> Any:
    return means([run[name] for run in counters])


def _total(counters: Sequence[Mapping[str, Any]], name: str) -> Any:
    values = _known(counters, name)
    return sum(values) if values else None


def means(rows: Sequence[float | None]) -> float | None:
    """Mean of what is known; None when nothing is."""
    known = [value for value in rows if value is not None]
    return sum(known) / len(known) if known else None


def _over(name: str, key: str, counters: Sequence[Mapping[str, Any]]) -> float | None:
    """Total of counts, mean of the rest over the replications, largest peak; None for what a run does not tell."""
    known = [run[key] for run in counters if run.get(key) is not None]
    combine: Callable[[list[Any]], float | None] = means
    if name in _TOTALS:
        combine = sum
    elif name == "peak_utilisation":
        combine = max
    return combine(known) if known else None
