"""Short and long classes, intervals, and the summary row."""

import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.metrics import classes, summarise
from mayfly.metrics.intervals import normal_ci95, student_ci95
from mayfly.metrics.totals import split_label

COUNTERS = {
    "drops": 10,
    "marks": 3,
    "utilisation": 0.5,
    "queue_mean_packets": 4.0,
    "flow_table_mean": 2.0,
    "flow_table_max": 7,
    "flow_table_bytes": 900,
    "cpu_s": 0.25,
    "packet_hops": 1000,
    "throughput_down_mbps": 5.0,
    "throughput_up_mbps": None,
    "udp_packets": 0,
    "udp_lost": 0,
}


def flows(sizes, times=None, replication=0, protocol="tcp", label="efd"):
    times = [1.0] * len(sizes) if times is None else times
    return pl.DataFrame(
        {
            "flow_id": range(len(sizes)),
            "start_s": 0.0,
            "protocol": protocol,
            "size_bytes": sizes,
            "size_packets": [math.ceil(size / 1000) for size in sizes],
            "discipline": label,
            "replication": replication,
            "finish_s": times,
            "response_time_s": times,
            "delivered_bytes": [size // 2 for size in sizes],
        },
        schema_overrides={
            "finish_s": pl.Float64,
            "response_time_s": pl.Float64,
            "replication": pl.Int32,
            "protocol": pl.String,
            "size_bytes": pl.Int64,
            "flow_id": pl.Int64,
            "size_packets": pl.Int64,
            "delivered_bytes": pl.Int64,
        },
    )


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([5], ["long"]),
        ([1, 1], ["long", "short"]),
        ([6, 3, 2, 1], ["long", "short", "short", "short"]),
        ([5, 3, 2, 1], ["long", "long", "short", "short"]),
        ([2, 2, 2, 2], ["long", "long", "short", "short"]),
        ([], []),
    ],
)
def test_long_flows_are_the_largest_until_half_of_the_bytes(sizes, expected):
    assert classes(flows(sizes)).to_list() == expected


def test_equal_sizes_go_by_flow_id_whatever_the_order_of_the_rows():
    records = flows([2, 2, 2, 2])
    turned = records.reverse()
    by_id = dict(zip(turned["flow_id"], classes(turned), strict=True))
    assert by_id == {0: "long", 1: "long", 2: "short", 3: "short"}


def test_unfinished_and_udp_flows_have_no_class_and_no_weight():
    records = pl.concat([flows([100, 6, 3], [None, 1.0, 1.0]), flows([500], protocol="udp")])
    assert classes(records).to_list() == [None, "long", "short", None]


def test_replications_and_disciplines_are_classed_apart():
    records = pl.concat([flows([10, 1]), flows([3, 2], replication=1), flows([1, 1], label="fifo")])
    assert classes(records).to_list() == ["long", "short"] * 3


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=60))
def test_long_flows_carry_half_and_one_fewer_would_not(sizes):
    labels = classes(flows(sizes)).to_list()
    long = sorted(size for size, label in zip(sizes, labels, strict=True) if label == "long")
    assert Fraction(sum(long), sum(sizes)) >= Fraction(1, 2)
    assert Fraction(sum(long) - long[0], sum(sizes)) < Fraction(1, 2)
    assert all(size <= long[0] for size, label in zip(sizes, labels, strict=True) if label == "short")


def test_intervals_agree_with_tables_of_the_laws():
    low, high = normal_ci95([1.0, 2.0, 3.0])
    assert (low + high) / 2 == pytest.approx(2.0)
    assert (high - low) / 2 == pytest.approx(1.959964 / math.sqrt(3))
    low, high = student_ci95([1.0, 2.0, 3.0])
    assert (high - low) / 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert normal_ci95([1.0]) is None
    assert student_ci95([]) is None


def test_a_normal_interval_covers_the_mean_about_95_times_in_100():
    rng = np.random.default_rng(5)
    trials, covered = 2000, 0
    for sample in rng.normal(3.0, 1.0, (trials, 100)):
        low, high = normal_ci95(sample)
        covered += low <= 3.0 <= high
    # Binomial deviation of 2000 trials is 0.5 %; at 100 values the normal law itself costs 0.3 %.
    assert covered / trials == pytest.approx(0.947, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_summary_of_one_replication():
    row = summarise(flows([1000, 1000, 9000, 50_000], [0.1, 0.3, 2.0, None]), [COUNTERS])
    assert row["id"] == row["label"] == "efd"
    assert row["short"]["mean_s"] == pytest.approx(0.2)
    half = 1.959964 * math.sqrt(0.02) / math.sqrt(2)
    assert row["short"]["ci95"] == pytest.approx([0.2 - half, 0.2 + half])
    assert row["short"]["flows"] == 2
    assert row["short"]["mean_size_packets"] == 1.0
    assert row["long"] == {"mean_s": 2.0, "ci95": None, "flows": 1, "mean_size_packets": 9.0}
    assert (row["flows_completed"], row["flows_unfinished"]) == (3, 1)
    assert (row["unfinished_bytes"], row["unfinished_delivered_bytes"]) == (50_000, 25_000)
    assert row["flow_table"] == {"mean": 2.0, "max": 7, "bytes": 900}
    assert row["throughput_mbps"] == {"down": 5.0, "up": None}
    assert row["udp"] == {"packets": 0, "lost": 0, "loss": None}
    json.dumps(row, allow_nan=False)


def test_summary_of_replications_uses_their_means():
    records = pl.concat(
        [
            flows([1000, 1000, 9000], [1.0, 3.0, 5.0]),
            flows([1000, 9000], [4.0, 9.0], replication=1),
        ]
    )
    second = COUNTERS | {"drops": 5, "utilisation": 0.7, "flow_table_max": 3, "udp_packets": 200, "udp_lost": 5}
    row = summarise(records, [COUNTERS, second])
    assert row["short"]["mean_s"] == pytest.approx(3.0)
    half = 12.706205 * math.sqrt(2) / math.sqrt(2)
    # Student's interval reaches to -9.7 s; no time is below 0, and it is formed on the logarithm.
    factor = math.exp(half / 3.0)
    assert row["short"]["ci95"] == pytest.approx([3.0 / factor, 3.0 * factor], rel=1e-6)
    assert row["short"]["flows"] == 3
    assert row["drops"] == 15
    assert row["utilisation"] == pytest.approx(0.6)
    assert row["flow_table"]["max"] == 7
    assert row["udp"] == {"packets": 200, "lost": 5, "loss": 0.025}


@pytest.mark.parametrize("records", [flows([]), flows([1000], [None]), flows([1000], protocol="udp")])
def test_a_class_without_flows_has_no_mean(records):
    row = summarise(records, [COUNTERS], label="efd")
    assert row["short"] == row["long"] == {"mean_s": None, "ci95": None, "flows": 0, "mean_size_packets": None}
    json.dumps(row, allow_nan=False)


def test_options_are_read_from_the_label():
    assert split_label("fifo") == ("fifo", {})
    assert split_label("red(min=5, max=1.5e3, ecn=on)") == ("red", {"min": 5, "max": 1500.0, "ecn": "on"})


@pytest.mark.parametrize(
    ("records", "counters", "message"),
    [
        (flows([1]), [], "0 counters"),
        (flows([1]), [{"drops": 1}], "lack utilisation"),
        (flows([1], replication=1), [COUNTERS], "replications 1 to 1: must be 0 to 0"),
        (pl.concat([flows([1]), flows([1], label="las")]), [COUNTERS], "2 disciplines \\(efd, las\\)"),
        (flows([]), [COUNTERS], "no label"),
    ],
)
def test_bad_input_is_refused_by_name(records, counters, message):
    with pytest.raises(MayflyError, match=message):
        summarise(records, counters)
