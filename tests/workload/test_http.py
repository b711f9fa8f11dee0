"""HTTP pages as scripts."""

import polars as pl
import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.metrics.pages import page_rows
from mayfly.workload.http import FRAME_BYTES, Http, http_flows, page_scripts
from mayfly.workload.lists import flow_list
from mayfly.workload.scripts import parsed
from mayfly.workload.web import Web

SIZES = [1000, 2000, 3000, 40_000, 5]


def payload(scripts: list[str], direction: str) -> int:
    return sum(train.size_bytes for text in scripts for train in parsed(text) if train.direction == direction)


@pytest.mark.parametrize("connections", [1, 2, 4, 5, 9])
def test_every_object_is_asked_for_once_and_answered_whatever_the_connections(connections):
    scripts = page_scripts(Http(connections=connections), SIZES)
    assert len(scripts) == min(connections, len(SIZES))
    assert payload(scripts, "up") == 400 * len(SIZES) and payload(scripts, "down") == sum(SIZES)
    for text in scripts:
        assert [train.direction for train in parsed(text)[::2]] == ["up"] * (len(parsed(text)) // 2)


def test_multiplexed_answers_cost_a_header_per_frame():
    (script,) = page_scripts(Http(version="2"), [FRAME_BYTES, FRAME_BYTES + 1, 1])
    assert payload([script], "up") == 3 * 400
    assert payload([script], "down") == 2 * FRAME_BYTES + 2 + 4 * 9


def test_pages_of_both_versions_have_the_same_objects():
    first, second = (
        http_flows(Http(Web(sessions=5, pages=3, objects=9), version), 1e6, 1, 0, ([1], [8]), 1000)
        for version in ("1.1", "2")
    )
    assert first["stage"].unique().sort().equals(second["stage"].unique().sort())
    assert second.height == second["stage"].n_unique() < first.height
    requests = [payload(frame["script"].to_list(), "up") for frame in (first, second)]
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
        ({"version": "3"}, "version = '3': must be '1.1' or '2'"),
        ({"connections": 0}, "connections = 0: must be from 1 to 100"),
        ({"request_bytes": 0}, "request_bytes = 0: must be from 1"),
        ({"think_s": -1.0}, "think_s = -1.0: must be from 0"),
    ],
)
def test_what_no_server_does_is_refused(values, message):
    with pytest.raises(MayflyError, match=message):
        Http(**values)
