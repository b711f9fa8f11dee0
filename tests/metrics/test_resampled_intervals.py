"""Intervals from resampled hours."""

import numpy as np
import pytest

from mayfly.metrics.resampling import hour_ci95, with_intervals


def test_no_interval_holds_a_ping_faster_than_on_an_idle_path():
    hours = [{"p95_ms": value} for value in (2.4, 900.0, 2.5, 40.0)]
    found = with_intervals({"idle_ms": 2.0, "p95_ms": 3.0, "p95_ci95": None}, hours)
    assert found["p95_ci95"][0] == 2.0 < 3.0 < found["p95_ci95"][1]
    apart = with_intervals({"idle_ms": 2.0, "p95_ms": 30.0, "p95_ci95": None}, [{"p95_ms": 29.0}, {"p95_ms": 31.0}])
    assert 2.0 < apart["p95_ci95"][0] < 30.0


@pytest.mark.parametrize("hours", [8, 16, 40])
def test_an_interval_covers_as_often_as_it_says(hours):
    """The figure deviates from the true one as the hours deviate from the figure."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(4000):
        figure = rng.standard_normal()
        low, high = hour_ci95(figure, list(figure + rng.standard_normal(hours)), ratio=False)
        held += low <= 0 <= high
    assert held / 4000 == pytest.approx(0.95, abs=0.012)


def test_an_interval_reaches_further_where_hours_deviate_further():
    low, high = hour_ci95(1.0, [0.95, 1.05, 0.9, 1.1, 4.0, 1.02, 0.97, 1.0])
    assert 1 - low < 0.3 and high > 4.0
