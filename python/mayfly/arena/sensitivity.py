"""How much each default of a discipline matters: halved and doubled, beside the discipline as it is."""

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mayfly.arena.arena import Arena, arena
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.markdown import written
from mayfly.arena.rows import Row
from mayfly.arena.sentences import cost_text, value_text
from mayfly.arena.verdicts import worse
from mayfly.discipline_registry import disciplines, parse
from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.show.table import Cell, Table, markdown
from mayfly.show.table import Row as Line
from mayfly.simulate.run import Progress
from mayfly.text.readable import digits
from mayfly.workers.workers import Local, Workers

FIXED = ("prefix", "mtu")
"""Options that say what addresses and packets are, and are not chosen."""

_HOW = """\
Each number that `{discipline}` has by default is halved and doubled, one at a time, on [the board of the
arena](arena.md), as far as the bounds of the option admit it. A figure *moves* when it differs from that of the
discipline as it is by more than the tie of the row, and by more than chance on the same seeds (Student's 95 % interval
of the paired differences). With few seeds a small effect is not seen; and of the figures that noise alone decides, up
to 5 % move by chance.
"""


@dataclass(frozen=True, repr=False)
class Sensitivity(Result):
    """What moves when a default is halved or doubled.

    Parameters
    ----------
    discipline : str
        As it is.
    variants : dict of str
        Discipline by what is changed: ``pace 0.4 -> 0.2``.
    board : Arena
        Of the discipline and its variants.
    moved : dict
        By row and variant: how much worse than the discipline as it is, as a share of its figure; negative: better.
        Only beyond chance and the tie of the row (:func:`mayfly.arena.verdicts.worse`).
    """

    discipline: str
    variants: dict[str, str]
    board: Arena
    moved: dict[str, dict[str, float]]

    def document(self) -> dict[str, Any]:
        """For JSON: the document of the board beside ``discipline``, ``variants`` and ``moved``."""
        own = {"discipline": self.discipline, "variants": self.variants, "moved": self.moved}
        return self.board.document() | {"command": "arena --sensitivity", "sentences": self.sentences()} | own

    def sentences(self) -> list[str]:
        """How many rows move, what moves most, and what moves none."""
        found = [
            (by, name, row) for row in self.board.rows for name, by in self.moved.get(row.id, {}).items() if by != 0
        ]
        cases = len(self.board.rows) * len(self.variants)
        rows = len({row.id for _, _, row in found})
        told = [
            f"of {cases} figures ({len(self.board.rows)} rows, {len(self.variants)} changes of a default of "
            f"{self.discipline}) {len(found)} move beyond chance, in {rows} rows: "
            f"{sum(by > 0 for by, _, _ in found)} for the worse, {sum(by < 0 for by, _, _ in found)} for the better"
        ]
        for word, sign in (("worse", 1), ("better", -1)):
            if own := [one for one in found if one[0] * sign > 0]:
                by, name, row = max(own, key=lambda one: one[0] * sign)
                told.append(f'most for the {word}: {name} in "{row.title}", {self._values(row, name)} ({_by_text(by)})')
        if still := [name for name in self.variants if not any(name in own for own in self.moved.values())]:
            told.append(f"no row moves with {', '.join(still)}")
        return [*told, self.board.sentences()[-1]]

    def _values(self, row: Row, name: str) -> str:
        own = self.board.board[row.id]
        before, after = own[self.discipline].mean, own[self.variants[name]].mean
        return f"{value_text(row, before)} before, {value_text(row, after)} then"

    def tables(self) -> list[Table]:
        """By change: rows that are better, worse and alike; and every figure that moves."""
        return [self._changes(), self._figures()]

    def _changes(self) -> Table:
        lines = []
        for name in self.variants:
            own = [by for found in self.moved.values() if (by := found.get(name)) is not None]
            counts = (sum(by < 0 for by in own), sum(by > 0 for by in own))
            lines.append((name, *map(str, counts), str(len(self.board.rows) - sum(counts))))
        return Table("Changes", ("change", "rows better", "worse", "alike"), tuple(lines))

    def _figures(self) -> Table:
        lines: list[Line] = []
        for row in self.board.rows:
            for name, by in sorted(self.moved.get(row.id, {}).items(), key=lambda pair: -abs(pair[1])):
                own = self.board.board[row.id]
                means = (own[self.discipline].mean, own[self.variants[name]].mean)
                texts = (value_text(row, mean) for mean in means)
                lines.append((row.title, name, *texts, Cell(_by_text(by), by < 0)))
        heads = ("row", "change", "before", "then", "by")
        return Table("Figures that move", heads, tuple(lines), names=2, narrow="fold")

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Writes the report of the board, see :meth:`mayfly.arena.arena.Arena.write`."""
        return self.board.write(folder)

    def write_page(self, path: str | os.PathLike[str]) -> Path:
        """Writes it as a page of Markdown, such as ``docs/arena-sensitivity.md``.

        Parameters
        ----------
        path : path
            Appears when it is complete.

        Returns
        -------
        Path

        Raises
        ------
        MayflyError
            It cannot be written.
        """
        return written(path, self._page())

    def _page(self) -> str:
        board = self.board
        options = f"--sensitivity {self.discipline} {board.options()}"
        run = list(dict.fromkeys(row.experiment for row in board.rows))
        left = [one.id for one in EXPERIMENTS if one.id not in run]
        changes, figures = self.tables()
        parts = [
            f"# What the defaults of {self.discipline} matter\n",
            _HOW.format(discipline=self.discipline),
            f"```sh\nmayfly arena {options}--page docs/arena-sensitivity.md\n```\n",
            f"Made on {datetime.date.today().isoformat()}: seeds 1 to {len(board.seeds)}, {cost_text(board)}.\n",
            f"Experiments: {_names(run)}. {f'Left out: {_names(left)}.' if left else ''}\n",
            *(f"{sentence[:1].upper()}{sentence[1:]}.\n" for sentence in self.sentences()[:-1]),
            "## By change\n",
            markdown(changes),
            "\n## Every figure that moves\n",
            markdown(figures, code=False),
            "",
        ]
        return "\n".join(parts)


def _names(experiments: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in experiments)


def variants(id: str) -> dict[str, str]:
    """A discipline with each number of its defaults halved and doubled, where the bounds of the option admit it.

    Parameters
    ----------
    id : str
        Of the registry.

    Returns
    -------
    dict of str
        By what is changed.

    Raises
    ------
    MayflyError
        Unknown, or it has no such option.

    Examples
    --------
    >>> variants("codel")
    {'target 0.005 → 0.0025': 'codel(target=0.0025)', 'target 0.005 → 0.01': 'codel(target=0.01)', \
'interval 0.1 → 0.05': 'codel(interval=0.05)', 'interval 0.1 → 0.2': 'codel(interval=0.2)'}
    """
    found = {}
    asked = parse(id)
    for param in next(row for row in disciplines() if row["id"] == asked.id)["params"]:
        default, name = param["default"], param["name"]
        if asked.options or name in FIXED or isinstance(default, str | list) or not default:
            continue
        for factor in (0.5, 2.0):
            value = type(default)(default * factor)
            if param["min"] <= value <= param["max"]:
                found[f"{name} {default:,} → {value:,}"] = f"{id}({name}={value})"
    if not found:
        raise MayflyError(f"sensitivity = {id!r}: must be a discipline with numbers among its options")
    return found


def moves(found: Arena, label: str, others: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """By row and change, how much worse a variant is than the discipline as it is; alike ones are left out."""
    moved: dict[str, dict[str, float]] = {}
    for row in found.rows:
        values = found.values[row.id]
        for name, variant in others.items():
            by = worse(row, values[variant], values[label])
            if by is not None:
                moved.setdefault(row.id, {})[name] = by
    return moved


def _by_text(by: float) -> str:
    return f"{digits(100 * abs(by))} % {'worse' if by > 0 else 'better'}"


def sensitivity(
    folder: str | os.PathLike[str],
    discipline: str,
    experiments: Sequence[str] | None = None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    make_workers: Callable[[], Workers] = Local,
    progress: Progress | None = None,
) -> Sensitivity:
    """Runs a discipline beside itself with each default halved and doubled.

    Parameters
    ----------
    folder : path
    discipline : str
        Id.
    experiments, quick, seeds, make_workers, progress
        As :func:`mayfly.arena.arena.arena` has them.

    Returns
    -------
    Sensitivity

    Raises
    ------
    MayflyError
        As there, or the discipline has no number to change.
    """
    changed = variants(discipline)
    found = arena(
        folder,
        [discipline, *changed.values()],
        experiments,
        quick=quick,
        seeds=seeds,
        make_workers=make_workers,
        progress=progress,
    )
    return Sensitivity(discipline, changed, found, moves(found, discipline, changed))


def board(
    folder: str | os.PathLike[str],
    disciplines: str | Sequence[str] | None = None,
    experiments: Sequence[str] | None = None,
    *,
    varied: str | None = None,
    quick: bool = False,
    seeds: int | None = None,
    bounds: str | Sequence[str] = (),
    engine: str = "simulator",
    make_workers: Callable[[], Workers] = Local,
    progress: Progress | None = None,
) -> Arena | Sensitivity:
    """The board of ``disciplines``, or of ``varied`` with each default halved and doubled.

    Parameters
    ----------
    folder, disciplines, experiments, quick, seeds, bounds, engine, make_workers, progress
        As :func:`mayfly.arena.arena.arena` has them; ``bounds`` and ``engine`` without ``varied`` only.
    varied : str, optional
        Id of a discipline; in place of ``disciplines``.

    Returns
    -------
    Arena or Sensitivity

    Raises
    ------
    MayflyError
        Both are given, or as :func:`sensitivity`.
    """
    if varied is None:
        return arena(
            folder,
            disciplines,
            experiments,
            quick=quick,
            seeds=seeds,
            bounds=bounds,
            engine=engine,
            make_workers=make_workers,
            progress=progress,
        )
    given = {"disciplines": disciplines is not None, "bounds": bool(bounds), "engine": engine != "simulator"}
    if beside := next((name for name, stands in given.items() if stands), None):
        raise MayflyError(f"sensitivity = {varied}: must stand without {beside}")
    return sensitivity(
        folder, varied, experiments, quick=quick, seeds=seeds, make_workers=make_workers, progress=progress
    )
