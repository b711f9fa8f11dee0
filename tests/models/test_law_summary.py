"""A law in numbers: mass against sorted samples and closed forms, maps against the printed figures' text."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.laws.summary import jobs_with_mass, law_map, law_summary, mass_of_largest, mass_up_to

LAWS = (
    "exponential:mean=12",
    "lognormal:mu=7.37,sigma=1.92",
    "bounded-pareto:min=1,max=1e6,alpha=1.1",
    "zipf:min=6,mean=40,cov=6",
    "deterministic:value=3",
    "pareto-ii:shape=1.2,mean=12",
    "hyperexponential:mean=1,cov=5",
    "shifted-exponential:min=3,mean=10",
)


@pytest.mark.parametrize("spec", LAWS)
def test_mass_of_the_largest_goes_from_nothing_to_all(spec):
    law, shares = service_law(spec), np.array([0.0, 1e-9, 1e-4, 0.01, 0.1, 0.5, 0.9, 1.0])
    mass = mass_of_largest(law, shares)
    assert mass[0] == 0 and mass[-1] == pytest.approx(1, abs=1e-12)
    assert (np.diff(mass) > 0).all()
    assert (mass >= shares - 1e-12).all(), "the largest carry no less than their share"
    for part in (0.2, 0.5, 0.8):
        assert float(mass_of_largest(law, jobs_with_mass(law, part))) == pytest.approx(part, abs=1e-9)


@pytest.mark.parametrize("spec", ["exponential:mean=12", "zipf:min=6,mean=40,cov=6", "hyperexponential:mean=1,cov=5"])
@pytest.mark.slow
def test_mass_is_that_of_a_sorted_sample(spec):
    law = service_law(spec)
    parts = []
    for seed in range(20):
        sizes = np.sort(law.sample(np.random.default_rng(seed), 100_000))[::-1]
        parts.append([sizes[:n].sum() / sizes.sum() for n in (1000, 5000, 20_000)])
    mean, error = np.mean(parts, axis=0), np.std(parts, axis=0, ddof=1) / 20**0.5
    assert (np.abs(mass_of_largest(law, [0.01, 0.05, 0.2]) - mean) < 4 * error + 1e-4).all()


def test_closed_forms_of_the_mass():
    # Exponential: 1 - (1 + x) e^-x; Lomax and Pareto: the tail of the mass is a power of that of the jobs.
    x = np.array([0.1, 1.0, 5.0])
    np.testing.assert_allclose(mass_up_to(service_law("exponential:mean=1"), x), 1 - (1 + x) * np.exp(-x), rtol=1e-12)
    t = np.array([0.001, 0.05, 0.5])
    lomax = 1.2 * t ** (1 / 6) - 0.2 * t
    np.testing.assert_allclose(mass_of_largest(service_law("pareto-ii:shape=1.2,mean=12"), t), lomax, rtol=1e-9)
    assert float(mass_of_largest(service_law("deterministic:value=3"), 0.25)) == 0.25


def test_the_map_of_figure_7():
    """Urvoy-Keller 2007, 5.1.1: the CoV of the lognormal law does not depend on mu; the text reads 1.5 to 6."""
    found = law_map("lognormal:mu=7.37..8.5,sigma=0.98..1.92", 5)
    assert found.names == ("mu", "sigma") and found.points.shape == (25, 2)
    mu, sigma = found.points.T
    np.testing.assert_allclose(found.mean, np.exp(mu + sigma**2 / 2), rtol=1e-12)
    np.testing.assert_allclose(found.cov, np.sqrt(np.expm1(sigma**2)), rtol=1e-12)
    assert (round(found.cov.min(), 2), round(found.cov.max(), 2)) == (1.27, 6.24)


def test_the_map_of_figure_8():
    """Means near 10 packets go with a CoV between 2 and 6, as the text says."""
    found = law_map("bounded-pareto:min=3,max=13333,alpha=1..2", 201)
    assert (np.diff(found.mean) < 0).all() and (np.diff(found.cov) < 0).all()
    between = (found.cov >= 2) & (found.cov <= 6)
    assert found.mean[between].min() == pytest.approx(6.2, abs=0.1)
    assert found.mean[between].max() == pytest.approx(11.0, abs=0.1)
    ten = found.cov[np.abs(found.mean - 10).argmin()]
    assert ten == pytest.approx(5.45, abs=0.05)
    a = found.points[:, 0][1:-1]
    k, top = 3.0, 13333.0
    scale = a * k**a / (1 - (k / top) ** a)
    np.testing.assert_allclose(found.mean[1:-1], scale * (k ** (1 - a) - top ** (1 - a)) / (a - 1), rtol=1e-9)


def test_the_command_tells_a_law_and_a_map():
    result = CliRunner().invoke(app, ["model", "law", "exponential:mean=2", "--at", "2", "--json"])
    assert result.exit_code == 0, result.exception
    document = json.loads(result.stdout)
    assert document["mass"] == [pytest.approx(1 - 2 / math.e)]
    assert document["truncated_mean"] == [pytest.approx(2 * (1 - 1 / math.e))]
    assert document["truncated_square"] == [pytest.approx(8 * (1 - 2 / math.e))]
    assert (document["mean"], document["cov"]) == (2, pytest.approx(1))
    heavy = json.loads(CliRunner().invoke(app, ["model", "law", "pareto-ii:shape=1.2,mean=12", "--json"]).stdout)
    assert heavy["cov"] is None and heavy["largest"] is None
    chart = CliRunner().invoke(app, ["model", "law", "lognormal:mu=7..8,sigma=1", "--steps", "3", "--json"])
    assert [row["mu"] for row in json.loads(chart.stdout)["map"]] == [7, 7.5, 8]
    assert "half of the mass" in CliRunner().invoke(app, ["model", "law", "zipf:min=6,mean=40,cov=6"]).stdout


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: law_summary("exponential:mean=1", [-1.0]), "at = -1: must be 0 or more"),
        (lambda: law_map("exponential:mean=1"), "must have a parameter with a range"),
        (lambda: law_map("exponential:mean=a..b"), "must have a parameter with a range"),
        (lambda: law_map("exponential:mean=1..2", 1), "steps = 1: must be at least 2"),
        (lambda: law_map("lognormal:mu=1..2,sigma=1..2", 101), "must make at most 10000 laws, these are 10201"),
        (lambda: law_map("lognormal:mu=1..2,sigma=-1..2"), "sigma"),
        (lambda: mass_of_largest(service_law("exponential:mean=1"), 1.5), "must be from 0 to 1"),
        (lambda: jobs_with_mass(service_law("exponential:mean=1"), -0.5), "mass = -0.5: must be from 0 to 1"),
    ],
)
def test_bad_input_is_refused_with_its_value_and_bound(call, message):
    with pytest.raises(MayflyError) as refused:
        call()
    assert message in str(refused.value)
