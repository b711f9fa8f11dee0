"""Measures over the tables of a run: response times by size, short and long classes, stalls, and the answer in words.

Pure functions over the frames of ``docs/tables.md``. Names load on first use, so that importing the package costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fairness import fair_service
    from .groups import batch_response, fair_groups, group_rows, slowdown_percentiles
    from .progress import plateaus
    from .response import binned_ci, by_percentile, conditional_mean, incomplete, response_cdf
    from .shares import class_rows
    from .size_classes import classes
    from .summary import summarise
    from .words import answer

_HOMES = {
    "answer": "words",
    "batch_response": "groups",
    "binned_ci": "response",
    "by_percentile": "response",
    "class_rows": "shares",
    "classes": "size_classes",
    "conditional_mean": "response",
    "fair_groups": "groups",
    "fair_service": "fairness",
    "group_rows": "groups",
    "incomplete": "response",
    "plateaus": "progress",
    "response_cdf": "response",
    "slowdown_percentiles": "groups",
    "summarise": "summary",
}

__all__ = [
    "answer",
    "batch_response",
    "binned_ci",
    "by_percentile",
    "class_rows",
    "classes",
    "conditional_mean",
    "fair_groups",
    "fair_service",
    "group_rows",
    "incomplete",
    "plateaus",
    "response_cdf",
    "slowdown_percentiles",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
