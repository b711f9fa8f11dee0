"""Models of EFD beside packets: load, round-trip time and threshold; errors by class of size, with intervals.

The scenario `wired`, all propagation on the bottleneck. Beside the model of EFD of all sizes stand those that do not
know EFD: processor sharing, LAS and Run2C with the threshold of EFD, each with what a flow takes alone on its path. All
are told of the flows that were drawn. An error is that of the mean of a class; the interval is half of that of 95 % of
the simulated mean. About 8 minutes of CPU; `--cache DIR` keeps the runs.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
import polars as pl

import mayfly
from mayfly.models.efd.sizes import Dumbbell, EfdSizes
from mayfly.models.efd.subflow_law import FlowPackets, measured_shares
from mayfly.models.queue.flow_records import Link, beside, by_class
from mayfly.simulate.run import named, run_one, workload

LOADS = (0.3, 0.5, 0.7, 0.9, 0.95)
RTTS_S = (0.0, 0.02, 0.1)
THRESHOLDS = (5, 20, 100)
CLASSES = (1, 11, 51, 201)
RATE_BPS, ACCESS_BPS, MSS, HEADER = 10e6, 100e6, 1460, 40
KEPT = ("flow_id", "protocol", "direction", "start_s", "finish_s", "size_packets", "size_bytes", "response_time_s")
KEPT += ("slowdown", "drops", "queue_packets", "timeouts", "replication")


def scenario(load: float, rtt_s: float, given: argparse.Namespace) -> mayfly.Scenario:
    """`wired` with full packets that are a load of the link."""
    fields = {
        "network.delay": rtt_s / 2,
        "network.access_delay": 0,
        "network.exit_delay": 0,
        "network.buffer": given.buffer,
        "workload.load": load * RATE_BPS * MSS / (MSS + HEADER),
        "workload.exact_load": True,
        "duration": given.duration,
        "warm_up": given.warm_up,
        "sample_interval": 0,
    }
    return mayfly.load_scenario("wired", fields)


def records(load: float, rtt_s: float, threshold: int, given: argparse.Namespace) -> pl.DataFrame:
    """Flow records of all seeds, from the cache where they are there."""
    name = f"efd-{load}-{rtt_s}-{threshold}-{given.seeds}x{given.duration:g}-{given.buffer}.parquet"
    kept = given.cache / name if given.cache else None
    if kept and kept.exists():
        return pl.read_parquet(kept)
    setting = scenario(load, rtt_s, given)
    [discipline] = named(f"efd(threshold={threshold * (MSS + HEADER)})")
    runs = []
    for seed in range(given.seeds):
        found = run_one(setting, discipline, workload(setting, seed), seed).records
        runs.append(found.with_columns(pl.lit(seed).alias("replication")).select(KEPT))
    flows = pl.concat(runs)
    if kept:
        given.cache.mkdir(parents=True, exist_ok=True)
        flows.write_parquet(kept)
    return flows


def models(flows: pl.DataFrame, rtt_s: float, threshold: int, given: argparse.Namespace) -> dict[str, pl.DataFrame]:
    """Means of simulation and model by class of size, for each model."""
    link = Link(RATE_BPS, given.duration, given.warm_up, MSS, HEADER)
    policies = {"ps": {}, "las": {}, "run2c": {"threshold": link.wire_bytes(threshold)}}
    told = {name: beside(flows, name, link, path=True, **more) for name, more in policies.items()}
    sizes = flows["size_packets"].to_numpy()
    load = sizes.sum() * (MSS + HEADER) * 8 / (RATE_BPS * given.duration * given.seeds)
    network = Dumbbell.of_rates(RATE_BPS, rtt_s, access_bps=ACCESS_BPS, buffer=given.buffer)
    model = EfdSizes(FlowPackets(measured_shares(sizes)), load, threshold, network)
    own = told["ps"]
    told = {"efd-sizes": own.with_columns(pl.Series("model_s", model.response(own["size_packets"])))} | told
    return {name: by_class(table, link, CLASSES) for name, table in told.items()}


def main() -> None:
    """Print a row per cell, then what each model is off by."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--duration", type=float, default=5000.0, metavar="S")
    parser.add_argument("--warm-up", type=float, default=100.0, metavar="S")
    parser.add_argument("--buffer", type=int, default=300, metavar="PACKETS")
    parser.add_argument("--cache", type=Path, metavar="DIR")
    given = parser.parse_args()
    print("| load | RTT, ms | threshold | lost, % | up to 10 packets | 11 to 50 | 51 to 200 | more |")
    print("|---|---|---|---|" + "---:|" * 4)
    cells = {}
    for cell in itertools.product(LOADS, RTTS_S, THRESHOLDS):
        flows = records(*cell, given)
        found = models(flows, *cell[1:], given)
        cells[cell] = {name: table["error"].to_numpy() for name, table in found.items()}
        own = found["efd-sizes"]
        lost = 100 * flows["drops"].sum() / flows["queue_packets"].sum()
        wide = own["ci95_s"] / own["simulated_mean_s"]
        shown = [
            f"{mean * 1e3:.4g} ms ± {off:.0%}: {errors[0]:+.0%} ({', '.join(f'{one:+.0%}' for one in errors[1:])})"
            for mean, off, *errors in zip(own["simulated_mean_s"], wide, *cells[cell].values(), strict=True)
        ]
        print(f"| {cell[0]} | {cell[1] * 1e3:g} | {cell[2]} | {lost:.2f} | {' | '.join(shown)} |", flush=True)
    print("\n| loads | model | up to 10 packets | 11 to 50 | 51 to 200 | more |\n|---|---|" + "---:|" * 4)
    for some in (LOADS[:3], LOADS[3:]):
        for name in ("efd-sizes", "ps", "las", "run2c"):
            off = np.abs([errors[name] for cell, errors in cells.items() if cell[0] in some])
            parts = [f"{a:.1%}, {b:.0%}" for a, b in zip(np.median(off, axis=0), np.max(off, axis=0), strict=True)]
            print(f"| {some[0]} to {some[-1]} | `{name}` | {' | '.join(parts)} |")


if __name__ == "__main__":
    main()
