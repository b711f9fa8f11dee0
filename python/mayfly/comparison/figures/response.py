"""Plots of response times: binned, so that their size does not grow with the flows."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Numbers, distinct
from mayfly.comparison.figures.runs import Runs, parts_of
from mayfly.metrics import curves
from mayfly.metrics.curves import TIMED
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, points_each, shown, values_of

BINS_PER_DECADE = 20
"""Bins of flow sizes per factor of ten."""

CURVE_POINTS = 400
"""Points of the curve of a distribution."""

if TYPE_CHECKING:
    import polars as pl

    Records = pl.DataFrame | Runs


SIZE = "flow size (kB)"
"""Title of the axis of sizes."""


def kilobytes(packets: "Numbers | pl.Series", mss: int) -> list[float | None]:
    """Sizes in kB of sizes in packets of ``mss`` bytes of payload."""
    return figures_of(np.asarray(packets) * (mss / 1000))


THINKING = "Of whole connections, think times of users and servers included. "
"""Before the caption of a plot of connections that were replayed as scripts."""


def mean_by_size(records: "Records", styles: dict[str, Style], mss: int, thinking: bool = False) -> Figure | None:
    """Conditional mean response time against size, both logarithmic (Chen 2012, Fig. 4.9).

    ``thinking``: of whole connections, whose times hold the think times of their users.
    """
    data = [
        curve(
            label,
            style,
            kilobytes(part["size_packets"], mss),
            figures_of(part["mean_s"]),
            "%{x:.4~g} kB: %{y:.3~g} s, %{customdata} flows",
            customdata=part["flows"].tolist(),
            mode="lines+markers",
            marker={"symbol": style.symbol, "size": 5, "color": style.colour},
        )
        for label, style, flows in parts_of(records, styles, TIMED)
        if len((part := curves.conditional_mean(flows, BINS_PER_DECADE))["flows"])
    ]
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis("mean response time (s)", True, values_of(data, "y")),
    }
    what = "connection" if thinking else "transfer"
    caption = (
        f"{THINKING if thinking else ''}How long a {what} of a given size takes on average: lower is better. Completed "
        f"TCP {what}s in {BINS_PER_DECADE} size bins per factor of ten, as Chen 2012, Fig. 4.9."
    )
    return Figure("mean-by-size", "Mean response time by flow size", caption, data, layout) if data else None


_TAIL_TICKS = {
    1.0: "0",
    0.5: "50",
    0.1: "90",
    0.01: "99",
    0.001: "99.9",
    1e-4: "99.99",
    1e-5: "99.999",
    1e-6: "99.9999",
}


def mean_by_percentile(records: "Records", styles: dict[str, Style], mss: int) -> Figure | None:
    """Conditional mean response time against size percentile, the tail stretched."""
    data = [
        curve(
            label,
            style,
            figures_of(1 - part["percentile"] / 100),
            figures_of(part["mean_s"]),
            "percentile %{customdata[0]}, %{customdata[1]:.4~g} kB: %{y:.3~g} s",
            customdata=[
                list(pair)
                for pair in zip(part["percentile"].round(4).tolist(), kilobytes(part["size_packets"], mss), strict=True)
            ],
        )
        for label, style, flows in parts_of(records, styles, TIMED)
        if len((part := curves.by_percentile(flows, BINS_PER_DECADE))["flows"])
    ]
    if not data:
        return None
    smallest = min(value for value in values_of(data, "x") if value is not None)
    ticks = {share: text for share, text in _TAIL_TICKS.items() if share >= min(smallest, 0.1)}
    layout = {
        "xaxis": axis(
            "percentile of flow size",
            autorange="reversed",
            type="log",
            tickmode="array",
            tickvals=list(ticks),
            ticktext=list(ticks.values()),
        ),
        "yaxis": axis("mean response time (s)", True, values_of(data, "y")),
    }
    caption = (
        "The same means against the share of TCP transfers that are smaller: the plot shows "
        "how many users gain and how "
        "few pay. The axis is stretched towards the largest transfers. Conditional means of Chen 2012, Fig. 4.9."
    )
    return Figure("mean-by-percentile", "Mean response time by size percentile", caption, data, layout)


def confidence_bands(records: "Records", styles: dict[str, Style], mss: int) -> Figure | None:
    """Binned 95 % intervals as bands (Chen 2012, Fig. 4.10)."""
    parts = parts_of(records, styles, TIMED)
    runs = max((len(flows["tcp"]) for _, _, flows in parts), default=0)
    samples = max(200, math.ceil(runs / points_each(CURVE_POINTS, len(styles))))
    data: list[dict[str, Any]] = []
    for label, style, flows in parts:
        part = curves.binned_ci(flows, samples)
        if not len(part["flows"]):
            continue
        x = kilobytes(part["size_packets"], mss)
        low, high = (figures_of(part[name]) for name in ("low_s", "high_s"))
        band: dict[str, Any] = {
            "type": "scatter",
            "mode": "lines",
            "x": x + x[::-1],
            "y": high + low[::-1],
            "fill": "toself",
            "fillcolor": style.faint(0.22),
            "line": {"width": 0.5, "color": style.faint(0.5)},
            "hoverinfo": "skip",
            "meta": label,
            "legendgroup": label,
            "showlegend": False,
            "name": shown(label),
        }
        hover = "%{x:.4~g} kB: %{y:.3~g} s [%{customdata[0]}, %{customdata[1]}]"
        interval = [list(pair) for pair in zip(low, high, strict=True)]
        marks = {"symbol": style.symbol, "size": 4, "color": style.colour}
        data += [
            band,
            curve(
                label,
                style,
                x,
                figures_of(part["mean_s"]),
                hover,
                customdata=interval,
                mode="lines+markers",
                marker=marks,
            ),
        ]
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis("response time (s)"),
    }
    caption = (
        f"Mean and 95 % confidence interval over bins of adjacent sizes with at least {samples} transfers each: where "
        "bands do not overlap, chance hardly explains the difference. The largest sizes, too "
        "few for a bin, are left out; as Chen "
        "2012, Fig. 4.10 and section 4.6.2, with intervals on a logarithmic scale, as no time is below 0."
    )
    return Figure("confidence", "Response time with 95 % confidence", caption, data, layout) if data else None


def response_distribution(records: "Records", styles: dict[str, Style]) -> Figure | None:
    """Distribution of response times."""
    points = points_each(CURVE_POINTS, len(styles))
    data = [
        curve(
            label,
            style,
            figures_of(part["response_time_s"]),
            figures_of(part["share"]),
            "%{y:.2%} within %{x:.3~g} s",
            line={"color": style.colour, "dash": style.dash, "width": style.width, "shape": "hv"},
        )
        for label, style, flows in parts_of(records, styles, ("tcp", "finish_s", "response_time_s"))
        if len((part := curves.response_cdf(flows, points))["share"])
    ]
    layout = {
        "xaxis": axis("response time (s)", True, values_of(data, "x")),
        "yaxis": axis("share of transfers", range=[0, 1.01], tickformat=".0%"),
    }
    caption = (
        "Share of the completed TCP transfers that finish within a time, all sizes together: further left is faster. "
        f"At most {points} points each, half of them among the slowest. Response time as Chen 2012, section 4.6.2."
    )
    return Figure("cdf", "Distribution of response times", caption, data, layout) if data else None


def unfinished_sizes(records: "Records", styles: dict[str, Style], mss: int) -> Figure | None:
    """Distribution of what unfinished transfers got through (Chen 2012, Fig. 4.8)."""
    data = []
    points = points_each(CURVE_POINTS, len(styles))
    names = ("tcp", "finish_s", "delivered_bytes", "size_bytes", "size_packets")
    parts = parts_of(records, styles, names)
    least = max((curves.least_mss(flows) for _, _, flows in parts), default=1)
    for label, style, flows in parts:
        part = curves.incomplete(flows, least)
        rows = len(part["flows"])
        if not rows:
            continue
        picked = distinct(np.linspace(0, rows - 1, min(rows, points)).round().astype(int))
        # A transfer that delivered nothing has no place on a logarithmic axis: it is drawn at half a packet.
        x = kilobytes(part["delivered_packets"].astype(float).clip(0.5)[picked], mss)
        y = figures_of(part["share"][picked])
        name = f"{label} ({part['flows'].sum():,})"
        data.append(
            curve(
                label,
                style,
                x[:1] + x,
                [0.0, *y],
                "%{y:.1%} delivered %{x:.4~g} kB or less",
                name=shown(name),
                mode="lines+markers",
                line={"color": style.colour, "dash": style.dash, "width": style.width, "shape": "hv"},
                marker={"symbol": style.symbol, "size": 5, "color": style.colour},
            )
        )
    if not data:
        return None
    nothing: dict[str, Any] = {
        "tickmode": "array",
        "tickvals": [0.5 * mss / 1000, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7],
        "ticktext": ["0", "10", "100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000"],
    }
    layout = {
        "xaxis": axis("delivered when the run ended (kB)", type="log", **nothing),
        "yaxis": axis("share of unfinished transfers", range=[0, 1.03], tickformat=".0%"),
    }
    caption = (
        "How much the TCP transfers without a proper end had delivered (their number in "
        "brackets): curves on the left mean "
        f"that small transfers starve, on the right that large ones wait; at most {points} points each. As Chen 2012, "
        "Fig. 4.8."
    )
    return Figure("unfinished", "Unfinished transfers", caption, data, layout)
