"""Connections of a capture and the flow list made of them."""

import gzip
import struct
import tarfile
from pathlib import Path

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.workload import capture
from mayfly.workload.lists import flow_list
from mayfly.workload.sides import near_side

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "pcap"

CLIENT, SERVER = ("192.168.0.2", 40000), ("198.51.100.7", 443)
SYN, FIN, ACK = 2, 1, 16


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the checkout")
    return path


def packet(source: tuple, target: tuple, protocol: int, body: bytes) -> bytes:
    address = [bytes(int(part) for part in end[0].split(".")) for end in (source, target)]
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0)
    return header + address[0] + address[1] + body


def tcp(source: tuple, target: tuple, seq: int, ack: int, flags: int, payload: int = 0) -> bytes:
    header = struct.pack(">HHIIBBHHH", source[1], target[1], seq, ack, 0x50, flags, 65535, 0, 0)
    return packet(source, target, 6, header + bytes(payload))


def udp(source: tuple, target: tuple, payload: int) -> bytes:
    return packet(source, target, 17, struct.pack(">HHHH", source[1], target[1], 8 + payload, 0) + bytes(payload))


def write(path: Path, packets: list[tuple[float, bytes]]) -> Path:
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for time_s, data in packets:
        time_us = round((time_s + 1_000_000) * 1e6)
        records.append(struct.pack("<IIII", time_us // 1_000_000, time_us % 1_000_000, len(data), len(data)) + data)
    path.write_bytes(b"".join(records))
    return path


def download(start_s: float = 0.0) -> list[tuple[float, bytes]]:
    return [
        (start_s, tcp(CLIENT, SERVER, 99, 0, SYN)),
        (start_s + 0.02, tcp(SERVER, CLIENT, 499, 100, SYN | ACK)),
        (start_s + 0.05, tcp(CLIENT, SERVER, 100, 500, ACK)),
        (start_s + 0.06, tcp(CLIENT, SERVER, 100, 500, ACK, 200)),
        (start_s + 1.0, tcp(SERVER, CLIENT, 500, 300, ACK, 1400)),
        (start_s + 1.1, tcp(SERVER, CLIENT, 500, 300, ACK, 1400)),
        (start_s + 1.2, tcp(SERVER, CLIENT, 1900, 300, ACK | FIN, 100)),
    ]


def row(**given) -> dict:
    side = {"packets": 0, "wire_bytes": 0, "payload_bytes": 0, "distinct_bytes": 0, "missing_bytes": 0}
    side |= {"first_s": None, "last_s": None, "first_data_s": None, "last_data_s": None, "fin": False, "rst": False}
    sides = {f"{end}_{name}": value for end in ("opener", "responder") for name, value in side.items()}
    base = {"protocol": "tcp", "opener": "192.168.0.2", "opener_port": 4, "responder": "9.9.9.9", "responder_port": 5}
    base |= {"opener_from": "syn", "state": "complete", "start_s": 0.0, "end_s": 9.0, "rtt_s": None}
    return base | sides | given


def table(*rows: dict) -> pl.DataFrame:
    frame = pl.DataFrame(list(rows), schema=capture.COLUMNS)
    return frame.select(pl.int_range(pl.len()).alias("connection_id"), pl.all())


def one_flow(**given) -> dict:
    return capture.flows_of_connections(table(row(**given))).row(0, named=True)


def data(end: str, size: int, first_s: float) -> dict:
    return {f"{end}_distinct_bytes": size, f"{end}_first_data_s": first_s}


def datagrams(packets: int, wire_bytes: int, first_s: float, last_s: float, size: int) -> dict:
    names = ("packets", "wire_bytes", "first_s", "last_s", "distinct_bytes")
    values = (packets, wire_bytes, first_s, last_s, size)
    return {"protocol": "udp"} | {f"opener_{name}": value for name, value in zip(names, values, strict=True)}


def test_each_direction_with_payload_is_a_flow():
    connection = row(start_s=2.0, rtt_s=0.5, **data("opener", 200, 2.1), **data("responder", 9000, 4.0))
    flows = capture.flows_of_connections(table(connection, row(start_s=1.0)))
    expected = [
        ("192.168.0.2", "9.9.9.9", "up", 200, "sender", 0.0),
        ("9.9.9.9", "192.168.0.2", "down", 9000, "receiver", 1.5),
    ]
    assert flows.select("src", "dst", "direction", "size_bytes", "opened_by", "start_s").rows() == expected
    assert flows["connection_id"].to_list() == [0, 0]
    assert flows["flow_id"].to_list() == [0, 1]


def test_an_unknown_rtt_becomes_the_median_of_the_capture():
    rows = [row(rtt_s=rtt, **data("opener", 1, 5.0)) for rtt in (0.1, 0.3, None, 0.2, 0.0)]
    flows = capture.flows_of_connections(table(*rows)).sort("connection_id")
    assert flows["rtt_s"].to_list() == pytest.approx([0.1, 0.3, 0.2, 0.2, 0.2])
    assert one_flow(**data("opener", 1, 5.0))["rtt_s"] is None


def test_a_start_is_never_before_the_connection_nor_below_zero():
    early = row(start_s=-1.0, rtt_s=0.1, **data("opener", 1, -0.5))
    late = row(start_s=3.0, rtt_s=2.0, **data("opener", 1, 4.0))
    assert capture.flows_of_connections(table(early, late))["start_s"].to_list() == [0.0, 3.0]


@pytest.mark.parametrize(
    ("given", "packet_bytes", "rate_bps", "size_bytes"),
    [
        (datagrams(11, 11_000, 1.0, 2.0, 10_692), 1000, 80_000.0, 10_692),
        (datagrams(1, 128, 1.0, 1.0, 100), 128, 1e6, 100),
        (datagrams(1, 28, 1.0, 1.0, 0), 29, 1e6, 1),
        (datagrams(2, 60, 0.0, 1e6, 4), 30, 1.0, 4),
        (datagrams(2, 2000, 1.0, 1.0, 1944), 1000, 8e9, 1944),
    ],
)
def test_udp_is_paced_as_it_was_captured(given, packet_bytes, rate_bps, size_bytes):
    flow = one_flow(**given)
    assert (flow["packet_bytes"], flow["size_bytes"]) == (packet_bytes, size_bytes)
    assert flow["rate_bps"] == pytest.approx(rate_bps)


@pytest.mark.parametrize(
    ("opener", "responder", "direction"),
    [
        ("10.1.1.1", "8.8.8.8", "up"),
        ("8.8.8.8", "10.1.1.1", "down"),
        ("10.1.1.1", "10.1.1.2", "up"),
        ("8.8.8.8", "9.9.9.9", "up"),
        ("2001:db8::1", "2001:db9::1", "up"),
    ],
)
def test_direction_follows_the_given_internal_side(opener, responder, direction):
    frame = table(row(opener=opener, responder=responder, **data("opener", 1, 0.0), **data("responder", 1, 0.0)))
    networks = capture.networks_of(["10.0.0.0/8", "2001:db8::/32"])
    flows = capture.flows_of_connections(frame, networks).sort("opened_by", descending=True)
    other = "down" if direction == "up" else "up"
    assert flows["direction"].to_list() == [direction, other]


@pytest.mark.parametrize(
    ("pairs", "internal"),
    [
        ([("192.168.1.1", "8.8.8.8"), ("8.8.8.8", "fd00::1")], ["192.168.1.1", "fd00::1"]),
        ([("10.0.0.1", "10.0.0.9"), ("10.0.0.2", "10.0.0.9"), ("10.0.0.1", "224.0.0.1")], ["10.0.0.1", "10.0.0.2"]),
        ([("1.1.1.1", "2.2.2.2"), ("1.1.1.1", "3.3.3.3"), ("3.3.3.3", "1.1.1.1")], ["1.1.1.1"]),
        ([("127.0.0.1", "127.0.0.1")], []),
    ],
)
def test_the_internal_side_is_private_or_opens(pairs, internal):
    frame = table(*(row(opener=opener, responder=responder) for opener, responder in pairs))
    assert sorted(near_side(frame).hosts) == internal


@pytest.mark.parametrize("cidr", ["", "10.0.0.0/33", "10.0.0.1/8", "office"])
def test_a_bad_cidr_is_one_clear_line(cidr):
    with pytest.raises(MayflyError) as caught:
        capture.flows_of_capture("unread.pcap", internal=[cidr])
    message = f"internal = {cidr!r}: must be a network such as 10.0.0.0/8 or 2001:db8::/32"
    assert str(caught.value) == message


def test_no_connections_make_no_flows():
    flows = capture.flows_of_connections(table())
    assert flows.height == 0
    assert flows.columns[:3] == ["flow_id", "start_s", "src"]


class TestFiles:
    """What needs the compiled reader."""

    @pytest.fixture(autouse=True)
    def native(self):
        pytest.importorskip("mayfly._native", reason="the compiled module is not built")

    def test_a_download_is_read_to_the_byte(self, tmp_path):
        path = write(tmp_path / "a.pcap", download())
        frame, counts = capture.connections(path)
        seen = frame.row(0, named=True)
        assert frame.schema == {"connection_id": pl.Int64, **capture.COLUMNS}
        assert (seen["opener"], seen["opener_port"], seen["responder"]) == (*CLIENT, SERVER[0])
        assert (seen["opener_from"], seen["state"], seen["opener_fin"]) == ("syn", "half_closed", False)
        assert (seen["responder_payload_bytes"], seen["responder_distinct_bytes"]) == (2900, 1500)
        assert seen["rtt_s"] == pytest.approx(0.05)
        assert seen["responder_first_data_s"] == pytest.approx(1.0)
        assert (counts["packets"], counts["decoded"], counts["truncated"]) == (7, 7, False)
        assert (counts["first_epoch_s"], counts["duration_s"]) == pytest.approx((1_000_000, 1.2))

    def test_the_flow_list_passes_the_reader_of_flow_lists(self, tmp_path):
        packets = [*download(), (2.0, udp(CLIENT, ("8.8.8.8", 53), 30)), (2.1, udp(("8.8.8.8", 53), CLIENT, 90))]
        flows = capture.flows_of_capture(write(tmp_path / "a.pcap", packets))
        checked = flow_list(flows.drop("connection_id"))
        assert checked.select("direction", "size_bytes", "protocol").rows() == [
            ("up", 200, "tcp"),
            ("down", 1500, "tcp"),
            ("up", 30, "udp"),
            ("down", 90, "udp"),
        ]
        assert checked["start_s"].to_list() == pytest.approx([0.0, 0.94, 1.99, 2.09])

    def test_a_null_stays_null(self, tmp_path):
        frame, _ = capture.connections(write(tmp_path / "a.pcap", [(0.0, udp(CLIENT, SERVER, 1))]))
        assert frame.select("rtt_s", "responder_first_s", "opener_first_s").row(0) == (None, None, 0.0)

    def test_a_capture_without_packets_is_an_empty_table(self, tmp_path):
        frame, counts = capture.connections(write(tmp_path / "a.pcap", []))
        assert frame.height == 0
        assert (counts["packets"], counts["first_epoch_s"]) == (0, None)
        assert capture.flows_of_capture(tmp_path / "a.pcap").height == 0

    def test_a_cut_file_is_read_as_far_as_it_goes(self, tmp_path):
        whole = write(tmp_path / "a.pcap", download()).read_bytes()
        (tmp_path / "cut.pcap").write_bytes(gzip.compress(whole[:-20]))
        _, counts = capture.connections(tmp_path / "cut.pcap")
        assert (counts["packets"], counts["skipped"]["cut_record"], counts["truncated"]) == (7, 1, True)

    def test_the_limit_is_checked_and_evictions_are_counted(self, tmp_path):
        path = write(tmp_path / "a.pcap", [(0.0, udp(CLIENT, (f"9.9.9.{host}", 53), 1)) for host in range(5)])
        frame, counts = capture.connections(path, max_flows=2)
        assert (frame.height, counts["evicted"]) == (2, 3)
        with pytest.raises(MayflyError, match=r"^max_flows = 0: must be 1 to 4294967294$"):
            capture.connections(path, max_flows=0)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "empty file, not a capture"),
            (b"start_s,size\n", "not a capture: found a flow list of Mayfly (use it with compare --flows)"),
            (b"some, words\n", "not a capture: found text starting"),
            (None, "No such file"),
        ],
    )
    def test_what_is_no_capture_is_one_line(self, tmp_path, content, message):
        path = tmp_path / "no.pcap"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(MayflyError) as caught:
            capture.connections(path)
        assert str(caught.value).startswith(f"{path}: {message}")
        assert "\n" not in str(caught.value)

    def test_an_access_link_is_split_into_up_and_down(self):
        flows = capture.flows_of_capture(shared("access_home_alexa.pcap.gz"))
        tcp_flows = flows.filter(pl.col("protocol") == "tcp")
        # tshark, tcp.len of every segment, each sequence number once.
        assert tcp_flows["size_bytes"].sum() == 1_050_245
        outside = tcp_flows.filter(~pl.col("src").str.starts_with("172.16.42."))
        assert outside["direction"].unique().to_list() == ["down"]
        assert flow_list(flows.drop("connection_id")).height == flows.height

    def test_every_malformed_file_gives_a_table_or_one_line(self, tmp_path):
        with tarfile.open(shared("ndpi_fuzz.tar.gz")) as archive:
            archive.extractall(tmp_path, filter="data")
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(files) >= 13
        for path in files:
            frame, counts = capture.connections(path, max_flows=100)
            assert counts["packets"] == counts["decoded"] + sum(counts["skipped"].values())
            capture.flows_of_connections(frame)
