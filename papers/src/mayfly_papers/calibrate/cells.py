"""Printed numbers of a page, and which of them the search may look at.

The rule is fixed before anything is run: groups of experiments (`Calibration.together`) in the order of the SHA-256 of
page and group; the first half is used, the other kept aside. All cells of a group are on one side, since what a run
gives TCP it does not give the others.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mayfly.errors import MayflyError
from mayfly_papers.declare.declaration import Experiment, Row, Runs, Values
from mayfly_papers.declare.exhibits import cited
from mayfly_papers.declare.unknowns import Calibration

LARGEST_FACTOR = 1000.0
"""Factor between ours and print beyond which cells are equally wrong; ours may be 0."""


@dataclass(frozen=True)
class Cell:
    """A printed number.

    Parameters
    ----------
    id : str
        Claim and row.
    exhibit : str
        Table or figure that the claim names first; the claim where it names none.
    row : Row
        With a printed number above 0.
    experiment : str
        The one that it is measured in.
    used : bool
        Whether the search sees it.
    """

    id: str
    exhibit: str
    row: Row
    experiment: str
    used: bool

    @property
    def printed(self) -> float:
        """The paper's number."""
        assert self.row.printed is not None, "cells have a printed number"
        return self.row.printed.value

    def error(self, runs: Runs) -> tuple[float, float]:
        """Ours, and the logarithm of the factor between ours and print, at most that of `LARGEST_FACTOR`."""
        ours = float(self.row.ours(runs).mean())
        if not ours > 0:
            return ours, math.log(LARGEST_FACTOR)
        return ours, min(abs(math.log(ours / self.printed)), math.log(LARGEST_FACTOR))


class _Asked(Runs):
    """Runs that nothing is simulated for: they tell which experiments a row asks for."""

    def values(self, experiment: str, discipline: str, measure: str) -> Values:
        """Twice 1, whatever is asked for."""
        self._asked[experiment] = None
        return np.ones(2)


def cells_of(
    page: str, calibration: Calibration, declared: Sequence[Experiment]
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Cells of a page, and printed numbers that are none.

    Parameters
    ----------
    page : str
        Its id.
    calibration : Calibration
        Of the page.
    declared : sequence of Experiment
        Those of the page.

    Returns
    -------
    tuple of tuple
        Cells in the order of the claims; ids of the rows left out, each with its reason: 0 is printed, or the number
        follows from several experiments, which may be on both sides.

    Raises
    ------
    MayflyError
        Fewer than two groups of experiments have cells, two cells have one id, or an experiment is not declared.
    """
    asked, known = _Asked(()), {own.id for own in calibration.experiments(calibration.first)}
    known &= {own.id for own in declared}
    found: list[tuple[str, str, Row, str]] = []
    left_out: list[str] = []
    for claim in calibration.claims:
        for row in claim.rows:
            if row.printed is None:
                continue
            name = f"{claim.id}/{row.name}"
            row.ours(asked)
            experiments = asked.asked()
            if not row.printed.value > 0:
                left_out.append(f"{name}: {row.printed.value:g} is printed")
            elif len(experiments) != 1:
                left_out.append(f"{name}: follows from {len(experiments)} experiments")
            elif experiments[0] not in known:
                raise MayflyError(
                    f"{name}: experiment {experiments[0]}: must be one of the page and of its calibration"
                )
            else:
                exhibit = next(iter(cited(claim.source)), claim.id)
                found.append((name, exhibit, row, experiments[0]))
    names = [name for name, *_ in found]
    if len(set(names)) < len(names):
        raise MayflyError(f"{page}: cells: must have different ids; {next(n for n in names if names.count(n) > 1)}")
    used = used_groups(page, [calibration.together(experiment) for *_, experiment in found])
    cells = tuple(Cell(*own, calibration.together(own[-1]) in used) for own in found)
    return cells, tuple(left_out)


def used_groups(page: str, groups: Sequence[str]) -> frozenset[str]:
    """The groups that the search sees: the first half by the SHA-256 of page and group, the larger one if odd.

    Examples
    --------
    >>> sorted(used_groups("page", ["a", "b", "c", "a"]))
    ['a', 'b']
    """
    ordered = sorted(set(groups), key=lambda group: hashlib.sha256(f"{page}/{group}".encode()).hexdigest())
    if len(ordered) < 2:
        raise MayflyError(f"{page}: groups of experiments with printed numbers: {len(ordered)}: must be at least 2")
    return frozenset(ordered[: (len(ordered) + 1) // 2])


class SettingRuns(Runs):
    """Measured numbers of one setting under the names of the page: its rows ask for labels and measures as declared.

    Parameters
    ----------
    declared : sequence of Experiment
        Those of the page, with the labels that its rows ask for.
    measured : mapping
        Numbers by experiment and discipline, in the order of its disciplines.
    measures : mapping
        Names that stand for others.
    """

    def __init__(
        self,
        declared: Sequence[Experiment],
        measured: Mapping[str, Sequence[Sequence[Mapping[str, float]]]],
        measures: Mapping[str, str],
    ) -> None:
        super().__init__(())
        self._place = {own.id: {label: k for k, label in enumerate(own.disciplines)} for own in declared}
        self._own, self._names = measured, measures

    def values(self, experiment: str, discipline: str, measure: str) -> Values:
        """One measure, by replication.

        Raises
        ------
        MayflyError
            Not measured.
        """
        name = self._names.get(measure, measure)
        places = self._place[experiment]
        if discipline not in places:
            raise MayflyError(f"{experiment}, {discipline}: not declared; there are {', '.join(places)}")
        runs = self._own[experiment][places[discipline]]
        if any(name not in run for run in runs):
            raise MayflyError(f"{experiment}, {discipline}, {name}: not measured; there are {', '.join(runs[0])}")
        return np.array([run[name] for run in runs], dtype=float)
