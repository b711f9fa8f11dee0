"""Scenarios in the kernel: transfers and datagrams of known outcome, and every leaf."""

import guest
import polars as pl
import pytest
from guest_hosts import PRESET

import mayfly
from mayfly.discipline_registry import parse
from mayfly.discipline_registry.tc_options import leaves
from mayfly.engines import engine as engine_named
from mayfly.engines import linux as engine
from mayfly.scenario.scenario import load_scenario
from mayfly.workload.lists import flow_list

pytestmark = pytest.mark.kernel

PACKET_S = 1500 * 8 / 10e6


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


def wired(**changes):
    return load_scenario("wired", {"tcp.preset": PRESET, "duration": "3s", "sample_interval": "100ms"} | changes)


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
    result = mayfly.compare(wired(), "fifo", flows, engine=engine_named("both"))
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
    result = mayfly.compare(wired(**{"network.buffer": 20}), "fifo", flows, engine=engine_named("linux"))
    row, record = result.summary["disciplines"][0], result.records.row(0, named=True)
    assert record["packets_sent"] == 1000
    assert record["drops"] == row["drops"] == pytest.approx(1000 - 833 - 21, abs=2)
    assert result.samples["arrivals"].sum() == 1000 and result.samples["backlog_packets"].max() == 20


def test_what_flows_lost_is_what_the_queues_dropped():
    # Finished transfers: nothing is under way any more.
    flows = pl.DataFrame({"start_s": [0.0] * 8, "src": range(1, 9), "size_bytes": [300_000] * 8})
    result = mayfly.compare(
        wired(**{"network.buffer": 30, "duration": "20s", "sample_interval": "1s"}),
        "fifo",
        flows,
        engine=engine_named("linux"),
    )
    row = result.summary["disciplines"][0]
    assert row["flows_unfinished"] == 0 and row["drops"] > 20
    assert result.records["drops"].sum() == row["drops"] == result.samples["drops"].sum()
    assert result.records["retransmits"].sum() >= row["drops"]


def test_every_leaf_carries_the_transfers(monkeypatch):
    # One guest for all: booting and setting up are most of so short a run.
    flows = pl.DataFrame({"start_s": [0.0, 0.1, 0.2], "src": [1, 2, 3], "size_bytes": [200_000] * 3})
    scenario, chosen = wired(stop_when_idle=True), [parse(name) for name in leaves()]
    runs = [engine.guest_settings(scenario, one, flow_list(flows)) for one in chosen]
    modules = sorted({leaf.module for leaf in leaves().values()} - {""})
    told = guest.run("leaves.py", {"runs": runs}, modules=tuple(modules))
    assert [row["leaf"]["kind"] for row in told] == [
        settings["network"]["links"][0]["ways"][0]["leaf"].split()[0] for settings in runs
    ]
    told = iter(told)
    monkeypatch.setattr(engine.os, "cpu_count", lambda: 1)  # one after the other, as they come
    monkeypatch.setattr(engine.guest, "run", lambda settings, module: next(told))
    result = mayfly.compare(scenario, ",".join(leaves()), flows, engine=engine_named("linux"))
    rows = result.summary["disciplines"]
    assert [row["label"] for row in rows] == [f"{name} (linux)" for name in leaves()]
    assert [row["flows_completed"] for row in rows] == [3] * len(leaves())
    counts = [result.records.filter(pl.col("discipline") == row["label"])["delivered_bytes"].sum() for row in rows]
    assert counts == [600_000] * len(leaves())
    # Acknowledgements and repairs aside, what leaves the queue is 1500 bytes for 1448 of data.
    packets = [result.records.filter(pl.col("discipline") == row["label"])["packets_sent"].sum() for row in rows]
    assert packets == pytest.approx([3 * 139 + 6] * len(leaves()), rel=0.05)


def test_a_bounded_window_is_what_is_under_way():
    # 43 segments a round trip of 109 ms: what takes time is the window, and the start, for which the simulator gets the
    # kernel's constants. With one segment more the transfer would take 2 % less.
    constants = {"tcp.quick_acks": 16, "tcp.byte_counting": True, "tcp.delayed_ack": "40ms"}
    scenario = load_scenario("wired", {"duration": "8s", "sample_interval": "1s", "network.delay": "50ms", **constants})
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [3_000_000]})
    result = mayfly.compare(scenario, "fifo", flows, engine=engine_named("both"))
    here, kernel = result.records["response_time_s"]
    assert kernel == pytest.approx(here, rel=0.01)
    assert abs(result.records["packets_sent"][1] - result.records["packets_sent"][0]) <= 2
