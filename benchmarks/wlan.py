"""CPU seconds of runs in a wireless cell and, where it is installed, of ns-3 (Debian `libns3-dev`) on the same.

    python benchmarks/wlan.py [--runs 5] [--flows FLOWS.csv[.gz]] [--without-peer] [--json]

- five uploads against five downloads, 100 s, scenario `wlan-ns3`, with 30 and 300 packets at the access point;
- transfers both ways, 10 Mb/s for 400 s, in the same cell: drawn from scenario `wlan`, or those of `--flows`;
- the first with ten stations out of 10, 100 and 1000 in use: time must not depend on idle ones;
- 802.11n with aggregates and queues fair in airtime, scenario `wlan-n`: ns-3.37 has no such queues.

Measured are the simulator alone (CPU time of its thread), the whole `mayfly simulate` process with its files, and the
whole process of ns-3 (`ns3_wlan.cc`, compiled here): the fastest of `--runs` runs of ours, one of ns-3.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from processes import HERE, cpu, ns3_program, ns3_version

import mayfly
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import RunResult, named, run_one, workload
from mayfly.workload.lists import ENDLESS_BYTES, read_flows, write_flows

MAYFLY = HERE.parent / ".venv/bin/mayfly"
NS3_MODULES = (
    *("wifi", "mobility", "propagation", "point-to-point", "internet"),
    *("traffic-control", "network", "core"),
)
HOSTS = 10
"""Stations in use, and servers, as in ns3_wlan.cc."""
MIXED = {"duration": "400s", "warm_up": "0s"}
OURS = {"simulator_s": "simulator", "process_s": "`mayfly simulate`"}


@dataclass(frozen=True)
class Case:
    """What is run: a scenario and its changed fields, perhaps on a flow list; the case it is compared with."""

    title: str
    scenario: str = "wlan-ns3"
    fields: dict[str, Any] = field(default_factory=dict)
    discipline: str = "fifo"
    listed: bool = False
    peer: bool = False
    base: str | None = None

    def loaded(self) -> Scenario:
        """The scenario."""
        return mayfly.load_scenario(self.scenario, self.fields)


CASES = (
    Case("5 uploads, 5 downloads, 30 packets, 100 s", peer=True),
    Case("the same, 300 packets", fields={"network.buffer": 300}, peer=True),
    Case("transfers, 10 Mb/s, 400 s", fields=MIXED, listed=True, peer=True),
    Case("10 of 10 stations"),
    Case("10 of 100 stations", fields={"network.wlan.stations": 100}, base="10 of 10 stations"),
    Case("10 of 1000 stations", fields={"network.wlan.stations": 1000}, base="10 of 10 stations"),
    Case("802.11n, A-MPDU, queues fair in airtime, 60 s", "wlan-n", discipline="fq_codel"),
)


def drawn() -> pl.DataFrame:
    """Transfers of the scenario `wlan` that offer what it says, no more and no less."""
    return workload(mayfly.load_scenario("wlan", {"duration": MIXED["duration"], "workload.exact_load": True}))


def given(path: Path) -> pl.DataFrame:
    """A list that has a station in src and a server in dst, whichever of them sends."""
    flows = read_flows(path)
    for name in ("src", "dst"):
        if not flows[name].dtype.is_integer() or not flows[name].is_between(0, HOSTS - 1).all():
            raise MayflyError(f"{path}: {name}: must be whole numbers from 0 to {HOSTS - 1}")
    down, server = pl.col("direction") == "down", pl.col("dst") + HOSTS
    return flows.with_columns(
        src=pl.when(down).then(server).otherwise("src"), dst=pl.when(down).then("src").otherwise(server)
    )


def for_ns3(scenario: Scenario, flows: pl.DataFrame, path: Path) -> None:
    """Writes the flow list as ns3_wlan.cc reads it."""
    src, dst = network_of(scenario).numbers(flows)
    up = pl.col("direction") == "up"
    packets = (pl.col("size_bytes") / scenario.tcp.mss).ceil().cast(pl.Int64)
    flows.with_columns(src=pl.Series(src), dst=pl.Series(dst)).select(
        "flow_id",
        pl.col("direction").str.head(1),
        "start_s",
        station=pl.when(up).then("src").otherwise("dst"),
        server=pl.when(up).then("dst").otherwise("src"),
        size_packets=pl.when(pl.col("size_bytes") == ENDLESS_BYTES).then(0).otherwise(packets),
    ).write_csv(path)


def goodput(scenario: Scenario, run: RunResult) -> dict[str, float]:
    """Payload delivered after the warm-up each way, Mb/s."""
    seconds = scenario.duration - scenario.warm_up
    bits = (pl.col("delivered_bytes") - pl.col("warm_up_bytes")).sum() * 8e-6 / seconds
    found = {way: run.records.filter(pl.col("direction") == way).select(bits).item() or 0.0 for way in ("up", "down")}
    return {f"{way}_mbps": mbps for way, mbps in found.items()}


def measured(case: Case, flows: pl.DataFrame | None, runs: int, peer: Path | None, folder: Path) -> dict:
    """Figures of one case."""
    scenario, path = case.loaded(), folder / "flows.csv"
    flows = workload(scenario) if flows is None else flows
    command: list[object] = [MAYFLY, "simulate", case.scenario, "--discipline", case.discipline, "--json"]
    command += [
        "--out",
        folder / "out",
        *(part for name in case.fields for part in ("--set", f"{name}={case.fields[name]}")),
    ]
    if case.listed:
        write_flows(flows, path)
        command += ["--flows", path]
    (discipline,) = named(case.discipline)
    ours = [run_one(scenario, discipline, flows) for _ in range(runs)]
    figures = {
        "case": case.title,
        "packet_hops": ours[0].counters["packet_hops"],
        "simulator_s": min(run.counters["cpu_s"] for run in ours),
        "process_s": min(cpu(command, folder)[0] for _ in range(runs)),
        **goodput(scenario, ours[0]),
    }
    if peer is not None and case.peer:
        for_ns3(scenario, flows, path)
        seconds, printed = cpu([peer, path, scenario.network.buffer[0], scenario.duration, scenario.warm_up], folder)
        figures["ns3"] = json.loads(printed) | {"process_s": seconds}
        figures["ns3_over"] = {name: seconds / figures[name] for name in OURS}
    return figures


def table(results: list[dict]) -> Iterator[str]:
    """A row per case and program."""
    cases, by_title = {case.title: case for case in CASES}, {result["case"]: result for result in results}
    yield "| input | | CPU s | packet hops per CPU s | up / down, Mb/s | ratio |"
    yield "|---|---|---:|---:|---:|---|"
    for result in results:
        rates, first = f"{result['up_mbps']:.2f} / {result['down_mbps']:.2f}", result["case"]
        for name, label in OURS.items():
            speed = f"{result['packet_hops'] / result[name] / 1e6:.1f} M"
            over = f"{result['ns3_over'][name]:.0f} x faster than ns-3" if "ns3" in result else ""
            if base := cases[result["case"]].base:
                over = f"{result[name] / by_title[base][name]:.2f} x {base}"
            yield f"| {first} | {label} | {result[name]:.3f} | {speed} | {rates} | {over} |"
            first = rates = ""
        if peer := result.get("ns3"):
            rates = f"{peer['up_mbps']:.2f} / {peer['down_mbps']:.2f}"
            yield f"| | ns-{ns3_version()} | {peer['process_s']:.1f} | | {rates} | |"


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of ours, of which the fastest counts")] = 5,
    flows: Annotated[
        Path | None, typer.Option(help="Transfers: flow_id, direction, start_s, src station, dst server, size_packets")
    ] = None,
    without_peer: Annotated[bool, typer.Option("--without-peer", help="Ours only: ns-3 takes minutes")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Time Mayfly and ns-3 in a wireless cell."""
    try:
        transfers = drawn() if flows is None else given(flows)
    except MayflyError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer = None if without_peer else ns3_program("ns3_wlan", NS3_MODULES, folder)
        results = [measured(case, transfers if case.listed else None, runs, peer, folder) for case in CASES]
    print(json.dumps(results, indent=1) if as_json else "\n".join(table(results)))


if __name__ == "__main__":
    typer.run(main)
