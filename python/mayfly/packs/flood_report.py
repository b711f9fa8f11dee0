"""The page of the pack that floods a link with UDP."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.show import page
from mayfly.show.palette import Style, styles
from mayfly.show.plots import Bar, Figure, Panel, bar_panels
from mayfly.show.table import Table, html
from mayfly.text.readable import digits

if TYPE_CHECKING:
    from mayfly.packs.flood import Flood

HEADS = ("long, Mb/s", "short, s", "short lost", "long lost", "flood, Mb/s", "flood lost", "delay, ms")
"""Of the table of a case."""


def flood_page(found: "Flood") -> str:
    """The report of a pack: one HTML page that opens without a network.

    Parameters
    ----------
    found : Flood
        Of :func:`mayfly.packs.flood.flood`.

    Returns
    -------
    str
        HTML: what is left to TCP, in words and as bars, then a table per case.
    """
    looks = styles(found.table["discipline"].unique(maintain_order=True).to_list())
    figure = _left(found, looks)
    tables = [_table(found, case, label) for case, label in found.labels.items()]
    return page.document(
        "Flooded by UDP",
        [
            "<h1>Flooded by UDP</h1>",
            page.answer(sentences(found)),
            page.place_of(figure, leads=True),
            *map(html, tables),
            '<footer class="soft">Made by Mayfly. After the warm-up; cases as Zhao 2004, II.E and IV.</footer>',
        ],
        [page.for_script(figure)],
    )


def sentences(found: "Flood") -> list[str]:
    """What the flood leaves to long TCP flows, without full stops.

    Parameters
    ----------
    found : Flood

    Returns
    -------
    list of str
    """
    calm, flooded = _rates(found.table, "calm"), _worst(found.table, "long-", "long", "throughput_mbps")
    if not flooded:
        return []
    best, least = max(flooded, key=lambda label: flooded[label]), min(flooded, key=lambda label: flooded[label])

    def told(label: str) -> str:
        before = f" of {digits(calm[label])} without it" if label in calm else ""
        return f"{digits(flooded[label])} Mbit/s{before} with {label}"

    if best == least:
        return [f"Under the flood the long TCP flows keep {told(best)}"]
    return [f"Under the flood the long TCP flows keep most, {told(best)}; least, {told(least)}"]


def _rates(table: pl.DataFrame, case: str) -> dict[str, float]:
    own = table.filter(case=case, group="long").select("discipline", "throughput_mbps")
    return {label: value for label, value in own.iter_rows() if value is not None}


def _worst(table: pl.DataFrame, case: str, group: str, column: str, most: bool = False) -> dict[str, float]:
    """The worse figure of the two phases, by discipline."""
    own = table.filter(pl.col("case").str.starts_with(case), group=group).filter(pl.col(column).is_not_null())
    worst = pl.col(column).max() if most else pl.col(column).min()
    return dict(own.group_by("discipline", maintain_order=True).agg(worst).iter_rows())


def _left(found: "Flood", looks: Mapping[str, Style]) -> Figure:
    table = found.table
    measures = [
        ("long TCP, no flood (Mbit/s)", _rates(table, "calm")),
        ("long TCP, flooded (Mbit/s)", _worst(table, "long-", "long", "throughput_mbps")),
        ("the flood gets (Mbit/s)", _worst(table, "long-", "flood", "throughput_mbps", most=True)),
        ("short TCP, flooded (s)", _worst(table, "mixed-", "short", "response_s", most=True)),
    ]
    panels = [
        Panel(title, {label: Bar(value, digits(value)) for label, value in values.items()})
        for title, values in measures
        if values
    ]
    caption = (
        "The worse of CBR sources that start in step and staggered. More Mbit/s for long flows and fewer seconds for "
        "short ones are better."
    )
    return bar_panels("left", "What a flood leaves to TCP", caption, panels, looks)


def cells_of(of: dict[str, dict[str, Any]]) -> list[str]:
    """What stands under `HEADS` in the row of a discipline, from its rows of the table by group."""

    def shown(group: str, name: str, text: str, times: float = 1.0) -> str:
        value = of.get(group, {}).get(name)
        return "" if value is None else format(value * times, text)

    return [
        shown("long", "throughput_mbps", ".1f"),
        shown("short", "response_s", ".2f"),
        shown("short", "drop_rate", ".1%"),
        shown("long", "drop_rate", ".1%"),
        shown("flood", "throughput_mbps", ".1f"),
        shown("flood", "drop_rate", ".1%"),
        shown("long", "delay_s", ".1f", 1e3),
    ]


def _table(found: "Flood", case: str, label: str) -> Table:
    rows: list[tuple[str, ...]] = []
    own = found.table.filter(case=case)
    for (discipline,), part in own.partition_by("discipline", as_dict=True, maintain_order=True).items():
        of: dict[str, dict[str, Any]] = {row["group"]: row for row in part.to_dicts()}
        rows.append((str(discipline), *cells_of(of)))
    return Table(label, ("discipline", *HEADS), tuple(rows))
