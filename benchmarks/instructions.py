"""Instructions that the simulator takes per hop of a packet, beside those that were written down last.

    cargo build --release -p mayfly-netsim --example flow_list
    python benchmarks/instructions.py [--write]

valgrind counts them, so that a figure does not depend on how busy the machine is. Those of `instructions.toml` are of
one compiler: with another one they are shown and nothing is held against it. The end is an error where a case takes
more than MOST times what it did; one that takes less by as much is to be written down (`--write`), so that it stays.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIMULATOR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/flow_list"
COUNTED = Path(__file__).with_suffix(".toml")
MOST = 1.03

CASES = {
    "100 flows, fifo": "permanent 10000000 100 equal 1024 fifo",
    "100 flows, fq_codel": "permanent 10000000 100 equal 1024 fq_codel",
    "100 flows, efd": "permanent 10000000 100 equal 1024 efd",
    "100 flows, cake": "permanent 10000000 100 equal 1024 cake",
    "1,000 flows, RTTs spread, fifo": "permanent 1000000000 1000 spread 1024 fifo",
    "2,000 short flows, fifo": "short 100000000 2000 equal 1024 fifo",
}
"""What each asks of `flow_list scale`."""


def compiler() -> str:
    """The compiler that cargo takes, in one line."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def per_hop(case: str) -> float:
    """Instructions of a whole run over the hops in it."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, str(SIMULATOR), "scale", *case.split()], capture_output=True, text=True, check=True
    )
    told = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if told is None:
        sys.exit(f"valgrind did not say how many instructions there were:\n{done.stderr}")
    return int(told[1].replace(",", "")) / float(json.loads(done.stdout)["hops"])


def main() -> None:
    """Count, show, and compare or write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="what is counted is what it shall be from now on")
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed (Debian: apt-get install valgrind)")
    if not SIMULATOR.exists():
        sys.exit(f"{SIMULATOR.name} is missing: cargo build --release -p mayfly-netsim --example flow_list")
    before = tomllib.loads(COUNTED.read_text()) if COUNTED.exists() else {}
    held = before.get("compiler") == compiler()
    counts = {name: per_hop(case) for name, case in CASES.items()}
    print("| case | instructions per hop | before | ratio |\n|---|---:|---:|---:|")
    worse = []
    for name, count in counts.items():
        known = before.get("per_hop", {}).get(name)
        ratio = count / known if known else float("nan")
        print(f"| {name} | {count:.1f} | {known or '-'} | {ratio:.3f} |")
        if held and not ratio <= MOST:
            worse.append(name)
    if given.write:
        rows = "".join(f'"{name}" = {count:.1f}\n' for name, count in counts.items())
        text = f'# By benchmarks/instructions.py --write.\ncompiler = "{compiler()}"\n\n[per_hop]\n{rows}'
        COUNTED.write_text(text)
    elif not held:
        print(f"counted with {before.get('compiler')}, built with {compiler()}: not compared")
    elif worse:
        sys.exit(f"more than {MOST} times the instructions of before: {', '.join(worse)}")


if __name__ == "__main__":
    main()
