"""The queue near a packet as packets to others met it, by what its definition says."""

import numpy as np
import pytest

from mayfly.workload.captured_link import BIN_S, NEAR_S, _Around


def defined(at, taken, of, least, row):
    for width_s in (BIN_S, NEAR_S):
        near = (at >= at[row] - width_s) & (at < at[row] + width_s) & (of != of[row])
        if near.any():
            met = (taken - least[of])[near]
            return max(float(np.median(met[of[near] == one])) for one in np.unique(of[near]))
    return float("nan")


@pytest.mark.parametrize("few", [0, 64, 10**9], ids=["by arrays", "both", "one by one"])
@pytest.mark.parametrize(
    ("packets", "span_s", "addresses"), [(2000, 60, 5), (1500, 4, 9), (800, 3, 300), (400, 500, 3)]
)
def test_it_is_the_largest_median_of_the_nearest_window_to_the_bit(monkeypatch, few, packets, span_s, addresses):
    monkeypatch.setattr(_Around, "FEW", few)
    draw = np.random.default_rng(packets)
    at = np.sort(draw.uniform(0, span_s, packets))
    taken, least = draw.exponential(0.05, packets), draw.uniform(0, 0.02, addresses)
    of = draw.integers(0, addresses, packets)
    rows = draw.integers(0, packets, 100)
    found = _Around(at, taken, of).queues(rows, least)
    assert np.array_equal(found, [defined(at, taken, of, least, row) for row in rows], equal_nan=True)
    assert np.isfinite(found).any()
