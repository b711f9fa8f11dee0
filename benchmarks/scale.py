"""Cost of a hop of the simulator alone over rates, flows alive, round-trip times and windows.

    cargo build --release -p mayfly-netsim --example flow_list
    python benchmarks/scale.py [--cells fifo,rate] [--runs 3] [--beside OTHER_FLOW_LIST]

A row per cell: nanoseconds of CPU time per hop, the least of the runs, its ratio to the first cell of its table, and
the peak of memory beyond the flow list, per flow. With `--beside` another build of the example takes turns with this
one, and all that it leaves must be the same: a digest of counters and records tells.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SIMULATOR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/flow_list"

RATES = {"10 Mb/s": 1e7, "100 Mb/s": 1e8, "1 Gb/s": 1e9, "10 Gb/s": 1e10, "100 Gb/s": 1e11}
RTT_S, PACKET_BITS = 0.02, 12_000
"""As the example has them."""

Cell = tuple[str, float, int, str, int, str]
"""Kind, rate in bit/s, flows, round-trip times, window in segments, discipline."""


def four_bdp(rate: float) -> int:
    """A window of four times what the path holds: as a receiver has it that never limits."""
    return round(min(max(4 * rate * RTT_S / PACKET_BITS, 64), 1 << 20))


def cells() -> dict[str, list[Cell]]:
    """The tables, by name."""
    tables: dict[str, list[Cell]] = {}
    for discipline in ("fifo", "fq_codel", "efd", "las", "cake"):
        tables[f"{discipline}, rate"] = [
            *(("short", rate, 100_000, "equal", four_bdp(rate), discipline) for rate in RATES.values()),
            *(("permanent", rate, 1000, "equal", four_bdp(rate), discipline) for rate in RATES.values()),
        ]
        tables[f"{discipline}, flows"] = [
            ("permanent", 1e9, count, rtts, 1024, discipline)
            for rtts in ("equal", "spread")
            for count in (10, 100, 1000, 10_000, 100_000, 1_000_000)
        ]
    tables["fifo, window"] = [
        (kind, rate, count, rtts, window, "fifo")
        for rate in (1e9, 1e11)
        for kind, count in (("short", 100_000), ("permanent", 1000))
        for rtts in ("equal", "spread")
        for window in (1024, four_bdp(rate), 1 << 20)
    ]
    return tables


def run(program: Path, cell: Cell) -> dict[str, Any]:
    """What one run printed."""
    kind, rate, flows, rtts, window, discipline = cell
    words = ["scale", kind, str(int(rate)), str(flows), rtts, str(window), discipline, "digest"]
    printed: dict[str, Any] = json.loads(subprocess.run([program, *words], capture_output=True, check=True).stdout)
    return printed


SAME = ("hops", "events", "drops", "completed", "digest")
"""What two builds must agree on."""


def least(programs: list[Path], cell: Cell, runs: int) -> list[dict[str, Any]]:
    """For each program the run that took least, and the least memory."""
    found: list[list[dict[str, Any]]] = [[] for _ in programs]
    for _ in range(runs):
        for program, rows in zip(programs, found, strict=True):
            rows.append(run(program, cell))
    kept = [min(rows, key=lambda row: row["cpu_s"]) for rows in found]
    if any(kept[0][name] != other[name] for other in kept[1:] for name in SAME):
        raise SystemExit(f"{cell}: the two do not simulate the same: {[[row[name] for name in SAME] for row in kept]}")
    return kept


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", default="", help="parts of the names of tables, by commas; all of them when absent")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--beside", type=Path, default=None, help="another build of the example")
    given = parser.parse_args()
    programs = [SIMULATOR] + ([given.beside] if given.beside else [])
    names = {rate: name for name, rate in RATES.items()}
    wanted = [part for part in given.cells.split(",") if part]
    for name, table in cells().items():
        if not all(part in name for part in wanted):
            continue
        print(f"\n## {name}\n")
        head = ["flows", "rate", "RTT", "window", "Mhops", "ns per hop", "of the first", "per event", "bytes per flow"]
        head += ["ns per hop beside", "of the first", "bytes per flow", "speed-up"] if given.beside else []
        print("| " + " | ".join(head) + " |\n|" + "---|" * 4 + "---:|" * (len(head) - 4))
        firsts: list[float] = []
        for cell in table:
            kind, rate, flows, rtts, window, _ = cell
            rows = least(programs, cell, given.runs)
            firsts = firsts or [row["ns_per_hop"] for row in rows]
            texts = [f"{flows:,} {kind}", names[rate], rtts, f"{window:,}", f"{rows[0]['hops'] / 1e6:.1f}"]
            for index, (row, first) in enumerate(zip(rows, firsts, strict=True)):
                memory = (row["peak_bytes"] - row["list_bytes"]) / flows
                texts += [f"{row['ns_per_hop']:.1f}", f"{row['ns_per_hop'] / first:.2f}"]
                texts += [f"{row['ns_per_event']:.1f}"] if index == 0 else []
                texts += [f"{memory:,.0f}"]
            if given.beside:
                texts.append(f"{rows[1]['ns_per_hop'] / rows[0]['ns_per_hop']:.2f}")
            print("| " + " | ".join(texts) + " |", flush=True)


if __name__ == "__main__":
    main()
