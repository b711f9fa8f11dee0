"""The warm-up is left out of counters and shares, and out of nothing else."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload

COUNTED = ("arrivals", "drops", "sent", "sent_bytes", "marks", "reverse_sent", "reverse_sent_bytes")


def crowded(**fields):
    cbr = [{"rate": "6mbit", "packet": 1000, "group": "cbr", "start": "1s"}]
    load = {"workload.load": "8mbit", "workload.group": "tcp", "workload.cbr": cbr}
    return load_scenario("wired", load | {"duration": "20s", "network.buffer": 30} | fields)


def ran(**fields):
    scenario = crowded(**fields)
    return run_one(scenario, parse("red(ecn=on)"), workload(scenario))


def test_classes_add_up_to_the_counters():
    result = ran()
    assert [row["group"] for row in result.classes] == ["cbr", "tcp"]
    for name in ("arrivals", "drops", "sent", "sent_bytes"):
        assert sum(row[name] for row in result.classes) == result.counters[name]
    cbr, _ = result.classes
    assert cbr["drops"] == result.counters["udp_lost"] > 0
    # One packet is in transmission or waiting at most for each that is neither sent nor dropped.
    assert 0 <= cbr["arrivals"] - cbr["sent"] - cbr["drops"] <= 30


def test_a_warm_up_splits_the_counts_of_the_same_run():
    whole, late, cut = ran(), ran(warm_up="12s"), ran(duration="12s")
    for name in COUNTED:
        assert whole.counters[name] == cut.counters[name] + late.counters[name], name
    weighted = (cut.counters["queue_mean_packets"] * 12 + late.counters["queue_mean_packets"] * 8) / 20
    assert whole.counters["queue_mean_packets"] == pytest.approx(weighted, rel=1e-9)
    assert late.counters["throughput_down_mbps"] == pytest.approx(late.counters["sent_bytes"] * 8 / 8e6)
    for before, after, both in zip(cut.classes, late.classes, whole.classes, strict=True):
        for name in ("arrivals", "drops", "marks", "sent", "sent_bytes"):
            assert before[name] + after[name] == both[name]
    assert late.records.equals(whole.records)


def test_marks_are_counted_by_class():
    result = ran(**{"tcp.ecn": True})
    cbr, tcp = result.classes
    assert cbr["marks"] == 0
    # A packet that was marked on its way in may wait at the end.
    assert 0 < tcp["marks"] <= result.counters["marks"] <= tcp["marks"] + 30


def test_flows_without_groups_have_no_classes():
    scenario = load_scenario("wired", {"duration": "5s", "workload.load": "2mbit"})
    assert run_one(scenario, parse("fifo"), workload(scenario)).classes == []


def test_a_run_that_ends_before_the_warm_up_counts_everything():
    flows = pl.DataFrame({"start_s": [0.0, 0.1], "size_packets": [100, 10], "group": ["a", "b"]})
    whole, never = (compare(crowded(stop_when_idle=True, warm_up=warm_up), "fifo", flows) for warm_up in ("0s", "15s"))
    rows = [dict(result.summary["disciplines"][0], cpu_s=0) for result in (whole, never)]
    assert rows[0] == rows[1]
    assert rows[0]["utilisation"] > 0


def test_a_warm_up_to_the_end_is_refused():
    with pytest.raises(MayflyError, match=r"warm_up = 20.0: must be below the duration, 20.0 s"):
        crowded(warm_up="20s")


def test_the_summary_has_a_row_per_class():
    summary = compare(crowded(replications=2), "fifo,red").summary
    for row in summary["disciplines"]:
        assert sum(group["share"] for group in row["classes"]) == pytest.approx(1)
        assert [group["group"] for group in row["classes"]] == ["cbr", "tcp"]
