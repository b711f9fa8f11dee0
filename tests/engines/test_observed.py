"""What users feel in the tables of an engine is what they feel in the run of the simulator that made the tables."""

import json
from pathlib import Path

import polars as pl
import pytest

from mayfly import _native
from mayfly.comparison.replay import replay_of
from mayfly.discipline_registry import parse
from mayfly.engines.records import tables_of
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import columns, traces
from mayfly.simulate.columns import facts_of, with_calls
from mayfly.simulate.run import native_run, run_one, starting_in_time, workload
from mayfly.workload import scripts
from mayfly.workload.replayed import closed

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
PROBES = {"probes.ping": True, "probes.call": True}


def given(scenario, flows, discipline):
    """What the native module takes for a run, its tables, and what it has observed."""
    flows, calls = traces.without_calls(flows)
    asked = native_run(scenario, parse(discipline), flows, traced=calls.rows)
    settings, facts = json.dumps(asked.settings), with_calls(asked.facts, calls.rows)
    found = _native.run(settings, asked.columns, _native.Control(), None, facts)
    tables = {name: pl.DataFrame(found[name]) for name in ("flows", "trains", "probes", "packets")}
    before = asked.probing.count
    records = columns.records_frame(flows, tables["flows"][before:], scenario.tcp.mss)
    trains, sent = (asked.probing.workload_only(tables[name]) for name in ("trains", "packets"))
    named = scripts.trains_frame(trains, flows) if "script" in flows.columns else pl.DataFrame()
    read = tables_of(flows, records, named, tables["probes"], sent)
    return (settings, asked.columns, facts, read), found["observed"]


def users(observed, span_s=(0.0, 30.0)):
    """Figures over the whole time: the kernel does not record when its link was busy."""
    found = json.loads(_native.users_of_runs([observed], 0.02, span_s, None, None, False))
    for part in ("ping", "call"):
        found[part] = {key: value for key, value in (found[part] or {}).items() if key != "busy_share"}
    # Nor does it record when a datagram arrived: a stream has its losses alone.
    if streams := found["streams"]:
        found["streams"] = {key: streams[key] for key in ("count", "loss", "loss_worst")}
    return found


def office():
    replay = replay_of(OFFICE, "10mbit", "300", internal=["10.10.0.0/24"])
    return replay.scenario, closed(starting_in_time(replay.flows, replay.scenario.duration))


def drawn(name, **overrides):
    scenario = load_scenario(name, {"duration": "30s"} | PROBES | overrides)
    return scenario, workload(scenario)


@pytest.mark.parametrize(
    ("make", "has"),
    [
        (office, {"short", "long", "pages", "ping", "call", "downloads"}),
        (lambda: drawn("pages"), {"short", "pages", "ping", "call"}),
        (lambda: drawn("wired"), {"short", "long", "ping", "call"}),
    ],
    ids=["office", "pages", "wired"],
)
def test_tables_have_the_figures_of_their_run(make, has):
    arguments, observed = given(*make(), "fq_codel")
    expected = users(observed)
    assert has <= {name for name, value in expected.items() if value}
    again = _native.observed(*arguments)
    assert users(again) == expected
    streams = json.loads(_native.users_of_runs([again], 0.02, (0.0, 30.0), None, None, False))["streams"]
    assert not streams or (streams["late"], streams["missing"]) == (None, streams["loss"])


def test_tables_that_do_not_fit_are_refused():
    (settings, flows, facts, tables), _ = given(*drawn("wired"), "fifo")
    short = tables | {"flows": {name: values[:-1] for name, values in tables["flows"].items()}}
    with pytest.raises(ValueError, match=r"records = \d+: must be one for each of \d+ flows"):
        _native.observed(settings, flows, facts, short)
    uneven = tables | {"probes": tables["probes"] | {"sent_s": tables["probes"]["sent_s"][:-1]}}
    with pytest.raises(ValueError, match="must have the same length"):
        _native.observed(settings, flows, facts, uneven)
    with pytest.raises(ValueError, match="unknown variant `pong`"):
        _native.observed(settings, flows, facts | {"probes": ["pong"]}, tables)


def test_facts_of_a_list_say_who_belongs_together():
    flows = workload(load_scenario("pages", {"duration": "10s"}))
    found = facts_of(flows, ("ping",))
    assert found["probes"] == ["ping"] and found["capture"] is None
    assert len(found["ids"]) == len(found["stages"]) == flows.height
    pages = flows["stage"].is_not_null().to_numpy()
    assert (found["stages"] >= 0).tolist() == pages.tolist()
    captured = office()[1]
    found = facts_of(captured, ())["capture"]
    same = captured.with_columns(number=pl.Series(found["connections"])).group_by("connection_id")
    assert set(same.agg(pl.col("number").n_unique())["number"]) == {1}


def test_runs_of_one_discipline_are_measured_as_one():
    scenario, flows = drawn("wired")
    runs = [run_one(scenario, parse("fifo"), flows, replication).observed for replication in (0, 1)]
    one = users(runs[0])
    two = json.loads(_native.users_of_runs(runs, 0.02, (0.0, 30.0), None, None, False))
    assert two["short"]["flows"] == 2 * one["short"]["flows"]
    assert two["ping"]["probes"] == one["ping"]["probes"] + users(runs[1])["ping"]["probes"]
