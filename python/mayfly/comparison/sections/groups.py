"""What groups of flows got of what is fair: share, slowdown, longest stall and loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mayfly.comparison.ordering import grouped
from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.plots import MANY
from mayfly.show.table import Cell, Table
from mayfly.text.readable import MISSING, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart, Group, Slowdown, Summary

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
