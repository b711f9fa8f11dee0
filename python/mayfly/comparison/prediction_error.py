"""How far a what-if may be off: what real programs had beside what was predicted of them (docs/verification.md)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from mayfly.text.readable import share_text

if TYPE_CHECKING:
    from mayfly.summary_types import ErrorShares

FILE = "prediction_error.toml"
"""Made by `mayfly verify --learn`: of each kind of figure the median error and that which nine of ten stay below."""

TOLD = (("p50", "medians"), ("p95", "95th percentiles"), ("felt", "ping and jitter"))
"""Kinds of figures that a sentence names."""


@cache
def expected_errors() -> dict[str, ErrorShares]:
    """Errors by kind of figure, as shares of what was.

    Returns
    -------
    dict of dict of float
        ``median`` and ``p90``, by ``p50``, ``p95``, ``felt`` and the like.
    """
    import tomllib
    from importlib.resources import files

    text = files("mayfly.comparison").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, ErrorShares] = tomllib.loads(text)
    return found


def expected_sentence(errors: Mapping[str, ErrorShares] | None) -> list[str]:
    """What to expect of a prediction, as a sentence.

    Parameters
    ----------
    errors : mapping or None
        As :func:`expected_errors` returns them; None where nothing was learned of such a replay.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    if not errors:
        return []
    parts = [
        f"{name} by {share_text(errors[kind]['median'])} (nine of ten by less than {share_text(errors[kind]['p90'])})"
        for kind, name in TOLD
        if kind in errors
    ]
    return [f"Held to real programs such predictions were off: {', '.join(parts)}: docs/verification.md."]
