"""The page of a sweep: figures against each field, maps over two of them, and every mean in a table."""

import math
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from mayfly.show import page
from mayfly.show.palette import Style, styles
from mayfly.show.plots import Figure, axis, curve, figures_of, shown
from mayfly.show.table import Table, html
from mayfly.sweep.answer import SHOWN, Found
from mayfly.text.readable import MISSING, digits, time_text

MOST_LINES = 2000
"""Rows of the table: beyond, `mayfly sweep query` has them."""

_NUMBER = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%]*)\s*\Z")


def sweep_page(found: Found, title: str) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : Found
    title : str
        Plain text.

    Returns
    -------
    str
        HTML.
    """
    rows, plan = found.figures(), found.swept.plan
    looks = styles(list(plan.disciplines))
    scales = {name: _numbers([row["fields"].get(name) for row in rows]) for name in plan.names}
    plots = [
        plot
        for metric in found.metrics
        for plot in (*_against(rows, metric, scales, looks), *_maps(rows, metric, scales, plan.disciplines))
    ]
    leads, others = [page.leading(plot) for plot in plots[:1]], plots[1:]
    about = f"{len(plan.points):,} points, {len(plan.disciplines)} disciplines; design: {plan.sweep.design}."
    body = [
        f"<h1>{escape(title)}</h1>",
        page.answer([*_leads(rows, found), *found.sentences()]),
        *(page.place_of(plot, leads=True) for plot in leads),
        f'<p class="soft">{escape(about)} The same seeds everywhere: disciplines meet the same workloads.</p>',
        *map(page.place_of, others),
        _table(rows, found),
        _failures(found),
        '<footer class="soft">Made by Mayfly. Click a name in a legend to hide or show it.</footer>',
    ]
    return page.document(title, body, [page.for_script(plot) for plot in (*leads, *others)])


WORDS = {
    "short.mean_s": "mean response time of short flows (s)",
    "long.mean_s": "mean response time of long flows (s)",
    "utilisation": "link use (share of the rate)",
    "drops": "packets dropped",
}
"""Figures in words, with their units."""

_UNITS = {"_s": "s", "_ms": "ms", "_mbps": "Mbit/s", "_bps": "bit/s", "_bytes": "bytes", "_packets": "packets"}
_WRITTEN = {"kbit": "kbit/s", "mbit": "Mbit/s", "gbit": "Gbit/s", "bit": "bit/s"}
"""How a unit of a scenario is written for a reader."""
_FIELD_UNITS = {"buffer": "packets", "rate": "bit/s", "load": "bit/s", "delay": "s", "duration": "s"}


def titled(metric: str) -> str:
    """A figure of the results in words, with its unit.

    Examples
    --------
    >>> titled("short.mean_s"), titled("queueing_delay.max_s"), titled("jain")
    ('mean response time of short flows (s)', 'queueing_delay.max_s (s)', 'jain')
    """
    unit = next((unit for ending, unit in _UNITS.items() if metric.endswith(ending)), "")
    return WORDS.get(metric) or (f"{metric} ({unit})" if unit else metric)


def _leads(rows: Sequence[dict[str, Any]], found: Found) -> list[str]:
    """Which discipline has the least of the first figure, and at how many points."""
    plan, metric = found.swept.plan, found.metrics[0]
    points: dict[str, dict[str, float]] = {}
    for row in rows:
        if row[metric]["mean"] is not None:
            points.setdefault(str(row["fields"]), {})[row["discipline"]] = row[metric]["mean"]
    judged = [values for values in points.values() if len(values) == len(plan.disciplines) > 1]
    if not judged:
        return []
    wins = {label: sum(min(values, key=values.__getitem__) == label for values in judged) for label in plan.disciplines}
    best = max(wins, key=wins.__getitem__)
    means = [values[best] for values in judged]
    where = "at every point" if wins[best] == len(judged) else f"at {wins[best]:,} of {len(judged):,} points"
    ends = [_valued(metric, end) for end in (min(means), max(means))]
    spread = f"from {ends[0]} to {ends[1]}" if ends[0] != ends[1] else ends[0]
    return [f"Least {titled(metric).partition(' (')[0]}: {best} {where}, {spread}"]


def _valued(metric: str, value: float) -> str:
    """A figure with its unit."""
    return time_text(value) if titled(metric).endswith("(s)") else digits(value)


Axis = tuple[str, list[float], str]
"""A field, its values, and their unit."""


def _numbers(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Values as numbers of one unit, for an axis; None where they are not, or all the same."""
    parts = [part for value in values if (part := _NUMBER.match(str(value)))]
    if not parts or len(parts) < len(values) or any(isinstance(value, bool) for value in values):
        return None
    if len({part[2] for part in parts}) > 1 or len({part[1] for part in parts}) < 2:
        return None
    return [float(part[1]) for part in parts], parts[0][2]


def _label(name: str, unit: str) -> str:
    """A field with the unit its values are written with, or that a bare number has."""
    unit = unit or _FIELD_UNITS.get(name.rpartition(".")[2], "")
    return f"{name} ({_WRITTEN.get(unit, unit)})" if unit else name


def _spread(values: Sequence[float]) -> bool:
    """Whether a logarithmic axis shows them better."""
    positive = [value for value in values if value > 0]
    return len(positive) == len(values) and max(positive, default=0.0) >= 20 * min(positive, default=1.0)


def _against(rows: list[dict[str, Any]], metric: str, scales: dict[str, Any], looks: dict[str, Style]) -> list[Figure]:
    """The figure against each field; over points that differ in other fields, its mean and where they lie."""
    plots = []
    for name, scale in scales.items():
        if scale is None:
            continue
        data, xs = [], scale[0]
        for label, style in looks.items():
            own = [(x, row[metric]) for x, row in zip(xs, rows, strict=True) if row["discipline"] == label]
            own = [(x, value) for x, value in own if value["mean"] is not None]
            if own:
                data.append(_line(label, style, own, metric))
        if not data:
            continue
        every = [y for trace in data for y in trace["y"] if y is not None]
        layout = {
            "xaxis": axis(_label(name, scale[1]), _spread(xs), xs),
            "yaxis": axis(titled(metric), _spread([y for y in every if y > 0]) and min(every) > 0, every),
            "showlegend": True,
        }
        several = any(
            len(trace["x"])
            < len({(x, id(row)) for x, row in zip(xs, rows, strict=True) if row["discipline"] == trace["meta"]})
            for trace in data
        )
        caption = "Mean over the seeds" + (
            " and over the points that differ in other fields; bars: from the least to the largest of these."
            if several
            else "; bars: 95 % interval (Student's t over the seeds)."
        )
        key = f"line-{_slug(metric)}-{_slug(name)}"
        plots.append(Figure(key, f"{_bare(titled(metric))} against {name}", caption, data, layout))
    return plots


def _line(label: str, style: Style, own: list[tuple[float, dict[str, Any]]], metric: str) -> dict[str, Any]:
    at: dict[float, list[dict[str, Any]]] = {}
    for x, value in own:
        at.setdefault(x, []).append(value)
    xs, means, up, down = sorted(at), [], [], []
    for x in xs:
        mean = float(np.mean([value["mean"] for value in at[x]]))
        if len(at[x]) > 1:
            ends = min(value["mean"] for value in at[x]), max(value["mean"] for value in at[x])
        else:
            ends = at[x][0]["ci95"] or (mean, mean)
        means.append(mean)
        up.append(ends[1] - mean)
        down.append(mean - ends[0])
    bars = {"type": "data", "symmetric": False, "array": figures_of(up), "arrayminus": figures_of(down), "thickness": 1}
    hover = f"{shown(label)}: %{{y:.4~g}} at %{{x}}<extra></extra>"
    marks = {"symbol": style.symbol, "size": 7, "color": style.colour}
    return curve(
        label, style, figures_of(xs), figures_of(means), hover, mode="lines+markers", marker=marks, error_y=bars
    )


def _maps(rows: list[dict[str, Any]], metric: str, scales: dict[str, Any], labels: Sequence[str]) -> list[Figure]:
    """Response surfaces over the first two fields with numbers, a panel for each discipline."""
    numeric = [name for name, scale in scales.items() if scale is not None]
    if len(numeric) < 2:
        return []
    first, second = numeric[:2]
    xs, ys = sorted(set(scales[first][0])), sorted(set(scales[second][0]))
    if len(xs) * len(ys) > 4 * len(rows):
        # Points drawn at random fill no grid.
        return []
    surfaces = {}
    for label in labels:
        cells: dict[tuple[float, float], list[float]] = {}
        for x, y, row in zip(scales[first][0], scales[second][0], rows, strict=True):
            if row["discipline"] == label and row[metric]["mean"] is not None:
                cells.setdefault((x, y), []).append(row[metric]["mean"])
        if cells:
            surfaces[label] = [[float(np.mean(cells[x, y])) if (x, y) in cells else None for x in xs] for y in ys]
    values = [value for surface in surfaces.values() for line in surface for value in line if value is not None]
    if not values:
        return []
    logarithmic = min(values) > 0 and max(values) / min(values) >= 20
    return [
        _panels(surfaces, (first, xs, scales[first][1]), (second, ys, scales[second][1]), metric, values, logarithmic)
    ]


def _panels(
    surfaces: dict[str, Any], across: Axis, upward: Axis, metric: str, values: list[float], logarithmic: bool
) -> Figure:
    columns = min(len(surfaces), 3)
    lines = math.ceil(len(surfaces) / columns)
    low, high = (math.log10(v) if logarithmic else v for v in (min(values), max(values)))
    ticks = np.linspace(low, high, 5)
    bar = {
        "title": {"text": titled(metric).replace(" (", "<br>("), "side": "right"},
        "tickvals": ticks.tolist(),
        "ticktext": [digits(10**t if logarithmic else t) for t in ticks],
    }
    colours = {"cmin": low, "cmax": high, "colorscale": "Viridis", "colorbar": bar}
    layout: dict[str, Any] = {"coloraxis": colours, "height": 90 + 300 * lines, "showlegend": False, "annotations": []}
    data = []
    for place, (label, surface) in enumerate(surfaces.items()):
        tail = "" if place == 0 else str(place + 1)
        column, row = place % columns, place // columns
        width, height = 1 / columns, 1 / lines
        layout[f"xaxis{tail}"] = axis(_label(across[0], across[2]), type="category", anchor=f"y{tail}") | {
            "domain": [column * width + 0.03, (column + 1) * width - 0.03]
        }
        top = 1 - row * height
        layout[f"yaxis{tail}"] = axis(
            _label(upward[0], upward[2]) if column == 0 else "", type="category", anchor=f"x{tail}"
        ) | {"domain": [top - height + (0.16 if lines > 1 else 0), top - 0.04]}
        layout["annotations"].append(
            {"text": shown(label), "x": (column + 0.5) * width, "y": top - 0.03, "xref": "paper", "yref": "paper"}
            | {"showarrow": False, "xanchor": "center", "yanchor": "bottom"}
        )
        shades = [
            [None if v is None else round(math.log10(v) if logarithmic else v, 6) for v in line] for line in surface
        ]
        data.append(
            {
                "type": "heatmap",
                "x": [f"{x:g}" for x in across[1]],
                "y": [f"{y:g}" for y in upward[1]],
                "z": shades,
                "customdata": [figures_of(line) for line in surface],
                "coloraxis": "coloraxis",
                "xaxis": f"x{tail}",
                "yaxis": f"y{tail}",
                "hovertemplate": f"{shown(label)}: %{{customdata:.4~g}} at %{{x}}, %{{y}}<extra></extra>",
            }
        )
    caption = "Means over the seeds, and over points that differ in other fields."
    caption += " Equal steps of colour are equal ratios." if logarithmic else ""
    title = f"{_bare(titled(metric))} over {across[0]} and {upward[0]}"
    return Figure(f"map-{_slug(metric)}", title, caption, data, layout)


def _bare(title: str) -> str:
    """A title without its unit, the first letter large."""
    name = title.partition(" (")[0]
    return name[:1].upper() + name[1:]


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name)


def _table(rows: list[dict[str, Any]], found: Found) -> str:
    names = found.swept.plan.names
    units = {name: scale[1] for name in names if (scale := _numbers([row["fields"].get(name) for row in rows]))}
    heads = ("discipline", *(_label(name, units.get(name, "")) for name in names), "seeds", *map(titled, found.metrics))
    lines = []
    for row in rows[:MOST_LINES]:
        cells = [str(row["fields"].get(name, "")) for name in names]
        cells.append(str(row["seeds"]) + (f" ({row['failed']} failed)" if row["failed"] else ""))
        for metric in found.metrics:
            mean, interval = row[metric]["mean"], row[metric]["ci95"]
            text = MISSING if mean is None else digits(mean)
            cells.append(text + ("" if interval is None else f" [{digits(interval[0])}, {digits(interval[1])}]"))
        lines.append((row["discipline"], *cells))
    cut = (f"The first {MOST_LINES:,} of {len(rows):,} rows.",) if len(rows) > MOST_LINES else ()
    folded = f"All {len(rows):,} rows" if len(rows) > SHOWN else ""
    heads = tuple(head.replace(" (", "\n(") for head in heads)
    return html(Table("Means over the seeds [95 % CI]", heads, tuple(lines), notes=cut, folded=folded))


def _failures(found: Found) -> str:
    failed = found.failures()
    if not failed:
        return ""
    items = []
    for row in failed[:100]:
        point = ", ".join(f"{name.removeprefix('field.')} {v}" for name, v in row.items() if name.startswith("field."))
        items.append(
            f"<li>{escape(row['discipline'])}, seed {row['seed']}, {escape(point)}: {escape(row['error'])}</li>"
        )
    more = f"<p>and {len(failed) - 100:,} more</p>" if len(failed) > 100 else ""
    return f"<h2>Runs that failed</h2><ul>{''.join(items)}</ul>{more}"
