"""A flow list that several disciplines run on is made for the simulator once."""

import json

import polars as pl

import mayfly
from mayfly import _native
from mayfly.discipline_registry import parse_list
from mayfly.simulate import run as runs
from mayfly.simulate.run import PreparedLists, native_run, run_many, workload


def test_disciplines_share_a_long_list(monkeypatch):
    """Before, each of them had one of its own, where a list was so long that memory mattered."""
    scenario = mayfly.load_scenario("wired", {"duration": "20s", "workload.load": "4mbit"})
    flows = workload(scenario)
    alone = run_many(scenario, parse_list("fifo,pie"), flows)
    monkeypatch.setattr(runs, "_SHORT_LIST", 0)
    lists = PreparedLists()
    first, second = (native_run(scenario, one, flows, 0, (), lists) for one in parse_list("fifo,pie"))
    assert isinstance(first.columns, _native.FlowList) and first.columns is second.columns
    assert len(first.columns) == flows.height
    for one, other in zip(run_many(scenario, parse_list("fifo,pie"), flows), alone, strict=True):
        assert one.records.equals(other.records) and one.samples.equals(other.samples)


def test_the_last_long_list_alone_is_held(monkeypatch):
    monkeypatch.setattr(runs, "_SHORT_LIST", 10)
    scenario = mayfly.load_scenario("wired", {"duration": "5s"})
    long, short = pl.concat([workload(scenario)] * 1), workload(scenario)[:5]
    lists = PreparedLists()
    found = {number: lists.of(scenario, flows, number) for number, flows in enumerate((long, short, long))}
    assert lists.of(scenario, short, 1) is found[1] and lists.of(scenario, long, 2) is found[2]
    assert lists.of(scenario, long, 0) is not found[0]


def test_runs_wait_for_each_other_where_memory_is_short(monkeypatch):
    scenario = mayfly.load_scenario("wired", {"duration": "2s"})
    workers = []
    own = runs.in_threads
    monkeypatch.setattr(
        runs,
        "in_threads",
        lambda job, count, s, told, most, *rest: workers.append(most) or own(job, count, s, told, most, *rest),
    )
    monkeypatch.setattr(runs.os, "cpu_count", lambda: 8)
    run_many(scenario, parse_list("fifo,pie"))
    monkeypatch.setattr(runs, "_RUN_BYTES", 10**12)
    limits = mayfly.limits.limits
    monkeypatch.setattr(limits, "memory_bytes", 10**12)
    found = run_many(scenario, parse_list("fifo,pie"))
    assert workers == [8, 1] and [one.discipline.id for one in found] == ["fifo", "pie"]
    assert json.dumps(found[0].counters["arrivals"])
