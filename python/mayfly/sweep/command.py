"""A sweep from its file to the files of its answer."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mayfly.simulate.run import Progress
from mayfly.sweep.answer import Found, answer
from mayfly.sweep.page import sweep_page
from mayfly.sweep.plan import Plan, load_plan
from mayfly.sweep.run import Swept, sweep
from mayfly.sweep.schedule import Schedule
from mayfly.sweep.store import Checked, Store
from mayfly.text.folder import filled
from mayfly.workers.workers import Workers
from mayfly.workers.workers import workers as workers_of


def sweep_file(
    file: str | os.PathLike[str],
    folder: str | os.PathLike[str] = "mayfly-sweep",
    *,
    overrides: dict[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> Found:
    """Run a sweep from its file, as ``mayfly sweep`` does: what is not in the folder yet, and its report.

    Parameters
    ----------
    file : path
        TOML (docs/how-to/sweeps.md).
    folder : path
        Of the results and of ``report.html``; created when absent.
    overrides : dict, optional
        Scenario fields for every point, by dotted name.
    metrics : sequence of str, optional
        Figures shown.
    workers : int, optional
        Processes; as many as cores when not given.
    retry_failed : bool
        Run again what failed before.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Found
        The figures.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.
    """
    name = Path(file).stem
    found, _ = run_sweep(
        load_plan(file, overrides),
        folder,
        f"Sweep {name}",
        metrics=metrics,
        make_workers=workers_of(workers),
        retry_failed=retry_failed,
        progress=progress,
    )
    return found


def run_sweep(
    plan: Plan,
    folder: str | os.PathLike[str],
    title: str,
    *,
    metrics: Sequence[str] | None = None,
    shard: tuple[int, int] = (0, 1),
    make_workers: Callable[[], Workers],
    retry_failed: bool = False,
    progress: Progress | None = None,
    placed: Callable[[dict[str, str]], dict[str, str]] = dict,
) -> tuple[Found, dict[str, str]]:
    """Runs a sweep and writes its report; a part of one only runs.

    Parameters
    ----------
    plan : Plan
    folder : path
        Of the results.
    title : str
        Of the report.
    metrics : sequence of str, optional
        Figures shown.
    shard, make_workers, retry_failed, progress
        As :func:`mayfly.sweep.run.sweep` takes them.
    placed : callable
        Called with the files while no other process reports; returns what has become of them.

    Returns
    -------
    found : Found
        The figures.
    files : dict of str
        Paths of what was written.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.
    """
    swept = sweep(plan, folder, shard=shard, make_workers=make_workers, retry_failed=retry_failed, progress=progress)
    found = answer(swept, folder, metrics)
    if shard[1] > 1:
        return found, {}
    with Store(folder).reporting():
        return found, placed(write_answer(found, folder, title))


def report_so_far(
    plan: Plan,
    folder: str | os.PathLike[str],
    title: str,
    *,
    metrics: Sequence[str] | None = None,
    placed: Callable[[dict[str, str]], dict[str, str]] = dict,
) -> tuple[Found, int, dict[str, str]]:
    """Writes the report of the runs that are in a folder already; nothing runs.

    Parameters
    ----------
    plan : Plan
    folder : path
    title : str
        Of the report.
    metrics, placed
        As :func:`run_sweep` takes them.

    Returns
    -------
    found : Found
    missing : int
        As :func:`found_so_far` gives them.
    files : dict of str
        Paths of what was written.

    Raises
    ------
    MayflyError
        As :func:`found_so_far`, or the folder cannot be written.
    """
    with Store(folder).reporting():
        found, missing = found_so_far(plan, folder, metrics)
        return found, missing, placed(write_answer(found, folder, title))


def found_so_far(plan: Plan, folder: str | os.PathLike[str], metrics: Sequence[str] | None = None) -> tuple[Found, int]:
    """The figures of the runs that are in a folder already; nothing runs.

    Parameters
    ----------
    plan : Plan
    folder : path
    metrics : sequence of str, optional

    Returns
    -------
    found : Found
    missing : int
        Runs that are not there yet; where seeds are added as needed, those known of so far.

    Raises
    ------
    MayflyError
        No such folder, or no such figure.
    """
    from mayfly.sweep.run import results_of

    known, schedule = Store(folder).rows(), Schedule(plan)
    rows, missing = [], 0
    while (taken := schedule.take()) is not None:
        point, job = taken
        row = known.get(job.key)
        if row is None:
            missing += 1
            continue
        rows.append(results_of(row, job))
        schedule.told(point, row)
    return answer(Swept(plan, rows, 0, len(rows), schedule.ended), folder, metrics), missing


def check(folder: str | os.PathLike[str]) -> Checked:
    """Reads all results of a sweep, and sets aside what is damaged.

    Parameters
    ----------
    folder : path
        Moves damaged files into its folder ``damaged``; the sweep runs what they held again.

    Returns
    -------
    Checked

    Raises
    ------
    MayflyError
        No such folder, a sweep runs there, or it cannot be written.
    """
    Store(folder)
    return Store(folder, create=True).check()


def write_answer(found: Found, folder: str | os.PathLike[str], title: str) -> dict[str, str]:
    """Writes ``report.html`` and ``summary.json``.

    Parameters
    ----------
    found : Found
    folder : path
    title : str

    Returns
    -------
    dict of str
        Path of each file.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    names = {"report": "report.html", "summary": "summary.json"}
    files = {key: str(Path(folder) / name) for key, name in names.items()}
    with filled(folder, names.values()) as partial:
        (partial / names["report"]).write_text(sweep_page(found, title), encoding="utf-8")
        text = json.dumps({**found.document(), "files": files}, indent=1, allow_nan=False)
        (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
    return files
