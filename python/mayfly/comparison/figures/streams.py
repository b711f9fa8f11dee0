"""Plots of traced flows: playout buffer and departures of a stream, a long transfer over time."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.metrics.delivery import per_interval
from mayfly.metrics.departures import inter_departure_cdf
from mayfly.metrics.playout import deadline_misses
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, points_each, shown, values_of

_PLAYOUT_POINTS = 60
_CURVE_POINTS = 200
_INTERVALS = 100
_LEAST_GAP_S = 1e-6
"""Where gaps of next to nothing are drawn on the logarithmic axis."""


def playout_figure(packets: pl.DataFrame | None, records: pl.DataFrame, styles: dict[str, Style]) -> Figure | None:
    """Blocks of 20 packets that come whole in time, against the playout buffer (Rai 2003, Fig. 15b)."""
    streams = _first_flow(packets, records, "udp")
    if not streams:
        return None
    longest = max(float(np.nanmax(_over_mean(part))) for part in streams.values())
    buffers = np.linspace(0.0, max(longest, 1e-3) * 1.02, points_each(_PLAYOUT_POINTS, len(styles)))
    data = []
    for label, style in styles.items():
        if label not in streams:
            continue
        in_time = [float(np.mean(deadline_misses(streams[label], float(b))["missed"].to_numpy() == 0)) for b in buffers]
        data.append(
            curve(label, style, figures_of(buffers), figures_of(in_time), "%{y:.2%} of the blocks with %{x:.3~g} s")
        )
    layout = {
        "xaxis": axis("playout buffer (s)"),
        "yaxis": axis("blocks of 20 packets in time", range=[0, 1.02], tickformat=".0%"),
    }
    caption = (
        "For the first traced UDP flow of the first replication: share of the blocks of 20 packets none of which comes "
        "later than its mean delay plus the playout buffer; lost packets do not count as late. As Rai 2003, Fig. 15b."
    )
    return Figure("playout", "Playout buffer", caption, data, layout) if data else None


def departures_figure(packets: pl.DataFrame | None, records: pl.DataFrame, styles: dict[str, Style]) -> Figure | None:
    """Distribution of the times between departures of a stream (Chen 2012, Fig. 4.13)."""
    data = []
    points = points_each(_CURVE_POINTS, len(styles))
    for label, part in _first_flow(packets, records, "udp").items():
        if label not in styles:
            continue
        cdf = inter_departure_cdf(part, points)
        gaps = figures_of(np.maximum(cdf["gap_s"].to_numpy(), _LEAST_GAP_S))
        style = styles[label]
        line = {"color": style.colour, "dash": style.dash, "width": style.width, "shape": "hv"}
        data.append(curve(label, style, gaps, figures_of(cdf["share"]), "%{y:.2%} within %{x:.3~g} s", line=line))
    layout = {
        "xaxis": axis("time between departures (s)", True, values_of(data, "x")),
        "yaxis": axis("share of departures", range=[0, 1.02], tickformat=".0%"),
    }
    caption = (
        "For the first traced UDP flow of the first replication: times between departures of its packets from the "
        "bottleneck. A discipline that keeps the pace of the sender rises at one time; one that serves in batches has "
        "many short gaps and a few long ones. As Chen 2012, Fig. 4.13."
    )
    return Figure("departures", "Pace of a stream", caption, data, layout) if data else None


def delivery_figure(
    packets: pl.DataFrame | None,
    timeouts: pl.DataFrame | None,
    records: pl.DataFrame,
    styles: dict[str, Style],
    end_s: float | None,
) -> Figure | None:
    """Packets of a long transfer that arrive, over time (Rai 2003, Fig. 11 to 14)."""
    flows = _first_flow(packets, records, "tcp")
    if not flows or timeouts is None or not end_s:
        return None
    intervals = points_each(_INTERVALS, len(styles))
    data: list[dict[str, Any]] = []
    for label, part in flows.items():
        if label not in styles:
            continue
        table = per_interval(part, timeouts, end_s, end_s / intervals)
        style = styles[label]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": shown(label),
                "meta": label,
                "legendgroup": label,
                "x": figures_of(table["time_s"] + end_s / intervals / 2),
                "y": table["received"].to_list(),
                "customdata": table["timeouts"].to_list(),
                "line": {"color": style.colour, "dash": style.dash, "width": style.width - 0.5},
                "hovertemplate": "%{y} packets, %{customdata} timeouts around %{x:.5~g} s",
            }
        )
    layout = {"xaxis": axis("time (s)"), "yaxis": axis(f"packets received in {end_s / intervals:.3g} s")}
    caption = (
        f"For the first traced TCP flow of the first replication: packets that arrive in each of {intervals} equal "
        "parts of the run; a point tells how often the retransmission timer expired. At zero the flow stands still. "
        "As Rai 2003, Fig. 11 to 14."
    )
    return Figure("delivery", "A traced transfer over time", caption, data, layout) if data else None


def _first_flow(packets: pl.DataFrame | None, records: pl.DataFrame, protocol: str) -> dict[str, pl.DataFrame]:
    """Packets of the first traced flow of a protocol by discipline, where a block or more of them arrived."""
    if packets is None or packets.height == 0:
        return {}
    first = packets.filter(pl.col("replication") == pl.col("replication").min())
    able = records.filter(pl.col("protocol") == protocol)["flow_id"].unique()
    streams = first.filter(pl.col("flow_id").is_in(able.to_list()))["flow_id"]
    if streams.is_empty():
        return {}
    flow = streams[0]
    parts = first.filter(pl.col("flow_id") == flow).partition_by("discipline", as_dict=True, maintain_order=True)
    return {label: part for (label,), part in parts.items() if part.height >= 20 and part["received_s"].count()}


def _over_mean(packets: pl.DataFrame) -> Floats:
    delay = (packets["received_s"] - packets["sent_s"]).drop_nulls().to_numpy()
    result: Floats = delay - delay.mean()
    return result
