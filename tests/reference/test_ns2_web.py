"""Agreement with ns-2.35 on the web workload of Rai 2003 (settings in the README of the reference; docs/validation.md).

The reference closes its loop itself; its list of flows is replayed here at the times they started there. Each response
of WebTraf follows a request of one packet, two round-trip times before it, which the list does not hold: their
acknowledgements are a seventh of the packets at the bottleneck, so they are added.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mayfly
from mayfly.workload.arrivals import stream

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
WARM_S = 2000.0
"""The reference counts flows that start from here on."""
BACK_S = 0.05
"""``finish_ack_s`` is at the server: a way back later than the arrival of the data."""
REQUEST_S = 0.204949
"""SYN and one packet up, with their acknowledgements, on the empty path."""
PACKET_S = 1040 * 8 / 3e6
CLASSES = [1, 2, 3, 7, 15, 31, 127]
"""Largest sizes of the classes by size, packets."""
SEEDS = range(1, 9)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REFERENCE.exists(), reason="needs the ns-2 results in ../shared/reference/ns2"),
]


@cache
def reference() -> pl.DataFrame:
    return pl.read_csv(REFERENCE / "las_web_C3_w1000.csv.gz")


@cache
def replayed(seed: int) -> pl.DataFrame:
    # The list is written to microseconds; within the time a packet takes at the bottleneck, chance decides who is lost.
    moved_s = PACKET_S * stream(seed, "replay").random(reference().height)
    answers = reference().select(
        "flow_id", pl.col("start_s") + moved_s, "src", "dst", "size_packets", direction=pl.lit("down")
    )
    requests = answers.select(
        -pl.col("flow_id"),
        pl.max_horizontal(pl.col("start_s") - REQUEST_S, 0.0),
        src="dst",
        dst="src",
        size_packets=pl.lit(1, pl.Int64),
        direction=pl.lit("up"),
    )
    scenario = mayfly.load_scenario("web-ns2", {"seed": seed})
    return mayfly.run(scenario, "fifo", pl.concat([answers, requests])).records.filter(pl.col("flow_id") > 0)


@cache
def drawn(seed: int) -> pl.DataFrame:
    scenario = mayfly.load_scenario("web-ns2", {"seed": seed})
    return mayfly.run(scenario, "fifo").records.filter(pl.col("direction") == "down")


def measures(flows: pl.DataFrame) -> dict[str, float]:
    """What Rai 2003, 4.4 prints: loss rate, share of one-packet flows with a loss, sizes of the flows with a loss."""
    flows = flows.filter(pl.col("start_s") >= WARM_S)
    lossy = flows.filter(pl.col("drops") > 0)
    return {
        "loss": flows["drops"].sum() / flows["packets_sent"].sum(),
        "one_packet_lossy": (flows.filter(pl.col("size_packets") == 1)["drops"] > 0).mean(),
        **{f"lossy_below_{size}": (lossy["size_packets"] < size).mean() for size in (2, 3, 10)},
    }


def transmission(flows: pl.DataFrame, time_s: pl.Expr) -> dict[str, float]:
    """Mean transmission time by class of size, s."""
    flows = flows.filter(pl.col("start_s") >= WARM_S).with_columns(time_s=time_s).drop_nulls("time_s")
    bounds = [0, *CLASSES, 10**9]
    return {
        f"{low + 1}..{high}": flows.filter(pl.col("size_packets").is_between(low + 1, high))["time_s"].mean()
        for low, high in pairwise(bounds)
    }


THEIRS_S = pl.col("finish_ack_s") - pl.col("start_s") - BACK_S


def mean(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}


def test_the_replayed_list_loses_what_it_lost_in_ns2():
    ours = mean([measures(replayed(seed)) for seed in SEEDS])
    assert ours == pytest.approx(measures(reference()), rel=0.10)


def test_the_replayed_list_takes_the_time_it_took_in_ns2():
    ours = mean([transmission(replayed(seed), pl.col("response_time_s")) for seed in SEEDS])
    assert ours == pytest.approx(transmission(reference(), THEIRS_S), rel=0.10)


def test_the_closed_loop_agrees_within_the_spread_of_seeds():
    # Sizes of infinite variance: the runs differ by far more than the simulators, and ns-2's is one more run.
    runs = [measures(drawn(seed)) for seed in SEEDS]
    for name, theirs in measures(reference()).items():
        ours = np.array([run[name] for run in runs])
        half_width = 2.365 * ours.std(ddof=1) * np.sqrt(1 + 1 / len(ours))  # Student's t, 7 degrees, one new value
        assert abs(ours.mean() - theirs) <= half_width, (name, theirs, ours)
