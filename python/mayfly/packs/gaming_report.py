"""Tables, plots and page of the pack that attacks every discipline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from mayfly.comparison.sections.groups import HOLDS, by_family, percentiles, times
from mayfly.packs.gaming_verdicts import leading_sentences
from mayfly.scenario.attacks import ATTACKS, PARTS, Attack, attack
from mayfly.show import page
from mayfly.show.palette import Style, styles
from mayfly.show.plots import MANY, Bar, Figure, Panel, axis, bar_panels, curve, figures_of, shown, values_of
from mayfly.show.table import Cell, Table, html
from mayfly.text.readable import MISSING, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.packs.gaming import Gaming
    from mayfly.summary_types import Slowdown


def gaming_tables(result: Gaming) -> dict[str, list[Table]]:
    """The overview of a pack, and what was measured in each part.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    dict of list of Table
        ``overview`` and the ids of the parts that ran; the first grid of a part is the attacker's share.
    """
    run = set(result.table["part"])
    return {"overview": [_overview(result.overview)]} | {
        id: [_measured(result, id, title, group, cell) for title, group, cell in _measures(attack(id))]
        for id in PARTS
        if id in run
    }


def _victims(row: Attack) -> str:
    """Group of the short transfers."""
    return "short" if row.joins else row.group


def _measures(part: Attack) -> list[tuple[str, str, Callable[[Mapping[str, Any]], Cell]]]:
    """Title, group and cell of each table of a part."""
    attacker = part.group
    # The fair share of a flood of many users is nearly the whole link, so its ratio carries no information.
    judged = True if part.joins else None
    measures = [
        (f"Goodput of the {attacker} over its fair share", attacker, lambda row: times(row["ratio"], judged)),
        ("Goodput of the long transfers over their fair share", "long", lambda row: times(row["ratio"], False)),
        ("Longest time a long transfer makes no progress", "long", lambda row: Cell(time_text(row["longest_stall_s"]))),
        (
            "Slowdown of the short transfers: 50 / 95 / 99 %",
            _victims(part),
            lambda row: percentiles({"p50": row["p50"], "p95": row["p95"], "p99": row["p99"]}),
        ),
    ]
    if part.source == "batch":
        # The long transfers have the link to themselves for most of the run: their share over all of it says little.
        measures[1] = ("Response time of the split transfer", attacker, lambda row: Cell(_response(row)))
    if part.source == "cbr":
        measures.insert(1, ("Packets the attacker loses", attacker, lambda row: Cell(share_text(row["loss"]))))
    return measures


def _response(row: Mapping[str, Any]) -> str:
    """Mean response time, and how many never finished."""
    missing = row["batches"] - row["complete"]
    return time_text(row["response_s"]) + (f" ({missing} of {row['batches']} unfinished)" if missing else "")


def _measured(result: Gaming, part: str, title: str, group: str, cell: Callable[[Mapping[str, Any]], Cell]) -> Table:
    own = result.table.filter(part=part)
    labels = dict(own.select("case", "label").unique(maintain_order=True).iter_rows())
    own = own.filter(group=group)
    found = {(row["discipline"], row["case"]): cell(row) for row in own.iter_rows(named=True)}
    heads = (label.replace(", ", ",\n").replace(" every", "\nevery") for label in labels.values())
    rows = by_family(result.overview, lambda label: tuple(found.get((label, case), Cell(MISSING)) for case in labels))
    return Table(title, ("discipline", *heads), rows)


def _taken(key: str, row: Mapping[str, Any]) -> Cell:
    return times(row[key])


def _overview(rows: Sequence[Mapping[str, Any]]) -> Table:
    by_label = {row["label"]: row for row in rows}
    columns: dict[str, Callable[[Mapping[str, Any]], Cell]] = {
        **{row.cases.column: partial(_taken, row.cases.key) for row in ATTACKS if row.cases and row.cases.key},
        "gained\nby the\nsplit": lambda row: times(row["split_gain"], None),
        "long ones\nin\noverload": lambda row: times(row["long"], attacker=False),
        "their\nlongest\nstall": lambda row: Cell(time_text(row["stall_s"])),
        "stall in\nthe other\nattacks": lambda row: Cell(time_text(row["stall_attacked_s"])),
        "short ones:\nslowdown 50 /\n95 / 99 %": _short,
    }
    # A part that did not run leaves its columns empty.
    columns = {head: cell for head, cell in columns.items() if any(cell(row).text != MISSING for row in rows)}
    note = (
        "Goodput over the fair share, in the worst case of each attack: an attacker is held to about 1, a victim keeps "
        "about 1. Overload: 1.1 times the link. Slowdown of the short transfers: worst case of the first two attacks."
    )
    body = by_family(rows, lambda label: tuple(cell(by_label[label]) for cell in columns.values()))
    return Table("Who resists what", ("discipline", *columns), body, notes=(note,))


def _short(row: Mapping[str, Any]) -> Cell:
    found: Slowdown = {"p50": row["short_p50"], "p95": row["short_p95"], "p99": row["short_p99"]}
    return percentiles(found if row["short_at"] else None)


def leading_tables(result: Gaming) -> list[Table]:
    """The overview of a pack and the attacker's share in each part, for the terminal.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    list of Table
    """
    return [_titled(part, tables[0]) for part, tables in gaming_tables(result).items()]


def _titled(part: str, table: Table) -> Table:
    return table if part == "overview" else replace(table, title=f"{part}: {table.title[:1].lower()}{table.title[1:]}")


_SHORTLIST = ("fifo", "fq_codel", "cake", "codel", "pie", "las", "efd", "lfq")
"""Disciplines that are drawn at first where there are many."""


def gaming_page(result: Gaming) -> str:
    """The report of a pack: one HTML page that opens without a network.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    str
        HTML: who resists, in words, as bars and as a table; then each attack, its tables folded.
    """
    looks = styles([row["label"] for row in result.overview])
    tables = gaming_tables(result)
    [overview] = tables.pop("overview")
    felt = _bars(result.overview, looks)
    told = leading_sentences(result.overview)
    drawn: list[Figure] = [felt]
    body = []
    for part, own in tables.items():
        figures = _curves(result, part, looks)
        drawn += figures
        body.append(f"<h2>{escape(PARTS[part].title)}</h2>")
        body += [page.place_of(figure) for figure in figures]
        body.append(page.folded(f"Tables: {PARTS[part].tables}", "".join(html(table, level=3) for table in own)))
    legend = (
        f"Green: at most {HOLDS} fair shares for an attacker, at least {1 / HOLDS:.1f} left for a victim. Red: beyond."
    )
    return page.document(
        "Gaming and starvation",
        [
            "<h1>Gaming and starvation</h1>",
            page.answer(told[:1]),
            page.place_of(felt, leads=True),
            page.told(told[1:]),
            html(overview),
            f'<p class="soft">{escape(legend)}</p>',
            *body,
            '<footer class="soft">Made by Mayfly. A user is a pair of hosts; the fair share is what it would get if '
            "the link were shared equally among all users with something to send, at every instant.</footer>",
        ],
        [page.for_script(figure) for figure in drawn],
    )


def _bars(rows: Sequence[Mapping[str, Any]], looks: Mapping[str, Style]) -> Figure:
    """The overview as bars, one panel per attack that ran."""
    measures: list[tuple[str, str, float | None]] = [
        *(
            (f"{row.title.lower()} takes (fair shares)", row.cases.key, 1.0)
            for row in ATTACKS
            if row.id in PARTS and row.cases and row.cases.key
        ),
        ("overload leaves long ones (fair shares)", "long", 1.0),
        ("short ones under attack, slowdown p95", "short_p95", None),
    ]
    panels = []
    for title, name, mark in measures:
        known = {row["label"]: row for row in rows if _ran(row, name)}
        if known:
            bars = {label: _bar_of(row[name]) for label, row in known.items()}
            panels.append(Panel(title, bars, mark))
    caption = (
        "Goodput over the fair share in the worst case of each attack, and how many times longer than alone 95 % of "
        "the short transfers take at most. The dotted line is the fair share: an attacker should stay at it, a victim "
        "keep it."
    )
    return bar_panels("resists", "Who resists what", caption, panels, looks)


def _ran(row: Mapping[str, Any], name: str) -> bool:
    return row["short_at"] is not None if name == "short_p95" else row[name] is not None


def _bar_of(value: float | None) -> Bar:
    """A bar; transfers that never finish have no length."""
    return Bar(None, "never ends") if value is None else Bar(value, digits(value))


def _curves(result: Gaming, part: str, looks: Mapping[str, Style]) -> list[Figure]:
    """What the attacker takes, or what the flood leaves, over the cases of a part; and the slowdown of the victims."""
    row, head = attack(part), (PARTS[part].curve, PARTS[part].axis)
    shown_group = row.group if row.joins else "long"
    takes = _over_cases(
        result, part, shown_group, "ratio", looks, head, "goodput (fair shares)", "Worst is far from 1, the fair share."
    )
    slow = (
        f"Short transfers beside it: {part}" if row.joins else "Short transfers that are the overload",
        head[1],
    )
    hurts = _over_cases(
        result, part, _victims(row), "p95", looks, slow, "slowdown, p95", "95 % of them take at most so many times "
        "longer than alone; where a point is missing, such a transfer never ended."
    )  # fmt: skip
    return [figure for figure in (takes, hurts) if figure is not None]


def _over_cases(
    result: Gaming,
    part: str,
    group: str,
    column: str,
    looks: Mapping[str, Style],
    head: tuple[str, str],
    unit: str,
    caption: str,
) -> Figure | None:
    own = result.table.filter(part=part, group=group)
    few = [label for label in looks if label in _SHORTLIST]
    hides = len(looks) > MANY and len(few) > 1
    cases = list(dict(own.select("case", "label").unique(maintain_order=True).iter_rows()).values())
    data = []
    for discipline, style in looks.items():
        found = {row["label"]: row[column] for row in own.filter(discipline=discipline).iter_rows(named=True)}
        if not any(value is not None for value in found.values()):
            continue
        marks = {"symbol": style.symbol, "size": 7, "color": style.colour}
        trace = curve(
            discipline,
            style,
            cases,
            figures_of([found.get(case) for case in cases]),
            f"{shown(discipline)}: %{{y:.3~g}} at %{{x}}<extra></extra>",
            mode="lines+markers",
            marker=marks,
        )
        if hides and discipline not in few:
            trace["visible"] = "legendonly"
        data.append(trace)
    values = values_of(data, "y")
    if not data:
        return None
    if hides:
        caption += " A name in the legend puts the discipline into the plot."
    layout: dict[str, Any] = {
        "xaxis": axis(head[1], type="category"),
        "yaxis": axis(unit, True, [value for value in values if value]),
        "showlegend": True,
        "shapes": [
            {"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "xref": "paper"}
            | {"line": {"dash": "dot", "width": 1, "color": "#868b95"}}
        ],
    }
    if len(data) > MANY:
        layout |= {"legend": {"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top", "font": {"size": 11}}}
        layout["height"] = max(460, 19 * len(data) + 70)
    return Figure(f"{part}-{column}", head[0], caption, data, layout)
