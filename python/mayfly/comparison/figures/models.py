"""Plots of what queueing models expect of each discipline: curves beside the simulated means, and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mayfly.comparison.figures.response import SIZE
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, shown, values_of
from mayfly.text.readable import bytes_text

if TYPE_CHECKING:
    from mayfly.summary_types import Model, ModelSizes, Summary

FEWEST = 10
"""Flows a class of size has at least to be in the plot of errors: fewer say more of chance than of the model."""


def with_curves(figure: Figure | None, summary: Summary, styles: Mapping[str, Style], mss: int) -> Figure | None:
    """Draw the curves of the models into the plot of means by size, dashed.

    Parameters
    ----------
    figure : Figure or None
        Mean response time by flow size.
    summary : mapping
        As ``summary.json``.
    styles : mapping of Style
        By label.
    mss : int
        Payload of a full packet, in bytes.

    Returns
    -------
    Figure or None
        As it was where there are no models.
    """
    models = summary.get("models")
    if figure is None or not models:
        return figure
    data: list[dict[str, Any]] = []
    for trace in figure.data:
        data.append(trace)
        if trace["meta"] in models:
            data += _curve(trace["meta"], models[trace["meta"]], styles[trace["meta"]], mss)
    path = " and the path" if summary["model_queue"]["with_path"] else ""
    caption = (
        f"{figure.caption} Dashed: the M/G/1 model{path}, which is given the sizes and the load of these flows; "
        "where it has no end, flows starve in it."
    )
    y = [value for value in values_of(data, "y") if value is not None]
    layout = figure.layout | {"yaxis": axis(figure.layout["yaxis"]["title"]["text"], True, y)}
    return replace(figure, data=data, layout=layout, caption=caption)


def _curve(label: str, model: Model, style: Style, mss: int) -> list[dict[str, Any]]:
    points = model["curve"]
    if not points["size_packets"]:
        return []
    about = (
        f"<b>{shown(label)}: {shown(model['policy'])} model</b><br>{shown(model['title'])}<br>{shown(model['source'])}"
    )
    trace = curve(
        label,
        style,
        figures_of([size * mss / 1000 for size in points["size_packets"]]),
        figures_of(points["mean_s"]),
        f"%{{x:.4~g}} kB: %{{y:.3~g}} s<extra>{about}</extra>",
        name=f"{shown(label)}: {shown(model['policy'])} model",
        line={"color": style.colour, "dash": "dash" if style.dash != "dash" else "dot", "width": 1.5},
    )
    return [trace]


def error_figure(summary: Summary, styles: Mapping[str, Style], mss: int) -> Figure | None:
    """Model over simulation by flow size.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.
    styles : mapping of Style
        By label.
    mss : int
        Payload of a full packet, in bytes.

    Returns
    -------
    Figure or None
        None without models.
    """
    data = []
    for label, model in summary.get("models", {}).items():
        rows = [row for row in model["by_size"] if row["flows"] >= FEWEST and row["model_mean_s"] is not None]
        if not rows or label not in styles:
            continue
        style = styles[label]
        trace = curve(
            label,
            style,
            figures_of([(row["size_packets_low"] * row["size_packets_high"]) ** 0.5 * mss / 1000 for row in rows]),
            figures_of([row["error"] for row in rows]),
            "%{customdata}: %{y:+.1%}",
            customdata=[_class(row, mss) for row in rows],
            mode="lines+markers",
            marker={"symbol": style.symbol, "size": 6, "color": style.colour},
            # Half the interval of the simulated mean moves the error by so much.
            error_y=_bars(rows, style),
        )
        data.append(trace)
    if not data:
        return None
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis("model over simulation, less 1", tickformat="+.0%"),
        "showlegend": True,
    }
    caption = (
        f"How far the mean of the model is off that of the simulation, in classes of size with {FEWEST} flows or more: "
        "above 0 the model is too slow. Bars: the 95 % interval of the simulated mean, blocks of the run taken for "
        "independent. A model without round trips is too fast for small flows by what they take alone."
    )
    return Figure("model-errors", "Error of the models by flow size", caption, data, layout)


def _class(row: ModelSizes, mss: int) -> str:
    low, high = (bytes_text(size * mss) for size in (row["size_packets_low"], row["size_packets_high"]))
    return f"{low} to {high}, {row['flows']:,} flows"


def _bars(rows: Sequence[ModelSizes], style: Style) -> dict[str, Any]:
    spans = [_span(row["error"], row["ci95_s"], row["simulated_mean_s"]) for row in rows]
    return {"type": "data", "array": figures_of(spans), "color": style.faint(0.35), "thickness": 1, "width": 3}


def _span(error: float | None, ci95_s: float | None, mean_s: float | None) -> float:
    """Half the interval of an error, that of the simulated mean."""
    return 0.0 if error is None or ci95_s is None or mean_s is None else (1 + error) * ci95_s / mean_s
