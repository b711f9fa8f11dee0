"""The run of a sweep: what is not there yet runs, and is kept as soon as it ends."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.simulate.run import Progress
from mayfly.sweep.job import Job
from mayfly.sweep.plan import Plan
from mayfly.sweep.schedule import Schedule
from mayfly.sweep.store import Store
from mayfly.workers.workers import Local, Workers


@dataclass(frozen=True, repr=False)
class Swept(Result):
    """What a sweep did.

    Parameters
    ----------
    plan : Plan
    rows : list of dict
        Results of this part of the sweep.
    ran, found : int
        Runs made, and results that were there already.
    seeds : dict of int
        Seeds each point needed, where they were added as needed.
    """

    plan: Plan
    rows: list[dict[str, Any]]
    ran: int
    found: int
    seeds: dict[int, int]


def shard_of(text: str) -> tuple[int, int]:
    """Part of a sweep, as ``1/4`` names the first of four.

    Parameters
    ----------
    text : str

    Returns
    -------
    part : int
        From 0.
    parts : int

    Raises
    ------
    MayflyError
        It is no such thing.

    Examples
    --------
    >>> shard_of("2/4")
    (1, 4)
    """
    part, slash, parts = text.partition("/")
    if slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts) <= 1_000_000:
        return int(part) - 1, int(parts)
    raise MayflyError(f"--shard {text}: must be I/N with I from 1 to N, such as 1/8")


def sweep(
    plan: Plan,
    folder: str | os.PathLike[str],
    *,
    shard: tuple[int, int] = (0, 1),
    make_workers: Callable[[], Workers] = Local,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> Swept:
    """Runs what is not in the folder yet.

    Parameters
    ----------
    plan : Plan
    folder : path
        Of the results; made when absent.
    shard : tuple of int
        Part, from 0, of so many.
    make_workers : callable
        Who runs the jobs.
    retry_failed : bool
        Run again what failed before.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Swept
        The results of this part.

    Raises
    ------
    MayflyError
        The folder cannot be written, or another process runs the same part.
    """
    store, schedule = Store(folder, create=True), Schedule(plan, shard)
    with store.alone(shard):
        known = store.rows()
        rows, found, ran = [], 0, 0
        waiting: dict[str, list[tuple[int, Job]]] = {}
        crew: Workers | None = None
        try:
            while True:
                while (crew is None or crew.room()) and (taken := schedule.take()) is not None:
                    point, job = taken
                    key = job.key
                    row = known.get(key)
                    if row is not None and not (retry_failed and row["status"] == "failed"):
                        rows.append(results_of(row, job))
                        found += 1
                        schedule.told(point, row)
                        continue
                    # Two points may ask for the same run, such as 1 s and 1000 ms.
                    waiting.setdefault(key, []).append((point, job))
                    if len(waiting[key]) == 1:
                        crew = crew or make_workers()
                        crew.submit(job, key)
                if progress is not None:
                    progress(len(rows) / max(schedule.most, 1))
                if crew is None or not crew.busy():
                    break
                for key, (row, records) in crew.wait():
                    store.add(row, records)
                    ran += 1
                    known[key] = row
                    for point, job in waiting.pop(key):
                        rows.append(results_of(row, job))
                        schedule.told(point, row)
        finally:
            if crew is not None:
                crew.close()
        store.gather(left_behind=shard[1] == 1)
    return Swept(plan, rows, ran, found, schedule.ended)


def results_of(row: dict[str, Any], job: Job) -> dict[str, Any]:
    """A result under the names this sweep has for it: another file may have asked for the same run."""
    kept = {name: value for name, value in row.items() if not name.startswith("field.")}
    return kept | {"discipline": job.label} | {f"field.{name}": value for name, value in job.point.items()}


def written_plan(plan: Plan) -> dict[str, Any]:
    """The plan as ``sweep.json`` holds it."""
    return {
        "sweep": json.loads(plan.sweep.model_dump_json()),
        "points": len(plan.points),
        "fields": list(plan.names),
        "disciplines": list(plan.disciplines),
        "seeds": list(plan.seeds),
    }
