"""Sessions of users, and other hours drawn from them."""

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.workload.replayed import another_hour, session_of

RNG = np.random.default_rng(5)
COUNT = 400


def flows():
    """Twenty users, each with bursts of both directions of connections."""
    user = np.repeat(np.arange(20), COUNT // 20)
    burst = np.tile(np.repeat(np.arange(5), 4), 20)
    start_s = 30 * burst + RNG.uniform(0, 3, COUNT)
    frame = pl.DataFrame({"start_s": start_s, "user": user, "size_bytes": RNG.integers(1, 10**6, COUNT)})
    frame = frame.with_columns(connection_id=pl.int_range(COUNT) // 2, up=pl.int_range(COUNT) % 2 == 1)
    # Both directions of a connection belong to one user and begin soon after each other.
    frame = frame.with_columns(pl.col("user").first().over("connection_id"))
    inner, outer = pl.format("10.0.0.{}", "user"), pl.lit("web")
    return frame.select(
        flow_id=pl.int_range(COUNT),
        start_s="start_s",
        src=pl.when("up").then(inner).otherwise(outer),
        dst=pl.when("up").then(outer).otherwise(inner),
        direction=pl.when("up").then(pl.lit("up")).otherwise(pl.lit("down")),
        opened_by=pl.when("up").then(pl.lit("sender")).otherwise(pl.lit("receiver")),
        size_bytes="size_bytes",
        connection_id="connection_id",
    ).sort("start_s")


FLOWS = flows()


def test_a_pause_begins_another_session_and_both_directions_of_a_connection_stay_together():
    found = FLOWS.with_columns(session=pl.Series(session_of(FLOWS)))
    assert found["session"].n_unique() == 20 * 5
    assert found.group_by("connection_id").agg(pl.col("session").n_unique())["session"].max() == 1
    assert np.unique(session_of(FLOWS, gap_s=100.0)).size == 20


def test_another_hour_keeps_sessions_whole_and_their_users_apart():
    hour = another_hour(FLOWS, 1, 1)
    assert hour.columns == FLOWS.columns
    assert hour["flow_id"].to_list() == list(range(hour.height))
    assert hour["start_s"].is_sorted()
    assert 0 <= hour["start_s"].min() <= hour["start_s"].max() <= FLOWS["start_s"].max()
    # Each connection keeps its two directions, its sizes and the time between them, but for the end of the hour.
    was = {tuple(sorted(part["size_bytes"])) for part in FLOWS.partition_by("connection_id")}
    assert {tuple(sorted(part["size_bytes"])) for part in hour.partition_by("connection_id")} <= was
    copies = [host for host in hour["src"].unique() if host.startswith("10.") and "/" in host]
    assert copies


def test_the_same_seed_draws_the_same_hour_and_another_number_another_one():
    assert another_hour(FLOWS, 1, 1).equals(another_hour(FLOWS, 1, 1))
    assert not another_hour(FLOWS, 1, 1).equals(another_hour(FLOWS, 1, 2))
    assert not another_hour(FLOWS, 1, 1).equals(another_hour(FLOWS, 2, 1))


def test_hours_carry_what_the_capture_carries_in_the_mean():
    volumes = [another_hour(FLOWS, 3, draw)["size_bytes"].sum() for draw in range(300)]
    error = np.std(volumes, ddof=1) / len(volumes) ** 0.5
    assert abs(np.mean(volumes) - FLOWS["size_bytes"].sum()) < 4 * error


def test_too_few_sessions_say_nothing_about_another_hour():
    one = FLOWS.filter(pl.col("src").is_in(["10.0.0.1"]) | pl.col("dst").is_in(["10.0.0.1"]))
    with pytest.raises(MayflyError, match="5 sessions of users: must be at least 10"):
        another_hour(one, 1, 1)


def test_another_hour_does_not_depend_on_which_side_is_called_up():
    other = pl.when(pl.col("direction") == "up").then(pl.lit("down")).otherwise(pl.lit("up"))
    turned = FLOWS.with_columns(direction=other)
    assert another_hour(turned, 1, 1).equals(another_hour(FLOWS, 1, 1).with_columns(direction=other))


def test_flows_without_a_connection_or_a_host_are_of_one():
    """Before: a BufferError, as a column with nulls is one of floats."""
    flows = pl.DataFrame(
        {
            "start_s": [0.0, 1.0, 20.0, 21.0],
            "src": ["web"] * 4,
            "dst": ["a", None, "a", None],
            "opened_by": ["receiver"] * 4,
            "connection_id": [0, 1, 2, 3],
        }
    )
    assert len(set(session_of(flows).tolist())) == 4
    unnumbered = flows.with_columns(connection_id=pl.Series([None, None, 2, 3], dtype=pl.Int64))
    assert session_of(unnumbered).tolist() == session_of(flows).tolist()
