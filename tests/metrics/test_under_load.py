"""What is measured while the link is busy, which transfers are long, and what UDP streams lose."""

import json

import polars as pl
import pytest
from scripted import in_memory

from mayfly import _native
from mayfly.comparison.comparison import Rows, compare
from mayfly.comparison.recommendation import criteria_values, recommendation
from mayfly.comparison.session_bootstrap import hour_rule, put_intervals, values_of_hours
from mayfly.comparison.user_metrics import BY_ID, load_sentence, measured
from mayfly.discipline_registry import parse
from mayfly.metrics.users import Rule, least_long_bytes, listed_sizes
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one
from mayfly.workload.lists import flow_list

PROBED = {
    "tcp.preset": "linux",
    "probes.ping": True,
    "probes.call": True,
    "network.rate": "10mbit",
    "network.buffer": 300,
    "network.reverse_discipline": "same",
}


def busy_for_a_moment():
    """A minute with two transfers of 6 MB: a tenth of the time of a link of 10 Mbit/s, and four quiet ones before."""
    rows = {"start_s": [0.0, 20.0, 40.0], "size_bytes": [3_000, 4_000_000, 4_000_000]}
    return pl.DataFrame(rows).with_columns(direction=pl.Series(["down", "down", "up"]))


@pytest.fixture(scope="module")
def rarely_busy():
    scenario = load_scenario("wired", PROBED | {"duration": "240s", "probes.until": "240s"})
    return compare(scenario, "fifo,fq_codel", busy_for_a_moment()).summary


def test_a_link_that_is_rarely_full_shows_the_wait_of_those_who_use_it_then(rarely_busy):
    fifo, fq_codel = (row["users"] for row in rarely_busy["disciplines"])
    packet_ms = 1.2
    # A window without losses fills the buffer of 300 packets for a while.
    assert fifo["ping"]["p95_ms"] > 100 * packet_ms and fq_codel["ping"]["p95_ms"] < 30
    for users in (fifo, fq_codel):
        assert 0.01 < users["ping"]["busy_share"] < 0.05
        # Over the whole time nobody would see it.
        assert users["ping"]["p95_all_ms"] < 10
        assert users["call"]["while_busy"] and users["call"]["mos_all"] > 4.3
    assert fifo["call"]["mos"] < fq_codel["call"]["mos"] - 0.05
    assert fifo["ping"]["grade"] in ("C", "D") and fq_codel["ping"]["grade"] in ("A+", "A")


def test_a_link_full_for_four_per_cent_of_an_hour_is_not_told_to_keep_its_fifo():
    """Before: a ping of the whole hour, grade A+, "keep what is there", while packets wait 80 ms in full seconds."""
    starts = [60.0 + 80.0 * place for place in range(40)]
    flows = pl.DataFrame({"start_s": starts, "size_bytes": [4_000_000] * len(starts)})
    fields = PROBED | {"duration": "3600s", "probes.until": "3600s", "probes.call": False}
    hour = compare(load_scenario("wired", fields), "fifo,fq_codel", flows).summary
    fifo, fq_codel = (row["users"]["ping"] for row in hour["disciplines"])
    assert 0.03 < fifo["busy_share"] < 0.05 and fifo["p95_all_ms"] < fifo["idle_ms"] + 5
    assert fifo["grade"] in ("C", "D") and fq_codel["grade"] in ("A+", "A")
    found = recommendation({**hour, "command": "whatif"})
    assert (found["kind"], found["discipline"]) == ("use", "fq_codel")
    # The first sentence says of how much of the time its ping is.
    share = f"{100 * fifo['busy_share']:.1f}".rstrip("0").rstrip(".")
    assert f"ping under load ({share} % of the time) " in found["sentence"].replace("Ping", "ping")


def test_the_share_of_the_time_is_said(rarely_busy):
    rows = rarely_busy["disciplines"]
    share = 100 * rows[0]["users"]["ping"]["busy_share"]
    assert load_sentence(rows) == (
        f"The ping and the call are taken while the link is busy, {share:.1f} % of the time under fifo: in seconds of "
        "which it sends for 80 % or more, in either direction."
    )
    never = {"users": {"ping": {"while_busy": False, "busy_share": 0.0}, "call": {"from": "capture"}}}
    rows = [{"id": "fifo", "label": "fifo"} | never]
    assert load_sentence(rows) == (
        "The link is in no second busy for 80 % of it: the ping is taken over the whole time."
    )
    assert load_sentence([{"id": "fifo", "label": "fifo", "users": None}]) is None


class Work:
    """What all disciplines have in common, as far as their rows depend on it."""

    rule = None
    span = None


class Run:
    def __init__(self, label):
        self.discipline = type("Named", (), {"label": label})


def test_disciplines_are_compared_over_the_same_kind_of_time():
    def row(work, own):
        label = own[0].discipline.label
        busy = label == "fifo" if work.rule is None or work.rule.while_busy is None else work.rule.while_busy
        return {"label": label, "users": {"ping": {"while_busy": busy}}}

    found = Rows(None, row).all(Work(), [Run("fifo"), Run("pie")])
    assert [row["users"]["ping"]["while_busy"] for row in found] == [False, False]
    found = Rows(None, row).all(Work(), [Run("fifo")])
    assert found[0]["users"]["ping"]["while_busy"]


def tcp(sizes, **columns):
    frame = pl.DataFrame({"size_bytes": sizes, "response_time_s": [size * 8e-7 for size in sizes]})
    return frame.with_columns(
        flow_id=pl.int_range(pl.len()), replication=pl.lit(0), protocol=pl.lit("tcp"), direction=pl.lit("down"),
        start_s=pl.lit(0.0), opened_by=pl.lit("receiver"), **columns,
    )  # fmt: skip


def observed(sizes):
    """What a run with these transfers has for its users to feel."""
    flows = flow_list(pl.DataFrame({"start_s": [0.1 * row for row in range(len(sizes))], "size_bytes": sizes}))
    return run_one(load_scenario("wired", {"duration": "60s"}), parse("fifo"), flows).observed


def figures(run, rule):
    decided = (rule.above, rule.least_bytes, rule.while_busy)
    return json.loads(_native.users_of_runs([run], None, (0.0, 60.0), *decided))


def long_of(run, rule):
    return figures(run, rule)["long"]


def test_an_hour_without_long_transfers_has_no_figure_of_them():
    capture = tcp([20_000] * 99 + [2_000_000])
    rows = [{"users": {"ping": {"while_busy": True}}}]
    rule = hour_rule(capture, rows)
    assert (rule.above, rule.while_busy) == (True, True)
    # Each alone, this hour took its largest hundredth, 20 kB, for long.
    hour = observed([20_000] * 100)
    assert long_of(hour, rule) is None and long_of(hour, Rule())["flows"] == 1
    assert long_of(observed([20_000] * 99 + [2_000_000]), rule)["flows"] == 1


def test_without_long_ones_the_size_of_the_largest_hundredth_is_that_of_the_capture():
    capture = tcp(list(range(1000, 1200)))
    rule = hour_rule(capture, [{"users": None}])
    assert (rule.above, rule.least_bytes, rule.while_busy) == (False, 1198, False)
    assert long_of(observed([1197, 1198, 1500, 900]), rule)["flows"] == 2
    assert long_of(observed([1000] * 200), rule) is None


def test_the_list_says_which_transfers_there_are_before_any_has_begun():
    flows = tcp([5_000, 3_000_000]).with_columns(script=in_memory("up 400 | wait 2s | down 1500000", None))
    assert sorted(listed_sizes(flows)) == [1_500_000, 3_000_000]
    assert least_long_bytes(flows) == 3_000_000 and least_long_bytes(flows.head(0)) is None
    # The answer above 1 MB never began: its exchange is a long one that did not finish.
    script = pl.DataFrame({"start_s": [0.0], "script": ["up 400 | wait 2s | down 1500000"], "rtt_s": [0.02]})
    run = run_one(load_scenario("wired", {"duration": "1s"}), parse("fifo"), flow_list(script))
    long = long_of(run.observed, Rule())
    assert (long["flows"], long["unfinished"]) == (1, 1) and figures(run.observed, Rule())["short"] is None


def hour(long_s, ping_ms=20.0):
    """A row of a discipline in a resampled hour."""
    long = None if long_s is None else {"flows": 3, "p50_s": long_s, "p95_s": 2 * long_s, "p50_ci95": None}
    ping = None if ping_ms is None else {"probes": 9, "p95_ms": ping_ms, "p95_ci95": None}
    means = {name: {"mean_s": 1.0, "ci95": None} for name in ("short", "long")}
    return (
        means
        | {"id": "fifo", "label": "fifo"}
        | {"users": {"long": long, "ping": ping}, "flows_completed": 9, "flows_unfinished": 0}
    )


def test_intervals_are_those_of_the_hours_that_have_the_figure():
    hours = {"fifo": [hour(2.0), hour(None), hour(3.0), hour(2.5, None)], "pie": [hour(4.0)] * 3 + [hour(None)]}
    values = values_of_hours({label: criteria_values(rows) for label, rows in hours.items()})
    # Hours that one of the two lacks count for neither, so that places are those of the same hour.
    assert values["fifo"]["long_p50"] == [2.0, 3.0] and values["pie"]["long_p50"] == [4.0, 4.0]
    assert values["fifo"]["ping_p95"] == [20.0] * 3
    row = hour(2.2)
    put_intervals(row, hours["fifo"], values["fifo"])
    low, high = row["users"]["long"]["p50_ci95"]
    assert 0 < low < 2.2 < high and row["resampled"] == values["fifo"]
    few = values_of_hours({"fifo": criteria_values([hour(2.0), hour(None)])})
    assert "long_p50" not in few["fifo"] and len(few["fifo"]["ping_p95"]) == 2


def test_the_loss_of_streams_is_a_measure_of_users():
    measure = BY_ID["stream_missing"]
    row = {"users": {"streams": {"count": 2, "missing": 0.02, "missing_worst": 0.03, "missing_ci95": [0.01, 0.04]}}}
    found = measured(row, measure)
    assert (found.value, found.ci95, measure.unit, measure.phrase) == (
        0.02, [0.01, 0.04], "share", "share lost or late of UDP streams"
    )  # fmt: skip
    assert measured({"users": {"streams": None}}, measure) is None


def test_a_rule_of_nothing_is_decided_by_the_run():
    assert Rule() == Rule(None, None, None)
