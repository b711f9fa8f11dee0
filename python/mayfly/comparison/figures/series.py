"""Plots over time from the samples of the first replication: queue, flow table, progress of the largest transfers."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.metrics.progress import PROGRESS_COLUMNS, largest_flows
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, figures_of, points_each, shown

SERIES_POINTS = 1000
TABLE_POINTS = 250
PANEL_PX, GAP_PX, AROUND_PX = 130, 34, 130
"""Height of a panel, between two panels, and of all that is above and below them."""

_NEUTRAL = Style("#868b95", "solid", "circle")
_TABLE_FLOOR = 0.1
_RANKS = ("solid", "dash", "dot")


def _runs(samples: pl.DataFrame, styles: dict[str, Style], needed: str) -> list[tuple[str, Style, pl.DataFrame]]:
    if needed not in samples.columns:
        return []
    if "replication" in samples.columns and samples.height:
        samples = samples.filter(pl.col("replication") == pl.col("replication").min())
    parts = ((label, style, samples.filter(pl.col("discipline") == label)) for label, style in styles.items())
    return [(label, style, part.sort("time_s")) for label, style, part in parts if part[needed].count()]


def _thinned(part: pl.DataFrame, names: list[str], points: int = SERIES_POINTS) -> pl.DataFrame:
    """Average ``time_s`` and columns over equal counts of samples when there are more than ``points``."""
    chosen = part.select("time_s", *names)
    if chosen.height <= points:
        return chosen
    each = -(-chosen.height // points)
    bucket = (pl.int_range(pl.len()) // each).alias("bucket")
    return chosen.group_by(bucket, maintain_order=True).agg(pl.all().mean()).drop("bucket")


def _highest(runs: list[tuple[str, Style, pl.DataFrame]], column: str) -> float:
    """The largest value of any run, by which panels have the same scale."""
    ends = (part[column].max() for _, _, part in runs)
    return max((float(end) for end in ends if isinstance(end, int | float)), default=0.0)


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


def _area(
    name: str, y_axis: str, part: pl.DataFrame, column: str, label: str, style: Style, alpha: float
) -> dict[str, Any]:
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


def queue_evolution(samples: pl.DataFrame, styles: dict[str, Style]) -> Figure | None:
    """Backlog of the bottleneck over time, by class where there are classes (Chen 2012, Fig. 4.3)."""
    runs = _runs(samples, styles, "backlog_packets")
    points = points_each(SERIES_POINTS, len(styles))
    data: list[dict[str, Any]] = []
    keys: dict[str, dict[str, Any]] = {}
    for place, (label, style, part) in enumerate(runs):
        y_axis = "y" if place == 0 else f"y{place + 1}"
        if "high_backlog_packets" in part.columns and part["high_backlog_packets"].count():
            low = (pl.col("backlog_packets") - pl.col("high_backlog_packets")).alias("low_backlog_packets")
            thin = _thinned(part.with_columns(low), ["high_backlog_packets", "low_backlog_packets"], points)
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


def link_rates(samples: pl.DataFrame, styles: dict[str, Style]) -> Figure | None:
    """Rate of a link that varies over time, and of the shapers before it."""
    data: list[dict[str, Any]] = []
    points = points_each(SERIES_POINTS, len(styles))

    def curve_of(part: pl.DataFrame, column: str, name: str, style: Style, **more: Any) -> dict[str, Any]:
        thin = _thinned(part, [column], points)
        line = {"color": style.colour, "dash": style.dash, "width": 1.2}
        curve = {"type": "scatter", "mode": "lines", "name": name, "x": figures_of(thin["time_s"]), "line": line}
        rates = figures_of(thin[column].cast(pl.Float64) / 1e6)
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


def flow_table_evolution(samples: pl.DataFrame, styles: dict[str, Style]) -> Figure | None:
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
    samples: pl.DataFrame, records: pl.DataFrame, styles: dict[str, Style], largest: list[int] | None
) -> Figure | None:
    """Delivered bytes of the three largest transfers since the start of each (Chen 2012, Fig. 4.11)."""
    ids = largest or largest_flows(records)
    starts = dict(records.filter(pl.col("flow_id").is_in(ids)).select("flow_id", "start_s").iter_rows())
    finishes = {
        (row[0], row[1]): row[2]
        for row in records.filter(pl.col("flow_id").is_in(ids), pl.col("replication") == records["replication"].min())
        .select("discipline", "flow_id", "finish_s")
        .iter_rows()
    }
    runs = _runs(samples, styles, PROGRESS_COLUMNS[0])
    points = points_each(SERIES_POINTS, len(styles))
    data: list[dict[str, Any]] = []
    keys: dict[str, dict[str, Any]] = {}
    for place, (label, style, part) in enumerate(runs):
        for rank, (flow_id, column) in enumerate(zip(ids, PROGRESS_COLUMNS, strict=False)):
            if flow_id not in starts or column not in part.columns:
                continue
            finish_s = finishes.get((label, flow_id))
            alive = part.filter(pl.col(column).is_not_null(), pl.col("time_s") >= starts[flow_id])
            if finish_s is not None:
                alive = alive.filter(pl.col("time_s").shift(1, fill_value=-1.0) <= finish_s)
            if alive.height:
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


def _progress(
    name: str, place: int, rank: int, part: pl.DataFrame, column: str, start_s: float, style: Style
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "yaxis": "y" if place == 0 else f"y{place + 1}",
        "x": [0.0, *figures_of(part["time_s"].to_numpy() - start_s)],
        "y": [0.0, *figures_of(part[column].to_numpy() / 1e6)],
        "line": {"color": style.colour, "dash": _RANKS[rank], "width": 2},
        "hovertemplate": f"{name}: %{{y:.4~g}} MB after %{{x:.4~g}} s<extra></extra>",
    }
