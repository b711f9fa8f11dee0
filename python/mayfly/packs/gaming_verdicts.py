"""Who resists what in the pack about gaming, by written rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.comparison.sections.groups import HOLDS
from mayfly.scenario.attacks import ATTACKS, Cases

STALL_S = 5.0
"""Longest time without progress that a transfer may be left, in seconds."""

SLOW = 3.0
"""Slowdown that 95 % of the short transfers may have."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """What a discipline has to do under an attack.

    Parameters
    ----------
    what : str
        In the imperative: ``Hold a spaced sender``.
    bound : str
        The figure that decides, in words.
    keeps : callable
        Whether a row of the overview keeps to it.
    needs : tuple of str
        Keys of the row that it judges: None in every row where the part did not run.
    """

    what: str
    bound: str
    keeps: Callable[[Row], bool]
    needs: tuple[str, ...]

    def measured(self, rows: Sequence[Row]) -> bool:
        """Whether the attack ran."""
        return any(row.get(name) is not None for row in rows for name in self.needs)

    def kept_by(self, rows: Sequence[Row]) -> list[str]:
        """Labels of the disciplines that keep to it."""
        return [row["label"] for row in rows if self.keeps(row)]


def most(value: float | None, bound: float | None) -> bool:
    """Whether the value is known and within the bound."""
    return value is not None and bound is not None and value <= bound


def _holds(cases: Cases) -> Rule:
    """Whether the attacker gets at most `HOLDS` fair shares in each of the cases."""
    return Rule(
        cases.rule, f"at most {HOLDS} fair shares{cases.where}", lambda row: most(row[cases.key], HOLDS), (cases.key,)
    )


RULES = (
    *(_holds(attack.cases) for attack in ATTACKS if attack.cases is not None and attack.cases.key),
    Rule(
        "Keep long transfers going in overload",
        f"at least {1 / HOLDS:g} of their fair share and no stall above {STALL_S:g} s, at 1.1 times the link",
        lambda row: most(1 / HOLDS, row["long"]) and most(row["stall_s"], STALL_S),
        ("long", "stall_s"),
    ),
    Rule(
        "Keep long transfers going beside a spaced or a split sender",
        f"no stall above {STALL_S:g} s",
        lambda row: most(row["stall_attacked_s"], STALL_S),
        ("stall_attacked_s",),
    ),
    Rule(
        "Keep short transfers fast beside a spaced or a split sender",
        f"95 % of them within {SLOW:g} times what they need alone",
        lambda row: most(row["short_p95"], SLOW),
        ("short_p95",),
    ),
)
"""By the page docs/how-to/gaming.md."""


def leading_sentences(rows: Sequence[Row]) -> list[str]:
    """Who resists everything that ran, and who resists each attack, without full stops.

    Parameters
    ----------
    rows : sequence of mapping
        The overview of a pack.

    Returns
    -------
    list of str

    Examples
    --------
    >>> leading_sentences([{"label": "fifo", "split": 3.0}, {"label": "fq", "split": 1.1}])
    ['1 of 2 disciplines resists the only attack: fq', 'Hold a split transfer (at most 1.25 fair shares): 1 of 2']
    """
    rules = [rule for rule in RULES if rule.measured(rows)]
    if not rules:
        return []
    kept = {rule.what: rule.kept_by(rows) for rule in rules}
    score = {row["label"]: sum(row["label"] in names for names in kept.values()) for row in rows}
    top = max(score.values())
    best = [label for label, count in score.items() if count == top]
    if top == len(rules):
        what = "the only attack" if len(rules) == 1 else f"all {len(rules)} attacks"
        first = f"{len(best)} of {len(rows)} disciplines {'resists' if len(best) == 1 else 'resist'} {what}: "
    else:
        first = f"No discipline of {len(rows)} resists all {len(rules)} attacks; the most, {top}: "
    return [
        first + ", ".join(best),
        *(f"{rule.what} ({rule.bound}): {len(kept[rule.what])} of {len(rows)}" for rule in rules),
    ]
