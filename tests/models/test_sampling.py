"""Shares of sampled and of misclassified flows against the binomial law, a simulated lottery and printed numbers."""

import json

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.laws.sizes import BoundedPareto, BoundedZipf, Deterministic, Exponential
from mayfly.models.sampling.curves import curves
from mayfly.models.sampling.sampling import misclassified, packets_until_sampled, sampling_probability

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


def test_packets_until_sampled_are_those_of_a_lottery():
    rng = np.random.default_rng(3)
    for p, samples in [(0.02, 1), (0.1, 5), (1.0, 7)]:
        drawn = samples + rng.negative_binomial(samples, p, 200_000)
        error = 4 * drawn.std() / drawn.size**0.5
        assert float(packets_until_sampled(p, samples)) == pytest.approx(drawn.mean(), abs=error + 1e-12)
    assert np.isinf(packets_until_sampled(0.0))


def test_curves_of_figures_3_1_and_3_2():
    first = curves([1, 10, 49, 50, 200], [0.002, 0.02, 0.2])
    for curve in first.lotteries:
        np.testing.assert_allclose(curve.sampled, 1 - (1 - curve.probability) ** first.at, rtol=1e-12)
    second = curves([10, 100], samples=(1, 5, 50), threshold=50)
    assert [curve.probability for curve in second.lotteries] == [0.02, 0.1, 1.0]
    assert all(curve.packets_until_sampled == 50 for curve in second.lotteries)
    # The more samples, the better the two sides are parted (Chen 2012, Fig. 3.2).
    assert (np.diff([curve.sampled[1] - curve.sampled[0] for curve in second.lotteries]) > 0).all()


def test_the_command_tells_the_printed_share(invoke):
    document = invoke("sampling", "--threshold", "100", "--law", "zipf:min=1,max=1e6,alpha=1.1", "--json")
    (lottery,) = json.loads(document)["lotteries"]
    assert lottery["p"] == 0.01 and lottery["packets_until_sampled"] == 100
    assert round(lottery["misclassified"]["total"], 3) == 0.026
    assert "2.56% of the flows are short and sampled, 0.06% long" in invoke(
        "sampling", "--threshold", "100", "--law", "zipf:min=1,max=1e6,alpha=1.1"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "threshold: must be given where p is not"),
        (["--p", "0.1", "--law", "exponential:mean=5"], "threshold: must be given"),
        (["--p", "2"], "probability = 2.0: must be from 0 to 1"),
        (["--p", "0.1", "--at", "1.5"], "packets = 1.5: must be whole numbers from 0"),
        (["--p", "0.1", "--ts", "0"], "samples = 0.0: must be a whole number from 1"),
        (["--threshold", "5", "--ts", "6"], "ts = 6: must be at most threshold, 5 packets"),
        (["--p", "x"], "p = x: must be numbers parted by commas"),
    ],
)
def test_the_command_refuses_in_one_line(words, message):
    result = CliRunner().invoke(app, ["model", "sampling", *words])
    assert isinstance(result.exception, MayflyError) and message in str(result.exception)


@pytest.fixture
def invoke():
    def run(*words: str) -> str:
        result = CliRunner().invoke(app, ["model", *words], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return result.stdout

    return run
