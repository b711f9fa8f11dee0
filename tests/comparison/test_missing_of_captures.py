"""`whatif` says first what of a capture it leaves out, and takes no round trip of zero (issue 42, point 6)."""

import gzip
import struct
from pathlib import Path

import pytest
from connection_captures import connection, ip, write_ip
from packets import write_udp

import mayfly
from mayfly.comparison.replay import replay_of
from mayfly.comparison.text import answer_lines, further_notes
from mayfly.errors import MayflyError
from mayfly.profile.sentences import verdict

OFFICE = Path(__file__).parents[2] / "captures/office.pcap.gz"
ASSUMED_RTT_S = 0.04
"""Of all flows where the capture shows none (``crates/replay/src/missing.rs``)."""

FIELDS = {"replications": 1, "duration": "2s", "probes.call": False}


def office(change):
    """The office's packets, each changed or left out: (record header, frame) to frame or None."""
    pcap = gzip.decompress(OFFICE.read_bytes())
    parts, place = [pcap[:24]], 24
    while place + 16 <= len(pcap):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", pcap, place)
        frame = change(bytearray(pcap[place + 16 : place + 16 + kept]))
        if frame is not None:
            parts.append(struct.pack("<IIII", seconds, fraction, len(frame), length) + frame)
        place += 16 + kept
    return b"".join(parts)


def answered(path, **options):
    options = {"rate": "5mbit", "buffer": 200, "disciplines": "fifo,fq_codel", "overrides": FIELDS} | options
    return mayfly.whatif(path, **options)


def web(count=20):
    return [row for at in range(count) for row in connection(at * 0.1, port=5000 + at)]


@pytest.fixture
def tunnelled(tmp_path):
    """A little of TCP beside much of ESP."""
    esp = [(0.002 * at, ip("10.0.0.2", "9.9.9.8", 50, bytes(40), 1400)) for at in range(1_000)]
    sctp = [(0.02 * at, ip("10.0.0.2", "9.9.9.8", 132, bytes(40), 400)) for at in range(100)]
    return write_ip(tmp_path / "esp.pcap", web() + esp + sctp)


def test_tunnels_are_load_and_named_before_the_answer(tunnelled, tmp_path):
    """Before: they loaded no link, and with 94 % ESP a link was never full."""
    found = answered(tunnelled)
    said = (
        "What this capture cannot answer: who sends what inside ESP (IP protocol 50) (95.3 % of the bytes); what "
        "packets SCTP (IP protocol 132) carry (7.9 % of the packets)"
    )
    assert answer_lines(found.summary)[0] == f"{said}."
    assert found.summary["missing"] == [said] and said in found.summary["notes"]
    assert said not in further_notes(found.summary)
    # 1,400 bytes each 2 ms are more than 5 Mbit/s, and nobody knows whether they would slow down.
    capture = found.summary["capture"]
    assert capture["left_out_share"] == 0 and capture["opaque_share"] == pytest.approx(0.981, abs=5e-4)
    assert found.summary["links"]["up"]["offered_mbps"] == pytest.approx(5.6 + 0.16, rel=0.02)
    assert found.summary["recommendation"]["kind"] == "unanswered"
    text = answer_lines(found.summary)[1]
    assert text.startswith(
        "Mayfly cannot yet answer for this traffic: 98.1 % of the bytes are of IP protocols that are not looked into, "
    )
    assert "and TCP inside a tunnel does" in text
    files = found.write(tmp_path / "out")
    assert said in Path(files["report"]).read_text(encoding="utf-8")
    assert said in Path(files["summary"]).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["users", "trains", "packets", "transfers"])
def test_packets_of_other_protocols_are_replayed_at_their_times(form, tunnelled):
    found = replay_of(tunnelled, "50mbit", 200, replay=form)
    others = found.flows.filter(protocol="udp", dst="9.9.9.8")
    if form == "transfers":
        assert sorted(others["packet_bytes"]) == [420, 1420]
        return
    esp, sctp = others.sort("packet_bytes", descending=True)["bursts"].to_list()
    times_ns = [one["at_ns"] for one in esp]
    assert len(esp) == 1000 and {one["packet_bytes"] for one in esp} == {1420}
    assert times_ns == [2_000_000 * at for at in range(1000)]
    assert len(sctp) == 100 and {one["packet_bytes"] for one in sctp} == {420}


def test_a_little_of_a_tunnel_lets_an_answer_stand(tmp_path):
    esp = [(0.2 * at, ip("10.0.0.2", "9.9.9.8", 50, bytes(40), 40)) for at in range(10)]
    found = answered(write_ip(tmp_path / "little.pcap", web() + esp))
    assert 0 < found.summary["capture"]["opaque_share"] < 0.1
    assert found.summary["recommendation"]["kind"] != "unanswered"


def test_other_protocols_are_load_of_hosts_and_of_the_busy_times(tunnelled):
    found = mayfly.profile(tunnelled, bootstrap=0)
    document = found.document()
    assert document["dataset"]["other"] == 2 and document["dataset"]["bytes"] == document["account"][0]["seen"]["bytes"]
    assert document["account"][0]["left_out"] == {}
    assert verdict(document)[0].startswith("What this capture cannot answer: who sends what inside ESP")
    top = document["link"]["hosts"][0]
    assert top["host"] == "10.0.0.2" and top["share"] == pytest.approx(0.981, abs=5e-4)
    assert found.sentences()[-1] == "98.1 % of the bytes are of IP protocols that are not looked into"


def test_a_whole_capture_lacks_nothing():
    found = answered(OFFICE, rate="10mbit", buffer=300, internal=["10.10.0.0/24"])
    assert "missing" not in found.summary


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame[:30], "71,390 cut within their headers"),
    ],
)
def test_a_capture_of_which_nothing_is_left_says_why_whatever_is_asked(change, said, tmp_path):
    """Before: `no plateau to guess the link from`, and only who obeyed was told."""
    path = tmp_path / "left.pcap"
    path.write_bytes(office(change))
    for options in ({"rate": None, "buffer": None}, {}):
        with pytest.raises(MayflyError, match=f"no packet decoded: {said}".replace("(", r"\(").replace(")", r"\)")):
            answered(path, **options)


def one_way(frame):
    return frame if frame[26:29] == b"\x0a\x0a\x00" else None


def test_one_direction_is_said_and_no_round_trip_of_zero_is_taken(tmp_path):
    """Before: short transfers 1.37 ms, ping 2.5 ms, and no word."""
    path = tmp_path / "one.pcap"
    path.write_bytes(office(one_way))
    found = replay_of(path, "5mbit", 200)
    said, assumed = found.missing
    assert said.startswith(
        "519 of 519 TCP connections were captured in one direction only: the data, the load and the "
    )
    assert assumed == (
        "No round-trip time can be measured in the capture: 40.0 ms is assumed for every flow; --rtt TIME sets another"
    )
    assert found.flows["rtt_s"].unique().to_list() == [ASSUMED_RTT_S] and found.scenario.probes.rtt == ASSUMED_RTT_S
    summary = answered(path).summary
    assert answer_lines(summary)[:2] == [f"{said}.", f"{assumed}."]
    assert summary["disciplines"][0]["users"]["ping"]["idle_ms"] > 1e3 * ASSUMED_RTT_S
    given = replay_of(path, "5mbit", 200, rtt="70ms")
    assert given.flows["rtt_s"].unique().to_list() == [0.07] and given.missing == [said]


def test_both_directions_without_a_handshake_have_an_assumed_round_trip(tmp_path):
    path = write_udp(tmp_path / "udp.pcap", [(0.1 * at, "10.0.0.1", "9.9.9.9", 5000, 53, 100) for at in range(9)])
    found = replay_of(path, "5mbit", 200)
    assert found.missing[0].startswith("No round-trip time can be measured") and len(found.missing) == 1
    assert found.flows["rtt_s"].to_list() == [ASSUMED_RTT_S]


def translated(frame):
    """All near hosts with one address, the host's last byte in the port."""
    for address, port in ((26, 34), (30, 36)):
        if frame[address : address + 3] == b"\x0a\x0a\x00":
            frame[port] ^= frame[address + 3]
            frame[address + 3] = 1
    return frame


def test_one_address_for_many_hosts_is_said(tmp_path):
    path = tmp_path / "nat.pcap"
    path.write_bytes(office(translated))
    (said,) = replay_of(path, "10mbit", 300, internal=["10.10.0.0/24"]).missing
    assert (
        " connections of the near side are of one address, 10.10.0.1: if many hosts stand behind it (address " in said
    )
    assert "times of pages are too long" in said


@pytest.mark.parametrize("count", [60, 99])
def test_one_host_with_few_connections_is_one_host(count, tmp_path):
    path = write_ip(tmp_path / "few.pcap", web(count))
    assert replay_of(path, "10mbit", 300).missing == []


def test_a_server_with_many_clients_is_no_address_translation(tmp_path):
    rows = [row for at in range(300) for row in connection(at * 0.1, f"9.1.{at % 9}.{at % 200}", "10.0.0.1", 5000 + at)]
    assert replay_of(write_ip(tmp_path / "server.pcap", rows), "10mbit", 300).missing == []


def chatter():
    """An upload during which the other end sends short messages that nobody waits for."""
    from connection_captures import ACK, PUSH, SYN, segment

    near, far, there, back = "10.0.0.1", "9.9.9.9", (5000, 80), (80, 5000)
    rows = [
        (0.0, segment(near, far, there, 0, 0, SYN)),
        (0.01, segment(far, near, back, 0, 1, SYN | ACK)),
        (0.02, segment(near, far, there, 1, 1, ACK)),
    ]
    for at in range(200):
        rows.append((0.03 + 0.001 * at, segment(near, far, there, 1 + 1000 * at, 1 + 50 * (at // 10), ACK, 1000)))
        if at % 10 == 5:
            own = 1 + 50 * (at // 10)
            rows.append((0.0301 + 0.001 * at, segment(far, near, back, own, 1 + 1000 * (at - 4), PUSH | ACK, 50)))
    return rows


def test_what_users_leaves_out_is_said_and_trains_has_it(tmp_path):
    path = write_ip(tmp_path / "chatter.pcap", chatter())
    (said,) = replay_of(path, "10mbit", 300).missing
    assert said == (
        "100.0 % of the TCP bytes down and 2.0 % of the TCP bytes up are short messages that an end sends while the "
        "other goes on: --replay users leaves them out, --replay trains has them"
    )
    assert replay_of(path, "10mbit", 300, replay="trains").missing == []
