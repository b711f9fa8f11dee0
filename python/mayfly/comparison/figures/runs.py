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


class FrameRuns:
    """Flow records or samples of the library for tables, parted by discipline once for all plots.

    Parameters
    ----------
    table : polars.DataFrame, shape (n, ...)
        With ``discipline``, and ``replication`` where there are several.
    """

    def __init__(self, table: "pl.DataFrame"):
        self.table = table
        self.parts = _by_discipline(table)
        several = "replication" in table.columns and table.height and table["replication"].n_unique() > 1
        least = table["replication"].min() if several else None
        self._first = {
            label: part.filter(part["replication"] == least) if several else part for label, part in self.parts.items()
        }
        self._found: dict[tuple[str, str, bool], Columns] = {}

    def columns(self, label: str, names: Sequence[str], first: bool) -> Columns | None:
        """Columns of a discipline, without those that it has not; None where it has no row."""
        part = (self._first if first else self.parts).get(label)
        if part is None or not part.height:
            return None
        found: dict[str, Any] = {}
        for name in names:
            key = (label, name, first)
            if key not in self._found:
                self._found[key] = columns_of(part, (name,))
            found |= self._found[key]
        return found


def _by_discipline(table: "pl.DataFrame") -> "dict[str, pl.DataFrame]":
    """The rows of each discipline, which are no copies where they stand together, as those of a comparison do."""
    if not table.height:
        return {}
    labels = table["discipline"]
    begins = [0, *((labels != labels.shift()).fill_null(False).arg_true().to_list())]
    ends = [*begins[1:], table.height]
    together = {str(labels[begin]): table[begin:end] for begin, end in zip(begins, ends, strict=True)}
    if len(together) == len(begins):
        return together
    parts = table.partition_by("discipline", as_dict=True, maintain_order=True)
    return {str(label): part for (label,), part in parts.items()}


Runs = ArrayRuns | FrameRuns


def runs_of(table: "pl.DataFrame | Runs") -> Runs:
    """A table as the plots take it."""
    return table if isinstance(table, Runs) else FrameRuns(table)


def labels_of(table: "pl.DataFrame | Runs") -> list[str]:
    """The disciplines of a table, in the order in which they stand there."""
    found = runs_of(table)
    return list(found.read if isinstance(found, ArrayRuns) else found.parts)


def parts_of(
    table: "pl.DataFrame | Runs", styles: Mapping[str, Style], names: Sequence[str], *, first: bool = False
) -> list[tuple[str, Style, Columns]]:
    """The rows of each discipline that has some, in the order of the styles.

    Parameters
    ----------
    table : polars.DataFrame, ArrayRuns or FrameRuns
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
    runs = runs_of(table)
    if isinstance(runs, ArrayRuns):
        parts = [(label, style, runs.columns(label, names)) for label, style in styles.items() if label in runs.read]
        return [part for part in parts if any(len(values) for values in part[2].values())]
    own = ((label, style, runs.columns(label, names, first)) for label, style in styles.items())
    return [(label, style, columns) for label, style, columns in own if columns is not None]
