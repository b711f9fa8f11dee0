"""Presets of QUIC stacks: what leaves, in captures of runs, is what docs/mechanisms.md, "QUIC stacks", says of each."""

import itertools
import struct

import polars as pl
import pytest

import mayfly
from mayfly.comparison.comparison import run
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.recording import Recording

STACKS = {name for name, fields in PRESETS.items() if fields.get("recovery") == "quic"}

FIRST_FLIGHT = {"quic": (10, 1472), "aioquic": (10, 1200), "ngtcp2": (10, 1200), "quic-go": (32, 1280)}
"""Datagrams of the first flight, and bytes of each without IP and UDP."""

TIMEOUT_S = {"quic": 0.999, "aioquic": 0.2, "ngtcp2": 0.999, "quic-go": 0.2}
"""Before a sample of the round-trip time."""

CAPABLE = {"quic": 0, "aioquic": 0, "ngtcp2": 2, "quic-go": 2}
"""ECN field of packets with data and of their acknowledgements: Not-ECT or ECT(0)."""

IP_UDP = 28


def packets(path):
    """Packets of a capture in order: time (s), host that sent it, bytes of IP, ECN field."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", data, at)
        ip = data[at + 16 + 14 : at + 16 + captured]
        assert ip[9] == 17
        found.append((seconds + nanoseconds * 1e-9, bytes(ip[12:16]), length - 14, ip[1] & 3))
        at += 16 + captured
    return found


def recorded(tmp_path, preset, network=None, **flow):
    """Packets at the sender's interface: one transfer over a path of 100 ms on which sending takes next to no time."""
    path = tmp_path / "run.pcap"
    scenario = scenario_of(
        {
            "duration": "30s",
            "stop_when_idle": True,
            "network": {"rate": "1gbit", "access_rate": "10gbit", "delay": "50ms", "buffer": 1000} | (network or {}),
            "tcp": {"preset": preset},
        },
        "stack",
    )
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [200_000]} | flow)
    records = run(scenario, "fifo", flows, recording=Recording(path, "server")).records
    assert records["delivered_bytes"].to_list() == flows["size_bytes"].to_list()
    return packets(path)


def test_all_presets_of_quic_are_here():
    assert set(FIRST_FLIGHT) == set(TIMEOUT_S) == set(CAPABLE) == STACKS


@pytest.mark.parametrize("preset", sorted(STACKS))
def test_a_preset_runs_on_a_ready_scenario(preset):
    scenario = load_scenario("wired", {"tcp.preset": preset, "duration": "20s"})
    records = mayfly.run(scenario, "fifo").records
    assert records.height > 100 and records["finish_s"].is_not_null().mean() > 0.9


@pytest.mark.parametrize("preset", sorted(STACKS))
def test_the_first_flight_has_the_datagrams_of_the_stack(tmp_path, preset):
    found = recorded(tmp_path, preset, opened_by=["receiver"])
    client = found[0][1]
    of_server = [(at, length - IP_UDP) for at, host, length, _ in found if host != client]
    flights = [[of_server[0]]]
    for before, packet in itertools.pairwise(of_server):
        if packet[0] - before[0] > 0.05:
            flights.append([])
        flights[-1].append(packet)
    # The handshake is one of its own.
    count, size = FIRST_FLIGHT[preset]
    assert [length for _, length in flights[1]] == [size] * count


@pytest.mark.parametrize("preset", sorted(STACKS))
def test_the_timeout_before_a_sample_is_that_of_the_stack(tmp_path, preset):
    """All is lost until the second timeout, which is twice as long."""
    timeout = TIMEOUT_S[preset]
    lost = [{"from": "0s", "to": f"{2.5 * timeout}s", "do": "drop"}]
    found = recorded(tmp_path, preset, {"impairment": lost})
    client = found[0][1]
    times = sorted({round(at - found[0][0], 6) for at, host, *_ in found if host == client and at < 3.5 * timeout})
    assert times[:3] == pytest.approx([0.0, timeout, 3 * timeout], abs=1e-6)


@pytest.mark.parametrize("preset", sorted(STACKS))
def test_packets_have_the_ecn_field_of_the_stack(tmp_path, preset):
    found = recorded(tmp_path, preset)
    client = found[0][1]
    # Initial and Handshake packets are Not-ECT, as quic-go's are. Behind two round trips there are no more of them.
    assert found[0][3] == 0
    late = {(host == client, ecn) for at, host, _, ecn in found if at - found[0][0] > 0.25}
    assert late == {(True, CAPABLE[preset]), (False, CAPABLE[preset])}
