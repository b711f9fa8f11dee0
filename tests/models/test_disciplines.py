"""Policies that stand for disciplines, and what they expect beside a comparison."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

import mayfly
from mayfly.models.queue import disciplines
from mayfly.models.queue.disciplines import standing_for
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.policies import POLICIES, Parameter, Policy

LINK = Link(10e6, 100.0)


def row(name, **options):
    family = next(known["family"] for known in mayfly.disciplines() if known["id"] == name)
    return {"id": name, "family": family, "options": options}


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("fifo", "ps"),
        ("scfq", "ps"),
        ("drr", "ps"),
        ("fq_codel", "ps"),
        ("las", "las"),
        ("codel", None),
        ("lars", None),
    ],
)
def test_a_discipline_has_the_policy_that_does_the_same_to_flows(name, policy):
    found = standing_for(row(name), LINK)
    assert (found and found.policy.id) == policy


def test_every_policy_with_a_discipline_stands_for_it():
    known = {one["id"] for one in mayfly.disciplines()}
    for policy in POLICIES.values():
        if policy.discipline:
            assert policy.discipline in known
            assert standing_for(row(policy.discipline), LINK) is not None


@pytest.mark.parametrize("threshold", [1, 1460, 1461, 30000, 100_000])
def test_a_threshold_lets_through_the_packets_that_begin_below_it(monkeypatch, threshold):
    two = Policy("two", "two levels", "las.response", (Parameter("threshold", "end of the first level"),))
    monkeypatch.setattr(disciplines, "POLICIES", {"two": replace(two, discipline="run2c")})
    found = standing_for(row("run2c", threshold=str(threshold)), LINK)
    # By the sequence number of its first byte, as the discipline has it.
    high = sum(1 for packet in range(1000) if packet * LINK.mss < threshold)
    assert found.parameters == {"threshold": LINK.wire_bytes(high)}


def test_several_thresholds_are_those_of_the_discipline_or_its_defaults(monkeypatch):
    levels = Policy("n", "levels", "las.response", (Parameter("threshold", "ends", several=True),), discipline="pias")
    monkeypatch.setattr(disciplines, "POLICIES", {"n": levels})
    packets = [7, 67, 667]
    assert standing_for(row("pias"), LINK).parameters["threshold"].tolist() == list(map(LINK.wire_bytes, packets))
    given = standing_for(row("pias", thresholds="3000:6000"), LINK).parameters["threshold"]
    assert given.tolist() == [LINK.wire_bytes(2), LINK.wire_bytes(4)]


def test_what_the_other_direction_adds_comes_from_the_flows(monkeypatch):
    both = (Parameter("uploads", "per download"), Parameter("ack", "bytes per byte"))
    policies = {"both": Policy("both", "both ways", "las.response", both, discipline="lasack")}
    monkeypatch.setattr(disciplines, "POLICIES", policies)
    seen = []
    monkeypatch.setattr(disciplines, "_beside", lambda records, standing, *_: seen.append(standing) or {"by_size": []})
    flows = pl.DataFrame(
        {"start_s": [0.0, 1.0, 2.0, 3.0], "size_packets": [10, 9, 9, 9], "direction": ["up", "down", "down", "down"]}
    )
    scenario = mayfly.load_scenario("wired", {"tcp.delayed_ack": "0s"})
    mayfly.compare(scenario, "lasack", flows=flows).with_models()
    mayfly.compare("wired", "lasack", flows=flows).with_models()
    assert [standing.parameters for standing in seen] == [
        {"uploads": pytest.approx(1 / 3), "ack": pytest.approx(40 / 1460)},
        {"uploads": pytest.approx(1 / 3), "ack": pytest.approx(40 / 2920)},
    ]


def test_what_a_model_refuses_is_told_and_the_others_stay(monkeypatch):
    two = Policy("two", "two levels", "las.response", (Parameter("threshold", "end of the first level", high=100.0),))
    rows = {"two": replace(two, discipline="run2c"), "las": POLICIES["las"], "ps": POLICIES["ps"]}
    monkeypatch.setattr(disciplines, "POLICIES", rows)
    flows = pl.DataFrame({"start_s": [0.0, 1.0], "size_packets": [10, 9]})
    summary = mayfly.compare("wired", "run2c,las", flows=flows).with_models().summary
    assert list(summary["models"]) == ["las"]
    assert summary["model_queue"]["notes"] == [
        "no model: run2c",
        "run2c: threshold = 31660: must be above 0, at most 100",
    ]


@pytest.fixture(scope="module")
def result():
    scenario = mayfly.load_scenario("wired", {"duration": "30s", "replications": 2})
    return mayfly.compare(scenario, "fifo,las,codel")


def test_a_simulation_that_is_the_model_has_no_error(result):
    records = result.records
    wire = pl.col("size_bytes") + (pl.col("size_packets") + 4) * 40
    sent = records.filter(discipline="fifo").select(wire.sum()).item() * 8
    runs = records.filter(discipline="fifo").group_by("replication").agg(pl.col("start_s").max(), pl.len())
    span = (runs["start_s"] * (runs["len"] + 1) / runs["len"]).sum()
    rho = sent / 10e6 / span
    exact = result.records.with_columns(
        response_time_s=pl.when(pl.col("finish_s").is_not_null()).then(wire * 8 / 10e6 / (1 - rho))
    )
    summary = replace(result, records=exact).with_models().summary
    assert summary["model_queue"]["rho"] == pytest.approx(rho, rel=1e-12)
    fifo, las = (summary["models"][name] for name in ("fifo", "las"))
    assert fifo["error_median"] == pytest.approx(0, abs=1e-12)
    assert fifo["error_p90"] == pytest.approx(0, abs=1e-12)
    assert fifo["mean_s"] == pytest.approx(fifo["simulated_mean_s"], rel=1e-12)
    assert las["short"]["error"] < -0.05, "LAS is faster for short flows than what was put in its place"
    by_hand = [(size * 1500 + 160) * 8 / 10e6 / (1 - rho) for size in fifo["curve"]["size_packets"]]
    assert fifo["curve"]["mean_s"] == pytest.approx(by_hand, rel=1e-5)


def test_classes_and_sizes_of_the_table_add_up(result):
    summary = result.with_models().summary
    for label in ("fifo", "las"):
        model = summary["models"][label]
        assert model["short"]["flows"] + model["long"]["flows"] == sum(each["flows"] for each in model["by_size"])
        for name, simulated in (("model_mean_s", model["mean_s"]), ("simulated_mean_s", model["simulated_mean_s"])):
            total = sum(each[name] * each["flows"] for each in model["by_size"])
            assert total / sum(each["flows"] for each in model["by_size"]) == pytest.approx(simulated, rel=1e-9)
    [fifo] = [each for each in summary["disciplines"] if each["id"] == "fifo"]
    assert summary["models"]["fifo"]["short"]["flows"] == fifo["short"]["flows"]
    assert summary["model_queue"]["no_model"] == ["codel"]
    json.dumps(summary["models"], allow_nan=False)


def test_flows_that_never_meet_take_what_the_path_says():
    flows = pl.DataFrame({"start_s": [0.0, 100.0, 200.0], "size_packets": [5, 40, 400]})
    result = mayfly.compare("wired", "fifo", flows=flows)
    summary = result.with_models(path=True).summary
    rho, rows = summary["model_queue"]["rho"], summary["models"]["fifo"]["by_size"]
    assert rho < 0.003
    for each in rows:
        served = (each["size_packets_low"] * 1500 + 160) * 8 / 10e6
        # All that the model adds to what the flow takes alone is the queue.
        assert each["model_mean_s"] - each["simulated_mean_s"] == pytest.approx(served * rho / (1 - rho), rel=1e-6)
    without = result.with_models().summary["models"]["fifo"]
    assert all(each["error"] < -0.02 for each in without["by_size"])
    curve = summary["models"]["fifo"]["curve"]
    drawn = dict(zip(curve["size_packets"], curve["mean_s"], strict=True))
    for each in (rows[0], rows[-1]):
        assert drawn[each["size_packets_low"]] == pytest.approx(each["model_mean_s"], rel=1e-5)


def test_what_starves_is_null_and_told():
    flows = pl.DataFrame({"start_s": [0.1 * n for n in range(200)], "size_packets": [100] * 200})
    summary = mayfly.compare("wired", "fifo,las", flows=flows).with_models().summary
    assert summary["model_queue"]["rho"] > 1
    fifo = summary["models"]["fifo"]
    assert fifo["mean_s"] is None and fifo["error_median"] is None and fifo["curve"]["mean_s"] == []
    assert any(
        note.startswith("at load 1.2") and note.endswith("fifo, las") for note in summary["model_queue"]["notes"]
    )


def test_what_the_models_leave_out_is_told():
    call = [{"rate": "1mbit", "packet": 500}]
    scenario = mayfly.load_scenario(
        "wired", {"duration": "5s", "workload.cbr": call, "workload.permanent": [{"flows": 2}]}
    )
    [note] = mayfly.compare(scenario, "las").with_models().summary["model_queue"]["notes"]
    # 1 Mb/s until the end of the run, over a time that is an arrival longer or shorter.
    assert re.search(r"UDP, (9|10)\.\d% of the link", note) and "2 TCP flows that do not end" in note


@pytest.mark.parametrize(
    ("scenario", "said"),
    [("permanent", "must have two TCP flows"), ("wlan", "not a wireless cell"), ("pages", "waits for its user")],
)
def test_a_comparison_without_models_is_kept_and_says_why(scenario, said):
    result = mayfly.compare(mayfly.load_scenario(scenario, {"duration": "3s"}), "fifo").with_models()
    assert result.summary["models"] == {} and result.records.height > 0
    [note] = result.summary["model_queue"]["notes"]
    assert note.startswith("no models: ") and said in note
