"""What passed the link when, beside the same by groups of a plain table of its packets."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly.profile.traffic import DIRECTIONS, traffic_of
from mayfly.workload.capture import opener_is_near
from mayfly.workload.connections import MOST_VOLUMES, ReadOptions, read_captures
from mayfly.workload.sides import sides_of

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
WIDTHS_S = (0.002, 0.05, 0.3, 0.7, 1.0, 100.0)


@pytest.fixture(scope="module", params=["in order", "out of order", "few volumes"])
def both(request):
    """The traffic of a capture, and its rows as a table of words and numbers."""
    limit = 500 if request.param == "few volumes" else MOST_VOLUMES
    reading = read_captures(OFFICE, ReadOptions(max_volumes=limit))
    frame, volumes = reading.connections, reading.volumes
    if request.param == "out of order":
        # Others' tables: numbers with holes, and volumes of a connection that is not there.
        frame = frame.filter(pl.col("connection_id") % 5 != 3).sample(fraction=1.0, shuffle=True, seed=3)
    near = sides_of(frame).internal
    width_s, duration_s = reading.counts["volume_width_s"], reading.counts["duration_s"]
    found = traffic_of(frame, volumes, width_s=width_s, duration_s=duration_s, near=near)
    ends = frame.select("connection_id", "opener", "responder", opener_near=opener_is_near(near))
    up = (pl.col("side") == "opener") == pl.col("opener_near")
    rows = volumes.join(ends, on="connection_id", how="inner").select(
        "start_s",
        pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        pl.when("opener_near").then("opener").otherwise("responder").alias("near"),
        pl.when("opener_near").then("responder").otherwise("opener").alias("far"),
        pl.col("wire_bytes").alias("bytes"),
        "acked_bytes",
        "rtt_s",
    )
    assert rows.height and (request.param == "few volumes" or rows.height > 10_000)
    return found, rows


def window(found, width_s):
    return ((pl.col("start_s") + found.width_s / 2) / width_s).floor().cast(pl.Int64).alias("window")


def test_bytes_are_those_of_the_rows(both):
    found, rows = both
    for way in DIRECTIONS:
        part = rows.filter(direction=way)
        assert found.carried(way) == part["bytes"].sum()
        assert found.rows(way) == part.height


@pytest.mark.parametrize("width_s", WIDTHS_S)
def test_loads_are_sums_over_windows(both, width_s):
    found, rows = both
    whole = math.floor(found.duration_s / width_s * (1 + 1e-9))
    for way, back in zip(DIRECTIONS, reversed(DIRECTIONS), strict=True):
        for told, direction, column in (
            (found.loads(way, width_s), way, "bytes"),
            (found.acknowledged(way, width_s), back, "acked_bytes"),
        ):
            part = rows.filter(direction=direction).select(window(found, width_s), column)
            sums = part.group_by("window").agg((8 * pl.col(column).sum() / width_s).alias("bps"))
            wanted = sums.filter(pl.col("window").is_between(0, whole - 1)).sort("window")
            assert pl.DataFrame({"window": told.windows, "bps": told.bps}).equals(wanted)


def test_hosts_have_their_bytes(both):
    found, rows = both
    sums = rows.group_by(host="near").agg(
        pl.col("bytes").filter(pl.col("direction") == way).sum().alias(f"{way}_bytes") for way in DIRECTIONS
    )
    told = found.bytes_of_hosts()
    assert told == {host: {"down": down, "up": up} for host, down, up in sums.iter_rows()}
    for way in DIRECTIONS:
        part = rows.filter(direction=way).with_columns(window(found, 0.5))
        for at in part["window"].unique().sort().head(4):
            then = part.filter(window=at).group_by("near").agg(pl.col("bytes").sum())
            assert found.bytes_in(at, way, 0.5) == dict(then.iter_rows())


@pytest.mark.parametrize(("width_s", "wide_s"), [(0.02, 0.1), (0.02, 0.05), (0.05, 1.0), (0.02, 0.015)])
def test_waits_are_the_least_above_the_least(both, width_s, wide_s):
    found, rows = both
    wide = np.array([7, 3, 1, *range(40, 400), 100_000])
    timed = rows.filter(pl.col("rtt_s").is_not_null()).with_columns(window(found, width_s))
    least = timed.group_by("direction", "near", "far").agg(pl.col("rtt_s").min().alias("base_s"))
    above = ((pl.col("window") + 0.5) * width_s / wide_s).floor().cast(pl.Int64)
    inside = timed.filter(above.is_in(wide.tolist())).join(least, on=["direction", "near", "far"])
    told = found.waits(width_s, wide, wide_s)
    for way in DIRECTIONS:
        waits = inside.filter(direction=way).group_by("window").agg((pl.col("rtt_s") - pl.col("base_s")).min())
        assert told[way].tolist() == waits.sort("window")["rtt_s"].to_list()


def test_nothing_is_no_load():
    reading = read_captures(OFFICE, ReadOptions(max_volumes=10))
    none = reading.volumes.clear()
    found = traffic_of(reading.connections, none, width_s=0.001, duration_s=3.0, near=frozenset())
    for way in DIRECTIONS:
        assert found.carried(way) == 0 and not len(found.loads(way, 1.0).bps)
        assert not len(found.waits(0.02, np.array([1]), 0.1)[way])
    assert found.bytes_of_hosts() == {} and found.bytes_in(0, "up", 1.0) == {}
