"""Numbers that the best discipline is to reach, row by row, and by how much it does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.arena.rows import ROWS, Row
from mayfly.arena.verdicts import Place, badness
from mayfly.scenario.attacks import ATTACKS

RIVALS = "rivals"
"""Of `Goal.beside`: the best of all others."""


@dataclass(frozen=True)
class Goal:
    """A bound of a row.

    Parameters
    ----------
    row : str
        Id.
    bound : float
        The most that a figure may be, the least where higher is better; in the unit of the row, or times the figure of
        ``beside``.
    beside : str
        Label of the discipline that the bound is a multiple of; `RIVALS` for the best of all others; empty for none.
    source : str
        Who set it.
    note : str
        What is to be known beside it, without full stop.
    """

    row: str
    bound: float
    beside: str = ""
    source: str = "issue"
    note: str = ""


_JITTER = (
    "here it holds the rest of the packet that is on the wire when one of the call comes, 0 to 1.2 ms at 10 Mbit/s, "
    "which differs by some 0.4 ms from one to the next; no queue that finishes its packets is below that"
)

_ATTACKS = tuple(attack.id for attack in ATTACKS if attack.board is not None and attack.joins)

GOALS: tuple[Goal, ...] = (
    *(Goal(f"{attack}:attacker", 1.25) for attack in _ATTACKS),
    Goal("overload:long", 0.8),
    Goal("load-80:short", 0.045),
    Goal("load-80:middling", 0.21),
    Goal("pages:http1", 0.53),
    Goal("pages:http2", 0.56),
    *(Goal(f"bulk-{buffer}:rtt", 1.05, "fq_codel") for buffer in (100, 1000)),
    *(Goal(f"{experiment}:stall", 0.5) for experiment in ("load-80", *_ATTACKS)),
    Goal("call:loss", 0.0001),
    Goal("call:jitter", 0.00005, note=_JITTER),
    Goal("video:loss", 0.002),
    Goal("video-own:loss", 0.002),
    Goal("rate-50:long", 1.05, RIVALS),
    *(Goal(f"cell-{buffer}:balance", 0.9) for buffer in (30, 300)),
    *(Goal(f"cell-{buffer}:total", 0.95, "fifo") for buffer in (30, 300)),
)
"""Those of the issue that asked for the arena, "Numbers to reach", as far as a row has such a figure."""


@dataclass(frozen=True)
class Outcome:
    """Whether a goal is reached.

    Parameters
    ----------
    goal : Goal
    row : Row
    limit : float
        In the unit of the row.
    figure : float
        Mean over the seeds.
    ci95 : list of two float, or None
        Its interval.
    met : bool
    by : float
        Room that is left, as a share of the limit; negative: what is missing.
    """

    goal: Goal
    row: Row
    limit: float
    figure: float
    ci95: list[float] | None
    met: bool
    by: float

    @property
    def sure(self) -> bool | None:
        """Whether the limit is outside the interval of the mean over the seeds; None where there is no interval."""
        return None if self.ci95 is None else not self.ci95[0] <= self.limit <= self.ci95[1]

    def document(self) -> dict[str, Any]:
        """For JSON: ``row, bound, beside, source, limit, figure, ci95, met, by, sure``."""
        own = {"row": self.row.id, "bound": self.goal.bound, "beside": self.goal.beside, "source": self.goal.source}
        found = {"limit": self.limit, "figure": self.figure, "ci95": self.ci95, "met": self.met, "by": self.by}
        return own | found | {"sure": self.sure}


def outcomes(
    label: str, board: Mapping[str, Mapping[str, Place]], goals: Sequence[Goal] = GOALS, rows: Sequence[Row] = ROWS
) -> list[Outcome]:
    """What a discipline reaches of the goals.

    Parameters
    ----------
    label : str
        The discipline.
    board : mapping
        Place by row and discipline.
    goals : sequence of Goal
    rows : sequence of Row
        Those that the goals name.

    Returns
    -------
    list of Outcome
        Without goals of which the board has no figure, or not that of the discipline beside.
    """
    known = {row.id: row for row in rows}
    found = []
    for goal in goals:
        row, own = known[goal.row], board.get(goal.row, {})
        others = [place.mean for name, place in own.items() if name != label and goal.beside in (RIVALS, name)]
        if label not in own or (goal.beside and not others):
            continue
        limit = goal.bound * (min(others, key=lambda value: badness(row, value)) if goal.beside else 1.0)
        place = own[label]
        room = place.mean - limit if row.better == "higher" else limit - place.mean
        by = room / limit if limit > 0 else room
        found.append(Outcome(goal, row, limit, place.mean, place.ci95, room >= 0, by))
    return found
