"""What queueing models expect of each discipline beside what was simulated: table, curves, errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from rich.table import Table

from mayfly.show.lines_table import Line, lines_html, lines_table
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, shown, values_of
from mayfly.text.readable import MISSING, count_text, time_text

TITLE = "Models beside the simulation"
HEADS = (
    "short flows\nsimulated",
    "model",
    "error",
    "long flows\nsimulated",
    "model",
    "error",
    "by size\nmedian",
    "90 %",
)

FEWEST = 10
"""Flows a class of size has at least to be in the plot of errors: fewer say more of chance than of the model."""

Summary = Mapping[str, Any]


def models_table(summary: Summary) -> Table:
    """Models beside the simulation for the terminal.

    Parameters
    ----------
    summary : mapping
        With ``models`` (docs/tables.md).

    Returns
    -------
    rich.table.Table
        A line per discipline that has a model; columns without room are left out.
    """
    return lines_table(TITLE, "model", HEADS, _lines(summary))


def models_html(summary: Summary) -> str:
    """Section of the report; empty without models.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    str
        HTML.
    """
    if not summary.get("models"):
        return "".join(f'<p class="soft">{escape(note)}.</p>' for note in model_notes(summary))
    sources = {f"{model['policy']}: {model['title']}, {model['source']}" for model in summary["models"].values()}
    told = [f"Errors are model over simulation less 1. {'; '.join(sorted(sources))}", *model_notes(summary)]
    notes = "".join(f'<p class="soft">{escape(note)}.</p>' for note in told)
    return lines_html(TITLE, "model", HEADS, _lines(summary)) + notes


def model_notes(summary: Summary) -> list[str]:
    """The queue the models have, and what they do not, in words; empty without models."""
    queue = summary.get("model_queue")
    if queue is None:
        return []
    if "rho" not in queue:
        return queue["notes"]
    path = "with what each flow takes alone beyond its bytes" if queue["with_path"] else "without round trips"
    told = (
        f"M/G/1 queue of the {count_text(queue['flows'])} flows {queue['direction']}: load {queue['rho']:.4g}, "
        f"{count_text(round(queue['mean_bytes']))} bytes on the wire in the mean, CoV {queue['cov']:.3g}; {path}"
    )
    return [told, *queue["notes"]]


def _lines(summary: Summary) -> list[Line]:
    lines = []
    for label, model in summary["models"].items():
        cells = []
        for name in ("short", "long"):
            cells += [
                time_text(model[name]["simulated_s"]),
                _time(model[name]["model_s"], model[name]["flows"]),
                error_text(model[name]["error"]),
            ]
        errors = [error_text(model["error_median"]), error_text(model["error_p90"], signed=False)]
        lines.append(Line(label, model["policy"], [*cells, *errors]))
    return lines


def _time(seconds: float | None, flows: int) -> str:
    return "starves" if seconds is None and flows else time_text(seconds)


def error_text(error: float | None, signed: bool = True) -> str:
    """Write a relative error in per cent.

    Examples
    --------
    >>> error_text(-0.0312), error_text(0.25, signed=False), error_text(12.5), error_text(None)
    ('-3.1 %', '25.0 %', '+1,250 %', '–')
    """
    if error is None:
        return MISSING
    sign = ("-" if error < 0 else "+") if signed else ""
    return f"{sign}{100 * abs(error):,.{0 if abs(error) >= 1 else 1}f} %"


def with_curves(figure: Figure | None, summary: Summary, styles: Mapping[str, Style]) -> Figure | None:
    """Draw the curves of the models into the plot of means by size, dashed.

    Parameters
    ----------
    figure : Figure or None
        Mean response time by flow size.
    summary : mapping
        As ``summary.json``.
    styles : mapping of Style
        By label.

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
            data += _curve(trace["meta"], models[trace["meta"]], styles[trace["meta"]])
    path = " and the path" if summary["model_queue"]["with_path"] else ""
    caption = (
        f"{figure.caption} Dashed: the M/G/1 model{path}, which is given the sizes and the load of these flows; "
        "where it has no end, flows starve in it."
    )
    y = [value for value in values_of(data, "y") if value is not None]
    layout = figure.layout | {"yaxis": axis(figure.layout["yaxis"]["title"]["text"], True, y)}
    return replace(figure, data=data, layout=layout, caption=caption)


def _curve(label: str, model: Mapping[str, Any], style: Style) -> list[dict[str, Any]]:
    points = model["curve"]
    if not points["size_packets"]:
        return []
    about = (
        f"<b>{shown(label)}: {shown(model['policy'])} model</b><br>{shown(model['title'])}<br>{shown(model['source'])}"
    )
    trace = curve(
        label,
        style,
        points["size_packets"],
        figures_of(points["mean_s"]),
        f"%{{x:.4~g}} packets: %{{y:.3~g}} s<extra>{about}</extra>",
        name=f"{shown(label)}: {shown(model['policy'])} model",
        line={"color": style.colour, "dash": "dash" if style.dash != "dash" else "dot", "width": 1.5},
    )
    return [trace]


def error_figure(summary: Summary, styles: Mapping[str, Style]) -> Figure | None:
    """Model over simulation by flow size.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.
    styles : mapping of Style
        By label.

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
            figures_of([(row["size_packets_low"] * row["size_packets_high"]) ** 0.5 for row in rows]),
            figures_of([row["error"] for row in rows]),
            "%{customdata}: %{y:+.1%}",
            customdata=[_class(row) for row in rows],
            mode="lines+markers",
            marker={"symbol": style.symbol, "size": 6, "color": style.colour},
            # Half the interval of the simulated mean moves the error by so much.
            error_y=_bars(rows, style),
        )
        data.append(trace)
    if not data:
        return None
    layout = {
        "xaxis": axis("flow size (MSS packets)", True, values_of(data, "x")),
        "yaxis": axis("model over simulation, less 1", tickformat="+.0%"),
        "showlegend": True,
    }
    caption = (
        f"How far the mean of the model is off that of the simulation, in classes of size with {FEWEST} flows or more: "
        "above 0 the model is too slow. Bars: the 95 % interval of the simulated mean, blocks of the run taken for "
        "independent. A model without round trips is too fast for small flows by what they take alone."
    )
    return Figure("model-errors", "Error of the models by flow size", caption, data, layout)


def _class(row: Mapping[str, Any]) -> str:
    return f"{row['size_packets_low']:,} to {row['size_packets_high']:,} packets, {row['flows']:,} flows"


def _bars(rows: Sequence[Mapping[str, Any]], style: Style) -> dict[str, Any]:
    spans = [
        0.0 if row["ci95_s"] is None else (1 + row["error"]) * row["ci95_s"] / row["simulated_mean_s"] for row in rows
    ]
    return {"type": "data", "array": figures_of(spans), "color": style.faint(0.35), "thickness": 1, "width": 3}
