"""What ``mayfly arena`` does: run what is not there yet, and judge."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly.arena import in_kernel
from mayfly.arena.bounds import BoundTrial, has_bound, is_bounded
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.goals import Outcome, outcomes
from mayfly.arena.rows import ROWS, TIE, Row
from mayfly.arena.trial import BY_ID, Trial
from mayfly.arena.verdicts import Place, Values, pairs, places
from mayfly.discipline_registry.tc_options import leaf_of
from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.simulate.run import Progress, named
from mayfly.sweep.store import Store
from mayfly.workers.workers import Local, Workers

if TYPE_CHECKING:
    from mayfly.show.table import Table

SCHEMA = 1

DEPLOYABLE = ("fifo", "pie", "codel", "fq", "fq_codel", "fq_pie", "cake", "efd", "dualpi2", "drr", "sfq", "lfq")
"""Disciplines of the board where nobody names others; none of them knows the size of a transfer beforehand."""

QUICK = ("fifo", "pie", "fq_codel", "cake", "efd", "lfq")
"""The same of ``--quick``."""

SEEDS, QUICK_SEEDS = 8, 4

ENGINES = ("simulator", "linux")


def usual(engine: str, quick: bool) -> tuple[str, ...]:
    """Disciplines of a board where nobody names others."""
    return QUICK if quick else in_kernel.IN_KERNEL if engine == "linux" else DEPLOYABLE


@dataclass(frozen=True, repr=False)
class Arena(Result):
    """The board.

    Parameters
    ----------
    rows : list of Row
        Those that have a figure.
    disciplines : list of str
    seeds : list of int
    quick : bool
    board : dict
        Place by row and discipline.
    values : dict
        Figures by row, discipline and seed.
    failed : list of dict
        Runs that were refused: ``experiment``, ``discipline``, ``seed``, ``error``.
    cpu_s, process_s : float
        Processor time of all its runs, today or before: in the simulator, and with workloads and figures.
    peak_bytes : float
        Memory of the largest process that ran some.
    ran : int
        Runs done now; the others were there.
    bounds : dict
        Figures of ``pri(X)`` (:mod:`mayfly.arena.bounds`) by row, reference X and seed.
    later : dict of float
        By reference: share of transfers that ended later under ``pri(X)`` than under X.
    engine : str
        ``simulator``, or ``linux``.
    kernel : str
        Version of the kernel of ``linux``.
    absent : dict of str
        Experiments that the engine cannot run, with the reason.
    beside : Arena, optional
        Of ``linux``: the same runs in the simulator.
    """

    rows: list[Row]
    disciplines: list[str]
    seeds: list[int]
    quick: bool
    board: dict[str, dict[str, Place]]
    values: dict[str, dict[str, Values]]
    failed: list[dict[str, Any]]
    cpu_s: float
    process_s: float
    peak_bytes: float
    ran: int
    bounds: dict[str, dict[str, Values]] = field(default_factory=dict)
    later: dict[str, float] = field(default_factory=dict)
    engine: str = "simulator"
    kernel: str = ""
    absent: dict[str, str] = field(default_factory=dict)
    beside: "Arena | None" = None

    def options(self) -> str:
        """What its command was given of ``--quick``, ``--seeds`` and ``--bounds``, each with a space behind."""
        usual = QUICK_SEEDS if self.quick else SEEDS
        seeds = "" if len(self.seeds) == usual else f"--seeds {len(self.seeds)} "
        bounds = f"--bounds {shlex.quote(','.join(self.later))} " if self.later else ""
        engine = "" if self.engine == "simulator" else f"--engine {self.engine} "
        return engine + ("--quick " if self.quick else "") + seeds + bounds

    def usual(self) -> tuple[str, ...]:
        """Disciplines of its command where nobody names others."""
        return usual(self.engine, self.quick)

    def goals(self) -> list[Outcome]:
        """What the best discipline reaches of what it is to reach, see :mod:`mayfly.arena.goals`."""
        from mayfly.arena.sentences import leader

        return outcomes(leader(self), self.board)

    def pairs(self) -> list[dict[str, Any]]:
        """Every two disciplines, see :func:`mayfly.arena.verdicts.pairs`."""
        return pairs(self.rows, self.values)

    def counts(self) -> dict[str, dict[str, int]]:
        """How many rows each discipline leads, ties and trails."""
        found = {label: {"leads": 0, "ties": 0, "trails": 0} for label in self.disciplines}
        for own in self.board.values():
            for label, place in own.items():
                found[label][place.verdict] += 1
        return found

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            ``disciplines``, ``seeds``, ``quick``, ``tie``; ``rows``: ``id``, ``title``, ``unit``, ``better``, ``tie``,
            ``experiment`` and ``places`` by discipline with ``mean``, ``ci95``, ``verdict``, ``by`` and ``values`` by
            seed; ``counts``, ``pairs``, ``goals`` (:class:`mayfly.arena.goals.Outcome`), ``experiments`` (what each
            is), ``bounds`` (by row and reference, by seed), ``later``, ``failed``, ``cpu_s``, ``process_s``,
            ``peak_bytes``, ``sentences``; ``engine``; of ``linux`` ``kernel``, ``absent`` (experiments with the reason)
            and ``simulator``, the same document of the runs in the simulator.
        """
        return {
            "schema": SCHEMA,
            "command": "arena",
            "disciplines": self.disciplines,
            "seeds": self.seeds,
            "quick": self.quick,
            "tie": TIE,
            "rows": [
                {key: value for key, value in asdict(row).items() if key != "figure"}
                | {
                    "places": {
                        label: asdict(place)
                        | {"values": {str(seed): value for seed, value in self.values[row.id][label].items()}}
                        for label, place in self.board[row.id].items()
                    }
                }
                for row in self.rows
            ],
            "counts": self.counts(),
            "pairs": self.pairs(),
            "goals": [goal.document() for goal in self.goals()],
            "experiments": {name: BY_ID[name].says for name in dict.fromkeys(row.experiment for row in self.rows)},
            "bounds": {
                row: {label: {str(seed): value for seed, value in found.items()} for label, found in own.items()}
                for row, own in self.bounds.items()
            },
            "later": self.later,
            "failed": self.failed,
            "cpu_s": self.cpu_s,
            "process_s": self.process_s,
            "peak_bytes": self.peak_bytes,
            "sentences": self.sentences(),
            "engine": self.engine,
            **self._of_kernel(),
        }

    def _of_kernel(self) -> dict[str, Any]:
        if self.beside is None:
            return {}
        return {"kernel": self.kernel, "absent": self.absent, "simulator": self.beside.document()}

    def sentences(self) -> list[str]:
        """Who leads or ties in most rows, where it trails most, who dominates whom, and what it cost."""
        from mayfly.arena.sentences import sentences

        return sentences(self)

    def tables(self) -> "list[Table]":
        """The board, rows in which the best discipline trails first, the pairs, and what it is to reach."""
        from mayfly.arena.bounds import bounds_table
        from mayfly.arena.sentences import board_table, goals_table, pairs_table

        goals, bounds = [goals_table(self)] if self.goals() else [], [bounds_table(self)] if self.bounds else []
        return [board_table(self), pairs_table(self), *goals, *bounds]

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Writes ``report.html`` and ``arena.json``; they appear together or not at all.

        Parameters
        ----------
        folder : path
            Created when absent.

        Returns
        -------
        dict of str
            Path of each.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        from mayfly.arena.page import write

        return write(self, folder)

    def write_page(self, path: str | os.PathLike[str]) -> Path:
        """Writes the board as a page of Markdown, such as ``docs/arena.md``.

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
        from mayfly.arena import kernel_page
        from mayfly.arena.markdown import page_text, written

        asked = ",".join(self.disciplines)
        own = "" if asked == ",".join(self.usual()) else f"--disciplines {shlex.quote(asked)} "
        make = page_text if self.engine == "simulator" else kernel_page.page_text
        return written(path, make(self, own + self.options()) + kernel_page.kept(path))


def arena(
    folder: str | os.PathLike[str],
    disciplines: str | Sequence[str] | None = None,
    experiments: Sequence[str] | None = None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    bounds: str | Sequence[str] = (),
    engine: str = "simulator",
    make_workers: Callable[[], Workers] = Local,
    progress: Progress | None = None,
) -> Arena:
    """Runs every experiment under every discipline and judges row by row.

    Parameters
    ----------
    folder : path
        Of the results: what is in it does not run again, and an interrupted board goes on.
    disciplines : str or sequence of str, optional
        `DEPLOYABLE` when not given, `QUICK` with ``quick``.
    experiments : sequence of str, optional
        Ids; all when not given, those that have a time with ``quick``.
    quick : bool
        Fewer and shorter runs: minutes in place of hours.
    seeds : int, optional
        Runs of each, seeds from 1; `SEEDS` when not given, `QUICK_SEEDS` with ``quick``.
    bounds : str or sequence of str
        References of ``pri(X)``, what a clairvoyant could have (:mod:`mayfly.arena.bounds`), where transfers are drawn.
    engine : {"simulator", "linux"}
        ``linux``: TCP and disciplines of a kernel in virtual time, and the simulator beside it.
    make_workers : callable
        Who runs them.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Arena

    Raises
    ------
    MayflyError
        An unknown experiment or discipline, or the folder cannot be written.
    """
    if engine not in ENGINES:
        raise MayflyError(f"engine = {engine}: must be one of {', '.join(ENGINES)}")
    if engine == "linux" and bounds:
        raise MayflyError("bounds: must stand without --engine linux, which knows no clairvoyant")
    chosen = named(disciplines if disciplines is not None else usual(engine, quick))
    labels = [discipline.label for discipline in chosen]
    count = seeds if seeds is not None else QUICK_SEEDS if quick else SEEDS
    if not 1 <= count <= 1000:
        raise MayflyError(f"seeds = {count}: must be from 1 to 1000")
    for name in experiments or ():
        if name not in BY_ID:
            raise MayflyError(f"experiment = {name!r}: must be one of {', '.join(BY_ID)}")
    names = [one.id for one in EXPERIMENTS if (not experiments or one.id in experiments)]
    if quick:
        names = [name for name in names if BY_ID[name].quick_s > 0]
    numbers = list(range(1, count + 1))
    gone: dict[str, str] = {}
    kinds: list[type[Trial]] = [Trial]
    if engine == "linux":
        for discipline in chosen:
            leaf_of(discipline)
        gone = in_kernel.absent(names, quick)
        names = [name for name in names if name not in gone]
        kinds.append(in_kernel.KernelTrial)
    trials = [
        kind(name, label, seed, quick) for kind in kinds for seed in numbers for name in names for label in labels
    ]
    references = [discipline.label for discipline in named(bounds)] if bounds else []
    second = [name for name in names if has_bound(name)]
    trials += [BoundTrial(name, label, seed, quick) for seed in numbers for name in second for label in references]
    every, ran = _results(Store(folder, create=True), trials, make_workers, progress)
    clairvoyant = {trial: result for trial, result in every.items() if isinstance(trial, BoundTrial)}
    found_bounds, found_later = _bounds(clairvoyant)
    here = {trial: result for trial, result in every.items() if type(trial) is Trial}
    board = _judged(labels, numbers, quick, here | clairvoyant, ran)
    if engine == "linux":
        there = {trial: result for trial, result in every.items() if isinstance(trial, in_kernel.KernelTrial)}
        own = _judged(labels, numbers, quick, there, ran)
        return replace(own, engine=engine, kernel=in_kernel.release(), absent=gone, beside=board)
    kept_bounds = {row: own for row, own in found_bounds.items() if row in board.board}
    return replace(board, bounds=kept_bounds, later=found_later)


def _judged(labels: list[str], numbers: list[int], quick: bool, every: Mapping[Any, dict[str, Any]], ran: int) -> Arena:
    """The board of the runs of one engine; the bounds of some count for failures and costs."""
    results = {trial: result for trial, result in every.items() if not isinstance(trial, BoundTrial)}
    values: dict[str, dict[str, dict[int, float]]] = {}
    for row in ROWS:
        own: dict[str, dict[int, float]] = {label: {} for label in labels}
        for trial, result in results.items():
            if trial.experiment == row.experiment and result.get(row.figure) is not None:
                own[trial.label][trial.seed] = float(result[row.figure])
        if any(own.values()):
            values[row.id] = own
    failed = [
        {"experiment": trial.experiment, "discipline": trial.label, "seed": trial.seed, "error": result["error"]}
        for trial, result in every.items()
        if result["status"] == "failed"
    ]
    rows = [row for row in ROWS if row.id in values]
    board = {row.id: places(row, values[row.id]) for row in rows}
    cpu_s, process_s = (sum(one.get(name) or 0.0 for one in every.values()) for name in ("cpu_s", "process_s"))
    peak_bytes = max((one.get("peak_bytes") or 0.0 for one in every.values()), default=0.0)
    kept: dict[str, dict[str, Values]] = {name: dict(own) for name, own in values.items()}
    return Arena(rows, labels, numbers, quick, board, kept, failed, cpu_s, process_s, peak_bytes, ran)


def _bounds(
    results: Mapping[BoundTrial, dict[str, Any]],
) -> tuple[dict[str, dict[str, Values]], dict[str, float]]:
    """Figures of the bounds by row, reference and seed; and by reference the share of transfers that end later."""
    figures: dict[str, dict[str, dict[int, float]]] = {}
    shares: dict[str, list[float]] = {}
    for trial, result in results.items():
        if result["status"] == "failed":
            continue
        shares.setdefault(trial.label, []).append(float(result["later"]))
        for row in ROWS:
            if row.experiment == trial.experiment and is_bounded(row) and result.get(row.figure) is not None:
                own = figures.setdefault(row.id, {}).setdefault(trial.label, {})
                own[trial.seed] = float(result[row.figure])
    return (
        {row: dict(own) for row, own in figures.items()},
        {label: sum(found) / len(found) for label, found in shares.items()},
    )


def _results(
    store: Store, trials: Sequence[Trial], make_workers: Callable[[], Workers], progress: Progress | None
) -> tuple[Mapping[Trial, dict[str, Any]], int]:
    """The row of each trial, and how many ran now."""
    with store.alone((0, 1)):
        known = store.rows()
        by_key: dict[str, list[Trial]] = {}
        for trial in trials:
            by_key.setdefault(trial.key, []).append(trial)
        waiting = [key for key in by_key if known.get(key, {}).get("status") != "done"]
        left, ran = iter(waiting), 0
        crew: Workers | None = None
        try:
            following = next(left, None)
            while following is not None or (crew is not None and crew.busy()):
                while following is not None and (crew is None or crew.room()):
                    crew = crew or make_workers()
                    crew.submit(by_key[following][0], following)
                    following = next(left, None)
                for key, (row, records) in crew.wait() if crew is not None else ():
                    store.add(row, records)
                    known[key] = row
                    ran += 1
                    if progress is not None:
                        progress(1 - (len(waiting) - ran) / len(by_key))
        finally:
            if crew is not None:
                crew.close()
        store.gather(left_behind=True)
    return {trial: known[key] for key, group in by_key.items() for trial in group}, ran
