"""Logs of connections: Zeek and NetFlow; and the CSV for ns-3."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from invocation import mayfly_here, refused_here

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


@pytest.mark.parametrize("name", ["ts", "duration", "orig_bytes", "orig_pkts", "id.orig_p"])
def test_a_number_of_zeek_that_no_float_holds_is_refused(tmp_path, name):
    path = tmp_path / "conn.log"
    first, *rest = documents().splitlines()
    path.write_text(json.dumps(json.loads(first) | {name: 10**400}) + "\n" + "\n".join(rest) + "\n")
    with pytest.raises(MayflyError, match=f"row 1: {name} = 1000.*: must be a number from 0 to"):
        read_flows_any(path)


@pytest.mark.parametrize("protocol", ["tcp", "icmp"])
def test_a_log_of_zeek_with_more_bytes_than_sums_hold_is_refused(tmp_path, protocol):
    path = tmp_path / "conn.log"
    huge = ("1600000005", "C5", "192.168.0.2", "1", "198.51.100.7", "1", protocol, "-", "0", "0", "1", str(2**53))
    # So many that 64 bits do not hold their sum.
    path.write_text(tsv([*ROWS, *[(*huge, "0", "0")] * 2048]))
    with pytest.raises(MayflyError, match=r"row 5: sum of bytes so far = \d+: must be a whole number from 0 to"):
        read_flows_any(path)


@pytest.mark.parametrize(("packets", "size", "name"), [(1, 2**53, "bytes"), (2**53, 5000, "packets")])
def test_netflow_with_more_than_sums_hold_is_refused(tmp_path, packets, size, name):
    path = tmp_path / "flows.csv"
    names = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,inPackets,inBytes,flows"
    row = f"2026-11-21 20:13:28.108,1.0,TCP,10.0.0.1,1024,192.0.2.1,443,{packets},{size},1"
    path.write_text("\n".join([names, *[row] * 2048]) + "\n")
    with pytest.raises(MayflyError, match=rf"row 2: sum of {name} so far = \d+: must be a whole number from 0 to"):
        read_flows_any(path)


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
    cells = cells.with_columns(
        pl.col("^(orig|resp)_(bytes|pkts|ip_bytes)$", "missed_bytes").replace("-", "0").cast(int)
    )
    said = cells["orig_bytes"].sum() + cells["resp_bytes"].sum()
    seen = {side: pl.col(f"{side}_ip_bytes") - 40 * pl.col(f"{side}_pkts") for side in ("orig", "resp")}
    missed = pl.col("missed_bytes")
    lacks = {side: (missed > 0) & (pl.col(f"{side}_bytes") > seen[side]) for side in seen}
    cells = cells.with_columns(
        pl.when(lacks["orig"] & lacks["resp"])
        .then(seen[side])
        .when(lacks[side])
        .then(pl.min_horizontal(pl.col(f"{side}_bytes") - missed, seen[side]))
        .otherwise(f"{side}_bytes")
        .alias(f"{side}_bytes")
        for side in seen
    )
    sizes = pl.concat([cells["orig_bytes"], cells["resp_bytes"].alias("orig_bytes")])
    assert (len(rows), tcp.height, tcp["size_bytes"].sum()) == (8505, (sizes > 0).sum(), sizes.sum())
    assert said - cells["missed_bytes"].sum() <= sizes.sum() < said


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


CSV_175 = """\
firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows
2026-11-21 20:13:28.108,0.000,17,192.168.0.2,43611,203.0.113.10,53,1,84,1
2026-11-21 20:13:28.120,0.000,17,203.0.113.10,53,192.168.0.2,43611,1,88,1
2026-11-21 20:13:28.164,0.028,6,192.168.0.2,48874,203.0.113.10,80,11,669,1
2026-11-21 20:13:28.176,0.028,6,203.0.113.10,80,192.168.0.2,48874,10,8411,1
2026-11-21 20:13:29.000,0.000,1,192.168.0.2,0,203.0.113.10,2048,1,84,1
"""
CSV_BOTH = """\
firstSeen,lastSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,inPackets,inBytes,outPackets,outBytes,flows
2026-11-21 20:13:28.108,2026-11-21 20:13:28.120,0.012,UDP,192.168.0.2,43611,203.0.113.10,53,1,84,1,88,2
2026-11-21 20:13:28.164,2026-11-21 20:13:28.204,0.040,TCP,192.168.0.2,48874,203.0.113.10,80,11,669,10,8411,2
"""
NEAR = ["192.168.0.0/16"]


def jsons():
    """Records of nfdump -o json, as of the CSV."""
    names = ("first", "duration", "proto", "src4_addr", "src_port", "dst4_addr", "dst_port", "in_packets", "in_bytes")
    for line in CSV_175.splitlines()[1:]:
        found = dict(zip(names, line.split(","), strict=False))
        last = found["first"][:-3] + f"{int(found['first'][-3:]) + round(1000 * float(found.pop('duration'))):03d}"
        numbers = {name: int(found[name]) for name in ("proto", "src_port", "dst_port", "in_packets", "in_bytes")}
        times = {"type": "FLOW", "first": found["first"].replace(" ", "T"), "last": last.replace(" ", "T")}
        yield times | {"src4_addr": found["src4_addr"], "dst4_addr": found["dst4_addr"]} | numbers


def test_netflow_since_nfdump_1_7_5_has_milliseconds(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text(CSV_175)
    flows = read_flows_any(path, internal=NEAR)
    columns = ("start_s", "src", "direction", "protocol", "size_bytes", "opened_by", "packet_bytes")
    assert flows.select(columns).rows() == [
        (0.0, "192.168.0.2", "up", "udp", 56, "sender", 84),
        (0.0, "203.0.113.10", "down", "udp", 60, "receiver", 88),
        (0.056, "192.168.0.2", "up", "tcp", 669 - 11 * 52, "sender", None),
        (0.056, "203.0.113.10", "down", "tcp", 8411 - 10 * 52, "receiver", None),
    ]
    assert read_flows_any(path, "nfdump", internal=NEAR).equals(flows)
    for text in (
        CSV_175.replace(",6,", ",TCP,").replace(",17,", ",UDP,"),
        CSV_175 + "\n",
        CSV_175 + "Summary\nflows,5\n",
    ):
        path.write_text(text)
        assert read_flows_any(path, internal=NEAR).equals(flows)
    path.write_text("\n".join(map(json.dumps, jsons())))
    assert read_flows_any(path, internal=NEAR).equals(flows)
    path.write_text(json.dumps([*jsons(), {"type": "EVENT", "proto": 6}], indent=1))
    assert read_flows_any(path, internal=NEAR).equals(flows)
    assert read_flows_any(path, "nfdump", internal=NEAR).equals(flows)


def test_netflow_of_both_directions_in_one_record(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text(CSV_175)
    both = read_flows_any(path, internal=NEAR)
    path.write_text(CSV_BOTH)
    notes = []
    flows = read_flows_any(path, internal=NEAR, notes=notes)
    same = ("src", "dst", "direction", "protocol", "size_bytes", "opened_by")
    assert flows.select(same).sort(same).equals(both.select(same).sort(same)) and notes == []


def test_netflow_whose_other_direction_was_left_out_is_refused(tmp_path):
    path = tmp_path / "flows.csv"
    lines = CSV_175.splitlines()
    path.write_text("\n".join((lines[0], lines[1], lines[3].replace(",11,669,1", ",11,669,2"))))
    with pytest.raises(MayflyError) as told:
        read_flows_any(path)
    assert "row 2: flows = 2 without outPackets: nfdump -b and -B leave" in str(told.value)
    assert "-o 'csv:%ts,%td,%pr,%sa,%sp,%da,%dp,%ipkt,%ibyt,%opkt,%obyt,%fl'" in str(told.value)
    # Several records of one direction put together (-a), with those of the other: nothing is left out.
    path.write_text(CSV_175.replace(",1\n", ",2\n"))
    assert read_flows_any(path, internal=NEAR).height == 4
    # In JSON of 1.7.1 -b leaves no trace: a doubt.
    path.write_text("\n".join(json.dumps(row) for row in jsons() if row["src4_addr"] == "192.168.0.2"))
    notes = []
    assert read_flows_any(path, internal=NEAR, notes=notes).height == 2
    assert len(notes) == 1 and "no record of TCP has one of the other direction" in notes[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",6,", ",,", "row 3: proto is missing: must be a protocol"),
        ("2026-11-21 20:13:28.164", "28.164.1", "row 3: firstSeen = 28.164.1: must be a time such as"),
        (",669,", ",many,", "row 3: bytes = many: must be a number"),
        (",11,669,1", ",11,669", "row 3: 9 cells: must be 10, as in the header"),
        ("dstAddr", "dst", "column dstAddr is missing: must be as nfdump -o csv or -o 'csv:"),
        ("duration", "took", "column duration is missing: must be as nfdump -o csv or -o 'csv:"),
    ],
)
def test_a_bad_record_of_todays_netflow_is_told_with_its_number(old, new, said, tmp_path):
    (tmp_path / "flows.csv").write_text(CSV_175.replace(old, new))
    with pytest.raises(MayflyError) as told:
        read_flows_any(tmp_path / "flows.csv", "nfdump")
    assert said in str(told.value) and "\n" not in str(told.value)


def test_netflow_that_breaks_off_is_told(tmp_path):
    path = tmp_path / "flows.json"
    path.write_text(json.dumps(list(jsons()), indent=1)[:-20])
    with pytest.raises(MayflyError, match="must be JSON as nfdump -o json or -o ndjson writes it"):
        read_flows_any(path)
    path.write_text("\n".join(map(json.dumps, jsons()))[:-20])
    with pytest.raises(MayflyError, match=r"row 5: .*must be JSON as nfdump"):
        read_flows_any(path)


@pytest.mark.parametrize(
    ("name", "flows", "size_bytes"),
    [
        ("nfdump-1.7.1.csv", 39, 2173),
        ("nfdump-1.7.5.csv", 39, 178_346),
        ("nfdump-1.7.10.csv", 39, 178_346),
        ("nfdump-1.7.10.json", 20, 90_962),
        ("nfdump-1.7.10.ndjson", 30, 117_877),
        ("nfdump-1.7.10-b.json", 2, 116),
        ("nfdump-1.7.10-b.csv", None, None),
    ],
)
def test_records_of_each_nfdump(name, flows, size_bytes):
    path = ROOT.parent / "shared" / "audit" / "inputs" / "formats" / name
    if not path.exists():
        pytest.skip("../shared/audit/inputs/formats is not here")
    if flows is None:
        with pytest.raises(MayflyError, match="flows = 2 without outPackets"):
            read_flows_any(path)
        return
    found = read_flows_any(path, internal=["10.10.0.0/24"])
    assert (found.height, found["size_bytes"].sum()) == (flows, size_bytes)


MISSED = (*NAMES, "missed_bytes")


def missed(row, orig_bytes, resp_bytes, missed_bytes):
    given = {"orig_bytes": orig_bytes, "resp_bytes": resp_bytes, "missed_bytes": missed_bytes}
    found = dict(zip(NAMES, row, strict=True)) | {name: str(value) for name, value in given.items()}
    return [found[name] for name in MISSED]


@pytest.mark.parametrize(
    ("orig_bytes", "resp_bytes", "missed_bytes", "up", "down"),
    [
        # Row 1: 1400 IP bytes in 20 packets up, 52000 in 40 down: 600 and 50400 are not headers.
        (300, 1_607_364_734, 1_607_314_734, 300, 50_000),
        (300, 1_607_364_734, 1_607_310_063, 300, 50_400),
        (300, 51_000, 700, 300, 50_300),
        (300, 50_000, 700, 300, 50_000),
        (90_000, 90_000, 130_000, 600, 50_400),
        (300, 90_000, 1_607_310_063, 300, 50_400),
        (300, 50_000, 0, 300, 50_000),
    ],
)
def test_bytes_that_zeek_missed_are_no_payload(tmp_path, orig_bytes, resp_bytes, missed_bytes, up, down):
    path = tmp_path / "conn.log"
    path.write_text(tsv([missed(ROWS[0], orig_bytes, resp_bytes, missed_bytes)], MISSED))
    notes = []
    flows = read_flows_any(path, internal=NEAR, notes=notes)
    assert dict(flows.select("direction", "size_bytes").rows()) == {"up": up, "down": down}
    changed = (up, down) != (orig_bytes, resp_bytes)
    assert len(notes) == changed
    if changed:
        assert f"1 connection of {path}: payload without the {missed_bytes:,} bytes that Zeek missed" in notes[0]


def test_bytes_that_zeek_missed_without_ip_bytes(tmp_path):
    names = [name for name in MISSED if "ip_bytes" not in name]
    row = dict(zip(MISSED, missed(ROWS[0], 300, 1_607_364_734, 1_607_310_063), strict=True))
    (tmp_path / "conn.log").write_text(tsv([[row[name] for name in names]], names))
    flows = read_flows_any(tmp_path / "conn.log", internal=NEAR)
    assert dict(flows.select("direction", "size_bytes").rows()) == {"up": 300, "down": 54_671}


def test_a_log_of_zeek_with_ip_bytes_only_is_estimated(tmp_path):
    names = [name for name in NAMES if name not in ("orig_bytes", "resp_bytes")]
    rows = [[dict(zip(NAMES, row, strict=True))[name] for name in names] for row in ROWS]
    (tmp_path / "conn.log").write_text(tsv(rows, names))
    notes = []
    flows = read_flows_any(tmp_path / "conn.log", internal=NEAR, notes=notes)
    assert sorted(flows["size_bytes"]) == sorted([136 - 2 * 28, 256 - 2 * 28, 1400 - 20 * 52, 52000 - 40 * 52, 60 - 52])
    assert len(notes) == 1 and "has no orig_bytes and resp_bytes: payload is IP bytes" in notes[0]


def test_notes_of_a_log_are_shown(tmp_path):
    path = tmp_path / "conn.log"
    path.write_text(tsv([missed(ROWS[0], 300, 1_607_364_734, 1_607_310_063)], MISSED))
    ended = mayfly_here("workload", "convert", path, tmp_path / "flows.csv")
    assert ended.status == 0 and "note: 1 connection of" in " ".join((ended.out + ended.err).split())
    given = (
        "compare",
        "wired",
        "--flows",
        path,
        "-d",
        "fifo",
        "--duration",
        "30s",
        "--json",
        "--out",
        tmp_path / "out",
    )
    summary = json.loads(mayfly_here(*given).out)
    assert summary["workload"]["bytes"] == 50_700
    assert any("bytes that Zeek missed" in note for note in summary["notes"])


FLENT = json.dumps({"metadata": {"BATCH_NAME": None, "DATA_FILENAME": "rrul.flent.gz"}, "results": {}, "x_values": []})


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"\x0c\xa5\x02\x00\x00\x01\x07\x01", "binary file of nfcapd: must be written as CSV first"),
        (b"\x83\x10\x00\x20\0\0\0\0\xe5\x71\x2d\xcb" + bytes(100), "binary file of Argus, which is not read"),
        (b"StartTime,LastTime,Proto,SrcAddr,Sport,DstAddr\n", "CSV of Argus, which is not read"),
        (
            b"1730541600.000000\tCa1\t192.0.2.10\t40000\n",
            "log of Zeek without its header: must begin with the line #fields",
        ),
        (b"Date first seen          Duration Proto\n", "text of nfdump: must be written as CSV"),
        (FLENT.encode(), "result of flent, which has no flows"),
        (b"\x02\x21\x4c\x18\x64\x40", "LZ4 of the legacy format: must be decompressed first, by lz4 -d"),
        (b"\xfd7zXZ\x00\x00\x04", "xz: must be decompressed first"),
        (b"BZh91AY&SY", "bzip2: must be decompressed first"),
        (b"snoop\0\0\0\0\0\0\x02", "snoop capture: must be converted first, by editcap -F pcap"),
        (b"GMBU\0\x02\x01\0", "capture of Network Monitor: must be converted first"),
    ],
)
def test_a_format_that_is_not_read_is_named(tmp_path, head, said):
    for name, content in (("flows", head), ("flows.gz", gzip.compress(head))):
        (tmp_path / name).write_bytes(content)
        ended = refused_here("workload", "convert", tmp_path / name, tmp_path / "out.csv")
        assert f"{name}: {said}" in ended


@pytest.mark.parametrize("command", [("whatif", "--rate", "10mbit", "--buffer", "30"), ("profile",)])
def test_a_flow_list_in_place_of_a_capture_is_named(tmp_path, command):
    (tmp_path / "conn.log").write_text(tsv())
    said = refused_here(command[0], tmp_path / "conn.log", *command[1:], "--out", tmp_path / "out")
    assert "conn.log: not a capture: found a log of Zeek (use it with compare --flows)" in said


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
