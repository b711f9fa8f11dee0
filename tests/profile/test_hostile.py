"""Captures and tables of strangers: nothing stops a profile, and it stays in bounds."""

import json
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invocation import mayfly_here, refused_here
from packets import FAR, NEAR, write_udp

from mayfly.errors import MayflyError
from mayfly.profile import load
from mayfly.profile.answer import profile
from mayfly.profile.fitting import fits_of
from mayfly.profile.listing import listing
from mayfly.profile.load import bin_width, spread
from mayfly.profile.page import profile_page
from mayfly.profile.sentences import verdict
from mayfly.workload.connections import read_captures, why_nothing

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"


def one_by_one(first, last, amounts, bins):
    """What ``spread`` promises, a span and a bin at a time."""
    found = [0] * bins
    for begins, ends, amount in zip(first, last, amounts, strict=True):
        low = min(max(int(np.floor(begins)), 0), bins - 1)
        high = min(max(int(np.floor(ends)), low), bins - 1)
        before = 0
        for place in range(low, high + 1):
            part = np.clip((place + 1 - begins) / (ends - begins), 0.0, 1.0) if ends > begins else 1.0
            by_end = amount if place == high else int(np.floor(amount * part))
            found[place] += by_end - before
            before = by_end
    return found


@given(
    st.lists(st.tuples(st.floats(-3, 60), st.floats(0, 60), st.integers(0, 80)), min_size=1, max_size=20),
    st.integers(1, 60),
    st.sampled_from([1, 7, 1 << 20]),
)
@settings(max_examples=200, deadline=None)
def test_spans_are_spread_as_one_by_one(spans, bins, at_once):
    first = np.array([begin for begin, _, _ in spans])
    last = first + np.array([length for _, length, _ in spans])
    amounts = np.array([amount for *_, amount in spans])
    whole, load.AT_ONCE = load.AT_ONCE, at_once
    try:
        assert spread(first, last, amounts, bins).tolist() == one_by_one(first, last, amounts, bins)
    finally:
        load.AT_ONCE = whole


@pytest.mark.parametrize(("amount", "spans"), [(68, 2000), (10**9, 40)])
def test_long_spans_take_the_memory_of_the_bins(amount, spans):
    """Before: a row for each span and bin, 8 columns of 8 bytes: 25 GB for 2,000 spans, 0.5 GB for 40."""
    tracemalloc.start()
    found = spread(np.zeros(spans), np.full(spans, 199_999.5), np.full(spans, amount), 200_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.sum() == amount * spans
    assert peak < 300e6


def test_packets_years_apart(tmp_path):
    rows = [(time_s, NEAR, FAR, 1000 + at, 53, 40) for time_s in (1.0, 59e6) for at in range(1000)]
    found = profile([write_udp(tmp_path / "a.pcap", rows)], bootstrap=0)
    assert found.bin_s == 1e6 and found.load["packets"].sum() == 2000
    assert "two captures in one file" in " ".join(verdict(found.document()))


def test_a_capture_of_one_packet(tmp_path):
    found = profile([write_udp(tmp_path / "a.pcap", [(1.0, NEAR, FAR, 1000, 53, 40)])], bootstrap=9)
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["load"]["by_class_bps"]["lc-rp"] == [None]
    assert document["link"]["directions"]["up"]["mean_bps"] is None
    assert "plot-link" in profile_page(found)


def test_arrivals_like_a_clock(tmp_path):
    rows = [(1 + 0.1 * at, NEAR, FAR, 1000 + at, 53, 40) for at in range(10)]
    found = profile([write_udp(tmp_path / "a.pcap", rows)], bootstrap=9)
    assert found.not_fitted["gap_s"] == {"every law": "all values are equal"}
    assert "times between arrivals: every law is not fitted: all values are equal" in found.details()
    json.dumps(found.document(), allow_nan=False)


def test_a_law_that_cannot_be_fitted_says_why():
    values = 0.1 + 1e-6 * np.arange(20)
    reasons = {}
    laws = [fit.law for fit in fits_of(values, bootstrap=9, not_fitted=reasons)]
    assert "weibull" not in laws and "exponential" in laws
    assert reasons["weibull"] == "weibull: its shape would be above 100: the values are nearly equal"


@pytest.mark.parametrize(
    ("duration_s", "width_s"), [(0.0, 1e-3), (9.9, 0.1), (10.0, 0.1), (10.1, 0.2), (100.0, 1.0), (59e6, 1e6)]
)
def test_bins_fit_the_capture(duration_s, width_s):
    assert bin_width(duration_s) == width_s


def test_a_link_type_that_is_not_decoded_is_named(tmp_path):
    file = write_udp(tmp_path / "a.pcap", [(1.0, NEAR, FAR, 1000, 53, 40)] * 3, link_type=105)
    with pytest.raises(MayflyError, match=r"link type not decoded: 3 packets of link type 105 \(IEEE 802.11\)"):
        profile([file])
    ended = mayfly_here("whatif", file, "--rate", "10mbit", "--buffer", "30", "--out", tmp_path / "out")
    assert ended.status == 2 and "3 packets of link type 105 (IEEE 802.11)" in ended.err


def test_a_capture_of_nothing_is_told(tmp_path):
    assert why_nothing(read_captures(write_udp(tmp_path / "a.pcap", [])).counts) == "no packet in it"


@pytest.mark.parametrize("later_s", [1.3e8, 1.7e9])
def test_a_clock_that_jumps_between_connections_is_named_by_each_command(tmp_path, later_s):
    """Before: "row 2: start_s = 1699999980.0: must be a number from 0 to 1000000000 s"."""
    rows = [(time_s, NEAR, FAR, 1000, 53, 40) for time_s in (1.0, 2.0)]
    rows += [(later_s + time_s, NEAR, FAR, 1001, 53, 40) for time_s in (1.0, 2.0)]
    file = write_udp(tmp_path / "a.pcap", rows)
    years = f"{later_s / (365.25 * 86_400):.1f}"
    given = ("--rate", "10mbit", "--buffer", "30", "--out", tmp_path / "out")
    said = refused_here("whatif", file, *given)
    assert f"a.pcap: its flows span {years} years, {years} of them without any: two captures in one file" in said
    assert "cut it after 0 s (editcap -A and -B), or scale it with --load" in said
    if later_s > 1e9:
        said = refused_here("whatif", file, *given, "--load", "0.5", "--replay", "transfers")
        assert f"a.pcap: its flows span {years} years" in said and "--load" not in said
        said = refused_here("compare", "wired", "--flows", file)
        assert f"a.pcap: its flows span {years} years" in said and "--load" not in said


def test_a_silence_of_decades_in_one_connection_is_a_clock_that_jumped(tmp_path):
    """Before: "wait 668322441995701120ns: must be `up BYTES ...`"."""
    path = tmp_path / "a.pcap"
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    records = []
    for time_s, seq in ((1_000_000_000, 1), (1_668_322_441, 101)):
        tcp = struct.pack("!HHIIBBHHH", 40_000, 443, seq, 1, 0x50, 0x10, 65_535, 0, 0) + bytes(100)
        ip = struct.pack(
            "!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([9, 9, 9, 9])
        )
        packet = ip + tcp
        records.append(struct.pack("<IIII", time_s, 0, len(packet), len(packet)) + packet)
    path.write_bytes(header + b"".join(records))
    said = refused_here("whatif", path, "--rate", "10mbit", "--buffer", "30", "--out", tmp_path / "out")
    assert "a.pcap: its flows span 21.2 years: two captures in one file, or a clock that jumped; cut it" in said


def test_nanoseconds_in_a_file_of_microseconds_are_said(tmp_path):
    rows = [(1.0 + 0.1 * at, NEAR, FAR, 1000 + at, 53, 40) for at in range(5)]
    data = bytearray(write_udp(tmp_path / "a.pcap", rows).read_bytes())
    at = 24
    while at < len(data):
        fraction, length = struct.unpack_from("<I4xI", data, at + 4)[0], struct.unpack_from("<I", data, at + 8)[0]
        struct.pack_into("<I", data, at + 4, fraction * 1000)
        at += 16 + length
    (tmp_path / "b.pcap").write_bytes(data)
    plain, found = profile([tmp_path / "a.pcap"], bootstrap=0), profile([tmp_path / "b.pcap"], bootstrap=0)
    said = "the capture is a pcap of microseconds by its header and has nanoseconds: times are read as these"
    assert said in verdict(found.document()) and said not in verdict(plain.document())
    assert found.document()["dataset"]["duration_s"] == plain.document()["dataset"]["duration_s"]


def test_a_clock_that_jumps_is_named(tmp_path):
    rows = [(time_s, NEAR, FAR, 1000, 53, 40) for time_s in (1.0, 2.0)]
    rows += [(1.3e8 + time_s, NEAR, FAR, 1001, 53, 40) for time_s in (1.0, 2.0)]
    file = write_udp(tmp_path / "a.pcap", rows)
    ended = mayfly_here("whatif", file, "--rate", "10mbit", "--buffer", "30", "--out", tmp_path / "out")
    assert ended.status == 2 and "4.1 years" in ended.err and "a clock that jumped" in ended.err
    assert "duration" not in ended.err


@pytest.mark.parametrize("command", [("profile",), ("whatif", "--rate", "10mbit", "--buffer", "30")])
def test_a_network_that_matches_no_host_is_refused(tmp_path, command):
    name, *more = command
    ended = mayfly_here(name, OFFICE, *more, "--internal", "192.168.77.0/24", "--out", tmp_path / "out")
    assert ended.status == 2
    assert "internal = 192.168.77.0/24: no host is in it; seen are 10.10.0.0/24, " in ended.err


def test_without_arguments_the_help_is_shown():
    ended = mayfly_here("profile")
    assert ended.status == 2 and ended.err.splitlines()[0].startswith("Usage: mayfly profile")
    assert "captures  Profile captures" in ended.err and "mayfly: " not in ended.err


def damaged(path, seed):
    raw = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    low = 0 if seed % 2 else max(len(raw) - 20_000, 0)
    for place in rng.integers(low, len(raw), rng.choice([1, 3, 40])):
        raw[place] = rng.integers(256)
    return bytes(raw)


def test_damaged_tables_are_refused_in_one_line_or_read(tmp_path, capfd):
    file = tmp_path / "connections.parquet"
    rows = [(1 + 0.37 * at**1.5, NEAR, FAR, 1000 + at, 53, 40 + at) for at in range(40)]
    listing([write_udp(tmp_path / "a.pcap", rows)]).write(tmp_path)
    told = 0
    for seed in range(60):
        broken = tmp_path / "broken.parquet"
        broken.write_bytes(damaged(file, seed))
        try:
            json.dumps(profile([broken], bootstrap=0).document(), allow_nan=False)
        except MayflyError as error:
            told += 1
            assert "\n" not in str(error)
    assert told > 10
    assert "panicked" not in capfd.readouterr().err


def test_a_value_that_no_capture_gives_is_refused(tmp_path):
    listing([OFFICE]).write(tmp_path)
    file = tmp_path / "connections.parquet"
    metadata = {k: v for k, v in pl.read_parquet_metadata(file).items() if k.startswith("mayfly")}
    frame = pl.read_parquet(file).with_columns(pl.lit(float("nan")).alias("start_s"))
    frame.write_parquet(file, metadata=metadata)
    with pytest.raises(MayflyError, match="a damaged connection table: start_s holds a time beyond 292 years"):
        profile([file])
