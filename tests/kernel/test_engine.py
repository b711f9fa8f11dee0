"""Scenarios in the kernel: transfers and datagrams of known outcome, and every leaf."""

import polars as pl
import pytest

import mayfly
from mayfly.engines.disciplines import LEAVES
from mayfly.simulate.scenario import load_scenario

pytestmark = pytest.mark.kernel

PACKET_S = 1500 * 8 / 10e6


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    import guest

    guest.kernel()


def wired(**changes):
    return load_scenario("wired", {"tcp.preset": "linux", "duration": "3s"} | changes)


def test_transfers_alone_take_as_long_as_in_the_simulator():
    # Either direction, opened by either end; apart, so that none meets another. The kernel's FIN rides on the last data
    # and its handshake has 20 bytes of options: less than two packets' time in all.
    flows = pl.DataFrame(
        {
            "start_s": [0.0, 0.5, 1.0, 1.5],
            "direction": ["down", "up", "down", "up"],
            "opened_by": ["sender", "sender", "receiver", "receiver"],
            "size_bytes": [14_480, 14_480, 50_000, 100],
        }
    )
    result = mayfly.compare(wired(), "fifo", flows, engine="both")
    kernel, here = (result.records.filter(pl.col("discipline") == name) for name in ("fifo (linux)", "fifo"))
    for name in ("response_time_s", "last_data_s", "first_data_s"):
        assert kernel[name].to_list() == pytest.approx(here[name].to_list(), abs=2 * PACKET_S)
    assert kernel["drops"].to_list() == kernel["retransmits"].to_list() == [0] * 4
    assert kernel["delivered_bytes"].to_list() == flows["size_bytes"].to_list()


def test_datagrams_beyond_the_rate_are_those_that_the_queue_drops():
    # 1000 packets of 1500 bytes at 12 Mb/s into 10 Mb/s: 833 are sent in the time, one is on the link, 20 wait.
    flows = pl.DataFrame(
        {"start_s": [0.0], "protocol": ["udp"], "size_bytes": [1000 * 1472], "packet_bytes": [1500], "rate_bps": [12e6]}
    )
    result = mayfly.compare(wired(**{"network.buffer": 20}), "fifo", flows, engine="linux")
    row, record = result.summary["disciplines"][0], result.records.row(0, named=True)
    assert record["packets_sent"] == 1000
    assert record["drops"] == row["drops"] == pytest.approx(1000 - 833 - 21, abs=2)
    assert result.samples["arrivals"].sum() == 1000 and result.samples["backlog_packets"].max() == 20


def test_what_flows_lost_is_what_the_queues_dropped():
    # Finished transfers: nothing is under way any more.
    flows = pl.DataFrame({"start_s": [0.0] * 8, "src": range(1, 9), "size_bytes": [300_000] * 8})
    result = mayfly.compare(wired(**{"network.buffer": 30, "duration": "20s"}), "fifo", flows, engine="linux")
    row = result.summary["disciplines"][0]
    assert row["flows_unfinished"] == 0 and row["drops"] > 20
    assert result.records["drops"].sum() == row["drops"] == result.samples["drops"].sum()
    assert result.records["retransmits"].sum() >= row["drops"]


def test_every_leaf_carries_the_transfers():
    flows = pl.DataFrame({"start_s": [0.0, 0.1, 0.2], "src": [1, 2, 3], "size_bytes": [200_000] * 3})
    result = mayfly.compare(wired(), ",".join(LEAVES), flows, engine="linux")
    assert [row["flows_completed"] for row in result.summary["disciplines"]] == [3] * len(LEAVES)
    sent = [row["throughput_mbps"]["down"] * 3 / 8 * 1e6 for row in result.summary["disciplines"]]
    assert sent == pytest.approx([3 * 200_000 * 1500 / 1448] * len(LEAVES), rel=0.05)


def test_a_bounded_window_is_what_is_under_way():
    # 43 segments a round trip of 109 ms: what takes time is the window, and the start, for which the simulator gets the
    # kernel's constants. With one segment more the transfer would take 2 % less.
    constants = {"tcp.quick_acks": 16, "tcp.byte_counting": True, "tcp.delayed_ack": "40ms"}
    scenario = load_scenario("wired", {"duration": "8s", "network.delay": "50ms", **constants})
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [3_000_000]})
    result = mayfly.compare(scenario, "fifo", flows, engine="both")
    here, kernel = result.records["response_time_s"]
    assert kernel == pytest.approx(here, rel=0.01)
    assert abs(result.records["packets_sent"][1] - result.records["packets_sent"][0]) <= 2
