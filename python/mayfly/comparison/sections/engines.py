"""The kernel beside the simulator."""

from mayfly.comparison.sections.section import Section, Summary
from mayfly.show.table import Table
from mayfly.text.readable import MISSING

_COLUMNS = {
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
        (row["label"], *(MISSING if row[name] is None else f"{row[name]:.2f}" for name in _COLUMNS)) for row in rows
    ]
    return (Table("Linux over simulator", ("discipline", *_COLUMNS.values()), tuple(cells), narrow="fold"),)


SECTION = Section(tables=tables)
