"""Networks of the kernel engine: a parking lot, graphs with paths of their own, links that lose packets by chance."""

import guest
import polars as pl
import pytest
from guest_hosts import PRESET

import mayfly
from mayfly.engines import engine as engine_named
from mayfly.scenario.scenario import load_scenario, scenario_of

pytestmark = pytest.mark.kernel

PACKET_S = 1500 * 8 / 5e6


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


def both(scenario, flows=None, discipline="fifo") -> tuple[mayfly.Comparison, list[pl.DataFrame]]:
    result = mayfly.compare(scenario, discipline, flows, engine=engine_named("both"))
    names = (discipline, f"{discipline} (linux)")
    return result, [result.records.filter(discipline=name).sort("flow_id") for name in names]


def test_a_parking_lot_shares_as_in_the_simulator():
    result, (here, kernel) = both(load_scenario("parking-lot", {"duration": "30s", "sample_interval": "1s"}))
    shares = [dict(rows.group_by("group").agg(pl.col("delivered_bytes").sum()).iter_rows()) for rows in (here, kernel)]
    for group, delivered in shares[0].items():
        # The long flows have a tenth of the others, and chance more of a say in it.
        assert shares[1][group] == pytest.approx(delivered, rel=0.5 if group == "long" else 0.08), group
    one, other = (row["interfaces"] for row in result.summary["disciplines"])
    assert [row["name"] for row in other] == [row["name"] for row in one] and len(other) == 6
    for mine, theirs in zip(one, other, strict=True):
        assert theirs["utilisation"] == pytest.approx(mine["utilisation"], rel=0.08)
        assert theirs["drops"] == pytest.approx(mine["drops"], rel=0.15)
        assert theirs["queue_mean_packets"] == pytest.approx(mine["queue_mean_packets"], rel=0.1, abs=0.1)


def ring(**changes):
    """Two ways from a to c: by b, less delay, or straight; d hangs on c by a slow link that is slower still back."""
    links = [
        {"from": "a", "to": "c", "rate": "50mbit", "delay": "30ms"},
        {"from": "a", "to": "b", "rate": "10mbit", "delay": "5ms"},
        {"from": "b", "to": "c", "rate": "20mbit", "delay": "7ms", "reverse_delay": "40ms"},
        {"from": "c", "to": "d", "rate": "8mbit", "reverse_rate": "5mbit", "delay": "3ms", "name": "slow"},
    ]
    hosts = [
        {"at": "a", "name": "near", "count": 2},
        {"at": "b", "name": "middle", "access_delay": "4ms"},
        {"at": "d", "name": "far", "count": 2, "access_rate": "30mbit", "access_rate_up": "6mbit"},
    ]
    network = {"topology": "graph", "watched": "slow", "link": links, "hosts": hosts}
    given = {"network": network, "tcp": {"preset": PRESET}, "duration": "12s", "workload": {"load": "1mbit"}}
    return scenario_of(given | changes, "ring")


def test_packets_of_a_graph_take_the_paths_of_the_simulator():
    # Apart, so that none meets another; every pair of places, and both hosts of a group; one has a time of its own.
    pairs = [("near-1", "far-1"), ("far-2", "near-2"), ("middle", "far-2"), ("far-1", "middle"), ("near-2", "middle")]
    flows = pl.DataFrame(
        {
            "start_s": [1.5 * k for k in range(6)],
            "src": [one for one, _ in pairs] + ["near-1"],
            "dst": [other for _, other in pairs] + ["far-1"],
            "size_bytes": [14_480] * 6,
            "rtt_s": [None] * 5 + [0.2],
        }
    )
    result, (here, kernel) = both(ring(), flows)
    for name in ("response_time_s", "first_data_s", "last_data_s"):
        assert kernel[name].to_list() == pytest.approx(here[name].to_list(), abs=2 * PACKET_S)
    assert kernel["delivered_bytes"].to_list() == [14_480] * 6
    one, other = (row["interfaces"] for row in result.summary["disciplines"])
    used = [row["arrivals"] > 0 for row in one]
    assert [row["arrivals"] > 0 for row in other] == used and not all(used)


def test_a_link_loses_data_by_chance_and_no_acknowledgement():
    # 4000 datagrams each way at a hundredth of the rate, and a transfer with a window of 20 packets.
    flows = pl.DataFrame(
        {
            "start_s": [0.0, 0.0, 0.0],
            "src": [1, 2, 3],
            "dst": [1, 2, 3],
            "direction": ["down", "up", "down"],
            "protocol": ["udp", "udp", "tcp"],
            "size_bytes": [4000 * 172, 4000 * 172, 2**40],
            "packet_bytes": [200, 200, None],
            "rate_bps": [160e3, 160e3, None],
        }
    )
    changes = {"tcp.preset": PRESET, "tcp.recovery": "linux", "network.loss": 0.02, "duration": "45s"}
    _, (here, kernel) = both(load_scenario("wired", changes | {"sample_interval": "1s"}), flows)
    # Five standard deviations of 4000 draws of 2 %.
    for row in (0, 1):
        assert kernel["drops"][row] / 4000 == pytest.approx(0.02, abs=5 * (0.02 * 0.98 / 4000) ** 0.5)
    # Were acknowledgements lost, too, there would be half as many again.
    share = kernel["drops"][2] / kernel["packets_sent"][2]
    assert kernel["packets_sent"][2] > 5000
    assert share == pytest.approx(0.02, abs=5 * (0.02 * 0.98 / kernel["packets_sent"][2]) ** 0.5)
    assert kernel["delivered_bytes"][2] == pytest.approx(here["delivered_bytes"][2], rel=0.15)
    assert kernel["retransmits"][2] == pytest.approx(kernel["drops"][2], rel=0.1)
