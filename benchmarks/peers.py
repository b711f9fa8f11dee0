"""CPU seconds of Mayfly and, where it is installed, ns-2 (Debian `ns2`) on the same input, in turns, as a ratio.

    python benchmarks/peers.py [FLOWS.csv[.gz]] [--runs 5] [--json]

Without a flow list (columns flow_id, start_s, src 1-5, dst 8-12, size_packets) the wired scenario's own is drawn.
Measured are the simulator alone (`cargo build --release -p mayfly-netsim --example flow_list`), the whole
`mayfly simulate` process with its files, and ns-2 with its fastest, its default and its heap scheduler: user and
system time of each finished process, medians over the runs.
"""

import gzip
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from processes import cpu

HERE = Path(__file__).parent
ROOT = HERE.parent
SIMULATOR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/flow_list"
MAYFLY = ROOT / ".venv/bin/mayfly"
WIRED_S, PERMANENT_S = 1000, 320


def listing(flows: Path | None, folder: Path) -> Path:
    """The flow list as plain CSV, which is all ns-2 reads."""
    plain = folder / "flows.csv"
    if flows is None:
        import mayfly
        from mayfly.simulate.run import workload

        drawn = workload(mayfly.load_scenario("wired-ns2"))
        drawn.select("flow_id", "start_s", "src", "dst", size_packets=drawn["size_bytes"] // 1460).write_csv(plain)
    else:
        packed = flows.read_bytes()
        plain.write_bytes(gzip.decompress(packed) if flows.suffix == ".gz" else packed)
    return plain


def compare(title: str, commands: dict[str, list[str]], runs: int, folder: Path) -> dict:
    """Medians of every command, run in turns; ours first."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    hops = None
    for _ in range(runs):
        for name, command in commands.items():
            spent, printed = cpu(command, folder)
            seconds[name].append(spent)
            if name == "simulator":
                hops = json.loads(printed)["packet_hops"]
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    return {
        "input": title,
        "packet_hops": hops,
        "cpu_s": medians,
        "mhops_per_cpu_s": hops / medians["simulator"] / 1e6,
        "ns2_over": {
            ours: {peer: medians[peer] / medians[ours] for peer in medians if peer.startswith("ns-2")}
            for ours in medians
            if not ours.startswith("ns-2")
        },
    }


def starts(folder: Path, seed: int = 1) -> Path:
    """Start times of 35 endless TCP flows and 22 CBR flows, uniform over 2 s: CSV of protocol,start_s."""
    draw = random.Random(seed)
    rows = sorted((round(draw.uniform(0, 2), 9), protocol) for protocol in ["tcp"] * 35 + ["udp"] * 22)
    path = folder / "starts.csv"
    path.write_text("protocol,start_s\n" + "".join(f"{protocol},{start:.9f}\n" for start, protocol in rows))
    return path


def main(
    flows: Annotated[Path | None, typer.Argument(help="Flow list; the wired scenario's own when absent")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each command")] = 5,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Time Mayfly and ns-2 on the same input."""
    if not SIMULATOR.exists():
        sys.exit(f"{SIMULATOR} is missing: cargo build --release -p mayfly-netsim --example flow_list")
    peer = shutil.which("ns")
    if peer is None:
        print("ns-2 is not installed (Debian: apt-get install ns2): no peer", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = listing(flows, folder)
        wired = {
            "simulator": [str(SIMULATOR), str(plain)],
            "mayfly simulate": [
                *(str(MAYFLY), "simulate", "wired-ns2", "--discipline", "fifo", "--flows", str(plain)),
                *("--out", str(folder / "out"), "--json"),
            ],
        }
        drawn = str(starts(folder))
        permanent = {"simulator": [str(SIMULATOR), "permanent", drawn]}
        for scheduler in ("Splay", "Calendar", "Heap") if peer else ():
            wired[f"ns-2 {scheduler}"] = [
                peer,
                str(HERE / "ns2_wired.tcl"),
                str(plain),
                str(WIRED_S),
                scheduler,
                "records.csv",
            ]
            permanent[f"ns-2 {scheduler}"] = [
                *(peer, str(HERE / "ns2_permanent.tcl"), drawn, str(PERMANENT_S), scheduler)
            ]
        results = [
            compare(flows.name if flows else "wired, 8 Mb/s", wired, runs, folder),
            compare("57 permanent flows, 28 Mb/s", permanent, runs, folder),
        ]
    if as_json:
        print(json.dumps(results, indent=1))
        return
    for result in results:
        print(
            f"{result['input']}: {result['packet_hops']} packet hops, {result['mhops_per_cpu_s']:.1f} M per CPU second"
        )
        for command, seconds in result["cpu_s"].items():
            ratios = (
                f"{ratio:.1f} x faster than {peer}" for peer, ratio in result["ns2_over"].get(command, {}).items()
            )
            print(f"  {command:18} {seconds:7.3f} CPU s  {', '.join(ratios)}")


if __name__ == "__main__":
    typer.run(main)
