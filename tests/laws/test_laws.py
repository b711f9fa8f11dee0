"""The unbounded size laws against scipy.stats, and what their descriptions solve to."""

import math

import numpy as np
import pytest
import scipy.stats

from mayfly.errors import MayflyError
from mayfly.laws.empirical import Empirical
from mayfly.laws.lifetimes import Lognormal, ShiftedExponential, Weibull
from mayfly.laws.pareto import BiPareto, ParetoII
from mayfly.workload.arrivals import stream

REFERENCES = [
    (ParetoII(1.2, 2.4), scipy.stats.lomax(1.2, scale=2.4)),
    (ParetoII(2.5, 30.0), scipy.stats.lomax(2.5, scale=30.0)),
    (Lognormal(2.0, 1.5), scipy.stats.lognorm(1.5, scale=np.exp(2.0))),
    (Weibull(0.42, 13.7), scipy.stats.weibull_min(0.42, scale=13.7)),
    (Weibull(3.0, 13.7), scipy.stats.weibull_min(3.0, scale=13.7)),
    (ShiftedExponential(10.0, 30.0), scipy.stats.expon(10.0, 30.0)),
    # Without a bend it is the ordinary Pareto law.
    (BiPareto(3.0, 2.5, 2.5, 7.0), scipy.stats.pareto(2.5, scale=3.0)),
]
LAWS = [law for law, _ in REFERENCES] + [BiPareto(4.3, 0.2, 2.5, 20.0), BiPareto(4.3, 1.6, 1.2, 50.0)]


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
    edges = np.linspace(11.0, 48.0, 200_001)
    middle = (edges[1:] + edges[:-1]) / 2
    area = float(np.sum(law.survival(middle))) * (edges[1] - edges[0])
    assert law.excess(11.0) - law.excess(48.0) == pytest.approx(area, rel=1e-8)
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


def test_a_bi_pareto_law_bends_from_one_exponent_to_the_other():
    law = BiPareto(1.0, 0.5, 2.0, 1000.0)

    def exponent(size):
        return -math.log(law.survival(size * 1.01) / law.survival(size)) / math.log(1.01)

    assert exponent(2.0) == pytest.approx(0.5, abs=0.01)
    assert exponent(1e6) == pytest.approx(2.0, abs=0.01)
    p = np.linspace(0, 0.999999, 1001)
    assert law.cdf(law.quantile(p)) == pytest.approx(p, abs=1e-12)
    sizes = np.geomspace(1.0, 1e5, 400_001)
    area = np.trapezoid(law.pdf(sizes), sizes)
    assert area == pytest.approx(float(law.cdf(1e5)), rel=1e-6)


@pytest.mark.parametrize("cov", [0.3, 0.75, 1.0, 3.0, 20.0])
def test_laws_of_two_moments_are_solved(cov):
    for law in (Lognormal, Weibull):
        found = law.solve(mean=40, cov=cov)
        assert (found.mean(), found.cov()) == pytest.approx((40, cov), rel=1e-9)
    assert Weibull.solve(mean=40, shape=0.5).mean() == pytest.approx(40)
    if cov < 1:
        found = ShiftedExponential.solve(mean=40, cov=cov)
        assert (found.mean(), found.cov()) == pytest.approx((40, cov), rel=1e-12)
    assert BiPareto.solve(mean=40, body=0.2, tail=2.5, bend=20).mean() == pytest.approx(40)


@pytest.mark.parametrize(
    ("law", "told"),
    [
        (lambda: Weibull.solve(mean=40, cov=1e9), "cov = 1000000000.0: must be from"),
        (lambda: Weibull.solve(shape=1, cov=1), "cov = 1: must be left out where shape is given"),
        (lambda: Weibull(0.05, 1), "shape = 0.05: must be from 0.1 to 100"),
        (lambda: Lognormal.solve(mean=-1, cov=1), "mean = -1: must be above 0"),
        (lambda: Lognormal(0, 0), "sigma = 0: must be above 0"),
        (lambda: ShiftedExponential.solve(mean=40, cov=1.5), "cov = 1.5: must be below 1"),
        (lambda: ShiftedExponential.solve(mean=40, minimum=50), "minimum = 50: must be below mean = 40"),
        (lambda: BiPareto.solve(body=1, tail=1, bend=1, mean=3), "mean = 3, tail = 1: must be above 0, and above 1"),
        (lambda: BiPareto.solve(body=1, tail=1, bend=1), "minimum, mean: must be one of them"),
        (lambda: Empirical([]), "must be at least one pair"),
        (lambda: Empirical([(2, 0.5), (1, 1.0)]), "size = 1: must be whole packets, ascending"),
        (lambda: Empirical([(2, 0.5), (3, 0.4)]), "share = 0.4: must ascend"),
        (lambda: Empirical([(2, 0.5)]), "share = 0.5: the last one must be 1"),
        (lambda: Empirical([(1.5, 1.0)]), "size = 1.5: must be whole"),
    ],
)
def test_laws_that_cannot_be_are_refused(law, told):
    with pytest.raises(MayflyError) as caught:
        law()
    assert told in str(caught.value)


def test_a_measured_law_has_its_own_moments_and_samples(tmp_path):
    file = tmp_path / "sizes.csv"
    file.write_text("size_packets,cdf\n1,0.5\n10,0.9\n100,1\n")
    law = Empirical.read(file)
    assert law.mean() == law.mean_packets() == pytest.approx(0.5 + 4 + 10)
    assert law.cov() == pytest.approx(math.sqrt(0.5 + 40 + 1000 - 14.5**2) / 14.5)
    assert law.cdf([0.5, 1, 9, 10, 1e9]).tolist() == [0, 0.5, 0.5, 0.9, 1]
    assert law.quantile([0, 0.5, 0.51, 1]).tolist() == [1, 1, 10, 100]
    sizes = law.sample(stream(1, "sizes"), 100_000)
    assert abs((sizes == 10).mean() - 0.4) < 4 * math.sqrt(0.24 / 100_000)
    file.write_text("size,cdf\n1,1\n")
    with pytest.raises(MayflyError, match="not a table of size_packets, with cdf or without"):
        Empirical.read(file)
