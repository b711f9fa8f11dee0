"""The account of what a command read: seen is what was used and what was left out, for commands and formats."""

import gzip
import json
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.invocation import mayfly

from mayfly import _native
from mayfly.comparison.comparison import compare, run
from mayfly.comparison.whatif import whatif
from mayfly.diff.answer import diff
from mayfly.estimate.estimate import estimate
from mayfly.explore.documents import template
from mayfly.models.queue.pias import offered_by
from mayfly.profile.agreement.answer import agreement
from mayfly.profile.answer import profile
from mayfly.profile.listed import listed
from mayfly.profile.workload.answer import Made
from mayfly.profile.workload.measure import workload_from
from mayfly.scenario.scenario import load_scenario
from mayfly.sweep.command import sweep_file
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
    """Frames, last bytes cut of some, frames left out for each reason, and bytes of one more record."""
    parts = [transfer(2000 + number, draw(st.integers(1, 1400))) for number in range(draw(st.integers(2, 5)))]
    parts += [[udp(5000 + number, draw(st.integers(1, 300)))] for number in range(draw(st.integers(0, 4)))]
    odd = {reason: draw(st.lists(frames, max_size=5)) for reason, frames in ODD.items()}
    parts += [[frame] for frames in odd.values() for frame in frames]
    cut = [udp(6000 + number, 200) for number in range(draw(st.integers(0, 3)))]
    order = draw(st.permutations(parts + [[frame] for frame in cut]))
    frames = [frame for part in order for frame in part]
    torn = draw(st.none() | st.integers(1, 90))
    # Within the header of UDP, behind that of IP.
    short = {place: len(frame) - 36 for place, frame in enumerate(frames) if any(frame is one for one in cut)}
    left = {reason: amount(of) for reason, of in (odd | {"cut_header": cut}).items() if of}
    return frames, short, left, torn


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


def thresholds(path):
    account = []
    offered_by(load_scenario("wired"), path, account)
    return account


def on_the_page(path):
    options = json.dumps({"internal": None, "template": template()})
    return json.loads(_native.Explorer().open(path.name, path.read_bytes(), options))["account"]


SWEEP = """scenario = "wired"
disciplines = ["fifo", "las"]
flows = "{flows}"
seeds = 1
records = {records}

[set]
duration = "5s"
{more}
[fields]
"network.buffer" = [20, 50]
"""


def swept(path, folder, workers=1, **fields):
    (folder / "sweep.toml").write_text(SWEEP.format(flows=path, **{"records": "false", "more": ""} | fields))
    return sweep_file(folder / "sweep.toml", folder / "swept", workers=workers).document()["account"]


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
    "model pias": lambda path, _: thresholds(path),
    "explore": lambda path, _: on_the_page(path),
    "sweep": lambda path, folder: swept(path, folder),
    "profile compare": lambda path, _: agreement(path, path).document()["account"],
}


LOAD = ("profile", "profile --connections", "whatif", "tree", "explore")
"""Commands to which packets are load whose headers are not read; a flow list has no such flows."""


LAST = udp(7000, 100)
"""What the record would hold within which a file ends."""


def wrapped(data, form, folder, torn):
    """The capture in a file of another form, behind it `torn` bytes of a record; and how much of that is known."""
    path = folder / f"capture.{form}"
    with_last = data + pcap([LAST], {})[24:]
    make = pcapng if form == "pcapng" else bytes
    whole, more = make(data), make(with_last)
    data = more[: len(whole) + (torn or 0)]
    path.write_bytes(gzip.compress(data) if form == "pcap.gz" else data)
    # The type of a block is its first word, the length of a frame stands before it.
    first, head = (4, 28) if form == "pcapng" else (1, 16)
    if torn is None or torn < first:
        return path, {}
    return path, {"cut_record": {"count": 1, "bytes": len(LAST) if torn >= head else 0}}


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


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "sweep"])
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(capture=captures(), form=st.sampled_from(["pcap", "pcap.gz", "pcapng"]))
def test_the_account_of_a_capture_is_what_the_generator_wrote(tmp_path_factory, command, capture, form):
    frames, cut, left, torn = capture
    folder = tmp_path_factory.mktemp("capture")
    path, lost = wrapped(pcap(frames, cut), form, folder, torn)
    left |= lost
    tunnels, others = (left.pop(kind, {"count": 0, "bytes": 0}) for kind in ("tunnel", "protocol"))
    both = {unit: tunnels[unit] + others[unit] for unit in tunnels}
    if command not in LOAD and both["count"]:
        left["protocol"] = both
    seen = amount(frames)
    seen = {unit: seen[unit] + lost.get("cut_record", {}).get(unit, 0) for unit in seen}
    [account, *_] = exact(COMMANDS[command](path, folder), seen, left)
    assert account["unit"] == "packets" and account["partial"] == []
    part = max(tunnels["bytes"] / account["seen"]["bytes"], tunnels["count"] / account["seen"]["count"])
    assert ("who sends what inside" in (account["cannot_answer"] or "")) == (part >= 0.01)


@st.composite
def conversations(draw):
    """Connections in which the client talks while the server goes on, and how much it says so."""
    frames, aside = [], {"count": 0, "bytes": 0}
    for number in range(draw(st.integers(1, 4))):
        port, sent = 3000 + number, 1
        frames += [tcp(port, True, 0, 0, 2), tcp(port, False, 0, 1, 18), tcp(port, True, 1, 1, 16)]
        frames += [tcp(port, True, 1, 1, 24, 100)]
        seq = 101
        for _ in range(draw(st.integers(0, 3))):
            for _ in range(draw(st.integers(2, 4))):
                frames.append(tcp(port, False, sent, seq, 24, 1000))
                sent += 1000
            for _ in range(draw(st.integers(1, 2))):
                size = draw(st.integers(1, 900))
                # It has not acknowledged all that came.
                frames.append(tcp(port, True, seq, sent - 1000, 24, size))
                seq += size
                aside = {"count": aside["count"] + 1, "bytes": aside["bytes"] + 40 + size}
        frames += [tcp(port, False, sent, seq, 24, 500), tcp(port, True, seq, sent + 500, 17)]
        frames += [tcp(port, False, sent + 500, seq + 1, 17), tcp(port, True, seq + 1, sent + 501, 16)]
    return frames, aside


@pytest.mark.parametrize("command", ["whatif", "explore"])
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=conversations())
def test_messages_that_a_replay_leaves_aside_are_in_the_sum(tmp_path_factory, command, drawn):
    frames, aside = drawn
    folder = tmp_path_factory.mktemp("talks")
    (folder / "talks.pcap").write_bytes(pcap(frames, {}))
    [account] = exact(COMMANDS[command](folder / "talks.pcap", folder), amount(frames))
    assert account["left_out"] == ({"aside": aside} if aside["count"] else {})
    if command == "whatif":
        with_all = whatif(folder / "talks.pcap", "10mbit", 100, disciplines="fifo", replications=1, replay="trains")
        assert exact(with_all.summary["account"], amount(frames))[0]["left_out"] == {}


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


DOWN_BY_TCP = {
    "flows.csv": {},
    "conn.log": {"aside": (2, 266)},
    "late.log": {"aside": (1, 166)},
    "nfdump.csv": {},
    "vectors.cvec": {},
}
"""Rows that bring nothing down by TCP, where `LISTS` has others."""


@pytest.mark.parametrize("command", ["convert", "compare", "simulate", "model pias"])
@pytest.mark.parametrize("name", LISTS)
def test_the_account_of_a_list_has_all_of_its_rows(tmp_path, command, name):
    text, seen, left = LISTS[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    if command in ("convert", "model pias") and name in ("flows.csv", "late.log"):
        # There is no run that ends.
        left = {reason: of for reason, of in left.items() if reason != "aside"}
    if command == "model pias":
        # Of connections those that bring something down by TCP.
        left |= {reason: of for reason, of in DOWN_BY_TCP[name].items()}
    [account] = exact(COMMANDS[command](tmp_path / name, tmp_path))
    assert account["unit"] == "rows"
    assert account["seen"] == dict(zip(("count", "bytes"), seen, strict=True))
    assert account["left_out"] == {
        reason: dict(zip(("count", "bytes"), of, strict=True)) for reason, of in left.items()
    }


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fields", [{}, {"more": '"network.loss" = 0.01\n'}, {"records": "true"}])
def test_a_sweep_has_the_account_of_its_list_whoever_runs_it(tmp_path, workers, fields):
    rows = "".join(f"{number / 10},{100 + number}\n" for number in range(80))
    (tmp_path / "flows.csv").write_text("start_s,size_bytes\n" + rows, encoding="utf-8")
    for _ in range(2):
        # The second time all results are there already.
        [account] = exact(
            swept(tmp_path / "flows.csv", tmp_path, workers, **fields), {"count": 80, "bytes": sum(range(100, 180))}
        )
        assert account["left_out"] == {"aside": {"count": 30, "bytes": sum(range(150, 180))}}
        assert account["source"] == [str(tmp_path / "flows.csv")]


def test_a_sweep_over_the_end_has_an_account_for_each(tmp_path):
    rows = "".join(f"{number},1000\n" for number in range(10))
    (tmp_path / "flows.csv").write_text("start_s,size_bytes\n" + rows, encoding="utf-8")
    text = SWEEP.format(flows="flows.csv", records="false", more="").replace('duration = "5s"', "")
    text = text.replace('"network.buffer" = [20, 50]', 'duration = ["4s", "8s"]')
    (tmp_path / "sweep.toml").write_text(text)
    ended = mayfly("sweep", "sweep.toml", "--workers", "1", "--json", cwd=tmp_path)
    found = exact(ended.document["account"], {"count": 10, "bytes": 10_000})
    assert [account["used"]["count"] for account in found] == [4, 8]
    (tmp_path / "drawn.toml").write_text(text.replace('flows = "flows.csv"\n', ""))
    ended = mayfly("sweep", "drawn.toml", "--out", "drawn", "--workers", "1", "--json", cwd=tmp_path)
    assert "account" not in ended.document


@st.composite
def sampled(draw):
    """Rows of samples of a queue, and which of them cannot be used."""
    rows, refused, time_s = [], [], 0.0
    for number in range(draw(st.integers(150, 400))):
        kind = draw(st.sampled_from(["good"] * 20 + ["negative", "empty", "still"])) if number else "good"
        time_s += 0 if kind == "still" else 0.03
        arrivals = {"negative": "-3", "empty": ""}.get(kind, str(draw(st.integers(0, 200))))
        rows.append(f"{time_s:.3f},5,{arrivals},1")
        if kind != "good":
            refused.append(number)
    return rows, refused


@settings(max_examples=20, deadline=None)
@given(samples=sampled())
def test_the_account_of_samples_has_those_that_were_not_used(tmp_path_factory, samples):
    rows, refused = samples
    path = tmp_path_factory.mktemp("samples") / "queue.csv"
    path.write_text("time_s,queue_packets,arrivals,drops\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = estimate(path, "28mbit", "100ms", "500B")

    def carried(numbers):
        came = [rows[number].split(",")[2] for number in numbers]
        return {"count": len(came), "bytes": sum(500 * max(int(one or 0), 0) for one in came)}

    [account] = exact(found.document()["account"], carried(range(len(rows))))
    assert account["left_out"].get("damaged", {"count": 0, "bytes": 0}) == carried(refused)
    assert sum(found.faults.values()) == len(refused)
    # Samples behind the last estimate.
    times = [float(row.split(",")[0]) for row in rows]
    last_s = found.columns["time_s"][-1] if found.columns["time_s"] else -1.0
    late = [number for number in range(len(rows)) if times[number] > last_s + 1e-6 and number not in refused]
    assert account["left_out"].get("aside", {"count": 0, "bytes": 0}) == carried(late)


def test_samples_of_other_runs_are_in_the_account(tmp_path):
    rows = [
        f"{label},{replication},{0.03 * number:.2f},5,10,1\n"
        for label in ("fifo", "red")
        for replication in range(2)
        for number in range(300)
    ]
    (tmp_path / "queue.csv").write_text("discipline,replication,time_s,queue_packets,arrivals,drops\n" + "".join(rows))
    command = ("estimate", "queue.csv", "--rate", "28mbit", "--rtt", "100ms", "--discipline", "red", "--json")
    [account] = exact(mayfly(*command, cwd=tmp_path).document["account"], {"count": 1200, "bytes": 12_000_000})
    assert account["left_out"]["filter"] == {"count": 600, "bytes": 6_000_000}
    assert account["used"]["count"] + account["left_out"]["aside"]["count"] == 600 and account["used"]["count"] > 250


def test_polls_are_in_the_account(tmp_path):
    poll = "{t:.2f}\nqdisc red 1: dev e root\n Sent {sent} bytes 1 pkt (dropped 0, overlimits 0)\n backlog 0b 1p\n"
    (tmp_path / "polls.txt").write_text("".join(poll.format(t=0.03 * n, sent=12_000 * n) for n in range(400)))
    command = ("estimate", "polls.txt", "--rate", "28mbit", "--rtt", "100ms", "--json")
    [account] = exact(mayfly(*command, cwd=tmp_path).document["account"], {"count": 400, "bytes": 399 * 12_000})
    assert account["unit"] == "rows" and account["used"]["count"] > 350


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
