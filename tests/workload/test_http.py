"""HTTP pages as scripts."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mayfly
from mayfly.errors import MayflyError
from mayfly.metrics.trains import page_rows
from mayfly.scenario.scenario import scenario_of
from mayfly.workload.lists import flow_list
from mayfly.workload.scripts import Train, column, trains
from mayfly.workload.sources.http import FRAME_BYTES, FRAME_HEADER_BYTES, Http, frame_ends, http_flows, page_scripts
from mayfly.workload.sources.web import Web

SIZES = [1000, 2000, 3000, 40_000, 5]


def payload(scripts: list[list[Train]], direction: str) -> int:
    return sum(train.size_bytes for script in scripts for train in script if train.up == (direction == "up"))


@pytest.mark.parametrize("connections", [1, 2, 4, 5, 9])
def test_every_object_is_asked_for_once_and_answered_whatever_the_connections(connections):
    scripts = page_scripts(Http(connections=connections), SIZES)
    assert len(scripts) == min(connections, len(SIZES))
    assert payload(scripts, "up") == 400 * len(SIZES) and payload(scripts, "down") == sum(SIZES)
    for script in scripts:
        assert [train.up for train in script[::2]] == [True] * (len(script) // 2)


def test_multiplexed_answers_cost_a_header_per_frame():
    (script,) = page_scripts(Http(version="2"), [FRAME_BYTES, FRAME_BYTES + 1, 1])
    assert payload([script], "up") == 3 * 400
    assert payload([script], "down") == 2 * FRAME_BYTES + 2 + 4 * 9


@given(st.lists(st.integers(1, 5 * FRAME_BYTES), min_size=1, max_size=9))
def test_objects_end_where_frames_in_turn_end_them(sizes):
    left, sent, ends = dict(enumerate(sizes)), 0, {}
    while left:
        for place in list(left):
            frame = min(left[place], FRAME_BYTES)
            sent += frame + FRAME_HEADER_BYTES
            left[place] -= frame
            if left[place] == 0:
                ends[place] = sent
                del left[place]
    assert frame_ends(sizes) == [ends[place] for place in range(len(sizes))]


def test_objects_of_both_versions_are_told_beside_their_page():
    # Ten objects of a packet and one of 400 kB: with HTTP/2 the small ones come in the first round of frames.
    sizes = [400_000, *[1_000] * 10]
    for version, connections in (("1.1", 1), ("2", 1)):
        scripts = column(page_scripts(Http(version=version, connections=connections), sizes))
        flows = pl.DataFrame({"start_s": 1.0, "script": scripts, "stage": 0})
        scenario = mayfly.load_scenario("wired", {"duration": "60s"})
        (row,) = mayfly.compare(scenario, "fifo", flows).summary["disciplines"][0]["pages"]
        objects = row["objects"]
        assert (row["pages"], objects["count"], objects["unfinished"]) == (1, 11, 0)
        assert objects["p50_s"] <= objects["p95_s"] <= row["mean_s"]
        # In HTTP/1.1 all wait for the large one, which takes 0.33 s on the wire.
        assert (objects["p50_s"] > 0.33) == (version == "1.1")


def test_an_answer_under_way_at_the_end_of_the_run_has_parts_that_came_and_parts_that_did_not():
    flows = pl.DataFrame({"start_s": [0.0], "script": ["up 10 | down 3000000 parts 3000000,10000"], "stage": 0})
    result = mayfly.compare(mayfly.load_scenario("wired", {"duration": "1s"}), "fifo", flows)
    told = {row["part"]: row["end_s"] for row in result.trains.filter(pl.col("train") == 1).to_dicts()}
    assert told[None] is None and told[1] is None and 0 < told[2] < 0.1
    objects = result.summary["disciplines"][0]["pages"][0]["objects"]
    assert (objects["count"], objects["unfinished"]) == (2, 1)


def test_pages_of_both_versions_have_the_same_objects():
    first, second = (
        http_flows(Http(Web(sessions=5, pages=3, objects=9), version), 1e6, 1, 0, ([1], [8]), 1000)
        for version in ("1.1", "2")
    )
    assert first["stage"].unique().sort().equals(second["stage"].unique().sort())
    assert second.height == second["stage"].n_unique() < first.height
    requests = [payload([*map(trains, frame["script"].to_list())], "up") for frame in (first, second)]
    assert requests[0] == requests[1]
    # Connections of a page start together, when the page before was read.
    assert first.group_by("stage").agg(pl.col("start_s", "after").n_unique())["start_s"].max() == 1
    assert flow_list(first)["opened_by"].unique().to_list() == ["receiver"]


def test_a_page_alone_takes_the_round_trips_of_its_scripts():
    # 3 ms one way: set-up, request, think time, answer; FIN and its acknowledgements a round trip more.
    flows = flow_list(
        pl.DataFrame({"start_s": [0.0, 0.0], "script": ["up 400 | wait 20ms | down 1000"] * 2, "stage": 0})
    )
    rows = page_rows(mayfly.run("wired", "fifo", flows).records)
    assert [row["pages"] for row in rows] == [1]
    assert rows[0]["mean_s"] == pytest.approx(2 * 0.006 + 0.02 + 0.006, abs=0.004)


def test_one_connection_at_a_time_is_slower_than_six():
    def mean_s(connections: int) -> float:
        http = Http(Web(sessions=3, pages=5, objects=20), connections=connections)
        flows = flow_list(http_flows(http, 1e6, 1, 0, ([1], [8]), 1460))
        scenario = mayfly.load_scenario("wired", {"duration": "3000s", "stop_when_idle": True})
        return page_rows(mayfly.run(scenario, "fifo", flows).records)[0]["mean_s"]

    assert mean_s(6) < 0.7 * mean_s(1)


def test_the_ready_scenario_tells_load_times_by_group():
    result = mayfly.compare(mayfly.load_scenario("pages", {"duration": "40s"}), "fifo,las")
    for row in result.summary["disciplines"]:
        assert [group["group"] for group in row["pages"]] == ["http/1.1", "http/2"]
        assert all(group["p50_s"] > 0.05 for group in row["pages"])
    fifo, las = (row["pages"] for row in result.summary["disciplines"])
    assert all(b["p50_s"] < a["p50_s"] for a, b in zip(fifo, las, strict=True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"version": "0.9"}, "version = '0.9': must be '1.1', '2' or '3'"),
        ({"connections": 0}, "connections = 0: must be from 1 to 100"),
        ({"request_bytes": 0}, "request_bytes = 0: must be from 1"),
        ({"think_s": -1.0}, "think_s = -1.0: must be from 0"),
    ],
)
def test_what_no_server_does_is_refused(values, message):
    with pytest.raises(MayflyError, match=message):
        Http(**values)


def test_every_object_of_http_3_has_a_stream_for_its_request_and_its_answer():
    (script,) = page_scripts(Http(version="3"), SIZES)
    requests, answers = script
    assert (requests.streams, answers.streams, answers.wait_ns) == (True, True, 20_000_000)
    assert requests.parts == tuple(400 * count for count in range(1, 6))
    assert answers.parts[-1] == answers.size_bytes == sum(SIZES) + 5 * len(SIZES)


def test_http_3_needs_quic():
    given = {"duration": "9s", "workload": {"http": [{"version": "3", "sessions": 1}]}}
    with pytest.raises(MayflyError, match=r"^x: workload.http.version = '3': must have tcp.recovery = quic, as preset"):
        scenario_of(given, "x")
    given["workload"]["http"][0]["transport"] = "fast"
    for preset in ("quic", "aioquic", "ngtcp2", "quic-go"):
        own = {"transports": {"fast": {"preset": preset}}}
        assert scenario_of({**given, **own}, "x").workload.http[0].version == "3"
