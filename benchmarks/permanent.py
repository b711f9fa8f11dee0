"""Delivered packets per CPU second of permanent flows, with SACK and CUBIC, under every discipline.

35 endless TCP flows and 22 CBR flows over 28 Mb/s (scenario `permanent`). CPU time of the simulator's thread, the
fastest of `--runs` runs. The aim is 2 million.
"""

import argparse

import mayfly
from mayfly.scenario.overrides import parse_override
from mayfly.simulate.run import named, run_one, workload

AIM = 2e6


def main() -> None:
    """Print a row per discipline, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--disciplines", default="all")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="further scenario fields")
    given = parser.parse_args()
    fields = {"tcp.recovery": "sack", "tcp.congestion": "cubic", "tcp.recovery_burst": 0, "sample_interval": "0s"}
    scenario = mayfly.load_scenario("permanent", fields | dict(map(parse_override, given.set)))
    flows = workload(scenario)
    rows = []
    for discipline in named(given.disciplines):
        runs = [run_one(scenario, discipline, flows) for _ in range(given.runs)]
        payload = scenario.tcp.mss
        packets = sum(
            row["delivered_bytes"] / (payload if row["protocol"] == "tcp" else row["packet_bytes"] - 28)
            for row in runs[0].records.select("delivered_bytes", "protocol", "packet_bytes").iter_rows(named=True)
        )
        rows.append((packets / min(run.counters["cpu_s"] for run in runs), discipline.label))
    print("| discipline | delivered packets per CPU s |\n|---|---:|")
    for speed, label in sorted(rows):
        print(f"| `{label}` | {speed / 1e6:.2f} M |" + ("" if speed >= AIM else " below the aim"))


if __name__ == "__main__":
    main()
