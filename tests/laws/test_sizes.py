import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.laws.sizes import BoundedPareto, BoundedZipf, Deterministic, Exponential, wired
from mayfly.workload.arrivals import stream


def brute(law):
    """Sizes and probabilities of a Zipf law, summed without error."""
    sizes = np.arange(law.minimum, law.maximum + 1)
    weights = (sizes / law.minimum) ** -(law.exponent + 1.0)
    return sizes, weights / math.fsum(weights)


@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ({"minimum": 6, "maximum": 6849, "mean": 40}, (6, 6849, 0.9935, 40.0, 4.84)),
        ({"minimum": 6, "mean": 40, "cov": 6}, (6, 12121, 1.0213, 40.0, 6.0)),
        ({"maximum": 6849, "mean": 40, "cov": 4.84}, (6, 6849, 0.9935, 40.0, 4.84)),
        ({"maximum": 12121, "mean": 40, "cov": 6}, (6, 12121, 1.0213, 40.0, 6.0)),
    ],
)
def test_the_laws_of_the_thesis_are_solved(given_values, expected):
    # shared/papers/README.md, first bullet, to the digits printed there.
    minimum, maximum, exponent, mean, cov = expected
    law = BoundedZipf.solve(**given_values)
    assert (law.minimum, law.maximum) == (minimum, maximum)
    assert round(law.exponent, 4) == exponent
    assert law.mean() == pytest.approx(mean, abs=1e-9)
    assert round(law.cov(), 2) == cov


def test_the_maximum_solved_for_is_the_smallest_that_reaches_the_cov():
    assert wired().cov() >= 6 > BoundedZipf.solve(minimum=6, maximum=12120, mean=40).cov()


@pytest.mark.parametrize(
    ("law", "values", "told"),
    [
        (
            BoundedZipf,
            {"minimum": 6, "maximum": 6849, "mean": 40, "cov": 6},
            "cov = 6: at minimum 6, maximum 6849, mean 40 the coefficient of variation is 4.84",
        ),
        (
            BoundedZipf,
            {"minimum": 6, "mean": 7, "cov": 6},
            "cov = 6: at minimum 6, mean 7 must be from 0.116642 to 0.260",
        ),
        (BoundedZipf, {"minimum": 6, "mean": 40, "cov": 0.1}, "cov = 0.1: at minimum 6, mean 40 must be from 0.4979"),
        (BoundedZipf, {"minimum": 6, "maximum": 100, "cov": 50}, "maximum 100 must be at most 0.9646"),
        (
            BoundedZipf,
            {"minimum": 6, "maximum": 100, "mean": 99},
            "mean = 99: at minimum 6, maximum 100 must be from 6 to 53",
        ),
        (
            BoundedZipf,
            {"maximum": 6849, "mean": 40, "cov": 5},
            "cov = 5: at maximum 6849, mean 40 the nearest, minimum 6 gives",
        ),
        (BoundedZipf, {"minimum": 6.5, "maximum": 100, "mean": 40}, "minimum = 6.5: must be a whole number"),
        (BoundedZipf, {"minimum": 6, "mean": 9e6, "cov": 2}, "mean = 9000000.0: at minimum 6 must be below"),
        (
            BoundedZipf,
            {"maximum": 100, "mean": 1.0001, "cov": 2},
            "mean = 1.0001: at maximum 100 must be from 1.0011 to",
        ),
        (
            BoundedPareto,
            {"maximum": 1000, "mean": 900, "cov": 3},
            "cov = 3: at maximum 1000, mean 900 must be from 0.0011",
        ),
        (
            BoundedPareto,
            {"maximum": 1000, "mean": 999.9, "cov": 3},
            "mean = 999.9: at maximum 1000 must be from 0 to 998.9",
        ),
        (BoundedPareto, {"minimum": 6, "maximum": 12121, "cov": 6}, "maximum 12121 must be at most 5.817"),
        (BoundedPareto, {"minimum": 6, "mean": 40}, "given minimum, mean: must be three of"),
        (BoundedPareto, {}, "given nothing: must be three of"),
        (BoundedPareto, {"minimum": 40, "mean": 6, "cov": 2}, "mean = 6: must be above minimum = 40"),
        (BoundedPareto, {"minimum": 6, "maximum": 1e9, "mean": 40}, "maximum = 1000000000.0: must be at most 10000000"),
        (BoundedPareto, {"minimum": math.nan, "maximum": 9, "mean": 4}, "minimum = nan: must be above 0 and finite"),
        (BoundedPareto, {"minimum": 1, "maximum": math.inf, "mean": 4}, "maximum = inf: must be above 0 and finite"),
        (BoundedPareto, {"minimum": 1, "maximum": 9, "cov": -1}, "cov = -1: must be above 0 and finite"),
    ],
)
def test_what_cannot_hold_is_refused_with_value_and_bound(law, values, told):
    with pytest.raises(MayflyError) as caught:
        law.solve(**values)
    assert told in str(caught.value)


@pytest.mark.parametrize("law", [BoundedZipf, BoundedPareto])
@pytest.mark.parametrize(
    "values", [(0, 5, 1), (6, 5, 1), (1, 10**7 + 1, 1), (1, 5, -1.5), (1, 5, math.nan), (math.nan, 5, 1)]
)
def test_bad_parameters_are_refused(law, values):
    with pytest.raises(MayflyError, match=r"must be"):
        law(*values)


@pytest.mark.parametrize("law", [lambda: Deterministic(0), lambda: Deterministic(1.5), lambda: Exponential(0.0)])
def test_bad_parameters_of_the_plain_laws_are_refused(law):
    with pytest.raises(MayflyError, match=r"must be"):
        law()


heavy = st.tuples(st.integers(1, 50), st.integers(10, 1000), st.floats(0.2, 1.8)).map(
    lambda drawn: (drawn[0], drawn[0] * drawn[1], drawn[2])
)


@settings(max_examples=60)
@given(
    values=heavy,
    missing=st.sampled_from(["minimum", "maximum", "cov"]),
    kind=st.sampled_from([BoundedZipf, BoundedPareto]),
)
def test_a_law_is_solved_from_its_own_description(values, missing, kind):
    law = kind(*values)
    described = {"minimum": law.minimum, "maximum": law.maximum, "mean": law.mean(), "cov": law.cov()}
    del described[missing]
    found = kind.solve(**described)
    assert found.minimum == pytest.approx(law.minimum, rel=1e-5)
    assert found.maximum == pytest.approx(law.maximum, rel=1e-5)
    assert found.exponent == pytest.approx(law.exponent, abs=1e-5)


@settings(max_examples=60)
@given(values=heavy, kind=st.sampled_from([BoundedZipf, BoundedPareto]))
def test_of_two_laws_with_that_cov_the_larger_mean_is_found(values, kind):
    law = kind(*values)
    # Near the uniform law only the steeper of the two exists.
    assume(law.cov() > kind(law.minimum, law.maximum, -1).cov())
    found = kind.solve(minimum=law.minimum, maximum=law.maximum, cov=law.cov())
    assert found.cov() == pytest.approx(law.cov(), rel=1e-6)
    assert found.mean() >= law.mean() * (1 - 1e-3)


@settings(max_examples=60)
@given(minimum=st.integers(1, 100), span=st.integers(0, 5000), exponent=st.floats(-1, 40))
def test_moments_are_those_of_the_summed_law(minimum, span, exponent):
    law = BoundedZipf(minimum, minimum + span, exponent)
    sizes, weights = brute(law)
    mean = math.fsum(sizes * weights)
    variance = math.fsum((sizes - mean) ** 2 * weights)
    assert law.mean() == pytest.approx(mean, rel=1e-11)
    # The variance comes as a difference of moments: its rounding is relative to the square of the mean.
    assert (law.cov() * mean) ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-12 * mean**2)


@settings(max_examples=60)
@given(values=heavy, p=st.floats(0, 1))
def test_a_quantile_is_the_first_size_to_reach_p(values, p):
    law = BoundedZipf(*values)
    size = int(law.quantile(p))
    assert law.cdf(size) >= p
    assert size == law.minimum or law.cdf(size - 1) < p
    sizes, weights = brute(law)
    assert float(law.cdf(size)) == pytest.approx(math.fsum(weights[sizes <= size]), abs=1e-12)
    carried = sizes * weights / math.fsum(sizes * weights)
    half = int(law.mass_weighted_quantile(0.5))
    assert math.fsum(carried[sizes <= half]) >= 0.5 - 1e-12
    assert math.fsum(carried[sizes < half]) < 0.5 + 1e-12


@settings(max_examples=60)
@given(values=heavy, p=st.floats(0, 1))
def test_quantiles_of_the_continuous_law_invert_it(values, p):
    law = BoundedPareto(*values)
    assert float(law.cdf(law.quantile(p))) == pytest.approx(p, abs=1e-9)
    assert law.minimum <= law.quantile(p) <= law.maximum


def test_the_mean_of_whole_packets_is_that_of_the_sizes_rounded_up():
    law = BoundedPareto(1.5, 2000.25, 1.1)
    edges = np.arange(1, 2002)
    chances = np.diff(law.cdf(edges))
    assert law.mean_packets() == pytest.approx(math.fsum(edges[1:] * chances), rel=1e-12)
    geometric = Exponential(10.0)
    assert geometric.mean_packets() == pytest.approx(math.fsum(1 - geometric.cdf(np.arange(2000))), rel=1e-12)


def test_samples_follow_the_law():
    law, n = wired(), 200_000
    sizes = law.sample(stream(1, "sizes"), n)
    assert sizes.dtype == np.int64
    assert sizes.min() >= law.minimum
    assert sizes.max() <= law.maximum
    # Dvoretzky-Kiefer-Wolfowitz: beyond this distance once in 10^6 draws.
    distance = math.sqrt(math.log(2e6) / (2 * n))
    ordered = np.sort(sizes)
    for size in (6, 7, 10, 20, 100, 1000, 12000):
        assert abs(np.searchsorted(ordered, size, side="right") / n - law.cdf(size)) < distance
    # Four standard deviations of the mean.
    assert abs(sizes.mean() - 40) < 4 * 6 * 40 / math.sqrt(n)


@pytest.mark.parametrize("law", [BoundedPareto(6, 12121, 1.02), Exponential(40.0), Deterministic(40)])
def test_samples_of_the_other_laws_have_their_mean(law):
    sizes = law.sample(stream(1, "sizes"), 200_000)
    assert abs(sizes.mean() - law.mean()) <= 4 * law.cov() * law.mean() / math.sqrt(len(sizes))
    assert float(law.quantile(0.5)) == pytest.approx(float(np.median(sizes)), rel=0.02)


def test_the_first_sizes_of_a_seed_are_fixed():
    assert wired().sample(stream(1, "sizes"), 10).tolist() == [18, 19, 7, 67, 8, 10, 14, 12, 6, 10]


def test_the_misclassified_share_of_the_sampling_example():
    # shared/papers/README.md: P(k) ~ k^-2.1, k = 1..10^6, probability 0.01 a packet, long means above 100 packets:
    # 2.56 % are short and sampled, 0.06 % long and never sampled.
    sizes, weights = brute(BoundedZipf(1, 10**6, 1.1))
    sampled = 1 - 0.99**sizes
    assert round(100 * float(np.sum((weights * sampled)[sizes <= 100])), 2) == 2.56
    assert round(100 * float(np.sum((weights * (1 - sampled))[sizes > 100])), 2) == 0.06
