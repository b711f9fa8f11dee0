"""Ours beside other tools on one capture: their outputs read, connections matched, differences told.

The samples of ``tests/data/agreement`` are what tcptrace 6.6.7 and tshark 4.0.17 say of four connections of
``captures/office.pcap.gz``: one whole, one closed twice, one with eight packets lost before the tap, four lone SYNs.
"""

from pathlib import Path

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.profile.agreement.answer import agreement, compared
from mayfly.profile.agreement.registry import TOOLS, read
from mayfly.profile.agreement.table import KEY, METRICS, Seen, columns_of
from mayfly.workload.connections import connections, write_connections

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"
SAMPLES = ROOT / "tests" / "data" / "agreement"
OUTPUTS = {
    "tcptrace.csv": "tcptrace-csv",
    "tcptrace.txt": "tcptrace",
    "tshark.tsv": "tshark",
    "tshark-conv.txt": "tshark-conv",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("office") / "connections.parquet"
    write_connections(*connections(OFFICE), path)
    return path


def seen(rows, tool="one", **resolution):
    names = (*KEY, "start_s", "ab_packets", "ba_packets", "duration_s")
    ends = [("tcp", "10.0.0.1", 1000 + port, "10.0.0.2", 80, *row) for port, *row in rows]
    return Seen(tool, tool, pl.DataFrame(ends, schema=names, orient="row"), resolution)


def rows_of(found):
    return {row["metric"]: row for row in found.document()["metrics"]}


@pytest.mark.parametrize(("name", "tool"), OUTPUTS.items())
def test_a_tool_is_told_by_what_it_prints(name, tool):
    head = (SAMPLES / name).read_bytes()[:65536]
    assert [row.id for row in TOOLS.values() if row.sniff(head)] == [tool]
    assert set(columns_of("packets")) <= set(read(SAMPLES / name).frame.columns)


@pytest.mark.parametrize("name", OUTPUTS)
def test_counts_and_times_are_those_of_the_tool(name, table):
    found = agreement(table, SAMPLES / name)
    document, rows = found.document(), rows_of(found)
    assert (document["matched"], document["only_b"], document["split_apart"]) == (4, 0, 0)
    assert document["only_a"] == 523 - 4
    counts = {"packets": 77, "payload_bytes": 29_797, "data_packets": 28}
    for metric in sorted(counts.keys() & rows.keys()):
        row = rows[metric]
        assert (row["a"], row["b"], row["equal"], row["compared"]) == (counts[metric], counts[metric], 8, 8)
    assert rows["duration_s"]["equal"] == 4


def test_both_outputs_of_tcptrace_say_the_same():
    found = agreement(SAMPLES / "tcptrace.csv", SAMPLES / "tcptrace.txt")
    assert len(found.metrics) == 16
    assert found.connections() == []
    assert all(row["equal"] == row["compared"] > 0 for row in found.document()["metrics"])


def test_repeated_syns_are_retransmissions_of_others_alone(table):
    for name in ("tcptrace.txt", "tshark.tsv"):
        row = rows_of(agreement(table, SAMPLES / name))["repeats"]
        assert (row["a"], row["b"], row["equal"], row["compared"]) == (8, 11, 7, 8)


def test_handshakes_agree_to_what_is_printed(table):
    row = rows_of(agreement(table, SAMPLES / "tcptrace.csv"))["handshake_s"]
    assert row["equal"] == row["compared"] == 4
    assert row["largest"] <= 5.1e-5


def test_a_capture_agrees_with_itself(table):
    document = agreement(OFFICE, table).document()
    assert document["matched"] == 707 and document["worst"] == []
    assert [row["metric"] for row in document["metrics"]] == list(METRICS)
    assert all(row["equal"] == row["compared"] and row["only_a"] == row["only_b"] == 0 for row in document["metrics"])


def test_a_log_of_zeek_is_matched_with_its_directions(table, tmp_path):
    frame, counts = connections(OFFICE)
    names = ("ts", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "duration", "orig_bytes", "resp_bytes")
    names += ("orig_pkts", "orig_ip_bytes", "resp_pkts", "resp_ip_bytes")
    lines = ["#separator \\x09", "\t".join(("#fields", *names))]
    kinds = ("packets", "wire_bytes")
    columns = ("start_s", "opener", "opener_port", "responder", "responder_port", "protocol", "end_s")
    columns += ("opener_distinct_bytes", "responder_distinct_bytes")
    columns += tuple(f"{end}_{kind}" for end in ("opener", "responder") for kind in kinds)
    for row in frame.select(columns).iter_rows():
        # One byte too many in each direction.
        cells = [f"{counts['first_epoch_s'] + row[0]:.6f}", *row[1:6], f"{row[6] - row[0]:.6f}"]
        lines.append("\t".join(map(str, (*cells, row[7] + 1, row[8] + 1, *row[9:]))))
    (tmp_path / "conn.log").write_text("\n".join(lines) + "\n")
    found = agreement(table, tmp_path / "conn.log", tolerance=0.0)
    rows = rows_of(found)
    assert found.document()["matched"] == 707
    assert rows["packets"]["equal"] == rows["wire_bytes"]["equal"] == 2 * 707
    assert (rows["distinct_bytes"]["equal"], rows["distinct_bytes"]["largest"]) == (0, 1)
    assert rows["duration_s"]["equal"] == 707


def test_connections_of_one_five_tuple_are_matched_in_turn():
    one = seen([(1, 0.0, 5, 6, 1.0), (1, 100.0, 7, 8, 2.0)])
    two = seen([(1, 100.5, 7, 8, 2.0), (1, 0.5, 5, 6, 1.0)])
    found = compared(one, two)
    assert found.document()["matched"] == 2 and found.connections() == []


def test_a_five_tuple_that_is_split_differently_counts_as_one():
    one = seen([(1, 0.0, 5, 6, 1.0), (1, 100.0, 7, 8, 2.0), (2, 0.0, 1, 1, 1.0)])
    found = compared(one, seen([(1, 0.0, 12, 15, 102.0), (3, 0.0, 1, 1, 1.0)]))
    document, rows = found.document(), rows_of(found)
    assert (document["matched"], document["split_apart"], document["only_a"], document["only_b"]) == (1, 1, 1, 1)
    assert (rows["packets"]["a"], rows["packets"]["b"], rows["packets"]["equal"]) == (26, 27, 1)
    assert rows["duration_s"]["compared"] == 0
    assert document["worst"][0]["differences"] == [{"metric": "packets", "direction": "b to a", "a": 14, "b": 15}]
    assert "1 five-tuples are split differently" in found.sentences()[1]


def test_tolerance_is_a_share_and_rounding_is_allowed_for():
    one = seen([(1, 0.0, 100, 50, 1.0)], duration_s=0.01)
    two = seen([(1, 0.0, 99, 50, 1.009)])
    assert [row["equal"] for row in compared(one, two).document()["metrics"]] == [1, 1]
    assert [row["equal"] for row in compared(one, two, 0.0099).document()["metrics"]] == [1, 1]
    assert [row["equal"] for row in compared(one, two, 0.01).document()["metrics"]] == [2, 1]


def test_the_worst_connection_comes_first_and_no_more_than_asked():
    one = seen([(port, 0.0, 100, 100, 1.0) for port in range(5)])
    two = seen([(port, 0.0, 100 - port, 100, 1.0) for port in range(5)])
    assert [row["a_port"] for row in compared(one, two, worst=2).connections()] == [1004, 1003]
    assert compared(one, two, worst=0).connections() == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("tcptrace.csv", "10.10.0.12,", "10.10.0.12,,", "cells: must be 140, as in the header"),
        ("tcptrace.csv", "37294", "port", "must be a connection as tcptrace -l -n --csv writes it"),
        ("tcptrace.txt", "7883", "x7883", "unique_bytes_sent = x7883: must be a number"),
        ("tcptrace.txt", "Nov 21", "Nov 41", "must be a date such as"),
        ("tshark.tsv", "\t48874\t", "\tx\t", "tcp.srcport = x: must be a number"),
        ("tshark.tsv", "tcp.len", "tcp.length", "field tcp.len is missing"),
        ("tshark-conv.txt", "12 12 kB", "12 kB", "line 6"),
    ],
)
def test_a_bad_row_is_told_in_a_line(name, old, new, said, tmp_path):
    text = (SAMPLES / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    with pytest.raises(MayflyError) as told:
        read(tmp_path / name)
    assert said in str(told.value) and "\n" not in str(told.value)


def test_what_is_wrong_is_refused(table, tmp_path):
    (tmp_path / "notes.txt").write_text("some words\n")
    with pytest.raises(MayflyError, match="of no known tool"):
        agreement(table, tmp_path / "notes.txt")
    with pytest.raises(MayflyError, match=r"tolerance = 2: must be from 0 to 1"):
        agreement(table, table, tolerance=2)
    with pytest.raises(MayflyError, match="worst = -1: must be from 0"):
        agreement(table, table, worst=-1)
