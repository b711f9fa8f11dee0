"""Tables and page of the pack that attacks every discipline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from mayfly.comparison.sections.groups import HOLDS, by_family, percentiles, times
from mayfly.show import page
from mayfly.show.table import Cell, Table, html
from mayfly.text.readable import MISSING, share_text, time_text

if TYPE_CHECKING:
    from mayfly.packs.gaming import Gaming


def gaming_tables(result: "Gaming") -> dict[str, list[Table]]:
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
    from mayfly.packs.gaming import PARTS

    run = set(result.table["part"])
    return {"overview": [_overview(result.overview)]} | {
        part.id: [
            _measured(result, part.id, title, group, cell) for title, group, cell in _measures(part.id, part.group)
        ]
        for part in PARTS
        if part.id in run
    }


def _measures(part: str, attacker: str) -> list[tuple[str, str, Callable[[Mapping[str, Any]], Cell]]]:
    """Title, group and cell of each table of a part."""
    victims = "flood" if part == "overload" else "short"
    # The fair share of a flood of many users is nearly the whole link, so its ratio carries no information.
    judged = None if part == "overload" else True
    measures = [
        (f"Goodput of the {attacker} over its fair share", attacker, lambda row: times(row["ratio"], judged)),
        ("Goodput of the long transfers over their fair share", "long", lambda row: times(row["ratio"], False)),
        ("Longest time a long transfer makes no progress", "long", lambda row: Cell(time_text(row["longest_stall_s"]))),
        (
            "Slowdown of the short transfers: 50 / 95 / 99 %",
            victims,
            lambda row: percentiles({name: row[name] for name in ("p50", "p95", "p99")}),
        ),
    ]
    if part == "split":
        # The long transfers have the link to themselves for most of the run: their share over all of it says little.
        measures[1] = ("Response time of the split transfer", attacker, lambda row: Cell(_response(row)))
    if part == "spaced":
        measures.insert(1, ("Packets the attacker loses", attacker, lambda row: Cell(share_text(row["loss"]))))
    return measures


def _response(row: Mapping[str, Any]) -> str:
    """Mean response time, and how many never finished."""
    missing = row["batches"] - row["complete"]
    return time_text(row["response_s"]) + (f" ({missing} of {row['batches']} unfinished)" if missing else "")


def _measured(result: "Gaming", part: str, title: str, group: str, cell: Callable[[Mapping[str, Any]], Cell]) -> Table:
    own = result.table.filter(part=part)
    labels = dict(own.select("case", "label").unique(maintain_order=True).iter_rows())
    own = own.filter(group=group)
    found = {(row["discipline"], row["case"]): cell(row) for row in own.iter_rows(named=True)}
    heads = (label.replace(", ", ",\n").replace(" every", "\nevery") for label in labels.values())
    rows = by_family(result.overview, lambda label: tuple(found.get((label, case), Cell(MISSING)) for case in labels))
    return Table(title, ("discipline", *heads), rows)


def _overview(rows: Sequence[Mapping[str, Any]]) -> Table:
    by_label = {row["label"]: row for row in rows}
    columns: dict[str, Callable[[Mapping[str, Any]], Cell]] = {
        "spaced\nsender": lambda row: times(row["spaced"]),
        "spaced,\nnew ports": lambda row: times(row["renewed"]),
        "split\ntransfer": lambda row: times(row["split"]),
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
    return percentiles({name: row[f"short_{name}"] for name in ("p50", "p95", "p99")} if row["short_at"] else None)


def leading_tables(result: "Gaming") -> list[Table]:
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


_STYLE = """
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
tbody th { min-width: 5rem; }
"""


def gaming_page(result: "Gaming") -> str:
    """The report of a pack: one HTML page without plots that opens without a network.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    str
        HTML.
    """
    from mayfly.packs.gaming import PARTS

    titles = {part.id: part.title for part in PARTS}
    body = []
    for part, tables in gaming_tables(result).items():
        body += [f"<h2>{escape(titles[part])}</h2>"] if part in titles else []
        body += [html(table, level=3 if part in titles else 2) for table in tables]
    legend = (
        f"Green: at most {HOLDS} fair shares for an attacker, at least {1 / HOLDS:.1f} left for a victim. Red: beyond."
    )
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{page.POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Gaming and starvation</title>\n<style>{page.STYLE}{_STYLE}</style>\n</head>\n<body>",
            "<h1>Gaming and starvation</h1>",
            f'<p class="soft">{escape(legend)}</p>',
            *body,
            '<footer class="soft">Made by Mayfly. A user is a pair of hosts; the fair share is what it would get if '
            "the link were shared equally among all users with something to send, at every instant.</footer>",
            "</body>\n</html>\n",
        ]
    )
