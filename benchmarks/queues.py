"""CPU time and memory of every discipline; LAS on a tree and, where it is installed, ns-3's queues on the same traffic.

    python benchmarks/queues.py [--runs 3] [--json] [--write docs/validation.md]

Each run measures in turns, one packet in and one out at a steady backlog: the disciplines
(`cargo build --release -p mayfly-qdisc --examples`), LAS as one would write it down, and ns-3's queue discs
(`ns3_queues.cc`, compiled here; Debian `libns3-dev`). A figure is the mean over 20 stretches of traffic of what each
took in the fastest run: the runs are alike, so what slows one down is the rest of the machine. Memory is measured at
the allocator. `--write` puts the tables into a page, between the comments that name
this file.
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from processes import lines, ns3_program, ns3_version

HERE = Path(__file__).parent
ROOT = HERE.parent
EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples"
NS3_MODULES = "traffic-control", "network", "core"
BEGIN, END = "<!-- benchmarks/queues.py: begin -->", "<!-- benchmarks/queues.py: end -->"
FLOWS, SHORT, LONG = 10_000, 300, 10_000
BOUND_NS, BOUND_LONG_NS = 50, 60
PEERS = {
    "Fifo": "fifo",
    "Red": "red",
    "CoDel": "codel",
    "Pie": "pie",
    "FqCoDel": "fq_codel",
    "FqPie": "fq_pie",
    "FqCobalt": "cake",
}


def measure(runs: int, folder: Path) -> dict:
    """Figures of all programs, run in turns."""
    ours = EXAMPLES / "queues"
    memory = {row["id"]: row for row in lines([EXAMPLES / "memory"])}
    by_size = [name for name, row in memory.items() if row["family"] in ("plain", "size-based")]
    commands: dict[str, list] = {
        "short": [ours, FLOWS, SHORT, *memory, "btree"],
        "long": [ours, FLOWS, LONG, *by_size, "btree"],
    }
    if peer := ns3_program("ns3_queues", NS3_MODULES, folder):
        commands["ns3"] = [peer, FLOWS, SHORT, *PEERS]
    rows: dict[str, dict[str, list[dict]]] = {name: {} for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            for row in lines(command):
                rows[name].setdefault(row["id"], []).append(row)
    figures = {name: {key: combined(found) for key, found in part.items()} for name, part in rows.items()}
    return {**figures, "memory": memory}


def combined(found: list[dict]) -> dict:
    """One row from those of all runs: the mean over stretches, each as in the fastest run."""
    stretches = [min(times) for times in zip(*(row["ns"] for row in found), strict=True)]
    return {**found[-1], "ns": statistics.mean(stretches), "first_ns": stretches[0], "last_ns": stretches[-1]}


def kib(bytes_held: float) -> str:
    """Bytes as KiB, to two figures below ten."""
    return f"{bytes_held / 1024:.0f}" if bytes_held >= 10_240 else f"{bytes_held / 1024:.1f}"


def table_of_disciplines(figures: dict) -> list[str]:
    """Time and memory, one row per discipline."""
    head = ["", "ns per packet, 300 packets", "10 000 packets", "flows tracked", "KiB for them"]
    head.append("bytes per waiting flow")
    rows = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for name, short in figures["short"].items():
        if name == "btree":
            continue
        long = figures["long"].get(name)
        memory = figures["memory"][name]
        fixed = memory["stated"] < 4 * memory["empty"]
        per_flow = "fixed" if fixed else f"{memory['stated'] / memory['entries']:.0f}" if memory["entries"] else "none"
        cells = [
            f"`{name}`",
            cell(short, BOUND_NS, SHORT),
            cell(long, BOUND_LONG_NS, LONG) if long else "",
            str(short["entries"]),
            kib(short["bytes"]) if short["entries"] else "0",
            per_flow,
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def cell(row: dict, bound: float, backlog: int) -> str:
    """A figure, bold when it is beyond its bound, with what it was at first and the backlog where they differ."""
    figure = f"**{row['ns']:.0f}**" if row["ns"] > bound else f"{row['ns']:.0f}"
    if row["first_ns"] > 1.5 * row["ns"]:
        figure += f", {row['first_ns']:.0f} at first"
    return figure if row["waiting"] >= 0.9 * backlog else f"{figure} (at {row['waiting']} packets)"


def table_of_peers(figures: dict) -> list[str]:
    """LAS on a tree, and ns-3, beside what is compared with them."""
    pairs = []
    for part, title in (("short", "`las`, 300 packets"), ("long", "`las`, 10 000 packets")):
        pairs.append((title, figures[part]["las"]["ns"], "LAS on a `BTreeMap`", figures[part]["btree"]["ns"]))
    for theirs, row in figures.get("ns3", {}).items():
        ours = PEERS[theirs]
        pairs.append((f"`{ours}`", figures["short"][ours]["ns"], f"ns-{ns3_version()} {theirs}QueueDisc", row["ns"]))
    rows = ["| | ns per packet | peer | ns per packet | ratio |", "|---|---:|---|---:|---:|"]
    return rows + [f"| {a} | {ns:.0f} | {b} | {peer:.0f} | {peer / ns:.1f} |" for a, ns, b, peer in pairs]


def write(page: Path, tables: list[str]) -> None:
    """Replaces what is between the two comments of a page."""
    text = page.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page} must have one '{BEGIN}' and one '{END}'")
    before, rest = text.split(BEGIN)
    page.write_text("\n".join([before + BEGIN, "", *tables, "", END]) + rest.split(END)[1])


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each program")] = 3,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose tables are replaced")] = None,
) -> None:
    """Measure time and memory of every discipline, and its peers."""
    for program in ("queues", "memory"):
        if not (EXAMPLES / program).exists():
            sys.exit(f"{EXAMPLES / program} is missing: cargo build --release -p mayfly-qdisc --examples")
    with tempfile.TemporaryDirectory() as name:
        figures = measure(runs, Path(name))
    if as_json:
        print(json.dumps(figures, indent=1))
        return
    tables = [*table_of_disciplines(figures), "", *table_of_peers(figures)]
    if page is not None:
        write(page, tables)
    else:
        print("\n".join(tables))


if __name__ == "__main__":
    typer.run(main)
