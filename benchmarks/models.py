"""CPU time of a curve of 1000 sizes, of the mean and of percentiles, for every policy of the registry and several laws.

The fastest of `--runs` runs in this thread, ms; percentiles, three of 100 sizes, run once, and only with
`--percentiles`. The aim is 50 ms a curve for laws with closed truncated moments, and 1000 ms for percentiles. The
peer is the plain way: one call of scipy's quad per moment and size, for the policies that are moments only.
"""

import argparse
import functools
import time
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad

from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue import levels
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, Policy
from mayfly.models.ranks import percentiles as soap_percentiles
from mayfly.models.ranks.gittins import ATOMS
from mayfly.models.ranks.policies import RANKS

AIM_MS = 50.0
PERCENTILES_AIM_MS = 1000.0
LAWS = (
    "exponential:mean=1",
    "hyperexponential:mean=1,cov=5",
    "lognormal:mean=1,cov=3",
    "bounded-pareto:min=1,max=1e6,alpha=1.1",
    "zipf:min=6,mean=40,cov=6",
)


def fastest_ms(call: Callable[[], object], runs: int) -> float:
    """CPU time of the fastest run, ms; what levels keep between calls is dropped before each."""
    times = []
    for _ in range(runs):
        levels.refined.cache_clear()
        began = time.thread_time()
        call()
        times.append(time.thread_time() - began)
    return min(times) * 1e3


def parameters(row: Policy, queue: MG1) -> dict[str, float | list[float]]:
    """Thresholds at the median and at nine tenths of the jobs, for policies that have any."""
    cuts = [float(queue.law.quantile(p)) for p in (0.5, 0.9)]
    return {
        parameter.name: cuts if parameter.several else cuts[0]
        for parameter in row.parameters
        if parameter.default is None
    }


def by_quad(queue: MG1, x: np.ndarray) -> np.ndarray:
    """LAS with a quadrature per moment and size."""
    law = queue.law
    first, second = (
        np.array([quad(lambda u, k=k: k * u ** (k - 1) * float(law.survival(u)), 0, cut, limit=200)[0] for cut in x])
        for k in (1, 2)
    )
    idle = 1 - queue.arrival_rate * first
    return (queue.arrival_rate * second / 2 / idle + x) / idle


def print_percentiles(rho: float) -> None:
    """Print a row per law and policy that is a rank function, by size and over all jobs."""
    print("| policy | law | 3 percentiles of 100 sizes, ms | of all jobs, ms |\n|---|---|---:|---:|")
    for spec in LAWS:
        queue, q = MG1(service_law(spec), rho), np.array([50.0, 90.0, 99.0])
        x = queue.law.quantile(np.linspace(0.001, 0.9999, 100))
        for row in POLICIES.values():
            if row.unranked or (row.id == "gittins" and len(getattr(queue.law, "values", ())) > ATOMS):
                continue
            rank = RANKS[row.id](queue.law, **parameters(row, queue))
            by_size = fastest_ms(functools.partial(soap_percentiles.percentiles, queue, x, rank, q), 1)
            of_all = fastest_ms(functools.partial(soap_percentiles.overall, queue, rank, q), 1)
            told = "" if by_size <= PERCENTILES_AIM_MS else " above the aim"
            print(f"| `{row.id}` | `{spec}` | {by_size:.0f} | {of_all:.0f} |{told}", flush=True)


def main() -> None:
    """Print a row per policy and law."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rho", type=float, default=0.8)
    parser.add_argument("--percentiles", action="store_true")
    given = parser.parse_args()
    if given.percentiles:
        print_percentiles(given.rho)
        return
    print("| policy | law | curve of 1000 sizes, ms | mean, ms |\n|---|---|---:|---:|")
    for spec in LAWS:
        queue = MG1(service_law(spec), given.rho)
        x = queue.law.quantile(np.linspace(0.001, 0.9999, 1000))
        for row in POLICIES.values():
            taken = parameters(row, queue)
            try:
                curve = fastest_ms(functools.partial(row.response, queue, x, **taken), given.runs)
            except MayflyError as refused:
                print(f"| `{row.id}` | `{spec}` | refused | | {refused}", flush=True)
                continue
            mean = fastest_ms(functools.partial(row.mean, queue, **taken), given.runs)
            told = "" if curve <= AIM_MS else " above the aim"
            print(f"| `{row.id}` | `{spec}` | {curve:.1f} | {mean:.1f} |{told}", flush=True)
    queue = MG1(service_law(LAWS[0]), given.rho)
    x = queue.law.quantile(np.linspace(0.001, 0.9999, 1000))
    ours = fastest_ms(functools.partial(POLICIES["las"].response, queue, x), given.runs)
    peer = fastest_ms(functools.partial(by_quad, queue, x), 1)
    print(f"las, exponential: a quadrature per size takes {peer:.0f} ms, {peer / ours:.0f} times as long")


if __name__ == "__main__":
    main()
