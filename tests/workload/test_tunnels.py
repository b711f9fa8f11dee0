"""`--tunnels`, on every command that reads captures: who talks inside, and the length outside as load."""

import json
import struct

import polars as pl
import pytest
from connection_captures import connection, ip, write_ip
from invocation import mayfly_here

from mayfly import _native
from mayfly.comparison.other_transport import OF_2012, _with_preset
from mayfly.comparison.replay import replay_of, run_replay
from mayfly.discipline_registry import parse
from mayfly.explore.documents import template
from mayfly.scenario.scenario import scenario_of
from mayfly.scenario.transport import Tcp
from mayfly.workload.connections import ReadOptions, read_captures
from mayfly.workload.reading import read_as

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

GRE_BYTES = 24
INSIDE, OUTSIDE = "10.0.0.1", "192.0.2.1"


def in_gre(packet):
    """The packet between two routers; its captured part stays short."""
    (length,) = struct.unpack(">H", packet[2:4])
    ends = (OUTSIDE, "198.51.100.1")
    source, target = ends if packet[12:16] == bytes((10, 0, 0, 1)) else ends[::-1]
    return ip(source, target, 47, b"\x00\x00\x08\x00" + packet, 4 + length)


@pytest.fixture
def path(tmp_path):
    datagram = ip(INSIDE, "9.9.9.9", 17, struct.pack(">HHHH", 6000, 53, 108, 0), 108)
    rows = [row for number in range(20) for row in connection(number * 0.1, port=5000 + number)]
    rows += [(0.01 * at, datagram) for at in range(50)]
    return write_ip(tmp_path / "gre.pcap", [(at_s, in_gre(packet)) for at_s, packet in rows])


def test_the_length_outside_is_the_load_whoever_talks(path):
    outside, inside = (read_captures(path, ReadOptions(tunnels=tunnels)) for tunnels in (False, True))
    bytes_of = pl.col("opener_wire_bytes") + pl.col("responder_wire_bytes")
    sums = [found.connections.select(bytes_of.sum()).item() for found in (outside, inside)]
    assert sums[0] == sums[1] == outside.counts["account"]["seen"]["bytes"]
    assert outside.counts["account"] == inside.counts["account"]
    assert outside.connections.select("protocol", "ip_protocol").rows() == [("other", 47)]
    assert inside.connections["protocol"].value_counts(sort=True).rows() == [("tcp", 20), ("udp", 1)]
    (datagrams,) = inside.connections.filter(protocol="udp").iter_rows(named=True)
    assert datagrams["opener_wire_bytes"] == 50 * (128 + GRE_BYTES)
    assert datagrams["opener_payload_bytes"] == 50 * 100
    assert inside.counts["tunnelled"]["gre"] == outside.counts["packets"]
    # Losses and round trips are those inside.
    assert inside.connections.filter(protocol="tcp")["rtt_s"].round(6).unique().to_list() == [0.02]
    said = "inside GRE (IP protocol 47) (100.0 % of the bytes: --tunnels looks inside)"
    assert said in outside.counts["cannot_answer"]
    assert "GRE" not in (inside.counts["cannot_answer"] or "")


def test_a_replay_sends_datagrams_with_the_length_outside(path):
    with read_as(tunnels=True):
        found = replay_of(path, "5mbit", 100)
    (bursts,) = found.flows.filter(protocol="udp")["bursts"].to_list()
    assert {one["packet_bytes"] for one in bursts} == {128 + GRE_BYTES}
    assert found.udp.opaque == 0 and found.flows.filter(protocol="tcp").height == 20


def test_a_replay_sends_tcp_with_the_length_outside(path):
    """Each TCP packet has its headers of the tunnel on the link of the replay, as it had in the capture."""
    with read_as(tunnels=True):
        found = replay_of(path, "5mbit", 100)
        inner = replay_of(path, "5mbit", 100, overrides={"tcp.header": 40})
    assert (inner.scenario.tcp.header, found.scenario.tcp.header) == (40, 40 + GRE_BYTES)
    assert any(f"TCP packets are {GRE_BYTES} bytes longer on the link" in said for said in found.doubts)
    own, longer = (
        run_replay(one.scenario, [parse("fifo")], one.flows.filter(protocol="tcp"))[0].counters
        for one in (inner, found)
    )
    assert own["arrivals"] == longer["arrivals"]
    assert longer["sent_bytes"] - own["sent_bytes"] == GRE_BYTES * own["arrivals"]
    # Hosts of another kind are behind the same tunnel.
    other = scenario_of(_with_preset(found.scenario, OF_2012), "other")
    assert other.tcp.header == Tcp(preset=OF_2012).header + GRE_BYTES
    assert "tunnel_bytes" not in read_captures(path).counts


def test_tcp_outside_of_tunnels_makes_the_mean_shorter(tmp_path):
    rows = [(at_s, in_gre(packet)) for at_s, packet in connection(0.0, port=5000)]
    rows += connection(1.0, port=6000)
    path = write_ip(tmp_path / "mixed.pcap", rows)
    assert read_captures(path, ReadOptions(tunnels=True)).counts["tunnel_bytes"] == GRE_BYTES // 2


def test_roles_look_inside(path, tmp_path):
    hosts = tmp_path / "features.csv"
    for words, inside in (((), False), (("--tunnels",), True)):
        done = mayfly_here("profile", "roles", "features", path, "--least", "1", "--out", hosts, *words)
        assert done.status == 0, done.err
        assert (INSIDE in hosts.read_text(encoding="utf-8")) == inside


def test_two_readings_are_compared_inside(path):
    done = mayfly_here("profile", "compare", path, path, "--tunnels", "--json")
    assert done.status == 0, done.err
    outside = mayfly_here("profile", "compare", path, path, "--json")
    assert outside.status == 0, outside.err
    assert (outside.document["matched"], done.document["matched"]) == (0, 21)


WHATIF = ("--rate", "2mbit", "--buffer", "50", "-n", "1", "-d", "fifo", "--out", "OUT")
NODES = {"Site": {"downloadBandwidthMbps": 100, "uploadBandwidthMbps": 100, "type": "site", "children": {}}}
DEVICES = (
    "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,"
    "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n"
    f"1,one,1,one,Site,,{INSIDE},,1,1,50,10,\n"
)
COMMANDS = {
    "profile": ("profile", "IN", "--bootstrap", "0", "--out", "OUT"),
    "connections": ("profile", "IN", "--connections", "--out", "OUT"),
    "whatif": ("whatif", "IN", *WHATIF),
    "convert": ("workload", "convert", "IN", "OUT.csv"),
    "from": ("workload", "from", "IN", "-o", "OUT.toml"),
    "diff": ("diff", "IN", "IN", "--out", "OUT"),
    "compare": ("compare", "wired", "--flows", "IN", "-d", "fifo", "--duration", "4s", "--out", "OUT"),
    "simulate": ("simulate", "wired", "--flows", "IN", "--discipline", "fifo", "--duration", "4s", "--out", "OUT"),
    "tree": ("tree", "nodes.json", "--devices", "devices.csv", "--capture", "IN", "-d", "fifo", "--out", "OUT"),
}


def words_of(command, path, tmp_path):
    (tmp_path / "nodes.json").write_text(json.dumps(NODES), encoding="utf-8")
    (tmp_path / "devices.csv").write_text(DEVICES, encoding="utf-8")
    names = {"IN": path, "OUT": tmp_path / "out", "nodes.json": tmp_path / "nodes.json"}
    names |= {
        "devices.csv": tmp_path / "devices.csv",
        "OUT.csv": tmp_path / "out.csv",
        "OUT.toml": tmp_path / "out.toml",
    }
    return [str(names.get(word, word)) for word in COMMANDS[command]]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_captures_looks_inside(command, path, tmp_path):
    words = words_of(command, path, tmp_path)
    done = mayfly_here(*words, "--tunnels", "--json")
    assert done.status == 0, done.err
    # 160 packets of TCP and 50 of UDP, with GRE around them; TCP alone counts in diff.
    account = done.document["account"][0]
    assert account["seen"]["count"] == 210
    used = account["used"]["count"]
    assert used == {"diff": 160}.get(command, 210)
    assert "cannot_answer" in account and "GRE" not in (account["cannot_answer"] or "")
    without = mayfly_here(*words, "--json")
    if command in ("profile", "connections", "whatif"):
        assert "inside GRE" in without.document["account"][0]["cannot_answer"]
    else:
        # A list has no such flows, and no host of the tree is outside.
        assert without.status == 2


def test_the_page_looks_inside(path):
    notes = []
    for inside in (False, True):
        options = {"internal": None, "tunnels": inside, "template": template()}
        told = _native.Explorer().open("gre.pcap", path.read_bytes(), json.dumps(options))
        notes.append(json.loads(told)["notes"])
    assert any("inside GRE" in note for note in notes[0]) and not any("GRE" in note for note in notes[1])


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "wired", "-d", "fifo"),
        ("simulate", "wired", "--discipline", "fifo"),
        ("compare", "wired", "-d", "fifo", "--flows", "LIST"),
        ("workload", "convert", "LIST", "OUT"),
    ],
)
def test_what_has_no_packets_is_refused(words, tmp_path):
    (tmp_path / "flows.csv").write_text("start_s,size_bytes\n0,100\n", encoding="utf-8")
    names = {"LIST": tmp_path / "flows.csv", "OUT": tmp_path / "out.csv"}
    done = mayfly_here(*(str(names.get(word, word)) for word in words), "--tunnels")
    assert done.status == 2 and "--tunnels: looks into the packets of a capture" in done.err
    assert not (tmp_path / "out.csv").exists()
