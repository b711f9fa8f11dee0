"""Agreement with ns-2.35 on the flow lists of the shared reference (settings in its README; docs/validation.md)."""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mayfly
from mayfly.metrics import classes

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
SEEDS = range(1, 9)
"""Seeds move the phases of the hosts' clocks, the one thing ns-2 draws at random too (``boot_time_``)."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REFERENCE.exists(), reason="needs the ns-2 results in ../shared/reference/ns2"),
]

LISTS = {
    # List: relative tolerance of the short and of the long mean, from the issue.
    "B_8M": (0.05, 0.08),
    "C_15M": (0.10, 0.10),
}


@cache
def ns2(name: str) -> tuple[pl.DataFrame, dict[str, float]]:
    """Flow records and counters of ns-2, in our names."""
    flows = pl.read_csv(REFERENCE / f"efd_result_{name}.csv.gz").select(
        "flow_id",
        "size_packets",
        discipline=pl.lit("ns2"),
        replication=pl.lit(0),
        protocol=pl.lit("tcp"),
        size_bytes=pl.col("size_packets") * 1460,
        finish_s="finish_rx_s",
        response_time_s=pl.col("finish_rx_s") - pl.col("start_s"),
    )
    lines = (REFERENCE / f"efd_agg_{name}.csv").read_text().split()
    return flows, {key: float(value) for key, value in (line.split(",") for line in lines)}


@cache
def ours(name: str, seed: int) -> mayfly.Comparison:
    scenario = mayfly.load_scenario("wired-ns2", {"seed": seed})
    return mayfly.run(scenario, "fifo", REFERENCE / f"flows_{name}.csv.gz")


def class_means(records: pl.DataFrame) -> dict[str, float]:
    classed = records.with_columns(classes(records).alias("class"))
    means = classed.group_by("class").agg(pl.col("response_time_s").mean())
    return {row["class"]: row["response_time_s"] for row in means.iter_rows(named=True) if row["class"]}


def distance(a: pl.Series, b: pl.Series) -> float:
    from scipy.stats import ks_2samp

    # The reference is rounded to microseconds; equal times on a lattice would otherwise count as different.
    return ks_2samp(a.drop_nulls().round(6).to_numpy(), b.drop_nulls().round(6).to_numpy()).statistic


@pytest.mark.parametrize("name", LISTS)
def test_class_means_agree_over_seeds(name):
    theirs = class_means(ns2(name)[0])
    runs = [class_means(ours(name, seed).records) for seed in SEEDS]
    for label, tolerance in zip(("short", "long"), LISTS[name], strict=True):
        mean = np.mean([run[label] for run in runs])
        assert mean == pytest.approx(theirs[label], rel=tolerance), [run[label] for run in runs]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", LISTS)
def test_every_seed_agrees_in_means_distribution_and_utilisation(name, seed):
    flows, counters = ns2(name)
    result = ours(name, seed)
    row = result.summary["disciplines"][0]
    theirs = class_means(flows)
    assert row["short"]["mean_s"] == pytest.approx(theirs["short"], rel=LISTS[name][0])
    assert row["utilisation"] == pytest.approx(counters["utilisation"], rel=0.01)
    assert row["queue_mean_packets"] == pytest.approx(counters["mean_queue_pkts"], rel=0.05)
    assert distance(result.records["response_time_s"], flows["response_time_s"]) <= 0.03


@pytest.mark.parametrize("name", LISTS)
def test_drops_agree_over_seeds(name):
    # Chance moves the drops of one run of B_8M by a tenth, in ns-2 as here (docs/validation.md).
    drops = [ours(name, seed).summary["disciplines"][0]["drops"] for seed in SEEDS]
    assert np.mean(drops) == pytest.approx(ns2(name)[1]["drops"], rel=0.15), drops


def test_seed_1_is_ns2_packet_by_packet_in_underload():
    # Seed 1 gives the hosts' clocks the phases ns-2 gives them by default: nothing is left to chance.
    _, counters = ns2("B_8M")
    result = ours("B_8M", 1)
    reference = pl.read_csv(REFERENCE / "efd_result_B_8M.csv.gz").sort("flow_id")
    mine = result.records.sort("flow_id")
    for column in ("packets_sent", "retransmits", "timeouts", "drops"):
        assert (mine[column] == reference[column]).all(), column
    assert (mine["finish_s"].is_null() == reference["finish_rx_s"].is_null()).all()
    assert (mine["finish_s"] - reference["finish_rx_s"]).abs().max() < 2e-6
    assert result.summary["disciplines"][0]["drops"] == counters["drops"]
