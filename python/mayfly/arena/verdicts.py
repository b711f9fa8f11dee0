"""Who leads, who ties, who trails: row by row, and pair by pair."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mayfly.arena.rows import TIE, Row
from mayfly.metrics.intervals import student_t

Values = Mapping[int, float]
"""A figure by seed."""


@dataclass(frozen=True)
class Place:
    """What a discipline has in a row.

    Parameters
    ----------
    mean : float
        Over the seeds, in the unit of the row.
    ci95 : list of two float, or None
        Student's interval of it; None with one seed.
    verdict : {"leads", "ties", "trails"}
        Of the row: the best when all others trail it, else all that cannot be told from the best tie.
    by : float
        How far it trails: the factor by which it is worse for times, a difference for shares; 1 or 0 else.
    """

    mean: float
    ci95: list[float] | None
    verdict: str
    by: float


LEAST = 1e-3
"""Share below which it does not matter how little it is."""


def badness(row: Row, value: float) -> float:
    """A figure as less is better.

    Examples
    --------
    >>> from mayfly.arena.rows import ROWS
    >>> attacker = next(row for row in ROWS if row.better == "one")
    >>> badness(attacker, 0.9), badness(attacker, 1.5)
    (1.0, 1.5)
    >>> either = next(row for row in ROWS if row.better == "even")
    >>> badness(either, 0.5), badness(either, 2.0)
    (2.0, 2.0)
    """
    if row.better == "higher":
        return -value
    if row.better == "even":
        return max(value, 1 / max(value, LEAST))
    # Less than a fair share is no worse than a fair share: it is an attacker's.
    return max(1.0, value) if row.better == "one" else value


def worse(row: Row, one: Values, other: Values) -> float | None:
    """How much worse ``one`` is than ``other`` on the same seeds, as a share of ``other``; None when they are alike.

    Parameters
    ----------
    row : Row
    one, other : mapping
        Figures by seed.

    Returns
    -------
    float or None
        Negative when it is better. Alike are two of which the mean difference is below the tie of the row
        (`Row.tie`, and `TIE` of the figure), or of which Student's 95 % interval over the seeds holds none; with one
        seed the tie alone decides.
    """
    seeds = sorted(set(one) & set(other))
    if not seeds:
        return None
    differences = np.array([badness(row, one[seed]) - badness(row, other[seed]) for seed in seeds])
    mean = float(differences.mean())
    scale = abs(float(np.mean([badness(row, other[seed]) for seed in seeds])))
    if abs(mean) <= max(row.tie, TIE * scale):
        return None
    if differences.size > 1:
        half = student_t(differences.size - 1) * float(differences.std(ddof=1)) / math.sqrt(differences.size)
        if abs(mean) <= half:
            return None
    # Of what may be 0, as a loss, the tie is the scale.
    return mean / max(scale, row.tie) if max(scale, row.tie) > 0 else math.copysign(1.0, mean)


def places(row: Row, found: Mapping[str, Values]) -> dict[str, Place]:
    """The place of every discipline in a row.

    Parameters
    ----------
    row : Row
    found : mapping
        Figures by seed, by discipline; who has none is left out.

    Returns
    -------
    dict of Place
    """
    known = {label: values for label, values in found.items() if values}
    if not known:
        return {}
    means = {label: float(np.mean(list(values.values()))) for label, values in known.items()}
    best = min(known, key=lambda label: np.mean([badness(row, value) for value in known[label].values()]))
    behind = {label: 0.0 if label == best else worse(row, values, known[best]) for label, values in known.items()}
    trailing = {label for label, by in behind.items() if by is not None and label != best}
    alone = len(known) - len(trailing) == 1 and len(known) > 1
    result = {}
    for label, values in known.items():
        by = behind[label] or 0.0
        verdict = "trails" if label in trailing else "leads" if alone else "ties"
        result[label] = Place(means[label], _interval(list(values.values())), verdict, by)
    return result


def best_of(row: Row, found: Mapping[str, Place]) -> str:
    """The discipline with the best mean of a row, whoever ties with it."""
    return min(found, key=lambda label: badness(row, found[label].mean))


def _interval(values: Sequence[float]) -> list[float] | None:
    if len(values) < 2:
        return None
    sample = np.array(values)
    half = student_t(sample.size - 1) * float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return [float(sample.mean()) - half, float(sample.mean()) + half]


def pairs(rows: Sequence[Row], board: Mapping[str, Mapping[str, Values]]) -> list[dict[str, Any]]:
    """Every two disciplines: in how many rows one is better than the other beyond chance.

    Parameters
    ----------
    rows : sequence of Row
    board : mapping
        By row, figures by seed by discipline.

    Returns
    -------
    list of dict
        ``one``, ``other``, ``better``, ``worse``, ``alike`` (rows), ``dominates``: better somewhere and worse nowhere.
    """
    labels = list(dict.fromkeys(label for found in board.values() for label in found))
    told = []
    for one in labels:
        for other in labels:
            if one == other:
                continue
            judged = [
                worse(row, board[row.id][one], board[row.id][other])
                for row in rows
                if row.id in board and board[row.id].get(one) and board[row.id].get(other)
            ]
            counts = {
                "better": sum(by is not None and by < 0 for by in judged),
                "worse": sum(by is not None and by > 0 for by in judged),
                "alike": sum(by is None for by in judged),
            }
            dominates = counts["better"] > 0 and counts["worse"] == 0
            told.append({"one": one, "other": other, **counts, "dominates": dominates})
    return told
