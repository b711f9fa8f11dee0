"""Hours that the native module draws and runs have the figures of the same hours as lists."""

import json
from pathlib import Path

import pytest

from mayfly import _native
from mayfly.comparison.replay import replay_of
from mayfly.comparison.session_bootstrap import hours_for
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.simulate.resampled import OWN_HOSTS, ResampledHours
from mayfly.simulate.run import run_one, starting_in_time
from mayfly.workload.replayed import another_hour, closed

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


def replay(path=OFFICE, overrides=None, **how):
    fields = {"seed": 5, "sample_interval": 0, "duration": "60s"} | (overrides or {})
    return replay_of(path, "10mbit", 100, overrides=fields, **how)


def users(observed, idle_rtt_s, span_s):
    return json.loads(_native.users_of_runs([observed], idle_rtt_s, span_s, True, None, None))


@pytest.mark.parametrize(
    ("how", "overrides"),
    [
        ({}, {}),
        ({"rtt": "40ms"}, {"network.symmetric": False}),
        ({"replay": "trains"}, {"probes.call": False}),
        ({"replay": "packets"}, {"probes.ping": False, "probes.call": False}),
        ({"replay": "transfers"}, {"network.shaper.controller": "autorate"}),
        ({"load": 0.5}, {}),
    ],
    ids=["users", "sides", "trains", "packets", "shaper", "load"],
)
def test_an_hour_has_the_figures_of_its_list(how, overrides):
    found, disciplines = replay(overrides=overrides, **how), [parse("fifo"), parse("fq_codel")]
    scenario = found.scenario
    hours = ResampledHours(scenario, disciplines, found.flows)
    for number in (1, 2):
        flows = closed(starting_in_time(another_hour(found.flows, scenario.seed, number), scenario.duration))
        for run, discipline in zip(hours.run(number), disciplines, strict=True):
            as_list = run_one(scenario, discipline, flows)
            span_s = tuple(as_list.counters[name] * 1e-9 for name in ("begin_ns", "end_ns"))
            assert run.discipline == discipline and run.span_s == pytest.approx(span_s)
            expected = users(as_list.observed, as_list.idle_rtt_s, run.span_s)
            assert users(run.observed, run.idle_rtt_s, run.span_s) == expected
            assert any(expected.values())


def test_a_run_that_ends_before_an_hour_begins_has_none():
    found = replay(overrides={"duration": "1us"})
    assert ResampledHours(found.scenario, [parse("fifo")], found.flows).run(1) is None


def test_a_network_that_names_its_hosts_has_no_hours():
    circuit = {"name": "home", "ceil": "20mbit", "rate": "2mbit", "hosts": ["10.10.0.2"]}
    found = replay(overrides={"network.symmetric": False, "network.tree": {"circuit": [circuit]}})
    for asked in (None, 4):
        plan = hours_for(found.flows, 2, found.scenario, asked)
        assert (plan.count, plan.why_none) == (0, OWN_HOSTS)
    with pytest.raises(MayflyError, match="the network names its hosts"):
        ResampledHours(found.scenario, [parse("fifo")], found.flows)
