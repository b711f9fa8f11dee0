"""The apps model: scripts and datagrams made of captured connections."""

from dataclasses import replace

import polars as pl
import pytest
from scripted import texts
from test_capture import CLIENT, SERVER, SYN, tcp, udp, write

from mayfly.comparison.sections import users
from mayfly.errors import MayflyError
from mayfly.workload.connections import read_captures
from mayfly.workload.lists import in_text
from mayfly.workload.replayed import Captured, flows_of, read_options, replayed_flows

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

ACK = 16
HANDSHAKE = [
    (0.0, tcp(CLIENT, SERVER, 100, 0, SYN, 0)),
    (0.04, tcp(SERVER, CLIENT, 500, 101, SYN | ACK, 0)),
    (0.06, tcp(CLIENT, SERVER, 101, 501, ACK, 0)),
]
"""40 ms between tap and server and back, 20 ms between tap and client and back."""


def scripted(tmp_path, packets, **options):
    return replayed_flows(write(tmp_path / "a.pcap", packets), "trains", **options)


def test_waits_are_what_the_path_does_not_explain(tmp_path):
    packets = [
        *HANDSHAKE,
        # 10 ms after the handshake.
        (0.07, tcp(CLIENT, SERVER, 101, 501, ACK, 300)),
        # 40 ms of path, 25 ms of the server.
        (0.135, tcp(SERVER, CLIENT, 501, 401, ACK, 200)),
        (0.155, tcp(CLIENT, SERVER, 401, 701, ACK, 0)),
        # The client has 200 ms since the server's data, 20 of them path.
        (0.335, tcp(CLIENT, SERVER, 401, 701, ACK, 50)),
        (0.375, tcp(SERVER, CLIENT, 701, 451, ACK, 0)),
        # A pause: 500 ms since its data, 60 of them path.
        (0.835, tcp(CLIENT, SERVER, 451, 701, ACK, 60)),
    ]
    flows = scripted(tmp_path, packets)
    script = "wait 10ms | up 300 | wait 25ms | down 200 | wait 180ms | up 50 | wait 440ms | up 60"
    assert texts(flows) == [script]
    row = flows.row(0, named=True)
    assert (row["direction"], row["opened_by"], row["size_bytes"]) == ("up", "sender", 610)
    assert (row["src"], row["dst"], row["rtt_s"]) == (CLIENT[0], SERVER[0], pytest.approx(0.06))


def test_the_one_who_is_called_may_speak_first(tmp_path):
    # 60 ms of handshake, 40 ms more until the last of it is at the server, 5 ms of the server.
    packets = [*HANDSHAKE, (0.105, tcp(SERVER, CLIENT, 501, 101, ACK, 80))]
    row = in_text(scripted(tmp_path, packets)).row(0, named=True)
    assert (row["script"], row["direction"], row["opened_by"]) == ("wait 5ms | down 80", "down", "receiver")
    assert (row["src"], row["start_s"]) == (SERVER[0], 0.0)


@pytest.mark.parametrize(
    ("initial_window", "pace"),
    [
        # Three packets in 50 ms: the ideal takes one round-trip time from a window of 1, and none from one of 10.
        (1, ""),
        (10, " pace 25ms"),
    ],
)
def test_a_train_slower_than_tcp_is_paced(tmp_path, initial_window, pace):
    at = (0.07, 0.08, 0.12)
    packets = HANDSHAKE + [(when, tcp(CLIENT, SERVER, 101 + 1460 * i, 501, ACK, 1460)) for i, when in enumerate(at)]
    flows = scripted(tmp_path, packets, initial_window=initial_window)
    assert texts(flows) == [f"wait 10ms | up 4380{pace}"]


def test_a_connection_begun_before_the_capture_begins_a_round_trip_before_its_data(tmp_path):
    late = [(10.0, tcp(("10.0.0.9", 1000), SERVER, 1, 1, ACK, 10))]
    flows = scripted(tmp_path, [*HANDSHAKE, (0.07, tcp(CLIENT, SERVER, 101, 501, ACK, 300)), *late])
    assert flows["start_s"].to_list() == pytest.approx([0.0, 9.94])
    assert texts(flows) == ["wait 10ms | up 300", "up 10"]


def test_recorded_packets_keep_their_times_and_lengths(tmp_path):
    packets = [
        *HANDSHAKE,
        (0.07, tcp(CLIENT, SERVER, 101, 501, ACK, 300)),
        (0.075, tcp(CLIENT, SERVER, 101, 501, ACK, 300)),
        (0.08, tcp(CLIENT, SERVER, 401, 501, ACK, 100)),
        (0.5, udp(CLIENT, SERVER, 72)),
        (0.75, udp(CLIENT, SERVER, 22)),
    ]
    path = write(tmp_path / "a.pcap", packets)
    flows = replayed_flows(path, "packets", [f"{CLIENT[0]}/32"])
    assert flows["protocol"].unique().to_list() == ["udp"]
    # The repeated packet is none of the application's.
    assert texts(flows, "bursts") == ["0:340 0.01:140", "0:100 0.25:50"]
    assert flows["start_s"].to_list() == pytest.approx([0.0, 0.43])
    both = replayed_flows(path, "trains")
    assert texts(both.filter(protocol="udp"), "bursts") == ["0:100 0.25:50"]
    # What the thesis compares: TCP alone, its first flow at 0.
    tcp_alone = replayed_flows(path, "packets", [f"{CLIENT[0]}/32"], tcp_only=True)
    assert texts(tcp_alone, "bursts") == ["0:340 0.01:140"] and tcp_alone["start_s"].to_list() == [0.0]


def test_a_capture_with_more_packets_than_are_kept_is_refused(tmp_path):
    path = write(tmp_path / "a.pcap", [(0.1 * i, udp(CLIENT, SERVER, 50)) for i in range(5)])
    captured = Captured(path, replace(read_options("packets"), max_packets=3))
    with pytest.raises(MayflyError, match=r"^packets = 5: must be at most 3 to replay a capture by its packets$"):
        captured.replay("packets")
    # Transfers do not ask for them.
    assert flows_of(captured.replay("transfers"), (1e6, 1e6))[0].height == 1


def test_scripts_ask_for_no_packets_of_tcp():
    """Before, a capture with more data packets than are kept was refused, though they are none of its scripts."""
    path = "captures/office.pcap.gz"
    few = Captured(path, replace(read_options("users"), max_packets=20_000))
    assert read_captures(path, replace(read_options("packets"), max_packets=20_000)).counts["packets_left_out"] > 0
    whole = Captured(path, read_options("users"))
    one, other = (flows_of(captured.replay("users"), (1e7, 1e7))[0] for captured in (few, whole))
    assert one.equals(other) and one.height > 500


def test_a_reading_that_a_replay_took_over_holds_nothing(tmp_path):
    path = write(tmp_path / "a.pcap", [(0.1 * i, udp(CLIENT, SERVER, 50)) for i in range(5)])
    captured = Captured(path, read_options())
    ends = captured.connections(["opener_port", "responder_port"])
    assert ends.columns == ["connection_id", "opener_port", "responder_port"]
    assert flows_of(captured.replay("users", last=True), (1e6, 1e6))[0].height == 1
    with pytest.raises(MayflyError, match=r"^the reading was taken over by a replay: read the capture again$"):
        captured.replay("users")


def test_a_form_that_is_none_is_refused(tmp_path):
    captured = Captured(write(tmp_path / "a.pcap", [(0.0, udp(CLIENT, SERVER, 50))]), read_options())
    with pytest.raises(MayflyError, match=r"^replay = 'films': must be users, trains, packets or transfers$"):
        captured.replay("films")


def test_the_office_keeps_its_bytes_and_trains():
    path = "captures/office.pcap.gz"
    flows = replayed_flows(path, "trains", initial_window=10)
    tcp_rows = read_captures(path).connections.filter(protocol="tcp")
    sizes = tcp_rows.select(
        "connection_id", size=pl.sum_horizontal("opener_distinct_bytes", "responder_distinct_bytes")
    )
    both = flows.filter(protocol="tcp").join(sizes, on="connection_id")
    assert both.height == sizes.filter(pl.col("size") > 0).height
    assert (both["size_bytes"] == both["size"]).all()


@pytest.mark.parametrize("form", ["users", "trains", "packets"])
@pytest.mark.slow
def test_whatif_tells_of_trains_and_recorded_flows(form):
    from mayfly.comparison.whatif import whatif

    result = whatif("captures/office.pcap.gz", "10mbit", 300, replay=form, disciplines="fifo,las")
    assert result.summary["capture"]["replay"] == form
    rows = [row["recorded" if form == "packets" else "trains"] for row in result.summary["disciplines"]]
    assert all(row["count"] > 1000 and row["mean_s"] >= row["p50_s"] * 0.5 for row in rows)
    assert rows[1]["p50_s"] < rows[0]["p50_s"]
    assert len(result.summary["answer"]) == 1
    assert users.train_tables(result.summary)
    if form == "trains":
        assert result.trains["size_bytes"].sum() == 2 * int(
            result.records.filter(protocol="tcp", discipline="las")["size_bytes"].sum()
        )


def test_whatif_refuses_another_form():
    from mayfly.comparison.whatif import whatif

    with pytest.raises(MayflyError, match=r"^replay = 'sctp': must be users, trains, packets or transfers$"):
        whatif("captures/office.pcap.gz", "10mbit", 300, replay="sctp")
