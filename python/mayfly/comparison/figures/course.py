"""Load, ping and queue over one axis of time, before and after: as plots of RRUL have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, figures_of, shown

if TYPE_CHECKING:
    from mayfly.summary_types import Summary

_PANELS = (
    ("down_mbps", "y", "down (Mbit/s)", "Mbit/s down"),
    ("up_mbps", "y2", "up (Mbit/s)", "Mbit/s up"),
    ("ping_ms", "y3", "ping (ms)", "ms of ping"),
    ("queue_ms", "y4", "queue down (ms)", "ms in the queue"),
)
"""Key of the summary, axis, its title, and what a point says, from the top."""

_GAP = 0.05
"""Between two panels, as a share of the height."""


def course_figure(summary: Summary, styles: dict[str, Style]) -> Figure | None:
    """What the link carries, how long a ping takes, and how long packets wait; None without."""
    found = summary.get("over_time")
    if not found:
        return None
    data: list[dict[str, Any]] = []
    for own in found:
        label, course = own["label"], own["course"]
        style = styles[label]
        values: dict[str, Sequence[float | None]] = {
            "down_mbps": course["down_mbps"],
            "up_mbps": course["up_mbps"],
            "ping_ms": course["ping_ms"],
            "queue_ms": course["queue_ms"],
        }
        for key, y_axis, _, said in _PANELS:
            times = [course["bin_s"] * place for place in range(len(values[key]))]
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": shown(label),
                    "meta": label,
                    "legendgroup": label,
                    "showlegend": key == "down_mbps",
                    "yaxis": y_axis,
                    "x": figures_of(times),
                    "y": figures_of(values[key]),
                    "line": {"color": style.colour, "dash": style.dash, "width": 1.2},
                    "hovertemplate": f"%{{y:.4~g}} {said} at %{{x:.5~g}} s",
                }
            )
    layout: dict[str, Any] = {"height": 620, "xaxis": axis("time (s)", anchor="y4")}
    each = (1 + _GAP) / len(_PANELS)
    for place, (_, y_axis, title, _) in enumerate(_PANELS):
        top = 1 - place * each
        layout[y_axis.replace("y", "yaxis")] = axis(title, nticks=5, domain=[max(top - each + _GAP, 0.0), top])
    bin_s = found[0]["course"]["bin_s"]
    caption = (
        f"The same traffic under both, in bins of {bin_s:g} s: what the link sends each way, headers and probes "
        "included, the mean round trip of the pings sent in the bin, and how long a packet that comes waits for those "
        "before it in the queue down. Each discipline is at the link itself here. As the plots of flent's RRUL test."
    )
    return Figure("course", "Load, ping and queue over time", caption, data, layout)
