"""The unbounded size laws against scipy.stats, and what their descriptions solve to."""

import math

import numpy as np
import pytest
import scipy.stats

from mayfly.errors import MayflyError
from mayfly.workload.arrivals import stream
from mayfly.workload.pareto import ParetoII

REFERENCES = [
    (ParetoII(1.2, 2.4), scipy.stats.lomax(1.2, scale=2.4)),
    (ParetoII(2.5, 30.0), scipy.stats.lomax(2.5, scale=30.0)),
]
LAWS = [law for law, _ in REFERENCES]


@pytest.mark.parametrize(("law", "reference"), REFERENCES, ids=lambda given: repr(given)[:40])
def test_a_law_is_that_of_scipy(law, reference):
    p = np.linspace(0, 0.9999, 301)
    sizes = reference.ppf(p)
    assert law.quantile(p) == pytest.approx(sizes, rel=1e-9, abs=1e-9)
    assert law.survival(sizes) == pytest.approx(reference.sf(sizes), rel=1e-9)
    assert law.pdf(sizes[1:]) == pytest.approx(reference.pdf(sizes[1:]), rel=1e-9)
    assert law.cdf(-1.0) == law.pdf(-1.0) == 0
    assert law.mean() == pytest.approx(reference.mean(), rel=1e-9)
    assert law.cov() == pytest.approx(reference.std() / reference.mean(), rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_mean_of_whole_packets_sums_the_survival_function(law):
    # Beyond the terms that are summed P(X > k) falls slowly enough to be squeezed between two integrals.
    k = np.arange(2_000_000, dtype=float)
    head = math.fsum(law.survival(k))
    assert head + law.excess(k[-1] + 1) <= law.mean_packets() * (1 + 1e-12)
    assert law.mean_packets() <= (head + law.excess(k[-1])) * (1 + 1e-12)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_excess_is_the_integral_of_the_survival_function(law):
    edges = np.linspace(3.0, 40.0, 200_001)
    middle = (edges[1:] + edges[:-1]) / 2
    area = float(np.sum(law.survival(middle))) * (edges[1] - edges[0])
    assert law.excess(3.0) - law.excess(40.0) == pytest.approx(area, rel=1e-8)
    assert law.excess(0.0) == pytest.approx(law.mean(), rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_follow_the_law(law):
    n = 100_000
    sizes = np.sort(law.sample(stream(1, "sizes"), n))
    # Dvoretzky-Kiefer-Wolfowitz: beyond this distance once in 10^6 draws.
    distance = math.sqrt(math.log(2e6) / (2 * n))
    assert np.abs(law.cdf(sizes) - (np.arange(n) + 0.5) / n).max() < distance + 0.5 / n


@pytest.mark.parametrize(
    ("given", "shape", "scale"),
    [
        ({"shape": 1.2, "mean": 12}, 1.2, 2.4),
        ({"scale": 2.4, "mean": 12}, 1.2, 2.4),
        ({"shape": 0.5, "scale": 3}, 0.5, 3),
        ({"cov": 2, "mean": 10}, 8 / 3, 50 / 3),
        ({"cov": 2, "scale": 10}, 8 / 3, 10),
    ],
)
def test_pareto_ii_from_two_values(given, shape, scale):
    law = ParetoII.solve(**given)
    assert (law.shape, law.scale) == pytest.approx((shape, scale), rel=1e-12)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"shape": 1.2}, "given shape: must be two of shape, scale, mean, cov"),
        ({"shape": 1.2, "mean": 3, "scale": 2}, "given shape, scale, mean: must be two of"),
        ({"shape": 1.0, "mean": 3}, "shape = 1.0: must be above 1 for a finite mean"),
        ({"cov": 1.0, "mean": 3}, "cov = 1.0: must be above 1"),
        ({"cov": 2.0, "shape": 3}, "cov = 2.0: must be left out where shape is given"),
        ({"shape": math.nan, "scale": 3}, "shape = nan: must be above 0 and finite"),
        ({"shape": 2000, "scale": 3}, "shape = 2000: must be above 0 and at most 1000"),
        ({"shape": 2, "scale": 1e8}, "scale = 100000000.0: must be above 0 and at most 1e+07 packets"),
    ],
)
def test_what_pareto_ii_cannot_be_is_refused(given, told):
    with pytest.raises(MayflyError) as caught:
        ParetoII.solve(**given)
    assert told in str(caught.value)


def test_a_tail_without_mean_has_none():
    law = ParetoII(0.9, 5.0)
    assert law.mean() == law.mean_packets() == law.excess(10.0) == law.cov() == math.inf
