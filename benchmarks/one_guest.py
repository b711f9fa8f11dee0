"""pfifo, fq_codel, cake and lfq in one guest, on the same offered traffic: what users feel, and what attackers take.

    python benchmarks/one_guest.py [--seeds 8] [--workers 2] [--write docs/arena-kernel.md]

Each run boots one guest, sets up one path of 10 Mbit/s and 20 ms, and lets the four carry the same flow list one after
the other: pfifo and fq_codel below htb, cake and lfq with their own shapers. Hosts are those of Linux. A figure is the
mean over the seeds with half of Student's 95 % interval; who leads, ties or trails is judged as in the arena. `--write`
puts the table into a page, between the comments that name this file.
"""

import datetime
import json
import math
import os
import resource
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from page_parts import put

from mayfly.arena.experiments import LINUX
from mayfly.arena.in_kernel import release
from mayfly.arena.reasons import REASONS
from mayfly.arena.rows import Row
from mayfly.arena.sentences import value_text, worse_text
from mayfly.arena.trial import BY_ID
from mayfly.arena.verdicts import Place, best_of, places
from mayfly.discipline_registry import parse
from mayfly.engines import linux
from mayfly.scenario.attacks import ATTACKS, Attack
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import RunResult, workload
from mayfly.text.files import complete

TITLES = {"fifo": "pfifo", "fq_codel": "fq_codel", "cake": "cake", "lfq": "lfq"}
OURS = "lfq"
NAME = "benchmarks/one_guest.py"

Flows = Callable[[pl.DataFrame], pl.DataFrame]
Reading = Callable[[RunResult, Scenario], dict[str, float]]


@dataclass(frozen=True)
class Case:
    """One workload: its scenario with what is changed, its figures, and what becomes of its flow list."""

    id: str
    scenario: str
    fields: Mapping[str, Any]
    read: Reading
    flows: Flows = lambda flows: flows


def behind_bulk(run: RunResult, scenario: Scenario) -> dict[str, float]:
    """Mean time of the short transfers, connect() to last byte; one without it counts with the time it had."""
    short = run.records.filter(pl.col("group") == "short")
    last_s = short["last_data_s"].fill_null(1e-9 * run.counters["end_ns"])
    return {"time_s": float((last_s - short["start_s"]).to_numpy().mean())}


def waits(run: RunResult, scenario: Scenario) -> dict[str, float]:
    """Mean and 95 % of what datagrams wait in the queue, and their loss."""
    found = (run.packets["departed_s"] - run.packets["queued_s"]).to_numpy()
    came = found[np.isfinite(found)]
    told = {"loss": float(1 - came.size / found.size)}
    return told | {"wait_s": float(came.mean()), "wait_p95_s": float(np.percentile(came, 95))} if came.size else told


def from_a_bulk_user(flows: pl.DataFrame) -> pl.DataFrame:
    """The datagrams come from a user who has a long transfer too."""
    first = flows.filter(pl.col("group") == "bulk").row(0, named=True)
    ping = pl.col("group") == "ping"
    return flows.with_columns(
        pl.when(ping).then(pl.lit(first[end])).otherwise(end).alias(end).cast(flows[end].dtype)
        for end in ("src", "dst")
    )


def without_long_ones(flows: pl.DataFrame) -> pl.DataFrame:
    """The short transfers alone."""
    return flows.filter(pl.col("group") != "long")


_PATH = LINUX | {"network.delay": "8ms", "network.buffer": 100, "sample_interval": 0, "workload.load": None}
_BULK = {"flows": 1, "users": 1, "spread": "1s", "group": "bulk"}
_SHORT = {"size": "40kB", "flows": 1, "start": "5s", "every": "1030ms", "users": 1, "group": "short"}
_PING = {"rate": 98 * 8 * 10, "packet": 98, "start": "5s", "users": 1, "group": "ping"}
_PINGS = {"workload.permanent": [_BULK | {"flows": 4, "users": 4}], "workload.cbr": [_PING], "trace": ["ping"]}


def _arena(name: str, seconds: float) -> Case:
    about = BY_ID[name]
    return Case(name, about.scenario, {**about.fields, "duration": seconds}, about.read)


ATTACKING = [(attack, attack.board) for attack in ATTACKS if attack.board is not None and attack.board.guest_s]
"""The attacks that run in the guest."""

CASES = (
    Case(
        "behind-bulk",
        "wired",
        _PATH | {"workload.permanent": [_BULK], "workload.batch": [_SHORT], "duration": 36.0},
        behind_bulk,
    ),
    Case("ping", "wired", _PATH | _PINGS | {"duration": 30.0}, waits),
    Case("ping-bulk", "wired", _PATH | _PINGS | {"duration": 30.0}, waits, from_a_bulk_user),
    _arena("call", 30.0),
    *(_arena(attack.id, board.guest_s) for attack, board in ATTACKING),
    replace(_arena("overload", 40.0), id="overload-alone", flows=without_long_ones),
)

_STALL = "longest stall of long transfers"


def _rows(attack: Attack, words: str) -> list[Row]:
    id = attack.id
    stall = Row(f"{id}:stall", f"{words}: {_STALL}", id, "stall_s", "s", tie=0.2)
    if attack.joins:
        return [
            Row(f"{id}:attacker", f"{words}: attacker's fair shares", id, "attacker", "times", "one", 0.05),
            Row(f"{id}:short", f"{words}: slowdown of short ones, 95 %", id, "slowdown_p95", "times", tie=0.05),
            stall,
        ]
    return [
        Row(f"{id}:long", f"{words}: fair share left to long ones", id, "long", "times", "higher", 0.05),
        Row(f"{id}:short", f"{words}: slowdown of short ones, 50 %", id, "slowdown_p50", "times", tie=0.05),
        stall,
    ]


ROWS = (
    Row("behind-bulk", "40 kB behind a bulk transfer: mean time", "behind-bulk", "time_s", "s", tie=0.001),
    Row("ping", "ping beside four bulk users: mean wait", "ping", "wait_s", "s", tie=0.0005),
    Row("ping:p95", "the same, 95 %", "ping", "wait_p95_s", "s", tie=0.0005),
    Row("ping:loss", "the same, loss", "ping", "loss", "share", tie=0.001),
    Row("ping-bulk", "ping of one of the four: mean wait", "ping-bulk", "wait_s", "s", tie=0.0005),
    Row("ping-bulk:p95", "the same, 95 %", "ping-bulk", "wait_p95_s", "s", tie=0.0005),
    Row("ping-bulk:loss", "the same, loss", "ping-bulk", "loss", "share", tie=0.001),
    Row("call:wait", "call beside 8 Mbit/s of transfers: wait, 99 %", "call", "wait_p99_s", "s", tie=0.001),
    Row("call:jitter", "the same, jitter", "call", "jitter_s", "s", tie=0.0002),
    Row("call:loss", "the same, loss", "call", "loss", "share", tie=0.001),
    *(
        row
        for attack, board in ATTACKING
        for row in _rows(attack, board.guest_words or board.words)
    ),
    Row("overload-alone", "the short ones of it alone: slowdown, 50 %", "overload-alone", "slowdown_p50", "times",
        tie=0.05),
)  # fmt: skip


WHY = {
    "overload:short": "it leaves the long transfers their share, which others give to the short ones (the row of that "
    "share); with the short ones alone, the last row, it is the fastest"
}
"""Why lfq is not first, where a row of the table shows it."""


def carried(case: Case, seed: int, seconds: float | None = None) -> dict[str, dict[str, float]]:
    """One guest: figures by discipline."""
    scenario = load_scenario(case.scenario, {**case.fields, "seed": seed, "replications": 1})
    if seconds is not None:
        scenario = scenario.model_copy(update={"duration": seconds})
    flows = case.flows(workload(scenario))
    runs = linux.run_together(scenario, [parse(name) for name in TITLES], flows, looks=1)
    return {name: case.read(run, scenario) for name, run in zip(TITLES, runs, strict=True)}


def measured(job: tuple[str, int]) -> tuple[dict[str, dict[str, float]], float]:
    """Figures of a case with a seed, and processor time of the guest and of us."""
    name, seed = job
    found = carried(next(case for case in CASES if case.id == name), seed)
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return found, sum(used.ru_utime + used.ru_stime for used in both)


def board(found: Mapping[tuple[str, int], Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, Place]]:
    """The place of each discipline in each row."""
    judged = {}
    for row in ROWS:
        values: dict[str, dict[int, float]] = {name: {} for name in TITLES}
        for (case, seed), own in found.items():
            for name in TITLES:
                value = own[name].get(row.figure) if case == row.experiment else None
                if value is not None and math.isfinite(value):
                    values[name][seed] = value
        if any(values.values()):
            judged[row.id] = places(row, values)
    return judged


def text(row: Row, place: Place) -> str:
    """A figure with half of its interval; bold where nothing is better."""
    shown = value_text(row, place.mean)
    if place.ci95 is not None and place.ci95[1] > place.ci95[0]:
        shown += f" ± {value_text(row, (place.ci95[1] - place.ci95[0]) / 2)}"
    return shown if place.verdict == "trails" else f"**{shown}**"


def page_part(judged: Mapping[str, Mapping[str, Place]], seeds: int, cpu_s: float) -> str:
    """What is known of lfq first, then the table."""
    rows = [row for row in ROWS if row.id in judged]
    behind = [row for row in rows if judged[row.id][OURS].verdict == "trails"]
    lines = [
        "## In one guest, beside pfifo, fq_codel and cake",
        "",
        f"{OURS} leads or ties in {len(rows) - len(behind)} of {len(rows)} rows.",
    ]
    for row in behind:
        own = judged[row.id]
        best = best_of(row, own)
        why = WHY.get(row.id) or REASONS.get(OURS, {}).get(row.id)
        mean, by = own[best].mean, worse_text(row, own[OURS].by, own[best].mean)
        lines.append(
            f'\n- It trails in "{row.title}": {value_text(row, own[OURS].mean)} beside '
            f"{value_text(row, mean)} of {best} ({by}){f': {why}' if why else ''}."
        )
    lines += [
        "",
        f"Made on {datetime.date.today().isoformat()} by `python benchmarks/one_guest.py --seeds {seeds} --write "
        f"docs/arena-kernel.md`: Linux {release()}, seeds 1 to {seeds}, {cpu_s:,.0f} s of processor time. 10 Mbit/s, "
        "20 ms but for the call, hosts of Linux; pfifo and fq_codel below htb, cake and lfq with `bandwidth`. Mean ± "
        "half of Student's 95 % interval over seeds; bold: leads, or cannot be told from the best as in the arena.",
        "",
        "| | " + " | ".join(f"`{title}`" for title in TITLES.values()) + " | lfq |",
        "|---|" + "---:|" * len(TITLES) + "---|",
    ]
    for row in rows:
        own = judged[row.id]
        cells = [text(row, own[name]) if name in own else "" for name in TITLES]
        lines.append(f"| {row.title} | {' | '.join(cells)} | {own[OURS].verdict} |")
    return "\n".join(lines)


def main(
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each case")] = 8,
    workers: Annotated[int, typer.Option(min=1, help="Guests at a time")] = os.cpu_count() or 1,
    cases: Annotated[str, typer.Option(metavar="IDS", help="Some of the cases")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Figures of every run")] = False,
    kept: Annotated[Path | None, typer.Option(metavar="DIR", help="Runs that are there are not run again")] = None,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose table is replaced")] = None,
) -> None:
    """Measure the four on the same traffic."""
    known = [case.id for case in CASES]
    chosen = cases.split(",") if cases else known
    if set(chosen) - set(known):
        sys.exit(f"cases = {cases}: must be some of {', '.join(known)}")
    jobs = [(name, seed) for seed in range(1, seeds + 1) for name in chosen]
    found, cpu_s = {}, 0.0
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        waiting = {}
        for job in jobs:
            path = kept / f"{job[0]}-{job[1]}.json" if kept else None
            if path is not None and path.exists():
                found[job], spent_s = json.loads(path.read_text())
                cpu_s += spent_s
            else:
                waiting[job] = pool.submit(measured, job)
        for job, future in waiting.items():
            found[job], spent_s = future.result()
            cpu_s += spent_s
            if kept:
                kept.mkdir(parents=True, exist_ok=True)
                with complete(kept / f"{job[0]}-{job[1]}.json") as partial:
                    partial.write_text(json.dumps([found[job], spent_s]))
    if as_json:
        print(json.dumps([{"case": name, "seed": seed, **own} for (name, seed), own in found.items()], indent=1))
        return
    part = page_part(board(found), seeds, cpu_s)
    if page is not None:
        put(page, NAME, part)
    else:
        print(part)


if __name__ == "__main__":
    typer.run(main)
