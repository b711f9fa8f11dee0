"""What groups of flows got of what is fair: share, slowdown, longest stall, loss, and times of transfers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mayfly.comparison.ordering import grouped
from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.plots import MANY
from mayfly.show.table import Cell, Table
from mayfly.text.readable import MISSING, count_text, digits, share_text, spread_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart, Group, GroupTransfers, Slowdown, Summary


HOLDS = 1.25
"""Up to this many fair shares an attacker counts as held; below the inverse, a victim as starved."""

_NO_GROUP = "(no group)"


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``groups``, where flows have groups: what is fair is said of a single link."""
    from mayfly.metrics import group_rows

    first, work = of.runs[0], of.workload
    if not work.grouped or first.interfaces or first.cell is not None:
        return {}
    return {"groups": group_rows(of.records, work.fair(of.records), samples=of.samples, **work.link)}


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
    >>> times(2.213).text, times(0.91, attacker=False).good
    ('2.21', True)
    """
    if ratio is None:
        return Cell(MISSING)
    good = None if attacker is None else ratio <= HOLDS if attacker else ratio >= 1 / HOLDS
    return Cell(f"{ratio:.2f}", good)


def percentiles(slowdown: Slowdown | None) -> Cell:
    """Slowdown percentiles in a line; the sign of infinity where transfers never finished.

    Examples
    --------
    >>> percentiles({"p50": 1.02, "p95": 14.25, "p99": None}).text
    '1.02 / 14.2 / ∞'
    """
    if slowdown is None:
        return Cell(MISSING)
    return Cell(
        " / ".join(
            "∞" if value is None else digits(value) for value in (slowdown["p50"], slowdown["p95"], slowdown["p99"])
        )
    )


def _has_slowdown(group: Group) -> bool:
    """Whether there is a percentile to show."""
    return any(value is not None for value in (group["slowdown"] or {}).values())


def tables(summary: Summary) -> tuple[Table, ...]:
    """Share of fair, slowdown, stall and loss, a row per discipline; none when no flow has a group."""
    rows = rows_with(summary, "groups")
    if not rows:
        return ()
    by_label = {row["label"]: {group["group"]: group for group in row["groups"]} for row in rows}
    names = list(dict.fromkeys(group["group"] for row in rows for group in row["groups"]))
    every = {name: [of[name] for of in by_label.values()] for name in names}
    slow = [name for name in names if any(map(_has_slowdown, every[name]))]
    watched = [name for name in names if any(group["longest_stall_s"] is not None for group in every[name])]
    columns: list[tuple[str, str | None, Callable[[Group], Cell]]] = [
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
    note = (
        "First columns: 1 is exactly the fair share, which stands above. It is what the group's users would get if the "
        "link were shared equally among all users with something to send, at every instant."
    )
    body = by_family(rows, lambda label: tuple(cell(by_label[label][name]) for _, name, cell in columns))
    return (Table("Groups of flows: goodput over the fair share", ("discipline", *heads), body, notes=(note,)),)


def _ratio(group: Group) -> Cell:
    return times(group["ratio"], None)


def by_family(
    rows: Sequence[Mapping[str, Any]], cells: Callable[[str], tuple[Cell, ...]]
) -> tuple[str | tuple[Cell | str, ...], ...]:
    """Rows of a table, under the names of families when they are many, each with its label in front."""
    if len(rows) <= MANY:
        return tuple((row["label"], *cells(row["label"])) for row in rows)
    found: list[str | tuple[Cell | str, ...]] = []
    for family, members in grouped(rows):
        found += [family, *((row["label"], *cells(row["label"])) for row in members)]
    return tuple(found)


SECTION = Section(measure, tables)


HEADS = ("discipline", "group", "flows", "un-\nfinished", "short flows", "long flows")


def measure_transfers(of: Measured) -> DisciplineRowPart:
    """The key ``group_transfers``, where flows have groups and some go up; a cell has them among its own figures."""
    from mayfly.metrics.groups import group_classes

    if not of.workload.grouped or of.runs[0].cell is not None:
        return {}
    found = group_classes(of.records, len(of.runs))
    return {"group_transfers": found} if any(row["direction"] == "up" for row in found) else {}


def transfer_tables(summary: Summary) -> tuple[Table, ...]:
    """Transfers of each group in each direction; none where none of them go up, and in a cell."""
    lines = group_lines((row["label"], row["group_transfers"]) for row in rows_with(summary, "group_transfers"))
    note = "Short and long flows are classed within each group and direction."
    return (Table("Transfers by group and direction", HEADS, lines, names=2, notes=(note,)),) if lines else ()


def group_lines(groups: Iterable[tuple[str, Sequence[GroupTransfers]]]) -> tuple[tuple[str, ...], ...]:
    """Rows under ``HEADS``.

    Parameters
    ----------
    groups : iterable of (str, sequence of mapping)
        Discipline, and rows of :func:`mayfly.metrics.groups.group_classes`.

    Returns
    -------
    tuple of tuple of str
    """
    lines = []
    for label, rows in groups:
        for position, own in enumerate(rows):
            cells = (
                count_text(own["flows"]),
                count_text(own["flows"] - own["completed"]),
                spread_text(own["short"]["mean_s"], own["short"]["ci95"]),
                spread_text(own["long"]["mean_s"], own["long"]["ci95"]),
            )
            name = f"{own['group'] or MISSING}, {own['direction']}"
            lines.append((label if position == 0 else "", name, *cells))
    return tuple(lines)


TRANSFERS = Section(measure_transfers, transfer_tables)
