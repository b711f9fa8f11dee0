"""Samples of the queue against those of ns-2.35 in the runs of Zhao 2004, II.C, that the estimator is tried on.

ns-2 ran each once. Under RED seeds spread less than the two simulators differ (docs/validation.md), so shares and drop
rates have the tolerances of the Table III comparison, and the mean queue what these allow: RED's drop probability grows
by 0.1 over 30 packets, so 0.7 points of drops are 2.1 packets of its average.
"""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload
from mayfly_papers.zhao2004.estimator.scenarios import RED, cbr, on_off, short_flows

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
SEEDS = (0, 1, 2)
SHARE_POINTS, DROP_POINTS, QUEUE_PKTS = 1.5, 0.7, 2.1
SACK = {"tcp.recovery": "sack", "tcp.min_rto": "200ms"}
RUNS = {
    "zhao_red_reno_cbr16": {"workload.cbr": cbr(16)},
    "zhao_red_reno_cbr22": {"workload.cbr": cbr(22)},
    "zhao_red_reno_cbr25": {"workload.cbr": cbr(25)},
    "zhao_red_sack_cbr16": {"workload.cbr": cbr(16)} | SACK,
    "zhao_red_sack_cbr22": {"workload.cbr": cbr(22)} | SACK,
    "zhao_red_sack_cbr25": {"workload.cbr": cbr(25)} | SACK,
    "zhao_red_sack_onoff100": on_off(100) | SACK,
    "zhao_red_sack_onoff20": on_off(20) | SACK,
    "zhao_red_sack_onoff5": on_off(5) | SACK,
    # The reference recycles the senders of short flows.
    "zhao_red_sack_fig6": short_flows(300) | SACK | {"tcp.recycled_senders": True},
}
SAMPLED = {
    "zhao_red_reno_cbr22": (1.094, 1.071),
    "zhao_red_sack_cbr25": (1.022, 1.086),
    "zhao_red_sack_onoff20": (1.298, 1.080),
}
"""Factors that hold 95 % of the ratios of two runs of ns-2, from its seeds 2 to 6 (Student's t, logarithms): of the
standard deviation of the mean queue of a sample, and of its arrivals."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REFERENCE.exists(), reason="needs the ns-2 results in ../shared/reference/ns2"),
]


@cache
def ours(name: str) -> list[pl.DataFrame]:
    """Samples from 100 s on, one table per seed."""
    scenario = load_scenario("red-ns2", RUNS[name] | {"sample_interval": "33ms"})
    runs = (run_one(scenario, parse(RED), workload(scenario, seed), seed) for seed in SEEDS)
    return [run.samples.filter(pl.col("time_s") > 100) for run in runs]


def shown(samples: pl.DataFrame) -> dict[str, float]:
    """Share that does not respond and drop rate in per cent, mean queue in packets."""
    total = samples.sum().row(0, named=True)
    return {
        "share": 100 * total["nonresponsive_arrivals"] / total["arrivals"],
        "drops": 100 * total["drops"] / total["arrivals"],
        "queue": total["queue_mean_packets"] / samples.height,
    }


def close(found: dict[str, float], reference: dict[str, float]) -> None:
    assert abs(found["share"] - reference["share"]) < SHARE_POINTS, (found, reference)
    assert abs(found["drops"] - reference["drops"]) < DROP_POINTS, (found, reference)
    assert abs(found["queue"] - reference["queue"]) < QUEUE_PKTS, (found, reference)


@pytest.mark.parametrize("name", RUNS)
def test_totals_are_those_of_ns2(name):
    rows = csv.DictReader((REFERENCE / "zhao_summary.csv").read_text().splitlines())
    row = next(row for row in rows if row["config"].startswith(f"{name},"))
    # Shares there are of the packets that left; drops tell those that came.
    left = {group: float(row[f"{group}%"]) / (1 - float(row[f"{group}drop"])) for group in ("tcp", "cbr", "stf")}
    share = 100 * (left["cbr"] + left["stf"]) / sum(left.values())
    reference = {"share": share, "drops": 100 * float(row["droprate"]), "queue": float(row["meanq"])}
    for samples in ours(name):
        close(shown(samples), reference)


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_vary_as_those_of_ns2(name):
    theirs = pl.read_csv(REFERENCE / f"{name}.csv.gz").filter(pl.col("time_s") > 100)
    pairs = (("queue_mean_packets", "mean_queue_pkts"), ("arrivals", "arrivals"))
    for samples in ours(name):
        for (own, other), factor in zip(pairs, SAMPLED[name], strict=True):
            ratio = samples[own].std() / theirs[other].std()
            assert 1 / factor < ratio < factor, (own, ratio)


def test_shares_follow_the_same_square_wave():
    """Means over the on and the off times of the 20 s wave, from 2 s after each step."""
    theirs = pl.read_csv(REFERENCE / "zhao_red_sack_onoff20.csv.gz").filter(pl.col("time_s") > 100)
    theirs = theirs.with_columns(nonresponsive_arrivals=pl.col("nonresp_fraction") * pl.col("arrivals"))
    for samples in ours("zhao_red_sack_onoff20"):
        for phase in (0, 1):
            within = (pl.col("time_s") // 20 % 2 == phase) & (pl.col("time_s") % 20 > 2)
            shares = [
                own.filter(within).select(pl.col("nonresponsive_arrivals").sum() / pl.col("arrivals").sum()).item()
                for own in (samples, theirs)
            ]
            assert 100 * abs(np.subtract(*shares)) < SHARE_POINTS, (phase, shares)
