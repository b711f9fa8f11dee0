"""The default estimator on ns-2's samples of Zhao 2004, II.C: one setting for all (docs/estimate/why-biased.md)."""

from pathlib import Path

import numpy as np
import pytest

from mayfly.estimate import estimate, read_samples

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
STEADY = ("reno_cbr22", "sack_cbr25")
FILES = (*STEADY, "sack_onoff20")

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="needs the ns-2 samples in ../shared/reference/ns2")


def estimated(name: str, **given):
    samples = read_samples(REFERENCE / f"zhao_red_{name}.csv.gz")
    return estimate(samples, "28mbit", "100ms", from_s=100, **given)


def series(found) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time, estimate and truth from 100 s on."""
    time_s = np.array(found.columns["time_s"])
    counted = time_s > 100
    return time_s[counted], np.array(found.columns["share"])[counted], np.array(found.actual)[counted]


@pytest.mark.parametrize("ticks", [None, 1000], ids=["float", "integer"])
@pytest.mark.parametrize("name", FILES)
def test_the_error_is_within_a_tenth_and_the_mse_within_0_004(name, ticks):
    _, share, truth = series(estimated(name, ticks=ticks))
    assert len(truth) > 320
    assert abs((share - truth).sum() / truth.sum()) <= 0.10
    assert ((share - truth) ** 2).mean() <= 0.004


def test_ten_seconds_after_each_step_the_estimate_is_near_the_truth():
    # 6 of 26 flows go on or off every 20 s. The truth of a single estimation interval has a standard deviation of
    # 0.01, so the mean of the phase is taken for it.
    time_s, share, truth = series(estimated("sack_onoff20"))
    for step in range(100, 300, 20):
        later = (time_s > step + 10) & (time_s <= step + 20)
        assert abs(share[later] - truth[later].mean()).max() < 0.05, step


@pytest.mark.parametrize("name", STEADY)
def test_steady_loads_are_trusted(name):
    found = estimated(name)
    assert all(
        doubt is None for doubt, time in zip(found.columns["doubt"], found.columns["time_s"], strict=True) if time > 100
    )


@pytest.mark.parametrize("name", STEADY)
def test_where_it_starts_does_not_matter(name):
    ends = [series(estimated(name, options={"start_share": start}))[1][-50:] for start in (0.2, 0.8)]
    # A start of weight e²/(e² + 1/12) at a standard error e of 0.025, which is the largest that is trusted.
    assert abs(ends[0] - ends[1]).max() < 0.6 * 0.025**2 / (0.025**2 + 1 / 12)
