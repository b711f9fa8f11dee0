"""Plots over time from the samples of the first replication: queue, flow table, progress of the largest transfers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.comparison.figures.runs import ArrayRuns, FrameRuns, Runs, labels_of, parts_of
from mayfly.metrics.curves import PROGRESS_COLUMNS, Columns, thinned
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, figures_of, points_each, shown

if TYPE_CHECKING:
    import polars as pl

    Samples = pl.DataFrame | Runs

SERIES_POINTS = 1000
TABLE_POINTS = 250
PANEL_PX, GAP_PX, AROUND_PX = 130, 34, 130
"""Height of a panel, between two panels, and of all that is above and below them."""

_NEUTRAL = Style("#868b95", "solid", "circle")
_TABLE_FLOOR = 0.1
_RANKS = ("solid", "dash", "dot")


def _runs(
    samples: "Samples", styles: dict[str, Style], needed: str, *more: str
) -> list[tuple[str, Style, dict[str, Any]]]:
    """Columns in the order of time of the first replication, of those that have any value of ``needed``."""
    found = []
    for label, style, part in parts_of(samples, styles, ("time_s", needed, *more), first=True):
        if needed in part and not np.isnan(part[needed]).all():
            order = np.argsort(part["time_s"], kind="stable")
            found.append((label, style, {name: values[order] for name, values in part.items()}))
    return found


def _thinned(part: Columns, names: list[str], points: int = SERIES_POINTS) -> dict[str, Any]:
    """Average ``time_s`` and columns over equal counts of samples when there are more than ``points``."""
    return thinned({name: part[name] for name in ("time_s", *names)}, points)


def _highest(runs: list[tuple[str, Style, dict[str, Any]]], column: str) -> float:
    """The largest value of any run, by which panels have the same scale."""
    return max((float(np.nanmax(part[column])) for _, _, part in runs), default=0.0)


def _panels(labels: list[str], styles: dict[str, Style], x_title: str, y_title: str, highest: float) -> dict[str, Any]:
    """One panel per label with one time axis and one scale; the page places those that are shown under each other."""
    layout: dict[str, Any] = {"xaxis": axis(x_title), "annotations": []}
    for place, label in enumerate(labels):
        layout["yaxis" if place == 0 else f"yaxis{place + 1}"] = axis(
            y_title, nticks=5, range=[0, 1.04 * highest or 1.0]
        )
        layout["annotations"].append(
            {
                "text": f"<b>{shown(label)}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"color": styles[label].colour},
            }
        )
    return layout


def _key(name: str, **more: Any) -> dict[str, Any]:
    """Entry of the legend for all panels: a trace without points."""
    trace = {"type": "scatter", "mode": "lines", "name": name, "legendgroup": name, "x": [None], "y": [None]}
    return trace | {"hoverinfo": "skip"} | more


def _area(name: str, y_axis: str, part: Columns, column: str, label: str, style: Style, alpha: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": label,
        "legendgroup": name,
        "showlegend": False,
        "yaxis": y_axis,
        "stackgroup": y_axis,
        "x": figures_of(part["time_s"]),
        "y": figures_of(part[column]),
        "line": {"width": 0.8, "color": style.colour},
        "fillcolor": style.faint(alpha),
        "hovertemplate": f"{name}: %{{y:.4~g}} packets at %{{x:.5~g}} s<extra></extra>",
    }


def queue_evolution(samples: "Samples", styles: dict[str, Style]) -> Figure | None:
    """Backlog of the bottleneck over time, by class where there are classes (Chen 2012, Fig. 4.3)."""
    runs = _runs(samples, styles, "backlog_packets", "high_backlog_packets")
    points = points_each(SERIES_POINTS, len(styles))
    data: list[dict[str, Any]] = []
    keys: dict[str, dict[str, Any]] = {}
    for place, (label, style, part) in enumerate(runs):
        y_axis = "y" if place == 0 else f"y{place + 1}"
        high = part.get("high_backlog_packets")
        if high is not None and not np.isnan(high).all():
            part["low_backlog_packets"] = part["backlog_packets"] - high
            thin = _thinned(part, ["high_backlog_packets", "low_backlog_packets"], points)
            layers = [("high priority", "high_backlog_packets", 0.85), ("low priority", "low_backlog_packets", 0.25)]
        else:
            thin, layers = _thinned(part, ["backlog_packets"], points), [("one queue", "backlog_packets", 0.45)]
        for name, column, alpha in layers:
            data.append(_area(name, y_axis, thin, column, label, style, alpha))
            fill = {"fill": "tozeroy", "fillcolor": _NEUTRAL.faint(alpha)}
            keys[name] = _key(name, line={"width": 0.8, "color": _NEUTRAL.colour}, **fill)
    caption = (
        "Packets waiting at the bottleneck; the upper edge is the whole queue, which fills up to the buffer limit. All "
        "panels have the same scale. Where a discipline has two classes, the denser part has high priority. Long runs "
        f"are drawn as means of short intervals, at most {points} of them. As Chen 2012, Fig. 4.3."
    )
    panels = tuple(label for label, _, _ in runs)
    layout = _panels(list(panels), styles, "time (s)", "packets", _highest(runs, "backlog_packets"))
    return Figure("queue", "Queue", caption, [*keys.values(), *data], layout, panels) if data else None


def link_rates(samples: "Samples", styles: dict[str, Style]) -> Figure | None:
    """Rate of a link that varies over time, and of the shapers before it."""
    data: list[dict[str, Any]] = []
    points = points_each(SERIES_POINTS, len(styles))

    def curve_of(part: Columns, column: str, name: str, style: Style, **more: Any) -> dict[str, Any]:
        thin = _thinned(part, [column], points)
        line = {"color": style.colour, "dash": style.dash, "width": 1.2}
        curve = {"type": "scatter", "mode": "lines", "name": name, "x": figures_of(thin["time_s"]), "line": line}
        rates = figures_of(thin[column].astype(float) / 1e6)
        return curve | {"y": rates, "hovertemplate": "%{y:.4~g} Mbit/s at %{x:.5~g} s"} | more

    for _, _, part in _runs(samples, styles, "link_rate_bps")[:1]:
        data.append(curve_of(part, "link_rate_bps", "the link", _NEUTRAL))
    for label, style, part in _runs(samples, styles, "shaper_rate_bps"):
        data.append(curve_of(part, "shaper_rate_bps", shown(label), style, meta=label, legendgroup=label))
    caption = (
        "What the link could send, the same under every discipline, and at which rate the shaper before it let packets "
        f"pass. Each point is the mean of a short interval (at most {points} points)."
    )
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("Mbit/s", rangemode="tozero")}
    return Figure("link-rate", "Rate of the link", caption, data, layout) if data else None


def flow_table_evolution(samples: "Samples", styles: dict[str, Style]) -> Figure | None:
    """Entries of the flow table over time (Chen 2012, Fig. 4.6)."""
    data = []
    points = points_each(TABLE_POINTS, len(styles))
    for label, style, part in _runs(samples, styles, "flow_table"):
        thin = _thinned(part, ["flow_table"], points)
        entries = np.asarray(thin["flow_table"], dtype=float)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": shown(label),
                "meta": label,
                "legendgroup": label,
                "x": figures_of(thin["time_s"]),
                "y": figures_of(np.maximum(entries, _TABLE_FLOOR)),
                "customdata": figures_of(entries),
                "line": {"color": style.colour, "dash": style.dash, "width": style.width - 0.5},
                "hovertemplate": "%{customdata:.4~g} entries at %{x:.5~g} s",
            }
        )
    ticks = [_TABLE_FLOOR, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
    layout = {
        "xaxis": axis("time (s)"),
        "yaxis": axis(
            "entries",
            type="log",
            tickmode="array",
            tickvals=ticks,
            ticktext=["0", "1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"],
        ),
    }
    caption = (
        "Flows a discipline keeps state for, on a logarithmic scale: lower costs less memory. "
        "Each point is the mean of a "
        f"short interval (at most {points} points); an empty table is drawn at the line "
        f"0. As Chen 2012, Fig. 4.6."
    )
    return Figure("flow-table", "Flow table", caption, data, layout) if data else None


def largest_progress(
    samples: "Samples", records: "Samples", styles: dict[str, Style], largest: list[int] | None
) -> Figure | None:
    """Delivered bytes of the three largest transfers since the start of each (Chen 2012, Fig. 4.11)."""
    ids = largest or _largest(records)
    starts: dict[int, float] = {}
    finishes: dict[tuple[str, int], float] = {}
    ordered = {label: styles[label] for label in labels_of(records) if label in styles}
    for _, _, flows in parts_of(records, ordered, ("flow_id", "start_s")):
        for row in np.flatnonzero(np.isin(flows["flow_id"], ids)):
            starts[int(flows["flow_id"][row])] = float(flows["start_s"][row])
    for label, _, flows in parts_of(records, ordered, ("flow_id", "finish_s"), first=True):
        for row in np.flatnonzero(np.isin(flows["flow_id"], ids)):
            finishes[label, int(flows["flow_id"][row])] = float(flows["finish_s"][row])
    runs = _runs(samples, styles, *PROGRESS_COLUMNS)
    points = points_each(SERIES_POINTS, len(styles))
    data: list[dict[str, Any]] = []
    keys: dict[str, dict[str, Any]] = {}
    for place, (label, style, part) in enumerate(runs):
        for rank, (flow_id, column) in enumerate(zip(ids, PROGRESS_COLUMNS, strict=False)):
            if flow_id not in starts or column not in part:
                continue
            kept = ~np.isnan(part[column]) & (part["time_s"] >= starts[flow_id])
            alive = {name: part[name][kept] for name in ("time_s", column)}
            finish_s = finishes.get((label, flow_id), np.nan)
            if not np.isnan(finish_s):
                before = np.concatenate([[-1.0], alive["time_s"][:-1]])[: len(alive["time_s"])]
                alive = {name: values[before <= finish_s] for name, values in alive.items()}
            if len(alive["time_s"]):
                name = ("largest", "second", "third")[rank] + f" (flow {flow_id})"
                thin = _thinned(alive, [column], points)
                data.append(_progress(name, place, rank, thin, column, starts[flow_id], style) | {"meta": label})
                keys[name] = _key(name, line={"color": _NEUTRAL.colour, "dash": _RANKS[rank], "width": 2})
    caption = (
        "Data delivered by the three largest transfers, each from its own start: a flat "
        "stretch is a lock-out, a transfer "
        f"that stands still behind others. At most {points} points each. As Chen 2012, Fig. 4.11."
    )
    panels = tuple(label for label, _, _ in runs)
    most = max((max(value for value in trace["y"] if value is not None) for trace in data), default=0.0)
    layout = _panels(list(panels), styles, "time since the start of the transfer (s)", "MB", most)
    title = "Progress of the largest transfers"
    return Figure("progress", title, caption, [*keys.values(), *data], layout, panels) if data else None


def _largest(records: "Samples") -> list[int]:
    """Of a table of the library for tables, where the summary does not name them."""
    if isinstance(records, ArrayRuns):
        return []
    from mayfly.metrics.progress import largest_flows

    return largest_flows(records.table if isinstance(records, FrameRuns) else records)


def _progress(
    name: str, place: int, rank: int, part: Columns, column: str, start_s: float, style: Style
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "yaxis": "y" if place == 0 else f"y{place + 1}",
        "x": [0.0, *figures_of(part["time_s"] - start_s)],
        "y": [0.0, *figures_of(part[column] / 1e6)],
        "line": {"color": style.colour, "dash": _RANKS[rank], "width": 2},
        "hovertemplate": f"{name}: %{{y:.4~g}} MB after %{{x:.4~g}} s<extra></extra>",
    }
