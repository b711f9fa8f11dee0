"""Plots of a wireless cell: goodput of both directions, response time by size, air, frames sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from mayfly.comparison.figures.response import BINS_PER_DECADE, SIZE, kilobytes
from mayfly.metrics import conditional_mean
from mayfly.show.palette import Style
from mayfly.show.plots import Figure, axis, curve, figures_of, shown, values_of

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow


Way = Literal["down", "up"]

WAYS: Mapping[Way, str] = {"down": "downloads", "up": "uploads"}
_COARSE = BINS_PER_DECADE // 2


def cell_figures(
    rows: Sequence[DisciplineRow], records: pl.DataFrame, styles: dict[str, Style], mss: int
) -> list[Figure]:
    """All plots of a cell; none without.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.
    records : polars.DataFrame
        Flow records of all disciplines.
    styles : dict of Style
        Of each discipline.
    mss : int
        Payload of a full packet, in bytes.

    Returns
    -------
    list of Figure
    """
    rows = [row for row in rows if "wlan" in row and row["label"] in styles]
    if not rows:
        return []
    found: list[Figure | None] = [goodput_bars(rows, styles)]
    found += [by_size(records, way, styles, mss) for way in WAYS]
    found += [presence_by_size(records, styles, mss), airtime_bars(rows, styles), repetition_bars(rows, styles)]
    return [figure for figure in found if figure is not None]


def _bars(
    row: DisciplineRow, style: Style, name: str, x: list[str], y: Sequence[Any], hover: str, **more: Any
) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": shown(name),
        "meta": row["label"],
        "legendgroup": row["label"],
        "x": x,
        "y": y,
        "marker": {"color": style.colour},
        "hovertemplate": hover,
    } | more


def goodput_bars(rows: Sequence[DisciplineRow], styles: dict[str, Style]) -> Figure:
    """Goodput of downloads and uploads (Chen 2012, Fig. 6.2)."""
    data = []
    for row in rows:
        got = row["wlan"]["goodput_mbps"]
        means = [got[way]["mean"] for way in WAYS]
        bounds = [got[way]["ci95"] for way in WAYS]
        half = [0.0 if pair is None else (pair[1] - pair[0]) / 2 for pair in bounds]
        more = {"error_y": {"type": "data", "array": figures_of(half), "visible": any(half)}}
        hover = "%{x}: %{y:.4~g} Mbit/s"
        data.append(
            _bars(row, styles[row["label"]], row["label"], list(WAYS.values()), figures_of(means), hover, **more)
        )
    caption = (
        "Payload delivered after the warm-up, of all downloads and of all uploads together, with the 95 % interval "
        "over the replications where there are several. As Chen 2012, Fig. 6.2."
    )
    layout = {"barmode": "group", "xaxis": {"automargin": True}, "yaxis": axis("goodput (Mbit/s)")}
    return Figure("cell-goodput", "Goodput of downloads and uploads", caption, data, layout)


def _curves(means: pl.DataFrame, styles: dict[str, Style], of: str, mss: int, **more: Any) -> list[dict[str, Any]]:
    found = []
    for (label,), part in means.partition_by("discipline", as_dict=True, maintain_order=True).items():
        if label in styles and part.height:
            found.append(
                curve(
                    label,
                    styles[label],
                    kilobytes(part["size_packets"], mss),
                    figures_of(part["mean_s"]),
                    f"{of} of %{{x:.4~g}} kB: %{{y:.3~g}} s, %{{customdata}} flows",
                    customdata=part["flows"].to_list(),
                    **more,
                )
            )
    return found


def by_size(records: pl.DataFrame, way: Way, styles: dict[str, Style], mss: int) -> Figure | None:
    """Mean response time of downloads, or of uploads, given their size (Chen 2012, Fig. 6.6 to 6.8)."""
    data = _curves(conditional_mean(records.filter(direction=way), _COARSE), styles, WAYS[way], mss)
    if not data:
        return None
    caption = (
        f"Mean response time of completed {WAYS[way]} of a given size, {_COARSE} size bins per factor of ten. "
        "As Chen 2012, Fig. 6.6 to 6.8."
    )
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis("mean response time (s)", True, values_of(data, "y")),
    }
    return Figure(f"cell-{way}", f"Response time of {WAYS[way]} by size", caption, data, layout)


def presence_by_size(records: pl.DataFrame, styles: dict[str, Style], mss: int) -> Figure | None:
    """Time during which flows of a size had a packet at the access point (Urvoy-Keller 2007, Fig. 11)."""
    if "presence_s" not in records.columns:
        return None
    there = records.with_columns(response_time_s=pl.col("presence_s"))
    data = _curves(conditional_mean(there, _COARSE), styles, "flows", mss)
    if not data:
        return None
    caption = (
        "Time during which a completed flow had a packet at the access point, on its way down, waiting or in service: "
        "what queueing models of the access point tell. As Urvoy-Keller 2007, 6.1."
    )
    layout = {
        "xaxis": axis(SIZE, True, values_of(data, "x")),
        "yaxis": axis("time at the access point (s)", True, values_of(data, "y")),
    }
    return Figure("cell-presence", "Response time at the access point by size", caption, data, layout)


def airtime_bars(rows: Sequence[DisciplineRow], styles: dict[str, Style], most: int = 50) -> Figure | None:
    """Share of the time for which the medium was taken for each station."""
    if len(rows[0]["wlan"]["stations"]) > most:
        return None
    data = []
    for row in rows:
        own = row["wlan"]["stations"]
        names = [f"{of['station']} ({of['rate']})" if of["rate"] else str(of["station"]) for of in own]
        shares = figures_of([of["airtime"] for of in own])
        hover = "station %{x}: %{y:.3~%} of the time"
        data.append(_bars(row, styles[row["label"]], row["label"], names, shares, hover))
    caption = (
        "Share of the time for which the medium was taken for a station, either way, with answers, gaps and failures. "
        "Stations that share the access point's queue get equal numbers of frames, and a slow one most of the time "
        "(Heusse et al. 2003)."
    )
    layout = {
        "barmode": "group",
        "xaxis": {"title": {"text": "station"}, "type": "category", "automargin": True},
        "yaxis": axis("time on the air", tickformat=".0%"),
    }
    return Figure("cell-air", "Time on the air of each station", caption, data, layout)


def repetition_bars(rows: Sequence[DisciplineRow], styles: dict[str, Style]) -> Figure:
    """Frames sent again by the MAC beside packets dropped by the queue (Urvoy-Keller 2007, Fig. 15)."""
    data = []
    for row in rows:
        mac = row["wlan"]["mac"]
        names = ["sent again by the MAC", "given up by the MAC", "dropped by the queue"]
        counts = [mac["retries"], mac["given_up"], mac["queue_drops"]]
        data.append(_bars(row, styles[row["label"]], row["label"], names, counts, "%{x}: %{y:,}"))
    caption = (
        "Frames that all nodes sent again after collisions and damage, frames given up after their last try, and "
        "packets that the access point's queue dropped: what TCP has to repeat is the last two. As Urvoy-Keller 2007, "
        "Fig. 15."
    )
    layout = {"barmode": "group", "xaxis": {"automargin": True}, "yaxis": axis("packets")}
    return Figure("cell-again", "Frames sent again and packets dropped", caption, data, layout)
