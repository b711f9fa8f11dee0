"""Success rates of role identification: the intervals that Chen 2012 prints, by formula (8.4.2, Tables 8.3 and 8.4)."""

import numpy as np

from mayfly.profile.roles.validation import wilson
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Row
from mayfly_papers.declare.rows import Quantity, within

PRINTED = data.printed(__package__)

TESTED = (113, 113, 113, 112)

Z = {"80": 1.28, "90": 1.65}
"""Quantiles that give every printed interval; 1.645 is off by up to 0.03 % at the 90 % level."""

TABLES = PRINTED["tables_8_3_and_8_4"]
"""Per cent, by table: success rate of each trial, its intervals, mean of the rates."""

ROUNDED = 0.0051
"""Per cent that a number of two digits may be off by."""


def rights(table: str) -> list[int]:
    """Hosts told right in each trial: the whole numbers nearest to the printed rates."""
    pairs = zip(TABLES[table]["rates"], TESTED, strict=True)
    return [round(rate * tested / 100) for rate, tested in pairs]


def _over(value: float, printed: float) -> Quantity:
    return lambda runs: np.full(2, value / printed)


def _rows(table: str) -> list[Row]:
    printed, right = TABLES[table], rights(table)
    rows = []
    for level, z in Z.items():
        for trial, (count, tested) in enumerate(zip(right, TESTED, strict=True)):
            for name, ours, end in zip(("low", "high"), wilson(count, tested, z), printed[level][trial], strict=True):
                label = f"trial {trial + 1}, {level} %, {name} end over {end:g} %"
                rows.append(within(label, _over(100 * ours, end), 1 + ROUNDED / end))
    mean = float(np.mean([100 * count / tested for count, tested in zip(right, TESTED, strict=True)]))
    return [
        *rows,
        within(f"mean over {printed['mean']:g} %", _over(mean, printed["mean"]), 1 + ROUNDED / printed["mean"]),
    ]


def intervals(table: str, method: str) -> Claim:
    """One table."""
    return Claim(
        f"table-{table.replace('.', '-')}",
        f"Chen 2012, 8.4.2.1, Table {table}",
        f"confidence intervals of the success rate of {method} in four trials",
        "Wilson score intervals with z = 1.28 and 1.65",
        tuple(_rows(table)),
        None,
        "Of the hosts told right that the printed rates stand for; within the rounding of two digits.",
    )


CLAIMS = (intervals("8.3", "naive Bayes"), intervals("8.4", "C4.5"))
"""Both."""
