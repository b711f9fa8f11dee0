"""The fluid link that shares its rate equally among users."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mayfly.metrics import fair_service
from mayfly.workload.lists import flow_list

MBIT = 1e6


def flows(*rows):
    """Flows of ``(user, start_s, size_bytes, rate_bps or None, group)``."""
    return flow_list(
        pl.DataFrame(
            {
                "start_s": [float(row[1]) for row in rows],
                "src": [2 * row[0] for row in rows],
                "dst": [2 * row[0] + 1 for row in rows],
                "size_bytes": [row[2] for row in rows],
                "protocol": ["tcp" if row[3] is None else "udp" for row in rows],
                "rate_bps": [row[3] for row in rows],
                "packet_bytes": [None if row[3] is None else 1028 for row in rows],
                "group": [row[4] for row in rows],
            },
            schema_overrides={"rate_bps": pl.Float64, "packet_bytes": pl.Int64, "group": pl.String},
        )
    )


def served(frame, rate_bps, end_s):
    table = fair_service(frame, rate_bps, end_s, mss=1000, header_bytes=0)
    return {row["group"]: (row["served_bytes"], row["active_s"]) for row in table.to_dicts()}


def test_a_user_with_many_connections_is_one_user():
    got = served(flows(*[(0, 0, 2**40, None, "many")] * 9, (1, 0, 2**40, None, "one")), 8 * MBIT, 10.0)
    assert got["many"] == got["one"] == (pytest.approx(5e6), pytest.approx(10.0))


def test_what_one_leaves_the_others_share():
    # 1 MB/s: two share until the first has its 100 kB at 0.2 s, then the second gets all; it ends at 0.4 s.
    got = served(flows((0, 0, 100_000, None, "a"), (1, 0, 300_000, None, "b")), 8 * MBIT, 10.0)
    assert got["a"] == (pytest.approx(1e5), pytest.approx(0.2))
    assert got["b"] == (pytest.approx(3e5), pytest.approx(0.4))


def test_a_constant_rate_takes_no_more_than_it_sends_and_no_more_than_a_share():
    modest = served(flows((0, 0, 10_000_000, MBIT, "udp"), (1, 0, 2**40, None, "tcp")), 8 * MBIT, 10.0)
    # 1 Mbit/s of payload and headers: 125 kB/s.
    assert modest["udp"][0] == pytest.approx(1.25e6) and modest["tcp"][0] == pytest.approx(8.75e6)
    greedy = served(flows((0, 0, 100_000_000, 7 * MBIT, "udp"), (1, 0, 2**40, None, "tcp")), 8 * MBIT, 10.0)
    assert greedy["udp"][0] == pytest.approx(5e6) and greedy["tcp"][0] == pytest.approx(5e6)


def test_data_that_wait_behind_a_constant_rate_of_their_own_user():
    # User 0 may have half of 1 MB/s, 125 kB/s of which its constant rate takes for the 8 s that it lasts.
    rows = flows((0, 0, 972_000, MBIT, "mixed"), (0, 0, 750_000, None, "other"), (1, 0, 2**40, None, "tcp"))
    rows = rows.with_columns(group=pl.when(pl.col("group") == "other").then(pl.lit("mixed")).otherwise("group"))
    got = served(rows, 8 * MBIT, 20.0)
    wire = 972_000 + 972 * 28
    assert got["mixed"][0] == pytest.approx(wire + 750_000, rel=1e-6)
    assert got["mixed"][1] == pytest.approx(wire / 125_000, rel=1e-6)
    assert got["tcp"][0] == pytest.approx(20e6 - wire - 750_000, rel=1e-6)


def test_headers_count():
    table = fair_service(flows((0, 0, 14_600, None, "a")), 8 * MBIT, 10.0)
    assert table["served_bytes"].to_list() == [pytest.approx(15_000)]


def test_only_flows_down_and_only_those_in_time_count():
    rows = flows((0, 0, 1000, None, "a"), (1, 0, 1000, None, "up"), (2, 30, 1000, None, "late"))
    rows = rows.with_columns(direction=pl.when(pl.col("group") == "up").then(pl.lit("up")).otherwise("direction"))
    assert set(served(rows, 8 * MBIT, 10.0)) == {"a"}
    assert served(rows.filter(group="up"), 8 * MBIT, 10.0) == {}


def test_flows_without_a_group_are_users_and_come_last():
    table = fair_service(
        flows((0, 0, 2**40, None, None), (1, 0, 2**40, None, "z"), (2, 0, 2**40, None, "a")), MBIT, 1.0
    )
    assert table["group"].to_list() == ["a", "z", None]
    assert table["served_bytes"].to_list() == [pytest.approx(125_000 / 3)] * 3
    assert table.select("users", "flows").rows() == [(1, 1)] * 3


def test_a_sender_that_renews_its_port_is_one_steady_user():
    rows = [(0, 0.08224 * k, 10_000, MBIT, "udp") for k in range(100)]
    got = served(flows(*rows, (1, 0, 2**40, None, "tcp")), 8 * MBIT, 8.224)
    assert got["udp"] == (pytest.approx(100 * 10_280), pytest.approx(8.224))
    assert got["tcp"][0] == pytest.approx(8.224e6 - 1_028_000)


@pytest.mark.parametrize("rate_bps", [1e3, 4e11])
@pytest.mark.parametrize("start_s", [0.0, 6e7])
def test_no_rate_and_no_time_keeps_it_from_ending(rate_bps, start_s):
    rows = flows(*[(user, start_s + user * 1e-6, 10**9 + user, None, "a") for user in range(5)])
    got = served(rows, rate_bps, start_s + 1e3)
    assert got["a"][0] == pytest.approx(min(rate_bps / 8 * 1e3, 5e9 + 10), rel=1e-3)


def small_steps(rows, capacity, end_s, step_s):
    """The same by many small steps: what a step leaves of each backlog, users served equally within a step."""
    frame = rows.with_columns(wire=pl.col("size_bytes") + pl.when(protocol="udp").then(28).otherwise(0) *
                              ((pl.col("size_bytes") + 999) // 1000))  # fmt: skip
    users = sorted(set(frame["src"]))
    backlog, got = dict.fromkeys(users, 0.0), dict.fromkeys(users, 0.0)
    flows_of = frame.to_dicts()
    for number in range(round(end_s / step_s)):
        now = (number + 0.5) * step_s
        rate = dict.fromkeys(users, 0.0)
        for flow in flows_of:
            if flow["protocol"] == "tcp":
                if number * step_s <= flow["start_s"] < (number + 1) * step_s:
                    backlog[flow["src"]] += flow["wire"]
            elif flow["start_s"] <= now < flow["start_s"] + flow["wire"] * 8 / flow["rate_bps"]:
                rate[flow["src"]] += flow["rate_bps"] / 8
        left = {user: backlog[user] / step_s + rate[user] for user in users}
        share, todo = {}, [user for user in users if left[user] > 0]
        rest = capacity
        for place, user in enumerate(sorted(todo, key=left.get)):
            share[user] = min(left[user], rest / (len(todo) - place))
            rest -= share[user]
        for user, given_rate in share.items():
            got[user] += given_rate * step_s
            backlog[user] -= max(given_rate - rate[user], 0.0) * step_s
    return got


row = st.tuples(
    st.integers(0, 3),
    st.integers(0, 40).map(lambda tenth: tenth / 10),
    st.integers(1, 400).map(lambda kb: kb * 1000),
    st.none() | st.sampled_from([MBIT / 2, 2 * MBIT, 6 * MBIT]),
)


@settings(max_examples=40)
@given(st.lists(row, min_size=1, max_size=12))
def test_small_steps_come_to_the_same(rows):
    frame = flows(*[(*given_row, f"user {given_row[0]}") for given_row in rows])
    exact = served(frame, 4 * MBIT, 5.0)
    stepped = small_steps(frame, MBIT / 2, 5.0, 0.005)
    for user, got in stepped.items():
        # Within a step a user who starts, stops or ends is served up to a step too long or too short.
        assert exact[f"user {user // 2}"][0] == pytest.approx(got, abs=0.005 * MBIT / 2 * (2 * len(rows) + 2))
    assert sum(total for total, _ in exact.values()) <= 5.0 * MBIT / 2 * (1 + 1e-9)
    assert all(np.isfinite(value) and value >= 0 for pair in exact.values() for value in pair)
