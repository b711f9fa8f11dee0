"""Probes: what they measure in closed form, and that they are in nobody's way."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.probes import load_bps, with_probes
from mayfly.simulate.recording import Recording, ends
from mayfly.simulate.run import run_one
from mayfly.workload.connections import read_captures
from mayfly.workload.lists import flow_list

RATE = 10e6
ONE = pl.DataFrame({"start_s": [0.0], "size_bytes": [1000]})


def probed(overrides=None, **probes):
    given = {"duration": "20s", **{f"probes.{name}": value for name, value in probes.items()}, **(overrides or {})}
    return load_scenario("wired", given)


def cbr(rate_bps, seconds, direction="down", packet=1500):
    packets = round(rate_bps * seconds / 8 / packet)
    row = {"start_s": [0.0], "size_bytes": [packets * (packet - 28)], "protocol": ["udp"], "direction": [direction]}
    return pl.DataFrame(row | {"packet_bytes": [packet], "rate_bps": [float(rate_bps)]})


def test_a_ping_on_an_idle_link_takes_the_round_trip_of_the_path():
    run = run_one(probed(ping=True), parse("fifo"), flow_list(ONE))
    # Wired: 1 ms on each of three links, one way; access links of 100 Mbit/s. Both ways, 64 bytes.
    base_s = 2 * (3e-3 + 64 * 8 / RATE + 2 * 64 * 8 / 100e6)
    assert run.idle_rtt_s == pytest.approx(base_s, abs=1e-8)
    times = run.probes["returned_s"] - run.probes["sent_s"]
    assert run.probes.height == 200 and times.null_count() == 0
    assert times.median() == pytest.approx(base_s, abs=1e-8)


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_ping_behind_a_full_buffer_waits_for_all_of_it(direction):
    scenario = probed({"network.buffer": 60, "warm_up": "1s"}, ping=True)
    result = compare(scenario, "fifo", cbr(1.5 * RATE, 20, direction))
    row = result.summary["disciplines"][0]
    packet_ms, ping = 1e3 * 1500 * 8 / RATE, row["users"]["ping"]
    # 59 to 60 packets wait before the one that was let in, and one is in transmission.
    for value in (ping["p50_ms"], ping["p95_ms"], ping["mean_ms"]):
        assert value - ping["idle_ms"] == pytest.approx(60 * packet_ms, abs=packet_ms)
    assert ping["grade"] == "C" and row["links"][direction]["utilisation"] == pytest.approx(1.0, abs=0.001)


def test_probes_arrive_at_random_instants_one_in_each_interval():
    flows, probing = with_probes(probed(ping=True, interval="250ms"), flow_list(ONE), 7)
    run = run_one(probed({"seed": 7}, ping=True, interval="250ms"), parse("fifo"), flow_list(ONE))
    sent = run.probes["sent_s"]
    assert (sent // 0.25).cast(pl.Int64).to_list() == list(range(80))
    # Uniform within the interval: mean 0.5 with a deviation of 0.29 / sqrt(80).
    assert (sent / 0.25 % 1).mean() == pytest.approx(0.5, abs=4 * 0.2887 / 80**0.5)
    assert probing.names == ("ping",) and flows.height == 2


def test_a_call_is_heard_in_both_directions():
    run = run_one(probed(call=True, until="10s", rtt="40ms"), parse("fifo"), flow_list(ONE))
    counts = dict(run.probes.group_by("probe").len().rows())
    assert counts == {"call_down": 500, "call_up": 500}
    delays = (run.probes["received_s"] - run.probes["sent_s"]).to_numpy()
    # Half of the round trip, and 200 bytes on three links.
    assert delays == pytest.approx(0.02 + 200 * 8 * (1 / RATE + 2 / 100e6), abs=1e-6)
    assert run.probes["returned_s"].null_count() == 1000


def test_without_probes_nothing_moves_and_with_them_they_count_nowhere():
    plain = {"duration": "5s", "network.rate": "100mbit", "network.access_rate": "1gbit"}
    flows = cbr(20e6, 4)
    bare = compare(load_scenario("wired", plain), "fifo,fq_codel,efd", flows)
    off = compare(load_scenario("wired", plain | {"probes.ping": False}), "fifo,fq_codel,efd", flows)
    assert bare.records.equals(off.records) and bare.samples.equals(off.samples)
    on = compare(load_scenario("wired", plain | {"probes.ping": True, "probes.call": True}), "fifo,fq_codel,efd", flows)
    counted = ["flow_id", "packets_sent", "delivered_bytes", "drops", "queue_packets", "size_bytes", "protocol"]
    assert on.records.select(counted).equals(bare.records.select(counted))
    for with_them, without in zip(on.summary["disciplines"], bare.summary["disciplines"], strict=True):
        same = ("drops", "marks", "udp", "utilisation", "throughput_mbps", "flows_completed", "flows_unfinished")
        assert [with_them[key] for key in same] == [without[key] for key in same]
        assert with_them["queueing_delay"]["packets"] == without["queueing_delay"]["packets"]
        for way in ("down", "up"):
            own, other = with_them["links"][way], without["links"][way]
            assert [own[key] for key in ("utilisation", "drops", "throughput_mbps")] == [
                other[key] for key in ("utilisation", "drops", "throughput_mbps")
            ]
        assert with_them["users"]["ping"]["probes"] == 50 and without["users"]["ping"] is None
    assert on.summary["workload"] == bare.summary["workload"]
    assert on.samples["arrivals"].sum() == bare.samples["arrivals"].sum()


def test_dropped_probes_are_lost_and_no_drop_of_the_link():
    scenario = probed({"network.buffer": 5, "duration": "5s"}, ping=True, call=True, interval="5ms")
    result = compare(scenario, "fifo", cbr(3 * RATE, 4))
    row = result.summary["disciplines"][0]
    sent = row["udp"]["packets"]
    assert sent == round(3 * RATE * 4 / 8 / 1500)
    assert row["drops"] == row["udp"]["lost"] == row["links"]["down"]["drops"] > 0.6 * sent
    assert row["users"]["ping"]["loss"] > 0.3 and row["users"]["call"]["down"]["loss"] > 0.3
    assert row["users"]["call"]["up"]["loss"] == 0 and row["users"]["call"]["down"]["mos"] < 2


def test_traces_and_drops_keep_the_numbers_of_the_workload():
    flows = pl.concat([cbr(2 * RATE, 2), cbr(1e6, 2, "up")])
    scenario = probed({"duration": "5s", "network.buffer": 5, "trace": ["1"]}, ping=True, call=True)
    result = run_one(scenario, parse("fifo"), flow_list(flows), trace_drops=True)
    assert result.packets["flow_id"].unique().to_list() == [1]
    assert result.packets.height == round(1e6 * 2 / 8 / 1500)
    assert result.drops["flow_id"].unique().to_list() == [0]
    assert result.drops.height == result.records["drops"].sum()


def test_a_recording_has_the_probes_under_ports_of_their_own(tmp_path):
    path = tmp_path / "run.pcap"
    scenario = probed({"duration": "2s"}, ping=True)
    flows = flow_list(pl.DataFrame({"start_s": [0.5, 1.0], "size_bytes": [5000, 7000]}))
    run = run_one(scenario, parse("fifo"), flows, recording=Recording(path))
    table = read_captures(path).connections
    tcp, udp = table.filter(protocol="tcp"), table.filter(protocol="udp")
    senders = ends(run.records)["ports"][0].tolist()
    assert sorted(tcp["opener_port"].to_list()) == senders == [1024, 1025]
    # Twenty pings and as many answers.
    assert udp.select("opener_packets", "responder_packets").rows() == [(20, 20)]
    assert udp["opener_port"].to_list() == [1026]


def test_probes_need_one_link():
    with pytest.raises(MayflyError, match="probes: must be off"):
        load_scenario("wlan", {"probes.ping": True})
    with pytest.raises(MayflyError, match="interval"):
        probed(ping=True, interval="0s")


def test_the_load_of_the_probes_is_known():
    assert load_bps(probed()) == {"down": 0.0, "up": 0.0}
    # 64 bytes each 100 ms, 200 bytes each 20 ms.
    assert load_bps(probed(ping=True, call=True))["up"] == 5120 + 80_000
