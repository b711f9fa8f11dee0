"""Ours beside tcptrace and tshark over captures: the tables of docs/captures-agreement.md.

    python benchmarks/agreement.py CAPTURE...

Each capture is read by every tool that is installed; what it says goes through `mayfly profile compare`. A cell is `=`
where all directions of all matched connections agree, else `ours / theirs (directions that differ)`.
"""

import argparse
import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.profile.agreement.answer import agreement
from mayfly.profile.agreement.tshark import FIELDS

COMMANDS = {
    "tcptrace": ["tcptrace", "-l", "-n", "-r"],
    "tshark": ["tshark", "-n", "-Y", "tcp", "-T", "fields", "-E", "header=y"],
}
COLUMNS = {
    "tcptrace": (
        *("packets", "payload_bytes", "distinct_bytes", "data_packets", "acks", "repeats", "zero_windows"),
        *("rtt_samples", "handshake_s", "duration_s"),
    ),
    "tshark": (
        *("packets", "payload_bytes", "data_packets", "repeats", "keep_alives", "zero_windows", "rtt_samples"),
        "duration_s",
    ),
}


def output(tool: str, capture: Path, folder: Path) -> Path | None:
    """What the tool prints of the capture, in a file; None where it fails."""
    fields = [word for field in FIELDS for word in ("-e", field)] if tool == "tshark" else []
    command = [*COMMANDS[tool], *fields, *(["-r"] if tool == "tshark" else []), str(capture)]
    path = folder / f"{tool}.txt"
    with path.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=False)
    return path if done.returncode == 0 else None


def cells(tool: str, capture: Path, folder: Path) -> list[str]:
    """One line of the table of a tool."""
    told = output(tool, capture, folder)
    if told is None:
        return ["crashes"]
    try:
        found = agreement(capture, told, worst=0).document()
    except MayflyError:
        return ["sees no TCP"]
    rows = {row["metric"]: row for row in found["metrics"]}
    alone = f" (+{found['only_b']})" if found["only_b"] else ""
    return [f"{found['matched']:,}{alone}", *(cell(rows[name]) for name in COLUMNS[tool])]


def cell(row: dict) -> str:
    """One metric of one capture."""
    differ = row["compared"] - row["equal"]
    if not differ:
        return "=" if row["compared"] else ""
    if row["unit"] == "s":
        return f"{differ:,} of {row['compared']:,}"
    return f"{row['a']:,.0f} / {row['b']:,.0f} ({differ:,})"


def main() -> None:
    """Print a table per tool that is installed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captures", nargs="+", type=Path)
    captures = parser.parse_args().captures
    for tool, columns in COLUMNS.items():
        if shutil.which(tool) is None:
            print(f"{tool}: not installed", file=sys.stderr)
            continue
        print(f"\n| {tool} | connections | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
        for capture in captures:
            with tempfile.TemporaryDirectory() as folder:
                plain = Path(folder) / "capture"
                data = capture.read_bytes()
                plain.write_bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
                line = cells(tool, plain, Path(folder))
            name = capture.name.partition(".")[0]
            print(f"| `{name}` | {' | '.join(line + [''] * (1 + len(columns) - len(line)))} |", flush=True)


if __name__ == "__main__":
    main()
