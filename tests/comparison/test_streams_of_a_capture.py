"""Video calls, games and other UDP of a capture: what the answer says of them."""

import gzip
import struct
from pathlib import Path

import pytest

import mayfly
from mayfly.comparison.overview import legend, users_table
from mayfly.show.terminal import drawn

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
NEAR = "10.10.0.0/24"
PLAYER, SERVER = bytes([10, 10, 0, 9]), bytes([192, 0, 2, 9])
SPAN_S = 90.0


def frame(up, port, wire_bytes):
    """A frame of Ethernet with a datagram of so many bytes of IP."""
    ends = (PLAYER, SERVER) if up else (SERVER, PLAYER)
    ports = (port, 3478) if up else (3478, port)
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, wire_bytes, 0, 0, 64, 17, 0, *ends)
    return bytes(12) + b"\x08\x00" + head + struct.pack(">HHHH", *ports, wire_bytes - 20, 0)


def steady(port, up, gap_s, wire_bytes):
    """Packets of one length at one distance: times since the begin, and frames."""
    return [(number * gap_s, frame(up, port, wire_bytes)) for number in range(round(SPAN_S / gap_s))]


def video(port, up):
    """Thirty frames a second of five or six packets of 1,000 to 1,200 bytes, 2 ms apart: 1.5 Mbit/s; and speech."""
    parts = [
        (number / 30 + 0.002 * part, frame(up, port, 1000 + number * 7 % 200))
        for number in range(round(SPAN_S * 30))
        for part in range(5 + number % 2)
    ]
    return parts + [(at_s + 0.003, packet) for at_s, packet in steady(port, up, 0.02, 150)]


def with_streams(path, *streams):
    """The office capture with more packets from its fifth second on."""
    data = gzip.decompress(OFFICE.read_bytes())
    records, at = [], 24
    while at < len(data):
        seconds, micros, length, whole = struct.unpack_from("<IIII", data, at)
        records.append((seconds * 10**6 + micros, data[at + 16 : at + 16 + length], whole))
        at += 16 + length
    begin_us = records[0][0] + 5 * 10**6
    for stream in streams:
        for at_s, packet in stream:
            whole = 14 + struct.unpack_from(">H", packet, 16)[0]
            records.append((begin_us + round(at_s * 1e6), packet, whole))
    parts = [data[:24]]
    for us, packet, whole in sorted(records):
        parts.append(struct.pack("<IIII", us // 10**6, us % 10**6, len(packet), whole) + packet)
    path.write_bytes(b"".join(parts))
    return path


def asked(path, rate="10mbit", disciplines="fifo,fq_codel", buffer=300):
    return mayfly.whatif(path, rate, buffer, internal=NEAR, disciplines=disciplines, replications=1).summary


def felt(summary, part):
    return {row["label"]: row["users"][part] for row in summary["disciplines"]}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A video call, a game of 64 updates a second, and 500 kbit/s at a constant rate."""
    path = tmp_path_factory.mktemp("streams") / "mixed.pcap"
    call, game = (5000, 5001)
    return with_streams(
        path,
        video(call, True),
        video(call, False),
        steady(game, True, 1 / 64, 95),
        steady(game, False, 1 / 64, 380),
        steady(5002, False, 0.0192, 1200),
    )


@pytest.fixture(scope="module")
def answered(mixed):
    return asked(mixed)


def test_streams_are_classed_and_the_classes_are_printed(answered):
    for found in felt(answered, "streams").values():
        assert found["videos"] == 2 and found["games"] == 2
        # Four streams are the office's own.
        assert (found["count"], found["calls"]) == (9, 0)
    (said,) = (line for line in legend(answered) if line.startswith("UDP streams of 10 s or more"))
    assert "2 of video calls" in said and "2 of games" in said and said.endswith("5 other.")


def test_the_video_call_of_a_capture_has_a_figure(mixed):
    """A FIFO of 300 packets holds frames up for 360 ms, steadily: late, and no standstill. One of 60 loses them."""
    found = felt(asked(mixed, "8mbit", "fifo,cake,run2c", 60), "conferences")
    assert {own["count"] for own in found.values()} == {2}
    assert found["cake"]["freezes"] < found["fifo"]["freezes"] < found["run2c"]["freezes"]
    assert found["cake"]["frozen"] == 0 < found["run2c"]["frozen"] <= found["run2c"]["frozen_worst"] < 1


def test_late_packets_of_a_video_call_are_a_price(answered):
    found = felt(answered, "streams")
    assert found["fifo"]["late"] > 0.1 > 0.02 > found["fq_codel"]["missing"]
    assert found["fifo"]["missing"] == pytest.approx(found["fifo"]["late"] + found["fifo"]["loss"])
    assert any("lost or late packets of UDP streams" in text for text in answered["recommendation"]["gives"])


def test_the_lag_of_a_game_is_that_of_both_ways(answered):
    lags = {label: found["lag_p95_ms"] for label, found in felt(answered, "games").items()}
    pings = {label: found["p95_all_ms"] for label, found in felt(answered, "ping").items()}
    assert lags["fifo"] > 3 * lags["fq_codel"]
    # Another path than that of the ping, and other instants; the same queues.
    assert lags["fifo"] == pytest.approx(pings["fifo"], rel=0.35)


def test_the_answer_and_the_table_have_them_and_fit_eighty_columns(answered):
    import io

    from rich.console import Console

    gives = " ".join(answered["recommendation"]["gives"])
    assert "lag of games" in gives
    table = users_table(answered)
    heads = [head.replace("\n", " ") for head in table.heads]
    assert "games lag p95" in heads and "UDP lost or late" in heads and "video calls frozen" in heads
    stream = io.StringIO()
    Console(file=stream, width=80, color_system=None).print(drawn(table))
    assert max(map(len, stream.getvalue().splitlines())) <= 80


def test_what_no_capture_has_has_no_column():
    found = asked(OFFICE)
    assert all(part is None for name in ("conferences", "games") for part in felt(found, name).values())
    heads = users_table(found).heads
    assert not any("games" in head or "frozen" in head for head in heads)


def test_a_link_that_is_never_full_makes_nothing_late(mixed):
    found = asked(mixed, "1gbit")
    for label in ("fifo", "fq_codel"):
        streams, video = felt(found, "streams")[label], felt(found, "conferences")[label]
        assert (streams["missing"], streams["late"], streams["missing_worst"]) == (0, 0, 0)
        assert (video["freezes"], video["frozen"]) == (0, 0)
    lags = felt(found, "games")["fifo"]
    assert lags["lag_p95_ms"] - lags["lag_p50_ms"] < 1
