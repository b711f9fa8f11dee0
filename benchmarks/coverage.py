"""Do the intervals of `mayfly whatif` cover what they say? Many captures of one population of users, each judged alone.

    python benchmarks/coverage.py [--captures 400] [--resamples 16] [--population visitors] [--seed 1]

A population draws captures of a minute from users whose law is known. Each capture is run under fifo and fq_codel, and
so are the hours resampled from its own sessions; the interval of each figure either holds the true value or does not.
The true value is that of a typical hour: the median over the own runs of all captures. The table goes into
docs/recommendation.md.
"""

import argparse
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import polars as pl

from mayfly.metrics.resampling import hour_ci95
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import named, run_one
from mayfly.workload.arrivals import stream
from mayfly.workload.lists import flow_list
from mayfly.workload.sessions import another_hour, session_of

SPAN_S = 60.0
RATE_BPS = 3_000_000
NAMES = ("fifo", "fq_codel")
SHORT_BYTES = 100_000


def visitors(rng: np.random.Generator) -> pl.DataFrame:
    """Sessions of users who come once, as a Poisson process: 40 a minute, 60 % of 3 Mbit/s."""
    return _hour(rng, [(f"10.0.{user}", time) for user, time in enumerate(_times(rng, 40 / 60))])


def office(rng: np.random.Generator) -> pl.DataFrame:
    """Twenty users who stay, each with pauses of 25 s in the mean between sessions, some twice as busy as others."""
    starts = []
    for user in range(20):
        rate = 2 / 60 * (0.66 if user % 2 else 1.34)
        starts += [(f"10.0.{user}", time) for time in _times(rng, rate)]
    return _hour(rng, starts)


POPULATIONS: dict[str, Callable[[np.random.Generator], pl.DataFrame]] = {"visitors": visitors, "office": office}


def _times(rng: np.random.Generator, rate: float, before_s: float = 15.0) -> list[float]:
    count = rng.poisson(rate * (SPAN_S + before_s))
    return list(rng.uniform(-before_s, SPAN_S, count))


def _hour(rng: np.random.Generator, starts: list[tuple[str, float]]) -> pl.DataFrame:
    """What a capture sees of sessions: transfers that start within its minute."""
    rows: dict[str, list[float | int | str]] = {name: [] for name in ("start_s", "src", "dst", "size_bytes", "rtt_s")}
    for host, begin_s in starts:
        count = rng.geometric(1 / 12)
        times_s = begin_s + np.concatenate(([0.0], np.cumsum(np.minimum(rng.exponential(0.8, count - 1), 4.0))))
        # Most are small; one in 25 is a download with a Pareto tail, which no session knows before.
        small = np.exp(rng.normal(9.3, 1.1, count))
        large = 60_000 / rng.random(count) ** (1 / 1.3)
        sizes = np.minimum(np.where(rng.random(count) < 0.04, large, small), 4e6)
        rtt_s = float(np.exp(rng.normal(np.log(0.04), 0.5)))
        for time_s, size in zip(times_s, sizes, strict=True):
            if 0 <= time_s < SPAN_S:
                row = (float(time_s), f"web-{rng.integers(40)}", host, int(size) + 1, rtt_s)
                for name, value in zip(rows, row, strict=True):
                    rows[name].append(value)
    frame = pl.DataFrame(rows).sort("start_s")
    return flow_list(frame.with_columns(direction=pl.lit("down"), opened_by=pl.lit("receiver")), mss=1448)


def figures(records: pl.DataFrame, pings: np.ndarray) -> dict[str, float]:
    """What is judged, of one run or of many."""
    short = np.sort(_times_of(records.filter(pl.col("size_bytes") <= SHORT_BYTES)))
    long = _times_of(records.filter(pl.col("size_bytes") > 10 * SHORT_BYTES))
    return {
        "p50 of short transfers": quantile(short, 0.5),
        "p95 of short transfers": quantile(short, 0.95),
        "p95 of pings": quantile(np.sort(pings), 0.95),
        "mean of short transfers": float(short.mean()),
        "p50 of long transfers": quantile(np.sort(long), 0.5) if long.size else float("nan"),
    }


def simulated(scenario: Scenario, name: str, flows: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Records of a run, and the times of its pings, s."""
    run = run_one(scenario, named(name)[0], flows)
    pings = run.probes.filter(probe="ping").select(pl.col("returned_s") - pl.col("sent_s")).to_series()
    return run.records, pings.drop_nulls().to_numpy()


def _times_of(records: pl.DataFrame) -> np.ndarray:
    return records["response_time_s"].fill_null(float("inf")).to_numpy()


def quantile(ordered: np.ndarray, share: float) -> float:
    """Smallest value that so large a share does not exceed."""
    return float(ordered[max(0, int(np.ceil(share * ordered.size)) - 1)])


def judged(population: str, seed: int, capture: int, resamples: int) -> tuple[dict, dict, dict]:
    """What one capture holds, its figures, and those of its resampled hours."""
    flows = POPULATIONS[population](stream(seed, "coverage", capture))
    fixed = {"network.rate": RATE_BPS, "network.buffer": 100, "tcp.preset": "linux", "duration": 180.0}
    fixed |= {"sample_interval": 0, "probes.ping": True, "probes.until": SPAN_S}
    scenario = load_scenario("whatif", fixed)
    runs = {name: simulated(scenario, name, flows) for name in NAMES}
    own = {name: figures(*run) for name, run in runs.items()}
    others: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    for draw in range(1, resamples + 1):
        hour = another_hour(flows, seed + capture, draw)
        for name in NAMES:
            others[name].append(figures(*simulated(scenario, name, hour)))
    kept = {"sessions": int(session_of(flows).max()) + 1}
    return kept, own, others


def main() -> None:
    """Prints the table as Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--captures", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=16)
    parser.add_argument("--population", choices=list(POPULATIONS), default="visitors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="keep the figures as Parquet")
    parser.add_argument("--saved", help="judge what was kept before; nothing runs")
    given = parser.parse_args()
    found = _read(given.saved) if given.saved else _drawn(given)
    if given.save:
        _save(given.save, found)
    sessions = [kept["sessions"] for kept, _, _ in found]
    print(f"{len(found)} captures, {np.mean(sessions):.0f} sessions each, {given.resamples} resamples\n")
    print("| figure | discipline | typical hour | covered | interval over it, low to high (median) |")
    print("|---|---|---:|---:|---|")
    one, two = NAMES
    for figure in found[0][1][one]:
        for name in NAMES:
            pairs = [(own[name][figure], _of(others[name], figure, given)) for _, own, others in found]
            _print(figure, name, pairs)
        ratios = [
            (
                own[two][figure] / own[one][figure],
                [b / a for a, b in zip(*(_of(others[name], figure, given) for name in NAMES), strict=True)],
            )
            for _, own, others in found
        ]
        _print(figure, f"{two} / {one}", ratios)


def _drawn(given: argparse.Namespace) -> list[tuple[dict, dict, dict]]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(judged, given.population, given.seed, capture, given.resamples)
            for capture in range(given.captures)
        ]
        found = []
        for at, job in enumerate(jobs):
            found.append(job.result())
            print(f"{at + 1} of {len(jobs)}", end="\r", file=sys.stderr, flush=True)
    return found


def _of(others: list[dict[str, float]], figure: str, given: argparse.Namespace) -> list[float]:
    """A figure in as many hours as are asked for."""
    return [other[figure] for other in others[: given.resamples]]


def _print(figure: str, name: str, pairs: list[tuple[float, list[float]]]) -> None:
    """A row of the table; captures without such a figure are left out, and their number is told."""
    known = [pair for pair in pairs if np.isfinite([pair[0], *pair[1]]).all()]
    if 2 * len(known) < len(pairs):
        return
    true = float(np.median([value for value, _ in known]))
    ends = [interval for value, others in known if (interval := hour_ci95(value, others)) is not None]
    share = float(np.mean([low <= true <= high for low, high in ends]))
    error = (share * (1 - share) / len(ends)) ** 0.5
    low, high = np.median([low / true for low, _ in ends]), np.median([high / true for _, high in ends])
    few = f" of {len(ends)}" if len(ends) < len(pairs) else ""
    print(
        f"| {figure} | {name} | {true:.4g} | {100 * share:.1f} ± {100 * error:.1f} %{few} | {low:.2f} to {high:.2f} |"
    )


def _save(path: str, found: list[tuple[dict, dict, dict]]) -> None:
    rows = [
        {"capture": at, "sessions": kept["sessions"], "draw": draw, "discipline": name} | one
        for at, (kept, own, others) in enumerate(found)
        for name in NAMES
        for draw, one in enumerate([own[name], *others[name]])
    ]
    pl.DataFrame(rows).write_parquet(path)


def _read(path: str) -> list[tuple[dict, dict, dict]]:
    found = []
    for (_, *_), own in pl.read_parquet(path).group_by("capture", maintain_order=True):
        rows = {name: own.filter(discipline=name).sort("draw").to_dicts() for name in NAMES}
        kept = {"sessions": rows[NAMES[0]][0].get("sessions", float("nan"))}
        runs = {name: [{k: v for k, v in row.items() if k not in _ABOUT} for row in rows[name]] for name in NAMES}
        found.append((kept, {name: runs[name][0] for name in NAMES}, {name: runs[name][1:] for name in NAMES}))
    return found


_ABOUT = ("capture", "sessions", "draw", "discipline")


if __name__ == "__main__":
    main()
