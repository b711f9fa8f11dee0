"""One run of the arena: an experiment under a discipline with a seed, and the name its result goes by."""

import hashlib
import json
import math
import resource
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.arena.experiments import EXPERIMENTS, Experiment
from mayfly.discipline_registry import Discipline, parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import RunResult, named, run_one, workload
from mayfly.workers.job import Done

BY_ID = {experiment.id: experiment for experiment in EXPERIMENTS}


@dataclass(frozen=True)
class Trial:
    """A run, as :mod:`mayfly.workers.workers` takes one.

    Parameters
    ----------
    experiment : str
        Id.
    label : str
        The discipline as the board names it.
    seed : int
    quick : bool
        Whether it lasts as long as ``--quick`` says.
    point : dict
        What the store keeps of it beside.
    """

    experiment: str
    label: str
    seed: int
    quick: bool = False
    point: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def about(self) -> Experiment:
        """Its experiment."""
        return BY_ID[self.experiment]

    @property
    def discipline(self) -> str:
        """What runs: in a cell, with the options for cells beside its own, which go first."""
        asked = parse(self.label)
        added = self.about.variants.get(asked.id)
        if added is None:
            return self.label
        there = parse(added)
        return Discipline(asked.id, there.options | asked.options, there.written | asked.written).label

    def loaded(self) -> Scenario:
        """The scenario of the run.

        Raises
        ------
        MayflyError
            A value is refused.
        """
        return _loaded(self.experiment, self.seed, self.quick)

    @property
    def key(self) -> str:
        """Address of the result by all that decides it, the build of the simulator included."""
        content = {
            "arena": 3,
            **self.engine(),
            "experiment": self.experiment,
            "scenario": self.loaded().model_dump(mode="json", exclude={"name", "title", "disciplines"}),
            "discipline": self.discipline,
            "seed": self.seed,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def engine(self) -> dict[str, Any]:
        """What runs it, as far as results depend on it."""
        return {"native": _build()}

    def run(self, key: str) -> Done:
        """Runs it; a refusal is a row too.

        Parameters
        ----------
        key : str
            Its address.

        Returns
        -------
        row : dict
            ``key, status, error, discipline, variant, seed``, ``field.experiment``, ``cpu_s`` in the simulator,
            ``process_s``, processor time of all of it, ``peak_bytes`` of the process so far, and the figures.
        records : None
        """
        row = self._row(key) | {"field.experiment": self.experiment}
        began_s = _processor_s()
        try:
            scenario = self.loaded()
            flows = _flows(self.experiment, self.seed, self.quick)
            result, more = self.simulated(scenario, flows)
            found = self.about.read(result, scenario)
        except (MayflyError, MemoryError, OSError) as error:
            return row | {"status": "failed", "error": str(error) or type(error).__name__}, None
        kept = {name: value for name, value in found.items() if math.isfinite(value)}
        cost = {
            "cpu_s": more.pop("before_s", 0.0) + more.pop("cpu_s", float(result.counters["cpu_s"] or 0)),
            "process_s": _processor_s() - began_s,
            "peak_bytes": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }
        return row | cost | kept | more, None

    def lost(self, key: str, error: str) -> Done:
        """Its row where it was not run to its end, and why."""
        point = {f"field.{name}": value for name, value in self.point.items()}
        return self._row(key) | {"status": "failed", "error": error} | point, None

    def _row(self, key: str) -> dict[str, Any]:
        row: dict[str, Any] = {"key": key, "status": "done", "error": None, "discipline": self.label}
        return row | {"variant": self.discipline, "seed": self.seed}

    def simulated(self, scenario: Scenario, flows: pl.DataFrame) -> tuple[RunResult, dict[str, float]]:
        """The run whose figures are taken, and what else is known of it.

        Parameters
        ----------
        scenario : Scenario
        flows : polars.DataFrame
            Its workload.

        Returns
        -------
        result : RunResult
        more : dict of float
            ``before_s``, processor time of runs that it needed before; ``cpu_s`` of the run where its counters have
            none.
        """
        return run_one(scenario, named([self.discipline])[0], flows), {}


@lru_cache(64)
def _loaded(experiment: str, seed: int, quick: bool) -> Scenario:
    """The scenario of all disciplines: a board asks for it once for each, one after the other."""
    about = BY_ID[experiment]
    given = {**about.fields, "seed": seed, "replications": 1}
    if quick:
        given["duration"] = about.quick_s
    return load_scenario(about.scenario, given)


@lru_cache(2)
def _flows(experiment: str, seed: int, quick: bool) -> pl.DataFrame:
    """The workload that all disciplines meet."""
    return workload(_loaded(experiment, seed, quick))


def _processor_s() -> float:
    """Processor time of this process so far, and of those that it has started and that ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


@cache
def _build() -> str:
    with open(_native.__file__, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
