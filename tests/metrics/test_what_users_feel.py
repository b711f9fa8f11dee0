"""Which transfers users feel; their figures are measured, and tested, in the crate ``metrics``."""

import numpy as np
import polars as pl

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
