"""Measures over the tables of a run: response times by size, short and long classes, stalls, and the answer in words.

Pure functions over the frames of ``docs/tables.md``. Names load on first use, so that importing the package costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .progress import plateaus
    from .response import binned_ci, by_percentile, conditional_mean, incomplete, response_cdf
    from .size_classes import classes
    from .summary import summarise
    from .words import answer

_HOMES = {
    "answer": "words",
    "binned_ci": "response",
    "by_percentile": "response",
    "classes": "size_classes",
    "conditional_mean": "response",
    "incomplete": "response",
    "plateaus": "progress",
    "response_cdf": "response",
    "summarise": "summary",
}

__all__ = [
    "answer",
    "binned_ci",
    "by_percentile",
    "classes",
    "conditional_mean",
    "incomplete",
    "plateaus",
    "response_cdf",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
