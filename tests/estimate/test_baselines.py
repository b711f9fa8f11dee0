"""Ways to tell what does not respond that look at flows, on mixes whose truth is known, and where each is wrong."""

import polars as pl
import pytest

from mayfly import load_scenario
from mayfly.errors import MayflyError
from mayfly.estimate.baselines import by_own_drops, by_protocol
from mayfly.simulate.run import named, run_one, workload

RED = "red(min_th=15,max_th=45,spacing=wait,mark_max=0.1)"
ROUND_TRIP_S = 0.11
BEGIN_S = 20.0


def mixed(**fields):
    """Packets from 20 s on of 35 TCP flows and others, groups by flow, share of the arrivals that is not TCP."""
    settings = {"duration": "60s", "warm_up": "0s", "trace": ["ltrf", "ltnrf"], "workload.cbr": [], **fields}
    scenario = load_scenario("red-ns2", settings)
    run = run_one(scenario, named([RED])[0], workload(scenario))
    groups = dict(zip(run.records["flow_id"], run.records["group"], strict=True))
    packets = run.packets.filter(pl.col("queued_s") > BEGIN_S)
    others = {flow for flow, group in groups.items() if group == "ltnrf"}
    return packets, groups, others, packets["flow_id"].is_in(sorted(others)).mean()


@pytest.fixture(scope="module")
def steady():
    row = {"rate": "1mbit", "packet": 1000, "flows": 16, "users": 16, "spread": "2s", "group": "ltnrf"}
    return mixed(**{"workload.cbr": [row]})


def test_both_are_right_where_udp_is_steady_and_all_of_tcp_is_long(steady):
    packets, _, others, truth = steady
    assert by_protocol(packets, others) == pytest.approx(truth)
    # One flow of 51 may be wrong by chance: 1 of 16 of the others, or of 35 of TCP.
    assert abs(by_own_drops(packets, ROUND_TRIP_S) - truth) <= truth / 16


def test_the_counter_of_udp_is_wrong_by_what_responds_over_udp_and_by_what_does_not_over_tcp(steady):
    packets, groups, others, truth = steady
    quic = {flow for flow, group in groups.items() if group == "ltrf" and flow % 2}
    assert by_protocol(packets, others | quic) > truth + 0.1
    rude = {flow for flow in others if flow % 2}
    assert by_protocol(packets, others - rude) < truth - 0.1


def test_drops_of_a_flow_are_wrong_about_pulses():
    # A burst is dropped from while it lasts, and over soon after: that looks like an answer.
    row = {"rate": "2mbit", "packet": 1000, "flows": 16, "users": 16, "spread": "2s", "group": "ltnrf"}
    pulses = row | {"on": "0.3s", "off": "0.3s", "periods": "exponential"}
    packets, _, _, truth = mixed(**{"workload.on_off": [pulses]})
    assert by_own_drops(packets, ROUND_TRIP_S) < truth - 0.2


def test_what_cannot_be_told_is_refused():
    nothing = pl.DataFrame(
        {"flow_id": [1], "queued_s": [None], "dropped_s": [None]}, schema_overrides={"queued_s": float}
    )
    for refused in (lambda: by_protocol(nothing, {1}), lambda: by_own_drops(nothing, 0.1)):
        with pytest.raises(MayflyError, match="some that came to the queue"):
            refused()
    with pytest.raises(MayflyError, match="rtt_s = 0"):
        by_own_drops(nothing, 0.0)
