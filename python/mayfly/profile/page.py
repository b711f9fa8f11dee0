"""The page of a profile: one HTML file that opens without a network."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.profile.classes import CLASSES
from mayfly.profile.distributions import Sample, cdf, gaps_within, mass_cdf
from mayfly.profile.load import totals
from mayfly.profile.ratios import HostTraffic, clients_of, known, traffic_bytes
from mayfly.profile.sentences import NAMES, detail_sentences, first_sentences, law_sentences, verdict
from mayfly.profile.terminal import ROUND_TRIPS, dataset_facts, hosts_table, link_table, services_table
from mayfly.show import page, table
from mayfly.show.palette import Style, styles
from mayfly.show.plots import Figure, axis, curve, figures_of, shown, values_of
from mayfly.show.plotted_table import Cell, framed, line
from mayfly.text.readable import MISSING, bytes_text, count_text, time_text

if TYPE_CHECKING:
    from mayfly.profile.answer import Profile
    from mayfly.profile.traffic import Traffic

UNITS = {"size_bytes": "payload of a flow (bytes)", "gap_s": "time between arrivals (s)", "duration_s": "duration (s)"}
FLOORS = {"gap_s": 1e-6, "duration_s": 1e-6}
"""What stands for 0 on a logarithmic axis: the resolution of most captures, s."""


def profile_page(found: Profile) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : Profile
        What :func:`mayfly.profile.answer.profile` returned.

    Returns
    -------
    str
        HTML.
    """
    return page.document(*_content(found))


def write_profile_page(path: str | os.PathLike[str], found: Profile) -> Path:
    """Write the page of :func:`profile_page`, without a copy of the plot library as text.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written.
    """
    return page.write_document(path, *_content(found))


def _content(found: Profile) -> tuple[str, list[str], list[dict[str, Any]]]:
    """Title, body and plots of the page."""
    document = found.document()
    classes = [
        name for name in CLASSES if any(row["class"] == name and row["connections"] for row in document["composition"])
    ]
    colours = styles(classes)
    first = [plot for plot in [_link(found, document)] if plot is not None]
    details = [plot for plot in _plots(found, colours, document) if plot.data]
    laws = [plot for name in document["fits"] if (plot := _qq(name, document["fits"][name])).data]
    data = [
        {"key": plot.key, "data": plot.data, "layout": page.LAYOUT | plot.layout} for plot in (*first, *details, *laws)
    ]
    title = f"Profile of {', '.join(document['captures'])}"
    body = [
        f"<h1>{escape(title)}</h1>",
        '<p class="soft">Is the link full, when, by whom, how long are the round trips, how much is repeated? Then '
        "traffic by class, flows and hosts in the form of Chen 2012, ch. 8; laws and tests are in the appendix.</p>",
        f'<div class="answer">{_paragraphs([*verdict(document), *first_sentences(document)])}</div>',
        *map(_placed, first),
        _first_tables(document),
        "<h2>What was captured</h2>",
        _facts(document),
        _paragraphs(detail_sentences(document)),
        "<h2>Traffic by class</h2>",
        _classes_table(document, colours),
        _round_trips_table(document),
        *map(_placed, details),
        '<h2 id="appendix">Appendix: laws and tests</h2>',
        _paragraphs(law_sentences(document)),
        *map(_placed, laws),
        _fits_tables(document),
        '<footer class="soft">Made by Mayfly. Click a name in a legend to hide or show it in every plot.</footer>',
    ]
    return title, body, data


def _paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}.</p>" for text in sentences)


def _placed(plot: Figure) -> str:
    return page.place(plot.key, page.LAYOUT["height"], plot.title, plot.caption)


def _first_tables(document: Mapping[str, Any]) -> str:
    if not document["link"]["hosts"]:
        return ""
    return "".join(table.html(part) for part in (link_table(document), services_table(document), hosts_table(document)))


DIRECTION_COLOURS = {"down": "#4269d0", "up": "#e0930f"}


def _link(found: Profile, document: Mapping[str, Any]) -> Figure | None:
    """Load over time in both directions, with the guessed rate of each."""
    if found.traffic is None or not any(map(found.traffic.rows, DIRECTION_COLOURS)):
        return None
    width_s = max(found.bin_s, found.traffic.width_s)
    unit, name = _unit(found.connections.duration_s)
    guess = document["link"]["guess"]
    data: list[dict[str, Any]] = []
    for way, colour in DIRECTION_COLOURS.items():
        x, y = _steps(found.traffic, way, width_s)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": way,
                "x": figures_of([value / unit for value in x]),
                "y": figures_of([value / 1e6 for value in y]),
                "line": {"color": colour, "width": 2, "shape": "hv"},
                "hovertemplate": f"%{{y:.4~g}} Mbit/s {way} from %{{x:.4~g}} {name}",
            }
        )
        if (rate := guess[way]["rate_bps"]) is not None:
            ends = [0.0, found.connections.duration_s / unit]
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": f"{way}: rate, a guess",
                    "x": figures_of(ends),
                    "y": figures_of([rate / 1e6] * 2),
                    "line": {"color": colour, "width": 1, "dash": "dash"},
                    "hovertemplate": f"{way}: %{{y:.4~g}} Mbit/s guessed",
                }
            )
    layout = {"xaxis": axis(f"time ({name})"), "yaxis": axis("load (Mbit/s)"), "showlegend": True}
    caption = f"IP packets as they passed the tap, in bins of {time_text(width_s)}."
    return Figure("link", "Load of the link over time", caption, data, layout)


MOST_STEPS = 4000


def _steps(traffic: Traffic, way: str, width_s: float) -> tuple[list[float], list[float]]:
    """Starts of the bins and their loads; of a run of empty bins the first and the last."""
    found = traffic.loads(way, width_s)
    loads = dict(zip(found.windows.tolist(), found.bps.tolist(), strict=True))
    # A last bin that the capture does not fill is no rate to compare.
    count = max(math.floor(traffic.duration_s / width_s * (1 + 1e-9)), 1)
    kept = {0, count}
    for window in loads:
        kept |= {window, window + 1}
    places = sorted(place for place in kept if 0 <= place <= count)
    if len(places) > MOST_STEPS:
        places = places[:: math.ceil(len(places) / MOST_STEPS)]
    return [place * width_s for place in places], [loads.get(place, 0.0) for place in places]


def _unit(duration_s: float) -> tuple[float, str]:
    units = ((86_400.0, "days"), (3600.0, "h"), (60.0, "min"))
    return next(((size, name) for size, name in units if duration_s >= 4 * size), (1.0, "s"))


def _facts(document: Mapping[str, Any]) -> str:
    facts = dataset_facts(document)
    return f'<dl class="facts">{"".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())}</dl>'


def _classes_table(document: Mapping[str, Any], colours: Mapping[str, Style]) -> str:
    heads = [
        "class",
        "connections",
        "bytes",
        "packets",
        "median size",
        "median duration",
        "median RTT",
        "retransmitted",
    ]
    lines = []
    for name, style in colours.items():
        rows = [row for row in document["composition"] if row["class"] == name]
        cells: list[Cell] = []
        for measure, text in (("connections", count_text), ("bytes", bytes_text), ("packets", count_text)):
            value = sum(row[measure] for row in rows)
            part = sum(row[f"{measure}_share"] or 0.0 for row in rows)
            cells.append((f"{text(value)}<small>{100 * part:.1f} % of all</small>", value, ""))
        for measure, words in (("size_bytes", bytes_text), ("duration_s", time_text), ("rtt_s", time_text)):
            median = document[measure].get(name, {}).get("q50")
            cells.append((words(median), median, ""))
        rate = document["retransmission"].get(name, {}).get("rate")
        cells.append((MISSING if rate is None else f"{100 * rate:.2f} %", rate, ""))
        lines.append(line(name, style, cells))
    reasons = [row for row in document["composition"] if row["reason"]]
    caption = (
        "lc: local client, ls: local server, rp: remote peer (Chen 2012, Table 8.2). Retransmitted: "
        "share of the TCP data packets that had been sent before. "
    )
    if reasons:
        parts = ", ".join(f"{row['connections']:,} {row['reason']} ({row['side']})" for row in reasons)
        caption += f"Other: {parts} connections. "
    caption += "The box before a name puts it into the plots; a click on its row brings it out."
    return f'{framed(heads, lines)}<p class="soft">{escape(caption)}</p>'


def _round_trips_table(document: Mapping[str, Any]) -> str:
    of = document["round_trips"]
    kinds = [kind for kind in ROUND_TRIPS if kind in of]
    rows = []
    for name in CLASSES:
        cells = []
        for kind in kinds:
            found = of[kind].get(name, {})
            spread = f"<small>{time_text(found['q05'])} to {time_text(found['q95'])}</small>" if found.get("n") else ""
            cells.append(f"<td>{time_text(found.get('q50'))}{spread}</td>")
        if any(of[kind].get(name) for kind in kinds):
            rows.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    names = {"handshake": "handshakes", "data_ack": "of data", "timestamp": "of timestamps"}
    samples = ", ".join(f"{of[kind]['samples']:,} {word}" for kind, word in names.items() if kind in of)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("class", *(ROUND_TRIPS[kind] for kind in kinds)))
    return (
        f'<h2>Round-trip times by class</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="soft">Median over TCP connections of their mean, and 5 % to 95 %; between the tap and one end, and '
        "both parts together. Delayed acknowledgements are in the times of data. Samples, of the part with fewer: "
        f"{samples}.</p>"
    )


def _fits_tables(document: Mapping[str, Any]) -> str:
    parts = []
    for name, fits in document["fits"].items():
        rows = []
        for fit in fits:
            parameters = ", ".join(f"{key} {value:.4g}" for key, value in fit["parameters"].items())
            cells = [f"{fit['aic'] - fits[0]['aic']:.1f}", f"{fit['ks']:.4f}", _p(fit["ks_p"]), f"{fit['ad']:.4g}"]
            shown_cells = "".join(f"<td>{cell}</td>" for cell in [escape(parameters), *cells, _p(fit["ad_p"])])
            rows.append(f'<tr><th scope="row">{escape(fit["law"])}</th>{shown_cells}</tr>')
        heads = ("law", "parameters", "AIC - best", "KS", "p", "Anderson-Darling", "p")
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        parts.append(
            f'<h2>Laws of {NAMES[name]}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>"
            f'<p class="soft">Fitted by likelihood; p by bootstrap on {fits[0]["tested"]:,} values.</p>'
        )
    return "".join(parts)


def _p(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2g}"


def _plots(found: Profile, colours: Mapping[str, Style], document: Mapping[str, Any]) -> list[Figure]:
    sizes = _by_class(found.sampled["size_bytes"], colours)
    durations = _by_class(found.sampled["duration_s"], colours)
    rtts = _by_class(found.sampled["rtt_s"], colours)
    gaps = {name: values for name, values in gaps_within(found.columns, "class").items() if name in colours}
    return [
        _load(found, colours),
        _directions(document),
        _cdfs(
            "sizes",
            "Flow sizes",
            UNITS["size_bytes"],
            sizes,
            colours,
            "Share of the flows up to a size.",
        ),
        _cdfs(
            "mass",
            "Where the bytes are",
            UNITS["size_bytes"],
            sizes,
            colours,
            "Share of the payload that is in flows up to a size.",
            mass=True,
        ),
        _cdfs(
            "durations",
            "Durations",
            UNITS["duration_s"],
            durations,
            colours,
            "From the first packet of a flow to its last.",
            1e-6,
        ),
        _cdfs(
            "gaps",
            "Times between arrivals",
            UNITS["gap_s"],
            gaps,
            colours,
            "Between the starts of two flows of a class.",
            1e-6,
        ),
        _cdfs("rtts", "Handshakes", "RTT of the handshake (s)", rtts, colours, "From SYN to the ACK of the SYN-ACK."),
        _ratios(found.host_traffic),
        _traffic(found.host_traffic),
    ]


def _by_class(sample: Sample, colours: Mapping[str, Style]) -> dict[str, Floats]:
    groups = sample.groups("class")
    parts = {name: groups[name] for name in colours}
    return {name: values for name, values in parts.items() if len(values)}


def _load(found: Profile, colours: Mapping[str, Style]) -> Figure:
    starts = found.loads.starts.tolist()
    unit, name = _unit(starts[-1])
    rates = totals(found.loads, "class")
    data = [
        curve(
            label,
            style,
            figures_of([start / unit for start in starts]),
            figures_of(rates[label] / 1e6),
            "%{y:.4~g} Mbit/s from %{x:.4~g} " + name,
            mode="lines+markers",
            line={"color": style.colour, "dash": style.dash, "width": style.width, "shape": "hv"},
            marker={"size": 3 if len(starts) > 1 else 9, "color": style.colour},
        )
        for label, style in colours.items()
        if label in rates
    ]
    shades = [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": starts[period.begin] / unit,
            "x1": (starts[period.end - 1] + found.bin_s) / unit,
            "y0": 0,
            "y1": 1,
            "line": {"width": 0},
            "fillcolor": "rgba(224,147,15,0.14)",
            "layer": "below",
        }
        for period in found.periods
        if period.busy
    ]
    layout = {
        "xaxis": axis(f"time ({name})"),
        "yaxis": axis("load (Mbit/s)"),
        "shapes": shades,
        "showlegend": True,
    }
    caption = (
        f"In bins of {time_text(found.bin_s)}; the bytes of a connection are spread over the time between "
        "its first and last packet."
    )
    if shades:
        caption += " Shaded: busy periods."
    return Figure("load", "Load over time by class", caption, data, layout)


def _directions(document: Mapping[str, Any]) -> Figure:
    data = []
    for measure, colour in (("bytes", "#4269d0"), ("packets", "#e0930f")):
        parts = document["directions"][measure]
        data.append(
            {
                "type": "bar",
                "name": measure,
                "x": list(parts),
                "y": figures_of([100 * (part["share"] or 0.0) for part in parts.values()]),
                "marker": {"color": colour},
                "hovertemplate": "%{x}: %{y:.3~g} %",
            }
        )
    layout = {"xaxis": axis(""), "yaxis": axis("share (%)"), "barmode": "group", "showlegend": True}
    caption = (
        "External: up leaves the site. Internal: up is from client to server. Without connections that "
        "carried no data and without other traffic."
    )
    return Figure("directions", "Traffic by direction", caption, data, layout)


def _cdfs(
    key: str,
    title: str,
    unit: str,
    parts: Mapping[str, Floats],
    colours: Mapping[str, Style],
    caption: str,
    floor: float | None = None,
    mass: bool = False,
) -> Figure:
    data = []
    for label, values in parts.items():
        if mass and values.sum() == 0:
            continue
        x, y = mass_cdf(values) if mass else cdf(values)
        x = x if floor is None else np.maximum(x, floor)
        style = colours[label]
        stepped = {"color": style.colour, "dash": style.dash, "width": style.width, "shape": "hv"}
        data.append(curve(label, style, figures_of(x), figures_of(y), "%{y:.3~g} up to %{x:.4~g}", line=stepped))
    layout = {"xaxis": axis(unit, True, values_of(data, "x")), "yaxis": axis("share up to"), "showlegend": True}
    if floor is not None:
        caption += f" Zeros stand at {floor:g} s."
    return Figure(key, title, caption, data, layout)


def _ratios(hosts: HostTraffic) -> Figure:
    names = {
        "internal_external_bytes": ("internal over external bytes", "#4269d0", "solid"),
        "internal_external_packets": ("internal over external packets", "#4269d0", "dot"),
        "down_up_internal_bytes": ("internal down over up, bytes", "#2aa38b", "solid"),
        "down_up_external_bytes": ("external down over up, bytes", "#e8503f", "solid"),
        "down_up_internal_packets": ("internal down over up, packets", "#2aa38b", "dot"),
        "down_up_external_packets": ("external down over up, packets", "#e8503f", "dot"),
    }
    clients = clients_of(hosts)
    data = []
    for column, (name, colour, dash) in names.items():
        values = known(hosts.columns[column][clients])
        if not len(values[values > 0]):
            continue
        x, y = cdf(values)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": shown(name),
                "x": figures_of(np.where(x > 0, x, np.nan)),
                "y": figures_of(y),
                "line": {"color": colour, "dash": dash, "width": 2, "shape": "hv"},
                "marker": {"size": 4, "color": colour},
                "hovertemplate": "%{y:.3~g} of the clients up to %{x:.4~g}",
            }
        )
    layout = {
        "xaxis": axis("ratio of a client", True, values_of(data, "x")),
        "yaxis": axis("share of the clients up to"),
        "showlegend": True,
    }
    caption = "Each client's internal to external traffic, and what it received to what it sent."
    return Figure("ratios", "Ratios of the clients", caption, data, layout)


def _traffic(hosts: HostTraffic) -> Figure:
    values = traffic_bytes(hosts)
    data = []
    if (values > 0).any():
        x, y = cdf(np.maximum(values, 1))
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "local hosts",
                "x": figures_of(x),
                "y": figures_of(y),
                "line": {"color": "#4269d0", "width": 2, "shape": "hv"},
                "marker": {"size": 4, "color": "#4269d0"},
                "hovertemplate": "%{y:.3~g} of the hosts up to %{x:.4~g} bytes",
            }
        )
    layout = {"xaxis": axis("traffic of a host (bytes)", True, values_of(data, "x")), "yaxis": axis("share up to")}
    caption = "Sent and received, inside and across. Hosts of little traffic have no role."
    return Figure("host-traffic", "Traffic of the local hosts", caption, data, layout)


def _qq(name: str, fits: Sequence[Mapping[str, Any]]) -> Figure:
    colours = styles([fit["law"] for fit in fits])
    data: list[dict[str, Any]] = []
    for fit in fits:
        pairs = [(x, y) for x, y in zip(fit["qq"]["law"], fit["qq"]["measured"], strict=True) if x > 0 and y > 0]
        style = colours[fit["law"]]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": shown(fit["law"]),
                "x": figures_of([x for x, _ in pairs]),
                "y": figures_of([y for _, y in pairs]),
                "marker": {"symbol": style.symbol, "size": 6, "color": style.colour},
                "hovertemplate": "law %{x:.4~g}, measured %{y:.4~g}",
            }
        )
    measured = [value for value in values_of(data, "y") if value]
    ends = [min(measured), max(measured)]
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "equal",
            "x": figures_of(ends),
            "y": figures_of(ends),
            "line": {"color": "#868b95", "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        }
    )
    # A law with an extreme tail must not squeeze the others into a corner.
    low, high = ends[0] / 100, ends[1] * 100
    reach = [np.log10(value) for value in (max(low, 1e-12), high)]
    layout = {
        "xaxis": axis(f"quantile of the law, {UNITS[name]}", True, ends, range=[float(value) for value in reach]),
        "yaxis": axis("measured quantile", True, measured),
        "showlegend": True,
    }
    caption = "A law that fits lies on the dotted line. Quantiles at 2 % to 98 %."
    return Figure(f"qq-{name.split('_')[0]}", f"Laws of {NAMES[name]}: QQ plot", caption, data, layout)
