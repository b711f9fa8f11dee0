"""`mayfly whatif --rtt`: round-trip times of a capture multiplied by one factor."""

from pathlib import Path

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from connection_captures import ACK, segment, write_ip

from mayfly.comparison.replay import replay_of
from mayfly.comparison.whatif import whatif
from mayfly.errors import MayflyError

CAPTURE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


def test_the_median_is_the_one_asked_for_and_nothing_else_moves():
    own, asked = (replay_of(CAPTURE, "50mbit", 300, rtt=rtt) for rtt in (None, "80ms"))
    # Of the TCP connections, whose median is the path of the probes.
    assert asked.scenario.probes.rtt == pytest.approx(0.08)
    factors = asked.flows["rtt_s"] / own.flows["rtt_s"]
    assert (factors.min(), factors.max()) == pytest.approx((0.08 / own.scenario.probes.rtt,) * 2)
    tcp = asked.flows.filter(protocol="tcp")["rtt_s"].median()
    assert tcp == pytest.approx(0.08, rel=0.02)
    assert asked.flows.drop("rtt_s").equals(own.flows.drop("rtt_s"))
    assert (asked.rtt_s, own.rtt_s) == (0.08, None)


@pytest.mark.parametrize("replay", ["trains", "transfers", "packets"])
def test_the_path_of_the_probes_is_the_same_in_all_forms_of_a_replay(replay):
    users, other = (replay_of(CAPTURE, "10mbit", 300, replay=how).scenario.probes.rtt for how in ("users", replay))
    assert users == other
    # The median over 519 TCP connections; 368 look-ups over UDP, which take 12 ms, have no part in it.
    assert users == pytest.approx(0.035, abs=0.001)


def test_the_idle_link_takes_the_time_asked_for():
    fields = {"replications": 1, "duration": "2s"}
    result = whatif(CAPTURE, "50mbit", 300, rtt="80ms", disciplines="fifo", overrides=fields)
    # Behind the path a ping of 64 bytes is sent twice by the link.
    idle_ms = result.summary["disciplines"][0]["users"]["ping"]["idle_ms"]
    assert idle_ms == pytest.approx(80 + 2 * 64 * 8 / 50e6 * 1e3, abs=0.01)
    assert result.summary["capture"]["scaled_to_rtt_s"] == 0.08


def test_no_time_leaves_what_a_flow_list_holds():
    own, asked = (replay_of(CAPTURE, "50mbit", 300, rtt=rtt).flows["rtt_s"] for rtt in (None, "50s"))
    # From 12 ms of a look-up to 80 ms of a far server, whose median 35 ms is 50 s now.
    longest_s = own.max() / own.median() * 50.0
    assert longest_s > 60.0 and asked.max() == 60.0 and asked.min() < 50.0


@pytest.mark.parametrize("replay", ["users", "trains", "transfers", "packets"])
def test_all_have_the_time_asked_for_where_acknowledgements_alone_show_a_path(tmp_path, replay):
    """Before: `users` alone; the flows of the other forms had the round trip of the scenario."""
    near, far, there, back = "10.0.0.1", "9.9.9.9", (5000, 80), (80, 5000)
    rows = []
    for at in range(20):
        sent, answered = 1 + 1000 * at, 1 + 500 * at
        rows.append((0.1 * at, segment(near, far, there, sent, answered, ACK, 1000)))
        rows.append((0.1 * at + 0.03, segment(far, near, back, answered, sent + 1000, ACK, 500)))
        rows.append((0.1 * at + 0.031, segment(near, far, there, sent + 1000, answered + 500, ACK)))
    found = replay_of(write_ip(tmp_path / "middle.pcap", rows), "10mbit", 300, replay=replay, rtt="70ms")
    assert found.scenario.probes.rtt == 0.07
    assert found.flows["rtt_s"].to_list() == pytest.approx([0.07] * found.flows.height)


@pytest.mark.parametrize("rtt", ["0s", "61s", "-1ms", "soon"])
def test_a_time_that_cannot_be_is_refused(rtt):
    with pytest.raises(MayflyError, match="rtt"):
        replay_of(CAPTURE, "10mbit", 300, rtt=rtt)
