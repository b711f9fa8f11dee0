"""The page of policies side by side on one law of sizes: one HTML file that opens without a network."""

import os
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.queue.answer import finite
from mayfly.models.queue.compared import LOADS, Compared, Member, curve_sizes, mean_slowdown, plain
from mayfly.models.queue.mg1 import MG1
from mayfly.show import page
from mayfly.show.palette import Style, styles
from mayfly.show.plots import Figure, axis, curve, figures_of, shown, values_of
from mayfly.show.plotted_table import Cell, framed, line
from mayfly.text.folder import filled
from mayfly.text.readable import digits

CURVE_POINTS = 240

TAIL = 1e-9
"""Least share of jobs the plot of the law shows."""


def model_page(found: Compared) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : Compared
        Of :func:`mayfly.models.queue.compared.compared`.

    Returns
    -------
    str
        HTML.
    """
    colours = styles([member.label for member in found.members])
    plots = [*_by_size(found, colours), mean_by_load(found, colours), of_the_law(found)]
    lead, others = page.leading(plots[0]), plots[1:]
    title = f"{', '.join(member.label for member in found.members)}: {found.law}"
    body = [
        f"<h1>{escape(title)}</h1>",
        page.answer([*_leads(found), *found.starving()]),
        page.place_of(lead, leads=True),
        "<h2>Means over all jobs</h2>",
        _table(found, colours),
        '<p class="soft">Mean response times of the M/G/1 queue: jobs come at random (Poisson), sizes are independent, '
        "one server.</p>",
        _facts(found),
        *map(page.place_of, others),
        '<footer class="soft">Made by Mayfly. Click a name in a legend to hide or show it in every plot.</footer>',
    ]
    return page.document(title, body, [page.for_script(plot) for plot in (lead, *others)])


def write_model_page(path: str | os.PathLike[str], found: Compared) -> Path:
    """Write the page; it appears under its name when it is complete.

    Parameters
    ----------
    path : path-like
        The HTML file; its folder is created when absent.
    found : Compared
        Of :func:`mayfly.models.queue.compared.compared`.

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    path = Path(path)
    with filled(path.parent, [path.name]) as partial:
        return page.write(partial / path.name, model_page(found)) and path


def _leads(found: Compared) -> list[str]:
    """Which policy has the shortest mean at each load, against the first, in words."""
    if len(found.members) < 2:
        return []
    told = []
    for rho in found.rho:
        means = {member.label: found.answers[member.label, rho].mean for member in found.members}
        best = min(means, key=means.__getitem__)
        first = found.members[0].label
        if not np.isfinite(means[best]):
            continue
        against = ""
        if best != first:
            times = means[first] / means[best]
            against = (
                f", {digits(times)} times shorter than with {first}"
                if np.isfinite(times)
                else f"; infinite with {first}"
            )
        told.append(f"At load {rho:g} the mean response time is shortest with {best}{against}")
    return told


def _facts(found: Compared) -> str:
    law, unit = found.service, " s" if found.first.seconds else ""
    facts = {
        "law": found.law,
        "mean size": f"{law.mean:.5g}",
        "CoV": f"{law.cov:.4g}",
        "median size": f"{float(law.quantile(0.5)):.5g}",
        "loads": ", ".join(f"{rho:g}" for rho in found.rho),
        "time of one unit": f"{found.first.time_of_one:.5g}{unit}" if unit else None,
    }
    rows = (f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items() if value)
    return f'<dl class="facts">{"".join(rows)}</dl>'


def _table(found: Compared, colours: dict[str, Style]) -> str:
    unit = " (s)" if found.first.seconds else ""
    heads = ["policy", *(f"{what}<br>load {rho:g}" for what in (f"mean{unit}", "slowdown") for rho in found.rho)]
    heads.append("what it does")
    lines = []
    for member in found.members:
        answers = [found.answers[member.label, rho] for rho in found.rho]
        cells = [_cell(answer.mean) for answer in answers]
        cells += [_cell(mean_slowdown(member, answer.queue)) for answer in answers]
        cells.append((escape(f"{member.policy.title} ({member.policy.source})"), None, "words"))
        lines.append(line(member.label, colours[member.label], cells))
    caption = (
        "Mean response time over all jobs, and mean of response time over the time to serve the job alone. Infinite: "
        "some jobs never end. The box before a name puts it into the plots; a click on its row brings it out."
    )
    return f'{framed(heads, lines)}<p class="soft">{caption}</p>'


def _cell(value: float) -> Cell:
    return f"<b>{plain(value)}</b>" if np.isfinite(value) else "infinite", finite(value), ""


def _by_size(found: Compared, colours: dict[str, Style]) -> list[Figure]:
    """Slowdown and response time by size, a plot of each per load."""
    plots = []
    unit = "s" if found.first.seconds else "units of size"
    for place, rho in enumerate(found.rho):
        queue = MG1(found.service, rho)
        curves = [(member, *_curve(member, queue)) for member in found.members]
        missing = [
            member.label
            for member in found.members
            if member.policy.starves_above(queue, **member.parameters) is not None
        ]
        drawn = f" Drawn where it is finite: {', '.join(missing)}." if missing else ""
        slow = [_trace(m, colours[m.label], x, y / x, "%{y:.4~g} times alone, size %{x:.4~g}") for m, x, y in curves]
        caption = f"How many times longer than alone a job of a size is there: lower is better, 1 is best.{drawn}"
        title = f"Mean slowdown by size, load {rho:g}"
        plots.append(Figure(f"slowdown-{place}", title, caption, slow, _axes(slow, "mean slowdown")))
        one = found.first.time_of_one
        time = [_trace(m, colours[m.label], x, y * one, "%{y:.4~g}, size %{x:.4~g}") for m, x, y in curves]
        caption = f"How long a job of a size is there on average.{drawn}"
        title = f"Mean response time by size, load {rho:g}"
        plots.append(Figure(f"response-{place}", title, caption, time, _axes(time, f"mean response time ({unit})")))
    return plots


def _axes(data: list[dict[str, Any]], title: str) -> dict[str, Any]:
    return {
        "xaxis": axis("size of the job", True, values_of(data, "x")),
        "yaxis": axis(title, True, values_of(data, "y")),
        "showlegend": True,
    }


def _curve(member: Member, queue: MG1) -> tuple[Floats, Floats]:
    """Sizes, with both sides of each jump at a parameter, and response times; starved sizes left out."""
    sizes = curve_sizes(queue.law, CURVE_POINTS)
    cuts = np.concatenate([[], *(np.atleast_1d(value) for value in member.parameters.values())])
    cuts = cuts[(cuts >= sizes[0]) & (cuts < sizes[-1])]
    sizes = np.union1d(sizes, np.concatenate([cuts, cuts * (1 + 1e-9)]))
    times = member.policy.function(queue, sizes, **member.parameters)
    return sizes[np.isfinite(times)], times[np.isfinite(times)]


def _trace(member: Member, style: Style, x: Floats, y: Floats, hover: str) -> dict[str, Any]:
    about = (
        f"<extra><b>{shown(member.label)}</b><br>{shown(member.policy.title)}<br>{shown(member.policy.source)}</extra>"
    )
    # A law of one size has a point, not a curve.
    mode = "lines" if len(x) != 1 else "markers"
    marks = {"symbol": style.symbol, "size": 9, "color": style.colour}
    return curve(member.label, style, figures_of(x), figures_of(y), hover + about, mode=mode, marker=marks)


def mean_by_load(found: Compared, colours: dict[str, Style]) -> Figure:
    """Mean response time over all jobs against the load, in mean sizes."""
    data = []
    for member in found.members:
        means = np.array([member.policy.mean(MG1(found.service, rho), **member.parameters) for rho in LOADS])
        y = means[np.isfinite(means)] / found.service.mean
        data.append(
            _trace(
                member,
                colours[member.label],
                np.array(LOADS)[np.isfinite(means)],
                y,
                "%{y:.4~g} mean sizes at load %{x}",
            )
        )
    layout = {
        "xaxis": axis("load", range=[0, 1]),
        "yaxis": axis("mean response time (mean sizes)", True, values_of(data, "y")),
        "shapes": [
            {
                "type": "line",
                "x0": rho,
                "x1": rho,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"width": 1, "dash": "dot", "color": "#868b95"},
            }
            for rho in found.rho
            if rho < 1
        ],
    }
    caption = "Mean over all jobs, in times to serve the mean size alone. Dotted: the loads above."
    if never := [trace["meta"] for trace in data if not trace["x"]]:
        caption += f" Infinite at every load: {', '.join(never)}."
    return Figure("load", "Mean response time by load", caption, data, layout)


def of_the_law(found: Compared) -> Figure:
    """Shares of the jobs, and of the work, that are in larger jobs."""
    law = found.service
    sizes = curve_sizes(law, CURVE_POINTS)
    work = 1 - law.partial_moment(1, sizes) / law.mean
    data = []
    for name, y, dash in (("jobs", law.survival(sizes), "solid"), ("work in them", work, "dash")):
        kept = np.asarray(y) > TAIL
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": figures_of(sizes[kept]),
                "y": figures_of(np.asarray(y)[kept]),
                "line": {"color": "#868b95", "dash": dash, "width": 2, "shape": "linear"},
                "hovertemplate": "%{y:.4~g} larger than %{x:.4~g}",
            }
        )
    layout = _axes(data, "share larger")
    caption = (
        "Share of the jobs that are larger than a size, and of all work that is in these (the mass-weighted law of Rai "
        "2003): where the dashed line lies far above the other, few jobs carry most of the work."
    )
    return Figure("law", "The law of sizes", caption, data, layout)
