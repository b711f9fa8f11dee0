"""Closed loops: flows that start when a stage is over."""

import polars as pl
import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.simulate.run import run_one
from mayfly.workload.lists import flow_list, read_flows, write_flows
from mayfly.workload.mix import scale_load


def records_of(flows: pl.DataFrame, discipline: str = "fifo", duration: str = "60s") -> pl.DataFrame:
    scenario = mayfly.load_scenario("wired", {"duration": duration})
    return mayfly.run(scenario, discipline, flows).records.sort("flow_id")


def page(stage: int | None, after: int | None, start_s: float, sizes: list[int]) -> pl.DataFrame:
    columns = {"stage": pl.Series([stage] * len(sizes), dtype=pl.Int64)}
    columns |= {"after": pl.Series([after] * len(sizes), dtype=pl.Int64)}
    return pl.DataFrame({"start_s": start_s, "size_packets": sizes, **columns})


def test_a_page_starts_its_think_time_after_the_last_flow_of_the_page_before():
    flows = pl.concat([page(7, None, 0.25, [5, 60]), page(3, 7, 2.0, [10]), page(None, 3, 0.5, [1, 2])])
    records = records_of(flows)
    ends = records.group_by("stage").agg(pl.col("finish_s").max()).filter(pl.col("stage").is_not_null())
    end_s = dict(ends.rows())
    starts = records["start_s"].to_list()
    assert starts[:2] == [0.25, 0.25]
    assert starts[2] == pytest.approx(end_s[7] + 2.0, abs=1e-9)
    assert starts[3:] == pytest.approx([end_s[3] + 0.5] * 2, abs=1e-9)
    assert (records["finish_s"] - records["start_s"] - records["response_time_s"]).abs().max() < 1e-12


def test_a_loop_is_slower_under_load_with_the_same_think_times():
    chain = pl.concat([page(k, k - 1 if k else None, 1.0, [20]) for k in range(5)])
    bulk = pl.DataFrame({"start_s": [0.0], "size_packets": [100_000]})
    alone = records_of(chain)
    loaded = records_of(pl.concat([chain, bulk], how="diagonal")).filter(pl.col("stage").is_not_null())
    for records in (alone, loaded):
        thought = records["start_s"].to_numpy()[1:] - records["finish_s"].to_numpy()[:-1]
        assert thought == pytest.approx([1.0] * 4, abs=1e-9)
    assert loaded["finish_s"].max() > alone["finish_s"].max() + 1.0


def test_flows_whose_stage_does_not_end_in_time_are_left_out():
    flows = pl.concat([page(0, None, 0.0, [5]), page(1, 0, 59.0, [100_000]), page(None, 1, 0.0, [1])])
    records = records_of(flows)
    assert records["flow_id"].to_list() == [0, 1]
    assert records["finish_s"].is_null().to_list() == [False, True]


def test_a_waiting_flow_may_be_udp_and_a_stage_ends_though_packets_are_lost():
    wait = pl.DataFrame({"start_s": [0.1], "size_packets": [3], "after": [4]})
    flood = pl.DataFrame(
        {"start_s": [0.0], "size_packets": [2000], "protocol": "udp", "rate_bps": [40e6], "stage": [4]}
    )
    records = records_of(pl.concat([flood, wait], how="diagonal"))
    assert records["drops"][0] > 0
    assert records["start_s"][1] == pytest.approx(records["finish_s"][0] + 0.1, abs=1e-9)


def test_disciplines_meet_the_same_draws_from_their_own_ends():
    flows = pl.concat([page(0, None, 0.0, [40, 400]), page(1, 0, 1.5, [30, 7])])
    result = mayfly.compare(mayfly.load_scenario("wired", {"duration": "20s"}), "fifo,las", flows)
    for _, records in result.records.group_by("discipline"):
        ends = records.filter(pl.col("stage") == 0)["finish_s"].max()
        assert records.filter(pl.col("stage") == 1)["start_s"].to_list() == pytest.approx([ends + 1.5] * 2, abs=1e-9)


def test_slowdown_of_a_flow_that_waited_is_against_its_own_start():
    records = records_of(pl.concat([page(0, None, 0.0, [30]), page(None, 0, 10.0, [30])]))
    assert records["slowdown"].to_list() == pytest.approx([1.0, 1.0], rel=1e-9)


@pytest.mark.parametrize("name", ["flows.csv", "flows.csv.gz", "flows.parquet"])
def test_stages_survive_a_file(tmp_path, name):
    flows = flow_list(pl.concat([page(9, None, 0.0, [5]), page(2**40, 9, 1.0, [5]), page(None, None, 2.0, [1])]))
    write_flows(flows, tmp_path / name)
    assert read_flows(tmp_path / name).equals(flows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, 1)], "row 1: after = 1: must be a stage that does not wait for this one in turn"),
        ([(None, None), (1, 2), (2, 3), (3, 1)], "row 2: after = 2: must be a stage that does not wait"),
        ([(1, None), (1, 2), (2, 1)], "row 2: after = 2: must be a stage that does not wait"),
        ([(1, None), (2, 3)], "row 2: after = 3: must be the stage of some flow"),
        ([(None, 1)], "row 1: after = 1: must be the stage of some flow"),
        ([(-1, None)], "row 1: stage = -1: must be a whole number from 0"),
    ],
)
def test_flows_that_can_never_start_are_refused(rows, message):
    stages = pl.DataFrame(rows, schema={"stage": pl.Int64, "after": pl.Int64}, orient="row")
    with pytest.raises(MayflyError, match=message):
        flow_list(stages.with_columns(start_s=0.0, size_packets=1))


def test_a_stage_that_never_ends_is_refused():
    flows = pl.DataFrame({"start_s": [0.0, 0.0], "size_bytes": [2**40, 1], "stage": [1, None], "after": [None, 1]})
    with pytest.raises(MayflyError, match="row 2: after = 1: must be a stage without endless flows"):
        flow_list(flows)


def test_a_closed_loop_cannot_be_scaled_to_a_load():
    flows = flow_list(pl.concat([page(0, None, 0.0, [5]), page(1, 0, 1.0, [5])]))
    with pytest.raises(MayflyError, match="must have no `after`"):
        scale_load(flows, 0.5, 1e6)


def test_a_run_that_stops_when_idle_waits_for_the_flows_to_come():
    flows = flow_list(pl.concat([page(0, None, 0.0, [5]), page(None, 0, 10.0, [5])]))
    scenario = mayfly.load_scenario("wired", {"stop_when_idle": True})
    result = run_one(scenario, mayfly.simulate.run.named("fifo")[0], flows)
    assert result.records["finish_s"].null_count() == 0
    assert result.counters["end_ns"] * 1e-9 == pytest.approx(result.records["finish_s"].max(), abs=1e-9)
