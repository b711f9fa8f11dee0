"""What a search found: what the paper must have run, how well that fits on each side, and what nothing fits."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.text.folder import filled
from mayfly_papers.calibrate.cells import LARGEST_FACTOR, Cell
from mayfly_papers.calibrate.grid import Indices, Varied, setting_of
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.markdown import number
from mayfly_papers.declare.markdown import table as markdown_table
from mayfly_papers.declare.unknowns import Calibration, Unknown
from mayfly_papers.pages import Page

if TYPE_CHECKING:
    from rich.table import Table

NEAR = 1.25
"""Factor within which a number counts as fitted."""

_LEAST = 1e-4
"""Mean logarithm below which settings fit alike: 0.01 %."""


def run_key(experiment: Experiment) -> str:
    """What tells a run from others."""
    fields = sorted((name, str(value)) for name, value in experiment.overrides.items())
    return repr((experiment.id, experiment.scenario, fields, experiment.disciplines, experiment.replications))


@dataclass(frozen=True)
class Forms:
    """An experiment in all settings.

    Parameters
    ----------
    settings : tuple of dict
        One for each form that it takes.
    experiments : tuple of Experiment
        It in each of these; two may be one run that is counted differently.
    of : ndarray of int, shape ``(n_settings,)``
        The form that each setting gives it.
    """

    settings: tuple[dict[str, float | str], ...]
    experiments: tuple[Experiment, ...]
    of: np.ndarray


@dataclass(frozen=True)
class Plan:
    """What is searched.

    Parameters
    ----------
    page : Page
    cells : tuple of Cell
        On both sides.
    left_out : tuple of str
        Printed numbers that are on neither, with the reason.
    varied : tuple of Varied
        Experiments of the used half.
    indices : ndarray, shape ``(n_settings, n_unknowns)``
        Settings that are tried.
    fixed : tuple of str
        Unknowns that are not searched.
    share : float
        Part of the declared duration.
    replications : int
        Of each run.
    forms : tuple of Forms
        Of each experiment of the used half.
    """

    page: Page
    cells: tuple[Cell, ...]
    left_out: tuple[str, ...]
    varied: tuple[Varied, ...]
    indices: Indices = field(repr=False)
    fixed: tuple[str, ...]
    share: float
    replications: int
    forms: tuple[Forms, ...] = field(default=(), repr=False)

    @property
    def runs(self) -> int:
        """Runs that differ, for the used half."""
        return len({run_key(own) for forms in self.forms for own in forms.experiments})

    @property
    def calibration(self) -> Calibration:
        """What the page declares."""
        assert self.page.calibration is not None, "the page has unknowns"
        return self.page.calibration

    @property
    def groups(self) -> int:
        """Groups of experiments on the used side: how many numbers there are that are not of one run."""
        return len({self.calibration.together(cell.experiment) for cell in self.cells if cell.used})

    def unseen(self) -> tuple[str, ...]:
        """Unknowns that change nothing on the used side."""
        seen = {place for variant in self.varied for place in variant.unknowns}
        unknowns = enumerate(self.calibration.unknowns)
        return tuple(own.id for place, own in unknowns if place not in seen and own.id not in self.fixed)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "page": self.page.id,
            "unknowns": [
                {"id": own.id, "says": own.says, "values": list(own.values), "unit": own.unit, "why": own.why}
                for own in self.calibration.unknowns
            ],
            "cells": {
                side: [cell.id for cell in self.cells if cell.used == used]
                for side, used in (("used", True), ("aside", False))
            },
            "left_out": list(self.left_out),
            "unseen": list(self.unseen()),
            "fixed": list(self.fixed),
            "settings": len(self.indices),
            "runs": self.runs,
            "share": self.share,
            "replications": self.replications,
        }

    def tables(self) -> "list[Table]":
        """Unknowns with their values."""
        head = ["unknown", "", "values", "why"]
        rows = [[own.id, own.says, ", ".join(_value(own, v) for v in own.values), own.why] for own in self._unknowns()]
        return [_table("Unknowns", head, rows)]

    def _unknowns(self) -> tuple[Unknown, ...]:
        return self.calibration.unknowns

    def sentences(self) -> list[str]:
        """How large the search is."""
        used = sum(cell.used for cell in self.cells)
        said = [
            f"{len(self.indices):,} settings, {self.runs:,} runs that differ, of {self.replications} "
            f"seed{'s' if self.replications > 1 else ''} and {self.share:.0%} of the declared time each",
            f"{used} cells are used, {len(self.cells) - used} are kept aside, "
            f"{len(self.left_out)} printed numbers are neither",
        ]
        if self.fixed:
            said.append(f"not searched, held at one value: {', '.join(self.fixed)}")
        if self.unseen():
            said.append(f"the used half does not see {', '.join(self.unseen())}: the first value stays")
        return said


@dataclass(frozen=True)
class Judged:
    """A cell in one setting.

    Parameters
    ----------
    cell : Cell
    ours : float
        Mean over the seeds; NaN where the run failed.
    error : float
        Absolute logarithm of ours over the printed number.
    """

    cell: Cell
    ours: float
    error: float

    @classmethod
    def failed(cls, cell: Cell) -> "Judged":
        """A cell whose run failed."""
        return cls(cell, math.nan, math.log(LARGEST_FACTOR))

    @property
    def factor(self) -> float:
        """Between ours and the printed number, at least 1."""
        return math.exp(self.error)


@dataclass(frozen=True)
class Tried:
    """All settings, judged on the used half.

    Parameters
    ----------
    chosen : dict
        The setting with the smallest mean logarithm of the factors.
    mean_error : float
        That mean.
    likelihood : dict
        By unknown, of each of its values: its share of the likelihood of all settings.
    best : dict
        By unknown, of each of its values: the smallest mean logarithm of any setting that has it.
    """

    chosen: dict[str, float | str]
    mean_error: float
    likelihood: dict[str, list[float]]
    best: dict[str, list[float]]

    @classmethod
    def of(cls, plan: Plan, errors: np.ndarray) -> "Tried":
        """Chooses, and weighs every value.

        Parameters
        ----------
        plan : Plan
            With the settings.
        errors : ndarray, shape ``(n_settings,)``
            Mean logarithm of the factors on the used half.

        Notes
        -----
        Logarithms are taken for Laplace distributed around 0, with one scale that is fitted to each setting: the
        likelihood is its mean logarithm to the power of minus the number of independent numbers. As that counts the
        groups of experiments, not the cells: those of a run move together. All settings are equally likely before.
        """
        unknowns = plan.calibration.unknowns
        floored = np.maximum(errors, _LEAST)
        best = int(np.argmin(floored))
        weights = (floored / floored[best]) ** -float(plan.groups)
        weights /= weights.sum()
        chosen = setting_of(unknowns, plan.indices[best])
        chosen |= {name: plan.calibration.first[name] for name in plan.unseen()}
        likelihood, least = {}, {}
        for place, unknown in enumerate(unknowns):
            column, count = plan.indices[:, place], len(unknown.values)
            likelihood[unknown.id] = np.bincount(column, weights, count).tolist()
            lowest = np.full(count, math.inf)
            np.minimum.at(lowest, column, errors)
            least[unknown.id] = lowest.tolist()
        return cls(chosen, float(errors[best]), likelihood, least)


@dataclass(frozen=True)
class Fit:
    """Factors of some cells."""

    cells: int
    median: float
    mean: float
    near: int
    worst: float

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> "Fit":
        """Of cells; ``mean`` is geometric, ``near`` counts those within `NEAR`."""
        errors = [own.error for own in judged]
        near = sum(math.exp(error) <= NEAR for error in errors)
        return cls(
            len(errors),
            math.exp(median(errors)),
            math.exp(sum(errors) / len(errors)),
            near,
            math.exp(max(errors)),
        )

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "cells": self.cells,
            "median_factor": self.median,
            "mean_factor": self.mean,
            "near": self.near,
            "worst_factor": self.worst,
        }


@dataclass(frozen=True)
class Calibrated:
    """The answer.

    Parameters
    ----------
    plan : Plan
    tried : Tried
    chosen, first : tuple of Judged
        All cells in the chosen setting and in the one taken before the search.
    nearest : dict
        By used cell: the smallest logarithm that any setting gives it.
    failed : tuple of str
        Runs that ended with an error.
    took_s, run_s : float
        Time of this call; time that all its runs took when they were run.
    """

    plan: Plan
    tried: Tried
    chosen: tuple[Judged, ...]
    first: tuple[Judged, ...]
    nearest: dict[str, float]
    failed: tuple[str, ...]
    took_s: float
    run_s: float

    def fits(self) -> list[tuple[str, str, Fit]]:
        """Setting, side and fit: all cells of a side, then those of each table and figure."""
        found = []
        for name, judged in (("chosen", self.chosen), ("first", self.first)):
            for side, used in (("used", True), ("kept aside", False)):
                own = [one for one in judged if one.cell.used == used]
                found.append((name, side, Fit.of(own)))
                for exhibit in dict.fromkeys(one.cell.exhibit for one in own):
                    part = [one for one in own if one.cell.exhibit == exhibit]
                    found.append((name, f"{side}, {exhibit}", Fit.of(part)))
        return found

    def unfitted(self) -> list[Judged]:
        """Cells that the chosen setting leaves beyond `NEAR`, the worst first."""
        return sorted((own for own in self.chosen if own.factor > NEAR), key=lambda own: -own.error)

    def by_none(self) -> list[str]:
        """Used cells that no setting of those tried brings within `NEAR`."""
        return [name for name, error in self.nearest.items() if math.exp(error) > NEAR]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            **self.plan.document(),
            "chosen": self.tried.chosen,
            "first": dict(self.plan.calibration.first),
            "likelihood": {
                own.id: [
                    {"value": value, "likelihood": weight, "best_mean_factor": math.exp(least)}
                    for value, weight, least in zip(
                        own.values, self.tried.likelihood[own.id], self.tried.best[own.id], strict=True
                    )
                    if math.isfinite(least)
                ]
                for own in self.plan.calibration.unknowns
            },
            "fits": [{"setting": name, "side": side, **fit.document()} for name, side, fit in self.fits()],
            "cells_judged": [
                {
                    "id": own.cell.id,
                    "exhibit": own.cell.exhibit,
                    "used": own.cell.used,
                    "printed": own.cell.printed,
                    "ours": None if math.isnan(own.ours) else own.ours,
                    "factor": own.factor,
                    "first_factor": before.factor,
                }
                for own, before in zip(self.chosen, self.first, strict=True)
            ],
            "by_none": self.by_none(),
            "failed": list(self.failed),
            "took_s": self.took_s,
            "run_s": self.run_s,
        }

    def _parts(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Titles, heads and rows of the tables."""
        calibration, parts = self.plan.calibration, []
        rows = []
        for own in calibration.unknowns:
            weights, least = self.tried.likelihood[own.id], self.tried.best[own.id]
            told = [
                f"{_value(own, value)} {weight:.0%} ({math.exp(error):.3f})"
                for value, weight, error in zip(own.values, weights, least, strict=True)
                if math.isfinite(error)
            ]
            seen = ", ".join(told)
            if own.id in self.plan.fixed:
                seen = "not searched"
            elif own.id in self.plan.unseen():
                seen = "not seen by the used half"
            rows.append(
                [own.says, _value(own, self.tried.chosen[own.id]), _value(own, calibration.first[own.id]), seen]
            )
        head = ["unknown", "chosen", "before", "likelihood of each value (mean factor at best)"]
        parts.append(("What the paper must have run", head, rows))
        fits = [
            [name, side, str(f.cells), f"{f.median:.3f}", f"{f.mean:.3f}", f"{f.near} of {f.cells}", f"{f.worst:.2f}"]
            for name, side, f in self.fits()
        ]
        near = f"within {NEAR:g}"
        parts.append(("Fit", ["setting", "cells", "number", "median factor", "mean", near, "worst"], fits))
        none = set(self.by_none())
        left = [
            [
                own.cell.id,
                "used" if own.cell.used else "kept aside",
                number(own.cell.printed),
                number(own.ours),
                f"{own.factor:.2f}",
                ("none fits" if own.cell.id in none else "another fits") if own.cell.used else "",
            ]
            for own in self.unfitted()
        ]
        parts.append(("What the chosen setting does not fit", ["cell", "side", "printed", "ours", "factor", ""], left))
        return parts

    def tables(self) -> "list[Table]":
        """What the paper must have run, how it fits, and what it does not fit."""
        return [_table(*part) for part in self._parts()]

    def markdown(self) -> str:
        """The same as Markdown."""
        parts = [f"## {title}\n\n{markdown_table(head, rows)}" for title, head, rows in self._parts()]
        return "\n\n".join([*parts, *self.sentences()]) + "\n"

    def sentences(self) -> list[str]:
        """What came out, in words."""
        fit = {(name, side): own for name, side, own in self.fits()}
        aside, before = fit["chosen", "kept aside"], fit["first", "kept aside"]
        said = [
            *self.plan.sentences(),
            f"used half: median factor {fit['chosen', 'used'].median:.3f}, before {fit['first', 'used'].median:.3f}",
            f"half kept aside: median factor {aside.median:.3f}, before {before.median:.3f}; {aside.near} of "
            f"{aside.cells} cells are within {NEAR:g}",
            f"{len(self.by_none())} used cells fit in no setting tried",
        ]
        if self.failed:
            said.append(f"{len(self.failed)} runs failed, such as {self.failed[0]}")
        return said


def _value(unknown: Unknown, value: float | str) -> str:
    told = value if isinstance(value, str) else f"{value:.4g}"
    return f"{told} {unknown.unit}".rstrip()


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in head:
        table.add_column(name)
    for row in rows:
        table.add_row(*row)
    return table


def write_calibration(found: Calibrated, folder: Path) -> dict[str, str]:
    """Writes the answer.

    Parameters
    ----------
    found : Calibrated
    folder : Path
        Created where it is not there.

    Returns
    -------
    dict of str
        Paths of ``calibration.json`` and ``calibration.md``.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    names = {"answer": "calibration.json", "table": "calibration.md"}
    files = {what: str(folder / name) for what, name in names.items()}
    with filled(folder, names.values()) as partial:
        text = json.dumps(found.document() | {"files": files}, indent=1, allow_nan=False)
        (partial / names["answer"]).write_text(text + "\n", encoding="utf-8")
        head = f"# {found.plan.page.title}: what it must have run\n\n"
        (partial / names["table"]).write_text(head + found.markdown(), encoding="utf-8")
    return files
