"""Response times of the transfers of each group in each direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, spread_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart, GroupTransfers, Summary

HEADS = ("discipline", "group", "flows", "un-\nfinished", "short flows", "long flows")


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``group_transfers``, where flows have groups and some go up; a cell has them among its own figures."""
    from mayfly.metrics.groups import group_classes

    if not of.workload.grouped or of.runs[0].cell is not None:
        return {}
    found = group_classes(of.records, len(of.runs))
    return {"group_transfers": found} if any(row["direction"] == "up" for row in found) else {}


def tables(summary: Summary) -> tuple[Table, ...]:
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


SECTION = Section(measure, tables)
