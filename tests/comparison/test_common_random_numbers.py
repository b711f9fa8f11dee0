"""Same seed, same records; same flows under every discipline; replications that differ."""

import subprocess
import sys

import polars as pl
import pytest
from scipy.stats import t

from mayfly.comparison.comparison import compare
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import named, run_many, workload

INPUT = ["flow_id", "start_s", "src", "dst", "direction", "protocol", "size_bytes"]

IN_ANOTHER_PROCESS = """
import sys
from mayfly.simulate.run import named, run_many
from mayfly.scenario.scenario import load_scenario
scenario = load_scenario("wired", {"duration": "20s", "seed": 11, "replications": 2})
for number, run in enumerate(run_many(scenario, named("fifo,las,efd"), workers=int(sys.argv[1]))):
    run.records.write_parquet(f"{sys.argv[2]}/records{number}")
    run.samples.write_parquet(f"{sys.argv[2]}/samples{number}")
"""


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("wired", {"duration": "20s", "seed": 11, "replications": 2})


@pytest.fixture(scope="module")
def runs(scenario):
    return run_many(scenario, named("fifo,las,efd"))


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_seed_gives_the_same_records_in_another_process_with_other_workers(runs, workers, tmp_path):
    subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS, str(workers), str(tmp_path)], check=True)
    for number, run in enumerate(runs):
        assert pl.read_parquet(tmp_path / f"records{number}").equals(run.records)
        assert pl.read_parquet(tmp_path / f"samples{number}").equals(run.samples)


def test_every_discipline_gets_the_same_flows(runs):
    for replication in (0, 1):
        fifo, las, efd = (run.records.select(INPUT) for run in runs if run.replication == replication)
        assert fifo.equals(las) and fifo.equals(efd)


def test_disciplines_treat_them_differently(runs):
    fifo, las, _ = (run.records["response_time_s"] for run in runs if run.replication == 0)
    assert not fifo.equals(las)


def test_replications_differ(runs):
    first, second = (run.records for run in runs if run.discipline.id == "fifo")
    assert first["replication"].unique().to_list() == [0] and second["replication"].unique().to_list() == [1]
    assert not first.select(INPUT).equals(second.select(INPUT))


def test_replication_n_is_the_run_with_seed_plus_n(scenario, runs):
    later = run_many(scenario.override(seed=12, replications=1), named("fifo"))[0]
    (second,) = (run for run in runs if run.discipline.id == "fifo" and run.replication == 1)
    assert later.records.drop("replication").equals(second.records.drop("replication"))
    assert workload(scenario, 1).equals(workload(scenario.override(seed=12)))


def test_other_seeds_give_other_flows(scenario):
    assert not workload(scenario).equals(workload(scenario.override(seed=12)))


def test_the_interval_of_replications_is_students():
    result = compare(load_scenario("wired", {"duration": "120s", "replications": 3}), "fifo,efd")
    for row in result.summary["disciplines"]:
        records = result.records.filter(discipline=row["label"])
        assert records["replication"].unique().sort().to_list() == [0, 1, 2]
        means = []
        for replication in range(3):
            done = records.filter(pl.col("finish_s").is_not_null(), replication=replication).sort("size_bytes")
            # Chen 2012, 4.6.2: the largest flows that together carry half of the bytes are long.
            done = done.with_columns(below=pl.col("size_bytes").cum_sum() / pl.col("size_bytes").sum())
            least = done.filter(pl.col("below") >= 0.5)["size_bytes"].min()
            means.append(done.filter(pl.col("size_bytes") < least)["response_time_s"].mean())
        sample = pl.Series(means)
        half = t.ppf(0.975, 2) * sample.std() / 3**0.5
        assert row["short"]["mean_s"] == pytest.approx(sample.mean(), rel=0.01)
        low, high = row["short"]["ci95"]
        assert high - row["short"]["mean_s"] == pytest.approx(half, rel=0.05)
        # No time is below 0.
        assert low == pytest.approx(max(2 * row["short"]["mean_s"] - high, 0.0), rel=1e-9)


def test_counts_of_replications_add_up():
    result = compare(load_scenario("wired", {"duration": "10s", "replications": 3}), "fifo")
    (row,) = result.summary["disciplines"]
    assert row["flows_completed"] + row["flows_unfinished"] == result.records.height
    assert row["drops"] == result.records["drops"].sum()
    assert result.summary["replications"] == 3
    assert result.samples["replication"].unique().sort().to_list() == [0, 1, 2]
