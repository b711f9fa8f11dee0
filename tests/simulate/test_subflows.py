"""Sub-flows of a run against the packets they are made of and the discipline's own count of fragments."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload
from mayfly.simulate.tables import SUBFLOWS

KEYS = ["discipline", "flow_id"]


def compared(disciplines="fifo,efd,efd(high=las),pefd", **fields):
    fields = {"duration": "30s", "workload.load": "9mbit", "subflows": True} | fields
    return compare(load_scenario("wired", fields), disciplines)


def spans(packets: pl.DataFrame) -> list[tuple[float, float, int, int]] | None:
    """Begin, end, packets and bytes of every span in which a packet waits; None where a trace does not tell."""
    found = []
    for queued, departed, size in packets.sort("queued_s").select("queued_s", "departed_s", "wire_bytes").iter_rows():
        if found and queued == found[-1][1]:
            # One came at the instant the other left, as packets do that follow acknowledgements: which was first?
            return None
        if found and queued < found[-1][1]:
            begin, end, count, volume = found[-1]
            found[-1] = begin, max(end, departed), count + 1, volume + size
        else:
            found.append((queued, departed, 1, size))
    return found


def test_subflows_are_the_spans_of_the_packet_trace():
    # Without acknowledgements of the sender, which are not traced, and at rates that let few events coincide.
    fields = {
        "network.access_rate": "97.3mbit",
        "network.rate": "10.07mbit",
        "tcp.fin": False,
        "tcp.handshake_ack": False,
        "workload.group": "all",
        "trace": ["all"],
    }
    result = compared("fifo,efd", **fields)
    volumes = [pl.col(f"high_{name}") + pl.col(f"low_{name}") for name in ("packets", "wire_bytes")]
    rows = result.subflows.filter(pl.col("left_s").is_not_null().all().over(KEYS))
    ours = rows.select(*KEYS, "queued_s", "left_s", *volumes).partition_by(KEYS, as_dict=True, include_key=False)
    told = 0
    for key, packets in result.packets.filter(pl.col("departed_s").is_not_null()).group_by(KEYS):
        if key in ours and (expected := spans(packets)) is not None:
            assert list(ours[key].iter_rows()) == expected
            told += len(expected)
    assert told > rows.height / 2 > 2000


def test_without_drops_there_are_as_many_as_entries_of_efd_and_as_many_packets_in_each_class():
    result = compared(**{"network.buffer": 10_000})
    assert {row["drops"] for row in result.summary["disciplines"]} == {0}
    sums = result.subflows.group_by(KEYS).agg(
        pl.len().alias("subflows"), pl.col("high_packets", "low_packets", "high_data_packets", "low_data_packets").sum()
    )
    joined = result.records.join(sums, on=KEYS, how="left")
    efd = joined.filter(pl.col("discipline") != "fifo")
    assert efd["fragments"].to_list() == efd["subflows"].to_list()
    assert efd["high_packets"].to_list() == efd["high_packets_right"].to_list()
    assert efd["sorted_packets"].to_list() == (efd["high_packets_right"] + efd["low_packets"]).to_list()
    # Of a finished flow every full or last segment came, and none again.
    done = joined.filter(pl.col("finish_s").is_not_null(), pl.col("retransmits") == 0)
    assert done.height > 1000
    assert done["size_packets"].to_list() == (done["high_data_packets"] + done["low_data_packets"]).to_list()
    # SYN, ACK of the SYN, FIN, ACK of the FIN.
    control = done["high_packets_right"] + done["low_packets"] - done["size_packets"]
    assert set(control.to_list()) == {4}


def test_dropped_packets_do_not_count():
    result = compared(**{"network.buffer": 15, "workload.load": "12mbit"})
    assert min(row["drops"] for row in result.summary["disciplines"]) > 100
    sums = result.subflows.group_by(KEYS).agg(
        packets=(pl.col("high_packets") + pl.col("low_packets")).sum(), waiting=pl.col("left_s").null_count()
    )
    joined = result.records.join(sums, on=KEYS).filter(waiting=0)
    assert joined["packets"].to_list() == joined["queue_packets"].to_list()
    assert result.subflows.filter(pl.col("high_packets") + pl.col("low_packets") == 0).height == 0


def test_a_subflow_in_the_low_class_has_the_threshold_in_the_high_one():
    result = compared("efd(threshold=7500)")
    low = result.subflows.filter(pl.col("low_packets") > 0)
    assert low.height > 100
    # Of full packets the first five are high; of shorter ones as many as begin below 7500 bytes.
    assert low.filter(pl.col("low_data_packets") == pl.col("low_packets"))["high_packets"].max() == 5
    assert result.subflows["high_wire_bytes"].max() < 7500 + 1500


def test_one_class_is_low():
    rows = compared("fifo").subflows
    assert rows["high_packets"].sum() == 0
    assert rows["low_packets"].min() == 1


@pytest.mark.parametrize("disciplines", ["fifo", "efd"])
def test_they_change_nothing_else(disciplines):
    watched, plain = compared(disciplines), compared(disciplines, subflows=False)
    assert watched.records.equals(plain.records)
    assert watched.samples.equals(plain.samples)
    assert plain.subflows.height == 0


def test_the_limit_cuts_the_table_and_is_noted():
    result = compared("efd", trace_limit=50)
    assert result.subflows.height == 50
    (note,) = result.summary["notes"]
    assert note.startswith("sub-flows are cut at trace_limit = 50 in a run: ")


def test_the_table_is_written_when_asked_for(tmp_path):
    result = compared("efd")
    files = result.write(tmp_path / "with", report=False)
    assert pl.read_parquet(files["subflows"]).equals(result.subflows)
    assert dict(result.subflows.schema) == SUBFLOWS.schema
    assert "subflows" not in compared("efd", subflows=False).write(tmp_path / "without", report=False)


def test_in_a_cell_they_are_those_of_the_access_point():
    scenario = load_scenario("wlan", {"duration": "5s", "subflows": True})
    result = run_one(scenario, parse("pefd"), workload(scenario))
    sums = result.subflows.group_by("flow_id").agg(subflows=pl.len())
    records = result.records.filter(drops=0).join(sums, on="flow_id")
    assert records.height > 20
    assert records["fragments"].to_list() == records["subflows"].to_list()
