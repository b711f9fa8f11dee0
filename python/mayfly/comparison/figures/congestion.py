"""Plots of what congestion does: loss by flow size, active flows over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.comparison.figures.response import BINS_PER_DECADE, SIZE, kilobytes
from mayfly.comparison.figures.runs import Runs, labels_of, parts_of
from mayfly.metrics import curves
from mayfly.metrics.curves import ENDLESS_BYTES, Columns
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, points_each, shown, values_of

if TYPE_CHECKING:
    import polars as pl

    Records = pl.DataFrame | Runs

_INTERVALS = 100
_LEAST_DRAWN = 1e-5
"""Where a bin without loss is drawn on the logarithmic axis."""


def loss_figure(records: "Records", styles: dict[str, Style], mss: int) -> Figure | None:
    """Share of the packets of flows of a size that were dropped (Rai 2003, Fig. 10)."""
    # A flow without end has no size to be drawn at.
    names = ("tcp", "size_packets", "drops", "packets_sent")
    ordered = {label: styles[label] for label in labels_of(records) if label in styles}
    parts = parts_of(records, ordered, names)
    if not any("drops" in flows and np.nansum(flows["drops"]) for _, _, flows in parts):
        return None
    data = []
    for label, style, flows in parts:
        sized = flows["size_packets"] < ENDLESS_BYTES / 65_535
        part = curves.loss_by_size({name: values[sized] for name, values in flows.items()}, BINS_PER_DECADE)
        if not len(part["flows"]):
            continue
        sent = part["packets_sent"] > 0
        part = {name: values[sent] for name, values in part.items()}
        loss = part["loss"]
        data.append(
            curve(
                label,
                style,
                kilobytes(part["size_packets"], mss),
                figures_of(np.maximum(loss, _LEAST_DRAWN)),
                "%{x:.4~g} kB: %{customdata[0]:.3~%} lost, by %{customdata[1]:.3~%} of %{customdata[2]} flows",
                customdata=[
                    list(row)
                    for row in zip(
                        figures_of(loss), figures_of(part["lossy_share"]), part["flows"].tolist(), strict=True
                    )
                ],
                mode="lines+markers",
                marker={"symbol": style.symbol, "size": 5, "color": style.colour},
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


def active_figure(records: "Records", styles: dict[str, Style], end_s: float | None) -> Figure | None:
    """Number of flows in the network over time (Rai 2003, Fig. 8)."""
    ends = parts_of(records, styles, ("finish_s",))
    if not end_s or all(np.isnan(flows["finish_s"]).all() for _, _, flows in ends):
        return None
    parts = parts_of(records, styles, ("start_s", "finish_s"), first=True)
    intervals = points_each(_INTERVALS, len(styles))
    end_s = min(end_s, max(_last_s(flows) for _, _, flows in parts))
    edges = curves.intervals_of(end_s, end_s / intervals)
    data: list[dict[str, Any]] = []
    for label, style, flows in parts:
        part = curves.active_flows(flows["start_s"], flows["finish_s"], edges)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": shown(label),
                "meta": label,
                "legendgroup": label,
                "x": figures_of(part["time_s"] + end_s / intervals / 2),
                "y": figures_of(part["mean"]),
                "customdata": part["max"].tolist(),
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


def _last_s(flows: Columns) -> float:
    """When the last flow began or ended: the run goes on after that, to see whether the others end."""
    ends = np.concatenate([flows["start_s"], flows["finish_s"]])
    return float(np.nanmax(ends))
