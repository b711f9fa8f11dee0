"""What the compiled module is given to measure users' figures: settings, columns and facts of a run."""

import json

import numpy as np
import polars as pl
from packets import FAR, NEAR, write_udp

from mayfly.comparison.replay import replay_of
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import probes, traces
from mayfly.simulate.run import native_run, starting_in_time
from mayfly.simulate.traces import CALL
from mayfly.workload.lists import flow_list
from mayfly.workload.replayed import closed

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


def replayed(capture, rate, buffer, **how):
    """Scenario and flows of a capture, at whole nanoseconds."""
    given = replay_of(capture, rate, buffer, **how)
    return given.scenario, whole_ns(closed(starting_in_time(given.flows, given.scenario.duration)))


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


def film_list():
    """A scenario and a list of scripts, two of which are films."""
    script = " | ".join(["up 400 | wait 20ms | down 900000 | wait 3s"] * 12 + ["up 400 | down 2000"])
    rows = {"start_s": [0.0, 1.0, 2.0], "script": [script, script, "up 300 | down 6000000"], "rtt_s": [0.02, 0.05, 0.1]}
    given = {"network.rate": "4mbit", "network.buffer": 100, "duration": "60s"} | PROBES
    return load_scenario("whatif", given), whole_ns(flow_list(pl.DataFrame(rows)))


def asked(scenario, discipline, flows, traced=()):
    """Settings, JSON, columns and facts, JSON, of a run as `mayfly.simulate.run.run_one` makes them."""
    alone, calls = traces.without_calls(flows)
    given = native_run(scenario, parse(discipline), alone, traced=calls.rows)
    limit = given.settings["trace_limit"] + calls.packets
    settings = given.settings | {"trace_drops": False, "trace_limit": limit}
    names = probes.with_probes(scenario, flows, scenario.seed)[1].names
    return json.dumps(settings), given.columns, json.dumps(facts_of(names, flows))
