"""A run as a packet capture, read back by our own reader and by tshark."""

import shutil
import struct
import subprocess

import numpy as np
import polars as pl
import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.comparison.comparison import run
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.recording import Recording, ends
from mayfly.workload.connections import read_captures
from mayfly.workload.lists import flow_list


def mixed() -> pl.DataFrame:
    """Transfers both ways and opened by either end, scripts, and datagrams, on a link that drops."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "start_s": float(rng.uniform(0, 8)),
            "size_bytes": int(rng.integers(1, 60_000)),
            "direction": ("down", "up")[i % 2],
            "opened_by": ("sender", "receiver")[i // 2 % 2],
            "rtt_s": 0.03,
        }
        for i in range(60)
    ]
    script = "up 400 | wait 20ms | down 14600 pace 3ms | wait 200ms | up 400 | down 90000 | down 10"
    rows += [{"start_s": 0.5 * i, "script": script, "direction": "up", "rtt_s": 0.05} for i in range(6)]
    rows += [{"start_s": 1.0, "script": "down 80 | up 9000", "direction": "down", "opened_by": "receiver"}]
    rows += [{"start_s": 0.0, "size_bytes": 90_000, "protocol": "udp", "packet_bytes": 500, "rate_bps": 1e5}]
    return flow_list(pl.DataFrame(rows, infer_schema_length=None))


def recorded(tmp_path, side="server", overrides=None):
    scenario = load_scenario(
        "whatif", {"network.rate": "4mbit", "network.buffer": 12, "duration": 60} | (overrides or {})
    )
    path = tmp_path / "run.pcap"
    flows = mixed()
    if own := list(scenario.transports):
        named = pl.Series([None, *own], dtype=pl.String).gather(np.arange(flows.height) % (1 + len(own)))
        flows = flows.with_columns(transport=pl.when(protocol="tcp").then(named))
    result = run(scenario, "fifo", flows, recording=Recording(path, side))
    found = ends(result.records)
    numbers = pl.DataFrame({"flow_id": result.records["flow_id"], "port": np.maximum(*found["ports"]).astype(np.int64)})
    records = result.records.join(numbers, on="flow_id")
    return path, records


OWN = {
    "old": {"preset": "qualnet-4.5-like"},
    "near": {"fin_on_data": True, "mss": 1000},
    "model": {"congestion": "bbr"},
}


@pytest.mark.parametrize("side", ["server", "client"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"tcp.timestamps": True, "tcp.recovery": "sack"},
        {"tcp.fin_on_data": True},
        {"tcp.preset": "linux", "transports": OWN},
        {"tcp.preset": "linux", "tcp.recovery": "linux", "tcp.tick": "1ms", "tcp.ecn": "accurate"},
    ],
)
def test_every_flow_is_found_again_in_the_capture(tmp_path, side, changed):
    path, records = recorded(tmp_path, side, changed)
    reading = read_captures(path)
    assert reading.counts["decoded"] == reading.counts["packets"] > 1000
    frame = reading.connections.with_columns(
        port=pl.max_horizontal("opener_port", "responder_port"),
        size=pl.col("opener_distinct_bytes") + pl.col("responder_distinct_bytes"),
        missing=pl.sum_horizontal("opener_missing_bytes", "responder_missing_bytes"),
    )
    both = records.join(frame, on="port")
    assert both.height == records.height
    tcp = both.filter(protocol="tcp")
    assert (tcp["size"] == tcp["size_bytes"]).all() and (tcp["missing"] == 0).all()
    assert (tcp["state"] == "complete").all()
    assert records["drops"].sum() > 20
    # A SYN that is lost on its way to the tap comes again after a second.
    late = tcp["start_s_right"] - tcp["start_s"] > 0.9
    assert late.sum() <= 2 and (tcp.filter(late)["drops"] > 0).all()
    tcp = tcp.filter(~late)
    # From the SYN at its end to the acknowledgement of the FIN at the other: the tap is at one of them.
    spent = tcp["end_s"] - tcp["start_s_right"]
    slack = (tcp["rtt_s"].fill_null(0.001) + 0.1).to_numpy()
    assert (np.abs((spent - tcp["response_time_s"]).to_numpy()) <= slack).all()


@pytest.mark.parametrize("direction", ["down", "up"])
def test_the_tap_at_the_sender_sees_each_retransmission(tmp_path, direction):
    path, records = recorded(tmp_path, "server" if direction == "down" else "client")
    frame = read_captures(path).connections
    frame = frame.with_columns(port=pl.max_horizontal("opener_port", "responder_port"))
    plain = records.filter(pl.col("script").is_null(), protocol="tcp", direction=direction).join(frame, on="port")
    sender_opens = plain["opened_by"] == "sender"
    again = plain["opener_retransmits"].zip_with(sender_opens, plain["responder_retransmits"])
    # The records count SYN and FIN sent again, the table data only.
    assert (again <= plain["retransmits"]).all()
    assert again.sum() >= 0.8 * plain["retransmits"].sum() > 5


def segments(path):
    """Code point, ACE, payload and counts (ECT(1), CE, ECT(0)) of every TCP segment, by its source port."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame, at = data[at + 16 : at + 16 + length], at + 16 + length
        total, tcp = struct.unpack_from("!H", frame, 16)[0], frame[34:]
        size, counts = (tcp[12] >> 4) * 4, None
        options = tcp[20:size]
        while options:
            step = 1 if options[0] < 2 else options[1]
            if options[0] == 174:
                counts = [int.from_bytes(options[k : k + 3], "big") for k in range(2, step, 3)]
            options = options[step:]
        ace = (tcp[12] & 1) << 2 | tcp[13] >> 6
        yield struct.unpack_from("!H", tcp)[0], frame[15] & 3, ace, total - 20 - size, counts


@pytest.mark.parametrize(("ecn", "option_bytes"), [("off", 0), ("classic", 0), ("accurate", 12), ("l4s", 12)])
def test_the_option_of_accurate_ecn_comes_out_of_the_payload(tmp_path, ecn, option_bytes):
    changed = {"tcp.preset": "linux", "tcp.header": 40, "tcp.ecn": ecn}
    scenario = load_scenario("whatif", {"network.rate": "4mbit", "network.buffer": 500, "duration": 60} | changed)
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1_000_000], "direction": ["down"]}))
    path = tmp_path / "run.pcap"
    records = run(scenario, "codel", flows, recording=Recording(path, "server")).records
    data, at, lengths, advertised = path.read_bytes(), 24, [], set()
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame, at = data[at + 16 : at + 16 + length], at + 16 + length
        lengths.append(struct.unpack_from("!H", frame, 16)[0])
        if frame[47] & 2:
            assert frame[54:56] == b"\x02\x04"
            advertised.add(struct.unpack_from("!H", frame, 56)[0])
    # 1448 bytes with timestamps; in every data segment but the last, as Linux 7.2 sends them.
    assert max(lengths) == 1500 and advertised == {1460}
    assert max(one[3] for one in segments(path)) == 1448 - option_bytes
    full = 1_000_000 // (1448 - option_bytes)
    assert sum(length == 1500 for length in lengths) == full + records["retransmits"][0]
    # The same is sent alone, for the slowdown.
    assert records["slowdown"][0] == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("timestamps", [False, True])
def test_accurate_ecn_of_linux_is_in_the_headers(tmp_path, timestamps):
    changed = {"tcp.recovery": "linux", "tcp.tick": "1ms", "tcp.ecn": "accurate", "tcp.timestamps": timestamps}
    scenario = load_scenario("whatif", {"network.rate": "4mbit", "network.buffer": 500, "duration": 60} | changed)
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [3_000_000], "direction": ["down"]}))
    path = tmp_path / "run.pcap"
    records = run(scenario, "codel", flows, recording=Recording(path, "client")).records
    found = list(segments(path))
    assert found[0][2] == 7, "the SYN asks"
    server = max(found, key=lambda one: one[3])[0]
    data = [one for one in found if one[0] == server and one[3]]
    acks = [one for one in found if one[0] != server][2:]
    marked = [one for one in data if one[1] == 3]
    assert len(marked) == records["marks"][0] > 10
    assert {one[1] for one in data} == {2, 3} and {one[1] for one in acks[:-1]} == {2}
    # Of the last acknowledgements before the end: all that came is counted, by packets and bytes.
    last = next(one for one in reversed(acks) if one[4])
    assert last[2] == (5 + len(marked)) & 7
    assert last[4] == [1, sum(one[3] for one in marked), 1 + sum(one[3] for one in data if one[1] == 2)]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("changed", [{}, {"tcp.timestamps": True}])
def test_tshark_reads_every_packet(tmp_path, changed):
    path, _ = recorded(tmp_path, "server", changed)
    packets = read_captures(path).counts["packets"]
    fields = ["-T", "fields", "-e", "ip.checksum.status", "-e", "_ws.malformed", "-e", "tcp.analysis.ack_lost_segment"]
    command = ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", *fields]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == packets
    assert {line for line in lines} == {"1\t\t"}


def test_a_capture_that_cannot_be_written_is_one_clear_line(tmp_path):
    path = tmp_path / "none" / "run.pcap"
    with pytest.raises(MayflyError, match=r"^.*none/run.pcap: cannot be written: No such file or directory$"):
        run("whatif", "fifo", mixed(), recording=Recording(path))


def test_nothing_is_left_of_a_run_that_is_refused(tmp_path):
    with pytest.raises(MayflyError):
        run("whatif", "fifo(limit=3)", mixed(), recording=Recording(tmp_path / "a.pcap"))
    assert list(tmp_path.iterdir()) == []
