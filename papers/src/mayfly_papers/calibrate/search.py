"""The search: every setting is judged on the used half of the cells; the other half is looked at once, at the end."""

import os
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import Progress
from mayfly.text.nearest import hint
from mayfly_papers.calibrate.answer import Calibrated, Forms, Judged, Plan, Tried, run_key
from mayfly_papers.calibrate.cells import Cell, SettingRuns, cells_of
from mayfly_papers.calibrate.grid import Varied, fixed_of, index_of, indices, setting_of, varied
from mayfly_papers.declare.declaration import Experiment, Measures, simulate
from mayfly_papers.declare.measured import Kept
from mayfly_papers.declare.unknowns import Calibration, Setting
from mayfly_papers.pages import PAGES, Page

Measured = list[list[Measures]]
"""Numbers of a run by discipline, in order, then replication; none where it failed."""

SMALLEST_SHARE = 0.01


def page_of(name: str, pages: Sequence[Page] = PAGES) -> Page:
    """A page with unknowns.

    Raises
    ------
    MayflyError
        No such page, or one that declares none.
    """
    able = [item.id for item in pages if item.calibration is not None]
    found = next((item for item in pages if item.id == name), None)
    if found is None:
        near = hint(name, [item.id for item in pages]) or f"; those with unknowns: {', '.join(able)}"
        raise MayflyError(f"PAGE = {name}: no such page{near}")
    if found.calibration is None:
        raise MayflyError(f"PAGE = {name}: declares no unknowns; must be one of {', '.join(able)}")
    return found


def calibrate(
    page: str | Page,
    *,
    settings: int | None = None,
    fixed: Sequence[str] = (),
    share: float = 1.0,
    replications: int = 1,
    jobs: int | None = None,
    keep: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Calibrated:
    """Which setting fits the used half of a page's printed numbers, and how it fits the half kept aside.

    Parameters
    ----------
    page : str or Page
        With unknowns.
    settings : int, optional
        A sample of so many settings in place of all combinations.
    fixed : sequence of str
        Unknowns that are not searched, as ``ID=VALUE``.
    share : float
        Part of the declared duration of each run, and of its warm-up, 0.01 to 1.
    replications : int
        Seeds of each run, from 1.
    jobs : int, optional
        Runs at a time; as many as cores when not given.
    keep : path, optional
        Folder for what is measured: the same call goes on from there, another one takes from it what it needs too.
    progress : callable, optional
        Called with the fraction of the runs done.

    Returns
    -------
    Calibrated

    Raises
    ------
    MayflyError
        A page or number that is refused.
    """
    plan = planned(page, settings=settings, fixed=fixed, share=share, replications=replications)
    return _Search(plan, Kept(keep, plan.page.id) if keep is not None else None, jobs, progress).result()


def planned(
    page: str | Page,
    *,
    settings: int | None = None,
    fixed: Sequence[str] = (),
    share: float = 1.0,
    replications: int = 1,
) -> Plan:
    """What a search would do: its cells on both sides, its settings and its runs. Nothing is run.

    Raises
    ------
    MayflyError
        As :func:`calibrate`.
    """
    item = page_of(page) if isinstance(page, str) else page
    if not SMALLEST_SHARE <= share <= 1:
        raise MayflyError(f"--share {share:g}: must be from {SMALLEST_SHARE:g} to 1")
    if not 1 <= replications <= 1000:
        raise MayflyError(f"--replications {replications}: must be from 1 to 1000")
    calibration = item.calibration
    assert calibration is not None, "the page has unknowns"
    cells, left_out = cells_of(item.id, calibration, item.experiments)
    of = {own.id: own for own in varied(calibration)}
    used = list(dict.fromkeys(cell.experiment for cell in cells if cell.used))
    held = fixed_of(calibration.unknowns, fixed)
    chosen = indices(calibration, settings, held)
    kept = tuple(calibration.unknowns[place].id for place in held)
    plan = Plan(item, cells, left_out, tuple(of[name] for name in used), chosen, kept, share, replications)
    return replace(plan, forms=tuple(_forms(plan, variant) for variant in plan.varied))


@cache
def _lasting(scenario: str, *fields: tuple[str, Any]) -> tuple[float, float]:
    """Duration and warm-up of a scenario, s."""
    loaded = load_scenario(scenario, dict(fields))
    return loaded.duration, loaded.warm_up


def shortened(experiment: Experiment, share: float, replications: int) -> Experiment:
    """An experiment with a part of its duration and warm-up, and so many replications."""
    overrides = dict(experiment.overrides)
    if share < 1:
        given = ((name, overrides[name]) for name in ("duration", "warm_up") if name in overrides)
        duration_s, warm_up_s = _lasting(experiment.scenario, *given)
        overrides |= {"duration": duration_s * share, "warm_up": warm_up_s * share}
    return replace(experiment, overrides=overrides, replications=replications)


def made(calibration: Calibration, setting: Setting, name: str, share: float, replications: int) -> Experiment:
    """An experiment of a setting."""
    found = next(own for own in calibration.experiments(setting) if own.id == name)
    return shortened(found, share, replications)


def _forms(plan: Plan, variant: Varied) -> Forms:
    """An experiment in every form that the settings give it; an unknown that does not matter has its first value."""
    calibration = plan.calibration
    unknowns, first = calibration.unknowns, index_of(calibration.unknowns, calibration.first)
    levels = [len(unknowns[place].values) for place in variant.unknowns]
    flat = np.zeros(len(plan.indices), dtype=int)
    for place, count in zip(variant.unknowns, levels, strict=True):
        flat = flat * count + plan.indices[:, place]
    numbers, of = np.unique(flat, return_inverse=True)
    settings = []
    for row in zip(*np.unravel_index(numbers, levels), strict=True) if levels else [()]:
        index = list(first)
        for place, value in zip(variant.unknowns, row, strict=True):
            index[place] = int(value)
        settings.append(setting_of(unknowns, index))
    experiments = [made(calibration, own, variant.id, plan.share, plan.replications) for own in settings]
    return Forms(tuple(settings), tuple(experiments), of.astype(np.int32))


@dataclass
class _Search:
    """One search: its runs, each once, and what is judged from them."""

    plan: Plan
    kept: Kept | None
    jobs: int | None
    progress: Progress | None

    def __post_init__(self) -> None:
        if self.jobs is not None and not 1 <= self.jobs <= 1000:
            raise MayflyError(f"--jobs {self.jobs}: must be from 1 to 1000")
        self._of: dict[str, Measured] = {}
        self._failed: dict[str, str] = {}
        self._seconds = 0.0
        self._lock = threading.Lock()

    def result(self) -> Calibrated:
        """Runs the used half, chooses, then runs the half kept aside in the chosen setting and in the first one."""
        plan, began = self.plan, time.perf_counter()
        calibration = plan.calibration
        self._run([own for forms in plan.forms for own in forms.experiments], 1.0)
        total = np.zeros(len(plan.indices))
        nearest: dict[str, float] = {}
        used = [cell for cell in plan.cells if cell.used]
        for variant, forms in zip(plan.varied, plan.forms, strict=True):
            pairs = list(zip(forms.settings, forms.experiments, strict=True))
            for cell in used:
                if cell.experiment == variant.id:
                    errors = np.array([self._judged(cell, *pair).error for pair in pairs])
                    nearest[cell.id] = float(errors.min())
                    total += errors[forms.of]
        tried = Tried.of(plan, total / len(used))
        both = [tried.chosen, dict(calibration.first)]
        needed = dict.fromkeys(cell.experiment for cell in plan.cells)
        # The half kept aside is looked at from here on, after the choice.
        self._run([self._made(setting, name) for setting in both for name in needed], None)
        chosen, first = (
            tuple(self._judged(cell, setting, self._made(setting, cell.experiment)) for cell in plan.cells)
            for setting in both
        )
        failed, took = tuple(sorted(self._failed.values())), time.perf_counter() - began
        return Calibrated(plan, tried, chosen, first, nearest, failed, took, self._seconds)

    def _made(self, setting: Setting, name: str) -> Experiment:
        return made(self.plan.calibration, setting, name, self.plan.share, self.plan.replications)

    def _judged(self, cell: Cell, setting: Setting, experiment: Experiment) -> Judged:
        measured = self._of[run_key(experiment)]
        if not measured:
            return Judged.failed(cell)
        runs = SettingRuns(self.plan.page.experiments, {cell.experiment: measured}, self._names(setting))
        return Judged(cell, *cell.error(runs))

    def _names(self, setting: Setting) -> Any:
        return self.plan.calibration.measures(setting)

    def _run(self, experiments: Iterable[Experiment], whole: float | None) -> None:
        """Runs what was not run yet; ``whole`` is the fraction that this is of all."""
        todo = {run_key(own): own for own in experiments if run_key(own) not in self._of}
        with ThreadPoolExecutor(self.jobs or os.cpu_count()) as pool:
            waiting = {pool.submit(self._measured, own): key for key, own in todo.items()}
            try:
                for done, future in enumerate(as_completed(waiting), 1):
                    self._of[waiting[future]] = future.result()
                    if self.progress is not None and whole is not None:
                        self.progress(whole * done / len(waiting))
            except BaseException:
                # After an interrupt what has not begun does not begin; what is kept is there for the next call.
                pool.shutdown(cancel_futures=True)
                raise

    def _measured(self, experiment: Experiment) -> Measured:
        found = self.kept.read(experiment) if self.kept else None
        if found is None:
            began = time.perf_counter()
            try:
                measured = simulate(experiment)
            except MayflyError as error:
                with self._lock:
                    self._failed[run_key(experiment)] = f"{experiment.id}: {error}"
                return []
            found = measured, time.perf_counter() - began
            if self.kept:
                self.kept.write(experiment, *found)
        with self._lock:
            self._seconds += found[1]
        return [found[0][label] for label in experiment.disciplines]
