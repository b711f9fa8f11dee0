"""Shares of sampled and of misclassified flows against the binomial law, a simulated lottery and printed numbers."""

import numpy as np
import pytest
from scipy.stats import binom

from mayfly.errors import MayflyError
from mayfly.models.sampling import misclassified, sampling_probability
from mayfly.workload.sizes import BoundedPareto, BoundedZipf, Deterministic, Exponential

PRINTED_LAW = BoundedZipf(1, 10**6, 1.1)
"""Chen 2012, 3.2: bounded Pareto, smallest 1, largest 10^6, shape 1.1, in whole packets."""


@pytest.mark.parametrize("samples", [1, 2, 7, 50])
@pytest.mark.parametrize("p", [0.0, 0.002, 0.02, 0.2, 0.999, 1.0])
def test_equation_3_1_is_the_tail_of_the_binomial_law(samples, p):
    packets = np.array([0, 1, 2, 6, 7, 8, 49, 50, 51, 300, 10**6])
    expected = binom.sf(samples - 1, packets, p)
    np.testing.assert_allclose(sampling_probability(packets, p, samples), expected, rtol=1e-9, atol=0)


def test_equation_3_1_as_a_sum_where_the_sum_is_exact():
    assert sampling_probability(4, 0.5, 2) == pytest.approx(1 - (1 + 4) / 16, rel=1e-12)
    assert sampling_probability(10, 0.1) == pytest.approx(1 - 0.9**10, rel=1e-12)


def test_small_probabilities_keep_their_digits():
    assert sampling_probability(1000, 1e-20) == pytest.approx(1e-17, rel=1e-12)


def test_sizes_and_probabilities_are_broadcast():
    shares = sampling_probability(np.array([[1], [10]]), np.array([0.02, 0.2, 1.0]))
    assert shares.shape == (2, 3)
    assert (np.diff(shares, axis=1) > 0).all() and (np.diff(shares[:, :2], axis=0) > 0).all()


def test_more_samples_at_the_same_mean_separate_flows_better():
    wrong = [misclassified(PRINTED_LAW, 50, samples).total for samples in (1, 2, 5, 10, 25, 50)]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[-1] == 0, "p = 1 is the strict threshold of Run2C"


def test_the_printed_share_of_misclassified_flows():
    wrong = misclassified(PRINTED_LAW, 100)
    assert round(wrong.total, 3) == 0.026
    assert wrong.short_as_long == pytest.approx(0.0256, abs=5e-5)
    assert wrong.long_as_short == pytest.approx(0.0006, abs=5e-5)
    assert misclassified(BoundedPareto(1, 10**6, 1.1), 100).total == pytest.approx(0.044, abs=5e-4)


def test_shares_agree_with_a_lottery():
    rng = np.random.default_rng(1)
    flows = 400_000
    sizes = BoundedZipf(1, 1000, 0.6).sample(rng, flows)
    sampled = rng.binomial(sizes, 0.05) >= 2
    wrong = misclassified(BoundedZipf(1, 1000, 0.6), 30, samples=2, probability=0.05)
    for share, found in (
        (wrong.short_as_long, (sampled & (sizes < 30)).mean()),
        (wrong.long_as_short, (~sampled & (sizes >= 30)).mean()),
    ):
        assert found == pytest.approx(share, abs=4 * (share * (1 - share) / flows) ** 0.5)


def test_a_flow_of_the_threshold_is_long():
    assert misclassified(Deterministic(9), 10, probability=1.0).short_as_long == 1
    assert misclassified(Deterministic(10), 10, probability=1.0).total == 0
    assert misclassified(Deterministic(10), 10, probability=0.0).long_as_short == 1


def test_shares_by_size_stand_for_a_law():
    law = BoundedZipf(1, 500, 1.1)
    share = np.diff(law.cdf(np.arange(501)))
    assert misclassified(share, 20).total == pytest.approx(misclassified(law, 20).total, rel=1e-12)


def test_laws_without_an_end_are_summed_to_where_nothing_is_left():
    share = np.diff(-np.expm1(-np.arange(3001) / 50))
    assert misclassified(Exponential(50), 40).total == pytest.approx(misclassified(share, 40).total, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling_probability([1, -1], 0.1), "packets = -1.0: must be whole numbers from 0"),
        (lambda: sampling_probability([1, 1.5], 0.1), "packets = 1.5: must be whole numbers from 0"),
        (lambda: sampling_probability(1, [0.1, 1.1]), "probability = 1.1: must be from 0 to 1"),
        (lambda: sampling_probability(1, float("nan")), "probability = nan: must be from 0 to 1"),
        (lambda: sampling_probability(1, 0.1, 0), "samples = 0: must be a whole number from 1"),
        (lambda: sampling_probability(1, 0.1, 1.5), "samples = 1.5: must be a whole number from 1"),
        (lambda: misclassified(PRINTED_LAW, 0.5), "threshold = 0.5: must be at least 1 packet"),
        (lambda: misclassified(PRINTED_LAW, 5, 6), "samples = 6: must be at most threshold, 5 packets"),
        (lambda: misclassified([0.5, 0.4], 2), "sum of shares = 0.9: must be 1"),
        (lambda: misclassified([1.5, -0.5], 2), "share of flows = -0.5: must be at least 0"),
        (lambda: misclassified([[1.0]], 2), r"shape of sizes = (1, 1): must be (n_sizes,), one share for each"),
        (lambda: misclassified([], 2), r"shape of sizes = (0,): must be (n_sizes,), one share for each"),
        (lambda: misclassified(Exponential(1e7), 2), "must be at most 10000000 packets"),
    ],
)
def test_bad_input_is_refused_with_its_value_and_bound(call, message):
    with pytest.raises(MayflyError) as refused:
        call()
    assert message in str(refused.value)
