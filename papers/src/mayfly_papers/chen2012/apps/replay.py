"""Chen 2012, 9.3.2: the apps model, what applications do inside connections, against transfers that always have data.

Three forms of the same connections of one capture, at the same places: *legacy*, a TCP transfer per direction with
payload; *recorded*, every data packet when it was captured, as UDP, which is what the thesis did; *scripted*, TCP with
trains, think times and paces, which it left to future work. What words mean was written down before the runs: the
*difference* of the disciplines is the ratio of the largest to the smallest mean response time of five of them; sizes
are *the same* where a Kolmogorov-Smirnov test at 5 % does not tell the transfers without loss from all transfers.
"""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Measures, Row, Runs, Values
from mayfly_papers.declare.rows import Quantity, at_most, below, quantity

OFFICE = Path(__file__).parents[5] / "captures" / "office.pcap.gz"
NAMES = {"fifo": "FIFO", "scfq": "SCFQ", "run2c": "Run2C", "las": "LAS", "efd": "EFD"}
DISCIPLINES = tuple(NAMES)
FORMS = {"legacy": "transfers", "recorded": "recorded UDP", "scripted": "scripted TCP"}
LOAD = 0.8
REPLICATIONS = 6
INTERNAL = ["10.10.0.0/24"]


@cache
def lists(mss: int, header_bytes: int, rate_bps: int) -> dict[str, pl.DataFrame]:
    """The flows of each form, beginning as far apart as lets the transfers offer 8 Mb/s."""
    from mayfly.workload.lists import flow_list
    from mayfly.workload.mix import offered
    from mayfly.workload.replayed import replayed_flows

    forms = {
        name: replayed_flows(OFFICE, form, INTERNAL, mss=mss, initial_window=10, tcp_only=True)
        for name, form in (("legacy", "transfers"), ("recorded", "packets"), ("scripted", "trains"))
    }
    load = offered(forms["legacy"], mss=mss, header_bytes=header_bytes)
    factor = max(load[way]["mbps"] for way in ("down", "up")) * 1e6 / (LOAD * rate_bps)
    slower = {name: flows.with_columns(pl.col("start_s") * factor) for name, flows in forms.items()}
    return {name: flow_list(flows.drop("connection_id"), mss=mss) for name, flows in slower.items()}


def drawn(form: str):
    """Flows of a form; every replication deals the same begin times to other connections."""

    def of_replication(scenario: Scenario, replication: int) -> pl.DataFrame:
        flows = lists(scenario.tcp.mss, scenario.tcp.headers_bytes, scenario.network.rate)[form]
        rng = np.random.default_rng(replication)
        starts = flows["start_s"].to_numpy()[rng.permutation(flows.height)]
        return flows.with_columns(pl.Series("start_s", starts)).sort("start_s", "flow_id")

    of_replication.__doc__ = f"connections of the office capture as {FORMS[form]}, begin times dealt anew"
    return of_replication


def measure(run: RunResult) -> Measures:
    """Mean response time of what lost nothing, and whether its sizes are those of all."""
    from mayfly.workload.round_trip import ks_distance

    whole = run.records.filter(pl.col("finish_s").is_not_null(), pl.col("drops") + pl.col("lost") == 0)
    sizes = [frame["size_bytes"].to_numpy() for frame in (whole, run.records)]
    few, all_of_them = (len(values) for values in sizes)
    critical = 1.358 * np.sqrt((few + all_of_them) / (few * all_of_them))
    return {
        "mean_s": number(whole["response_time_s"].mean()),
        "ks_over_critical": ks_distance(*sizes) / critical,
        "whole": few / all_of_them,
        "wait_s": float(run.counters["queueing_delay"]["mean_s"]),
    }


HOSTS = {
    "tcp.preset": "qualnet-4.5-like",
    "tcp.initial_window": 10,
    "tcp.receiver_window": 1024,
    "tcp.initial_rto": "1s",
    "tcp.min_rto": "200ms",
    "tcp.max_rto": "120s",
    "tcp.delayed_ack": "40ms",
    "network.symmetric": False,
    "network.access_delay": "100us",
    "network.exit_delay": "10us",
}
"""NewReno with the windows and timers of a current host, not all that `whatif` takes today's hosts for."""

EXPERIMENTS = tuple(
    Experiment(
        form,
        HOSTS | {"network.rate": "10mbit", "network.buffer": 300, "network.access_rate": "100mbit", "duration": "400s"},
        DISCIPLINES,
        REPLICATIONS,
        measure,
        "whatif",
        flows=drawn(form),
    )
    for form in FORMS
)


def difference(form: str) -> Quantity:
    """Largest over smallest mean of the disciplines."""

    def of_runs(runs: Runs) -> Values:
        stacked = np.stack([runs.values(form, discipline, "mean_s") for discipline in DISCIPLINES])
        return stacked.max(axis=0) / stacked.min(axis=0)

    return of_runs


SOURCE = "Chen 2012, 9.3.2"
SETTINGS = "TCP connections of `captures/office.pcap.gz` at 8 Mb/s over 10 Mb/s, 300 packets, hosts at 100 Mb/s"

DIFFERENCES = reasons(__package__)


def blurs() -> Claim:
    """Applications leave less to a discipline."""
    rows = tuple(
        below(
            f"difference of the disciplines, {FORMS[form]}",
            difference(form),
            difference("legacy"),
            direction="below that of transfers",
        )
        for form in ("recorded", "scripted")
    )
    return Claim(
        "apps-blurs",
        f"{SOURCE}, Fig. 9.14",
        "taking the applications into account blurs the differences between the disciplines",
        SETTINGS,
        rows,
        DIFFERENCES.get("apps-blurs"),
        "Largest over smallest mean response time of five disciplines, over what lost no packet, as there.",
    )


def smaller_queue() -> Claim:
    """And a shorter queue."""
    rows = tuple(
        below(
            f"mean time in the queue, {NAMES[discipline]}, {FORMS[form]}",
            quantity(form, discipline, "wait_s"),
            quantity("legacy", discipline, "wait_s"),
            "s",
            "below that of transfers",
        )
        for form in ("recorded", "scripted")
        for discipline in DISCIPLINES
    )
    return Claim(
        "apps-queue",
        "Chen 2012, 9.3.3",
        "the application makes the traffic less bursty, and so the queue shorter",
        SETTINGS,
        rows,
        DIFFERENCES.get("apps-queue"),
        "Of all packets that left the forward queue. The forms last differently long: mean queues would not compare.",
    )


def same_sizes() -> Claim:
    """What completes without loss is like the whole."""
    rows: tuple[Row, ...] = tuple(
        at_most(
            f"distance of sizes, {NAMES[discipline]}, {FORMS[form]}",
            quantity(form, discipline, "ks_over_critical"),
            1.0,
            "critical values",
        )
        for form in ("legacy", "recorded")
        for discipline in DISCIPLINES
    )
    return Claim(
        "apps-sizes",
        f"{SOURCE}, Fig. 9.13",
        "the transfers that complete without loss have the same sizes in the legacy and the apps model",
        SETTINGS,
        rows,
        DIFFERENCES["apps-sizes"],
        "Sizes of the flows without loss against those of all flows, which both models share.",
    )


CLAIMS = (blurs(), smaller_queue(), same_sizes())
"""Claims of 9.3.2 and 9.3.3."""
