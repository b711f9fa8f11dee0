"""What a what-if says of a capture of which much is UDP, QUIC above all."""

import struct

import pytest
from invocation import mayfly_here

from mayfly.comparison.unanswered import KIND, transport_note
from mayfly.scenario.presets import PRESETS
from mayfly.workload.udp_share import UdpShare, udp_share

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

INSIDE, OUTSIDE = bytes((192, 0, 2, 10)), bytes((198, 51, 100, 20))
LONG = b"\xc3\x00\x00\x00\x01\x08" + b"c" * 8 + b"\x00"
"""Start of an Initial of QUIC, version 1."""


def udp(from_inside, payload, captured=64, ports=(40_000, 443)):
    """Ethernet, IPv4 and UDP; what was captured, and how long it was."""
    ends, ports = (INSIDE + OUTSIDE, ports) if from_inside else (OUTSIDE + INSIDE, ports[::-1])
    data = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(data), 1, 0, 64, 17, 0) + ends + data
    frame = bytes(12) + b"\x08\x00" + ip
    return frame[:captured], len(frame)


def quic(seconds=4.0, rate_bps=5e6, initial=True):
    """A download by QUIC that fills a link, from its first packets on or from later ones."""
    rows = [(0.0, udp(True, LONG.ljust(1_200, b"\0"))), (0.04, udp(False, LONG.ljust(1_200, b"\0")))] if initial else []
    time_s = 0.05
    while time_s < seconds:
        rows.append((time_s, udp(False, b"\x41" + b"q" * 1_199)))
        time_s += 1_228 * 8 / rate_bps
    return rows


def write(path, rows):
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 64, 1)]
    for time_s, (data, length) in rows:
        seconds, micros = divmod(round(time_s * 1e6), 10**6)
        parts.append(struct.pack("<IIII", seconds, micros, len(data), length) + data)
    path.write_bytes(b"".join(parts))
    return path


def vpn(seconds=4.0, rate_bps=5e6):
    """A download inside WireGuard that fills a link."""
    steps = range(int(seconds * rate_bps / (8 * 1_228)))
    data = b"\4\0\0\0".ljust(1_200, b"w")
    return [(index * 1_228 * 8 / rate_bps, udp(False, data, ports=(51_820, 51_820))) for index in steps]


def test_a_link_of_a_vpn_alone_is_not_called_overloaded(tmp_path):
    path = write(tmp_path / "vpn.pcap", vpn())
    command = ("whatif", path, "--rate", "1mbit", "--buffer", "100", "-n", "1", "-d", "fifo,fq_codel")
    found = mayfly_here(*command, "--out", tmp_path / "out", "--json").document
    told = found["recommendation"]
    assert (told["kind"], told["discipline"], told["command"], told["commands"]) == (KIND, None, None, None)
    assert told["sentence"].startswith(
        "Mayfly cannot yet answer for this traffic: 100.0 % of the bytes are UDP that is"
    )
    assert found["capture"]["quic_share"] == 0.0 and found["capture"]["other_udp_share"] == 1.0
    assert any("are replayed as captured and do not slow down" in note for note in found["notes"])
    said = " ".join(mayfly_here(*command, "--out", tmp_path / "out").out.split())
    for word in ("overloaded", "Buy rate", "keep what is there", "No measurable difference"):
        assert word not in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Mayfly cannot yet answer for this traffic" in page


def test_quic_is_replayed_as_transfers(tmp_path):
    path = write(tmp_path / "quic.pcap", quic())
    command = ("whatif", path, "--rate", "1mbit", "--buffer", "100", "-n", "1", "-d", "fifo,fq_codel")
    found = mayfly_here(*command, "--out", tmp_path / "out", "--json").document
    assert found["capture"]["quic_share"] == 1.0 and found["capture"]["other_udp_share"] == 0.0
    assert found["recommendation"]["kind"] != KIND
    assert any("replayed by QUIC as transfers, whose senders slow down" in note for note in found["notes"])
    fifo, _ = found["disciplines"]
    # 2.5 MB at 1 Mbit/s: the sender takes what the link has, and next to nothing of it is lost.
    sent = fifo["links"]["down"]
    assert fifo["drops"] / sent["packets"] < 0.05 if "packets" in sent else fifo["drops"] < 150


def test_a_transport_that_is_set_is_said_to_be_of_tcp_alone(tmp_path):
    path = write(tmp_path / "quic.pcap", quic(seconds=1.0))
    command = (
        "whatif",
        path,
        "--rate",
        "10mbit",
        "--buffer",
        "100",
        "-n",
        "1",
        "-d",
        "fifo",
        "--out",
        tmp_path / "out",
    )
    note = "tcp.preset = quic is the transport of the TCP transfers of the capture"
    assert any(note in one for one in mayfly_here(*command, "--set", "tcp.preset=quic", "--json").document["notes"])
    assert not any(note in one for one in mayfly_here(*command, "--json").document["notes"])


def test_every_way_to_quic_is_said_to_be_of_tcp_alone():
    for preset, fields in PRESETS.items():
        for changed in ({"tcp.preset": preset}, {"tcp": {"preset": preset}}):
            said = transport_note(changed)
            if fields.get("recovery") == "quic":
                assert said is not None and said.startswith(f"tcp.preset = {preset} is the transport of the TCP")
            else:
                assert said is None
    own = transport_note({"tcp.preset": "linux", "tcp.recovery": "quic"})
    assert own is not None and own.startswith("tcp.recovery = quic is the transport")
    assert transport_note({"tcp.preset": "quic", "tcp.recovery": "sack"}) is None
    assert transport_note({"tcp.mss": 1000}) is None


@pytest.mark.parametrize("initial", [True, False])
def test_a_plateau_of_udp_is_perhaps_a_full_link(tmp_path, initial):
    path = write(tmp_path / "quic.pcap", quic(seconds=20.0, initial=initial))
    command = ("profile", path, "--bootstrap", "0", "--internal", "192.0.2.0/24", "--out", tmp_path / "out")
    found = mayfly_here(*command, "--json").document
    guess = found["link"]["guess"]["down"]
    assert guess["rate_bps"] is None
    assert guess["perhaps_bps"] == pytest.approx(5e6, rel=0.02) and guess["perhaps_full_s"] > 15
    assert found["udp"]["quic_share"] == (1.0 if initial else 0.0)
    assert found["udp"]["udp_443_share"] == (0.0 if initial else 1.0)  # with one first byte in all packets
    said = " ".join(mayfly_here(*command).out.split())
    assert "Down: perhaps full: the load stays at" in said and "Down: not full" not in said
    assert ("100.0 % of the bytes are QUIC" if initial else "of which nothing shows that it is QUIC") in said
    refused = mayfly_here("whatif", path, "--internal", "192.0.2.0/24", "--out", tmp_path / "out")
    assert refused.status == 2 and "nothing to guess the link from (down: the load stays at" in refused.err


def test_shares_are_of_all_bytes_of_ip_packets(tmp_path):
    from mayfly.workload.connections import read_captures

    rows = [
        *quic(seconds=1.0),
        *((0.5 + index / 100, udp(True, bytes(1_000), ports=(5_000, 53))) for index in range(50)),
    ]
    frame = read_captures(write(tmp_path / "a.pcap", sorted(rows, key=lambda row: row[0]))).connections
    whole = frame.select(wire=frame["opener_wire_bytes"] + frame["responder_wire_bytes"])["wire"].sum()
    found = udp_share(frame, frame.filter(responder_port=53)["connection_id"].to_list())
    assert found.other == pytest.approx(50 * 1_028 / whole) and found.quic == pytest.approx(1 - found.other)
    assert found.calls == found.other
    assert UdpShare(0.0, 0.009).replay_sentence() is None
