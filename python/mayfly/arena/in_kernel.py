"""Runs of the arena in the Linux kernel, and what of the arena it cannot run."""

import hashlib
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.arena.trial import Trial
from mayfly.discipline_registry import parse
from mayfly.discipline_registry.tc_options import leaf_of
from mayfly.engines import guest, linux
from mayfly.engines.modules import home_of
from mayfly.engines.network import links_of
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.isolated import PathsAlone
from mayfly.simulate.run import RunResult, named, workload

IN_KERNEL = ("fifo", "pie", "codel", "fq_codel", "fq_pie", "cake", "sfq", "red", "efd", "las", "run2c", "lfq")
"""Disciplines of the board of the kernel where nobody names others."""


@dataclass(frozen=True)
class KernelTrial(Trial):
    """A run in a guest."""

    def loaded(self) -> Scenario:
        """The scenario of the run: a buffer in bytes is as many full packets, which is what most qdiscs count."""
        scenario = super().loaded()
        network, full = scenario.network, scenario.tcp.mss + scenario.tcp.headers_bytes
        limit, unit = network.buffer
        if unit == "packets":
            return scenario
        packets = (max(1, limit // full), "packets")
        return scenario.model_copy(update={"network": network.model_copy(update={"buffer": packets})})

    def engine(self) -> dict[str, Any]:
        """What runs it, as far as results depend on it.

        The test kernel, our modules where they are needed, the discipline in the words of ``tc``, and the programs of
        both sides; the build of the simulator, whose times alone slowdowns are counted from.
        """
        discipline, (kernel, modules) = parse(self.discipline), _built()
        return {
            **super().engine(),
            "engine": "linux",
            "programs": _programs(guest.sources() / "uml"),
            "kernel": kernel,
            "modules": modules if leaf_of(discipline).module else "",
            "links": links_of(self.loaded(), discipline),
        }

    def simulated(self, scenario: Scenario, flows: pl.DataFrame) -> tuple[RunResult, dict[str, float]]:
        """The run in the kernel, and processor time of the guest."""
        linux.refuse(scenario)
        linux.refuse_flows(scenario, flows)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Nothing here reads the mean of the queue: one look at a sample is enough.
        [discipline] = named([self.discipline])
        result, _ = linux.run_one(scenario, discipline, flows, 0, PathsAlone(), looks=1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return result, {"cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


@cache
def _built() -> tuple[str, str]:
    """Names of the folders of the test kernel and of our modules for it."""
    kernel = guest.kernel()
    return kernel.parent.name, home_of(guest.sources(), kernel, guest.cached()).name


@cache
def _programs(folder: Path) -> str:
    """Digest of what sets a guest up, of what runs in it, and of what reads its results."""
    digest = hashlib.sha256()
    for path in (*guest.programs(folder), *sorted(Path(linux.__file__).parent.glob("*.py"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def release() -> str:
    """Version of the test kernel's sources, as Debian has it."""
    return _built()[0].split("-")[1].replace("_", "-")


def absent(names: Iterable[str], quick: bool) -> dict[str, str]:
    """Experiments that the kernel engine cannot run.

    Parameters
    ----------
    names : iterable of str
        Ids of experiments.
    quick : bool
        Whether they last as long as ``--quick`` says.

    Returns
    -------
    dict of str
        By experiment the reason, as the engine says it.
    """
    [plain] = named(["fifo"])
    found = {}
    for name in names:
        scenario = Trial(name, plain.label, 1, quick).loaded()
        try:
            linux.refuse(scenario)
            flows = workload(scenario)
            linux.refuse_flows(scenario, flows)
            linux.guest_settings(scenario, plain, flows)
        except MayflyError as error:
            found[name] = str(error)
    return found
