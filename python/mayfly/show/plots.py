"""Plots as plain Plotly dictionaries: axes, curves, figures."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.show.palette import Style

MANY = 6
"""Up to here the curves of a plot are all drawn at first; of more, a few lead."""


@dataclass(frozen=True)
class Figure:
    """One plot of the page: its place, its sentence, its traces and layout.

    A trace names its discipline in `meta`; one without belongs to all of them. `panels` are the disciplines that have a
    panel of their own, from the top, when that is how the figure is laid out. `grid` are the titles of panels that
    stand side by side where there is room, each with axes of its own: `xaxis`, `yaxis`, then `xaxis2`, `yaxis2`, ...
    """

    key: str
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    panels: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bar:
    """A value of one discipline in a panel of :func:`bar_panels`.

    Parameters
    ----------
    value : float or None
        Its length; none is drawn without.
    text : str
        Stands at its end, and where it would be.
    ci95 : sequence of float or None
        Low and high end of its interval.
    """

    value: float | None
    text: str
    ci95: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """A panel of :func:`bar_panels`.

    Parameters
    ----------
    title : str
        What is measured and its unit: ``ping p95 (ms)``.
    bars : dict of Bar
        By label of the discipline, in its unit.
    mark : float, optional
        Where a dotted line stands across the bars.
    """

    title: str
    bars: dict[str, Bar]
    mark: float | None = None


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
    settings["title"]["font"] = {"size": 13}
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


def bar_panels(key: str, title: str, caption: str, panels: Sequence[Panel], styles: Mapping[str, Style]) -> Figure:
    """Make panels of bars side by side, a bar per discipline: each measure in its own unit, on an axis from 0.

    Parameters
    ----------
    key, title, caption : str
        Of the figure.
    panels : sequence of Panel
        From the left.
    styles : mapping of Style
        By label, in the order of the bars from the top.

    Returns
    -------
    Figure
        The page places the panels under each other where the window is narrow.
    """
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "barmode": "overlay",
        "bargap": 0.28,
        "showlegend": False,
        "annotations": [],
        "shapes": [],
    }
    layout["margin"] = {"l": 8, "r": 8, "t": 2, "b": 2}
    for place, panel in enumerate(panels):
        tail = "" if place == 0 else str(place + 1)
        longest = max((max(_ends(bar)) for bar in panel.bars.values()), default=0.0)
        longest = max(longest, panel.mark or 0.0)
        # Room for the text at the end of the longest bar.
        layout[f"xaxis{tail}"] = {
            "range": [0, 1.42 * longest or 1.0],
            "nticks": 4,
            "tickformat": "~r",
            "anchor": f"y{tail}",
        }
        layout[f"yaxis{tail}"] = {"autorange": "reversed", "type": "category", "anchor": f"x{tail}"}
        layout[f"yaxis{tail}"] |= {"automargin": True, "showgrid": False}
        layout["annotations"].append(
            {"text": f"<b>{shown(panel.title)}</b>", "xref": "paper", "yref": "paper", "xanchor": "left"}
            | {"yanchor": "bottom", "showarrow": False}
        )
        if panel.mark is not None:
            layout["shapes"].append(
                {"type": "line", "x0": panel.mark, "x1": panel.mark, "y0": 0, "y1": 1, "xref": f"x{tail}"}
                | {"yref": f"y{tail} domain", "line": {"dash": "dot", "width": 1, "color": "#868b95"}}
            )
        for label, style in styles.items():
            if label in panel.bars:
                data += _bar(label, style, panel.title, panel.bars[label], tail)
    return Figure(key, title, caption, data, layout, grid=tuple(panel.title for panel in panels))


def _ends(bar: Bar) -> tuple[float, float]:
    value = bar.value or 0.0
    low, high = bar.ci95 or (value, value)
    return min(value, low), max(value, high)


def _bar(label: str, style: Style, title: str, bar: Bar, tail: str) -> list[dict[str, Any]]:
    name, value = shown(label), bar.value or 0.0
    low, high = _ends(bar)
    common = {"meta": label, "name": name, "y": [name], "xaxis": f"x{tail}", "yaxis": f"y{tail}", "showlegend": False}
    told = "" if bar.ci95 is None else f" [{bar.ci95[0]:.4g}, {bar.ci95[1]:.4g}]"
    drawn: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": figures_of([value]),
        "marker": {"color": style.colour},
        "hovertemplate": f"{name}: {shown(bar.text)}{told}<extra>{shown(title)}</extra>",
    }
    if bar.ci95 is not None:
        ends: dict[str, Any] = {
            "array": figures_of([high - value]),
            "arrayminus": figures_of([value - low]),
            "symmetric": False,
        }
        drawn["error_x"] = {"type": "data", "thickness": 1.4, "width": 4, "color": "#6b737c"} | ends
    text: dict[str, Any] = {"type": "scatter", "mode": "text", "x": figures_of([high]), "text": [f" {shown(bar.text)}"]}
    text |= {"textposition": "middle right", "hoverinfo": "skip", "cliponaxis": False}
    return [common | drawn, common | text]
