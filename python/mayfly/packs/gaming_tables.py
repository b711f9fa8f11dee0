"""Tables of groups of flows, and of the pack that attacks every discipline: for the terminal, the page and Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from mayfly.show import page
from mayfly.show.choice import MANY, grouped
from mayfly.show.terminal import HidingTable
from mayfly.text.readable import MISSING, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.packs.gaming import Gaming

HOLDS = 1.25
"""Up to this many fair shares an attacker counts as held; below the inverse, a victim as starved."""

_NO_GROUP = "(no group)"


@dataclass(frozen=True)
class Cell:
    """One figure, and whether it is good, bad or neither."""

    text: str
    good: bool | None = None


@dataclass(frozen=True)
class Grid:
    """A table before it is drawn: heads, and rows of cells in sections."""

    title: str
    heads: tuple[str, ...]
    sections: tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]
    note: str = ""


def times(ratio: float | None, attacker: bool | None = True) -> Cell:
    """A multiple of the fair share: good when an attacker is held to it, or a victim is left with it.

    Parameters
    ----------
    ratio : float or None
        Goodput over the fair share.
    attacker : bool or None
        Whether much is bad; None judges nothing.

    Returns
    -------
    Cell

    Examples
    --------
    >>> times(2.213), times(0.91, attacker=False)
    (Cell(text='2.21', good=False), Cell(text='0.91', good=True))
    """
    if ratio is None:
        return Cell(MISSING)
    good = None if attacker is None else ratio <= HOLDS if attacker else ratio >= 1 / HOLDS
    return Cell(f"{ratio:.2f}", good)


def percentiles(slowdown: Mapping[str, float | None] | None) -> Cell:
    """Slowdown percentiles in a line; the sign of infinity where transfers never finished.

    Examples
    --------
    >>> percentiles({"p50": 1.02, "p95": 14.25, "p99": None}).text
    '1.02 / 14.2 / ∞'
    """
    if slowdown is None:
        return Cell(MISSING)
    return Cell(" / ".join("∞" if value is None else digits(value) for value in slowdown.values()))


def _has_slowdown(group: Mapping[str, Any]) -> bool:
    """Whether there is a percentile to show."""
    return any(value is not None for value in (group["slowdown"] or {}).values())


def groups_grid(rows: Sequence[Mapping[str, Any]]) -> Grid:
    """What the groups of a comparison got: share of fair, slowdown, stall and loss.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``groups``.

    Returns
    -------
    Grid
    """
    by_label = {row["label"]: {group["group"]: group for group in row["groups"]} for row in rows}
    names = list(dict.fromkeys(group["group"] for row in rows for group in row["groups"]))
    every = {name: [of[name] for of in by_label.values()] for name in names}
    slow = [name for name in names if any(map(_has_slowdown, every[name]))]
    watched = [name for name in names if any(group["longest_stall_s"] is not None for group in every[name])]
    columns: list[tuple[str, str | None, Callable[[Mapping[str, Any]], Cell]]] = [
        *((f"of {share_text(every[name][0]['fair_share'])}", name, _ratio) for name in names),
        *(("longest\nstall", name, lambda group: Cell(time_text(group["longest_stall_s"]))) for name in watched),
        *(("slowdown\n50 / 95 / 99 %", name, lambda group: percentiles(group["slowdown"])) for name in slow),
        *(
            ("packets\nlost", name, lambda group: Cell(share_text(group["loss"])))
            for name in names
            if name not in slow and name not in watched
        ),
    ]
    heads = tuple(f"{_NO_GROUP if name is None else name}\n{head}" for head, name, _ in columns)
    sections = _sections(rows, lambda label: tuple(cell(by_label[label][name]) for _, name, cell in columns))
    return Grid(
        "Groups of flows: goodput over the fair share",
        heads,
        sections,
        "First columns: 1 is exactly the fair share, which stands above. It is what the group's users would get if the "
        "link were shared equally among all users with something to send, at every instant.",
    )


def _ratio(group: Mapping[str, Any]) -> Cell:
    return times(group["ratio"], None)


def _sections(rows: Sequence[Mapping[str, Any]], cells: Callable[[str], tuple[Cell, ...]]) -> tuple:
    """Rows, by family when they are many, each with its label in front."""
    if len(rows) <= MANY:
        return (("", tuple((Cell(row["label"]), *cells(row["label"])) for row in rows)),)
    return tuple(
        (family, tuple((Cell(row["label"]), *cells(row["label"])) for row in members))
        for family, members in grouped(rows)
    )


def gaming_grids(result: "Gaming") -> dict[str, list[Grid]]:
    """The overview of a pack, and what was measured in each part.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    dict of list of Grid
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
    # A flood of many users has nearly the whole link as its fair share: that it gets it says nothing.
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


def _measured(result: "Gaming", part: str, title: str, group: str, cell: Callable[[Mapping[str, Any]], Cell]) -> Grid:
    own = result.table.filter(part=part)
    labels = dict(own.select("case", "label").unique(maintain_order=True).iter_rows())
    own = own.filter(group=group)
    found = {(row["discipline"], row["case"]): cell(row) for row in own.iter_rows(named=True)}
    return Grid(
        title,
        tuple(label.replace(", ", ",\n").replace(" every", "\nevery") for label in labels.values()),
        _sections(result.overview, lambda label: tuple(found.get((label, case), Cell(MISSING)) for case in labels)),
    )


def _overview(rows: Sequence[Mapping[str, Any]]) -> Grid:
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
    sections = _sections(rows, lambda label: tuple(cell(by_label[label]) for cell in columns.values()))
    return Grid("Who resists what", tuple(columns), sections, note)


def _short(row: Mapping[str, Any]) -> Cell:
    return percentiles({name: row[f"short_{name}"] for name in ("p50", "p95", "p99")} if row["short_at"] else None)


def rich_table(grid: Grid) -> Table:
    """Draw a grid for the terminal: good is bold green, bad red; columns without room are left out.

    Parameters
    ----------
    grid : Grid
        What to draw.

    Returns
    -------
    rich.table.Table
    """
    table = HidingTable(title=Text(grid.title))
    table.add_column(Text("discipline"), overflow="fold", max_width=26)
    for head in grid.heads:
        table.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
    for name, rows in grid.sections:
        if name:
            table.add_row(Text(name, style="dim italic"), *[""] * len(grid.heads))
        for first, *cells in rows:
            table.add_row(Text(first.text), *(Text(cell.text, _STYLES[cell.good]) for cell in cells))
    return table


_STYLES = {True: "bold green", False: "red", None: ""}


def groups_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Groups of a comparison for the terminal.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``groups``.

    Returns
    -------
    rich.table.Table
    """
    return rich_table(groups_grid(rows))


def gaming_tables(result: "Gaming") -> list[Table]:
    """The overview of a pack and the attacker's share in each part, for the terminal.

    Parameters
    ----------
    result : Gaming
        Of :func:`mayfly.packs.gaming.gaming`.

    Returns
    -------
    list of rich.table.Table
    """
    return [rich_table(_titled(part, grids[0])) for part, grids in gaming_grids(result).items()]


def _titled(part: str, grid: Grid) -> Grid:
    return grid if part == "overview" else replace(grid, title=f"{part}: {grid.title[:1].lower()}{grid.title[1:]}")


def html_table(grid: Grid) -> str:
    """Draw a grid as HTML, without its title.

    Parameters
    ----------
    grid : Grid
        What to draw.

    Returns
    -------
    str
        A table that scrolls by itself, and the note.
    """
    heads = "".join(
        f'<th scope="col" style="padding: .35rem .5rem">{escape(head).replace(chr(10), "<br>")}</th>'
        for head in ("discipline", *grid.heads)
    )
    lines = []
    for name, rows in grid.sections:
        if name:
            title = f'<th colspan="{len(grid.heads) + 1}" scope="rowgroup">{escape(name)}</th>'
            lines.append(f'<tr class="family">{title}</tr>')
        for first, *cells in rows:
            marked = "".join(f"<td{_CLASSES[cell.good]}>{escape(cell.text)}</td>" for cell in cells)
            lines.append(f'<tr><th scope="row">{escape(first.text)}</th>{marked}</tr>')
    note = f'<p class="soft">{escape(grid.note)}</p>' if grid.note else ""
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>{note}'
    )


_CLASSES = {True: ' class="good"', False: ' class="bad"', None: ""}


def groups_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """Section of the report about groups of flows; empty when there are none.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str
    """
    if not any("groups" in row for row in rows):
        return ""
    grid = groups_grid(rows)
    return f"<h2>{escape(grid.title)}</h2>{html_table(grid)}"


def markdown_table(grid: Grid) -> str:
    """Draw a grid as Markdown, without title and note; what holds is bold.

    Parameters
    ----------
    grid : Grid
        What to draw.

    Returns
    -------
    str
    """
    heads = ["discipline", *(head.replace("-\n", "").replace("\n", " ") for head in grid.heads)]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * len(grid.heads) + "|"]
    for _, rows in grid.sections:
        for first, *cells in rows:
            texts = [f"**{cell.text}**" if cell.good else cell.text for cell in cells]
            lines.append("| " + " | ".join([f"`{first.text}`", *texts]) + " |")
    return "\n".join(lines)


_STYLE = """
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
td.good { color: var(--good); font-weight: 700; } td.bad { color: var(--bad); }
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
    for part, grids in gaming_grids(result).items():
        body += [f"<h2>{escape(titles[part])}</h2>"] if part in titles else []
        tag = "h3" if part in titles else "h2"
        body += [f"<{tag}>{escape(grid.title)}</{tag}>{html_table(grid)}" for grid in grids]
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
