"""CPU time of an update of the estimator, by method and arithmetic.

    python benchmarks/estimator.py [--updates 5000000] [--runs 3] [--json] [--write docs/estimate/methods.md]

`crates/estimator/examples/updates.rs` runs COUNT updates, each a sample that completes a sampling interval; what a run
without updates takes is subtracted. A figure is that of the fastest run: the runs are alike, so what slows one down is
the rest of the machine. `--write` puts the table into a page, between the comments that name this file.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from processes import cpu

from mayfly.estimate import methods

HERE = Path(__file__).parent
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release/examples/updates"
BEGIN, END = "<!-- benchmarks/estimator.py: begin -->", "<!-- benchmarks/estimator.py: end -->"
AIM = 5.0
"""Million updates per CPU second."""


def measure(updates: int, runs: int) -> dict[str, dict[str, float]]:
    """Nanoseconds of an update by method and arithmetic."""
    found: dict[str, dict[str, float]] = {}
    for row in methods():
        for arithmetic in ("float", "fixed"):
            command = [PROGRAM, row["id"], arithmetic]
            spent = [cpu([*command, updates], HERE)[0] - cpu([*command, 0], HERE)[0] for _ in range(runs)]
            found.setdefault(row["id"], {})[arithmetic] = min(spent) / updates * 1e9
    return found


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """Rows of Markdown; below the aim in bold."""
    rows = [
        "| method | ns, floating point | million per s | ns, integers | million per s |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, times in found.items():
        cells = []
        for ns in times.values():
            rate = 1e3 / ns
            cells += [f"{ns:.0f}", f"{rate:.1f}" if rate >= AIM else f"**{rate:.1f}**"]
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return rows


def main(
    updates: Annotated[int, typer.Option(min=100_000, help="Of each run")] = 5_000_000,
    runs: Annotated[int, typer.Option(min=1)] = 3,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose table is replaced")] = None,
) -> None:
    """Measure every method in both arithmetics."""
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: cargo build --release -p mayfly-estimator --examples")
    found = measure(updates, runs)
    if as_json:
        print(json.dumps(found, indent=1))
        return
    rows = table(found)
    if page is None:
        print("\n".join(rows))
        return
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page} must have one '{BEGIN}' and one '{END}'")
    before, rest = text.split(BEGIN)
    page.write_text("\n".join([before + BEGIN, "", *rows, "", END]) + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
