"""Acknowledgements on their way back: how many there are with receive offload, and what a slow way back costs."""

import math
import struct
from itertools import pairwise

import polars as pl
import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.recording import Recording
from mayfly.simulate.run import run_one
from mayfly.workload.lists import flow_list

MSS, HEADERS = 1448, 52
FAST = 400_000_000_000
"""bit/s of links that take no time."""


def scenario(network, tcp):
    network = {"access_rate": FAST, "access_delay": 0, "exit_delay": 0, "buffer": 1000} | network
    tcp = {"preset": "linux", "recovery": "linux", "tick": "1ms", "fin": False} | tcp
    fixed = {"duration": "60s", "stop_when_idle": True, "clock_phase": 0, "sample_interval": 0}
    return scenario_of({"name": "receiver", **fixed, "network": network, "tcp": tcp}, "receiver")


def flow(segments):
    return flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [segments * MSS]}))


def took(segments, network, tcp):
    """Seconds until all has come."""
    record = run_one(scenario(network, tcp), parse("fifo"), flow(segments)).records.row(0, named=True)
    assert record["finish_s"] is not None
    return record["finish_s"]


def acknowledgements(path, segments, network, tcp):
    """Bare ones that the receiver's host sent behind the handshake, and the windows in them, bytes."""
    run_one(scenario(network, tcp), parse("fifo"), flow(segments), recording=Recording(path, "client"))
    capture, position, sender, windows, scale = path.read_bytes(), 24, None, [], 0
    while position < len(capture):
        (kept,) = struct.unpack_from("<I", capture, position + 8)
        ip = capture[position + 16 + 14 : position + 16 + kept]
        position += 16 + kept
        sender = sender or ip[12:16]
        offset, flags, window = struct.unpack_from("!BBH", ip[20:], 12)
        if ip[12:16] == sender:
            continue
        if flags & 2:
            options = ip[40 : 20 + (offset >> 4) * 4]
            scale = options[options.index(b"\x03\x03") + 2] if b"\x03\x03" in options else 0
        else:
            windows.append(window << scale)
    return windows


@pytest.mark.parametrize("window", [10, 20])
@pytest.mark.parametrize("gro_us", [0, 100, 300, 900, 2000])
def test_offload_leaves_one_acknowledgement_for_what_arrives_within_its_time(window, gro_us, tmp_path):
    """A round trip of 0.2 ms lets 64 kB leave together, but half of the window at most: two bursts that end with PSH.

    At 100 Mbit/s a packet takes 0.12 ms, so that so many of a burst come within the time that the first waits, and
    with it; each packet that goes up is acknowledged at once, as the first ones are.
    """
    network = {"rate": 100_000_000, "delay": "0.1ms", "reverse_rate": FAST}
    found = acknowledgements(
        tmp_path / "run.pcap", window, network, {"initial_window": window, "gro": gro_us * 1e-6, "quick_acks": 100}
    )
    together = math.floor(gro_us / 120) + 1
    assert len(found) == 2 * math.ceil(window / 2 / together)


def test_a_window_of_one_s_own_is_told_as_it_is_and_a_tuned_one_grows(tmp_path):
    network = {"rate": 10_000_000, "delay": "20ms"}
    # What the guest of either release told first: 64,128, and 66,984 in units of 1,024. The path holds 50 kB and its
    # queue 1.4 MB, so the window grows with what comes: in Linux 7.3.4 up to 346,112 (later/180 of the segment oracle).
    releases = (("linux-6.1", 64_128, 400_000, 3_145_728), ("linux-7.3", 67_584, 346_112, 346_112))
    for preset, first, least, most in releases:
        tuned = acknowledgements(tmp_path / f"{preset}.pcap", 400, network, {"preset": preset})
        assert tuned[0] == first
        assert least <= max(tuned) <= most
        assert all(later >= before for before, later in pairwise(tuned))
    # Half of the memory, without a segment and the memory of the one that was read; in 7.3 the share that payload has
    # of the memory of a segment, 1448 of 2304 in parts of 256.
    for preset, most in (("linux-6.1", 131_072), ("linux-7.3", 262_144 * (1448 * 256 // 2304) // 256)):
        fixed = acknowledgements(tmp_path / f"fixed-{preset}.pcap", 400, network, FIXED | {"preset": preset})
        assert 0.9 * most < max(fixed) <= most
    constant = acknowledgements(
        tmp_path / "window.pcap", 400, network, {"receive_buffer": "window", "receiver_window": 40}
    )
    assert set(constant) == {40 * MSS}


FIXED = {"receive_buffer": "fixed", "receive_memory": 262_144}
SLOW_BACK = {"rate": 100_000_000, "delay": "20ms", "reverse_rate": 104_000}
BOUND = {"receive_buffer": "window", "receiver_window": 40, "quick_acks": 0, "delayed_ack": "40ms"}


def test_acknowledgements_that_queue_on_their_way_back_set_the_pace_of_the_data():
    """104 kbit/s are 250 acknowledgements a second, each for two segments: 500 segments a second, not 100 Mbit/s."""
    per_second = SLOW_BACK["reverse_rate"] / (HEADERS * 8)
    network = SLOW_BACK | {"reverse_buffer": 1000}
    more = took(3000, network, BOUND) - took(1000, network, BOUND)
    assert more == pytest.approx(2000 / (2 * per_second), abs=2 / per_second)


def test_acknowledgements_that_are_lost_there_make_the_others_count_for_more():
    """With room for two, the way back takes three transmissions at most: the window bounds the rate, on both sides."""
    transmission = HEADERS * 8 / SLOW_BACK["reverse_rate"]
    more = took(3000, SLOW_BACK | {"reverse_buffer": 2}, BOUND) - took(1000, SLOW_BACK | {"reverse_buffer": 2}, BOUND)
    round_trip = 0.04 + transmission
    assert 2000 / 40 * round_trip < more < 2000 / 40 * (round_trip + 2 * transmission + 40 * 0.00012)
    # Faster than where none is lost.
    assert more < 2000 * transmission / 2


def test_the_way_back_may_have_a_delay_of_its_own():
    network = {"rate": 10_000_000, "delay": "10ms", "reverse_rate": FAST}
    near, far = (took(1, network | {"reverse_delay": delay}, {}) for delay in ("10ms", "30ms"))
    # SYN, its answer, the segment: the way back is taken once.
    assert far - near == pytest.approx(0.02, abs=1e-9)
    assert took(1, network, {}) == near
    graph = {"topology": "graph", "link": [{"from": "a", "to": "b", "delay": "10ms", "reverse_delay": "30ms"}]}
    graph["hosts"] = [{"at": "a", "name": "left"}, {"at": "b", "name": "right"}]
    listed = pl.DataFrame({"start_s": [0.0], "size_bytes": [MSS], "src": ["left"], "dst": ["right"]})
    given = scenario({"rate": 10_000_000, "reverse_rate": FAST} | graph, {})
    found = run_one(given, parse("fifo"), flow_list(listed)).records["finish_s"][0]
    assert found == pytest.approx(far, abs=1e-4)


@pytest.mark.parametrize(
    ("tcp", "told"),
    [
        ({"recovery": "sack", "gro": "1ms"}, "tcp.gro_ns = 1000000: must be 0 without tcp.recovery = linux"),
        ({"recovery": "sack", "receive_buffer": "tuned"}, "auto or window without tcp.recovery = linux"),
        ({"receive_buffer": "fixed", "receive_memory": 4096}, "at least 4 segments of tcp.mss"),
    ],
)
def test_what_only_the_receiver_of_linux_has_is_refused_elsewhere(tcp, told):
    with pytest.raises((MayflyError, ValueError), match=told):
        run_one(scenario({"rate": 10_000_000}, tcp), parse("fifo"), flow(1))
