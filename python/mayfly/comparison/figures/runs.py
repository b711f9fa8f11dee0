"""Tables of a comparison as the plots take them: arrays by discipline, whoever made the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mayfly.metrics.curves import Columns, columns_of
from mayfly.show.palette import Style

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ArrayRuns:
    """Flow records or samples of disciplines that ran once each, without the library for tables.

    Parameters
    ----------
    read : mapping of callable
        By label: from the name of a column to its array, None where there is no such column.
    """

    read: Mapping[str, Callable[[str], Any]]

    def columns(self, label: str, names: Sequence[str]) -> Columns:
        """Columns of a discipline, without those that it has not."""
        found = {name: self.read[label](name) for name in names}
        return {name: values for name, values in found.items() if values is not None}


def labels_of(table: "pl.DataFrame | ArrayRuns") -> list[str]:
    """The disciplines of a table, in the order in which they stand there."""
    if isinstance(table, ArrayRuns):
        return list(table.read)
    labels: list[str] = table["discipline"].unique(maintain_order=True).to_list()
    return labels


def parts_of(
    table: "pl.DataFrame | ArrayRuns", styles: Mapping[str, Style], names: Sequence[str], *, first: bool = False
) -> list[tuple[str, Style, Columns]]:
    """The rows of each discipline that has some, in the order of the styles.

    Parameters
    ----------
    table : polars.DataFrame or ArrayRuns
        Flow records or samples.
    styles : mapping of Style
        By label.
    names : sequence of str
        Columns that are needed.
    first : bool
        Whether only the first replication counts.

    Returns
    -------
    list of tuple
        Label, style, and columns by name.
    """
    if isinstance(table, ArrayRuns):
        parts = [(label, style, table.columns(label, names)) for label, style in styles.items() if label in table.read]
        return [part for part in parts if any(len(values) for values in part[2].values())]
    if first and "replication" in table.columns and table.height:
        table = table.filter(table["replication"] == table["replication"].min())
    beside = ("protocol",) if "tcp" in names else ()
    kept = table.select("discipline", *(name for name in table.columns if name in (*names, *beside)))
    frames = ((label, style, kept.filter(kept["discipline"] == label)) for label, style in styles.items())
    return [(label, style, columns_of(frame, names)) for label, style, frame in frames if frame.height]
