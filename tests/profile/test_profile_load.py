"""Load in bins, stationary and busy periods."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import SILENT, frame, row
from scipy import special

from mayfly.errors import MayflyError
from mayfly.profile.classes import classified
from mayfly.profile.load import across_bins, load_by_class, spread, totals
from mayfly.profile.periods import SHORTEST, bridge_tail, kpss, periods_of
from mayfly.workload.sides import sides_of


def table(rows):
    made = frame(rows)
    return classified(made, sides_of(made, ["10.0.0.0/8"]), {"10.0.0.1": "client", "10.0.0.8": "server"})


def test_bytes_are_spread_over_the_time_of_each_direction():
    rows = [
        row("10.0.0.1", "9.9.9.9", 0.0, 20.0, up={"wire_bytes": 100, "packets": 4, "last_s": 10.0}, down=SILENT),
        row("10.0.0.1", "10.0.0.8", 12.0, 12.0, up={"wire_bytes": 7, "packets": 1}, down=SILENT),
    ]
    load = load_by_class(table(rows), 20.0, 5.0)
    assert load.filter(load["class"] == "lc-rp")["bytes"].to_list() == [50, 50, 0, 0]
    assert load.filter(load["class"] == "lc-ls")["packets"].to_list() == [0, 0, 1, 0]
    assert totals(load, "class")["all"].tolist() == [80.0, 80.0, 11.2, 0.0]
    assert totals(load, "side")["internal"].tolist() == [0.0, 0.0, 11.2, 0.0]


def test_the_last_bin_counts_for_what_the_capture_covers_of_it():
    load = load_by_class(table([row("10.0.0.1", "9.9.9.9", 0.0, 6.0, up={"first_s": 5.5})]), 6.0, 5.0)
    assert load["covered_s"].to_list() == [5.0, 1.0]


def test_times_before_the_first_packet_of_the_file_have_bins():
    load = load_by_class(table([row("10.0.0.1", "9.9.9.9", -3.0, 1.0)]), 4.0, 2.0)
    assert load["start_s"].to_list() == [-3.0, -1.0] and load["bytes"].to_list() == [1000, 1000]


def test_what_a_bin_can_be_wrong_by():
    rows = [
        row("10.0.0.1", "9.9.9.9", 1.0, 2.0, up={"wire_bytes": 300}, down={"wire_bytes": 0}),
        row("10.0.0.1", "9.9.9.9", 4.0, 6.0, up={"wire_bytes": 100}, down={"wire_bytes": 0}),
    ]
    assert across_bins(frame(rows), 5.0) == 0.25
    assert across_bins(frame(rows), 10.0) == 0.0


@given(
    st.lists(
        st.tuples(st.floats(0, 50), st.floats(0, 50), st.integers(0, 10**12)),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 60),
)
@settings(max_examples=200)
def test_no_byte_is_lost_or_made(spans, bins):
    first = np.array([min(a, b) for a, b, _ in spans])
    last = np.array([max(a, b) for a, b, _ in spans])
    amounts = np.array([amount for *_, amount in spans])
    found = spread(first, last, amounts, bins)
    assert found.sum() == amounts.sum() and (found >= 0).all()


def test_a_bin_is_wrong_by_less_than_a_byte_for_each_direction():
    found = spread(np.array([0.3]), np.array([7.9]), np.array([1000]), 8)
    exact = 1000 * np.diff(np.clip((np.arange(9) - 0.3) / 7.6, 0, 1))
    assert np.abs(found - exact).max() < 1


@pytest.mark.parametrize("bin_s", [0.0, -1.0, math.nan, math.inf])
def test_widths_that_are_none_are_refused(bin_s):
    with pytest.raises(MayflyError, match="must be above 0"):
        load_by_class(table([row("10.0.0.1", "9.9.9.9")]), 1.0, bin_s)


def test_too_many_bins_are_refused():
    with pytest.raises(MayflyError, match=r"bin = 1e-06 s: must be at least 5e-06 s"):
        load_by_class(table([row("10.0.0.1", "9.9.9.9")]), 1.0, 1e-6)


def test_the_tail_is_that_of_the_table_of_kwiatkowski():
    """Table 1 there: 0.347, 0.463, 0.574, 0.739 at 10, 5, 2.5 and 1 %, from 50,000 paths of 2000 steps.

    Their own sampling error is sqrt(p (1 - p) / 50000); a path of 2000 steps adds a bias of the order of 1 / 2000.
    """
    for x, p in ((0.347, 0.1), (0.463, 0.05), (0.574, 0.025), (0.739, 0.01)):
        assert abs(bridge_tail(x) - p) < 3 * math.sqrt(p * (1 - p) / 50_000) + 1 / 2000


def test_the_tail_is_that_of_bridges():
    """Sums of squares of Karhunen-Loeve: sum of Z_k^2 / (k pi)^2, what is left out replaced by its mean."""
    rng = np.random.default_rng(5)
    squares = rng.standard_normal((100_000, 40)) ** 2 @ (1 / (np.arange(1, 41) * np.pi) ** 2)
    squares += 1 / 6 - (1 / (np.arange(1, 41) * np.pi) ** 2).sum()
    for x in (0.05, 0.12, 0.3, 0.6):
        p = bridge_tail(x)
        # Four standard errors, and what the mean in place of the rest of the sum can do.
        assert abs((squares > x).mean() - p) < 4 * math.sqrt(p * (1 - p) / 100_000) + 1e-3


@given(st.floats(1e-4, 1e3))
def test_the_tail_is_the_series_with_the_functions_of_scipy(x):
    terms = np.arange(40)
    steps = 4 * terms + 1
    u = steps**2 / (16 * x)
    weights = np.exp(special.gammaln(terms + 0.5) - special.gammaln(terms + 1) - 2 * u)
    total = (weights * np.sqrt(steps) * special.kve(0.25, u)).sum()
    expected = min(max(1 - total / (math.pi**1.5 * math.sqrt(x)), 0.0), 1.0)
    assert abs(bridge_tail(x) - expected) < 1e-14


def test_one_constant_load_in_twenty_is_cut():
    rng = np.random.default_rng(2)
    runs = 2000
    rejected = sum(kpss(rng.exponential(1.0, 288))[1] < 0.05 for _ in range(runs))
    # The lag window costs a little level at 288 bins: below 5 % by at most 1 %.
    noise = 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.04 - noise < rejected / runs < 0.05 + noise


@pytest.mark.slow
def test_loads_whose_bins_hang_together_are_cut_more_often():
    """The shares that docs/profile.md tells, within four standard errors of 1000 series."""
    rng = np.random.default_rng(1)
    lags = np.arange(288)
    powers = [np.abs(lags + step) ** 1.4 for step in (1, 0, -1)]
    covariance = (powers[0] - 2 * powers[1] + powers[2]) / 2
    root = np.linalg.cholesky(covariance[np.abs(lags[:, None] - lags)])

    def autoregressive(coefficient):
        noise = rng.normal(size=388)
        for place in range(1, 388):
            noise[place] += coefficient * noise[place - 1]
        return noise[100:]

    told = {
        0.09: lambda: autoregressive(0.5),
        0.24: lambda: autoregressive(0.8),
        0.30: lambda: root @ rng.normal(size=288),
    }
    for share, draw in told.items():
        found = np.mean([kpss(draw())[1] < 0.05 for _ in range(1000)])
        assert abs(found - share) < 4 * math.sqrt(share * (1 - share) / 1000) + 0.005


def test_a_working_day_is_found():
    rng = np.random.default_rng(3)
    night, day = 5.0, 50.0
    load = np.concatenate([rng.gamma(20, night / 20, 96), rng.gamma(20, day / 20, 144), rng.gamma(20, night / 20, 48)])
    found = periods_of(load)
    assert found[0].begin == 0 and found[-1].end == 288
    assert all(one.end == other.begin for one, other in pairwise(found))
    busy = np.zeros(288, dtype=bool)
    for period in found:
        busy[period.begin : period.end] = period.busy
    assert busy[98:238].all() and not busy[:94].any() and not busy[242:].any()


def test_a_trickle_beside_nothing_is_not_busy():
    rng = np.random.default_rng(4)
    found = periods_of(np.concatenate([rng.normal(1000, 10, 40), rng.normal(5, 1, 40), np.zeros(120)]))
    assert [(period.begin, period.busy) for period in found if period.begin in (0, 40)] == [(0, True), (40, False)]


def test_short_and_constant_loads():
    assert periods_of([]) == []
    (short,) = periods_of([1.0, 2.0, 3.0])
    assert short.stationary is None and not short.busy
    (flat,) = periods_of([2.0] * 50)
    assert flat.stationary is True and flat.p is None
    (steep,) = periods_of(np.arange(2.0 * SHORTEST - 1))
    assert steep.end == 2 * SHORTEST - 1 and steep.stationary in (True, False)
