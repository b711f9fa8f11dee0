"""Response times against size, and stalls."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.metrics import binned_ci, by_percentile, conditional_mean, incomplete, plateaus, response_cdf
from mayfly.metrics.progress import largest_flows


def flows(sizes, times, label="fifo", protocol="tcp"):
    return pl.DataFrame(
        {
            "flow_id": pl.Series(range(len(sizes)), dtype=pl.Int64),
            "start_s": 0.0,
            "discipline": label,
            "replication": 0,
            "protocol": protocol,
            "size_packets": pl.Series(sizes, dtype=pl.Int64),
            "size_bytes": pl.Series([1000 * size for size in sizes], dtype=pl.Int64),
            "finish_s": pl.Series(times, dtype=pl.Float64),
            "response_time_s": pl.Series(times, dtype=pl.Float64),
            "delivered_bytes": pl.Series([1000 * size - 500 for size in sizes], dtype=pl.Int64),
        }
    )


def test_mean_by_size_leaves_out_udp_and_unfinished_flows():
    records = pl.concat([flows([1, 1, 5, 5], [1.0, 2.0, 4.0, None]), flows([5], [99.0], protocol="udp")])
    assert conditional_mean(records).rows() == [("fifo", 1.0, 1.5, 2), ("fifo", 5.0, 4.0, 1)]


def test_geometric_bins_start_at_powers_of_ten():
    records = flows([1, 9, 10, 99, 100, 1000], [1.0] * 6)
    assert conditional_mean(records, bins_per_decade=1)["size_packets"].to_list() == [5.0, 54.5, 100.0, 1000.0]


def test_disciplines_come_in_order_of_first_appearance():
    records = pl.concat([flows([1], [1.0], "scfq"), flows([1], [2.0], "efd")])
    assert conditional_mean(records)["discipline"].to_list() == ["scfq", "efd"]


def test_percentiles_count_unfinished_flows_and_split_ties():
    rows = by_percentile(flows([1, 1, 2, 3], [1.0, 3.0, None, 5.0]))
    assert rows["percentile"].to_list() == pytest.approx([25.0, 87.5])
    assert rows["mean_s"].to_list() == [2.0, 5.0]


def test_a_bin_closes_at_the_size_that_fills_it():
    sizes = [1, 1, 1, 2, 2, 3, 4, 4, 9]
    rows = binned_ci(flows(sizes, [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 1.0, 1.0, 1.0]), samples=2)
    assert rows["flows"].to_list() == [3, 2, 3]
    assert rows["size_packets"].to_list() == pytest.approx([1.0, 2.0, 11 / 3])
    assert rows["mean_s"].to_list() == pytest.approx([2.0, 5.0, 10 / 3])
    factor = math.exp(1.959964 / 3**0.5 / 2.0)
    assert (rows["low_s"][0], rows["high_s"][0]) == pytest.approx((2.0 / factor, 2.0 * factor))
    assert rows["low_s"][1] == pytest.approx(5.0 * math.exp(-1.959964 / 5.0))
    # Bins of a few times that differ widely: no band reaches below 0.
    assert (binned_ci(flows([1, 1, 1, 1], [0.1, 0.1, 0.1, 90.0]), samples=4)["low_s"] > 0).all()


@given(st.lists(st.integers(1, 30), max_size=120), st.integers(2, 20))
def test_bins_are_full_ascending_and_leave_out_less_than_one_bin(sizes, samples):
    rows = binned_ci(flows(sizes, [float(size) for size in sizes]), samples)
    assert (rows["flows"] >= samples).all()
    assert rows["size_packets"].is_sorted()
    assert len(sizes) - rows["flows"].sum() < samples
    assert rows["mean_s"].to_list() == pytest.approx(rows["size_packets"].to_list())


def test_the_distribution_ends_at_one_with_the_slowest_flow():
    rng = np.random.default_rng(1)
    times = rng.exponential(1.0, 50_000)
    rows = response_cdf(flows([1] * times.size, list(times)), points=200)
    assert rows.height <= 200
    assert rows.row(-1)[1:] == (times.max(), 1.0)
    # Kolmogorov: P(sup |F_n - F| > 1.95 / sqrt(n)) = 0.1 %.
    gap = np.abs(rows["share"].to_numpy() - (1 - np.exp(-rows["response_time_s"].to_numpy())))
    assert gap.max() < 1.95 / times.size**0.5


def test_unfinished_transfers_are_counted_in_started_packets():
    rows = incomplete(flows([4, 4, 2, 8], [None, None, None, 1.0]))
    assert rows.rows() == [("fifo", 2, 1, pytest.approx(1 / 3)), ("fifo", 4, 2, 1.0)]
    assert incomplete(flows([4], [None]), mss_bytes=500)["delivered_packets"].to_list() == [7]


@pytest.mark.parametrize("measure", [conditional_mean, by_percentile, binned_ci, response_cdf, incomplete])
@pytest.mark.parametrize("records", [flows([], []), flows([3], [None]), flows([3], [1.0], protocol="udp")])
def test_nothing_measured_gives_a_table_without_strange_numbers(measure, records):
    rows = measure(records)
    assert rows.columns[0] == "discipline"
    assert all(np.isfinite(rows[name].to_numpy()).all() for name in rows.columns if rows.schema[name].is_float())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda records: binned_ci(records, samples=1), "samples = 1: must be at least 2"),
        (lambda records: conditional_mean(records, bins_per_decade=0), "bins_per_decade = 0: must be at least 1"),
        (lambda records: response_cdf(records, points=1), "points = 1: must be at least 2"),
        (lambda records: incomplete(records, mss_bytes=0), "mss_bytes = 0: must be at least 1"),
        (lambda records: plateaus(records, records, stall_s=0), "stall_s = 0: must be above 0 s"),
    ],
)
def test_bounds_are_refused_by_name(call, message):
    with pytest.raises(MayflyError, match=message):
        call(flows([1], [1.0]))


def samples_of(progress, period_s=1.0):
    rows = len(progress)
    return pl.DataFrame(
        {
            "time_s": [period_s * k for k in range(rows)],
            "discipline": ["fifo"] * rows,
            "replication": [0] * rows,
            "progress_1_bytes": progress,
            "progress_2_bytes": [None] * rows,
            "progress_3_bytes": [None] * rows,
        }
    )


def test_a_steady_transfer_never_stalls():
    rows = plateaus(samples_of([0, 1, 2, 3, 4, 5]), flows([5], [5.0]), stall_s=1.0)
    assert rows.select("rank", "flow_id", "lifetime_s", "longest_s", "stalled_share").row(0) == (1, 0, 5.0, 0.0, 0.0)


def test_a_lock_out_is_measured_and_the_time_after_the_end_is_not():
    progress = [0, 2, 2, 2, 2, 2, 3, 4, 4, 5, 5, 5, 5]
    rows = plateaus(samples_of(progress), flows([5], [9.0]), stall_s=2.0)
    assert rows["longest_s"][0] == 4.0
    assert rows["stalled_share"][0] == pytest.approx(4 / 9)
    shorter = plateaus(samples_of(progress), flows([5], [9.0]), stall_s=0.5)
    assert shorter["stalled_share"][0] == pytest.approx(5 / 9)


def test_an_unfinished_transfer_lives_until_the_last_sample():
    rows = plateaus(samples_of([0, 1, 1, 1, 1]), flows([5], [None]))
    assert (rows["lifetime_s"][0], rows["longest_s"][0]) == (4.0, 3.0)


def test_the_largest_flows_are_three_by_size_then_id():
    assert largest_flows(flows([5, 9, 9, 1, 5], [1.0] * 5)) == [1, 2, 0]
    assert largest_flows(flows([], [])) == []
