"""QUIC in scenarios: beside TCP, pages over streams, captures, and what does not go with it."""

import struct

import polars as pl
import pytest
from scripted import text_of, trains_of

import mayfly
from mayfly.comparison.comparison import run
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.recording import Recording

TCP_ONLY = {
    "duration": "20s",
    "stop_when_idle": True,
    "network": {"rate": "10mbit", "delay": "20ms"},
    "tcp": {"preset": "linux"},
}
MIXED = TCP_ONLY | {"transports": {"quic": {"preset": "quic"}}}


def test_tcp_and_quic_share_a_link_by_their_transports():
    flows = pl.DataFrame(
        {
            "start_s": [0.0, 0.0],
            "size_bytes": [3_000_000, 3_000_000],
            "src": ["a", "b"],
            "dst": ["c", "d"],
            "transport": [None, "quic"],
        }
    )
    records = mayfly.run(scenario_of(MIXED, "mixed"), "fq_codel", flows).records
    assert records["delivered_bytes"].to_list() == [3_000_000] * 2
    assert records["transport"].to_list() == [None, "quic"]
    # Either gets half of 10 Mb/s while both are there.
    assert records["finish_s"].is_between(4.0, 6.0).all()
    # A flow of TCP beside none is what it was.
    first = flows.head(1).drop("transport")
    here = mayfly.run(scenario_of(TCP_ONLY, "tcp"), "fq_codel", first).records
    there = mayfly.run(scenario_of(MIXED, "mixed"), "fq_codel", first).records
    assert here.equals(there)


def page(version: str, loss: float, seed: int) -> pl.DataFrame:
    answers = ",".join(["20000"] * 20)
    parts = ",".join(str(20_000 * count) for count in range(1, 21))
    script = {
        "2": f"up 8000 | down 400000 parts {parts}",
        "3": f"up 8000 streams {','.join(['400'] * 20)} | down 400000 streams {answers}",
    }[version]
    changes = {"tcp.preset": "quic", "network.loss": loss, "duration": "60s", "network.delay": "50ms", "seed": seed}
    changes |= {"tcp.stream_order": "sequential"}
    flows = pl.DataFrame({"start_s": [0.0], "script": [script]})
    result = mayfly.compare(mayfly.load_scenario("wired", changes), "fifo", flows)
    return result.trains.filter((pl.col("train") == 1) & pl.col("part").is_not_null())


def test_without_loss_objects_come_at_the_same_times_on_one_stream_or_on_many():
    one, many = page("2", 0.0, 1), page("3", 0.0, 1)
    assert (one["end_s"] - many["end_s"]).abs().max() < 0.03


def test_under_loss_objects_on_streams_of_their_own_come_sooner():
    means = {version: sum(page(version, 0.02, seed)["end_s"].mean() for seed in range(1, 9)) for version in ("2", "3")}
    assert means["3"] < means["2"]


def test_scripts_with_streams_are_read_and_written():
    text = "up 800 streams 400,400 | wait 20ms | down 21010 streams 1005,20005"
    assert text_of(trains_of(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("down 900 streams 300,500", "streams: must be of 1 byte or more, 900 bytes in all"),
        ("down 900 streams 0,900", "streams: must be of 1 byte or more, 900 bytes in all"),
        ("down 900 streams 900 pace 1ms", "must be without pace: its streams share the connection"),
    ],
)
def test_streams_that_make_no_train_are_refused(text, reason):
    with pytest.raises(MayflyError) as refused:
        trains_of(text)
    assert str(refused.value) == f"row 1: script: '{text}': {reason}"


def test_streams_over_tcp_are_refused():
    flows = pl.DataFrame({"start_s": [0.0], "script": ["up 400 | down 900 streams 300,600"]})
    with pytest.raises(MayflyError, match="quic"):
        mayfly.run("wired", "fifo", flows)


def test_a_capture_of_a_run_has_quic_as_datagrams(tmp_path):
    path = tmp_path / "run.pcap"
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [100_000]})
    scenario = mayfly.load_scenario("wired", {"tcp.preset": "quic", "duration": "9s", "stop_when_idle": True})
    records = run(scenario, "fifo", flows, recording=Recording(path, "server")).records
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        captured, length = struct.unpack_from("<II", data, at + 8)
        ip = data[at + 16 + 14 : at + 16 + captured]
        found.append((ip[9], length - 14))
        at += 16 + captured
    # UDP, and the lengths of the packets; the server's full ones have 1500 bytes.
    assert {protocol for protocol, _ in found} == {17}
    assert sum(length == 1500 for _, length in found) >= 100_000 // 1437
    assert records["delivered_bytes"][0] == 100_000
