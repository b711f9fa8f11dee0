"""Many disciplines at once: their order, and the few that stand for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mayfly.discipline_registry import FAMILIES
from mayfly.show.plots import MANY

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, ResponseTimes, Summary

_LEAST = 5

Row = TypeVar("Row", bound=Mapping[str, Any])
"""A row of a table with ``label`` and ``family``."""


def family(row: Mapping[str, Any]) -> str:
    """Family of a row of ``summary.json``.

    Parameters
    ----------
    row : mapping
        Rows of summaries written before there were families have none.

    Returns
    -------
    str
    """
    return row.get("family") or ""


def baseline(rows: Sequence[Row]) -> Row | None:
    """What the others are compared with: fifo when there is one, else the first, as in the answer in words.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    mapping or None
        None when there are no rows.

    Examples
    --------
    >>> baseline([{"id": "efd", "label": "efd"}, {"id": "fifo", "label": "fifo"}])["label"]
    'fifo'
    """
    return next((row for row in rows if row["id"] == "fifo"), next(iter(rows), None))


def grouped(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Rows by family: the baseline's family first and the baseline first in it, otherwise in the order given.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    list of (str, list of mapping)
        Family and its rows.

    Examples
    --------
    >>> rows = [{"id": name, "label": name, "family": kind} for name, kind in
    ...         (("drr", "fair queueing"), ("las", "size-based"), ("fifo", "plain"), ("sfq", "fair queueing"))]
    >>> [(name, [row["id"] for row in members]) for name, members in grouped(rows)]
    [('plain', ['fifo']), ('size-based', ['las']), ('fair queueing', ['drr', 'sfq'])]
    """
    first = baseline(rows)
    if first is None:
        return []
    place = {name: at for at, name in enumerate((family(first), *FAMILIES))} | {family(first): -1}
    names = sorted(dict.fromkeys(map(family, rows)), key=lambda name: place.get(name, len(place)))
    ordered = [first, *(row for row in rows if row is not first)]
    return [(name, [row for row in ordered if family(row) == name]) for name in names]


def leading(rows: Sequence[DisciplineRow]) -> list[str]:
    """Labels of the disciplines that stand for all.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    list of str
        All when there are at most `MANY`; else the baseline and, of each family, the one with the shortest mean
        response time of short flows; where these are fewer than five, the next shortest beside them. In the order
        of :func:`grouped`.
    """
    if len(rows) <= MANY:
        return [row["label"] for row in rows]
    members = [row for _, group in grouped(rows) for row in group]
    first = members[0]
    others = sorted((row for row in members if row is not first), key=_rank)
    chosen = {row["label"] for row in {family(row): row for row in reversed(others)}.values()}
    for row in others:
        if len(chosen) + 1 >= _LEAST:
            break
        chosen.add(row["label"])
    return [row["label"] for row in members if row is first or row["label"] in chosen]


def _rank(row: DisciplineRow) -> tuple[float, float]:
    """Shortest mean response time of short flows first, then of long ones."""
    short_s, long_s = row["short"]["mean_s"], row["long"]["mean_s"]
    return math.inf if short_s is None else short_s, math.inf if long_s is None else long_s


def leading_sentences(summary: Summary) -> tuple[list[str], list[str]]:
    """Sentences of the answer, those about :func:`leading` disciplines apart from the rest.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    first, rest : list of str
        A sentence about no discipline of its own is among the first.
    """
    rows = summary["disciplines"]
    shown = set(leading(rows))
    hidden = [f"with {row['label']} " for row in rows if row["label"] not in shown]
    answer = summary.get("answer") or []
    rest = [sentence for sentence in answer if sentence.startswith(tuple(hidden))]
    return [sentence for sentence in answer if sentence not in rest], rest


def marks(rows: Sequence[DisciplineRow]) -> dict[str, dict[str, str]]:
    """Which figures are the best or the worst of a column, as far as the intervals can tell.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    dict of dict
        ``best`` or ``worst`` by label, for ``short``, ``long`` (mean response time) and ``flows_unfinished``. A mean
        whose interval overlaps that of the best is among the best, and so for the worst; one that overlaps both is
        neither. Nothing is marked in a column of fewer than three values, or where best and worst overlap, and more
        than a third of a column are not told from the rest.

    Examples
    --------
    >>> flows = {"mean_s": None, "ci95": None}
    >>> rows = [{"label": name, "short": flows, "long": flows, "flows_unfinished": count}
    ...         for name, count in (("fifo", 4), ("las", 0), ("efd", 1))]
    >>> marks(rows)["flows_unfinished"]
    {'las': 'best', 'fifo': 'worst'}
    """
    columns = {name: {row["label"]: _interval(row[name]) for row in rows} for name in ("short", "long")}
    columns["flows_unfinished"] = {row["label"]: (row["flows_unfinished"],) * 2 for row in rows}
    return {name: _marked({label: ends for label, ends in cells.items() if ends}) for name, cells in columns.items()}


def _interval(flows: ResponseTimes) -> tuple[float, float] | None:
    mean_s = flows["mean_s"]
    if mean_s is None:
        return None
    low, high = flows["ci95"] or (mean_s, mean_s)
    return low, high


def _marked(intervals: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    if len(intervals) < 3:
        return {}
    # The middle of an interval is the mean.
    best, worst = (end(intervals.values(), key=sum) for end in (min, max))
    if best[1] >= worst[0]:
        return {}
    good = [label for label, ends in intervals.items() if ends[0] <= best[1] and ends[1] < worst[0]]
    bad = [label for label, ends in intervals.items() if ends[1] >= worst[0] and ends[0] > best[1]]
    marked = {"best": good, "worst": bad}
    return {label: name for name, few in marked.items() if 3 * len(few) <= len(intervals) for label in few}
