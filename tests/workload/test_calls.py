"""Calls found in captures made by hand, and measured in their replay."""

import numpy as np
import polars as pl
import pytest
from packets import FAR, NEAR, write_udp

from mayfly.comparison.whatif import whatif
from mayfly.workload.replayed import Captured, flows_of, read_options

MOST_CALLS = 10
"""Calls that are measured (``crates/replay/src/calls.rs``)."""


def datagrams(times_s, size=172, up=True, port=4000, near=NEAR):
    ends = (near, FAR, port, 5004) if up else (FAR, near, 5004, port)
    return [(float(time_s), *ends, size) for time_s in times_s]


def talk(seconds=20.0, gap_s=0.02, size=172, from_s=0.0, **where):
    up = from_s + np.arange(0, seconds, gap_s)
    return datagrams(up, size, True, **where) + datagrams(up + 0.007, size, False, **where)


def found(tmp_path, packets):
    """Ports of the openers of all calls, and the flow list."""
    captured = Captured(write_udp(tmp_path / "call.pcap", sorted(packets)), read_options("transfers"))
    flows, *_ = flows_of(captured.replay("transfers"), (1e7, 1e7))
    if "call_packets" not in flows.columns:
        return [], flows
    called = flows.filter(pl.col("call_packets").is_not_null())["connection_id"].unique()
    opened = captured.connections().filter(pl.col("connection_id").is_in(called.implode()))
    return sorted(opened["opener_port"].to_list()), flows


def test_both_directions_of_steady_small_packets_are_a_call(tmp_path):
    rng = np.random.default_rng(1)
    # Jitter of some milliseconds, as a network adds it.
    shaken = [(time_s + rng.uniform(0, 0.008), *rest) for time_s, *rest in talk()]
    calls, _ = found(tmp_path, shaken + talk(30.0, 0.03, 60, port=4002) + talk(20.0, 1.0, port=4004))
    assert calls == [4000, 4002]


@pytest.mark.parametrize(
    "packets",
    [
        datagrams(np.arange(0, 20, 0.02)),
        talk(9.0),
        talk(size=1000),
        talk(size=10),
        talk(gap_s=0.01),
        talk(gap_s=0.1),
        talk(5.0) + talk(5.0, from_s=15.0),
        # 50 a second on average, in four seconds of ten.
        [packet for second in range(0, 30, 10) for packet in talk(4.0, 0.008, from_s=float(second))],
    ],
    ids=["one way", "short", "large", "tiny", "fast", "slow", "interrupted", "bursts"],
)
def test_what_is_no_call(tmp_path, packets):
    assert found(tmp_path, packets)[0] == []


def test_the_longest_of_many_are_measured(tmp_path):
    packets = [packet for number in range(MOST_CALLS + 2) for packet in talk(12.0 + number, port=4000 + number)]
    assert found(tmp_path, packets)[0] == [4000 + number for number in range(2, MOST_CALLS + 2)]


def test_flows_of_calls_are_marked(tmp_path):
    _, marked = found(tmp_path, talk() + datagrams(np.arange(0, 20, 0.5), 900, port=4004))
    assert marked.select("direction", "call_packets").sort("direction", "call_packets", nulls_last=True).rows() == [
        ("down", 1000), ("up", 1000), ("up", None)
    ]  # fmt: skip
    assert "call_packets" not in found(tmp_path, datagrams(np.arange(0, 20, 0.5), 900))[1].columns


@pytest.mark.parametrize("replay", ["users", "transfers", "trains", "packets"])
def test_calls_of_the_capture_are_measured_in_place_of_a_synthetic_one(tmp_path, replay):
    path = write_udp(tmp_path / "call.pcap", sorted(talk() + talk(15.0, port=4002)))
    result = whatif(path, "10mbit", 100, disciplines="fifo", replay=replay)
    users = result.summary["disciplines"][0]["users"]
    call = users["call"]
    assert (call["from"], call["calls"], result.summary["disciplines"][0]["udp"]["packets"]) == ("capture", 2, 3500)
    # An idle link: what the path takes, no loss, the best that the E-model gives for it.
    for way in ("down", "up"):
        assert call[way]["loss"] == 0 and call[way]["jitter_ms"] < 0.2
        assert call[way]["mos"] == pytest.approx(4.4, abs=0.02)
    assert users["ping"]["probes"] > 0 and result.packets.height == 0
    assert "call_packets" not in result.records.columns


def test_a_full_queue_is_heard_in_the_calls_of_the_capture(tmp_path):
    # At random instants, as packets in step with those of the call would never, or always, find the last place taken.
    flood = datagrams(np.sort(np.random.default_rng(2).uniform(0, 20, 20_000)), 1200, False, port=9)
    path = write_udp(tmp_path / "full.pcap", sorted(talk() + flood))
    result = whatif(path, "8mbit", 50, disciplines="fifo", replay="packets", overrides={"probes.ping": False})
    call = result.summary["disciplines"][0]["users"]["call"]
    # 9.9 Mbit/s over 8: 19 % are lost, of 1000 packets within 4 deviations, and some 50 packets of 1228 bytes wait.
    assert call["from"] == "capture" and call["up"]["loss"] == 0
    assert call["down"]["loss"] == pytest.approx(0.19, abs=4 * (0.19 * 0.81 / 1000) ** 0.5)
    assert call["down"]["delay_ms"] - call["up"]["delay_ms"] == pytest.approx(1e3 * 50 * 1228 * 8 / 8e6, rel=0.1)
    assert call["down"]["mos"] < 3 < 4.3 < call["up"]["mos"] and call["mos"] == call["down"]["mos"]


def test_a_call_in_the_link_on_request_and_at_another_load_is_synthetic(tmp_path):
    path = write_udp(tmp_path / "call.pcap", sorted(talk()))
    slower = whatif(path, "10mbit", 100, disciplines="fifo", load=0.1)
    assert slower.summary["disciplines"][0]["users"]["call"]["from"] == "synthetic"
