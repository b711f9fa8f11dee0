"""Intervals from resampled hours."""

from mayfly.metrics.resampling import with_intervals


def test_no_interval_holds_a_ping_faster_than_on_an_idle_path():
    hours = [{"p95_ms": value} for value in (2.4, 900.0, 2.5, 40.0)]
    found = with_intervals({"idle_ms": 2.0, "p95_ms": 3.0, "p95_ci95": None}, hours)
    assert found["p95_ci95"][0] == 2.0 < 3.0 < found["p95_ci95"][1]
    apart = with_intervals({"idle_ms": 2.0, "p95_ms": 30.0, "p95_ci95": None}, [{"p95_ms": 29.0}, {"p95_ms": 31.0}])
    assert 2.0 < apart["p95_ci95"][0] < 30.0
