"""The trajectory of the fluid model: a table, or one HTML page with plots that opens without a network."""

import os
from pathlib import Path

from mayfly.models.tcp.fluid_answer import FluidAnswer
from mayfly.show.plots import Figure, axis, figures_of, shown
from mayfly.show.series_page import POINTS, series_page, write_series

ABOUT = "Zhao 2004, Eq. 2.2 to 2.9 and 2.18, from windows of one packet and an empty queue."


def write_trajectory(path: str | os.PathLike[str], found: FluidAnswer) -> Path:
    """Write it; it appears under its name when it is complete.

    Parameters
    ----------
    path : path-like
        Ends in ``.csv`` for a table, else a page; its folder is created when absent.
    found : FluidAnswer
        With a trajectory.

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    return write_series(path, found.samples, lambda: trajectory_page(found))


def trajectory_page(found: FluidAnswer) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : FluidAnswer
        With a trajectory.

    Returns
    -------
    str
        HTML.
    """
    return series_page("TCP as a fluid", ABOUT, found.sentences(), _figures(found))


def _figures(found: FluidAnswer) -> list[Figure]:
    samples = found.samples()
    samples = samples.gather_every(max(samples.height // POINTS, 1))
    windows = [name for name in samples.columns if name.startswith("window_")]
    labels = {"queue_packets": "queue", "average_packets": "average"}
    labels |= {
        name: f"{group.flows:g} flows, {group.rtt_s * 1e3:g} ms"
        for name, group in zip(windows, found.model.groups, strict=True)
    }
    if found.model.drops.weight is None:
        del labels["average_packets"]
    rest = {"queue_packets": found.at.queue_packets} | dict(zip(windows, found.at.windows.tolist(), strict=True))
    figures = []
    for key, title, names in (
        ("queue", "Queue (packets)", [name for name in labels if name not in windows]),
        ("windows", "Window of a flow (packets)", windows),
    ):
        data = [
            {
                "type": "scatter",
                "mode": "lines",
                "name": shown(labels[name]),
                "x": figures_of(samples["time_s"].to_list()),
                "y": figures_of(samples[name].to_list()),
            }
            for name in names
        ]
        still = ", ".join(f"{labels[name]} {rest[name]:.4g}" for name in names if name in rest)
        layout = {"xaxis": axis("time (s)", False), "yaxis": axis(title.lower(), False), "showlegend": True}
        figures.append(Figure(key, title, f"Equilibrium: {still} packets.", data, layout))
    return figures
