"""`[[network.impairment]]`: what is refused, and that the link does what is said."""

import polars as pl
import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.run import run_one
from mayfly.workload.lists import flow_list

NETWORK = {"rate": "10mbit", "delay": "20ms", "access_delay": 0, "exit_delay": 0, "buffer": 1000}


def traced(*rules, ecn=False, flows=1):
    document = {
        "duration": "60s",
        "stop_when_idle": True,
        "trace": ["seen"],
        "network": NETWORK | {"impairment": list(rules)},
        "tcp": {"preset": "linux", "ecn": ecn},
    }
    listed = {"start_s": [0.0] * flows, "size_bytes": [60 * 1448] * flows, "group": ["seen"] * flows}
    return run_one(scenario_of(document, "test"), parse("fifo"), flow_list(pl.DataFrame(listed)))


def copies(result, number):
    return result.packets.filter(number=number)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"do": "drop"}, "must have one of `segment`, `ack`, and `from` with `to`"),
        ({"do": "drop", "segment": 1, "from": "1s", "to": "2s"}, "must have one of"),
        ({"do": "drop", "from": "1s"}, "must have `from` before `to`"),
        ({"do": "drop", "from": "2s", "to": "1s"}, "must have `from` before `to`"),
        ({"do": "drop", "ack": 1}, "`ack` with direction = 'data': must be 'ack'"),
        ({"do": "drop", "direction": "ack", "segment": 1}, "`segment` with direction = 'ack': must be 'data'"),
        ({"do": "delay", "segment": 1}, "`by` goes with do = 'delay'"),
        ({"do": "drop", "segment": 1, "by": "1ms"}, "`by` goes with do = 'delay'"),
        ({"do": "hold", "segment": 1}, "do = 'hold': must have `from` and `to`"),
        ({"do": "drop", "segment": -1}, "greater than or equal to 0"),
    ],
)
def test_a_rule_that_names_no_packets_is_refused(rule, says):
    with pytest.raises(MayflyError, match=says):
        scenario_of({"network": {"impairment": [rule]}}, "test")


def test_a_cell_has_none():
    network = {"impairment": [{"do": "drop", "segment": 1}], "wlan": {}}
    with pytest.raises(MayflyError, match="impairment"):
        scenario_of({"network": network}, "test")


def test_the_named_transmissions_are_lost_in_each_flow_and_no_other():
    rules = [{"do": "drop", "segment": 7, "transmission": number} for number in (1, 2)]
    result = traced(*rules, flows=2)
    lost = result.packets.filter(pl.col("dropped_s").is_not_null())
    assert sorted(lost["number"]) == [7] * 4
    assert copies(result, 7).height == 6
    assert result.records["lost"].to_list() == [2, 2]
    assert result.counters["lost"] == 4


def test_a_delayed_segment_is_overtaken_and_holds_nobody_up():
    plain, late = traced(), traced({"do": "delay", "segment": 3, "by": "5ms"})
    for number, by_s in ((2, 0.0), (3, 0.005), (4, 0.0), (5, 0.0)):
        times = [copies(result, number)["received_s"][0] for result in (plain, late)]
        assert times[1] - times[0] == pytest.approx(by_s, abs=1e-9)


def test_what_is_held_comes_at_the_end_of_the_window():
    # The first ten segments come between 60 and 80 ms.
    result = traced({"do": "hold", "from": "64ms", "to": "100ms"})
    came = [copies(result, number)["received_s"][0] for number in range(1, 11)]
    early = [time for time in came if time < 0.064]
    assert 1 <= len(early) < 10
    assert all(0.1 <= time < 0.1 + 1e-3 for time in came[len(early) :])


def test_marks_are_for_those_capable_of_ecn():
    rule = {"do": "mark", "segment": 20}
    assert traced(rule, ecn=True).records["marks"].to_list() == [1]
    assert traced(rule).records["marks"].to_list() == [0]


def test_lost_acknowledgements_cost_no_segment():
    rules = [{"do": "drop", "direction": "ack", "ack": number} for number in range(5, 10)]
    result = traced(*rules)
    assert result.counters["reverse_lost"] == 5
    assert result.records["retransmits"].to_list() == [0]
