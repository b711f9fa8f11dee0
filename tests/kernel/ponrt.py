"""Figures 22 to 24 of Zhao 2004 in the kernel: estimates of `sch_estmred` beside byte counters.

Run as a program, the table of docs/kernel/estmred-testbed.md; with ``--write`` and a number of seeds it runs them anew
and keeps the series in papers/src/mayfly_papers/zhao2004/testbed/measured, which
the claims about these figures read. A link of 12 Mb/s in place
of 100, with fewer flows that each have as many packets in flight; round trip, thresholds in packets and shares are the
paper's. One set of options for all figures.
"""

import argparse
import json
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import guest

from mayfly_papers.zhao2004.testbed import measures as testbed_measures
from mayfly_papers.zhao2004.testbed.measures import LOOK_S, MEASURED, document_of, kernel_document, series_of
from mayfly_papers.zhao2004.testbed.scenarios import DELAY_S, LOADS, PACKET, RATE_BPS, TCP_FLOWS, THINK_S, USERS

LEAF = f"estmred limit 60p min 15 max 45 avpkt {PACKET}b bandwidth 12mbit rtt 100ms"
FILE = Path(testbed_measures.__file__).parent / "measured" / MEASURED


def settings(figure: str, seed: int) -> dict:
    """Of kernel/uml/ponrt.py."""
    load = LOADS[figure]
    mice = None
    if load.web:
        mice = {"users": USERS, "think_s": THINK_S, "start_s": load.web[0], "stop_s": load.web[1]}
    return {
        "rate_bps": RATE_BPS,
        "delay_s": DELAY_S,
        "leaf": LEAF,
        # Without it a connection starts from what earlier ones to the same host left behind.
        "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
        "flows": TCP_FLOWS,
        "congestion": "reno",
        "packet_bytes": PACKET,
        "mice": mice,
        "look_s": LOOK_S,
        "seed": seed,
        "udp": load.rates(),
        "duration_s": load.duration_s,
    }


@cache
def in_kernel(figure: str, seed: int = 1) -> dict:
    """A run, as the document keeps it."""
    found = guest.run("ponrt.py", settings(figure, seed), modules=("sch_estmred",))
    return document_of(found["rows"], found["status"], seed)


def document(seeds: int) -> dict:
    """Runs of all figures with seeds from 1 on, and what they were run with."""
    figures = {figure: [in_kernel(figure, seed) for seed in range(1, seeds + 1)] for figure in LOADS}
    banner = subprocess.run([guest.kernel(), "--version"], capture_output=True, text=True, check=True).stdout
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "kernel": f"Linux {banner.strip()}, User Mode Linux in virtual time",
        "commit": commit.strip(),
        "command": f"python tests/kernel/ponrt.py --write --seeds {seeds}",
        "leaf": LEAF,
        "figures": figures,
    }


def table(figures: dict[str, list[dict]]) -> str:
    """Markdown: means over the seeds."""
    lines = [
        "| figure | seeds | measured | estimate | MSE, as drawn | MSE, unsmoothed |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for figure, runs in figures.items():
        found = [testbed_measures.judged(series_of(run), {}) for run in runs]
        cells = []
        for name, digits in (("measured", 3), ("estimated", 3), ("mse", 5), ("mse_unsmoothed", 5)):
            values = [one[name] for one in found]
            cells.append(
                f"{sum(values) / len(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"
            )
        lines.append(f"| {figure} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"run, and keep the series in {FILE.name}")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each figure")
    given = parser.parse_args()
    if given.write:
        text = json.dumps(document(given.seeds), allow_nan=False, separators=(",", ":"))
        partial = FILE.with_suffix(".part")
        # A line for each run.
        partial.write_text(text.replace('{"seed"', '\n{"seed"') + "\n")
        partial.replace(FILE)
        kernel_document.cache_clear()
    found = kernel_document()
    print(table(found["figures"]))
    print(found["figures"]["22-87"][0]["status"])


if __name__ == "__main__":
    main()
