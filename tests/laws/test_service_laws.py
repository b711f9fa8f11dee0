"""Truncated moments and means over laws, against mpmath with twenty digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.laws.service_spec import service_law

mp.mp.dps = 20


def lomax(shape, scale):
    return lambda u: shape / scale * (1 + u / scale) ** (-shape - 1)


def bounded_pareto(alpha, most):
    return lambda u: alpha / (1 - most**-alpha) * u ** (-alpha - 1)


def lognormal(mu, sigma):
    return lambda u: mp.exp(-(((mp.log(u) - mu) / sigma) ** 2) / 2) / (u * sigma * mp.sqrt(2 * mp.pi))


def weibull(shape, scale):
    return lambda u: shape / scale * (u / scale) ** (shape - 1) * mp.exp(-((u / scale) ** shape))


def bipareto(k, body, tail, bend):
    def survival(u):
        return (u / k) ** -body * ((u / k + bend) / (1 + bend)) ** (body - tail)

    return lambda u: survival(u) * (body / u + (tail - body) / (u + k * bend))


M = mp.mpf
DENSITIES = {
    "exponential:mean=2": (lambda u: mp.exp(-u / 2) / 2, 0),
    "shifted-exponential:min=3,mean=10": (lambda u: mp.exp(-(u - 3) / 7) / 7, 3),
    "pareto-ii:shape=1.1,scale=2.4": (lomax(M(1.1), M(2.4)), 0),
    "pareto-ii:shape=2,scale=2.4": (lomax(M(2), M(2.4)), 0),
    "pareto-ii:shape=3.5,scale=2.4": (lomax(M(3.5), M(2.4)), 0),
    "bounded-pareto:min=1,max=1e6,alpha=1.1": (bounded_pareto(M(1.1), M(1e6)), 1),
    "bounded-pareto:min=1,max=1e6,alpha=2": (bounded_pareto(M(2), M(1e6)), 1),
    "lognormal:mu=1,sigma=1.5": (lognormal(M(1), M(1.5)), 0),
    "weibull:shape=0.42,scale=13.7": (weibull(M(0.42), M(13.7)), 0),
    "bipareto:min=4.3,body=0.2,tail=2.5,bend=20": (bipareto(M(4.3), M(0.2), M(2.5), M(20)), M(4.3)),
}
SPELLED = [*DENSITIES, "hyperexponential:mean=1,cov=5", "zipf:min=6,mean=40,cov=6", "deterministic:value=2.5"]


@pytest.mark.parametrize("spec", DENSITIES)
def test_partial_moments_have_ten_digits(spec):
    density, low = DENSITIES[spec]
    law = service_law(spec)
    for size in (low + 1e-3, low + 1, low + 300):
        # Panels that shrink toward the lower end, where densities may have a pole.
        edges = [low, *(low + (size - low) * M(3) ** -step for step in range(24, -1, -1))]
        for order in (0, 1, 2, 3):
            exact = mp.quad(lambda u, k=order: u**k * density(u), edges)
            assert float(law.partial_moment(order, float(size))) == pytest.approx(float(exact), rel=1e-9)


def test_the_parts_of_a_hyperexponential_law_carry_half_of_the_work_each():
    law = service_law("hyperexponential:mean=1,cov=5").law
    assert law.share * law.first == pytest.approx((1 - law.share) * law.second, rel=1e-12)
    assert (law.mean(), law.cov()) == (pytest.approx(1, rel=1e-12), pytest.approx(5, rel=1e-12))
    at = np.array([0.0, 0.1, 1.0, 30.0])
    assert law.survival(law.quantile(1 - law.survival(at))) == pytest.approx(law.survival(at), rel=1e-9)


@pytest.mark.parametrize("spec", SPELLED)
def test_means_over_a_law_are_its_moments(spec):
    law = service_law(spec)
    assert law.expect(np.ones_like) == pytest.approx(1, rel=1e-11)
    assert law.expect(lambda x: x) == pytest.approx(law.mean, rel=1e-11)
    cut = 1.3 * law.mean
    assert law.expect(lambda x: np.minimum(x, cut), [cut]) == pytest.approx(float(law.truncated(1, cut)), rel=1e-10)


@pytest.mark.parametrize("spec", SPELLED)
def test_truncated_moments_grow_to_the_moments(spec):
    law = service_law(spec)
    at = law.mean * np.geomspace(1e-3, 1e5, 200)
    for order in (1, 2):
        grown = law.truncated(order, at)
        assert np.all(np.diff(grown) >= -1e-12 * grown[1:])
        assert np.all(grown <= at**order * (1 + 1e-12))
        assert np.all(grown <= law.moment(order) * (1 + 1e-12))
    # The mean of min(X, x) is the integral of the survival function.
    fine = np.linspace(0, 3 * law.mean, 300_001)
    middle = (fine[1:] + fine[:-1]) / 2
    area = float(np.sum(law.survival(middle))) * (fine[1] - fine[0])
    assert float(law.truncated(1, fine[-1])) == pytest.approx(area, rel=1e-5)


def test_a_discrete_law_is_its_list():
    law = Discrete([5.0, 1.0, 5.0, 2.0], [1, 1, 1, 1])
    assert law.values.tolist() == [1, 2, 5]
    assert law.moment(2) == pytest.approx((1 + 4 + 25 + 25) / 4)
    assert law.quantile([0, 0.25, 0.26, 0.5, 0.51, 1]).tolist() == [1, 1, 2, 2, 5, 5]
    assert law.survival([0, 1, 4.9, 5]).tolist() == [1, 0.75, 0.5, 0]


@pytest.mark.parametrize(
    ("written", "mean"),
    [
        ("1\n2\n6\n", 3.0),
        ("size\n1.5\n2.5\n", 2.0),
        ("flow,size_bytes\n1,10\n2,30\n", 20.0),
        ("size,cdf\n4,1\n2,0.5\n", 3),
    ],
)
def test_a_sample_is_read_from_lists_and_tables(tmp_path, written, mean):
    file = tmp_path / "sizes.csv"
    file.write_text(written)
    assert service_law(f"sample:{file}").mean == pytest.approx(mean)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("exponental:mean=1", "did you mean exponential?"),
        ("exponential:mean=-1", "mean = -1.0: must be above 0"),
        ("exponential:mean", "must be NAME=NUMBER"),
        ("exponential:", "given nothing: law exponential takes mean"),
        ("deterministic:mean=1", "deterministic takes value"),
        ("deterministic:value=0", "must be above 0"),
        ("hyperexponential:mean=1,cov=1", "must be above 1"),
        ("pareto-ii:shape=1,scale=1", "must have a finite mean"),
        ("sample:", "must name a file"),
        ("sample:nowhere.csv", "nowhere.csv"),
        ("empirical:file=x", "spelled sample:FILE"),
    ],
)
def test_a_law_that_is_none_is_refused_in_one_line(spec, said):
    with pytest.raises(MayflyError, match=r".") as refused:
        service_law(spec)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("written", ["a,b\n1,2\n", "size\n0\n", "size\n\n", "size\nx\n", ""])
def test_a_file_without_sizes_is_refused_in_one_line(tmp_path, written):
    file = tmp_path / "sizes.csv"
    file.write_text(written)
    with pytest.raises(MayflyError) as refused:
        service_law(f"sample:{file}")
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("spec", ["shifted-exponential:min=1,mean=2", "weibull:mean=1,cov=2"])
def test_a_law_without_a_largest_size_is_not_one_size(spec):
    """A smallest size of 1 was once taken for the only one."""
    assert service_law(spec).largest == np.inf
    assert service_law("bounded-pareto:min=1,max=1,alpha=1.1").largest == 1


def test_the_spread_of_panels_is_that_of_a_normal_law():
    from scipy.special import ndtr

    from mayfly.laws.service import SPREAD

    assert list(SPREAD) == ndtr(np.linspace(-7.0, 7.0, 57)).tolist()


def test_the_whole_moment_of_an_exponential_law_is_the_limit_of_its_parts():
    from scipy.special import gammainc

    from mayfly.laws.sizes import Exponential

    law = Exponential(1.7)
    for order in range(4):
        assert law.partial_moment(order, math.inf) == 1.7**order * math.factorial(order) * gammainc(order + 1, np.inf)
