"""Laws of the times between arrivals against scipy's own fits, closed forms and samples of known laws."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from mayfly.errors import MayflyError
from mayfly.laws.interarrival import fits, quantile_pairs

SAMPLES = {
    "exponential": stats.expon(scale=3.0).rvs(20_000, random_state=1),
    "lognormal": stats.lognorm(1.4, scale=0.01).rvs(20_000, random_state=2),
    "weibull": stats.weibull_min(0.6, scale=40.0).rvs(20_000, random_state=3),
}


def fitted(gaps):
    return {(fit.law, fit.by): fit for fit in fits(gaps)}


@pytest.mark.parametrize("law", SAMPLES)
def test_likelihood_is_that_of_scipy(law):
    gaps = SAMPLES[law]
    found = fitted(gaps)
    shape, _, scale = stats.weibull_min.fit(gaps, floc=0)
    weibull = found["weibull", "likelihood"]
    # scipy searches with the simplex of Nelder and Mead, to 1e-4.
    assert weibull.parameters == pytest.approx({"shape": shape, "scale": scale}, rel=1e-3)
    assert weibull.log_likelihood >= stats.weibull_min.logpdf(gaps, shape, 0, scale).sum() - 1e-9
    sigma, _, scale = stats.lognorm.fit(gaps, floc=0)
    assert found["lognormal", "likelihood"].parameters == pytest.approx(
        {"mu": math.log(scale), "sigma": sigma}, rel=1e-3
    )
    assert found["exponential", "mean"].parameters["mean"] == pytest.approx(gaps.mean(), rel=1e-12)
    for fit in found.values():
        assert fit.ks == pytest.approx(stats.kstest(gaps, fit.distribution.cdf).statistic, rel=1e-9)
        assert fit.log_likelihood == pytest.approx(fit.distribution.logpdf(gaps).sum(), rel=1e-9)
        parameters = 1 if fit.law == "exponential" else 2
        assert fit.aic == pytest.approx(2 * parameters - 2 * fit.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("law", SAMPLES)
def test_with_the_mean_held_the_rest_maximises_the_likelihood(law):
    gaps = SAMPLES[law]
    found = fitted(gaps)
    mean = gaps.mean()
    assert [fit.mean for fit in found.values() if fit.by == "mean"] == pytest.approx([mean] * 3, rel=1e-9)

    def lognormal(sigma):
        return -stats.lognorm.logpdf(gaps, sigma, 0, mean * math.exp(-(sigma**2) / 2)).sum()

    def weibull(shape):
        return -stats.weibull_min.logpdf(gaps, shape, 0, mean / math.gamma(1 + 1 / shape)).sum()

    for name, parameter, loss in (("lognormal", "sigma", lognormal), ("weibull", "shape", weibull)):
        best = optimize.minimize_scalar(loss, bounds=(0.2, 5.0), method="bounded", options={"xatol": 1e-9})
        ours = found[name, "mean"]
        assert ours.parameters[parameter] == pytest.approx(best.x, rel=1e-5)
        assert -ours.log_likelihood <= best.fun + 1e-6
        assert ours.log_likelihood <= found[name, "likelihood"].log_likelihood + 1e-6


@pytest.mark.parametrize("law", SAMPLES)
def test_the_law_that_gaps_come_from_is_the_best_and_near(law):
    found = fits(SAMPLES[law])
    # Of 20 000 draws the distance to their own law exceeds 1.63 / sqrt(n) once in 100 times.
    own = [fit for fit in found if fit.law == law]
    assert all(fit.ks < 1.63 / math.sqrt(20_000) for fit in own)
    if law != "exponential":
        assert min(found, key=lambda fit: fit.aic).law == law
        assert max(fit.ks for fit in own) < min(fit.ks for fit in found if fit.law != law)


def test_units_do_not_matter():
    ours, scaled = fits(SAMPLES["weibull"]), fits(SAMPLES["weibull"] * 1e-12)
    for one, other in zip(ours, scaled, strict=True):
        assert other.ks == pytest.approx(one.ks, rel=1e-6)
        assert other.mean == pytest.approx(one.mean * 1e-12, rel=1e-9)


def test_quantiles_of_its_own_law_lie_on_the_diagonal():
    fit = fitted(SAMPLES["lognormal"])["lognormal", "likelihood"]
    law, measured = quantile_pairs(fit, SAMPLES["lognormal"])
    assert len(law) == 99
    assert np.all(np.diff(law) > 0)
    # The standard error of the 1 % quantile of a lognormal law with sigma 1.4 is 3.7 %.
    assert measured == pytest.approx(law, rel=4 * 0.037)


@pytest.mark.parametrize(("gaps", "message"), [([1.0, 0.0], "gap = 0.0"), ([1.0], "1 gaps"), ([2.0, 2.0], "2 gaps")])
def test_what_cannot_be_fitted_is_refused(gaps, message):
    with pytest.raises(MayflyError, match=message):
        fits(gaps)
