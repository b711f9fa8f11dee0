"""Which transfers users feel; their figures are measured, and tested, in the crate ``metrics``."""

import numpy as np
import polars as pl
import pytest

import mayfly
from mayfly.metrics.users import percentile, transfers_of


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


def test_endless_flows_and_udp_are_no_transfers():
    table = records([(2**40, 0, None), (500, 0, 1), (500, 0, 1)], protocol=pl.Series(["tcp", "udp", "tcp"]))
    assert transfers_of(table).height == 1
    assert transfers_of(table.head(2)).height == 0


@pytest.mark.parametrize("scenario", ["household", "pages", "wired"])
def test_the_transfers_of_the_tables_are_those_of_the_summary(scenario):
    """Before, tables had a transfer for every train: 124 short ones in place of the 116 of `household`."""
    found = mayfly.compare(mayfly.load_scenario(scenario, {"duration": "60s"}), "fifo")
    of_tables = transfers_of(found.records, found.trains if found.trains.width else None)
    for way in ("down", "up"):
        for row in found.summary["disciplines"][0]["users"]["transfers"][way]:
            size = pl.col("size_bytes") / 1000
            own = of_tables.filter(
                pl.col("direction") == way, size > row["from_kb"], size <= (row["to_kb"] or float("inf"))
            )["response_time_s"]
            assert (own.len(), own.null_count()) == (row["flows"], row["unfinished"]), (way, row)
            ordered = own.fill_null(float("inf")).sort().to_numpy()
            assert percentile(ordered, 0.5) == pytest.approx(row["p50_s"], abs=1e-9)
            assert percentile(ordered, 0.95) == pytest.approx(row["p95_s"], abs=1e-9)


def test_what_never_began_counts_where_every_transfer_is_asked_for():
    flows = pl.DataFrame({"start_s": [0.0], "script": ["up 400 | down 9000 | wait 60s | up 500 | down 70000"]})
    scenario = mayfly.load_scenario("wired", {"duration": "10s"})
    found = mayfly.compare(scenario, "fifo", flows)
    began = transfers_of(found.records, found.trains)
    assert began.select("train", "direction", "size_bytes").rows() == [(0, "down", 9000)]
    every = transfers_of(found.records, found.trains, every=True)
    assert every["size_bytes"].to_list() == [9000, 70000] and every["response_time_s"].is_null().to_list() == [
        False,
        True,
    ]
