"""Plots of what congestion does: loss by flow size, active flows over time."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.comparison.figures.response import BINS_PER_DECADE, SIZE, kilobytes
from mayfly.metrics.active import active_flows
from mayfly.metrics.fairness import ENDLESS_BYTES
from mayfly.metrics.loss import loss_by_size
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, points_each, shown, values_of

_INTERVALS = 100
_LEAST_DRAWN = 1e-5
"""Where a bin without loss is drawn on the logarithmic axis."""


def loss_figure(records: pl.DataFrame, styles: dict[str, Style], mss: int) -> Figure | None:
    """Share of the packets of flows of a size that were dropped (Rai 2003, Fig. 10)."""
    if "drops" not in records.columns or not records["drops"].sum():
        return None
    # A flow without end has no size to be drawn at.
    names = [
        name for name in ("discipline", "protocol", "size_packets", "drops", "packets_sent") if name in records.columns
    ]
    sized = records.select(names).filter(pl.col("size_packets") < ENDLESS_BYTES / 65_535)
    data = []
    for (label,), part in loss_by_size(sized, BINS_PER_DECADE).partition_by("discipline", as_dict=True).items():
        if label not in styles:
            continue
        part = part.filter(pl.col("packets_sent") > 0)
        loss = part["loss"].to_numpy()
        data.append(
            curve(
                label,
                styles[label],
                kilobytes(part["size_packets"], mss),
                figures_of(np.maximum(loss, _LEAST_DRAWN)),
                "%{x:.4~g} kB: %{customdata[0]:.3~%} lost, by %{customdata[1]:.3~%} of %{customdata[2]} flows",
                customdata=[
                    list(row)
                    for row in zip(figures_of(loss), figures_of(part["lossy_share"]), part["flows"], strict=True)
                ],
                mode="lines+markers",
                marker={"symbol": styles[label].symbol, "size": 5, "color": styles[label].colour},
            )
        )
    if not data:
        return None
    ticks = [_LEAST_DRAWN, 1e-4, 1e-3, 1e-2, 0.1, 1]
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis(
            "packets dropped",
            type="log",
            tickmode="array",
            tickvals=ticks,
            ticktext=["0", "0.01 %", "0.1 %", "1 %", "10 %", "100 %"],
        ),
    }
    caption = (
        "Share of the packets of TCP transfers of a given size that were dropped: lower is better, and a curve that "
        "rises to the right spares the short ones. "
        f"{BINS_PER_DECADE} size bins per factor of ten; a bin without drops is drawn at the line 0. A point tells how "
        "many of the transfers lost a packet or more. As Rai 2003, Fig. 9b and 10."
    )
    return Figure("loss", "Loss by flow size", caption, data, layout)


def active_figure(records: pl.DataFrame, styles: dict[str, Style], end_s: float | None) -> Figure | None:
    """Number of flows in the network over time (Rai 2003, Fig. 8)."""
    if not end_s or records.height == 0 or not records["finish_s"].count():
        return None
    if "replication" in records.columns:
        records = records.filter(pl.col("replication") == pl.col("replication").min())
    intervals = points_each(_INTERVALS, len(styles))
    end_s = min(end_s, _last_s(records))
    counted = active_flows(records, end_s, end_s / intervals)
    data: list[dict[str, Any]] = []
    for label, style in styles.items():
        part = counted.filter(pl.col("discipline") == label)
        if part.height == 0:
            continue
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": shown(label),
                "meta": label,
                "legendgroup": label,
                "x": figures_of(part["time_s"] + end_s / intervals / 2),
                "y": figures_of(part["mean"]),
                "customdata": part["max"].to_list(),
                "line": {"color": style.colour, "dash": style.dash, "width": style.width - 0.5},
                "hovertemplate": "%{y:.3~g} flows on average, %{customdata} at most, at %{x:.5~g} s",
            }
        )
    caption = (
        f"Flows that have started and not finished, averaged over {intervals} equal parts of the first replication, to "
        "the last start or end of a flow: fewer at once means that each was served sooner, and less state for a "
        "discipline to keep. As Rai 2003, Fig. 8."
    )
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("active flows")}
    return Figure("active", "Active flows", caption, data, layout) if data else None


def _last_s(records: pl.DataFrame) -> float:
    """When the last flow began or ended: the run goes on after that, to see whether the others end."""
    ends = [records[name].max() for name in ("start_s", "finish_s")]
    return max(float(end) for end in ends if isinstance(end, int | float))
