"""One run of the arena: an experiment under a discipline with a seed, and the name its result goes by."""

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.arena.experiments import EXPERIMENTS, Experiment
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import named, run_one, workload

BY_ID = {experiment.id: experiment for experiment in EXPERIMENTS}


@dataclass(frozen=True)
class Trial:
    """A run, as :mod:`mayfly.sweep.workers` takes one.

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
        """What runs: in a cell, the variant for cells."""
        return self.about.variants.get(self.label, self.label)

    def loaded(self) -> Scenario:
        """The scenario of the run.

        Raises
        ------
        MayflyError
            A value is refused.
        """
        about = self.about
        given = {**about.fields, "seed": self.seed, "replications": 1}
        if self.quick:
            given["duration"] = about.quick_s
        return load_scenario(about.scenario, given)

    @property
    def key(self) -> str:
        """Address of the result by all that decides it, the build of the simulator included."""
        content = {
            "arena": 3,
            "native": _build(),
            "experiment": self.experiment,
            "scenario": self.loaded().model_dump(mode="json", exclude={"name", "title", "disciplines"}),
            "discipline": self.discipline,
            "seed": self.seed,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def run(self, key: str) -> tuple[dict[str, Any], pl.DataFrame | None]:
        """Runs it; a refusal is a row too.

        Parameters
        ----------
        key : str
            Its address.

        Returns
        -------
        row : dict
            ``key, status, error, discipline, variant, seed, cpu_s``, ``field.experiment``, and the figures.
        records : None
        """
        row: dict[str, Any] = {"key": key, "status": "done", "error": None, "discipline": self.label}
        row |= {"variant": self.discipline, "seed": self.seed, "field.experiment": self.experiment}
        try:
            scenario = self.loaded()
            result = run_one(scenario, named([self.discipline])[0], workload(scenario))
            found = self.about.read(result, scenario)
        except (MayflyError, MemoryError, OSError) as error:
            return row | {"status": "failed", "error": str(error) or type(error).__name__}, None
        kept = {name: value for name, value in found.items() if math.isfinite(value)}
        return row | {"cpu_s": float(result.counters["cpu_s"])} | kept, None


@cache
def _build() -> str:
    with open(_native.__file__, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
