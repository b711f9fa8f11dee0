"""Rates, times, buffers and shares as users write them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.text import quantity
from mayfly.text.quantity import (
    BUFFER_MOST_BYTES,
    BUFFER_MOST_PACKETS,
    RATE_BOUNDS_BPS,
    bare,
    buffer,
    rate_bps,
    seconds,
    share,
)

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers(), max_size=3),
    st.tuples(st.integers(), st.sampled_from(["packets", "bytes", "p"])),
    st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{0,3})?(e[0-9]{1,3})? ?[a-zA-Z/]{0,6}"),
)


@given(ANYTHING)
@pytest.mark.parametrize("read", [rate_bps, seconds, buffer, share])
def test_whatever_is_given_is_read_within_bounds_or_refused_in_one_line(read, value):
    try:
        found = read(value, "thing")
    except MayflyError as error:
        text = str(error)
        assert text.startswith("thing = ") and ": must be " in text
        assert "\n" not in text and len(text) < 250
        return
    if read is rate_bps:
        assert isinstance(found, int) and RATE_BOUNDS_BPS[0] <= found <= RATE_BOUNDS_BPS[1]
    elif read is buffer:
        limit, unit = found
        assert isinstance(limit, int)
        assert 1 <= limit <= {"packets": BUFFER_MOST_PACKETS, "bytes": BUFFER_MOST_BYTES}[unit]
    else:
        assert isinstance(found, float) and 0 <= found < math.inf


@given(st.integers(1_000, 400_000_000_000))
def test_a_rate_of_whole_bits_per_second_is_read_exactly(rate):
    assert rate_bps(rate) == rate_bps(f"{rate}bit") == rate_bps(f" {rate} bit/s ") == rate


@given(st.integers(1, 399_999_999))
def test_thousandths_of_a_unit_lose_nothing(thousandths):
    text = f"{thousandths // 1000}.{thousandths % 1000:03d}"
    assert rate_bps(f"{text}mbit") == thousandths * 1000
    assert buffer(f"{text}kB") == (thousandths, "bytes")
    assert seconds(f"{text}s") == pytest.approx(thousandths / 1000, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10mbit", 10_000_000), ("1.5Gbit/s", 1_500_000_000), ("64 kbit", 64_000), (".5mbit", 500_000), (1e7, 10_000_000)],
)
def test_rates(text, expected):
    assert rate_bps(text) == expected


@pytest.mark.parametrize(
    "bad", ["0", 0, -1, "-1mbit", "abc", "1bit", "10mips", "10 m bit", "", "nan", "inf", "1e400", "401gbit", True, None]
)
def test_rates_refused(bad):
    with pytest.raises(MayflyError, match=r"^--rate = .*must be a rate from 1kbit to 400gbit, such as 10mbit$"):
        rate_bps(bad, "--rate")


@pytest.mark.parametrize(
    ("text", "expected"), [("200ms", 0.2), ("5 min", 300.0), ("1h", 3600.0), (0, 0.0), ("10us", 1e-5), ("3ns", 3e-9)]
)
def test_times(text, expected):
    assert seconds(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("bad", ["-1s", -0.001, "1 fortnight", "abc", "3y", 1e30, float("nan"), [1], "1s2s"])
def test_times_refused(bad):
    with pytest.raises(MayflyError, match=r"must be a time of 0 or more and at most 2 years"):
        seconds(bad)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (300, (300, "packets")),
        ("300", (300, "packets")),
        ("300 packets", (300, "packets")),
        ("450kB", (450_000, "bytes")),
        ("1.5kB", (1500, "bytes")),
        ("1.001kb", (1001, "bytes")),
        ("2MiB", (2 * 2**20, "bytes")),
        ((20, "packets"), (20, "packets")),
        ([450_000, "bytes"], (450_000, "bytes")),
        (np.int64(7), (7, "packets")),
    ],
)
def test_buffers(text, expected):
    assert buffer(text) == expected


@pytest.mark.parametrize(
    "bad", [0, -5, 1.5, "1.5", 10**9, "0B", "0.5B", "3 elephants", "", None, (-5, "packets"), (1, "apples"), 10**400]
)
def test_buffers_refused(bad):
    with pytest.raises(
        MayflyError, match=r"must be a whole number of packets from 1 to 10000000, or bytes such as 450kB$"
    ):
        buffer(bad)


@pytest.mark.parametrize("bad", [0, "0", -1, "-0.5", "nan", "inf", "abc", "0.8s", 10.1, 0.009, True])
def test_loads_refused(bad):
    with pytest.raises(MayflyError, match=r"^--load = .*must be a share of the rate from 0.01 to 10, such as 0.8$"):
        share(bad, "--load")


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("5ms", "s", "0.005"),
        ("1.1ms", "s", "0.0011"),
        ("0.3 us", "s", "0.0000003"),
        ("2h", "s", "7200"),
        ("-5ms", "s", "-0.005"),
        ("0ms", "s", "0"),
        ("30kB", "bytes", "30000"),
        ("1.5KiB", "bytes", "1536"),
        ("10kB:1MB:5000", "bytes", "10000:1000000:5000"),
    ],
)
def test_a_suffix_becomes_a_factor_without_rounding(text, unit, expected):
    assert bare(text, unit) == expected


@pytest.mark.parametrize(
    ("text", "unit"),
    [("0.005", "s"), ("1e-3", "s"), ("30000.0", "bytes"), ("5kB", "s"), ("5ms", "bytes"), ("5ms", "packets"),
     ("10kB:", "bytes"), ("10kB:x", "bytes"), ("", "s"), ("nan", "s"), ("1e400ms", "s"), ("kB", "bytes")],
)  # fmt: skip
def test_what_has_no_suffix_of_its_unit_stays_as_it_is(text, unit):
    assert bare(text, unit) == text


@given(st.text(), st.sampled_from(["s", "bytes", "packets", ""]))
def test_any_text_of_an_option_is_returned_in_bounded_length(text, unit):
    assert len(bare(text, unit)) <= len(text) + 320


@pytest.mark.parametrize(
    "text",
    ["10mbit", "10Mbit", "10M", "10m", "10Mbps", "10mbps", "10Mb/s", "10Mbit/s", "10 Mbit/s", "10000k"],
)
def test_ten_megabits_in_all_their_spellings(text):
    assert quantity.rate_bps(text) == 10_000_000


@pytest.mark.parametrize(
    ("text", "spelling"), [("10MB/s", "80mbit"), ("10MBps", "80mbit"), ("2GB", "16gbit"), ("10mb", "10mbit")]
)
def test_what_may_be_bytes_is_met_with_the_right_spelling(text, spelling):
    with pytest.raises(MayflyError, match=f"write {spelling}"):
        quantity.rate_bps(text, "--rate")


def test_a_buffer_in_time_is_what_the_link_sends_in_it():
    assert quantity.buffer("20ms", rate_bps=100e6) == (250_000, "bytes")
    assert quantity.buffer("1s", rate_bps=1e6) == (125_000, "bytes")
    with pytest.raises(MayflyError, match="buffer = '20ms': must be a whole number of packets"):
        quantity.buffer("20ms")
    with pytest.raises(MayflyError, match="buffer"):
        quantity.buffer("1ns", rate_bps=1e6)


def test_one_value_or_two():
    assert quantity.both_ways("100mbit/20mbit", "--rate") == ("100mbit", "20mbit")
    assert quantity.both_ways("100Mbit/s/20Mbit/s", "--rate") == ("100Mbit/s", "20Mbit/s")
    assert quantity.both_ways("10Mb/s", "--rate") == ("10Mb/s", None)
    for bad in ("1/2/3", "/5", "5/"):
        with pytest.raises(MayflyError, match="two for down and up"):
            quantity.both_ways(bad, "--rate")
