"""Estimates of traffic that does not respond: a table, or one HTML page with plots that opens without a network."""

import os
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.estimate import Estimates
from mayfly.estimate.estimate import doubts
from mayfly.show.plots import Figure, axis, figures_of, shown
from mayfly.show.series_page import POINTS, series_page, write_series

ESTIMATE, TRUTH, DOUBTFUL = "#4b87c3", "#868b95", "#e10f4b"
"""Colours of what was estimated, of what is true and of what is not to be relied on: never green."""

_SYMBOLS = ("x", "triangle-up", "square-open", "diamond-open", "cross")

ABOUT = (
    "Share of the packets that come to a queue whose senders do not respond to drops "
    "(PONRT, Zhao 2004, ch. II), for each estimation interval."
)


def write_estimates(path: str | os.PathLike[str], found: Estimates) -> Path:
    """Write them; the file appears under its name when it is complete.

    Parameters
    ----------
    path : path-like
        Ends in ``.csv`` for the series as a table, else a page; its folder is created when absent.
    found : Estimates

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    return write_series(path, lambda: pl.DataFrame(found.document()["series"]), lambda: estimates_page(found))


def estimates_page(found: Estimates) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : Estimates

    Returns
    -------
    str
        HTML.
    """
    return series_page(f"Traffic that does not respond: {found.method}", ABOUT, found.sentences(), _figures(found))


def _figures(found: Estimates) -> list[Figure]:
    series = found.document()["series"]
    series = series[:: max(len(series) // POINTS, 1)]
    times = figures_of([row["time_s"] for row in series])

    def curve(name: str, key: str, **more: Any) -> dict[str, Any]:
        y = figures_of([row[key] for row in series])
        return {"type": "scatter", "mode": "lines", "name": shown(name), "x": times, "y": y} | more

    lines = [curve("estimate", "estimate", line={"color": ESTIMATE})]
    if found.actual is not None:
        lines.append(curve("truth", "actual", line={"dash": "dot", "color": TRUTH}))
    for word in dict.fromkeys(row["doubt"] for row in series if row["doubt"]):
        rows = [row for row in series if row["doubt"] == word]
        marks: dict[str, Any] = {"type": "scatter", "mode": "markers", "name": shown(f"doubtful: {word}")}
        marks["marker"] = {"color": DOUBTFUL, "symbol": _SYMBOLS[len(lines) % len(_SYMBOLS)], "size": 7}
        marks |= {"x": figures_of([row["time_s"] for row in rows]), "y": figures_of([row["estimate"] for row in rows])}
        lines.append(marks)
    meanings = "; ".join(f"{word}: {doubts()[word]}" for word in found.document()["doubts"])
    caption = (
        f"Marked estimates are not to be relied on. {meanings}." if meanings else "Every estimate may be relied on."
    )
    panels = [
        ("share", "Share that does not respond", caption, lines, axis("share of the arrivals", tickformat=".0%")),
        (
            "flows",
            "Responsive flows",
            "As the method counts them; 0 while unknown.",
            [curve("flows", "flows", line={"color": ESTIMATE})],
            axis("flows"),
        ),
        (
            "drops",
            "Drops",
            "Share of the arrivals that was dropped.",
            [curve("drops", "drop_share", line={"color": ESTIMATE})],
            axis("share of the arrivals", tickformat=".1%"),
        ),
    ]
    return [
        Figure(
            key, title, text, data, {"xaxis": axis("time (s)", rangemode="normal"), "yaxis": scale, "showlegend": True}
        )
        for key, title, text, data, scale in panels
    ]
