"""Traces of chosen flows against the flow records and closed forms."""

import json

import polars as pl
import pytest

from mayfly.comparison.comparison import compare, run
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.metrics.queue_delay import pooled, queueing_delay
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload
from mayfly.simulate.tables import PACKETS, TIMEOUTS
from mayfly.simulate.traces import chosen_rows
from mayfly.workload.lists import flow_list

FLOWS = pl.DataFrame(
    {
        "flow_id": [7, 3, 12, 5],
        "start_s": [0.0, 0.1, 0.2, 0.3],
        "size_bytes": [400_000, 300_000, 972_000, 500_000],
        "protocol": ["tcp", "tcp", "udp", "tcp"],
        "packet_bytes": [None, None, 1000, None],
        "rate_bps": [None, None, 4e6, None],
        "group": ["web", None, "call", "web"],
    }
)


def traced(*names, **overrides):
    scenario = load_scenario("wired", {"duration": "30s", "network.buffer": 10, "trace": list(names), **overrides})
    return compare(scenario, "fifo,las", FLOWS)


def test_a_flow_is_named_by_its_id_or_its_group():
    flows = flow_list(FLOWS)
    ids = flows["flow_id"].to_list()
    assert [ids[row] for row in chosen_rows(flows, ["web", "3"])] == [7, 3, 5]
    assert chosen_rows(flows, []) == []


@pytest.mark.parametrize("name", ["8", "games", "", "٣", "9" * 30])
def test_an_unknown_flow_is_refused(name):
    with pytest.raises(MayflyError, match=r"trace = .*: must be the flow_id .* or a group; groups are call, web"):
        chosen_rows(flow_list(FLOWS), [name])


def test_traces_agree_with_the_records():
    result = traced("7", "call", "5", "3")
    assert result.packets.height > 1000
    assert dict(result.packets.schema) == PACKETS.schema
    assert dict(result.timeouts.schema) == TIMEOUTS.schema
    for row in result.records.to_dicts():
        own = pl.col("flow_id") == row["flow_id"], pl.col("discipline") == row["discipline"]
        packets, timeouts = result.packets.filter(*own), result.timeouts.filter(*own)
        assert packets.height == row["packets_sent"]
        assert timeouts.height == row["timeouts"]
        assert packets["sent_s"][0] == row["first_sent_s"]
        if row["protocol"] == "udp":
            assert packets["number"].to_list() == list(range(1000))
            assert packets["dropped_s"].count() == row["drops"] > 0
            assert packets["received_s"].max() == pytest.approx(row["last_data_s"], abs=1e-9)
        else:
            # A number that comes again is a retransmission, beside those of the SYN.
            assert packets.height - packets["number"].n_unique() == row["retransmits"]
            data = packets.filter(pl.col("number").is_between(1, -(-row["size_bytes"] // 1460)))
            last = data.group_by("number").agg(pl.col("received_s").min())["received_s"].max()
            assert last == pytest.approx(row["last_data_s"], abs=1e-9)


def test_waits_of_the_trace_are_those_of_the_records():
    result = traced("call")
    for row in result.records.filter(group="call").to_dicts():
        left = result.packets.filter(pl.col("departed_s").is_not_null(), discipline=row["discipline"])
        waits = left["departed_s"] - left["queued_s"]
        assert row["queue_packets"] == left.height
        assert row["queue_delay_mean_s"] == pytest.approx(waits.mean(), abs=1e-9)
        assert row["queue_delay_deviation_s"] == pytest.approx(waits.std(ddof=0), abs=1e-8)
        assert row["queue_delay_max_s"] == pytest.approx(waits.max(), abs=1e-9)


def test_a_datagram_takes_the_time_of_its_links():
    flows = FLOWS.filter(protocol="udp")
    scenario = load_scenario("wired", {"duration": "30s", "trace": ["12"]})
    packets = run(scenario, "fifo", flows).packets
    # 1000 bytes: 80 us on each access link, 800 us on the bottleneck, 1 ms of propagation on each.
    assert (packets["queued_s"] - packets["sent_s"]).to_list() == pytest.approx([1.08e-3] * 1000, abs=1e-9)
    assert (packets["departed_s"] - packets["queued_s"]).to_list() == pytest.approx([0.0] * 1000, abs=1e-9)
    assert (packets["received_s"] - packets["departed_s"]).to_list() == pytest.approx([2.88e-3] * 1000, abs=1e-9)


def test_the_limit_cuts_the_trace_and_is_noted():
    result = traced("call", trace_limit=100)
    assert result.packets.group_by("discipline").len()["len"].to_list() == [100, 100]
    assert result.summary["notes"] == ["the trace is cut at trace_limit = 100 packets in a run: 1800 more were sent"]
    assert "notes" not in traced("call").summary


def test_the_tables_are_written_when_flows_are_traced(tmp_path):
    result = traced("web")
    files = result.write(tmp_path / "with", report=False)
    for name, table in (("packets", result.packets), ("timeouts", result.timeouts)):
        assert pl.read_parquet(files[name]).equals(table)
    assert json.loads((tmp_path / "with" / "summary.json").read_text())["files"] == files
    without = traced()
    assert (without.packets.height, without.timeouts.height) == (0, 0)
    assert {"packets", "timeouts"}.isdisjoint(without.write(tmp_path / "without", report=False))


def test_tracing_changes_nothing_else():
    plain, watched = traced(), traced("7", "3", "12", "5")
    assert plain.records.equals(watched.records)
    assert plain.samples.equals(watched.samples)


def test_transmission_begins_with_the_first_packet_of_the_sender():
    flows = pl.DataFrame({"start_s": [1.0, 1.0], "size_bytes": [1460, 1460], "opened_by": ["sender", "receiver"]})
    # One at a time, so that neither waits for the other.
    for row in range(2):
        record = run(load_scenario("wired"), "fifo", flows[row]).records.row(0, named=True)
        one_way = 3e-3 + 2 * 40 * 8 / 1e8 + 40 * 8 / 1e7
        assert record["first_sent_s"] == pytest.approx(1.0 + row * one_way, abs=1e-9)
        data = 3e-3 + 2 * 1500 * 8 / 1e8 + 1500 * 8 / 1e7
        # SYN, SYN-ACK, data; opened by the receiver the data follows the ACK of the SYN-ACK as well.
        assert record["last_data_s"] - record["first_sent_s"] == pytest.approx(2 * one_way + data, abs=1e-5)
        assert record["last_data_s"] < record["finish_s"]


def test_the_delay_of_all_packets_is_that_of_the_flows_and_follows_little():
    load = {"workload.load": "8mbit", "workload.group": "web", "duration": "20s", "network.buffer": 1000}
    cbr = [{"rate": "1mbit", "group": "call"}]
    scenarios = [load | {"workload.cbr": cbr} | more for more in ({}, {"warm_up": "12s"}, {"duration": "12s"})]
    loaded = [load_scenario("wired", fields) for fields in scenarios]
    flows = workload(loaded[0])
    whole, late, early = (run_one(scenario, parse("fifo"), flows) for scenario in loaded)
    delays = [run.counters["queueing_delay"] for run in (whole, late, early)]
    assert delays[0]["packets"] == delays[1]["packets"] + delays[2]["packets"] == whole.counters["sent"]
    assert delays[0] == pytest.approx(pooled(delays[1:]), rel=1e-9)
    assert delays[0] == pytest.approx(pooled([row["queueing_delay"] for row in whole.classes]), rel=1e-9)
    of_flows = queueing_delay(whole.records).row(0, named=True)
    assert delays[0] == pytest.approx(of_flows, rel=1e-6)
    # Little's law: the area under the queue is the sum of the waits and of what those that wait at the end have waited,
    # less than 1000 packets of 1.2 ms each.
    assert whole.counters["drops"] == 0
    still = whole.counters["arrivals"] - whole.counters["sent"]
    area = whole.counters["queue_mean_packets"] * 20.0 - delays[0]["packets"] * delays[0]["mean_s"]
    assert -1e-6 <= area <= still * 1.2
