"""The outcome of a headline claim or a statement, from the rows it rests on.

Rows are those of ``summary.json``: mappings with ``printed``, ``ours``, ``one_run``, ``claimed``, ``verdict``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mayfly_papers.declare.agreement import RowDocument, reproduced
from mayfly_papers.declare.declaration import Verdict


class Outcome(StrEnum):
    """What became of a claim, best first.

    Notes
    -----
    ``NUMBER``: every row holds, there are printed numbers, and all of them are reproduced. ``HOLDS``: every row holds.
    ``MIXED``: some rows hold, or none does and none is opposed. ``CONTRADICTED``: no row holds and at least one is
    opposed. ``PRINT``: the paper's own numbers do not say what its words say. ``ELSEWHERE``: the finding is about data
    that is not at hand, or ours is shown with another method.
    """

    NUMBER = "number reproduced"
    HOLDS = "conclusion holds"
    MIXED = "mixed"
    CONTRADICTED = "contradicted"
    PRINT = "print contradicts itself"
    ELSEWHERE = "not testable here"


STANDS = (Outcome.NUMBER, Outcome.HOLDS)
"""Outcomes that need no reason."""


@dataclass(frozen=True)
class Judged:
    """An outcome with its count.

    Parameters
    ----------
    outcome : Outcome
    holding, rows : int
        Rows that hold, and all; for ``PRINT`` the printed numbers that say what the words say, and all of these.
    """

    outcome: Outcome
    holding: int
    rows: int

    def __str__(self) -> str:
        count = f" ({self.holding} of {self.rows})" if self.outcome in (Outcome.MIXED, Outcome.PRINT) else ""
        return f"{self.outcome}{count}"


def holds(row: RowDocument) -> bool:
    """Whether a row says what the paper says: its number is reproduced, or the direction is that of the claim."""
    return reproduced(row) or row["verdict"] in (Verdict.AGREES, Verdict.DIRECTION)


def leniently(rows: Sequence[RowDocument]) -> list[RowDocument]:
    """Rows at twice the thresholds that stand for words: those that fail take the verdict they have there.

    Examples
    --------
    >>> row = {"printed": None, "ours": 1.3, "one_run": None, "verdict": "differs", "at_twice": "same direction"}
    >>> [str(judged(rows)) for rows in ([row], leniently([row]))]
    ['contradicted', 'conclusion holds']
    """
    return [{**row, "verdict": row["at_twice"]} if row["at_twice"] and not holds(row) else row for row in rows]


def judged(rows: Sequence[RowDocument], *, testable: bool = True, print_holds: Sequence[bool] = ()) -> Judged:
    """What became of a claim.

    Parameters
    ----------
    rows : sequence of mapping
        That it rests on, at least one.
    testable : bool
        Whether its finding is about something that is at hand.
    print_holds : sequence of bool
        For printed numbers that are the paper's evidence, whether each says what the words say.

    Returns
    -------
    Judged
    """
    holding = sum(map(holds, rows))
    if not testable:
        return Judged(Outcome.ELSEWHERE, holding, len(rows))
    if not all(print_holds):
        return Judged(Outcome.PRINT, sum(print_holds), len(print_holds))
    if holding == len(rows):
        numbers = [reproduced(row) for row in rows if row["printed"] is not None]
        return Judged(Outcome.NUMBER if numbers and all(numbers) else Outcome.HOLDS, holding, len(rows))
    opposed = any(row["verdict"] == Verdict.DIFFERS for row in rows)
    return Judged(Outcome.CONTRADICTED if not holding and opposed else Outcome.MIXED, holding, len(rows))
