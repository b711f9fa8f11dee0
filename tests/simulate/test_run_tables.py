"""The tables a run returns and writes, against docs/tables.md."""

import json
from pathlib import Path

import polars as pl
import pytest
from json_schema import faults

from mayfly import _native
from mayfly.comparison.comparison import compare, run
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import columns
from mayfly.simulate.network.dumbbell import hosts
from mayfly.simulate.tables import FLOWS, SAMPLES
from mayfly.workload.lists import flow_list, in_text


@pytest.fixture(scope="module")
def mixed():
    """Flows of every kind: up, down, UDP, opened by the receiver, endless, with a round-trip time of their own."""
    return pl.DataFrame(
        {
            "flow_id": [7, 3, 12, 5, 9],
            "start_s": [0.0, 0.1, 0.2, 0.3, 0.4],
            "src": ["lab", "web", "lab", "phone", "lab"],
            "dst": ["web", "lab", "web", "web", "tv"],
            "direction": ["down", "up", "down", "down", "down"],
            "protocol": ["tcp", "tcp", "udp", "tcp", "tcp"],
            "size_bytes": [1461, 100_000, 49_560, 2**40, 300_000],
            "rtt_s": [None, 0.05, None, None, 0.2],
            "opened_by": ["sender", "sender", "sender", "receiver", "receiver"],
            "packet_bytes": [None, None, 500, None, None],
            "rate_bps": [None, None, 1e6, None, None],
            "group": ["first", None, "second", "first", None],
            "bursts": [None, None, "0:500x100/0.004 0.4:500x5/0.001", None, None],
        }
    )


@pytest.fixture(scope="module")
def result(mixed):
    scenario = load_scenario("wired", {"duration": "20s", "network.buffer": 20})
    return compare(scenario, "fifo,efd,las", mixed)


SCRIPTED, OF_CELLS = {"script", "back_bytes"}, {"station", "presence_s", "warm_up_bytes"}


def test_the_records_have_the_declared_columns_and_types(result):
    # Of these flows none has a transport, a mark or an application of its own.
    names = {column.name for column in FLOWS.columns} - {"transport", "mark", "application"}
    assert set(result.records.columns) == names - SCRIPTED - OF_CELLS
    in_cell = compare(load_scenario("wlan", {"duration": "2s"}), "fifo").records
    assert set(in_cell.columns) == names - SCRIPTED - {"bursts"}
    for name, dtype in FLOWS.schema.items():
        if name not in SCRIPTED and name in names:
            records = in_text(in_cell if name in OF_CELLS else result.records)
            assert records.schema[name] == dtype, name


def test_only_columns_marked_so_hold_nulls(result):
    optional = {column.name for column in FLOWS.columns if column.nullable}
    # Defaults are filled in; these have none.
    optional |= {"rtt_s", "packet_bytes", "rate_bps", "group", "stage", "after", "bursts"}
    holding = {name for name in result.records.columns if result.records[name].has_nulls()}
    assert holding <= optional
    assert {"finish_s", "slowdown", "fragments", "sorted_packets", "high_packets"} <= holding


def test_the_samples_have_the_declared_columns_and_types(result):
    assert dict(result.samples.schema) == SAMPLES.schema
    optional = {column.name for column in SAMPLES.columns if column.nullable}
    assert {name for name in result.samples.columns if result.samples[name].has_nulls()} <= optional


def test_files_hold_what_the_tables_hold(result, tmp_path):
    files = result.write(tmp_path / "out", report=False)
    assert {Path(path).name for path in files.values()} == {path.name for path in (tmp_path / "out").iterdir()}
    for name, table in (("flows", in_text(result.records)), ("samples", result.samples)):
        found = pl.read_parquet(files[name])
        assert found.schema == table.schema
        assert found.equals(table)
    assert json.loads(Path(files["summary"]).read_text()) == json.loads(json.dumps(result.summary | {"files": files}))


def test_the_summary_is_of_its_type(result, tmp_path):
    files = result.write(tmp_path, report=False)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["files"] == files
    assert faults(summary, "Summary", json.loads(_native.summary_schema())[0]) == []


def test_nulls_say_what_did_not_happen(result):
    fifo = {row["flow_id"]: row for row in result.records.filter(discipline="fifo").to_dicts()}
    assert fifo[5]["finish_s"] is None and fifo[5]["response_time_s"] is None and fifo[5]["slowdown"] is None
    assert 0 < fifo[5]["delivered_bytes"] < 2**40
    assert fifo[12]["slowdown"] is None and fifo[12]["rtt_mean_s"] is None and fifo[12]["cwnd_mean_packets"] is None
    assert fifo[12]["finish_s"] is not None
    assert fifo[7]["size_packets"] == 2 and fifo[7]["delivered_bytes"] == 1461
    for row in fifo.values():
        if row["finish_s"] is not None:
            assert row["response_time_s"] == pytest.approx(row["finish_s"] - row["start_s"], abs=1e-9)
    efd = result.records.filter(discipline="efd", direction="down")
    assert efd.select((pl.col("high_packets") <= pl.col("sorted_packets")).all()).item()
    assert efd["fragments"].min() >= 1
    assert result.records.filter(discipline="fifo")["fragments"].null_count() == 5


def test_a_flow_that_starts_at_the_end_delivers_nothing():
    flows = pl.DataFrame({"start_s": [0.0, 0.999999], "size_packets": [2, 2]})
    records = run(load_scenario("wired", {"duration": "1s"}), "fifo", flows).records.sort("flow_id")
    assert records["finish_s"].is_null().to_list() == [False, True]
    assert records["first_data_s"].is_null().to_list() == [False, True]
    assert records["delivered_bytes"].to_list() == [2920, 0]


def test_hosts_are_counted_on_their_side_of_the_link(mixed):
    src, dst = hosts(flow_list(mixed))
    by_id = dict(zip(flow_list(mixed)["flow_id"], zip(src.tolist(), dst.tolist(), strict=True), strict=True))
    # Left of the link: lab, phone (3 goes up, from web on the right to lab); right of it: tv, web.
    assert by_id == {7: (0, 1), 3: (1, 0), 12: (0, 1), 5: (1, 1), 9: (0, 0)}


@pytest.mark.parametrize("names", [[10, 9, 100], ["10", "9", "100"], ["a", "c", "b"]])
def test_one_host_has_one_index_whatever_its_name(names):
    flows = flow_list(
        pl.DataFrame({"start_s": [0.0, 1.0, 2.0], "size_bytes": [1, 1, 1], "src": names, "dst": names[::-1]})
    )
    src, dst = hosts(flows)
    assert sorted(src.tolist()) == [0, 1, 2] and dst.tolist() == src.tolist()[::-1]


def test_udp_packets_leave_at_the_rate_of_the_list():
    flows = flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 0.0],
                "size_bytes": [97_200, 10],
                "protocol": ["udp", "tcp"],
                "packet_bytes": [1000, None],
                "rate_bps": [8e5, None],
            }
        )
    )
    native = columns.native_flows(flows, 1500, hosts(flows))
    assert native["gap_ns"].tolist() == [10_000_000, 0]
    assert native["packet_bytes"].tolist() == [1000, 1500]
    assert native["flags"].tolist() == [12, 0]
    records = run(load_scenario("wired", {"duration": "5s"}), "fifo", flows).records
    udp = records.filter(protocol="udp").row(0, named=True)
    # 100 packets of 972 bytes, 10 ms apart, and the path of the last: 4 ms and three links.
    assert udp["packets_sent"] == 100 and udp["delivered_bytes"] == 97_200
    assert udp["finish_s"] == pytest.approx(0.99 + 0.003 + 2 * 8e3 / 1e8 + 8e3 / 1e7, abs=1e-6)


def test_times_cross_to_the_simulator_in_nanoseconds():
    there = columns.nanoseconds(pl.Series([0.0, 1e-9, 1.5, None, 1e9]))
    assert there.tolist() == [0, 1, 1_500_000_000, 2**64 - 1, 10**18]


def test_the_drop_trace_holds_every_drop(mixed):
    scenario = load_scenario("wired", {"duration": "20s", "network.buffer": 5})
    result = run(scenario, "fifo", mixed, trace_drops=True)
    assert result.drops.height == result.records["drops"].sum() > 0
    assert set(result.drops["flow_id"]) <= set(mixed["flow_id"])
    per_flow = dict(result.drops.group_by("flow_id").len().iter_rows())
    assert {row["flow_id"]: row["drops"] for row in result.records.to_dicts() if row["drops"]} == per_flow
    assert result.drops["time_s"].is_sorted() and result.drops["time_s"].max() <= 20.0


def test_no_samples_when_none_are_asked_for(mixed, tmp_path):
    scenario = load_scenario("wired", {"duration": "2s", "sample_interval": 0})
    result = compare(scenario, "fifo,efd", mixed)
    assert result.samples.height == 0
    assert pl.read_parquet(result.write(tmp_path)["samples"]).schema == result.samples.schema


def test_what_the_link_loses_is_counted_apart_from_what_the_queue_drops():
    flows = pl.DataFrame(
        {
            "start_s": [0.0, 0.0],
            "size_bytes": [2_000_000, 1_000_000],
            "protocol": ["tcp", "udp"],
            "rate_bps": [None, 1e6],
        }
    )
    result = run(
        load_scenario("wired", {"duration": "60s", "network.loss": 0.02, "workload.load": None}), "fifo", flows
    )
    records = result.records.sort("flow_id")
    assert records["drops"].to_list() == [0, 0]
    assert (records["lost"] > 0).all()
    row = result.summary["disciplines"][0]
    assert row["drops"] == 0 and row["udp"]["lost"] == records["lost"][1]
    # Alone means without loss.
    assert records["slowdown"][0] > 1
    with pytest.raises(MayflyError, match=r"network\.loss = 1"):
        load_scenario("wired", {"network.loss": 1})
