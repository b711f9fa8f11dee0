"""What a section of a comparison is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mayfly.show.table import Table

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRow, DisciplineRowPart, Summary


def _nothing(_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Section:
    """One part of the summary, and how it is shown.

    Parameters
    ----------
    measure : callable, optional
        From the runs of a discipline to further keys of its row in the summary; absent where the command adds them.
    tables : callable
        From the summary to its tables; none where the section has nothing to say.
    notes : callable
        From the summary to sentences, without a full stop.
    detail : bool
        Whether a terminal shows tables of a page, too, where details are asked for.
    """

    measure: Callable[[Measured], DisciplineRowPart] | None = None
    tables: Callable[[Summary], tuple[Table, ...]] = _nothing
    notes: Callable[[Summary], tuple[str, ...]] = _nothing
    detail: bool = False


def rows_with(summary: Summary, key: str) -> list[DisciplineRow]:
    """The rows of ``disciplines`` that have a key."""
    return [row for row in summary["disciplines"] if key in row]
