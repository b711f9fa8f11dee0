"""Plots as plain Plotly dictionaries: axes, curves, figures."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.show.palette import Style

MANY = 6
"""Up to here the curves of a plot are all drawn at first; of more, a few lead."""


@dataclass(frozen=True)
class Figure:
    """One plot of the page: its place, its sentence, its traces and layout.

    A trace names its discipline in `meta`; one without belongs to all of them. `panels` are the disciplines that have a
    panel of their own, from the top, when that is how the figure is laid out.
    """

    key: str
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    panels: tuple[str, ...] = ()


def points_each(points: int, disciplines: int) -> int:
    """Points of one curve: fewer when there are many disciplines, which bounds the size of the page.

    Parameters
    ----------
    points : int
        Of up to `MANY` disciplines.
    disciplines : int

    Returns
    -------
    int
        At least 60.

    Examples
    --------
    >>> points_each(1000, 6), points_each(1000, 30)
    (1000, 200)
    """
    return points if disciplines <= MANY else max(60, points * MANY // disciplines // 10 * 10)


def shown(text: str) -> str:
    """Escape a label for Plotly text, which reads tags."""
    return html.escape(text)


def figures_of(values: Iterable[float | None]) -> list[float | None]:
    """Numbers with five significant digits, as JSON takes them; None where there is none."""
    return [None if value is None or not math.isfinite(value) else float(f"{value:.5g}") for value in values]


def axis(title: str, log: bool = False, values: Sequence[float | None] = (), **more: Any) -> dict[str, Any]:
    """Describe an axis; logarithmic ones label whole decades when the positive ``values`` span two or more."""
    settings: dict[str, Any] = {"title": {"text": title, "standoff": 8}, "automargin": True}
    if log:
        positive = [value for value in values if value is not None and value > 0]
        settings |= {"type": "log", "tickformat": ",~r"}
        if positive and max(positive) / min(positive) >= 100:
            settings |= {"dtick": 1, "minor": {"dtick": "D1", "showgrid": True}}
        elif positive:
            decades = range(math.floor(math.log10(min(positive))) - 1, math.ceil(math.log10(max(positive))) + 2)
            ticks = [float(f"{step}e{decade}") for decade in decades for step in (1, 2, 5)]
            settings |= {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:,.12g}" for tick in ticks]}
    else:
        settings["rangemode"] = "tozero"
    return settings | more


def curve(label: str, style: Style, x: Sequence[Any], y: Sequence[Any], hover: str, **more: Any) -> dict[str, Any]:
    """Describe the line of one discipline."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": shown(label),
        "meta": label,
        "legendgroup": label,
        "x": x,
        "y": y,
        "line": {"color": style.colour, "dash": style.dash, "width": style.width},
        "hovertemplate": hover,
    } | more


def values_of(data: list[dict[str, Any]], name: str) -> list[float | None]:
    """All the values of one coordinate, for the ticks of its axis."""
    return [value for trace in data for value in trace[name]]
