"""Packets that were captured more than once, from the command and from Python: mirror ports, two interfaces, any."""

import gzip
import json
import struct
from functools import partial
from pathlib import Path

import pytest
from invocation import mayfly_here

from mayfly.errors import MayflyError
from mayfly.workload.connections import ReadOptions, read_captures
from mayfly.workload.copies import copies_sentence
from mayfly.workload.reading import read_as

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
INSIDE = bytes((192, 0, 2, 10))
OUTSIDE = bytes((198, 51, 100, 20))


def packet(from_inside, identification, seq, ack, flags, payload, hops=64):
    """An IPv4 packet of TCP between two hosts."""
    ends = (INSIDE + OUTSIDE) if from_inside else (OUTSIDE + INSIDE)
    ports = (40_000, 443) if from_inside else (443, 40_000)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65_535, 0, 0) + bytes(payload)
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), identification, 0x4000, hops, 6, 0) + ends + tcp


def download(size=200_000, rtt_us=50_000):
    """Time in µs, whether the inside host sends, and the packet: what a tap beside that host sees of a download."""
    rows, number = [], iter(range(100, 60_000))

    def add(time_us, inside, seq, ack, flags, payload=0):
        rows.append((time_us, inside, next(number), seq, ack, flags, payload))

    add(0, True, 999, 0, 2)
    add(rtt_us, False, 4_999, 1_000, 18)
    add(rtt_us + 100, True, 1_000, 5_000, 16)
    add(rtt_us + 200, True, 1_000, 5_000, 24, 100)
    time_us, sent = 2 * rtt_us + 200, 0
    while sent < size:
        length = min(1_448, size - sent)
        add(time_us, False, 5_000 + sent, 1_100, 16, length)
        sent += length
        time_us += 200
        if sent // 1_448 % 2 == 0 or sent == size:
            add(time_us - 100, True, 1_100, 5_000 + sent, 16)
    return [
        (time_us, inside, partial(packet, inside, identification, seq, ack, flags, payload))
        for time_us, inside, identification, seq, ack, flags, payload in rows
    ]


def ethernet(ip, tag=b"", source=1):
    return bytes((2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, source)) + tag + b"\x08\x00" + ip


def cooked(ip, interface, outgoing):
    """Linux cooked v2, as `tcpdump -i any` writes."""
    return struct.pack(">HHIHBB", 0x0800, 0, interface, 1, 4 if outgoing else 0, 6) + bytes(8) + ip


def pcap(path, frames, link_type=1):
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, link_type)]
    for time_us, data in sorted(frames, key=lambda frame: frame[0]):
        seconds, micros = divmod(time_us + 10**12, 10**6)
        parts.append(struct.pack("<IIII", seconds, micros, len(data), len(data)) + data)
    path.write_bytes(b"".join(parts))
    return path


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(path, frames, names):
    """Frames with the number of their interface."""
    parts = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for name in names:
        option = struct.pack("<HH", 2, len(name)) + name.encode() + bytes(-len(name) % 4) + bytes(4)
        parts.append(block(1, struct.pack("<HHI", 1, 0, 0) + option))
    for time_us, interface, data in sorted(frames, key=lambda frame: frame[0]):
        high, low = divmod(time_us + 10**12, 2**32)
        parts.append(block(6, struct.pack("<IIIII", interface, high, low, len(data), len(data)) + data))
    path.write_bytes(b"".join(parts))
    return path


def once(tmp_path):
    return pcap(tmp_path / "once.pcap", [(time_us, ethernet(make(hops=64))) for time_us, _, make in download()])


def mirrored(tmp_path):
    """A mirror port sees each packet come and go: one hop further, other addresses, a tag."""
    frames = []
    for time_us, _, make in download():
        frames += [(time_us, ethernet(make(hops=64))), (time_us + 20, ethernet(make(hops=63), b"\x81\x00\x00\x14", 3))]
    return pcap(tmp_path / "mirror.pcap", frames)


def at_any(tmp_path):
    """`tcpdump -i any` on a router: in at one interface, out at the other."""
    frames = []
    for time_us, inside, make in download():
        frames.append((time_us, cooked(make(hops=64), 2 if inside else 3, False)))
        frames.append((time_us + 15, cooked(make(hops=63), 3 if inside else 2, True)))
    return pcap(tmp_path / "any.pcap", frames, 276)


def at_two_interfaces(tmp_path):
    """Both ports of a router in one file, each packet leaving the queue of the second 120 ms after it came."""
    frames = []
    for time_us, inside, make in download():
        near, far = (0, 1) if inside else (1, 0)
        frames += [
            (time_us, near, ethernet(make(hops=64))),
            (time_us + 120_000, far, ethernet(make(hops=63), source=4)),
        ]
    return pcapng(tmp_path / "two.pcapng", frames, ("rs", "rc"))


def at_both_sides_of_a_nat(tmp_path):
    """`tcpdump -i any` on a router that translates addresses: what comes in passes the outer side first."""
    frames = []
    for time_us, inside, make in download():
        outer = bytearray(make(hops=63 if inside else 65))
        address, port = (12, 20) if inside else (16, 22)
        outer[address : address + 4], outer[port : port + 2] = bytes((203, 0, 113, 5)), struct.pack(">H", 61_234)
        frames.append((time_us, cooked(make(hops=64), 2, not inside)))
        frames.append((time_us + (15 if inside else -15), cooked(bytes(outer), 3, inside)))
    return pcap(tmp_path / "nat.pcap", frames, 276)


SIDES = ("packets", "payload_bytes", "distinct_bytes", "retransmits", "data_packets", "acks")
FIGURES = ("rtt_s", *(f"{end}_{name}" for end in ("opener", "responder") for name in SIDES))


def figures(path, options=None):
    return read_captures(path, options).connections.select(FIGURES).rows()


def office_once():
    pcap_file = gzip.decompress(OFFICE.read_bytes())
    at = 24
    while at + 16 <= len(pcap_file):
        seconds, micros, kept, _ = struct.unpack_from("<IIII", pcap_file, at)
        yield seconds * 10**6 + micros - 10**12, pcap_file[at + 16 : at + 16 + kept]
        at += 16 + kept


def outside(frame, ports):
    """The frame outside a router that gives all hosts of the office one address, each connection a port."""
    frame = bytearray(frame)
    for address, port in ((26, 34), (30, 36)):
        if frame[address : address + 3] == b"\x0a\x0a\x00":
            if frame[23] in (6, 17):
                end = bytes(frame[address : address + 4] + frame[port : port + 2] + frame[23:24])
                frame[port : port + 2] = struct.pack(">H", ports.setdefault(end, 20_000 + len(ports)))
            frame[address : address + 4] = bytes((203, 0, 113, 5))
            frame[22] += -1 if address == 26 else 1
    frame[:12] = bytes((2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8))
    return bytes(frame)


COUNTED = ("account", "captures", "copies", "duplicates", "not_ip", "notes", "packets", "skipped", "taps", "translated")
"""Keys that say how often packets were captured, not what they were."""


def without_counts(value):
    if isinstance(value, dict):
        return {name: without_counts(of) for name, of in value.items() if name not in COUNTED}
    return [without_counts(of) for of in value] if isinstance(value, list) else value


def test_the_office_on_both_sides_of_a_nat_is_the_office_digit_for_digit(tmp_path):
    """Before: a connection whose SYN-ACK came before its inner copy lost it, and with it its round trip."""
    from mayfly.profile.answer import profile

    rows, both, ports = list(office_once()), [], {}
    for time_us, frame in rows:
        both.append((time_us, frame))
        if frame[12:14] == b"\x08\x00":
            later = 6 if frame[26:29] == b"\x0a\x0a\x00" else -6
            both.append((time_us + later, outside(frame, ports)))
    documents = [
        profile([pcap(tmp_path / f"{name}.pcap", frames)], internal=["10.10.0.0/24"], bootstrap=0).document()
        for name, frames in (("once", rows), ("both", both))
    ]
    counts = documents[1]["counts"]
    assert (counts["decoded"], counts["copies"], counts["translated"]) == (71_390, 71_390, 707)
    assert without_counts(documents[0]) == without_counts(documents[1])
    assert copies_sentence(counts).endswith(
        "they are left out, so that each packet counts once; 707 connections were seen on both sides of address "
        "translation and count with their inside addresses; --duplicates keep counts them"
    )


@pytest.mark.parametrize("doubled", [mirrored, at_any, at_two_interfaces, at_both_sides_of_a_nat])
def test_a_capture_with_every_packet_twice_has_the_figures_of_one_with_each_once(tmp_path, doubled):
    path = doubled(tmp_path)
    expected = figures(once(tmp_path))
    assert expected[0][0] == pytest.approx(0.0501) and expected[0][FIGURES.index("responder_retransmits")] == 0
    assert figures(path) == expected
    counts = read_captures(path).counts
    assert 2 * counts["copies"] == counts["packets"]
    assert counts["skipped"]["duplicate"] == counts["copies"]
    kept = read_captures(path, ReadOptions(duplicates="keep"))
    # Under other addresses they are connections of their own.
    expected = [0, 0] if doubled is at_both_sides_of_a_nat else [139]
    assert kept.connections["responder_retransmits"].to_list() == expected
    assert kept.counts["skipped"]["duplicate"] == 0
    # The table that counts has 32,768 places: of 213 packets some three may be overwritten by those 120 ms behind them.
    assert counts["copies"] - 10 <= kept.counts["copies"] <= counts["copies"]


def test_interfaces_are_named_in_the_sentence(tmp_path):
    counts = read_captures(at_two_interfaces(tmp_path)).counts
    assert [tap["name"] for tap in counts["taps"]] == ["rs", "rc"]
    assert copies_sentence(counts) == (
        "50.0 % of the packets are copies of packets that were seen before, at interfaces rs and rc: they are left "
        "out, so that each packet counts once; --duplicates keep counts them"
    )


def test_a_name_of_an_interface_stays_on_its_line():
    taps = [{"interface": 0, "name": "rs\n\x1b[31m"}, {"interface": 1, "name": ""}]
    counts = {"packets": 9, "copies": 9, "skipped": {"duplicate": 9}, "taps": taps}
    assert r"at interfaces rs\n\x1b[31m and 1: they are left out" in copies_sentence(counts)


def test_profile_says_how_many_copies_there_were_and_obeys_the_option(tmp_path):
    path, out = mirrored(tmp_path), tmp_path / "out"
    said = mayfly_here("profile", path, "--bootstrap", "0", "--out", out)
    assert "50.0 % of the packets are copies of packets that were seen before, by one tap" in " ".join(said.out.split())
    assert "0.00 % of TCP data packets are retransmissions" in said.out
    kept = mayfly_here("profile", path, "--bootstrap", "0", "--out", out, "--duplicates", "keep", "--json")
    assert kept.document["counts"]["skipped"]["duplicate"] == 0
    assert kept.document["retransmission"]["all"]["rate"] > 0.49
    assert copies_sentence(kept.document["counts"]).endswith("--duplicates leave-out leaves them out")
    wrong = mayfly_here("profile", path, "--duplicates", "some")
    assert wrong.status == 2
    assert "--duplicates some: must be auto, keep or leave-out" in wrong.err


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "IN", "--connections", "--out", "OUT"),
        ("workload", "convert", "IN", "OUT.csv"),
        ("workload", "from", "IN", "-o", "OUT.toml"),
        ("whatif", "IN", "--rate", "2mbit", "--buffer", "50", "-n", "1", "-d", "fifo", "--out", "OUT"),
    ],
)
def test_commands_that_read_captures_take_the_option(tmp_path, command):
    path = once(tmp_path)
    words = [word.replace("OUT", str(tmp_path / "out")).replace("IN", str(path)) for word in command]
    done = mayfly_here(*words, "--duplicates", "leave-out", "--json")
    assert done.status == 0, done.err
    assert mayfly_here(*words, "--duplicates", "none").status == 2


@pytest.mark.parametrize(
    "command",
    [
        ("workload", "convert", "IN", "OUT.csv"),
        ("workload", "from", "IN", "-o", "OUT.toml"),
        ("diff", "IN", "IN", "--out", "OUT"),
    ],
)
def test_commands_that_make_lists_say_that_copies_are_left_out(tmp_path, command):
    def said(path):
        words = [word.replace("OUT", str(tmp_path / "out")).replace("IN", str(path)) for word in command]
        return " ".join(mayfly_here(*words).out.split())

    assert "copies of packets that were seen before" in said(mirrored(tmp_path))
    assert "copies" not in said(once(tmp_path))


def test_whatif_of_a_doubled_capture_answers_as_of_the_single_one(tmp_path):
    def answer(path):
        command = ("whatif", path, "--rate", "1mbit", "--buffer", "20", "-n", "1", "-d", "fifo,fq_codel", "--json")
        return mayfly_here(*command, "--out", tmp_path / "out").document

    single, doubled = answer(once(tmp_path)), answer(mirrored(tmp_path))
    assert doubled["capture"]["offered_down_mbps"] == single["capture"]["offered_down_mbps"]
    assert [row["users"]["long"] for row in doubled["disciplines"]] == [
        row["users"]["long"] for row in single["disciplines"]
    ]
    assert any("50.0 % of the packets are copies" in note for note in doubled["notes"])
    assert not any("copies" in note for note in single["notes"])


def test_the_office_capture_has_no_copies_and_twice_the_same_has_its_figures(tmp_path):
    reading = read_captures(OFFICE)
    assert reading.counts["copies"] < 0.001 * reading.counts["packets"]
    data = gzip.decompress(OFFICE.read_bytes())
    at, frames = 24, []
    while at < len(data):
        seconds, micros, captured, original = struct.unpack("<IIII", data[at : at + 16])
        frames.append((seconds * 10**6 + micros, data[at + 16 : at + 16 + captured], original))
        at += 16 + captured
    doubled = []
    for time_us, frame, original in frames:
        copy = bytearray(frame)
        copy[22] -= 1
        doubled += [(time_us, frame, original), (time_us + 20, bytes(copy), original)]
    doubled.sort(key=lambda frame: frame[0])
    path = tmp_path / "twice.pcap"
    records = (struct.pack("<IIII", *divmod(t, 10**6), len(frame), wire) + frame for t, frame, wire in doubled)
    path.write_bytes(data[:24] + b"".join(records))
    again = read_captures(path)
    columns = [name for name in reading.connections.columns if name != "taps"]
    assert again.connections.select(columns).equals(reading.connections.select(columns))


def test_a_rule_holds_within_its_block_and_where_none_is_named():
    with read_as("leave-out"):
        assert ReadOptions().for_files(["a.pcap"])["duplicates"] == "leave-out"
        assert ReadOptions(duplicates="taps").for_files(["a.pcap"])["duplicates"] == "taps"
    assert ReadOptions().for_files(["a.pcap"])["duplicates"] == "auto"
    with pytest.raises(MayflyError, match=r"^--duplicates all: must be auto, keep or leave-out$"), read_as("all"):
        pass


def test_the_sentence_is_silent_below_one_in_a_hundred():
    counts = {"packets": 1_000, "copies": 9, "skipped": {"duplicate": 0}, "taps": [{"interface": 0}]}
    assert copies_sentence(counts) is None
    assert copies_sentence(json.loads("{}")) is None
    assert copies_sentence(counts | {"copies": 30}).endswith(
        "3.0 % of the packets are copies of packets that were seen before, by one tap (a mirror port, or -i any): they "
        "count as traffic; --duplicates leave-out leaves them out"
    )
