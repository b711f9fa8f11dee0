"""Flow lists in a wireless cell: who is which station, what comes back, times alone."""

from pathlib import Path

import polars as pl
import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.scenario.wlan import Wlan
from mayfly.simulate.network.cell import Cell, cell_of
from mayfly.simulate.run import named, run_many, run_one, workload
from mayfly.workload.lists import flow_list

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns3"

NETWORK = {"access_rate": "1gbit", "access_delay": "2ms", "buffer": 100, "reverse_buffer": 2000}


def scenario(wlan=None, **more):
    return scenario_of({"duration": "10s", "network": NETWORK | {"wlan": wlan or {}}} | more, "cell")


def flows(*rows):
    """Each row: direction, wired host, station, packets."""
    columns = {
        "start_s": [0.5 * number for number in range(len(rows))],
        "direction": [way for way, *_ in rows],
        "src": [str(wired if way == "down" else station) for way, wired, station, _ in rows],
        "dst": [str(station if way == "down" else wired) for way, wired, station, _ in rows],
        "size_packets": [packets for *_, packets in rows],
    }
    return flow_list(pl.DataFrame(columns))


def run(flows, wlan=None, discipline="fifo", **more):
    return run_one(scenario(wlan, **more), named(discipline)[0], flows)


def numbers(stations, *rows):
    src, dst = Cell(Wlan(stations=stations)).numbers(flows(*rows))
    return src.tolist(), dst.tolist()


def test_small_whole_numbers_are_the_stations_of_these_numbers():
    assert numbers(10, ("down", 100, 3, 1), ("up", 20, 9, 1)) == ([1, 9], [3, 0])


def test_other_hosts_are_numbered_in_order_numbers_by_value():
    assert numbers(3, ("down", 1, 10, 1), ("down", 1, 9, 1), ("up", 1, 2, 1)) == ([0, 0, 0], [2, 1, 0])
    assert numbers(2, ("down", "a", "phone", 1), ("up", "b", "laptop", 1)) == ([0, 0], [1, 1])


def test_more_stations_than_there_are_is_refused():
    with pytest.raises(
        MayflyError, match=r"^3 stations in the flow list: must be at most 2, as network.wlan.stations$"
    ):
        numbers(2, ("down", 1, 7, 1), ("down", 1, 8, 1), ("up", 1, 9, 1))


def test_the_reference_list_of_ns3_reads_with_its_letters():
    path = REFERENCE / "wlan_flows_10M_400s.csv.gz"
    if not path.exists():
        pytest.skip("needs the flow lists in ../shared/reference/ns3")
    listed = mayfly.read_flows(path)
    assert listed["direction"].unique().sort().to_list() == ["down", "up"]
    # There src is the station and dst the server, whatever the direction: data of a download comes from the server.
    down = pl.col("direction") == "down"
    turned = listed.with_columns(
        src=pl.when(down).then("dst").otherwise("src"), dst=pl.when(down).then("src").otherwise("dst")
    )
    stations = Cell(Wlan()).stations(flow_list(turned))
    assert (stations == pl.read_csv(path).sort("start_s", "flow_id")["src"].to_numpy()).all()


def test_hosts_of_a_synthetic_workload_are_the_stations_and_wired_hosts_beyond_them():
    drawn = workload(load_scenario("wlan", {"duration": "20s"}))
    wired = pl.when(pl.col("direction") == "down").then("src").otherwise("dst")
    station = pl.when(pl.col("direction") == "down").then("dst").otherwise("src")
    ends = drawn.select(wired=wired, station=station)
    assert set(ends["station"]) == set(range(10))
    assert set(ends["wired"]) == set(range(10, 20))


def test_each_user_is_a_station_of_its_own():
    drawn = workload(load_scenario("wlan-5v5"))
    down, up = (drawn.filter(direction=way) for way in ("down", "up"))
    assert sorted(down["dst"]) == [0, 1, 2, 3, 4]
    assert sorted(up["src"]) == [5, 6, 7, 8, 9]
    with pytest.raises(MayflyError, match=r"^users of the workload: must be at most 9 in all"):
        workload(load_scenario("wlan-5v5", {"network.wlan.stations": 9}))


def test_a_download_and_an_upload_come_back_with_their_station():
    result = run(flows(("down", 20, 3, 100), ("up", 20, 7, 50)))
    records, nodes = result.records, result.cell["nodes"]
    assert records["station"].to_list() == [3, 7]
    assert records["finish_s"].null_count() == 0
    assert records["warm_up_bytes"].to_list() == [0, 0]
    # A packet of a download is at the access point while it lasts, but for the round trips on the wire.
    presence, response = records["presence_s"].to_list(), records["response_time_s"].to_list()
    assert 0 < presence[0] < response[0] and 0 < presence[1] < response[1]
    # Down: SYN-ACK or SYN, data, acknowledgements of the upload.
    assert nodes["acked"][0] >= 100 + 25
    sent = [count for station, count in enumerate(nodes["acked"][1:]) if station not in (3, 7)]
    assert sum(sent) == 0
    assert result.counters["utilisation"] == pytest.approx(result.cell["busy_s"] / result.cell["seconds"])
    assert result.counters["throughput_up_mbps"] == pytest.approx(sum(nodes["acked_bytes"][1:]) * 8 / 10 / 1e6)


def test_payload_is_counted_after_the_warm_up():
    listed = flows(("down", 20, 0, 10), ("down", 20, 1, 10))
    records = run(listed, warm_up="400ms").records
    assert records["warm_up_bytes"].to_list() == [14_600, 0]


def test_a_saturated_station_takes_its_cycle():
    saturated = {"workload": {"cbr": [{"rate": "40mbit", "users": 1, "direction": "up"}]}, "warm_up": "1s"}
    result = run_many(scenario({"stations": 1, "preset": "bianchi"}, **saturated), named("fifo"))[0]
    # DIFS, 7.5 slots, 248 us of data, SIFS, 28 us of ACK; the mean backoff of 22,900 draws is within 4 deviations.
    frames = result.cell["nodes"]["acked"][1]
    spread_us = 4 * 9 * 4.61 / frames**0.5
    assert result.cell["seconds"] / frames * 1e6 == pytest.approx(393.5, abs=spread_us)


def test_a_transfer_alone_has_a_slowdown_near_one_at_any_rate():
    wlan = {"stations": 3, "rates": ["6mbit", "54mbit", "24mbit"]}
    listed = flows(*((way, 20, station, 400) for way in ("down", "up") for station in range(3)))
    listed = listed.with_columns(start_s=pl.Series([20.0 * number for number in range(6)]))
    records = run(listed, wlan, duration="120s").records
    times = records["response_time_s"].to_list()
    # Alone backoffs take their mean and nothing collides. Here one access in 15 meets an acknowledgement (ns-3: 0.036
    # to 0.098), which takes about a frame and a backoff more; 400 packets leave a percent or two.
    assert all(0.98 < slowdown < 1.1 for slowdown in records["slowdown"])
    assert times[0] > 3 * times[1] and times[0] > times[2] > times[1]


def test_voice_is_faster_than_bulk_with_edca():
    wlan = {"edca": True, "categories": {"voice": "vo", "bulk": "bk"}}
    call = {"rate": "64kbit", "packet": 200, "direction": "up", "users": 1, "group": "voice"}
    bulk = {"flows": 4, "users": 4, "direction": "up", "group": "bulk"}
    both = {"workload": {"cbr": [call], "permanent": [bulk]}}
    waits = {}
    for edca in (True, False):
        given = scenario(wlan if edca else {}, **both)
        category_of = cell_of(given).category_of(workload(given))
        assert sorted(category_of) == ([0, 0, 0, 0, 3] if edca else [])
        result = run_many(given, named("fifo"))[0]
        voice = result.records.filter(group="voice")
        waits[edca] = voice["lost"].sum() + voice["drops"].sum(), result.cell["nodes"]["collided"][1]
    assert waits[True] <= waits[False]


@pytest.mark.parametrize("queues", ["shared", "per-station", "airtime-fair"])
def test_a_slow_station_takes_the_air_unless_it_is_shared_out(queues):
    over = {"duration": "10s", "network.wlan.queues": queues}
    result = run_many(load_scenario("wlan-slow-station", over), named("fifo"))[0]
    slow, *fast = result.cell["nodes"]["airtime_s"][1:]
    if queues == "airtime-fair":
        assert slow == pytest.approx(sum(fast) / 9, rel=0.15)
    elif queues == "per-station":
        # A frame in turn: 2132 us with SIFS and ACK at 6 Mb/s against 292 us at 54 Mb/s, and TCP's own ones.
        assert slow > 5 * sum(fast) / 9
    else:
        assert slow > sum(fast) / 9
