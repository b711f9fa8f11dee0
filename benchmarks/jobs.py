"""Speed of the job-level simulation under every order, and Ciw on the same jobs where it is installed.

    python benchmarks/jobs.py [--jobs 1000000] [--runs 5] [--json] [--write docs/models/jobs.md]

A figure is CPU time of the fastest run, from arrays of arrival times and sizes to an array of response times, columns
of the result included. Ciw (pip install ciw) is looked for in this Python and in the one that CIW_PYTHON names; it
is given 20 000 jobs, and the response times must be the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from processes import lines

from mayfly import _native
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.jobs import levels, poisson_jobs, simulate_jobs

HERE = Path(__file__).parent
LAWS = {"exponential": "exponential:mean=1", "bounded Pareto": "bounded-pareto:min=1,max=1e6,alpha=1.1"}
LOADS = (0.5, 0.9)
MIXES = {"ps\\|ps": ("ps*", (0.8,)), "fcfs, 8 levels": ("fcfs*", (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99))}
"""Levels, and the shares of the jobs that their thresholds are above."""

AIMS = {"fcfs": 10.0}
"""Million jobs per CPU second; 1 for all others."""

PEER_JOBS, PEER_LAW, PEER_LOAD = 20_000, "exponential", 0.9
BEGIN, END = "<!-- benchmarks/jobs.py: begin -->", "<!-- benchmarks/jobs.py: end -->"


def fastest(order, jobs: tuple[np.ndarray, np.ndarray], runs: int) -> float:
    """CPU time of the fastest run, s."""
    times = []
    for _ in range(runs):
        begun = time.process_time()
        simulate_jobs(order, *jobs)
        times.append(time.process_time() - begun)
    return min(times)


def measure(n: int, runs: int) -> dict[str, dict[str, float]]:
    """Million jobs per CPU second, by order and by law and load."""
    found: dict[str, dict[str, float]] = {}
    for title, spec in LAWS.items():
        law = service_law(spec)
        for rho in LOADS:
            jobs = poisson_jobs(law, rho, n)
            orders = {name: name for name in _native.job_orders()}
            for name, (text, shares) in MIXES.items():
                orders[name] = levels(text, [float(law.quantile(share)) for share in shares])
            for name, order in orders.items():
                found.setdefault(name, {})[f"{title}, {rho:g}"] = n / fastest(order, jobs, runs) / 1e6
    return found


def peer(runs: int) -> dict[str, dict[str, float]]:
    """Ciw beside ours on the same jobs: million jobs per CPU second, and how far the response times are apart."""
    python = next((path for path in (os.environ.get("CIW_PYTHON"), sys.executable) if path and has_ciw(path)), None)
    if python is None:
        print("Ciw is not installed (pip install ciw, or CIW_PYTHON=PYTHON that has it): no peer", file=sys.stderr)
        return {}
    arrivals, sizes = poisson_jobs(service_law(LAWS[PEER_LAW]), PEER_LOAD, PEER_JOBS)
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "jobs.npz"
        np.savez(file, gaps=np.diff(arrivals, prepend=0.0), sizes=sizes)
        for row in lines([python, HERE / "ciw_jobs.py", file]):
            ours = simulate_jobs(row["order"], arrivals, sizes).response_time
            apart = float(np.max(np.abs(ours - row["responses"]) / ours))
            took = fastest(row["order"], (arrivals, sizes), runs)
            theirs = PEER_JOBS / row["cpu_s"] / 1e6
            rows[row["order"]] = {"ours": PEER_JOBS / took / 1e6, "ciw": theirs, "apart": apart}
            rows[row["order"]]["ratio"] = rows[row["order"]]["ours"] / theirs
    return rows


def has_ciw(python: str) -> bool:
    """Whether that Python has Ciw."""
    return subprocess.run([python, "-c", "import ciw"], capture_output=True).returncode == 0


def tables(found: dict[str, dict[str, float]], beside: dict[str, dict[str, float]]) -> list[str]:
    """Both as tables; bold is below the aim."""
    columns = list(next(iter(found.values())))
    rows = ["| million jobs per CPU s | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name, figures in found.items():
        cells = (f"{value:.1f}" if value >= AIMS.get(name, 1.0) else f"**{value:.1f}**" for value in figures.values())
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
    if beside:
        rows += ["", f"| {PEER_JOBS} jobs, {PEER_LAW}, {PEER_LOAD:g} | Mayfly | Ciw | ratio | largest difference |"]
        rows.append("|---|---:|---:|---:|---:|")
        for name, row in beside.items():
            rates = f"{row['ours']:.1f} M/s | {row['ciw'] * 1e3:.0f} k/s | {row['ratio']:.0f}"
            rows.append(f"| `{name}` | {rates} | {row['apart']:.1g} |")
    return rows


def main(
    jobs: Annotated[int, typer.Option(min=1000, help="Jobs per run")] = 1_000_000,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each order")] = 5,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose tables are replaced")] = None,
) -> None:
    """Measure the speed of the job-level simulation."""
    found, beside = measure(jobs, runs), peer(runs)
    if as_json:
        print(json.dumps({"million_jobs_per_cpu_s": found, "ciw": beside}, indent=1))
        return
    told = "\n".join(tables(found, beside))
    if page is None:
        print(told)
        return
    text = page.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page} must have one '{BEGIN}' and one '{END}'")
    before, rest = text.split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{told}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    typer.run(main)
