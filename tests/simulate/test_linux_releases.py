"""Releases of Linux whose TCP `tcp.recovery = linux` has: what differs between them."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

import mayfly
from mayfly.engines.segments import traces
from mayfly.engines.segments.simulated import simulated
from mayfly.errors import MayflyError
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.transport import Tcp, merged

SECOND = 1_000_000_000
MSS = 1448


def events(impairments, preset, size=3000 * MSS, delay_s=0.0025, rate_bps=100_000_000, limit_s=60.0):
    """What the sender's host sends and gets."""
    pattern = {
        "id": "cubic/sack+timestamps/single/1", "clause": "single", "congestion": "cubic", "impairments": impairments,
        "sack": True, "timestamps": True, "ecn": False, "tuned": True, "limit_s": limit_s,
    }  # fmt: skip
    link = {"rate_bps": rate_bps, "delay_s": delay_s, "mtu": 1500}
    trace = traces.Trace(pattern, link, "6.1", 250, MSS, size, True, (), ())
    return simulated(trace, {"preset": preset})


def test_acknowledgements_behind_a_hole_are_held_for_a_share_of_the_round_trip():
    """5 ms and a segment each 0.12 ms: Linux 7.2.7 sends one per 1.1 ms, with the values of 6.1 one per 0.45 ms."""
    lost = [{"segment": 600, "transmission": 1, "do": "drop"}]

    def spacing_ms(preset):
        times = [one.time_ns for one in events(lost, preset) if not one.sent and one.what[0] == 599 * MSS]
        assert len(times) > 6
        return float(np.median(np.diff(times[5:]))) / 1e6

    # A twentieth and 0.1 ms; a third, 1 ms at most, and 0.01 ms: each up to the next segment.
    assert 0.35 <= spacing_ms("linux-6.1") <= 0.35 + 0.13
    assert 1.01 <= spacing_ms("linux-7.3") <= 1.01 + 0.13


@pytest.mark.parametrize(("preset", "after_s"), [("linux-6.1", [1, 3, 7, 15]), ("linux-7.3", [1, 2, 3, 4, 5, 7, 11])])
def test_a_lost_syn_is_sent_again_as_the_release_does(preset, after_s):
    """Linux 6.1, and 7.2.7 as since 6.5: measured."""
    outage = [{"from": "0s", "to": f"{after_s[-1] - 0.5}s", "do": "drop"}]
    tcp = Tcp(preset=preset)
    assert (tcp.kernel, tcp.linear_syn_timeouts) == (preset, 4 if len(after_s) > 4 else 0)
    found = events(outage, preset, size=MSS)
    first = min(one.time_ns for one in found if one.sent and one.what[1] > 0)
    # The data leaves a round trip after the last SYN; timers are up to a 32nd late (jiffies of 4 ms, wheel of timers).
    assert after_s[-1] <= first / SECOND <= after_s[-1] * (1 + 1 / 32) + 0.1


@pytest.mark.parametrize(("preset", "trips"), [("linux-6.1", 0), ("linux-7.3", 1)])
def test_the_fin_of_a_full_window_waits_as_the_release_has_it(preset, trips):
    """Ten segments fill the first window: the FIN leaves with them in 6.1, when one is acknowledged in 7.3."""
    changes = {"tcp.preset": preset, "network.delay": "50ms", "network.rate": "1gbit", "duration": "5s"}
    took = []
    for segments in (9, 10):
        flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [segments * MSS]})
        result = mayfly.run(mayfly.load_scenario("wired", changes), "fifo", flows)
        took.append(result.records["response_time_s"][0])
    # 100 ms of the link, and what its access links take.
    assert took[1] - took[0] == pytest.approx(trips * 0.1, abs=0.005)


def test_a_release_needs_the_ends_of_linux():
    with pytest.raises(MayflyError, match=r"tcp.kernel = linux-7.3: must be left out but with tcp.recovery = linux"):
        mayfly.run(mayfly.load_scenario("wired", {"tcp.kernel": "linux-7.3", "duration": "1s"}), "fifo")
    # The preset brings it for the ends of Linux only.
    mixed = mayfly.load_scenario("wired", {"tcp.preset": "linux-7.3", "tcp.recovery": "sack", "duration": "1s"})
    assert (mixed.tcp.kernel, mixed.tcp.linear_syn_timeouts) == ("linux-6.1", 0)
    mayfly.run(mixed, "fifo")


def test_linux_is_a_release_that_is_named():
    assert PRESETS["linux"] == PRESETS["linux-7.3"] != PRESETS["linux-6.1"]
    assert PRESETS["linux-7.3"]["receive_memory"] == 32 << 20
    for name in ("linux-6.1", "linux-7.3"):
        assert 2 * PRESETS[name]["receiver_window"] * MSS <= Tcp(preset=name).receive_memory


def test_a_transport_of_another_kind_stands_next_to_hosts_of_linux():
    """What the preset of `[tcp]` has for the ends of Linux alone is not carried over."""
    scenario = mayfly.load_scenario("office", {"duration": "2s", "transports.old.recovery": "newreno"})
    assert scenario.tcp.kernel == "linux-7.3"
    old = merged(scenario.tcp, scenario.transports["old"])
    assert (old.recovery, old.kernel, old.linear_syn_timeouts) == ("newreno", "linux-6.1", 0)
    other = scenario.override(tcp=scenario.tcp.model_dump(exclude_unset=True) | {"recovery": "sack"})
    assert (other.tcp.kernel, other.tcp.linear_syn_timeouts) == ("linux-6.1", 0)
