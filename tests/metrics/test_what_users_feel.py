"""What users feel: percentiles with unfinished transfers, bins, grades, pages."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.metrics.users import (
    goodput_row,
    grade,
    long_transfers,
    page_groups,
    percentile,
    percentile_ci95,
    ping_row,
    times_row,
    transfer_rows,
    transfers_of,
    users_row,
)


def records(rows, **columns):
    """Flow records of (size in bytes, start, response time), with further columns."""
    frame = pl.DataFrame(rows, schema=["size_bytes", "start_s", "response_time_s"], orient="row", strict=False)
    frame = frame.with_columns(
        pl.col("start_s", "response_time_s").cast(pl.Float64),
        flow_id=pl.int_range(pl.len()),
        finish_s=pl.col("start_s") + pl.col("response_time_s"),
        protocol=pl.lit("tcp"),
        direction=pl.lit("down"),
        opened_by=pl.lit("receiver"),
        src=pl.lit("server"),
        dst=pl.lit("client"),
    )
    return frame.with_columns(**columns)


def test_percentiles_are_order_statistics():
    values = np.arange(1.0, 101.0)
    assert [percentile(values, share) for share in (0.01, 0.5, 0.95, 0.99, 1.0)] == [1, 50, 95, 99, 100]
    assert percentile(np.array([]), 0.5) is None


def test_unfinished_transfers_count_as_infinite():
    row = times_row(pl.Series([1.0, 2.0, 3.0, None]))
    assert (row["flows"], row["unfinished"]) == (4, 1)
    assert (row["p50_s"], row["p95_s"]) == (2.0, None)
    # Starving one more moves the median up, never down.
    assert times_row(pl.Series([1.0, None, 3.0, None]))["p50_s"] == 3.0


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_intervals_of_percentiles_cover_the_quantile(share):
    rng = np.random.default_rng(7)
    truth = -math.log(1 - share)
    found = [percentile_ci95(np.sort(rng.exponential(size=400)), share) for _ in range(2000)]
    covered = np.mean([low <= truth <= high for low, high in found])
    # 2000 draws of a share of 0.95 or a little more (ranks are whole): 4 deviations below, and not everything.
    assert 0.95 - 4 * math.sqrt(0.95 * 0.05 / 2000) <= covered <= 0.985


def test_too_few_values_have_no_interval():
    assert percentile_ci95(np.arange(20.0), 0.95) is None
    assert percentile_ci95(np.array([1.0, 2.0, 3.0, np.inf, np.inf]), 0.5) is None


def test_sizes_fall_into_the_bin_up_to_whose_bound_they_go():
    transfers = transfers_of(
        records([(10_000, 0, 1), (10_001, 0, 2), (100_000, 0, 3), (10**6, 0, 4), (10**6 + 1, 0, 5)])
    )
    rows = transfer_rows(transfers)
    assert [(row["from_kb"], row["to_kb"], row["flows"]) for row in rows["all"]] == [
        (0, 10, 1), (10, 100, 2), (100, 1000, 1), (1000, None, 1)
    ]  # fmt: skip
    assert rows["all"] == rows["down"] and sum(row["flows"] for row in rows["up"]) == 0


def test_endless_flows_and_udp_are_no_transfers():
    table = records([(2**40, 0, None), (500, 0, 1), (500, 0, 1)], protocol=pl.Series(["tcp", "udp", "tcp"]))
    assert transfers_of(table).height == 1
    assert transfer_rows(transfers_of(table.head(2))) is None


def test_long_are_those_above_a_megabyte_or_else_the_largest_hundredth():
    small = transfers_of(records([(1000 + row, 0, 1) for row in range(150)]))
    assert sorted(long_transfers(small)["size_bytes"]) == [1148, 1149]
    big = transfers_of(records([(1000, 0, 1), (2_000_000, 0, 4), (3_000_000, 0, None)]))
    assert sorted(long_transfers(big)["size_bytes"]) == [2_000_000, 3_000_000]
    assert goodput_row(big, "down") == {"flows": 2, "goodput_mbps_p50": 0.0, "goodput_mbps_p5": 0.0}
    assert goodput_row(big, "up") is None


def test_grades_of_the_ping():
    assert [grade(value) for value in (0, 5, 30, 60, 200, 400)] == ["A+", "A", "B", "C", "D", "F"]
    packets = pl.DataFrame({"sent_s": [0.0, 1.0, 2.0, 9.5], "returned_s": [0.02, 1.06, None, None]})
    row = ping_row(packets, 0.02, end_s=10.0)
    # The last one may be on its way.
    assert (row["probes"], row["loss"], row["grade"]) == (3, pytest.approx(1 / 3), "A")
    assert (row["idle_ms"], row["mean_ms"], row["p50_ms"]) == pytest.approx((20, 40, 20))
    assert ping_row(packets.head(0), 0.02, 10.0) is None
    lost = ping_row(packets[2:3], 0.02, 10.0)
    assert (lost["grade"], lost["loss"], lost["mean_ms"]) == ("F", 1.0, None)


def test_pages_are_connections_of_one_client_close_after_each_other():
    rows = [(5000, 0.0, 1), (5000, 0.9, 2), (5000, 1.8, 0.1), (5000, 3.0, 1), (5000, 0.5, 9), (2_000_000, 0.2, 50)]
    table = records(rows, connection_id=pl.Series(range(6)), dst=pl.Series(["a", "a", "a", "a", "b", "a"]))
    pages = page_groups(table)
    # From 0 to 2.9; the connection at 3.0 is alone, and so is the one of b; the download is no part.
    assert pages["load_s"].to_list() == pytest.approx([2.9])
    # Both transfers of one connection are not two connections.
    assert page_groups(table.with_columns(connection_id=pl.lit(1))).height == 0
    unfinished = table.with_columns(finish_s=pl.when(pl.col("start_s") != 0.9).then("finish_s"))
    assert page_groups(unfinished)["load_s"].to_list() == [None]


def test_the_client_is_who_opened_whatever_the_direction():
    table = records([(6000, 0.0, 1), (6000, 0.9, 2)], connection_id=pl.Series([0, 1]))
    turned = table.with_columns(direction=pl.lit("up"))
    assert page_groups(table).equals(page_groups(turned)) and page_groups(table).height == 1


def test_what_no_user_waits_for_is_no_page():
    table = records([(6000, 0.0, 1), (6000, 0.9, 2)], connection_id=pl.Series([0, 1]))
    sent = table.with_columns(src="dst", dst="src", opened_by=pl.lit("sender"), direction=pl.lit("up"))
    assert page_groups(sent).height == 0, "files that are sent"
    scan = records([(500, 0.1 * row, 0.1) for row in range(60)], connection_id=pl.Series(range(60)))
    assert page_groups(scan).height == 0, "answers to a scan"
    many = records([(5000, 0.1 * row, 0.1) for row in range(101)], connection_id=pl.Series(range(101)))
    assert page_groups(many).height == 0 and page_groups(many.head(100)).height == 1


def test_a_run_without_any_such_traffic_says_so():
    table = records([(500, 0, 1)], protocol=pl.lit("udp"))
    found = users_row(table, pl.DataFrame(), pl.DataFrame(), None, 0.0, 10.0)
    assert set(found.values()) == {None}
