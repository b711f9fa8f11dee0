"""Laws and their tests against samples of known laws, and against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from mayfly.errors import MayflyError
from mayfly.profile.fitting import bootstrap_p, distances, fits_of
from mayfly.profile.laws import LAWS

N = 2000


def drawn(law):
    rng = np.random.default_rng(11)
    return {
        "exponential": lambda: rng.exponential(3.0, N),
        "lognormal": lambda: rng.lognormal(1.0, 2.0, N),
        "weibull": lambda: 5.0 * rng.weibull(0.6, N),
        "pareto": lambda: 40.0 * (1 + rng.pareto(1.2, N)),
        "two exponentials": lambda: np.where(rng.random(N) < 0.7, rng.exponential(1.0, N), rng.exponential(50.0, N)),
        "two lognormals": lambda: np.where(rng.random(N) < 0.4, rng.lognormal(4, 0.3, N), rng.lognormal(9, 1, N)),
    }[law]()


TRUE = {
    "exponential": {"mean": 3.0},
    "lognormal": {"mu": 1.0, "sigma": 2.0},
    "weibull": {"shape": 0.6, "scale": 5.0},
    "pareto": {"minimum": 40.0, "exponent": 1.2},
    "two exponentials": {"share_1": 0.7, "mean_1": 1.0, "mean_2": 50.0},
    "two lognormals": {"share_1": 0.4, "mu_1": 4.0, "sigma_1": 0.3, "mu_2": 9.0, "sigma_2": 1.0},
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow
def test_the_law_values_come_from_is_near_and_not_rejected(law):
    found = {fit.law: fit for fit in fits_of(drawn(law), bootstrap=99)}
    fit = found[law]
    # A law that contains it with more parameters may win by chance, by no more than its likelihood ratio allows.
    assert fit.aic <= min(other.aic for other in found.values()) + 2
    assert fit.ks_p > 0.01 and fit.ad_p > 0.01
    assert fit.ks < 1.95 / math.sqrt(N)  # 0.1 % of Kolmogorov's law for a known law; a fitted one lies nearer.
    for name, value in TRUE[law].items():
        assert fit.parameters[name] == pytest.approx(value, rel=0.12), name


@pytest.mark.parametrize("law", LAWS)
def test_a_law_far_away_is_rejected(law):
    values = np.random.default_rng(4).uniform(10.0, 11.0, 500)
    fit = next(fit for fit in fits_of(values, bootstrap=49) if fit.law == law)
    far = law not in ("lognormal", "weibull", "two lognormals")
    assert (fit.ad_p <= 0.04) or not far


@pytest.mark.parametrize("law", ["exponential", "weibull", "two lognormals"])
def test_p_is_uniform_when_the_law_holds(law):
    """Lilliefors' situation: parameters from the values. A table for known parameters would hardly ever reject."""
    rng = np.random.default_rng(6)
    runs = 100

    def draw(rng):
        if law != "two lognormals":
            return rng.weibull(1.0, 50)
        # A narrow part beside a heavy tail: a refit that starts in the wrong unit would miss it.
        return np.where(rng.random(150) < 0.3, rng.lognormal(4.0, 0.05, 150), rng.lognormal(9.0, 1.5, 150))

    ps = [bootstrap_p(law, np.sort(draw(rng)), 19, rng) for _ in range(runs)]
    for column in np.array(ps).T:
        for level in (0.1, 0.25, 0.5):
            noise = 3.5 * math.sqrt(level * (1 - level) / runs)
            assert abs((column <= level).mean() - level) < noise


def test_distances_are_those_of_scipy():
    values = np.sort(np.random.default_rng(8).exponential(2.0, 300))
    law = stats.expon(scale=2.5)
    ks, ad = distances("exponential", {"mean": 2.5}, values)
    assert ks == pytest.approx(stats.kstest(values, law.cdf).statistic, rel=1e-12)
    # A^2 = n times the integral of (F_n - F)^2 / (F (1 - F)) dF, between the values in closed form.
    f = np.concatenate([[0.0], law.cdf(values), [1.0]])
    steps = np.arange(301) / 300
    inside = [_piece(f[place], f[place + 1], steps[place]) for place in range(301)]
    assert ad == pytest.approx(300 * sum(inside), rel=1e-9)


def _piece(low, high, step):
    """Integral of (step - u)^2 / (u (1 - u)) over low < u < high."""
    if high <= low:
        return 0.0
    found = -(high - low)
    if step:
        found += step**2 * math.log(high / low)
    if step < 1:
        found -= (1 - step) ** 2 * math.log((1 - high) / (1 - low))
    return found


@pytest.mark.parametrize("law", LAWS)
def test_units_do_not_matter(law):
    values = drawn(law)[:400]
    one, other = ({fit.law: fit for fit in fits_of(values * unit, bootstrap=0)}[law] for unit in (1.0, 1e6))
    assert other.ks == pytest.approx(one.ks, abs=1e-6) and other.ad == pytest.approx(one.ad, rel=1e-4, abs=1e-6)
    assert other.aic == pytest.approx(one.aic + 2 * 400 * math.log(1e6), rel=1e-9)
    p = np.array([0.1, 0.5, 0.9])
    assert other.quantiles(p) == pytest.approx(1e6 * one.quantiles(p), rel=1e-4)


@pytest.mark.parametrize("law", ["two exponentials", "two lognormals"])
def test_mixtures_are_at_a_maximum_and_hold_together(law):
    values = np.sort(drawn(law))
    values = values / values.mean()
    parameters = LAWS[law].fit(values)
    best = LAWS[law].distribution(parameters)
    height = best.logpdf(values).sum()
    for name in parameters:
        for factor in (0.98, 1.02):
            moved = LAWS[law].distribution(parameters | {name: parameters[name] * factor})
            assert moved.logpdf(values).sum() < height + 1e-3
    p = np.linspace(0.01, 0.99, 25)
    assert best.cdf(best.ppf(p)) == pytest.approx(p, abs=1e-9)
    assert best.cdf(values) + best.sf(values) == pytest.approx(1, abs=1e-12)
    assert best.mean() == pytest.approx(values.mean(), rel=0.05)


SCIPY = {
    "lognormal": ("lognorm", lambda given: {"s": given["sigma"], "scale": math.exp(given["mu"])}),
    "weibull": ("weibull_min", lambda given: {"c": given["shape"], "scale": given["scale"]}),
    "pareto": ("pareto", lambda given: {"b": given["exponent"], "scale": given["minimum"]}),
}


@pytest.mark.parametrize("law", SCIPY)
@pytest.mark.parametrize("shape", [0.25, 1.0, 3.0])
def test_fits_are_those_of_scipy(law, shape):
    """Also of samples that are hard to fit: a bootstrap that fails on some of them gives a p that is too large."""
    name, keywords = SCIPY[law]
    for seed in range(20):
        values = np.sort(np.random.default_rng(seed).weibull(shape, 200))
        values = values / values.mean()
        ours = LAWS[law].fit(values)
        theirs = getattr(stats, name)
        found = theirs.fit(values, floc=0) if law != "pareto" else theirs.fit(values, floc=0, fscale=values[0])
        expected = theirs.logpdf(values, *found).sum()
        # A simplex, as scipy's, ends a little below the top.
        assert -1e-9 < theirs.logpdf(values, **keywords(ours)).sum() - expected < 1e-4


def test_logarithms_have_the_quantiles_of_scipy():
    p = np.concatenate([np.linspace(0, 1, 101), [1e-12, 1e-100, 1 - 1e-12]])
    ours, theirs = LAWS["lognormal"].distribution({"mu": 0.3, "sigma": 1.7}), stats.lognorm(1.7, scale=math.exp(0.3))
    assert ours.ppf(p) == pytest.approx(theirs.ppf(p), rel=1e-12)
    assert ours.ppf(0.5) == pytest.approx(math.exp(0.3), rel=1e-14)


def test_many_equal_values_do_not_break_a_fit():
    values = np.array([60.0] * 200 + [61.0] * 100 + [1e6])
    for fit in fits_of(values, bootstrap=9):
        assert math.isfinite(fit.aic) and math.isfinite(fit.ad)
        assert fit.ad_p is not None and fit.ad_p <= 1


def test_seeds_repeat():
    values = drawn("weibull")
    assert fits_of(values, seed=3, bootstrap=9) == fits_of(values, seed=3, bootstrap=9)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1.0] * 20, "two of them different"), ([1.0, 2.0], "2 values"), ([0.0, 1.0], "value = 0.0: must be above 0")],
)
def test_refused(values, said):
    with pytest.raises(MayflyError, match=said):
        fits_of(values)
    with pytest.raises(MayflyError, match="bootstrap = -1"):
        fits_of(np.arange(1.0, 20), bootstrap=-1)


def test_quantiles_of_a_mixture_are_where_its_probabilities_are():
    p = np.arange(1, 50) / 50
    for name in ("two exponentials", "two lognormals"):
        law = LAWS[name].distribution(TRUE[name])
        assert np.abs(law.cdf(law.ppf(p)) - p).max() < 1e-14
    mixture = LAWS["two lognormals"].distribution(TRUE["two lognormals"])
    x = np.array([0.0, 1e-3, 55.0, 54.6, 8000.0, 1e9])
    parts = [stats.lognorm(s=part.sigma, scale=math.exp(part.mu)).cdf(x) for part in mixture.parts]
    assert np.abs(mixture.cdf(x) - np.dot(mixture.weights, parts)).max() < 1e-15
    assert float(mixture.parts[0].cdf(55.0)) == mixture.parts[0].cdf(x)[2]
