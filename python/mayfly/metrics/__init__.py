"""Measures over the tables of a run: response times, loss and delay by size and class, stalls, streams, the answer.

Pure functions over the frames of ``docs/tables.md``. Names load on first use, so that importing the package costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mayfly.metrics.active import active_flows
    from mayfly.metrics.cell import cell_row
    from mayfly.metrics.delivery import per_interval
    from mayfly.metrics.departures import inter_departure_cdf, inter_departures, regularity
    from mayfly.metrics.fairness import fair_service, jain_index, permanent_jain
    from mayfly.metrics.groups import batch_response, fair_groups, group_rows, slowdown_percentiles
    from mayfly.metrics.loss import loss_by_size, loss_rate, lossy_share_up_to, lossy_sizes
    from mayfly.metrics.playout import blocks_in_time, deadline_misses, jitter, one_way_delays
    from mayfly.metrics.progress import plateaus
    from mayfly.metrics.queue_delay import queueing_delay, relative_queueing_delay
    from mayfly.metrics.response import binned_ci, by_percentile, conditional_mean, incomplete, response_cdf
    from mayfly.metrics.sentences import answer
    from mayfly.metrics.shares import class_rows, normalised_throughput
    from mayfly.metrics.size_classes import classes
    from mayfly.metrics.summary import summarise
    from mayfly.metrics.transmission import mean_transmission_time, transmission_time

_HOMES = {
    "active_flows": "active",
    "answer": "sentences",
    "batch_response": "groups",
    "binned_ci": "response",
    "blocks_in_time": "playout",
    "by_percentile": "response",
    "cell_row": "cell",
    "class_rows": "shares",
    "classes": "size_classes",
    "conditional_mean": "response",
    "deadline_misses": "playout",
    "fair_groups": "groups",
    "fair_service": "fairness",
    "group_rows": "groups",
    "incomplete": "response",
    "inter_departure_cdf": "departures",
    "inter_departures": "departures",
    "jain_index": "fairness",
    "jitter": "playout",
    "loss_by_size": "loss",
    "loss_rate": "loss",
    "lossy_share_up_to": "loss",
    "lossy_sizes": "loss",
    "mean_transmission_time": "transmission",
    "normalised_throughput": "shares",
    "one_way_delays": "playout",
    "per_interval": "delivery",
    "permanent_jain": "fairness",
    "plateaus": "progress",
    "queueing_delay": "queue_delay",
    "regularity": "departures",
    "relative_queueing_delay": "queue_delay",
    "response_cdf": "response",
    "slowdown_percentiles": "groups",
    "summarise": "summary",
    "transmission_time": "transmission",
}

__all__ = [
    "active_flows",
    "answer",
    "batch_response",
    "binned_ci",
    "blocks_in_time",
    "by_percentile",
    "cell_row",
    "class_rows",
    "classes",
    "conditional_mean",
    "deadline_misses",
    "fair_groups",
    "fair_service",
    "group_rows",
    "incomplete",
    "inter_departure_cdf",
    "inter_departures",
    "jain_index",
    "jitter",
    "loss_by_size",
    "loss_rate",
    "lossy_share_up_to",
    "lossy_sizes",
    "mean_transmission_time",
    "normalised_throughput",
    "one_way_delays",
    "per_interval",
    "permanent_jain",
    "plateaus",
    "queueing_delay",
    "regularity",
    "relative_queueing_delay",
    "response_cdf",
    "slowdown_percentiles",
    "summarise",
    "transmission_time",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
