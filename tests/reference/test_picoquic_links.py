"""QUIC beside the bounds that picoquic's tests assert: the rows of benchmarks/picoquic_links.py."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
QUICK = ("cubic_test", "bbr_test", "bbr1_test", "l4s_prague_test", "high_latency_basic_test", "bbr_performance_test")


@pytest.fixture(scope="module")
def links():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("picoquic_links", BENCHMARKS / "picoquic_links.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["picoquic_links"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


@pytest.mark.parametrize("test", QUICK)
def test_quick_rows_are_complete_within_the_bound_and_not_before_their_bytes_are_through(links, test):
    (row,) = (row for row in links.rows() if row["test"] == test)
    found = links.outcome(row)
    assert found.least_s <= found.took_s <= found.bound_s


@pytest.mark.slow
def test_every_row_outside_has_a_reason_and_none_inside_has(links):
    found = [links.outcome(row) for row in links.rows()]
    assert len(found) >= 35
    outside = {one.test for one in found if not one.is_inside and one.bound_s >= one.doubling_s}
    assert outside == set(links.REASONS)
    # Nothing comes sooner than a window that doubles lets it.
    assert all(one.took_s >= max(one.least_s, one.doubling_s) for one in found)
