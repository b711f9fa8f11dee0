"""Users who wait: which connection of a capture waits for which, and what a replay then does."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import text_of, trains_of

import mayfly
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.workload.lists import flow_list
from mayfly.workload.replayed import LASTED, closed

LONGEST_THINK_S, LONGEST_TASK_S = 60.0, 30.0
"""As ``crates/replay/src/closed.rs`` has them."""


def listed(*rows):
    columns = ("start_s", LASTED, "src")
    frame = pl.DataFrame(list(rows), schema={"start_s": pl.Float64, LASTED: pl.Float64, "src": pl.String}, orient="row")
    return frame.select(*columns).with_columns(dst=pl.lit("server"), opened_by=pl.lit("sender"))


def test_what_starts_after_the_last_one_waits_for_it():
    found = closed(listed((0.0, 1.0, "a"), (3.0, 1.0, "a"), (5.0, 1.0, "b"), (4.5, 0.5, "a")))
    assert found.select("start_s", "stage", "after").rows() == [
        (0.0, 0, None),
        (2.0, 1, 0),
        (5.0, 3, None),
        (0.5, 2, 1),
    ]
    assert LASTED not in found.columns


def test_connections_that_overlap_belong_together():
    found = closed(listed((0.0, 1.0, "a"), (1.5, 2.0, "a"), (1.6, 0.1, "a"), (4.0, 1.0, "a")))
    assert found["stage"].to_list() == [0, 1, 1, 2] and found["after"].to_list() == [None, 0, 0, 1]
    # The last of the group ends at 3.5 s.
    assert found["start_s"].to_list() == pytest.approx([0.0, 0.5, 0.6, 0.5])


def test_nobody_waits_for_the_background_or_for_ever():
    late, long = LONGEST_THINK_S + 1.5, LONGEST_TASK_S + 1.0
    found = closed(listed((0.0, 1.0, "a"), (0.5, long, "a"), (late + 1.0, 1.0, "a"), (late + 3.0, None, "a")))
    assert found["after"].to_list() == [None, None, None, None]
    assert found["stage"].to_list() == [0, None, 1, None]
    assert found["start_s"].to_list() == [0.0, 0.5, late + 1.0, late + 3.0]


def test_a_list_without_that_column_stays_as_it_is():
    flows = listed((0.0, 1.0, "a")).drop(LASTED)
    assert closed(flows) is flows


@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 40), st.sampled_from("ab")), min_size=1, max_size=30))
def test_times_add_up_to_those_of_the_capture(rows):
    flows = listed(*rows)
    found = closed(flows).with_columns(begun=flows["start_s"], ends=flows["start_s"] + flows[LASTED])
    over = dict(found.filter(pl.col("stage").is_not_null()).group_by("stage").agg(pl.col("ends").max()).iter_rows())
    for begun, start, after in found.select("begun", "start_s", "after").iter_rows():
        assert start >= 0
        assert start + (0.0 if after is None else over[after]) == pytest.approx(begun, abs=1e-9)


def flows_of(script, *, done):
    return flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 0.5],
                "script": [script + (" | done" if done else ""), "up 400 | down 400"],
                "stage": [0, 1],
                "after": pl.Series([None, 0], dtype=pl.Int64),
                "rtt_s": [0.1, 0.1],
                "direction": ["up", "up"],
            }
        )
    )


@pytest.mark.parametrize("done", [True, False])
def test_who_waits_for_a_script_that_is_done_waits_for_its_last_train(done):
    scenario = load_scenario("whatif", {"network.rate": "100mbit", "network.buffer": 1000})
    result = mayfly.run(scenario, "fifo", flows_of("up 400 | down 14480", done=done))
    last_s = result.trains.filter(flow_id=0)["end_s"].max()
    first, second = result.records.sort("flow_id").iter_rows(named=True)
    # Closing takes the FIN of the client half a round trip to the server, and half a one back.
    over_s = last_s if done else first["finish_s"]
    assert first["finish_s"] > last_s + 0.09
    assert second["start_s"] == pytest.approx(over_s + 0.5, abs=1e-6)


def test_a_script_that_is_done_is_written_as_it_is_read():
    text = "up 400 | wait 20ms | down 14600 | done"
    trains = trains_of(text)
    assert [train.done for train in trains] == [False, True] and text_of(trains) == text
    with pytest.raises(MayflyError, match="'done': must be"):
        trains_of("done")
    with pytest.raises(MayflyError, match="'done': must be"):
        trains_of("up 1 | done | down 1")


def test_a_stage_is_told_once_when_a_done_script_gives_up():
    """A connection that never comes up ends its stage when it gives up."""
    scenario = load_scenario(
        "whatif",
        {"network.rate": "10mbit", "network.buffer": 1, "network.loss": 0.9, "duration": "400s", "tcp.retries": 2},
    )
    result = mayfly.run(scenario, "fifo", flows_of("up 40000 | down 4000", done=True))
    assert np.isfinite(result.records.sort("flow_id")["start_s"].to_numpy()[0])
