"""`estmred` in the simulator: RED in every record, and the estimates of `mayfly estimate`."""

import numpy as np
import pytest

import mayfly
from mayfly.estimate import Samples, estimate

RED = "min_th=15,max_th=45,spacing=wait,mark_max=0.1"


@pytest.fixture(scope="module")
def runs():
    changed = {"duration": "60s", "warm_up": "0s", "sample_interval": "33ms", "replications": 1}
    scenario = mayfly.load_scenario("red-ns2", changed)
    own = f"estmred({RED},rate=28e6,rtt=0.1,method=p0,ticks=0)"
    return {name: mayfly.run(scenario, label) for name, label in (("red", f"red({RED})"), ("estmred", own))}


def test_every_record_is_that_of_red(runs):
    red, own = (runs[name].records.drop("discipline") for name in ("red", "estmred"))
    assert red.equals(own)


def test_samples_and_summary_tell_the_estimates(runs):
    samples, row = runs["estmred"].samples, runs["estmred"].summary["disciplines"][0]["nonresponsive"]
    known = samples.filter(samples["nonresponsive_estimate"].is_not_null())
    assert known["nonresponsive_estimate"].is_between(0, 1).all()
    assert row["last"] == known["nonresponsive_estimate"][-1]
    assert row["estimate"] == pytest.approx(known["nonresponsive_estimate"].mean())
    assert row["actual"] == pytest.approx(known["nonresponsive_arrivals"].sum() / known["arrivals"].sum())
    assert row["doubtful"] == known["nonresponsive_doubt"].is_not_null().mean()


def test_red_has_no_estimates(runs):
    assert runs["red"].samples["nonresponsive_estimate"].is_null().all()
    assert "nonresponsive" not in runs["red"].summary["disciplines"][0]


def test_the_same_estimator_on_the_samples_tells_the_same(runs):
    # Intervals of 33 ms and of 33.3 ms see one queue, not the same bits: no further apart on average than the estimates
    # of neighbouring intervals are.
    table = runs["estmred"].samples
    columns = (table[name].to_numpy().astype(float) for name in ("time_s", "queue_mean_packets", "arrivals", "drops"))
    found = estimate(Samples(*columns), "28mbit", "100ms", method="p0")
    ends, shares = np.array(found.columns["time_s"]), np.array(found.columns["share"])
    online = np.interp(ends, table["time_s"], table["nonresponsive_estimate"].fill_null(np.nan))
    known = np.isfinite(online)
    steps = np.abs(np.diff(shares))
    assert known.sum() > 60
    assert abs(np.mean(online[known] - shares[known])) < steps.mean()
