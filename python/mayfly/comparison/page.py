"""The report: one HTML file that opens without a network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly.comparison.figures import congestion as congestion_figures
from mayfly.comparison.figures import course as course_figures
from mayfly.comparison.figures import models as model_figures
from mayfly.comparison.figures import response as response_figures
from mayfly.comparison.figures import series as series_figures
from mayfly.comparison.figures.runs import ArrayRuns, runs_of
from mayfly.comparison.figures.user_metrics import felt_figure
from mayfly.comparison.links import buffer_text, link_facts, links_sentence, links_table
from mayfly.comparison.ordering import family, grouped, leading, leading_sentences
from mayfly.comparison.overview import loaded_table
from mayfly.comparison.page_overview import MSS, disciplines_table, has_users, means_table
from mayfly.comparison.sections import SECTIONS
from mayfly.comparison.sections.section import Section
from mayfly.comparison.text import partial_lines, switching_sentences
from mayfly.comparison.user_metrics import place_sentence, think_times
from mayfly.show import page
from mayfly.show import plots as figures
from mayfly.show.palette import Style, styles
from mayfly.show.plots import MANY
from mayfly.show.table import html
from mayfly.text.readable import bytes_text, count_text, digits, rate_text

if TYPE_CHECKING:
    import polars as pl

    from mayfly.summary_types import DisciplineRow, Recommendation, Summary

    Runs = pl.DataFrame | ArrayRuns


def write_report(
    path: str | os.PathLike[str],
    summary: Summary,
    records: Runs,
    samples: Runs | None = None,
    packets: pl.DataFrame | None = None,
    timeouts: pl.DataFrame | None = None,
) -> Path:
    """Write the self-contained report of a comparison.

    Parameters
    ----------
    path : path-like
        The HTML file; replaced at once when the page is complete, never left half written.
    summary : mapping
        As ``summary.json`` (docs/tables.md).
    records : polars.DataFrame or ArrayRuns
        Flow records of all disciplines.
    samples : polars.DataFrame or ArrayRuns, optional
        Samples of all disciplines; the plots over time are left out when None or empty.
    packets, timeouts : polars.DataFrame, optional
        Traces of chosen flows; their plots are left out when None or empty.

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written.

    Notes
    -----
    Curves are binned: the page grows with the disciplines, not with the flows. More than six disciplines have fewer
    points each, and only those of :func:`mayfly.comparison.ordering.leading` are drawn until the reader asks for
    others.
    """
    return page.write_document(path, *_parts(summary, records, samples, packets, timeouts))


def page_text(
    summary: Summary,
    records: Runs,
    samples: Runs | None = None,
    packets: pl.DataFrame | None = None,
    timeouts: pl.DataFrame | None = None,
) -> str:
    """Make the report as a string; parameters as `write_report`."""
    return page.document(*_parts(summary, records, samples, packets, timeouts))


def _parts(
    summary: Summary,
    records: Runs,
    samples: Runs | None,
    packets: pl.DataFrame | None,
    timeouts: pl.DataFrame | None,
) -> tuple[str, list[str], list[dict[str, Any]]]:
    """Title, body and plots."""
    if not isinstance(records, ArrayRuns):
        # No figure shows what their ends say, and the rows of scripts take long to move.
        records = records.drop("script", "bursts", strict=False)
    rows = summary["disciplines"]
    where = place_sentence(summary)
    if many := len(rows) > MANY:
        rows = [row for _, members in grouped(rows) for row in members]
    families = {row["label"]: family(row) for row in rows}
    colours = styles(list(families))
    first = leading(rows)
    mss = _mss(summary)
    felt = felt_figure(rows, colours)
    plots = _plots(summary, records, samples, colours, mss)
    plots += _traces(summary, records, packets, timeouts, colours)
    data = [_for_script(plot, families, first, many) for plot in ([felt] if felt else []) + plots]
    heights = {plot["key"]: plot["layout"]["height"] for plot in data}
    places = (page.place(plot.key, heights[plot.key], plot.title, plot.caption) for plot in plots)
    shown: Summary = {**summary, "disciplines": rows}
    users = has_users(rows)
    head = "What users feel" if users else "Mean response time, long and short flows"
    about = _about(summary)
    links = links_table(shown)
    body = [
        f"<h1>{escape(_heading(summary))}</h1>",
        f'<p class="soft">{escape(about)}</p>' if about else "",
        _answer(summary),
        page.place(felt.key, heights[felt.key], felt.title, f"{felt.caption} {where}".strip(), leads=True)
        if felt
        else "",
        f"<h2>{head}</h2>",
        disciplines_table(rows, colours, first, _recommended(summary), mss, where),
        *(html(table) for table in (loaded_table(shown), links) if table),
        "<h2>What ran</h2>",
        _facts(summary),
        _means(summary, rows, colours, mss) if users else "",
        *(_section(section, shown) for section in SECTIONS),
        *places,
        _scenario(summary),
        '<footer class="soft">Made by Mayfly. Click a name in a legend to hide or show it in every plot.</footer>',
    ]
    return _title(summary), body, data


def _about(summary: Summary) -> str:
    """Of a capture both directions of its link, the busier one first; else the title of the scenario."""
    sentence = links_sentence(summary) if summary.get("capture") else None
    return sentence or str((summary.get("scenario") or {}).get("title") or "")


def _mss(summary: Summary) -> int:
    """Payload of a full packet, in bytes."""
    tcp = (summary.get("scenario") or {}).get("tcp")
    found = tcp.get("mss") if isinstance(tcp, Mapping) else None
    return found if isinstance(found, int) else MSS


def _recommended(summary: Summary) -> list[str]:
    """Labels the answer recommends."""
    found = summary.get("recommendation")
    if not found or found["kind"] not in ("use", "fastest", "no_difference"):
        return []
    return [label for label in (found["discipline"], *found["equal"]) if label is not None]


def _means(summary: Summary, rows: Sequence[DisciplineRow], colours: dict[str, Style], mss: int) -> str:
    """Means of the two classes of size, in words and in a table."""
    told = page.told(*leading_sentences(summary), more="The other disciplines") if "recommendation" in summary else ""
    thinking = think_times(summary)
    head = "Means of whole connections, think times included" if thinking else "Means of short and of long flows"
    return f"<h2>{head}</h2>{told}{means_table(rows, colours, mss, thinking)}"


def _section(section: Section, summary: Summary) -> str:
    """The tables of a section and its notes."""
    notes = "".join(f'<p class="soft">{escape(note)}.</p>' for note in section.notes(summary))
    return "".join(map(html, section.tables(summary))) + notes


def _plots(
    summary: Summary,
    records: Runs,
    samples: Runs | None,
    colours: dict[str, Style],
    mss: int,
) -> list[figures.Figure]:
    thinking = think_times(summary)
    runs = runs_of(records)
    given: list[Callable[[], figures.Figure | None]] = [
        lambda: course_figures.course_figure(summary, colours),
        lambda: response_figures.response_distribution(runs, colours),
        lambda: model_figures.with_curves(
            response_figures.mean_by_size(runs, colours, mss, thinking), summary, colours, mss
        ),
        lambda: model_figures.error_figure(summary, colours, mss),
        lambda: response_figures.mean_by_percentile(runs, colours, mss),
        lambda: response_figures.confidence_bands(runs, colours, mss),
        lambda: response_figures.unfinished_sizes(runs, colours, mss),
        lambda: congestion_figures.loss_figure(runs, colours, mss),
        lambda: congestion_figures.active_figure(runs, colours, summary.get("duration_s")),
    ]
    over_time: list[Callable[[], figures.Figure | None]] = []
    if samples is not None and (isinstance(samples, ArrayRuns) or samples.height):
        over = runs_of(samples)
        largest = summary.get("workload", {}).get("largest_flows")
        over_time = [
            lambda: series_figures.link_rates(over, colours),
            lambda: series_figures.queue_evolution(over, colours),
            lambda: series_figures.flow_table_evolution(over, colours),
            lambda: series_figures.largest_progress(over, runs, colours, largest),
        ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        drawn = [pool.submit(draw) for draw in (*given, *over_time)]
        plots = [one.result() for one in drawn[: len(given)]]
        plots += _cell_figures(summary["disciplines"], records, colours, mss)
        plots += [one.result() for one in drawn[len(given) :]]
    found = [plot for plot in plots if plot is not None]
    return [_of_connections(plot) for plot in found] if thinking else found


_OF_CONNECTIONS = ("cdf", "mean-by-percentile", "confidence", "unfinished")
"""Plots whose captions say what they are of where connections are replayed with their think times."""


def _of_connections(plot: figures.Figure) -> figures.Figure:
    if plot.key not in _OF_CONNECTIONS:
        return plot
    return replace(plot, caption=response_figures.THINKING + plot.caption)


def _cell_figures(
    rows: Sequence[DisciplineRow], records: Runs, colours: dict[str, Style], mss: int
) -> list[figures.Figure]:
    """Of a wireless cell, which needs the library for tables."""
    if isinstance(records, ArrayRuns) or not any("wlan" in row for row in rows):
        return []
    from mayfly.comparison.figures.cell import cell_figures

    return cell_figures(rows, records, colours, mss)


def _traces(
    summary: Summary,
    records: Runs,
    packets: pl.DataFrame | None,
    timeouts: pl.DataFrame | None,
    colours: dict[str, Style],
) -> list[figures.Figure]:
    if isinstance(records, ArrayRuns) or packets is None or packets.height == 0:
        return []
    from mayfly.comparison.figures import streams as stream_figures

    plots = [
        stream_figures.playout_figure(packets, records, colours),
        stream_figures.departures_figure(packets, records, colours),
        stream_figures.delivery_figure(packets, timeouts, records, colours, summary.get("duration_s")),
    ]
    return [plot for plot in plots if plot is not None]


def _for_script(plot: figures.Figure, families: Mapping[str, str], first: list[str], many: bool) -> dict[str, Any]:
    """Make a plot as the page's script takes it: what is hidden at first, and how panels are placed."""
    for trace in plot.data:
        if trace.get("meta") in families.keys() - set(first):
            trace["visible"] = False if plot.panels or plot.grid else "legendonly"
    found = page.for_script(plot)
    layout = found["layout"]
    if plot.panels:
        found["panels"] = {
            "labels": plot.panels,
            "height": series_figures.PANEL_PX,
            "gap": series_figures.GAP_PX,
            "around": series_figures.AROUND_PX,
        }
        count = max(1, len(set(plot.panels) & set(first)))
        each = series_figures.PANEL_PX + series_figures.GAP_PX
        layout["height"] = count * each - series_figures.GAP_PX + series_figures.AROUND_PX
    elif many and not plot.grid:
        names = dict.fromkeys(families.values())
        entries = max(len(families), sum(trace.get("showlegend", True) for trace in plot.data))
        layout["height"] = max(layout["height"], 19 * entries + 26 * len(names) + 70)
        layout["legend"] = {"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"}
        layout["legend"] |= {"font": {"size": 11}, "grouptitlefont": {"size": 12}, "tracegroupgap": 4}
        for trace in plot.data:
            name = families[trace["meta"]]
            trace |= {"legendgroup": name, "legendgrouptitle": {"text": figures.shown(name)}}
    return found


def _heading(summary: Summary) -> str:
    """What was compared: the capture or the scenario."""
    capture = summary.get("capture")
    scenario = summary.get("scenario") or {}
    if capture:
        return f"What if: {Path(capture['path']).name}"
    return str(scenario.get("name") or summary.get("command", "comparison"))


def _title(summary: Summary) -> str:
    scenario = summary.get("scenario") or {}
    name = scenario.get("name") or summary.get("command", "comparison")
    labels = [row["label"] for row in summary["disciplines"]]
    shown = ", ".join(labels if len(labels) <= 6 else [*labels[:5], f"{len(labels) - 5} more"])
    return f"{name}: {shown}"


def _facts(summary: Summary) -> str:
    scenario, workload = summary.get("scenario") or {}, summary.get("workload") or {}
    given = scenario.get("network")
    network: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    transport = summary.get("transport") or {}
    offered = workload.get("offered_mbps")
    wlan = network.get("wlan")
    ways = link_facts(summary)
    facts = {
        **ways,
        "link rate": None if wlan or ways else _rate(network.get("rate")),
        "cell": _cell(wlan) if wlan else None,
        "buffer": None if ways else buffer_text(network.get("buffer")),
        "transfers": None if workload.get("flows") is None else count_text(workload["flows"]),
        "offered load": None if offered is None or ways else f"{digits(offered)} Mbit/s",
        "volume": None if workload.get("bytes") is None else bytes_text(workload["bytes"]),
        "duration": None if summary.get("duration_s") is None else f"{digits(summary['duration_s'])} s",
        "seed": summary.get("seed"),
        "replications": summary.get("replications"),
        "TCP of the hosts": transport.get("preset"),
    }
    rows = (
        f"<div><dt>{name}</dt><dd>{escape(str(value))}</dd></div>" for name, value in facts.items() if value is not None
    )
    other = transport.get("other")
    more = page.told([other["sentence"]]) if other else ""
    return f'<dl class="facts">{"".join(rows)}</dl>{more}'


def _cell(wlan: Mapping[str, Any]) -> str:
    """Standard, rate and stations."""
    rate = f", {wlan['rate']}" if wlan.get("rate") else ""
    return f"{wlan.get('standard')}{rate}, {count_text(wlan.get('stations'))} stations"


def _rate(value: Any) -> Any:
    return rate_text(value) if isinstance(value, int | float) else value


def _answer(summary: Summary) -> str:
    """The recommendation; the means in words where there is none."""
    found = summary.get("recommendation")
    if not found:
        # One sentence, so that the figure is on the first screen of a telephone, too.
        first, rest = leading_sentences(summary)
        return page.answer([*partial_lines(summary), *first[:1]], [*first[1:], *rest], more="The other disciplines")
    command = found.get("command")
    how = switching_sentences(summary)
    advised = command and found["kind"] != "fastest" and command not in found["sentence"]
    shown = f"<pre>{escape(command)}</pre>" if command and advised else ""
    told = [*partial_lines(summary), found["sentence"], *how[:2]]
    return page.answer(told, how[2:], more="Other ways to switch it on", after=shown + _lines_of_tc(found))


def _lines_of_tc(found: Recommendation) -> str:
    """The commands of both directions for a router without Mayfly; empty where the answer has none."""
    commands = found.get("commands")
    if commands is None or found["kind"] == "fastest":
        return ""
    lines = ["# what eth0 sends", *commands["up"], "# what arrives at eth0", *commands["down"]]
    text = escape("\n".join(lines))
    return page.folded("Commands of tc, both directions", f"<pre>{text}</pre>")


def _scenario(summary: Summary) -> str:
    if not summary.get("scenario"):
        return ""
    text = escape(json.dumps(summary["scenario"], indent=2, ensure_ascii=False, default=str))
    return f"<details><summary>The whole scenario</summary><pre>{text}</pre></details>"
