"""Web sessions."""

import numpy as np
import polars as pl
import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.simulate.run import workload
from mayfly.workload.lists import flow_list
from mayfly.workload.sources.web import Web, web_flows

HOSTS = ([1, 2, 3], [8, 9])


def drawn(web: Web, duration_s: float = 1e9, seed: int = 1) -> pl.DataFrame:
    return web_flows(web, duration_s, seed, 0, HOSTS, 1000)


def test_sessions_that_start_too_late_change_nothing():
    few, many = (drawn(Web(sessions=sessions, pages=3), 40.0) for sessions in (50, 5000))
    assert few.height > 20 and few.equals(many)


def test_a_page_waits_for_the_page_before_in_its_session_and_the_first_for_none():
    flows = drawn(Web(sessions=50, pages=5))
    waiting = flows.filter(pl.col("after").is_not_null())
    assert (waiting["after"] == waiting["stage"] - 1).all()
    firsts = flows.filter(pl.col("after").is_null())
    assert firsts["stage"].n_unique() == 50
    # A session keeps its client, a page its server.
    assert flows.group_by("stage").agg(pl.col("src").n_unique(), pl.col("dst").n_unique())["src"].max() == 1
    before = waiting.join(flows.unique("stage"), left_on="after", right_on="stage")
    assert (before["dst"] == before["dst_right"]).all()


def test_means_are_those_of_the_laws():
    flows = drawn(Web(sessions=1000, pages=20))
    pages = flows["stage"].n_unique()
    objects, starts = flows.group_by("stage").len()["len"], flows.filter(pl.col("after").is_null())
    # Exponential of mean m rounded up is geometric: mean 1 / (1 - exp(-1 / m)), deviation below it.
    page_mean, object_mean = 1 / (1 - np.exp(-1 / 20)), 1 / (1 - np.exp(-1 / 3))
    assert pages / 1000 == pytest.approx(page_mean, abs=4 * page_mean / np.sqrt(1000))
    assert objects.mean() == pytest.approx(object_mean, abs=4 * object_mean / np.sqrt(pages))
    session_starts = starts.group_by("stage").agg(pl.col("start_s").min())["start_s"].sort()
    assert session_starts.diff().drop_nulls().mean() == pytest.approx(8.0, abs=4 * 8 / np.sqrt(999))
    reads = flows.filter(pl.col("after").is_not_null()).group_by("stage").agg(pl.col("start_s").min())["start_s"]
    assert reads.mean() == pytest.approx(5.0, abs=4 * 5 / np.sqrt(len(reads)))
    # P(size <= 1) = 1 - (1 + 1 / 2.4)^-1.2.
    share = 1 - (1 + 1 / 2.4) ** -1.2
    assert (flows["size_bytes"] == 1000).mean() == pytest.approx(share, abs=4 * np.sqrt(0.25 / flows.height))


def test_a_longer_run_begins_with_the_shorter_one():
    short, long = drawn(Web(), 300.0), drawn(Web(), 900.0)
    assert 0 < short.height < long.height
    assert short.join(long, on=short.columns, how="anti", nulls_equal=True).height == 0


def test_the_open_loop_has_no_stages_and_ends_with_the_run():
    flows = drawn(Web(closed=False, request_bytes=1000), 500.0)
    assert flow_list(flows)["after"].null_count() == flows.height
    assert (flows["direction"] == "down").all()
    assert flows["start_s"].max() < 500.0


def test_a_request_goes_up_and_its_object_starts_when_it_is_over():
    flows = flow_list(drawn(Web(sessions=5, pages=3, request_bytes=400)))
    up, down = flows.filter(direction="up"), flows.filter(direction="down")
    assert up.height == down.height and (up["size_bytes"] == 400).all()
    both = down.join(up, left_on="after", right_on="stage", suffix="_up")
    assert both.height == down.height
    assert (both["src"] == both["dst_up"]).all() and (both["start_s"] == 0).all()


def test_two_entries_share_no_stage_and_no_draw():
    overrides = {"workload.web": [{"sessions": 3, "pages": 2}, {"sessions": 3, "pages": 2, "group": "b"}]}
    flows = workload(mayfly.load_scenario("wired", {"duration": "500s"}).override(workload={**_plain(overrides)}))
    stages = flows.group_by(pl.col("group").fill_null("")).agg(pl.col("stage").unique())
    first, second = (set(stage) for stage in stages["stage"].to_list())
    assert not first & second
    sizes = flows.group_by(pl.col("group").fill_null("")).agg(pl.col("size_bytes"))["size_bytes"].to_list()
    assert sizes[0] != sizes[1]


def _plain(overrides: dict) -> dict:
    return {name.removeprefix("workload."): value for name, value in overrides.items()}


def test_a_single_table_can_be_overridden_by_name():
    assert mayfly.load_scenario("web", {"workload.web.session_gap": "6s"}).workload.web[0].session_gap == 6.0
    with pytest.raises(
        MayflyError, match=r"unknown field workload.web.sesion_gap; did you mean workload.web.session_gap"
    ):
        mayfly.load_scenario("web", {"workload.web.sesion_gap": "6s"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sessions": 0}, "sessions = 0: must be from 1"),
        ({"pages": 0.0}, "pages = 0.0: must be above 0"),
        ({"page_gap_s": -1.0}, "page_gap_s = -1.0: must be 0 or more"),
        ({"sessions": 1_000_000}, "must be few enough for 10000000 objects"),
    ],
)
def test_laws_that_cannot_be_are_refused(values, message):
    with pytest.raises(MayflyError, match=message):
        Web(**values)


def test_sessions_run_under_every_discipline_from_the_same_draws():
    scenario = mayfly.load_scenario("web", {"duration": "200s"})
    records = mayfly.compare(scenario, "fifo,las").records
    sizes = {label: part.select("flow_id", "size_bytes") for (label,), part in records.group_by("discipline")}
    both = sizes["fifo"].join(sizes["las"], on="flow_id")
    assert both.height > 1000 and (both["size_bytes"] == both["size_bytes_right"]).all()
