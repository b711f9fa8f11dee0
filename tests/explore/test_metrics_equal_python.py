"""What users feel, in Rust and in Python: the crate ``metrics``, for the page without Python, gives the same figures.

The native run is done twice with the same settings and the same columns: once for the package, once by
``_native.users_figures``. Times of the list are whole nanoseconds, as the simulator takes them; the package keeps them
as they were drawn.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from packets import FAR, NEAR, write_udp

from mayfly import _native
from mayfly.comparison.measured import Measured, Workload
from mayfly.comparison.replay import replay_of
from mayfly.comparison.sections.users import measure
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import probes
from mayfly.simulate.run import run_one, starting_in_time, workload
from mayfly.simulate.traces import CALL
from mayfly.workload.closed_loop import LASTED, closed
from mayfly.workload.lists import flow_list

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"

PROBES = {"probes.ping": True, "probes.call": True}

MEDIA = {
    "workload.call": [{"calls": 2, "group": "meeting"}, {"participants": 3, "fps": 10, "start": "3s"}],
    "workload.video": [
        {"flows": 2, "ladder": ["400kbit", "1200kbit", "4mbit"], "group": "films"},
        {"ladder": ["300kbit", "20mbit"], "rule": "bola", "length": "20s"},
    ],
    "duration": "60s",
}


def whole_ns(flows):
    """The list as the simulator has it."""
    times = [name for name in ("start_s", "rtt_s") if name in flows.columns]
    return flows.with_columns((pl.col(name) * 1e9).round() * 1e-9 for name in times)


def facts_of(names, flows):
    """What a run does not know of its flows, for the crate."""
    groups = flows["group"].rank("dense").fill_null(0).cast(pl.Int64) if "group" in flows.columns else None
    facts = {
        "probes": list(names),
        "ids": flows["flow_id"].to_list(),
        "groups": [] if groups is None else groups.to_list(),
        "stages": flows["stage"].to_list() if "stage" in flows.columns else [],
    }
    if "connection_id" in flows.columns:
        opener = pl.when(pl.col("opened_by") == "sender").then("src").otherwise("dst")
        calls = flows[CALL].is_not_null().arg_true().to_list() if CALL in flows.columns else []
        facts["capture"] = {
            "clients": flows.select(opener.rank("dense")).to_series().to_list(),
            "connections": flows["connection_id"].to_list(),
            "calls": calls,
        }
    return facts


def ran(monkeypatch, scenario, discipline, flows, **other_facts):
    """A run, what the native module was given for it, and the facts."""
    given = []
    native = _native.run

    def spied(*arguments):
        given.append(arguments[:2])
        return native(*arguments)

    monkeypatch.setattr(_native, "run", spied)
    run = run_one(scenario, parse(discipline), flows)
    monkeypatch.setattr(_native, "run", native)
    names = probes.with_probes(scenario, flows, scenario.seed)[1].names
    return run, *given[0], json.dumps(facts_of(names, flows) | other_facts)


def both(monkeypatch, scenario, discipline, flows, **other_facts):
    """The figures of the package and those of the crate."""
    run, settings, columns, facts = ran(monkeypatch, scenario, discipline, flows, **other_facts)
    if LASTED not in flows.columns and "connection_id" in flows.columns:
        records = run.records.drop("stage", "after", strict=False)
        run = type(run)(**{**vars(run), "records": records})
    expected = measure(Measured(Workload(scenario, [run]), [run], run.records))["users"]
    return expected, json.loads(_native.users_figures(settings, columns, facts))


def differences(expected, found, place=""):
    """Where two nested figures differ by more than rounding."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if list(expected) != list(found):
            return [f"{place}: {list(expected)} {list(found)}"]
        return [line for key in expected for line in differences(expected[key], found[key], f"{place}.{key}")]
    if isinstance(expected, list | tuple) and isinstance(found, list):
        if len(expected) != len(found):
            return [f"{place}: {expected} {found}"]
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for at, (one, other) in pairs for line in differences(one, other, f"{place}[{at}]")]
    if isinstance(expected, float) and isinstance(found, int | float):
        return [] if found == pytest.approx(expected, rel=1e-9, abs=1e-12) else [f"{place}: {expected} {found}"]
    return [] if type(expected) is type(found) and expected == found else [f"{place}: {expected!r} {found!r}"]


@pytest.mark.parametrize(
    ("name", "discipline", "overrides", "has"),
    [
        ("pages", "fifo", {"duration": "60s"} | PROBES, {"pages", "call", "ping", "short"}),
        ("pages", "fq_codel", {"duration": "60s"}, {"pages"}),
        ("gaming-spaced", "fifo", {"duration": "60s"} | PROBES, {"short", "ping", "call"}),
        ("gaming-new-addresses", "lfq", {"duration": "60s", "warm_up": "10s"} | PROBES, {"ping"}),
        ("linux-short-behind-bulk", "fq_codel", {}, {"short", "long"}),
        ("wired", "efd", {"duration": "60s"} | PROBES, {"long", "downloads"}),
        ("household", "fifo", {"network.rate": "2mbit"} | PROBES, {"pages", "short", "long", "ping"}),
        ("wired", "pie", MEDIA, {"call", "video"}),
        ("wired", "fifo", MEDIA | PROBES | {"network.rate": "3mbit"}, {"call", "video", "ping"}),
    ],
)
def test_a_scenario_has_the_same_figures(monkeypatch, name, discipline, overrides, has):
    scenario = load_scenario(name, overrides)
    expected, found = both(monkeypatch, scenario, discipline, whole_ns(workload(scenario)))
    assert has <= {key for key, value in expected.items() if value is not None}
    assert differences(expected, found) == []


def replayed(capture, rate, buffer, **how):
    """Scenario and flows of a capture, at whole nanoseconds."""
    given = replay_of(capture, rate, buffer, **how)
    return given.scenario, whole_ns(closed(starting_in_time(given.flows, given.scenario.duration)))


@pytest.fixture(scope="module")
def office():
    return replayed(OFFICE, "10mbit", "300", internal=["10.10.0.0/24"])


@pytest.mark.parametrize("discipline", ["fifo", "fq_codel"])
def test_a_capture_has_the_same_figures(monkeypatch, office, discipline):
    scenario, flows = office
    expected, found = both(monkeypatch, scenario, discipline, flows)
    assert expected["pages"] and expected["ping"] and expected["call"]["from"] == "synthetic"
    assert differences(expected, found) == []


def test_a_capture_without_scripts_has_the_same_figures(monkeypatch):
    scenario, flows = replayed(OFFICE, "10mbit", "300", internal=["10.10.0.0/24"], replay="transfers")
    expected, found = both(monkeypatch, scenario, "cake", flows)
    assert expected["pages"] and expected["downloads"]
    assert differences(expected, found) == []


def made_capture(path):
    """Two calls, and datagrams that fill the link for a while."""
    rng = np.random.default_rng(3)
    calls = [
        packet
        for port, seconds in ((4000, 25.0), (4002, 15.0))
        for at in np.arange(0, seconds, 0.02)
        for packet in (
            (float(at), NEAR, FAR, port, 5004, 172),
            (float(at) + 0.007, FAR, NEAR, 5004, port, 172),
        )
    ]
    flood = [(float(at), FAR, NEAR, 9, 9, 1200) for at in np.sort(rng.uniform(5, 20, 15_000))]
    return write_udp(path, sorted(calls + flood))


def explained(monkeypatch, scenario, discipline, flows):
    """What the queues did in a run, all traced."""
    _, settings, columns, facts = ran(monkeypatch, scenario, discipline, flows)
    everything = {"traced": list(range(len(columns["start_ns"]))), "trace_limit": 5_000_000, "trace_drops": True}
    return json.loads(_native.queues_explained(json.dumps(json.loads(settings) | everything), columns, facts))


@pytest.mark.parametrize(
    ("discipline", "id", "least", "most"),
    [
        # In one queue in order of arrival all that is found goes before.
        ("fifo", "one-queue", 1.0, 1.0),
        ("pie", "one-queue", 1.0, 1.0),
        ("codel", "one-queue", 1.0, 1.0),
        # What has sent nothing yet goes before all that has; a packet in transmission is not in the queue.
        ("las", "short-first", 0.0, 0.01),
        ("efd", "short-first", 0.0, 0.1),
        ("fq_codel", "own-queue", 0.0, 0.5),
        ("lfq", "own-queue", 0.0, 0.1),
    ],
)
def test_the_queues_of_a_capture_are_told_apart(monkeypatch, office, discipline, id, least, most):
    scenario, flows = office
    found = explained(monkeypatch, scenario, discipline, flows)
    mechanism = next(one for one in found["mechanisms"] if one["id"] in ("one-queue", "short-first", "own-queue"))
    assert mechanism["id"] == id and least <= mechanism["values"]["long_ahead"] <= most
    waits = found["waits"]
    # A link that sends whenever somebody waits: nobody waits for nothing, and rows add up to the nanosecond.
    assert sum(waits["wait_ns"]) > 0 and sum(waits["other_ns"]) <= 1e-6 * sum(waits["wait_ns"])
    for row, other_ns, wait_ns in zip(waits["for_ns"], waits["other_ns"], waits["wait_ns"], strict=True):
        assert sum(row) + other_ns == wait_ns


def test_figures_that_differ_are_found():
    one = {"a": [1.0, None], "b": {"c": 2}}
    assert differences(one, {"a": [1.0, None], "b": {"c": 2}}) == []
    assert differences(one, {"a": [1.0 + 1e-8, None], "b": {"c": 2}}) == [".a[0]: 1.0 1.00000001"]
    assert differences(one, {"a": [1.0, 0.0], "b": {"c": 3}}) == [".a[1]: None 0.0", ".b.c: 2 3"]
    assert len(differences(one, {"b": {"c": 2}})) == 1


def test_calls_of_a_capture_have_the_same_figures(monkeypatch, tmp_path):
    scenario, flows = replayed(made_capture(tmp_path / "calls.pcap"), "8mbit", 50)
    expected, found = both(monkeypatch, scenario, "fifo", flows)
    assert (expected["call"]["from"], expected["call"]["calls"]) == ("capture", 2)
    assert expected["call"]["down"]["loss"] > 0.05
    assert differences(expected, found) == []


def test_a_film_among_scripted_connections_has_the_same_figures(monkeypatch):
    script = " | ".join(["up 400 | wait 20ms | down 900000 | wait 3s"] * 12 + ["up 400 | down 2000"])
    rows = {"start_s": [0.0, 1.0, 2.0], "script": [script, script, "up 300 | down 6000000"], "rtt_s": [0.02, 0.05, 0.1]}
    flows = flow_list(pl.DataFrame(rows))
    scenario = load_scenario("whatif", {"network.rate": "4mbit", "network.buffer": 100, "duration": "60s"} | PROBES)
    expected, found = both(monkeypatch, scenario, "fifo", whole_ns(flows))
    assert expected["video"]["streams"] == 2 and expected["video"]["stalls"] > 0
    assert differences(expected, found) == []


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"ids": [1]}, r"facts: ids has 1 values: must be one for each of \d+ flows"),
        ({"probes": ["ping"] * 1000}, r"facts: probes = 1000: must be at most the \d+ flows"),
        ({"probes": ["pong"]}, r"unknown variant `pong`"),
        ({"capture": {"clients": [], "connections": [], "calls": []}}, r"facts: clients has 0 values"),
        ({"sizes": []}, r"unknown field `sizes`"),
    ],
)
def test_facts_that_do_not_fit_are_refused(monkeypatch, facts, message):
    scenario = load_scenario("linux-short-behind-bulk", {"duration": "6s"})
    with pytest.raises(ValueError, match=message):
        both(monkeypatch, scenario, "fifo", whole_ns(workload(scenario)), **facts)
