"""Laws in closed form, against those of scipy."""

import numpy as np
import pytest
from scipy import stats

from mayfly.laws.families import Exponential, Lognormal, Pareto, Weibull

CASES = [
    (Exponential(2.5), stats.expon(scale=2.5)),
    (Exponential(1e-12), stats.expon(scale=1e-12)),
    (Lognormal(0.7, 1.9), stats.lognorm(1.9, scale=np.exp(0.7))),
    (Lognormal(-3.0, 0.01), stats.lognorm(0.01, scale=np.exp(-3.0))),
    (Weibull(0.4, 3.0), stats.weibull_min(0.4, scale=3.0)),
    (Weibull(1.0, 2.0), stats.weibull_min(1.0, scale=2.0)),
    (Weibull(7.0, 0.2), stats.weibull_min(7.0, scale=0.2)),
    (Pareto(1.2, 6.0), stats.pareto(1.2, scale=6.0)),
    (Pareto(0.5, 0.01), stats.pareto(0.5, scale=0.01)),
]
# Named by our law alone: the text of scipy's holds an address, and the workers of xdist must agree on names.
each_law = pytest.mark.parametrize(("ours", "scipys"), [pytest.param(*case, id=str(case[0])) for case in CASES])


@each_law
def test_functions_are_those_of_scipy(ours, scipys):
    p = np.array([0.0, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0])
    np.testing.assert_allclose(ours.ppf(p), scipys.ppf(p), rtol=1e-9)
    x = np.concatenate([scipys.ppf([1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]), scipys.ppf(0.5) * np.array([1e-3, 1e3])])
    for name in ("cdf", "sf", "logpdf"):
        # 1 - x^-b of scipy keeps seven digits of a probability of 1e-9.
        np.testing.assert_allclose(getattr(ours, name)(x), getattr(scipys, name)(x), rtol=1e-6, err_msg=name)
    assert ours.mean() == pytest.approx(scipys.mean())


@each_law
def test_nothing_lies_below_zero(ours, scipys):
    x = np.array([-1.0, -1e-300])
    assert ours.cdf(x).tolist() == [0, 0]
    assert ours.sf(x).tolist() == [1, 1]
    assert ours.logpdf(x).tolist() == [-np.inf, -np.inf]


@each_law
def test_draws_are_those_of_scipy(ours, scipys):
    drawn = ours.rvs(size=50, random_state=np.random.default_rng(3))
    expected = scipys.rvs(size=50, random_state=np.random.default_rng(3))
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)


def test_mean_beyond_floats_is_infinite():
    assert Lognormal(0.0, 60.0).mean() == np.inf
    assert Weibull(0.001, 1.0).mean() == np.inf
    assert Pareto(1.0, 1.0).mean() == np.inf
