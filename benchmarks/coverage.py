"""Do the intervals of `mayfly whatif` cover what they say, and does its choice stand when it stops early.

    python benchmarks/coverage.py [--captures 200] [--resamples 16] [--population visitors] [--seed 1] [--times 8]

A population draws captures of a minute from users whose law is known. Each capture is run under the shortlist, and so
are the hours resampled from its own sessions. The interval of each figure of users either holds the true value or does
not: once from all hours, once from those after which `whatif` stops as its choice is settled. The true value is that of
a typical hour: the median over the own runs of all captures. The tables go into docs/recommendation.md.

With ``--times`` each capture also runs so often with its own sessions at other times: how much of the spread of its
hours is of when users come, and not of who they are.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.comparison.comparison import Rows, gather
from mayfly.comparison.recommendation import criteria_values, is_settled, recommendation
from mayfly.comparison.session_bootstrap import capture_rule, hour_row, hour_rule, values_of_hours
from mayfly.discipline_registry import SHORTLIST
from mayfly.metrics.resampling import hour_ci95
from mayfly.metrics.users import least_long_bytes
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.resampled import ResampledHours
from mayfly.simulate.run import named, observe_many, run_many
from mayfly.workload.arrivals import stream
from mayfly.workload.lists import flow_list
from mayfly.workload.replayed import session_of

SPAN_S = 60.0
RATE_BPS = 3_000_000
JUDGED = ("fifo", "fq_codel")
FIGURES = ("short_p95", "ping_p95", "long_p50", "long_p95")


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
    listed = flow_list(frame.with_columns(direction=pl.lit("down"), opened_by=pl.lit("receiver")), mss=1448)
    return listed.with_row_index("connection_id")


def _scenario(seed: int) -> Scenario:
    fixed = {"network.rate": RATE_BPS, "network.buffer": 100, "tcp.preset": "linux-6.1", "duration": 180.0}
    return load_scenario(
        "whatif", fixed | {"sample_interval": 0, "probes.ping": True, "probes.until": SPAN_S, "seed": seed}
    )


def at_other_times(population: str, seed: int, capture: int, draws: int) -> list[list[dict[str, float]]]:
    """Values of the criteria under the judged disciplines, of the capture's own sessions, each at a uniform time."""
    flows = POPULATIONS[population](stream(seed, "coverage", capture))
    rule = replace(capture_rule(flows), least_bytes=least_long_bytes(flows), while_busy=True)
    scenario, disciplines = _scenario(seed + capture), named(",".join(JUDGED))
    session, starts_s = np.asarray(session_of(flows)), flows["start_s"].to_numpy()
    first_s = np.array([starts_s[session == one].min() for one in range(int(session.max()) + 1)])
    found = []
    for draw in range(draws):
        shift_s = stream(seed, "times", capture, draw).uniform(0, SPAN_S, len(first_s)) - first_s
        moved = flows.with_columns(start_s=pl.Series((starts_s + shift_s[session]) % SPAN_S)).sort("start_s")
        rows = []
        for run in observe_many(scenario, disciplines, moved):
            decided = (rule.above, rule.least_bytes, rule.while_busy)
            users = json.loads(_native.users_of_runs([run.observed], run.idle_rtt_s, run.span_s, *decided))
            one = run.discipline
            rows.append({"id": one.id, "label": one.label, "options": {}, "users": users, **run.counts})
        found.append(criteria_values(rows))
    return found


def judged(population: str, seed: int, capture: int, resamples: int, draws: int = 0) -> dict[str, Any]:
    """A capture: its own rows, the values of its hours by discipline, after how many hours it stops, both answers."""
    flows = POPULATIONS[population](stream(seed, "coverage", capture))
    scenario, disciplines = _scenario(seed + capture), named(",".join(SHORTLIST))
    rows = Rows(scenario, rule=capture_rule(flows))
    runs = run_many(scenario, disciplines, flows, ended=rows.add)
    summary = gather(scenario, runs, "whatif", span_s=SPAN_S, rows=rows).summary
    own = summary["disciplines"]
    hours, rule = ResampledHours(scenario, disciplines, flows), hour_rule(flows, own)
    found: list[list[dict[str, float]]] = [[] for _ in own]
    stopped = resamples
    for draw in range(1, resamples + 1):
        ran = hours.run(draw)
        assert ran is not None  # a minute of forty sessions is never empty
        for values, run in zip(found, criteria_values([hour_row(run, rule) for run in ran]), strict=True):
            values.append(run)
        if stopped == resamples and is_settled(own, found, resamples, scenario.seed):
            stopped = draw
    return {
        "sessions": int(session_of(flows).max()) + 1,
        "own": [dict(values) for values in criteria_values(own)],
        "hours": found,
        "stopped": stopped,
        "answers": [_answer(summary, found, count) for count in (stopped, resamples)],
        "times": at_other_times(population, seed, capture, draws),
    }


def _answer(summary: dict[str, Any], hours: list[list[dict[str, float]]], count: int) -> str:
    """Kind of the recommendation after so many hours, and its discipline."""
    rows = summary["disciplines"]
    values = values_of_hours({row["label"]: own[:count] for row, own in zip(rows, hours, strict=True)})
    asked = summary | {"resampling": {"hours": count}}
    found = recommendation(asked | {"disciplines": [row | {"resampled": values[row["label"]]} for row in rows]})
    return "none" if found is None else f"{found['kind']} {found['discipline'] or ''}".strip()


def main() -> None:
    """Prints the tables as Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--captures", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=16)
    parser.add_argument("--population", choices=list(POPULATIONS), default="visitors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=0, help="runs of each capture with its sessions at other times")
    parser.add_argument("--save", help="store what was found as JSON")
    parser.add_argument("--saved", help="judge what was stored before; nothing runs")
    given = parser.parse_args()
    found = json.loads(Path(given.saved).read_text()) if given.saved else _drawn(given)
    if given.save:
        Path(given.save).write_text(json.dumps(found))
    sessions = np.mean([one["sessions"] for one in found])
    print(f"{len(found)} captures of the population {given.population}, {sessions:.0f} sessions each\n")
    _print_choice(found, given.resamples)
    print("| figure | discipline | typical hour | covered, all hours | covered, stopped | interval over it, stopped |")
    print("|---|---|---:|---:|---:|---|")
    _print_rows(found)
    if given.times:
        print("\n| figure | discipline | captures | hours | same sessions, other times | of times |")
        print("|---|---|---:|---:|---:|---:|")
        for figure in FIGURES:
            for at, name in enumerate(JUDGED):
                _print_spread(figure, name, found, [at])
            _print_spread(figure, f"{JUDGED[1]} / {JUDGED[0]}", found, [1, 0])


def _print_spread(figure: str, name: str, found: list[dict[str, Any]], rows: list[int]) -> None:
    """Deviations of the logarithm: of the captures' own runs, of their hours, of their sessions at other times."""

    def logs(runs: list[list[dict[str, float]]]) -> Any:
        values = [np.log([run[row].get(figure, np.nan) for run in runs]) for row in rows]
        return values[0] - values[1] if len(values) > 1 else values[0]

    each = [(logs([one["own"]]), logs(list(zip(*one["hours"], strict=True))), logs(one["times"])) for one in found]
    known = [one for one in each if all(np.isfinite(values).all() for values in one)]
    if 2 * len(known) < len(found):
        return
    own = float(np.std([values[0] for values, *_ in known], ddof=1))
    hours, times = (float(np.mean([np.var(one[at], ddof=1) for one in known])) for at in (1, 2))
    print(f"| {figure} | {name} | {own:.2f} | {hours**0.5:.2f} | {times**0.5:.2f} | {100 * times / hours:.0f} % |")


def _print_rows(found: list[dict[str, Any]]) -> None:
    for figure in FIGURES:
        for at, name in enumerate(JUDGED):
            _print(figure, name, [(*_of(one, figure, at), one["stopped"]) for one in found])
        pairs = [(_of(one, figure, 0), _of(one, figure, 1), one["stopped"]) for one in found]
        ratios = [(b[0] / a[0], [y / x for x, y in zip(a[1], b[1], strict=True)], stop) for a, b, stop in pairs]
        _print(figure, f"{JUDGED[1]} / {JUDGED[0]}", ratios)


def _print_choice(found: list[dict[str, Any]], most: int) -> None:
    """After how many hours the choice was settled, and how often all hours give another."""
    stopped = np.array([one["stopped"] for one in found])
    others = sum(one["answers"][0] != one["answers"][1] for one in found)
    print(f"Hours: {stopped.mean():.1f} in the mean; {100 * np.mean(stopped < most):.0f} % of the captures stop early.")
    print(f"Another answer than after {most} hours: {others} of {len(found)}.")
    named = Counter(one["answers"][1] for one in found)
    print("Answers: " + ", ".join(f"{answer} {count}" for answer, count in named.most_common()) + "\n")


def _drawn(given: argparse.Namespace) -> list[dict[str, Any]]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(judged, given.population, given.seed, capture, given.resamples, given.times)
            for capture in range(given.captures)
        ]
        found = []
        for at, job in enumerate(jobs):
            found.append(job.result())
            print(f"{at + 1} of {len(jobs)}", end="\r", file=sys.stderr, flush=True)
    return found


def _of(one: dict[str, Any], figure: str, row: int) -> tuple[float, list[float]]:
    """A figure of the capture's own run, and in its hours; not a number where there is none."""
    return one["own"][row].get(figure, np.nan), [hour.get(figure, np.nan) for hour in one["hours"][row]]


def _print(figure: str, name: str, values: list[tuple[float, list[float], int]]) -> None:
    """A row of the table, of the captures that have the figure; their number is said where some have not."""
    known = [one for one in values if np.isfinite([one[0], *one[1]]).all()]
    if 2 * len(known) < len(values):
        return
    true = float(np.median([value for value, *_ in known]))
    all_hours = [_interval(value, hours) for value, hours, _ in known]
    ends = [_interval(value, hours[:stop]) for value, hours, stop in known]
    low, high = np.median([low / true for low, _ in ends]), np.median([high / true for _, high in ends])
    few = f" of {len(ends)}" if len(ends) < len(values) else ""
    print(
        f"| {figure} | {name} | {true:.4g} | {_covered(all_hours, true)}{few} | {_covered(ends, true)}{few} "
        f"| {low:.2f} to {high:.2f} |"
    )


def _interval(value: float, hours: list[float]) -> list[float]:
    found = hour_ci95(value, hours)
    assert found is not None  # all are finite
    return found


def _covered(ends: list[list[float]], true: float) -> str:
    share = float(np.mean([low <= true <= high for low, high in ends]))
    return f"{100 * share:.1f} ± {100 * (share * (1 - share) / len(ends)) ** 0.5:.1f} %"


if __name__ == "__main__":
    main()
