"""What the queues of a run did to its flows: mechanisms and waits, by the crate ``metrics``."""

import json
from pathlib import Path

import pytest
from measured_users import asked, replayed

from mayfly import _native
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


@pytest.fixture(scope="module")
def office():
    """With the hosts of a release by name: how often a long flow is ahead depends on what its sender sends together."""
    scenario, flows = replayed(OFFICE, "10mbit", "300", internal=["10.10.0.0/24"])
    return scenario.override(tcp={"preset": "linux-6.1"}), flows


def explained(scenario, discipline, flows):
    """What the queues did in a run, all traced."""
    settings, columns, facts = asked(scenario, discipline, flows)
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
def test_the_queues_of_a_capture_are_told_apart(office, discipline, id, least, most):
    scenario, flows = office
    found = explained(scenario, discipline, flows)
    mechanism = next(one for one in found["mechanisms"] if one["id"] in ("one-queue", "short-first", "own-queue"))
    assert mechanism["id"] == id and least <= mechanism["values"]["long_ahead"] <= most
    waits = found["waits"]
    # A link that sends whenever somebody waits: nobody waits for nothing, and rows add up to the nanosecond.
    assert sum(waits["wait_ns"]) > 0 and sum(waits["other_ns"]) <= 1e-6 * sum(waits["wait_ns"])
    for row, other_ns, wait_ns in zip(waits["for_ns"], waits["other_ns"], waits["wait_ns"], strict=True):
        assert sum(row) + other_ns == wait_ns


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
def test_facts_that_do_not_fit_are_refused(facts, message):
    scenario = load_scenario("linux-short-behind-bulk", {"duration": "6s"})
    settings, columns, own = asked(scenario, "fifo", workload(scenario))
    with pytest.raises(ValueError, match=message):
        _native.queues_explained(settings, columns, json.dumps(json.loads(own) | facts))
