"""The connection table: options, several files, trains, and its Parquet form."""

import io
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from test_capture import CLIENT, SERVER, SYN, download, shared, tcp, write

from mayfly.errors import MayflyError
from mayfly.workload import connections as table
from mayfly.workload.connections import ReadOptions, read_captures

pytest.importorskip("mayfly._native", reason="the compiled module is not built")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_flows": 0}, "max_flows = 0: must be 1 to 4294967294"),
        ({"window_s": -1.0}, "window_s = -1.0: must be 0 to 60"),
        ({"window_s": float("nan")}, "window_s = nan: must be 0 to 60"),
        ({"duplicate_s": 61.0}, "duplicate_s = 61.0: must be 0 to 60"),
        ({"duplicates": "some"}, "duplicates = 'some': must be auto, keep, leave-out, taps or all"),
        ({"initial_window": 1001}, "initial_window = 1001: must be 1 to 1000"),
        ({"max_trains": -1}, "max_trains = -1: must be 0 to 4294967294"),
    ],
)
def test_an_option_out_of_bounds_is_one_clear_line(given, message):
    with pytest.raises(MayflyError) as caught:
        ReadOptions(**given)
    assert str(caught.value) == message


def test_no_file_is_one_clear_line():
    with pytest.raises(MayflyError, match=r"^no capture given: name at least one file, or - for the standard input$"):
        read_captures([])


def test_a_transfer_is_taken_apart(tmp_path):
    reading = read_captures(write(tmp_path / "a.pcap", download()), ReadOptions(max_trains=10))
    assert reading.connections.schema == {"connection_id": pl.Int64, **table.COLUMNS}
    row = reading.connections.row(0, named=True)
    assert (row["zeek_state"], row["taps"], row["mss_bytes"]) == ("S3", [0], None)
    assert row["handshake_to_responder_s"] == pytest.approx(0.02)
    assert row["handshake_to_opener_s"] == pytest.approx(0.03)
    assert (row["setup_s"], row["data_s"]) == pytest.approx((0.06, 1.14))
    assert (row["opener_trains"], row["responder_trains"]) == (1, 1)
    # One packet asked, one was repeated in the answer; two distinct packets are two flights of the ideal.
    assert (row["responder_warm_up_s"], row["responder_transfer_s"]) == pytest.approx((0.94, 0.2))
    assert (row["responder_retransmits"], row["responder_distinct_packets"]) == (1, 2)
    assert (row["responder_theoretical_s"], row["responder_pacing_s"]) == pytest.approx((0.05, 0.15))
    assert row["responder_pacing_per_packet_s"] == pytest.approx(0.075)
    assert reading.trains.schema == table.TRAINS.schema
    assert reading.trains.select("side", "packets", "bytes").rows() == [("opener", 1, 200), ("responder", 2, 1500)]
    assert reading.trains["warm_up_s"].to_list() == pytest.approx([0.0, 0.94])


@pytest.mark.parametrize("swapped", [(0, 1), (1, 2)])
def test_parts_of_a_handshake_that_two_clocks_put_out_of_order_are_unknown(tmp_path, swapped):
    packets = download()
    times = [time for time, *_ in packets]
    one, two = swapped
    times[one], times[two] = times[two], times[one]
    late = [(time, *rest) for time, (_, *rest) in zip(times, packets, strict=True)]
    row = read_captures(write(tmp_path / "a.pcap", late)).connections.row(0, named=True)
    names = ("rtt_s", "handshake_to_opener_s", "handshake_to_responder_s")
    assert [row[name] for name in names] == [None] * 3


def test_no_part_of_a_handshake_of_the_merged_hosts_is_negative():
    frame = read_captures(shared("enterprise_ad_lab.pcap.gz")).connections.drop_nulls("rtt_s")
    parts = frame.select("handshake_to_opener_s", "handshake_to_responder_s")
    assert frame.height == 248 and parts.min_horizontal().min() > 0


def test_other_ideals_change_the_theoretical_time_alone(tmp_path):
    path = write(tmp_path / "a.pcap", download())
    row = read_captures(path, ReadOptions(initial_window=10)).connections.row(0, named=True)
    assert (row["responder_theoretical_s"], row["responder_pacing_s"]) == pytest.approx((0.0, 0.2))


def test_trains_beyond_the_limit_are_counted(tmp_path):
    reading = read_captures(write(tmp_path / "a.pcap", download()), ReadOptions(max_trains=1))
    assert (reading.trains.height, reading.counts["trains_left_out"]) == (1, 1)


def test_copies_of_two_files_count_once(tmp_path):
    paths = [write(tmp_path / name, download()) for name in ("a.pcap", "b.pcap")]
    frame, counts = table.connections(paths)
    assert (counts["packets"], counts["decoded"], counts["skipped"]["duplicate"]) == (14, 7, 7)
    assert [tap["packets"] for tap in counts["taps"]] == [7, 7]
    assert frame["taps"].to_list() == [[0, 1]]
    both = read_captures(paths, ReadOptions(duplicates="keep")).counts
    assert both["decoded"] == 14


def test_taps_of_each_connection_are_listed(tmp_path):
    own, place = tcp(CLIENT, ("9.9.9.9", 80), 5, 0, SYN), write(tmp_path / "a.pcap", download())
    frame, _ = table.connections([place, write(tmp_path / "b.pcap", [(0.5, own)])])
    assert sorted(frame["taps"].to_list()) == [[0], [1]]
    # A file that begins when the other has ended goes on where that was recorded.
    frame, _ = table.connections([place, write(tmp_path / "b.pcap", [(5.0, own)])])
    assert frame["taps"].to_list() == [[0], [0]]


def test_zstandard_and_the_standard_input_read_the_same(tmp_path):
    path = write(tmp_path / "a.pcap", download())
    expected = table.connections(path)[0]
    code = "from mayfly.workload.connections import connections; print(connections('-')[0].write_json())"
    done = subprocess.run([sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True)
    assert done.stdout.decode().strip() == expected.write_json()
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    for level in ("-1", "-19"):
        subprocess.run(["zstd", "-q", "-f", level, str(path)], check=True)
        assert table.connections(f"{path}.zst")[0].equals(expected)


def test_the_table_comes_back_from_parquet_as_it_was(tmp_path):
    frame, counts = table.connections(write(tmp_path / "a.pcap", download()))
    table.write_connections(frame, counts, tmp_path / "t.parquet")
    again, counted = table.read_connections(tmp_path / "t.parquet")
    assert again.equals(frame)
    assert again.schema == frame.schema
    assert counted == counts
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_a_table_that_polars_wrote_anew_is_read_by_its_columns(tmp_path):
    frame, counts = table.connections(write(tmp_path / "a.pcap", download()))
    source, path = tmp_path / "t.parquet", tmp_path / "again.parquet"
    table.write_connections(frame, counts, source)
    pl.read_parquet(source).write_parquet(path)
    assert not [name for name in pl.read_parquet_metadata(path) if name.startswith("mayfly")]
    again, counted = table.read_connections(path)
    assert again.equals(frame)
    assert counted["rewritten"] is True and counted["packets"] == counted["decoded"] == counts["decoded"] > 0
    # As docs/tables.md says.
    pl.read_parquet(source).write_parquet(path, metadata=pl.read_parquet_metadata(source))
    assert table.read_connections(path)[1] == counts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.drop("quic"),
            "without Mayfly's metadata, which Polars drops when it writes, and column quic",
        ),
        (
            lambda frame: frame.with_columns(pl.col("start_s").cast(pl.Float32)),
            "drops when it writes, and start_s is Float32",
        ),
        (lambda frame: frame.select("protocol", "start_s"), "not a connection table: write one with"),
        (lambda frame: frame.with_columns(opener=pl.lit("nowhere")), "opener = nowhere: must be an IP address"),
    ],
)
def test_columns_that_are_not_those_of_the_table_are_refused(tmp_path, change, message):
    path = tmp_path / "t.parquet"
    change(table.connections(write(tmp_path / "a.pcap", download()))[0]).write_parquet(path)
    with pytest.raises(MayflyError) as caught:
        table.read_connections(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


def test_another_file_or_version_is_refused_in_one_line(tmp_path):
    frame = pl.DataFrame({"a": [1]})
    frame.write_parquet(tmp_path / "other.parquet")
    frame.write_parquet(
        tmp_path / "old.parquet", metadata={"mayfly.table": "connections", "mayfly.schema": "1", "mayfly.counts": "{}"}
    )
    frame.write_parquet(tmp_path / "of.parquet", metadata={"mayfly.table": "flows"})
    (tmp_path / "text.parquet").write_text("start_s")
    for name, message in (
        ("other", "not a connection table"),
        ("of", "a table of flows, must be one of connections"),
        ("old", "connection table of schema 1, must be 5: read the capture again"),
        ("text", ""),
        ("missing", ""),
    ):
        path = tmp_path / f"{name}.parquet"
        with pytest.raises(MayflyError) as caught:
            table.read_connections(path)
        assert str(caught.value).startswith(f"{path}: {message}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["access_app_mix.pcap.gz", "enterprise_ad_lab.pcap.gz", "access_home_alexa.pcap.gz"])
def test_the_parts_of_every_transfer_add_up(name):
    reading = read_captures(shared(name), ReadOptions(max_trains=10**7))
    frame = reading.connections.filter(pl.col("data_s").is_not_null())
    assert frame.height > 50
    parts = ["opener_warm_up_s", "opener_transfer_s", "responder_warm_up_s", "responder_transfer_s"]
    gap = (frame["data_s"] - frame.select(parts).sum_horizontal()).abs()
    # Five doubles rounded one by one.
    assert (gap <= 1e-15 + 5 * 2.3e-16 * frame["data_s"]).all()
    trains = reading.trains.group_by("connection_id").agg(
        pl.len(), pl.col("bytes").sum(), pl.col("packets").sum(), pl.col("warm_up_s").sum()
    )
    joined = frame.join(trains, on="connection_id", how="left")
    assert (joined["len"] == joined["opener_trains"] + joined["responder_trains"]).all()
    assert (joined["warm_up_s"] - joined["opener_warm_up_s"] - joined["responder_warm_up_s"]).abs().max() < 1e-9


def windows_of_eq_5_10(initial: int) -> list[int]:
    from mayfly.models.efd.flights import windows

    return [initial, *(int(window) for window in windows(20, 10**6) if window > initial)]


@pytest.mark.parametrize("initial", [1, 2, 4, 10])
def test_flights_are_those_of_the_model(tmp_path, initial):
    """A sender of n packets at once: its ideal takes a round-trip time for each flight but the first."""
    windows, n = windows_of_eq_5_10(initial), 60
    packets = download()[:3]
    packets += [(0.06 + 1e-6 * index, tcp(SERVER, CLIENT, 500 + index, 100, 16, 1)) for index in range(n)]
    frame = read_captures(write(tmp_path / "a.pcap", packets), ReadOptions(initial_window=initial)).connections
    flights = next(count for count in range(1, 30) if sum(windows[:count]) >= n)
    assert frame["responder_distinct_packets"].to_list() == [n]
    assert frame["responder_theoretical_s"].to_list() == pytest.approx([0.05 * (flights - 1)])


def test_a_cut_stream_says_so(tmp_path):
    whole = write(tmp_path / "a.pcap", download()).read_bytes()
    buffer = io.BytesIO(whole[: -struct.calcsize("<IIII")])
    (tmp_path / "b.pcap").write_bytes(buffer.getvalue())
    assert read_captures(Path(tmp_path / "b.pcap")).counts["truncated"]


def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path):
    frame, counts = table.connections(write(tmp_path / "a.pcap", download()))
    (tmp_path / "taken").mkdir()
    with pytest.raises(MayflyError, match="taken: "):
        table.write_connections(frame, counts, tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pcap", "taken"]
