"""A run in windows beside the whole run."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.metrics.size_classes import completed_tcp
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.windows import run_window, run_windows, windows_of

WINDOWS, OVERLAP_S = 8, 40.0


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("wired", {"duration": "2000s", "workload.up_share": 0.1})


@pytest.mark.parametrize("discipline", ["fifo", "las"])
def test_windows_have_the_means_of_the_whole_run_to_what_the_cut_costs(scenario, discipline):
    whole = compare(scenario, discipline).records.filter(completed_tcp())
    found = run_windows(scenario, parse(discipline), WINDOWS, OVERLAP_S, workers=1)
    lost = whole.height - found["all"]["flows"]
    # Flows that outlast the window of their start by an overlap are all that is missing.
    assert 0 <= lost <= found["flows_crossing"] < whole.height / 500
    seam = found["seam"]
    assert seam["flows"] > 1000
    for part in [found["all"] | {"from_packets": 1, "below_packets": 10**9}, *found["by_size"]]:
        own = whole.filter(pl.col("size_packets").is_between(part["from_packets"], part["below_packets"] - 1))
        exact = own["response_time_s"].mean()
        assert part["flows"] == own.height
        # What the fluid twin leaves is less than what it took away, and nothing to speak of where the cut did nothing.
        left, before = (abs(part[name] - exact) for name in ("mean_s", "windows_mean_s"))
        assert left <= abs(part["correction_s"]) + 1e-3 * exact, part
        assert left <= 0.5 * before + 1e-3 * exact or part["flows"] < 1000, part
        assert part["ci95"][0] < exact < part["ci95"][1]
    if discipline == "fifo":
        # There the cut is felt, and corrected.
        assert abs(found["all"]["windows_mean_s"] / whole["response_time_s"].mean() - 1) > 0.01


def test_flows_of_a_window_that_begins_at_the_start_are_those_of_the_run(scenario):
    first, *_ = windows_of(scenario, WINDOWS, OVERLAP_S)
    found = run_window(scenario, parse("las"), first)
    whole = compare(scenario, "las").records.filter(completed_tcp() & (pl.col("finish_s") <= first.end_s))
    own = whole.filter(pl.col("start_s") < first.until_s)
    assert found.flows[-1] == own.height
    assert found.seconds[-1] == pytest.approx(own["response_time_s"].sum(), rel=1e-9)


def test_windows_that_cannot_be_are_refused(scenario):
    with pytest.raises(MayflyError, match="windows = 2: must be from 4"):
        windows_of(scenario, 2, 10.0)
    with pytest.raises(MayflyError, match="overlap = 900 s: must be above 0 and at most a window, 250 s"):
        windows_of(scenario, 8, 900.0)
    with pytest.raises(MayflyError, match="exact_load = true"):
        windows_of(load_scenario("wired", {"workload.exact_load": True}), 8, 10.0)
