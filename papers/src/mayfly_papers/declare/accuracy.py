"""Accuracy as a number: how far ours are from the printed numbers."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mayfly_papers.declare.agreement import RowDocument, factor_of, reproduced
from mayfly_papers.declare.readings import counting


@dataclass(frozen=True)
class Accuracy:
    """Of some printed numbers.

    Parameters
    ----------
    cells : int
        Printed numbers above 0.
    reproduced : int
        Those that are ours (:func:`mayfly_papers.declare.agreement.reproduced`).
    median : float or None
        Of the factors between ours and the print, each at least 1; null without a cell.
    """

    cells: int
    reproduced: int
    median: float | None

    def __str__(self) -> str:
        if self.median is None:
            return "no printed number"
        return f"{self.reproduced} of {self.cells} reproduced, median factor {self.median:.2f}"


def accuracy(rows: Iterable[RowDocument]) -> Accuracy:
    """Accuracy over rows.

    Parameters
    ----------
    rows : iterable of mapping
        Of ``summary.json``; those without a printed number above 0 do not count.

    Returns
    -------
    Accuracy

    Examples
    --------
    >>> rows = [{"printed": printed, "ours": 1.0, "one_run": None} for printed in (1.1, 2.0, 4.0, 0.0, None)]
    >>> str(accuracy(rows))
    '1 of 3 reproduced, median factor 2.00'
    """
    cells = [(row, factor) for row in rows if (factor := factor_of(row)) is not None]
    median = statistics.median(factor for _, factor in cells) if cells else None
    return Accuracy(len(cells), sum(reproduced(row) for row, _ in cells), median)


def by_page(document: Mapping[str, Any], *, every: bool = False) -> dict[str, Accuracy]:
    """Accuracy of each page that was measured.

    Parameters
    ----------
    document : mapping
        With ``claims``, as ``summary.json`` has them.
    every : bool
        Claims of all readings, not only those of the one that counts.

    Returns
    -------
    dict of Accuracy
        By page.
    """
    rows: dict[str, list[RowDocument]] = {}
    for claim in _taken(document, every):
        rows.setdefault(claim["page"], []).extend(claim["rows"])
    return {page: accuracy(own) for page, own in rows.items()}


def overall(document: Mapping[str, Any], pages: Iterable[str], *, every: bool = False) -> Accuracy:
    """Accuracy over several pages together."""
    wanted = set(pages)
    return accuracy(row for claim in _taken(document, every) if claim["page"] in wanted for row in claim["rows"])


def _taken(document: Mapping[str, Any], every: bool) -> list[Mapping[str, Any]]:
    claims: list[Mapping[str, Any]] = document["claims"]
    of: dict[str, list[str]] = {}
    for claim in claims:
        of.setdefault(claim["page"], []).append(claim["id"])
    kept = {page: counting(page, ids) for page, ids in of.items()}
    return [claim for claim in claims if every or claim["id"] in kept[claim["page"]]]
