"""Logs of connections: Zeek and NetFlow; and the CSV for ns-3."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.workload.formats.registry import read_flows_any, write_flows_as
from mayfly.workload.lists import flow_list

ROOT = Path(__file__).parents[3]
OFFICE = ROOT / "captures" / "office.pcap.gz"
RECORDS = ROOT / "tests" / "data" / "office.nfdump.csv"
SHARED = ROOT.parent / "shared" / "data" / "pcap" / "flows"

NAMES = (
    *("ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "duration"),
    *("orig_bytes", "resp_bytes", "orig_pkts", "orig_ip_bytes", "resp_pkts", "resp_ip_bytes"),
)
ROWS = [
    tuple(line.split())
    for line in (
        "1600000000.5 C1 192.168.0.2 40000 198.51.100.7 443 tcp 1.25 300 50000 20 1400 40 52000",
        "1600000000.25 C2 192.168.0.2 5353 198.51.100.53 53 udp 0.5 80 200 2 136 2 256",
        "1600000003 C3 192.168.0.3 1000 198.51.100.7 80 tcp - - - 1 60 0 0",
        "1600000004 C4 192.168.0.3 8 198.51.100.7 0 icmp - - - 1 60 0 0",
    )
]


def tsv(rows=ROWS, names=NAMES):
    head = ["#separator \\x09", "#unset_field\t-", "#path\tconn", "\t".join(("#fields", *names))]
    return "\n".join([*head, *("\t".join(row) for row in rows), "#close\t2020-09-13-00-00-00"]) + "\n"


def documents(rows=ROWS):
    texts = ("ts", "uid", "id.orig_h", "id.resp_h", "proto")
    found = ({n: c if n in texts else float(c) for n, c in zip(NAMES, row, strict=True) if c != "-"} for row in rows)
    return "".join(json.dumps(row) + "\n" for row in found)


def test_a_log_of_zeek_is_two_flows_per_connection(tmp_path):
    path = tmp_path / "conn.log"
    path.write_text(tsv())
    flows = read_flows_any(path, internal=["192.168.0.0/16"])
    columns = ("start_s", "src", "dst", "direction", "protocol", "size_bytes", "opened_by", "packet_bytes", "rate_bps")
    assert flows.select(columns).rows() == [
        (0.0, "192.168.0.2", "198.51.100.53", "up", "udp", 80, "sender", 68, 1088.0),
        (0.0, "198.51.100.53", "192.168.0.2", "down", "udp", 200, "receiver", 128, 2048.0),
        (0.25, "192.168.0.2", "198.51.100.7", "up", "tcp", 300, "sender", None, None),
        (0.25, "198.51.100.7", "192.168.0.2", "down", "tcp", 50000, "receiver", None, None),
    ]
    (tmp_path / "conn.json.gz").write_bytes(gzip.compress(documents().encode()))
    assert read_flows_any(tmp_path / "conn.json.gz", internal=["192.168.0.0/16"]).equals(flows)
    (tmp_path / "iso.json").write_text(documents().replace('"1600000003"', '"2020-09-13T12:26:43.000000Z"'))
    assert read_flows_any(tmp_path / "iso.json", internal=["192.168.0.0/16"]).equals(flows)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("ts", "XXXX.XX", "row 2: ts = XXXX.XX: must be a number from 0 to"),
        ("ts", "-", "row 2: ts is missing"),
        ("id.orig_h", "host", "row 2: id.orig_h = host: must be an IPv4 or IPv6 address"),
        ("orig_bytes", "-3", "row 2: orig_bytes = -3: must be a number from 0 to"),
        ("resp_ip_bytes", "1.5", "row 2: resp_ip_bytes = 1.5: must be a whole number"),
        ("duration", "nan", "row 2: duration = nan: must be a number"),
        ("orig_pkts", "-", "row 2: orig_pkts is missing"),
        ("proto", "-", "row 2: proto is missing"),
        ("uid", "C2\tC3", "row 2: 15 cells: must be 14, as in #fields"),
    ],
)
def test_a_bad_row_of_zeek_is_told_with_its_number(column, cell, said, tmp_path):
    row = [cell if name == column else value for name, value in zip(NAMES, ROWS[1], strict=True)]
    (tmp_path / "conn.log").write_text(tsv([ROWS[0], row]))
    with pytest.raises(MayflyError) as told:
        read_flows_any(tmp_path / "conn.log")
    assert said in str(told.value) and "\n" not in str(told.value)


def test_a_log_that_breaks_off_or_holds_nothing_is_refused(tmp_path):
    path = tmp_path / "conn.log"
    path.write_text(documents() + '{"ts":1,"id.orig_h":\n')
    with pytest.raises(MayflyError, match=r"row 5: .*must be a JSON document"):
        read_flows_any(path)
    path.write_text(tsv(ROWS[3:]))
    with pytest.raises(MayflyError, match="no TCP or UDP connection carried anything"):
        read_flows_any(path)
    path.write_bytes(gzip.compress(tsv(ROWS).encode())[:-20])
    with pytest.raises(MayflyError, match="cannot be read"):
        read_flows_any(path)


def test_a_log_of_a_company_is_read_whole(tmp_path):
    log = SHARED / "zeek_m57-long.conn.log.gz"
    if not log.exists():
        pytest.skip("shared/data/pcap is not beside the checkout")
    with pytest.raises(MayflyError, match="row 1: ts = XXXX"):
        read_flows_any(log)
    rows = [line.split("\t") for line in gzip.decompress(log.read_bytes()).decode().splitlines()]
    names = next(row for row in rows if row[0] == "#fields")[1:]
    rows = [[str(place), *row[1:]] for place, row in enumerate(row for row in rows if row[0][0] != "#")]
    (tmp_path / "conn.log").write_text(tsv(rows, names))
    tcp = read_flows_any(tmp_path / "conn.log").filter(pl.col("protocol") == "tcp")
    cells = pl.DataFrame(rows, schema=names, orient="row").filter(pl.col("proto") == "tcp")
    sizes = pl.concat([cells["orig_bytes"], cells["resp_bytes"].alias("orig_bytes")]).replace("-", "0").cast(pl.Int64)
    assert (len(rows), tcp.height, tcp["size_bytes"].sum()) == (8505, (sizes > 0).sum(), sizes.sum())


def test_records_of_netflow_are_connections():
    flows = read_flows_any(RECORDS, internal=["10.10.0.0/24"])
    assert flows.filter(pl.col("protocol") == "udp").height == 4
    tcp = flows.filter(pl.col("protocol") == "tcp")
    assert tcp.filter(pl.col("direction") == "down")["opened_by"].unique().to_list() == ["receiver"]


def test_netflow_of_a_capture_has_its_flows_and_nearly_its_bytes(tmp_path):
    if shutil.which("nfpcapd") is None or shutil.which("nfdump") is None:
        pytest.skip("nfdump is not installed")
    (tmp_path / "office.pcap").write_bytes(gzip.decompress(OFFICE.read_bytes()))
    folder = tmp_path / "records"
    folder.mkdir()
    subprocess.run(["nfpcapd", "-r", tmp_path / "office.pcap", "-w", folder], check=True, capture_output=True)
    captured = read_flows_any(OFFICE, internal=["10.10.0.0/24"])
    same = ("src", "dst", "direction", "protocol", "size_bytes", "opened_by")
    for option in ((), ("-b",)):
        csv = subprocess.run(["nfdump", "-R", folder, *option, "-o", "csv"], check=True, capture_output=True).stdout
        (tmp_path / "flows.csv").write_bytes(csv)
        flows = read_flows_any(tmp_path / "flows.csv", internal=["10.10.0.0/24"])
        udp, asked = (list_.filter(pl.col("protocol") == "udp") for list_ in (flows, captured))
        assert udp.select(same).sort(same).equals(asked.select(same).sort(same))
        # Headers of TCP are estimated: a SYN has 8 bytes more than other packets, an ACK with SACK 12 or more.
        tcp, asked = (list_.filter(pl.col("protocol") == "tcp")["size_bytes"] for list_ in (flows, captured))
        assert 0 <= tcp.sum() / asked.sum() - 1 < 0.01


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",TCP,", ",TCP,1,", "cells: must be 48, as in the header"),
        ("2026-11-21 20:13:43,", "yesterday,", "row 1: ts = yesterday: must be a time such as"),
        (",53,", ",65536,", "row 4: dp = 65536: must be a number from 0 to 65535"),
    ],
)
def test_a_bad_record_of_netflow_is_told_with_its_number(old, new, said, tmp_path):
    (tmp_path / "flows.csv").write_text(RECORDS.read_text().replace(old, new, 1))
    with pytest.raises(MayflyError) as told:
        read_flows_any(tmp_path / "flows.csv")
    assert said in str(told.value)


def test_numbers_for_ns3_come_back(tmp_path):
    flows = flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 0.5, 1.0],
                "src": ["a", "b", "a"],
                "dst": ["c", "c", "b"],
                "size_bytes": [1460, None, 900],
                "direction": ["down", "up", "down"],
                "protocol": ["tcp", "tcp", "udp"],
                "rate_bps": [None, None, 1e6],
                "packet_bytes": [None, None, 500],
                "rtt_s": [0.05, None, None],
                "script": [None, "up 10 | down 20", None],
            }
        )
    )
    lost = write_flows_as(flows, tmp_path / "x.ns3.csv")
    assert lost == [
        "1 flows with script: became one transfer of its bytes",
        "3 hosts are numbered from 0, in the order of their names",
    ]
    assert (tmp_path / "x.ns3.csv").read_text().splitlines() == [
        "start,size,src,dst,up,udp,packet,rate,rtt",
        "0.0,1460,0,2,0,0,0,0.0,0.05",
        "0.5,30,1,2,1,0,0,0.0,0.0",
        "1.0,900,0,1,0,1,500,1000000.0,0.0",
    ]
    again = read_flows_any(tmp_path / "x.ns3.csv")
    same = ("start_s", "size_bytes", "direction", "protocol", "packet_bytes", "rate_bps", "rtt_s")
    assert again.select(same).equals(flows.select(same))
    (tmp_path / "x.ns3.csv").write_text("start,size,src,dst,up,udp,packet,rate,rtt\n0,1,0,1,2,0,0,0,0\n")
    with pytest.raises(MayflyError, match="row 1: up = 2: must be 0 or 1"):
        read_flows_any(tmp_path / "x.ns3.csv")
