"""Scripts of connections."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import text_of, trains_of

import mayfly
from mayfly.errors import MayflyError
from mayfly.workload.lists import flow_list, read_flows, write_flows
from mayfly.workload.scripts import Train, column

PAGE = "up 400 | wait 20ms | down 14600 pace 1ms | wait 2s | up 300 | down 5"

trains = st.lists(
    st.builds(
        Train,
        st.booleans(),
        st.integers(1, 2**30),
        st.integers(0, 86_400 * 10**9),
        st.integers(0, 10**9),
    ).flatmap(
        lambda train: st.lists(st.integers(1, train.size_bytes), max_size=4).map(
            lambda parts: replace(train, parts=tuple(parts))
        )
    ),
    min_size=1,
    max_size=9,
)


@given(trains)
def test_what_is_written_is_read_as_it_was(script):
    assert trains_of(text_of(script)) == script


def test_times_take_units_and_decimals():
    script = trains_of("  up 1|wait 1.5ms |down  2 pace 250ns| wait 0.25 s|up 3  ")
    assert [(train.wait_ns, train.pace_ns) for train in script] == [(0, 0), (1_500_000, 250), (250_000_000, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'': must be `up BYTES"),
        ("up", "'up': must be `up BYTES"),
        ("up 1 |", "'': must be `up BYTES"),
        ("up 1.5", "'up 1.5': must be `up BYTES"),
        ("up 1 | wait 5", "'wait 5': must be `up BYTES"),
        ("up 1 | wait 5ms", "'wait 5ms': must come before a train"),
        ("up 1 | wait 5ms | wait 1s | up 1", "'wait 1s': must not follow another wait"),
        ("up 0", "'up 0': must be from 1 to 2"),
        ("up 1099511627777", "must be from 1 to 2"),
        ("up 1099511627776 | up 1", "must be at most 2.40 bytes in all"),
        ("up 1 | wait 86401s | up 1", "'wait 86401s': must be at most a day"),
        ("up 9 parts 10", "'up 9 parts 10': part 10: must be from 1 to 9 bytes"),
        ("up 9 parts 3,0", "'up 9 parts 3,0': part 0: must be from 1 to 9 bytes"),
        ("up 9 parts", "'up 9 parts': must be `up BYTES"),
        ("up 1 pace 2h", "'up 1 pace 2h': must be `up BYTES"),
    ],
)
def test_what_is_none_is_refused(text, message):
    with pytest.raises(MayflyError, match=message) as refused:
        trains_of(text)
    assert "\n" not in str(refused.value)


def test_trains_that_are_no_text_are_checked_as_text_is():
    sizes = pl.DataFrame({"start_s": [0.0, 0.0], "size_bytes": [9, None]})
    for train, told in (
        (Train(True, 0), "flow list: row 2: script: 'up 0': must be from 1 to 2^40 bytes"),
        (Train(False, 5, wait_ns=90_000 * 10**9), "'wait 90000000000000ns': must be at most a day"),
        (Train(False, 5, parts=(6,)), "'down 5 parts 6': part 6: must be from 1 to 5 bytes"),
        (Train(False, -5), "script: field size_bytes is -5 in a row: must be at least 0"),
    ):
        with pytest.raises(MayflyError) as caught:
            flow_list(sizes.with_columns(column([None, [train]])))
        assert told in str(caught.value) and "\n" not in str(caught.value)
    lists = pl.DataFrame({"start_s": [0.0], "script": [[{"size_bytes": 5}]]})
    with pytest.raises(MayflyError, match="flow list: script: field up is missing"):
        flow_list(lists)
    few = lists.with_columns(script=pl.Series([[{"up": True, "size_bytes": 5}]]))
    assert flow_list(few).equals(flow_list(lists.with_columns(script=pl.lit("up 5"))))
    with pytest.raises(MayflyError, match="row 1: script = up 5: must be empty unless protocol is tcp"):
        flow_list(few.with_columns(protocol=pl.lit("udp"), rate_bps=1e6))


def test_a_script_fills_in_size_and_opener():
    flows = flow_list(
        pl.DataFrame({"start_s": [0.0, 1.0, 2.0], "size_bytes": [None, None, 7], "script": [PAGE, "down 9", None]})
    )
    assert flows["size_bytes"].to_list() == [400 + 14_600 + 300 + 5, 9, 7]
    assert flows["opened_by"].to_list() == ["receiver", "sender", "sender"]
    up = flow_list(pl.DataFrame({"start_s": [0.0], "script": [PAGE], "direction": ["up"]}))
    assert up["opened_by"].to_list() == ["sender"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"size_bytes": [5]}, "row 1: size_bytes = 5: must be the payload of its script, or empty"),
        ({"opened_by": ["sender"]}, "row 1: opened_by = sender: must be receiver or empty, since the receiver"),
        ({"protocol": ["udp"], "rate_bps": [1e6]}, "must be empty unless protocol is tcp"),
        ({"script": ["up 1 | sleep 1s"]}, "flow list: row 1: script: 'sleep 1s': must be"),
    ],
)
def test_a_flow_that_disagrees_with_its_script_is_refused(columns, message):
    with pytest.raises(MayflyError, match=message):
        flow_list(pl.DataFrame({"start_s": [0.0], "script": [PAGE]} | columns))


def test_the_server_greets_first_when_the_client_has_connected():
    # 3 ms one way: the greeting leaves the server with the last packet of the handshake, three ways after the SYN.
    talk = {"start_s": [0.0], "script": ["down 80 | up 40 | down 60"]}
    for opened_by, ways in (("receiver", 3), ("sender", 2), (None, 2)):
        flows = pl.DataFrame(talk | {"opened_by": [opened_by]}, schema_overrides={"opened_by": pl.String})
        starts = mayfly.run("wired", "fifo", flows).trains["start_s"].to_list()
        assert starts[0] == pytest.approx(ways * 0.003, abs=3e-4)
        assert len(starts) == 3


@pytest.mark.parametrize("name", ["flows.csv", "flows.parquet"])
def test_scripts_survive_a_file(tmp_path, name):
    flows = flow_list(pl.DataFrame({"start_s": [0.0, 1.0], "size_bytes": [None, 7], "script": [PAGE, None]}))
    write_flows(flows, tmp_path / name)
    assert read_flows(tmp_path / name).equals(flows)


def test_a_run_tells_the_trains_and_the_bytes_both_ways(tmp_path):
    flows = pl.DataFrame({"start_s": [0.5, 0.5], "size_packets": [None, 400], "script": [PAGE, None]})
    result = mayfly.run(mayfly.load_scenario("wired", {"duration": "20s"}), "fifo", flows)
    record = result.records.row(0, named=True)
    assert (record["delivered_bytes"], record["back_bytes"]) == (15_305, 700)
    assert result.records["slowdown"].is_null().to_list() == [True, False]
    told = result.trains.sort("train")
    assert told["direction"].to_list() == ["up", "down", "up", "down"]
    starts, ends = told["start_s"].to_list(), told["end_s"].to_list()
    # The path of 3 ms one way: the connection takes a round trip, the answers come after the think times.
    assert starts[0] == pytest.approx(0.5 + 0.006, abs=2e-4)
    assert starts[1] - ends[0] == pytest.approx(0.02, abs=1e-9)
    assert starts[2] - ends[1] == pytest.approx(2.0, abs=1e-9)
    assert ends[1] - starts[1] >= 9 * 0.001
    files = result.write(tmp_path, report=False)
    assert pl.read_parquet(files["trains"]).equals(result.trains)


def test_disciplines_are_compared_on_the_same_script():
    flows = pl.DataFrame({"start_s": [1.0, 0.0], "size_packets": [None, 9000], "script": [PAGE, None]})
    result = mayfly.compare(mayfly.load_scenario("wired", {"duration": "30s"}), "fifo,las,lasack", flows)
    last = result.trains.filter(pl.col("train") == 3).select("discipline", "end_s").rows()
    end_s = dict(last)
    assert len(end_s) == 3 and end_s["las"] < end_s["fifo"]


def test_a_page_is_a_stage_of_scripts():
    scripts = [PAGE, PAGE, "up 1 | down 1"]
    flows = pl.DataFrame(
        {"start_s": [0.0, 0.0, 1.0], "script": scripts, "stage": [0, 0, None], "after": [None, None, 0]}
    )
    records = mayfly.run("wired", "fifo", flows).records.sort("flow_id")
    assert records["start_s"][2] == pytest.approx(records["finish_s"][:2].max() + 1.0, abs=1e-9)


def test_structs_without_a_direction_and_lists_of_nothing_are_refused():
    for rows, match in (([[{"up": None, "size_bytes": 4}]], "up is null"), ([[]], "script")):
        with pytest.raises(MayflyError, match=match):
            flow_list(pl.DataFrame({"start_s": [0.0], "script": rows}))
