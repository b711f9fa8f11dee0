"""A search for the worst a sender can do to others: an optimiser turns the knobs of an attacker against a discipline.

    python benchmarks/attack_search.py [lfq] [--beside fq_codel cake] [--evaluations 256] [--seconds 30] [--seed 1]
        [--workers 2] [--write docs/arena-attacks.md]

The attacker is one user beside three long transfers and twelve users of short ones (`gaming-spaced`, 10 Mbit/s). It
sends UDP at a constant rate, in flows that it may renew with other ports or other addresses, or fetches transfers over
several connections; rate, length of packets, flows, lives of ports and addresses, sizes and pauses are drawn and
improved by differential evolution (Storn and Price 1997; SciPy). Each goal is searched for by itself: the attacker's
fair shares, the slowdown of short transfers (95 %), the longest stall of the long ones. With the addresses kept, an
attacker is one user; with them free it is as many as it has at a time, so both are told. A figure is the mean over two
seeds of the simulator; what was found is run again with four other seeds, and that is what is told, of other
disciplines under the same attack, too.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import Bounds, differential_evolution

from mayfly.arena.experiments import LINUX
from mayfly.arena.figures import ENDLESS, attack
from mayfly.metrics.fairness import wire_bytes
from mayfly.metrics.groups import fair_groups
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import named, run_one, workload

SEARCHED, TOLD = (1, 2), (11, 12, 13, 14)
GOALS = {
    "attacker": "attacker's fair shares",
    "slowdown_p95": "slowdown of short transfers, 95 %",
    "stall_s": "longest stall of long transfers, s",
}
KNOBS = {
    "is_batch": (0.0, 1.0),
    "rate": (math.log(5e5), math.log(2e7)),
    "packet": (math.log(200), math.log(1500)),
    "flows": (0.0, math.log(64)),
    "renew": (0.0, math.log(3000)),
    "renews": (0.0, 1.0),
    "size": (math.log(1e4), math.log(2e7)),
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

    def figures(self, knobs: np.ndarray, seeds: tuple[int, ...], discipline: str = "") -> dict[str, float]:
        """Means over `seeds`, of another `discipline` where one is named."""
        own = {**LINUX, **self.source(knobs), "duration": self.seconds, "replications": 1}
        found = []
        for seed in seeds:
            scenario = load_scenario("gaming-spaced", {**own, "seed": seed})
            run = run_one(scenario, named([discipline or self.discipline])[0], workload(scenario))
            found.append({**attack(run, scenario), "attacker": fair_shares(run.records, scenario)})
        return {goal: float(np.mean([row.get(goal, 0.0) for row in found])) for goal in GOALS}

    def loss(self, knobs: np.ndarray) -> float:
        """What the optimiser makes small."""
        return -self.figures(knobs, SEARCHED)[self.goal]

    def worst(self, evaluations: int, seed: int, spread: Callable[..., Any]) -> np.ndarray:
        """The knobs of the worst attack found."""
        population = 5
        rounds = max(1, round(evaluations / (population * len(KNOBS))) - 1)
        result = differential_evolution(
            self.loss, Bounds(*zip(*KNOBS.values(), strict=True)), popsize=population, maxiter=rounds, seed=seed,
            polish=False, workers=spread, updating="deferred", tol=0, init="sobol",
        )  # fmt: skip
        return np.asarray(result.x)


def fair_shares(records: pl.DataFrame, scenario: Scenario) -> float:
    """Bytes that the attacker got in all the run, over those that a link that is fair to users would have given it."""
    packets = {"mss": scenario.tcp.mss, "header_bytes": scenario.tcp.headers_bytes}
    own = pl.col("group") == "attacker"
    got = records.filter(own).select(wire_bytes(pl.col("delivered_bytes"), **packets).sum()).item()
    rate_bps = network_of(scenario).rate_bps
    fair = fair_groups(records, rate_bps=rate_bps, end_s=scenario.duration, **packets)
    return float(got) / float(fair.filter(own)["served_bytes"].sum())


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
    parser.add_argument("disciplines", nargs="*", default=["lfq"])
    parser.add_argument("--beside", nargs="*", default=["fq_codel", "cake"], help="told under the same attacks")
    parser.add_argument("--evaluations", type=int, default=256, help="for each goal; at least 128")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page of Markdown")
    given = parser.parse_args()
    head = ["against", "addresses", "goal", "worst found", *(f"`{other}`" for other in given.beside), "the attack"]
    rows = ["| " + " | ".join(head) + " |", "|---|---|---|" + "---:|" * (1 + len(given.beside)) + "---|"]
    with ProcessPoolExecutor(given.workers) as pool:
        for discipline in given.disciplines:
            for may_forge in (False, True):
                for goal, words in GOALS.items():
                    search = Search(discipline, goal, may_forge, given.seconds)
                    knobs = search.worst(given.evaluations, given.seed, partial(pool.map, chunksize=4))
                    told_of = ["", *given.beside]
                    figures = list(pool.map(partial(search.figures, knobs, TOLD), told_of))
                    cells = [f"`{discipline}`", "free" if may_forge else "kept", words]
                    cells += [f"{row[goal]:.3g}" if row[goal] < ENDLESS else "no end" for row in figures]
                    cells.append(told(search.source(knobs)))
                    rows.append("| " + " | ".join(cells) + " |")
                    print(rows[-1], flush=True)
    if given.write:
        given.write.write_text(page(given, rows), encoding="utf-8")


def page(given: argparse.Namespace, rows: list[str]) -> str:
    """The page, from its table."""
    command = f"python benchmarks/attack_search.py {' '.join(given.disciplines)} --evaluations {given.evaluations} "
    command += f"--seconds {given.seconds:g} --seed {given.seed} --write {given.write}"
    return f"""# The worst attacks that were found

An optimiser turned the knobs of an attacker against a discipline: one user beside three long transfers and twelve users
of short ones on 10 Mbit/s (`gaming-spaced`, today's hosts). It sends UDP in flows that it renews with other ports or,
where addresses are free, other addresses, or fetches transfers over several connections. Figures are means over four
seeds that the search did not use. The other disciplines are under the same attack, not under the worst for them.

```sh
{command}
```

{chr(10).join(rows)}

Made on {date.today().isoformat()}: {given.evaluations} attacks for each row, by differential evolution. A sender with
free addresses is as many users as it has addresses that it keeps for longer than the probation: nothing that goes by
addresses can tell it from so many users.
"""


if __name__ == "__main__":
    main()
