"""A run of a stream beside that of the list: records to the bit, figures within the bounds that are told."""

import json

import numpy as np
import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.comparison.streamed import simulate_stream
from mayfly.errors import MayflyError
from mayfly.metrics.size_classes import completed_tcp
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import streamed as runs
from mayfly.workload import streamed
from mayfly.workload.lists import write_flows

CHANGES = {"duration": "150s", "workload.up_share": 0.1, "workload.load": "11mbit"}


@pytest.fixture
def scenario(monkeypatch):
    monkeypatch.setattr(streamed, "BATCH", 500)
    return load_scenario("wired", CHANGES)


def within_the_sketch(values: np.ndarray, share: float, told: float, bound: float) -> bool:
    """Whether a quantile is that of a rank beside the exact one, to the bound of the sketch."""
    ranks = np.sort(values)[[int(np.floor(share * (len(values) - 1))), int(np.ceil(share * (len(values) - 1)))]]
    return bool(ranks[0] * (1 - bound) - 1e-12 <= told <= ranks[1] * (1 + bound) + 1e-12)


@pytest.mark.parametrize("discipline", ["fifo", "las", "efd", "fq_codel"])
def test_records_are_those_of_the_list_and_figures_within_their_bounds(scenario, tmp_path, discipline):
    whole = compare(scenario, discipline)
    answer = simulate_stream(scenario, discipline, tmp_path)
    records = pl.read_parquet(tmp_path / "flows.parquet")
    # What a flow takes alone is not computed for a stream.
    listed = whole.records.with_columns(slowdown=pl.lit(None, pl.Float64))
    assert records.sort("flow_id").equals(listed)
    assert (
        pl.read_parquet(tmp_path / "samples.parquet")
        .drop("progress_1_bytes", "progress_2_bytes", "progress_3_bytes")
        .equals(whole.samples.drop("progress_1_bytes", "progress_2_bytes", "progress_3_bytes"))
    )
    row, exact = answer.document(), whole.summary["disciplines"][0]
    for name in ("flows_completed", "flows_unfinished", "unfinished_bytes", "unfinished_delivered_bytes", "drops"):
        assert row[name] == exact[name], name
    assert row["utilisation"] == exact["utilisation"] and row["workload"]["flows"] == whole.records.height
    for name in ("short", "long"):
        off = row[name]["off_by_at_most_s"] + 1e-9
        assert abs(row[name]["mean_s"] - exact[name]["mean_s"]) <= off
        assert row[name]["flows"] == exact[name]["flows"]
        assert row[name]["mean_size_packets"] == pytest.approx(exact[name]["mean_size_packets"])
    times = whole.records.filter(completed_tcp())["response_time_s"].to_numpy()
    assert row["all"]["mean_s"] == pytest.approx(times.mean(), rel=1e-9)
    for name, value in row["all"]["quantiles_s"].items():
        assert within_the_sketch(times, float(name[1:]) / 100, value, row["sketch"]["bound"]), name
    sizes = whole.records.filter(completed_tcp())
    for part in row["by_size"]:
        own = sizes.filter(pl.col("size_packets").is_between(part["from_packets"], part["below_packets"] - 1))
        assert part["flows"] == own.height
        assert part["mean_s"] == pytest.approx(own["response_time_s"].mean(), rel=1e-9)
        assert within_the_sketch(own["response_time_s"].to_numpy(), 0.95, part["quantiles_s"]["p95"], 0.005)


def test_a_list_from_a_file_runs_as_a_stream(scenario, tmp_path):
    source = runs.source_of(scenario, None)
    path = tmp_path / "flows.parquet"
    write_flows(pl.concat(source.batches), path)
    drawn = simulate_stream(scenario, "las", tmp_path / "drawn").document()
    listed = simulate_stream(scenario, "las", tmp_path / "listed", path, records=False).document()
    assert listed["by_size"] == drawn["by_size"] and "flows" not in listed.get("files", {})
    assert not (tmp_path / "listed" / "flows.parquet").exists()
    assert json.loads((tmp_path / "listed" / "summary.json").read_text(encoding="utf-8"))["stream"] is True


def test_files_out_of_order_are_refused_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "BATCH", 2)
    path = tmp_path / "flows.csv"
    path.write_text("start_s,size_bytes\n1,1000\n2,1000\n0.5,1000\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="flow 2: starts before the one listed before it"):
        simulate_stream("wired", "fifo", tmp_path / "out", path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"probes.ping": True}, "probes"),
        ({"subflows": True}, "subflows"),
        ({"replications": 2}, "replications"),
        ({"network.topology": "parking-lot"}, "network"),
    ],
)
def test_scenarios_without_a_stream_are_refused(tmp_path, changes, word):
    with pytest.raises(MayflyError, match=f"^{word}"):
        simulate_stream(load_scenario("wired", changes), "fifo", tmp_path)


def test_batches_are_forgotten_with_the_last_of_their_flows(scenario):
    taken = []
    scenario = load_scenario("wired", CHANGES | {"duration": "400s"})
    kept_at_once = []

    class Watched(runs.Kept):
        def end(self, places, records):
            super().end(places, records)
            kept_at_once.append(len(self._batches))

    runs_kept, runs.Kept = runs.Kept, Watched
    try:
        runs.run_stream(scenario, runs_discipline(), runs.source_of(scenario, None), taken=taken.append)
    finally:
        runs.Kept = runs_kept
    assert sum(part.height for part in taken) > 4_000
    assert kept_at_once[-1] == 0


def runs_discipline():
    from mayfly.discipline_registry import parse

    return parse("las")
