"""Which run comes next: every seed of every point, or seeds until a mean is known well enough."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from mayfly.errors import MayflyError
from mayfly.metrics.intervals import student_ci95
from mayfly.sweep.job import Job
from mayfly.sweep.plan import Plan


class Schedule:
    """Runs in order: the first seed everywhere, then the next, so that an unfinished sweep shows the whole design.

    All disciplines have the same seeds at a point: they are compared on common random numbers.

    Parameters
    ----------
    plan : Plan
    shard : tuple of int
        Part, from 0, of so many: every so-many-th run, or point where seeds are added as needed.
    """

    def __init__(self, plan: Plan, shard: tuple[int, int] = (0, 1)):
        self.plan = plan
        self._stop = plan.sweep.stop
        part, parts = shard
        self._values: dict[tuple[int, str], list[float]] = {}
        self._open: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._ready: deque[tuple[int, Job]] = deque()
        self.ended: dict[int, int] = {}
        """Seeds that a point needed, where they were added as needed."""
        if self._stop is None:
            jobs = [(p, job) for seed in plan.seeds for p in range(len(plan.points)) for job in self._jobs(p, seed)]
            self._ready.extend(jobs[part::parts])
            self.most = len(self._ready)
            return
        mine = range(len(plan.points))[part::parts]
        self.most = len(mine) * len(plan.disciplines) * len(plan.seeds)
        for seed in plan.seeds[: self._stop.min_seeds]:
            for point in mine:
                self._issue(point, seed)

    def _jobs(self, point: int, seed: int) -> list[Job]:
        plan, values = self.plan, self.plan.points[point]
        jobs = []
        for label in plan.disciplines:
            try:
                variant = plan.discipline(label, values)
            except MayflyError:
                variant = label
            more = (seed, plan.flows, plan.sweep.warm_up, plan.sweep.records)
            jobs.append(Job(plan.scenario, plan.overrides(values), values, variant, label, *more))
        return jobs

    def _issue(self, point: int, seed: int) -> None:
        jobs = self._jobs(point, seed)
        self._ready.extend((point, job) for job in jobs)
        self._open[point] = self._open.get(point, 0) + len(jobs)
        self._next[point] = self._next.get(point, 0) + 1

    def take(self) -> tuple[int, Job] | None:
        """The next run and its point; None while there is none, or at the end."""
        return self._ready.popleft() if self._ready else None

    def told(self, point: int, row: Mapping[str, Any]) -> None:
        """Learns of a result.

        Parameters
        ----------
        point : int
            Of the run.
        row : mapping
            What it gave.

        Raises
        ------
        MayflyError
            It has no such figure as the sweep stops by.
        """
        if self._stop is None:
            return
        if row["status"] == "done":
            if self._stop.metric not in row:
                near = ", ".join(sorted(name for name in row if name.rpartition(".")[2].endswith("mean_s")))
                raise MayflyError(f"stop.metric = '{self._stop.metric}': no such figure of a run; such as {near}")
            if (value := row[self._stop.metric]) is not None:
                self._values.setdefault((point, row["discipline"]), []).append(value)
        self._open[point] -= 1
        if self._open[point]:
            return
        if self._next[point] >= len(self.plan.seeds) or self._known(point):
            self.ended[point] = self._next[point]
            self.most -= (len(self.plan.seeds) - self._next[point]) * len(self.plan.disciplines)
        else:
            self._issue(point, self.plan.seeds[self._next[point]])

    def _known(self, point: int) -> bool:
        """Whether the mean is known well enough under every discipline; one that only fails will not get better."""
        # Asked only where seeds are added as needed.
        assert self._stop is not None
        for label in self.plan.disciplines:
            values = self._values.get((point, label), [])
            if not values:
                continue
            interval = student_ci95(values)
            if interval is None:
                return False
            half, mean = (interval[1] - interval[0]) / 2, abs(sum(values) / len(values))
            if half > self._stop.relative_ci * mean:
                return False
        return True
