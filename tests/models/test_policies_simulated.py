"""Every policy of the registry on every law against the job-level simulation, and what holds for all of them.

A difference of model and simulation counts by class of size. The intervals are so wide that with probability 0.99 all
of a lane hold if the models are right (Bonferroni over its classes); the seeds are fixed. A policy is in these tests as
soon as it has a row and says how it is played.
"""

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mayfly.laws.service import Discrete
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.jobs import played, poisson_jobs, simulate_jobs
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES

SPECS = {
    "exponential": "exponential:mean=2",
    "deterministic": "deterministic:value=3",
    "bounded-pareto": "bounded-pareto:min=1,max=1e3,alpha=1.1",
    "lognormal": "lognormal:mean=1,cov=1.5",
    "shifted-exponential": "shifted-exponential:min=1,mean=2",
    "hyperexponential": "hyperexponential:mean=1,cov=3",
    "zipf": "zipf:min=6,mean=15,cov=2",
    # An interval of FIFO needs the fourth moment.
    "pareto-ii": "pareto-ii:shape=4.5,mean=1",
}
LAWS = [*SPECS, "sample"]
LOADS = (0.5, 0.8)
CLASSES = (0.0, 0.3, 0.6, 0.85, 0.95, 1.0)
"""Shares of the jobs, from the smallest on."""

NOT_PLAYED = {
    "gittins": "a rank by the law: test_soap.py",
    "lasack": "with weights: test_lasack_simulated.py",
    "lfq": "with users: test_lfq_simulated.py",
}
"""Policies that are more than orders of service, and where they are tested instead."""

ROWS = [row for row in POLICIES.values() if row.id not in NOT_PLAYED]
LANES = {"fast": 150_000, "slow": 4_000_000}
SURE = 1 - 0.01 / (len(ROWS) * len(LAWS) * len(LOADS) * (len(CLASSES) - 1))


@functools.cache
def law_of(name):
    if name == "sample":
        return Discrete(np.round(np.random.default_rng(4).lognormal(2.0, 1.0, 300), 2))
    return service_law(SPECS[name])


@functools.lru_cache(maxsize=2)
def jobs_of(name, rho, n):
    return poisson_jobs(law_of(name), rho, n)


def parameters(row, law, low=0.4, high=0.9):
    """Thresholds among the sizes, between them where a law is of one size or has steps."""
    first, second = (float(law.quantile(p)) * 0.75 for p in (low, high))
    both = [first, max(second, 1.2 * first)]
    return {given.name: both if given.several else first for given in row.parameters if given.default is None}


def classes(law):
    """Edges of the classes, none of which is empty."""
    cuts = [float(law.quantile(p)) for p in CLASSES[1:-1]]
    return np.unique([0.0, *(cut for cut in cuts if cut < law.largest), math.inf])


def by_model(row, queue, sizes, given):
    """Mean response time by the model at each size; where there are many, each different one once."""
    at, place = np.unique(sizes, return_inverse=True)
    return row.response(queue, at, **given)[place]


def compare(row, name, rho, n):
    """Means of the differences by class of size, and the means of the model."""
    law = law_of(name)
    queue, given = MG1(law, rho), parameters(row, law)
    run = simulate_jobs(played(row, **given), *jobs_of(name, rho, n))
    expected = by_model(row, queue, run.sizes, given)
    found = run.mean_by_size(classes(law), run.response_time - expected, level=SURE)
    means = run.mean_by_size(classes(law), expected, level=SURE).mean
    assert np.all(found.jobs > 0)
    return found, means


def check(name, rho, n, within):
    """All policies on the same jobs; the intervals must be narrow enough to tell something."""
    for row in ROWS:
        found, expected = compare(row, name, rho, n)
        assert np.all(np.abs(found.mean) <= found.half_width), (row.id, name, rho, found, expected)
        assert np.median(found.half_width / expected) <= within, (row.id, found, expected)


@pytest.mark.parametrize("rho", LOADS)
@pytest.mark.parametrize("name", LAWS)
def test_models_agree_with_jobs(name, rho):
    check(name, rho, LANES["fast"], within=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("rho", LOADS)
@pytest.mark.parametrize("name", LAWS)
def test_models_agree_with_many_jobs(name, rho):
    check(name, rho, LANES["slow"], within=0.15)


def test_a_wrong_model_is_found_out():
    """Sharing is not least attained service, and a load 3 % off is not the load."""
    for wrong, rho in (("ps", 0.85), ("las", 0.85 * 0.97)):
        law = law_of("bounded-pareto")
        run = simulate_jobs("las", *jobs_of("bounded-pareto", 0.85, 1_000_000))
        expected = by_model(POLICIES[wrong], MG1(law, rho), run.sizes, {})
        found = run.mean_by_size(classes(law), run.response_time - expected, level=SURE)
        assert np.any(np.abs(found.mean) > found.half_width), (wrong, found)


def test_every_policy_is_played_or_says_why_not():
    assert set(NOT_PLAYED) <= set(POLICIES)
    for row in ROWS:
        assert played(row, **parameters(row, law_of("exponential")))


# What holds whatever the policy. The tolerance is that of quadrature and of integral equations.

SIZES = np.r_[np.geomspace(1e-3, 1e3, 61)]
POLICY = st.sampled_from(ROWS)
LAW = st.sampled_from(LAWS)
LOAD = st.floats(0.01, 0.98)
CUTS = st.tuples(st.floats(0.05, 0.6), st.floats(0.65, 0.99))
EXACT = 1e-6


@settings(max_examples=60)
@given(POLICY, LAW, LOAD, CUTS)
def test_longer_jobs_take_longer_and_none_less_than_its_size(row, name, rho, cuts):
    law = law_of(name)
    times = row.response(MG1(law, rho), SIZES, **parameters(row, law, *cuts))
    assert np.all(times >= SIZES * (1 - EXACT))
    assert np.all(np.diff(times) >= -EXACT * times[1:])


@settings(max_examples=60)
@given(POLICY, LAW, LOAD, LOAD, CUTS)
def test_more_load_never_helps(row, name, first, second, cuts):
    law = law_of(name)
    given = parameters(row, law, *cuts)
    low, high = (row.response(MG1(law, rho), SIZES, **given) for rho in sorted((first, second)))
    assert np.all(low <= high * (1 + EXACT))


@settings(max_examples=30)
@given(POLICY, LAW, CUTS)
def test_without_load_a_job_takes_its_size(row, name, cuts):
    """To first order in the load the rest is at most rho times the size, and the residual work of who is there."""
    law, rho = law_of(name), 1e-9
    times = row.response(MG1(law, rho), SIZES, **parameters(row, law, *cuts))
    residual = law.moment(2) / law.mean
    assert np.all(np.abs(times - SIZES) <= 10 * rho * (SIZES + residual) + EXACT * 1e-3 * SIZES)
