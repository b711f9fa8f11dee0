"""A search for the worst a sender can do to others: an optimiser turns the knobs of an attacker against a discipline.

    python benchmarks/attack_search.py [lfq fq_codel cake] [--evaluations 400] [--seconds 60] [--seed 1] [--workers 2]
        [--write docs/arena-attacks.md]

The attacker is one user beside three long transfers and twelve users of short ones (`gaming-spaced`, 10 Mbit/s). It
sends UDP at a constant rate, in flows that it may renew with other ports or other addresses, or fetches transfers over
several connections; rate, length of packets, flows, lives of ports and addresses, sizes and pauses are drawn and
improved by differential evolution (Storn and Price 1997; SciPy). Each goal is searched for by itself: the attacker's
fair shares, the slowdown of short transfers (95 %), the longest stall of the long ones. With the addresses kept, an
attacker is one user; with them free it is as many as it has at a time, so both are told. A figure is the mean over two
seeds of the simulator; what was found is run again with four other seeds, and that is what is told.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

from mayfly.arena.experiments import LINUX
from mayfly.arena.figures import attack
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import named, run_one, workload

SEARCHED, TOLD = (1, 2), (11, 12, 13, 14)
GOALS = {
    "attacker": "attacker's fair shares",
    "slowdown_p95": "slowdown of short transfers, 95 %",
    "stall_s": "longest stall of long transfers, s",
}
KNOBS = {
    "is_batch": (0.0, 1.0),
    "rate": (math.log(1e5), math.log(3e7)),
    "packet": (math.log(60), math.log(1500)),
    "flows": (0.0, math.log(64)),
    "renew": (0.0, math.log(3000)),
    "renews": (0.0, 1.0),
    "size": (math.log(2e4), math.log(2e7)),
    "every": (math.log(0.5), math.log(60)),
}
"""What is turned, and its bounds; logarithms but for the two choices."""


@dataclass(frozen=True)
class Search:
    """One goal against one discipline; `may_forge`: whether addresses may be renewed, too."""

    discipline: str
    goal: str
    may_forge: bool
    seconds: float

    def source(self, knobs: np.ndarray) -> dict[str, Any]:
        """The attacker, as fields of a scenario."""
        value = dict(zip(KNOBS, knobs, strict=True))
        flows = round(math.exp(value["flows"]))
        common = {"users": 1, "group": "attacker", "flows": flows}
        if value["is_batch"] > 0.5:
            every = max(math.exp(value["every"]), 0.5)
            batch = {**common, "size": f"{round(math.exp(value['size']))}B", "every": every, "start": 1.0}
            return {"workload.cbr": [], "workload.batch": [batch]}
        rate = math.exp(value["rate"]) / flows
        cbr = {**common, "rate": rate, "packet": round(math.exp(value["packet"])), "spread": 0.1}
        if value["renews"] > 0.3:
            cbr |= {"renew": round(math.exp(value["renew"])), "renew_hosts": self.may_forge and value["renews"] > 0.65}
        return {"workload.cbr": [cbr], "workload.batch": []}

    def figures(self, knobs: np.ndarray, seeds: tuple[int, ...]) -> dict[str, float]:
        """Means over `seeds`."""
        own = {**LINUX, **self.source(knobs), "duration": self.seconds, "replications": 1}
        found = []
        for seed in seeds:
            scenario = load_scenario("gaming-spaced", {**own, "seed": seed})
            found.append(attack(run_one(scenario, named([self.discipline])[0], workload(scenario)), scenario))
        return {goal: float(np.mean([row.get(goal, 0.0) for row in found])) for goal in GOALS}

    def loss(self, knobs: np.ndarray) -> float:
        """What the optimiser makes small."""
        return -self.figures(knobs, SEARCHED)[self.goal]

    def worst(self, evaluations: int, seed: int, spread: Callable[..., Any]) -> np.ndarray:
        """The knobs of the worst attack found."""
        population = 5
        rounds = max(1, round(evaluations / (population * len(KNOBS))) - 1)
        result = differential_evolution(
            self.loss, list(KNOBS.values()), popsize=population, maxiter=rounds, seed=seed, polish=False,
            workers=spread, updating="deferred", tol=0, init="sobol",
        )  # fmt: skip
        return np.asarray(result.x)


def told(source: dict[str, Any]) -> str:
    """An attacker in words."""
    if source["workload.batch"]:
        [one] = source["workload.batch"]
        return f"{one['size']} over {one['flows']} connections, every {one['every']:.3g} s"
    [one] = source["workload.cbr"]
    words = f"UDP of {one['flows'] * one['rate'] / 1e6:.3g} Mbit/s, {one['packet']} bytes, {one['flows']} flows"
    if "renew" in one:
        words += f", other {'addresses' if one['renew_hosts'] else 'ports'} every {one['renew']} packets"
    return words


def main() -> None:
    """Searches and tells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("disciplines", nargs="*", default=["lfq", "fq_codel", "cake"])
    parser.add_argument("--evaluations", type=int, default=400, help="runs of two seeds, for each goal")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page of Markdown")
    given = parser.parse_args()
    rows = ["| addresses | goal | discipline | worst found | the attack |", "|---|---|---|---:|---|"]
    with ProcessPoolExecutor(given.workers) as pool:
        for may_forge in (False, True):
            for goal, words in GOALS.items():
                for discipline in given.disciplines:
                    search = Search(discipline, goal, may_forge, given.seconds)
                    knobs = search.worst(given.evaluations, given.seed, partial(pool.map, chunksize=4))
                    figure = search.figures(knobs, TOLD)[goal]
                    kept = "free" if may_forge else "kept"
                    rows.append(f"| {kept} | {words} | `{discipline}` | {figure:.3g} | {told(search.source(knobs))} |")
                    print(rows[-1], flush=True)
    if given.write:
        about = (
            f"# The worst attacks that were found\n\nBy `python benchmarks/attack_search.py {' '.join(given.disciplines)} "
            f"--evaluations {given.evaluations} --seconds {given.seconds:g} --seed {given.seed}`: {GOALS.__len__()} goals.\n"
        )
        given.write.write_text("\n".join([about, *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
