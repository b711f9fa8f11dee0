"""Groups of flows: shares against the fair ones, percentiles of slowdown, stalls and loss."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.metrics import batch_response, fair_groups, group_rows, slowdown_percentiles
from mayfly.metrics.groups import has_groups

LINK = {"rate_bps": 8e6, "end_s": 10.0, "mss": 1000, "header_bytes": 0}
ENDLESS = 2**40


def records(*rows):
    """Records of ``(group, start_s, finish_s, size_bytes, delivered_bytes)``, with more by name in a dictionary."""
    frames = []
    for flow_id, (group, start_s, finish_s, size, delivered, *more) in enumerate(rows):
        row = {
            "flow_id": flow_id,
            "start_s": float(start_s),
            "src": 2 * flow_id,
            "dst": 2 * flow_id + 1,
            "direction": "down",
            "protocol": "tcp",
            "size_bytes": size,
            "packet_bytes": None,
            "rate_bps": None,
            "group": group,
            "finish_s": None if finish_s is None else float(finish_s),
            "delivered_bytes": delivered,
            "packets_sent": 100,
            "drops": 0,
            "slowdown": None,
            "replication": 0,
        } | (more[0] if more else {})
        frames.append(row)
    return pl.DataFrame(
        frames,
        schema_overrides={
            "packet_bytes": pl.Int64,
            "rate_bps": pl.Float64,
            "group": pl.String,
            "finish_s": pl.Float64,
            "slowdown": pl.Float64,
            "size_bytes": pl.Int64,
            "delivered_bytes": pl.Int64,
        },
        infer_schema_length=None,
    )


def rows_of(frame, samples=None, **link):
    rows = group_rows(frame, fair_groups(frame, **LINK | link), samples=samples, **LINK | link)
    return {row["group"]: row for row in rows}


def test_a_share_is_of_the_link_while_the_group_has_something_to_deliver():
    # On from 1 to 3 s and from 6 to 7 s: 3 s, in which the link of 1 MB/s could carry 3 MB.
    frame = records(("a", 1, 3, 10**6, 10**6), ("a", 2, 2.5, 10**5, 10**5), ("a", 6, 7, 400_000, 400_000))
    row = rows_of(frame)["a"]
    assert row["share"] == pytest.approx(1_500_000 / 3e6)
    # Alone it would be served at the full rate whenever it has something.
    assert row["fair_share"] == pytest.approx(1.0)
    assert row["ratio"] == pytest.approx(0.5)
    assert (row["users"], row["flows"], row["unfinished"]) == (3, 3, 0)


def test_an_attacker_with_more_than_its_fair_share_has_a_ratio_above_1():
    frame = records(("attacker", 0, None, ENDLESS, 7_500_000), ("long", 0, None, ENDLESS, 2_500_000))
    rows = rows_of(frame)
    assert rows["attacker"]["share"] == pytest.approx(0.75)
    assert rows["attacker"]["fair_share"] == rows["long"]["fair_share"] == pytest.approx(0.5)
    assert rows["attacker"]["ratio"] == pytest.approx(1.5) and rows["long"]["ratio"] == pytest.approx(0.5)
    assert rows["attacker"]["slowdown"] is None and rows["attacker"]["unfinished"] == 0


def test_headers_and_udp_count_as_on_the_wire():
    udp = {"protocol": "udp", "packet_bytes": 1000, "rate_bps": 4e6}
    frame = records(("a", 0, 10, 4_860_000, 2_430_000, udp | {"packets_sent": 5000, "drops": 2500}))
    row = rows_of(frame)["a"]
    assert row["share"] == pytest.approx(0.25) and row["loss"] == 0.5
    tcp = records(("a", 0, 10, 10**6, 10**6))
    assert rows_of(tcp, mss=1000, header_bytes=100)["a"]["share"] == pytest.approx(1.1e6 / 10e6)


def test_what_goes_up_does_not_count():
    frame = records(("a", 0, 10, 10**6, 10**6), ("a", 0, 5, 10**6, 10**6, {"direction": "up"}))
    assert rows_of(frame)["a"]["flows"] == 1
    assert rows_of(frame.filter(direction="up")) == {}


def test_replications_are_averaged_and_their_worst_stall_counts():
    one = records(("a", 0, None, ENDLESS, 8_000_000), ("b", 0, None, ENDLESS, 1_000_000))
    # The same identities in another group: each replication has a list of its own.
    two = records(("b", 0, None, ENDLESS, 2_000_000), ("a", 0, None, ENDLESS, 6_000_000)).with_columns(
        replication=pl.lit(1, pl.Int64)
    )
    times = {"time_s": [0.0, 1.0, 2.0, 3.0, 10.0]}
    still = {"progress_1_bytes": [0, 5, 5, 5, 9], "progress_2_bytes": [0, 1, 2, 3, 4]}
    samples = pl.concat(
        pl.DataFrame(times | still | {"replication": number, "progress_3_bytes": pl.Series([None] * 5, dtype=pl.Int64)})
        for number in (0, 1)
    )
    rows = rows_of(pl.concat([one, two]), samples)
    assert rows["a"]["share"] == pytest.approx(0.7) and rows["b"]["share"] == pytest.approx(0.15)
    assert rows["a"]["flows"] == 2 and rows["a"]["users"] == 1
    # Flow 0 stands still from 1 to 3 s: it is of a in the first replication, of b in the second.
    assert rows["a"]["longest_stall_s"] == rows["b"]["longest_stall_s"] == 2.0
    first = rows_of(one, samples.filter(replication=0))
    assert first["a"]["longest_stall_s"] == 2.0 and first["b"]["longest_stall_s"] == 0.0


def test_flows_without_a_group_are_a_row_of_their_own():
    frame = records(("z", 0, 10, 100, 100), (None, 0, 10, 100, 100), ("a", 0, 10, 100, 100))
    rows = group_rows(frame, fair_groups(frame, **LINK), **LINK)
    assert [row["group"] for row in rows] == ["a", "z", None]
    assert [row["flows"] for row in rows] == [1, 1, 1]
    json.dumps(rows, allow_nan=False)


def test_records_of_two_disciplines_are_refused():
    frame = records(("a", 0, 10, 100, 100), ("a", 0, 10, 100, 100)).with_columns(discipline=pl.Series(["x", "y"]))
    with pytest.raises(MayflyError, match="records of 2 disciplines: must be of one"):
        group_rows(frame, fair_groups(frame.drop("discipline"), **LINK), **LINK)


def test_a_list_has_groups_when_any_flow_has_one():
    assert has_groups(records((None, 0, 1, 1, 1), ("a", 0, 1, 1, 1)))
    assert not has_groups(records((None, 0, 1, 1, 1)))
    assert not has_groups(pl.DataFrame({"flow_id": [1]}))


def slowdowns(*values):
    return pl.DataFrame(
        {"start_s": 0.0, "protocol": "tcp", "size_bytes": 1000, "slowdown": values},
        schema_overrides={"slowdown": pl.Float64},
    )


def test_a_percentile_is_what_so_many_stay_within():
    values = [float(value) for value in range(1, 101)]
    assert slowdown_percentiles(slowdowns(*reversed(values))) == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert slowdown_percentiles(slowdowns(3.0)) == {"p50": 3.0, "p95": 3.0, "p99": 3.0}


def test_an_unfinished_transfer_is_slower_than_all_others():
    frame = slowdowns(*[1.0] * 96, None, None, None, None)
    assert slowdown_percentiles(frame) == {"p50": 1.0, "p95": 1.0, "p99": None}


def test_udp_endless_and_late_flows_have_no_slowdown():
    frame = pl.DataFrame(
        {
            "start_s": [0.0, 0.0, 9.1, 9.0],
            "protocol": ["udp", "tcp", "tcp", "tcp"],
            "size_bytes": [10, ENDLESS, 10, 10],
            "slowdown": [None, None, None, 2.0],
        }
    )
    assert slowdown_percentiles(frame, end_s=10.0) == {"p50": 2.0, "p95": 2.0, "p99": 2.0}
    assert slowdown_percentiles(frame) == {"p50": 2.0, "p95": None, "p99": None}
    assert slowdown_percentiles(frame.head(2)) is None


@given(st.lists(st.none() | st.floats(1, 1e6), min_size=1, max_size=50))
def test_percentiles_ascend_and_are_slowdowns_that_occurred(values):
    found = slowdown_percentiles(slowdowns(*values))
    ascending = [float("inf") if value is None else value for value in found.values()]
    assert ascending == sorted(ascending)
    assert set(found.values()) <= set(values)


def test_a_split_transfer_ends_with_its_last_connection():
    frame = records(
        ("x", 0, 3, 10, 10),
        ("x", 0, 5, 10, 10),
        ("x", 6, 7, 10, 10),
        ("x", 6, None, 10, 4),
        ("y", 0, 9, 10, 10),
    )
    assert batch_response(frame, "x") == (5.0, 1, 2)
    assert batch_response(frame, "nobody") == (None, 0, 0)
