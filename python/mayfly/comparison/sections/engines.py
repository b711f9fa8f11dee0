"""The kernel beside the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from mayfly.comparison.sections.section import Section
from mayfly.show.table import Table
from mayfly.text.readable import MISSING

if TYPE_CHECKING:
    from mayfly.summary_types import Summary

Ratio = Literal["short", "long", "utilisation", "queue_mean_packets", "drops", "flows_unfinished"]

_COLUMNS: Mapping[Ratio, str] = {
    "short": "short\nflows",
    "long": "long\nflows",
    "utilisation": "link\nuse",
    "queue_mean_packets": "mean\nqueue",
    "drops": "drops",
    "flows_unfinished": "un-\nfinished",
}


def tables(summary: Summary) -> tuple[Table, ...]:
    """What the kernel measured over what the simulator did, a row per discipline; none unless both ran."""
    rows = summary.get("engines")
    if not rows:
        return ()
    cells = [
        (row["label"], *(MISSING if (ratio := row[name]) is None else f"{ratio:.2f}" for name in _COLUMNS))
        for row in rows
    ]
    return (Table("Linux over simulator", ("discipline", *_COLUMNS.values()), tuple(cells), narrow="fold"),)


SECTION = Section(tables=tables)
