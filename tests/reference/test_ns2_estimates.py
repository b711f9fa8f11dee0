"""The estimator on samples of ns-2.35: what they hold, and integers against floating point."""

from pathlib import Path

import numpy as np
import pytest

from mayfly.estimate import estimate, read_samples

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
FILES = ("reno_cbr22", "sack_cbr25", "sack_onoff20")

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="needs the ns-2 results in ../shared/reference/ns2")


def samples_of(name):
    return read_samples(REFERENCE / f"zhao_red_{name}.csv.gz")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("method", ["basic", "p0", "loss", "multihop", "cbr"])
def test_integers_stay_within_their_rounding(name, method):
    """R_0 = 0.1 s counts twice, p = 0.02 by its root; each is rounded by half of 2^-14."""
    bound = 2 * 2**-15 / 0.1 + 2**-15 / 0.02 / 2
    shares = [
        np.array(estimate(samples_of(name), "28mbit", "100ms", method=method, ticks=ticks).columns["share"])
        for ticks in (None, 1000)
    ]
    assert abs(shares[0] - shares[1]).max() < bound


@pytest.mark.parametrize("name", FILES)
def test_the_published_form_says_that_it_cannot_be_relied_on(name):
    """docs/estimate/methods.md: with p around 3 % the start fades in hundreds of seconds."""
    found = [
        estimate(samples_of(name), "28mbit", "100ms", method="p0", options={"start": 100, "start_share": start})
        for start in (0.3, 0.9)
    ]
    first, last = (abs(found[0].columns["share"][i] - found[1].columns["share"][i]) for i in (2, -1))
    assert last > 0.1 * first, "a tenth of the start is left, or more"
    assert all(word is not None for run in found for word in run.columns["doubt"])
