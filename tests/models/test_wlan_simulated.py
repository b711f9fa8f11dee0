"""The models of a cell against Mayfly's simulator."""

import pytest

from mayfly.discipline_registry import parse
from mayfly.models.wlan.dcf import saturation
from mayfly.models.wlan.pair import single_tcp
from mayfly.models.wlan.shares import download_shares
from mayfly.models.wlan.times import CellTimes
from mayfly.models.wlan.windows import window_ratio
from mayfly.scenario.airtimes import airtimes
from mayfly.scenario.overrides import merged
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload

pytestmark = pytest.mark.slow


def times(standard="802.11a", rate=None, **options):
    return CellTimes.of(airtimes(standard, rate, lengths=[1536, 76], **options))


def simulated(name, *settings, duration="60s"):
    scenario = load_scenario(name, merged([*settings, f"duration={duration}"], {}))
    return run_one(scenario, parse("fifo"), workload(scenario))


def saturated(stations, direction, *settings):
    flows = (
        f'{{rate="31mbit", packet=1500, flows={stations}, users={stations}, spread="10ms", direction="{direction}"}}'
    )
    cell = (f"network.wlan.stations={stations}", f"workload.senders={stations}", f"workload.cbr=[{flows}]")
    return simulated("wlan-saturation", *cell, *settings).cell


def mbps(cell, nodes=slice(None)):
    return sum(cell["nodes"]["acked_bytes"][nodes]) * 8e-6 / cell["seconds"]


def collisions(cell, nodes=slice(None)):
    return sum(cell["nodes"]["collided"][nodes]) / sum(cell["nodes"]["attempts"][nodes])


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
@pytest.mark.parametrize("stations", [1, 2, 5, 10, 20])
def test_saturated_stations(stations, rule):
    """1.5 % and 0.01 by the issue; the approximation has 0.5 % and 0.008."""
    cell = saturated(stations, "up", f"network.wlan.backoff={rule}")
    found = saturation(times(), stations, rule=rule)
    assert found.throughput_bps / 1e6 == pytest.approx(mbps(cell), rel=0.015)
    assert found.collision_probability == pytest.approx(collisions(cell), abs=0.01)


@pytest.mark.parametrize(("queues", "fairness"), [("per-station", "packets"), ("airtime-fair", "airtime")])
def test_downloads_to_unequal_stations(queues, fairness):
    """No collision, nothing random but the backoffs of some 80,000 packets: 4 standard errors are 0.2 %."""
    cell = saturated(5, "down", 'network.wlan.rates=["6mbit"]', f"network.wlan.queues={queues}")
    found = download_shares([times(rate="6mbit")] + [times()] * 4, fairness)
    assert found.throughput_bps / 1e6 == pytest.approx(mbps(cell), rel=2e-3)


def test_uploads_of_unequal_stations():
    cell = saturated(5, "up", 'network.wlan.rates=["6mbit"]')
    found = saturation([times(rate="6mbit")] + [times()] * 4)
    assert found.throughput_bps / 1e6 == pytest.approx(mbps(cell), rel=0.015)


@pytest.mark.parametrize("direction", ["down", "up"])
@pytest.mark.parametrize(("standard", "ack_rate"), [("802.11a", None), ("802.11b", "2mbit")])
def test_one_tcp_transfer_by_the_rules_of_ns3(standard, ack_rate, direction):
    """1 % by the issue, collisions as between ns-3 and the simulator."""
    flow = f'{{flows=1, users=1, spread="100ms", group="{direction}", direction="{direction}"}}'
    rate = "54mbit" if standard == "802.11a" else "11mbit"
    result = simulated(
        "wlan-ns3",
        f"network.wlan.standard={standard}",
        f"network.wlan.rate={rate}",
        "network.wlan.stations=1",
        "network.buffer=300",
        "workload.senders=1",
        f"workload.permanent=[{flow}]",
    )
    sender, receiver = (slice(0, 1), slice(1, 2)) if direction == "down" else (slice(1, 2), slice(0, 1))
    found = single_tcp(
        times(standard, ack_rate=ack_rate),
        after_failure="timeout-and-difs",
        fresh="at-once" if direction == "down" else "draws",
    )
    assert found.throughput_bps / 1e6 == pytest.approx(mbps(result.cell, sender), rel=0.01)
    assert found.collision_sender == pytest.approx(collisions(result.cell, sender), abs=0.01)
    assert found.collision_receiver == pytest.approx(collisions(result.cell, receiver), abs=0.01)


@pytest.mark.parametrize("buffer", [200, 250, 300, 350])
def test_uploads_against_downloads_by_their_windows(buffer):
    """Within the swing of windows: up to 4/3 of the ratio, or as much less where acknowledgements leave some room."""
    records = simulated("wlan-ns3", f"network.buffer={buffer}").records
    up, down = (records.filter(records["direction"] == way)["delivered_bytes"].sum() for way in ("up", "down"))
    ratio = window_ratio(buffer, 5, 5).ratio
    assert 3 / 4 * ratio < up / down < 4 / 3 * ratio
