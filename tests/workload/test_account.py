"""The account of what a command read: seen is what was used and what was left out, for commands and formats."""

import gzip
import json
import shutil
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.invocation import mayfly

from mayfly import _native
from mayfly.comparison.comparison import compare, run
from mayfly.comparison.whatif import whatif
from mayfly.diff.answer import diff
from mayfly.profile.answer import profile
from mayfly.profile.listed import listed
from mayfly.profile.workload.answer import Made
from mayfly.profile.workload.measure import workload_from
from mayfly.scenario.scenario import load_scenario
from mayfly.trees.answer import tree
from mayfly.workload.formats.convert import converted

CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([192, 0, 2, 1])
ETHERNET = b"\0" * 12


def ip(protocol, body, source=CLIENT, target=SERVER):
    """An IPv4 packet in a frame of Ethernet."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0, source, target)
    return ETHERNET + b"\x08\x00" + head + body


def udp(port, size):
    return ip(17, struct.pack(">HHHH", port, 53, 8 + size, 0) + bytes(size))


def tcp(port, forth, seq, ack, flags, size=0):
    ports = (port, 80) if forth else (80, port)
    ends = (CLIENT, SERVER) if forth else (SERVER, CLIENT)
    return ip(6, struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + bytes(size), *ends)


def transfer(port, size):
    """A connection that carries so many bytes each way and ends."""
    return [
        tcp(port, True, 0, 0, 2),
        tcp(port, False, 0, 1, 18),
        tcp(port, True, 1, 1, 16),
        tcp(port, True, 1, 1, 24, 100),
        tcp(port, False, 1, 101, 24, size),
        tcp(port, True, 101, 1 + size, 17),
        tcp(port, False, 1 + size, 102, 17),
        tcp(port, True, 102, 2 + size, 16),
    ]


ODD = {
    "tunnel": st.builds(ip, st.sampled_from([50, 47, 41]), st.binary(min_size=20, max_size=99)),
    "protocol": st.builds(ip, st.sampled_from([51 + 38, 132, 2]), st.binary(min_size=20, max_size=99)),
    "not_ip": st.binary(min_size=28, max_size=60).map(lambda body: ETHERNET + b"\x08\x06" + body),
}


def pcap(frames, cut):
    """A file of frames 10 ms apart, of which ``cut`` of the last bytes were not captured."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, frame in enumerate(frames):
        held = frame[: max(len(frame) - cut.get(number, 0), 14)]
        file += struct.pack("<IIII", 1000 + number // 100, number % 100 * 10_000, len(held), len(frame)) + held
    return file


def ip_bytes(frame):
    """What a frame counts: its IP packet, or all of it."""
    return struct.unpack(">H", frame[16:18])[0] if frame[12:14] == b"\x08\x00" else len(frame)


def amount(frames):
    return {"count": len(frames), "bytes": sum(map(ip_bytes, frames))}


@st.composite
def captures(draw):
    """Frames, how many last bytes of some are cut, and how many frames are left out for each reason."""
    parts = [transfer(2000 + number, draw(st.integers(1, 1400))) for number in range(draw(st.integers(2, 5)))]
    parts += [[udp(5000 + number, draw(st.integers(1, 300)))] for number in range(draw(st.integers(0, 4)))]
    odd = {reason: draw(st.lists(frames, max_size=5)) for reason, frames in ODD.items()}
    parts += [[frame] for frames in odd.values() for frame in frames]
    cut = [udp(6000 + number, 200) for number in range(draw(st.integers(0, 3)))]
    order = draw(st.permutations(parts + [[frame] for frame in cut]))
    frames = [frame for part in order for frame in part]
    # Within the header of UDP, behind that of IP.
    short = {place: len(frame) - 36 for place, frame in enumerate(frames) if any(frame is one for one in cut)}
    left = {reason: amount(of) for reason, of in (odd | {"cut_header": cut}).items() if of}
    return frames, short, left


def exact(accounts, seen=None, left=None):
    """Holds that sums are exact, and what was seen and left out."""
    assert accounts
    for account in accounts:
        for unit in ("count", "bytes"):
            rest = sum(of[unit] for of in account["left_out"].values())
            assert account["seen"][unit] == account["used"][unit] + rest
            assert account["used"][unit] >= 0
        assert set(account["left_out"]) <= set(_native.Account.REASONS)
        if seen is not None:
            assert account["seen"] == seen
        if left is not None:
            assert {reason: of for reason, of in account["left_out"].items() if reason != "aside"} == left
    return accounts


NODES = {"Site": {"downloadBandwidthMbps": 100, "uploadBandwidthMbps": 100, "type": "site", "children": {}}}
HEADS = (
    "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,"
    "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment"
)


def in_a_tree(path, folder):
    (folder / "nodes.json").write_text(json.dumps(NODES), encoding="utf-8")
    row = "1,one,1,one,Site,,10.0.0.1,,1,1,50,10,"
    (folder / "devices.csv").write_text(f"{HEADS}\n{row}\n", encoding="utf-8")
    found = tree(folder / "nodes.json", folder / "devices.csv", captures=[path], disciplines="fifo")
    return found.document()["account"]


def measured(path):
    account = []
    return Made(workload_from([path], accounts=account), account).document()["account"]


SHORT = load_scenario("wired", {"duration": "5s"})

COMMANDS = {
    "profile": lambda path, _: profile([path], bootstrap=0).document()["account"],
    "profile --connections": lambda path, _: listed([path]).document()["account"],
    "whatif": lambda path, _: whatif(path, "10mbit", 100, disciplines="fifo", replications=1).summary["account"],
    "convert": lambda path, folder: converted(path, folder / "flows.csv").document()["account"],
    "from": lambda path, _: measured(path),
    "diff": lambda path, _: diff(path, path).document()["account"],
    "compare": lambda path, _: compare(SHORT, "fifo", path).summary["account"],
    "simulate": lambda path, _: run(SHORT, "fifo", path).summary["account"],
    "tree": in_a_tree,
}


LOAD = ("profile", "profile --connections", "whatif", "tree")
"""Commands to which packets are load whose headers are not read; a flow list has no such flows."""


def wrapped(data, form, folder):
    """The capture in a file of another form."""
    path = folder / f"capture.{form}"
    path.write_bytes(gzip.compress(data) if form == "pcap.gz" else data)
    if form == "pcapng":
        shutil.move(path, folder / "plain.pcap")
        path.write_bytes(pcapng(data))
    return path


def pcapng(data):
    """The records of a pcap file as enhanced packet blocks."""

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    found = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 65535))
    at = 24
    while at < len(data):
        seconds, fraction, held, whole = struct.unpack("<IIII", data[at : at + 16])
        ticks = seconds * 10**6 + fraction
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, held, whole)
        found += block(6, head + data[at + 16 : at + 16 + held])
        at += 16 + held
    return found


@pytest.mark.parametrize("command", COMMANDS)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(capture=captures(), form=st.sampled_from(["pcap", "pcap.gz", "pcapng"]))
def test_the_account_of_a_capture_is_what_the_generator_wrote(tmp_path_factory, command, capture, form):
    frames, cut, left = capture
    folder = tmp_path_factory.mktemp("capture")
    path = wrapped(pcap(frames, cut), form, folder)
    tunnels, others = (left.pop(kind, {"count": 0, "bytes": 0}) for kind in ("tunnel", "protocol"))
    both = {unit: tunnels[unit] + others[unit] for unit in tunnels}
    if command not in LOAD and both["count"]:
        left["protocol"] = both
    [account, *_] = exact(COMMANDS[command](path, folder), amount(frames), left)
    assert account["unit"] == "packets" and account["partial"] == []
    part = max(tunnels["bytes"] / account["seen"]["bytes"], tunnels["count"] / account["seen"]["count"])
    assert ("who sends what inside" in (account["cannot_answer"] or "")) == (part >= 0.01)


ZEEK = [
    {"ts": 1.0, "proto": "tcp", "orig_bytes": 100, "resp_bytes": 900, "orig_ip_bytes": 220, "resp_ip_bytes": 1000},
    {"ts": 2.0, "proto": "icmp", "orig_ip_bytes": 84, "resp_ip_bytes": 84},
    {"ts": 3.0, "proto": "tcp", "orig_bytes": 0, "resp_bytes": 0, "orig_ip_bytes": 60, "resp_ip_bytes": 40},
    {"ts": 4.0, "proto": "udp", "orig_bytes": 50, "resp_bytes": 60, "orig_ip_bytes": 78, "resp_ip_bytes": 88},
]
NFDUMP = """ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt
2026-11-21 20:13:28.000,2026-11-21 20:13:29.000,1.0,10.0.0.1,192.0.2.1,5000,80,TCP,5,900
2026-11-21 20:13:28.000,2026-11-21 20:13:29.000,1.0,192.0.2.1,10.0.0.1,80,5000,TCP,5,5000
2026-11-21 20:13:28.500,2026-11-21 20:13:29.000,1.0,10.0.0.1,192.0.2.1,0,0,ICMP,2,168
2026-11-21 20:13:28.700,2026-11-21 20:13:29.000,1.0,10.0.0.1,192.0.2.1,5001,80,TCP,1,40
"""


def zeek(rows):
    common = {"id.orig_h": "10.0.0.1", "id.orig_p": 5000, "id.resp_h": "192.0.2.1", "id.resp_p": 80}
    common |= {"orig_pkts": 2, "resp_pkts": 2, "duration": 1.0}
    lines = (json.dumps(common | {"id.orig_p": 5000 + number} | row) for number, row in enumerate(rows))
    return "".join(f"{line}\n" for line in lines)


LISTS = {
    "flows.csv": ("start_s,size_bytes\n0,100\n1,5000\n9,7\n", (3, 5107), {"aside": (1, 7)}),
    "conn.log": (zeek(ZEEK), (4, 1654), {"protocol": (1, 168), "aside": (1, 100)}),
    "late.log": (
        zeek([ZEEK[0], ZEEK[1], ZEEK[3] | {"ts": 400.0}]),
        (3, 1554),
        {"protocol": (1, 168), "aside": (1, 166)},
    ),
    "nfdump.csv": (NFDUMP, (4, 6108), {"protocol": (1, 168), "aside": (1, 40)}),
    "vectors.cvec": ("SEQ 0 1 1 1\nw 1 1\nr 40000\nl 0.0 0.0\n> 100\nt 1\n< 900\nt 1\n", (1, 1000), {}),
}


@pytest.mark.parametrize("command", ["convert", "compare", "simulate"])
@pytest.mark.parametrize("name", LISTS)
def test_the_account_of_a_list_has_all_of_its_rows(tmp_path, command, name):
    text, seen, left = LISTS[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    if command == "convert" and name in ("flows.csv", "late.log"):
        # There is no run that ends.
        left = {reason: of for reason, of in left.items() if reason != "aside"}
    [account] = exact(COMMANDS[command](tmp_path / name, tmp_path))
    assert account["unit"] == "rows"
    assert account["seen"] == dict(zip(("count", "bytes"), seen, strict=True))
    assert account["left_out"] == {
        reason: dict(zip(("count", "bytes"), of, strict=True)) for reason, of in left.items()
    }


@pytest.mark.parametrize("way", ["plain", "usual"])
def test_both_ways_of_the_command_line_pass_the_account_on(tmp_path, way):
    (tmp_path / "flows.csv").write_text(LISTS["flows.csv"][0], encoding="utf-8")
    more = ["--set", "network.loss=0.01"] if way == "usual" else []
    ended = mayfly(
        *("simulate", "wired", "--discipline", "fifo", "--flows", "flows.csv", "--duration", "5s", "--json", *more),
        cwd=tmp_path,
    )
    [account] = exact(ended.document["account"])
    assert (account["seen"]["count"], account["left_out"]) == (3, {"aside": {"count": 1, "bytes": 7}})


@pytest.mark.parametrize("engine", ["simulator", "both"])
def test_a_list_that_is_streamed_has_its_account(tmp_path, engine):
    rows = "".join(f"{number / 100},{100 + number}\n" for number in range(2_000))
    (tmp_path / "flows.csv").write_text("start_s,size_bytes\n" + rows, encoding="utf-8")
    command = ("simulate", "wired", "--discipline", "fifo", "--flows", "flows.csv", "--duration", "5s", "--stream")
    ended = mayfly(*command, "--engine", engine, "--json", cwd=tmp_path)
    [account] = exact(ended.document["account"], {"count": 2_000, "bytes": sum(range(100, 2_100))})
    assert account["used"] == {"count": 500, "bytes": sum(range(100, 600))}


def test_shards_add_up_to_one_reading(tmp_path):
    frames = [frame for port in range(40) for frame in transfer(3000 + port, 500)] + [ip(50, bytes(40))] * 3
    (tmp_path / "one.pcap").write_bytes(pcap(frames, {}))
    command = "profile", "one.pcap", "--connections", "--json"
    found = [mayfly(*command, *more, cwd=tmp_path).document["account"] for more in ((), ("--workers", "2"))]
    assert found[0] == found[1] == exact(found[0], amount(frames), {})


def test_connections_that_do_not_fit_are_in_the_account(tmp_path):
    from mayfly.workload.account import account_of
    from mayfly.workload.connections import connections

    frames = [udp(2000 + number, 10) for number in range(50)]
    (tmp_path / "many.pcap").write_bytes(pcap(frames, {}))
    _, counts = connections(tmp_path / "many.pcap", max_flows=20)
    [account] = exact([account_of(counts, ["many.pcap"])], amount(frames), {"evicted": amount(frames[:30])})
    assert account["partial"][0].startswith("Partial: ")
