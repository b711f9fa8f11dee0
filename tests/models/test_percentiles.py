"""Percentiles of response times from rank functions: closed forms, moments, simulated jobs, limits, refusals."""

import functools
import math

import numpy as np
import pytest
from test_soap import brute

from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.jobs import JobRun, played, poisson_jobs, simulate_jobs
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, policy
from mayfly.models.ranks import soap
from mayfly.models.ranks.age_rank import AgeRank, table
from mayfly.models.ranks.gittins import ATOMS
from mayfly.models.ranks.inversion import TERMS, euler, invert, quantiles
from mayfly.models.ranks.percentiles import overall, percentiles
from mayfly.models.ranks.point_masses import COARSE
from mayfly.models.ranks.policies import RANKS
from mayfly.models.ranks.ranks import Constant, Part, Remaining
from mayfly.models.ranks.tabled import Tabled
from mayfly.models.ranks.transform import Response, busy
from mayfly.models.ranks.work_transform import work_of

INVERSION = 10 ** (-0.6 * TERMS)
"""Error of a smooth tail: Abate and Whitt 2006, 4."""

SPECS = [
    "exponential:mean=1",
    "hyperexponential:mean=1,cov=3",
    "bounded-pareto:min=1,max=1e3,alpha=1.1",
    "lognormal:mean=1,cov=1.5",
    "shifted-exponential:min=1,mean=2",
    "zipf:min=6,mean=15,cov=2",
    "deterministic:value=3",
]
law_of = functools.cache(service_law)
SURE = 1 - 1e-5
"""Of an interval: fewer than 1 in 100 runs of these tests would fail by chance."""


def ranks(law):
    """Every rank function of a policy, and two of nobody's."""
    both = [float(law.quantile(p)) * 0.75 for p in (0.4, 0.9)]
    both[1] = max(both[1], 1.2 * both[0])
    given = {"levels-fcfs": {"threshold": both}}
    names = [name for name in RANKS if name != "gittins" or not isinstance(law, Discrete) or len(law.values) <= ATOMS]
    found = {name: RANKS[name](law, **given.get(name, {})) for name in names}
    found["ahead again"] = table([0, both[0], both[1]], [0, 2, 1])
    found["falling"] = AgeRank(lambda age: -age)
    return found


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_waits_in_order_of_arrival_are_exponential_for_exponential_jobs(rho):
    queue, q = MG1(law_of("exponential:mean=1"), rho), np.array([10.0, 50.0, 90.0, 99.0, 99.9])
    wait = np.maximum(np.log(rho / (1 - q / 100)) / (1 - rho), 0.0)
    found = percentiles(queue, np.array([0.5, 4.0]), Constant(), q)
    # A tail off by d moves a percentile by d over the density there.
    slack = INVERSION / ((1 - q / 100) * (1 - rho)) + 1e-7 * (wait + 1)
    assert np.all(np.abs(found - wait[:, None] - [0.5, 4.0]) <= slack[:, None])
    sojourn = -np.log(1 - q / 100) / (1 - rho)
    assert overall(queue, Constant(), q) == pytest.approx(sojourn, rel=1e-3)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_waits_for_equal_jobs_are_those_of_the_series(rho):
    """M/D/1: P(W <= t) = (1 - rho) sum of (-rho (t - k))^k e^(rho (t - k)) / k! (Erlang 1909)."""
    found = Response(MG1(law_of("deterministic:value=1"), rho), Constant(), np.ones(1))
    for t in (0.3, 0.7, 1.6, 2.4, 5.5):
        below = (1 - rho) * sum(
            (-rho * (t - k)) ** k * math.exp(rho * (t - k)) / math.factorial(k) for k in range(int(t) + 1)
        )
        assert 1 - found.tail(np.zeros(1, int), np.array([t]))[0] == pytest.approx(below, abs=1e-4), t


@pytest.mark.parametrize("spec", SPECS)
def test_the_transform_has_the_mean_of_the_formula(spec):
    law = law_of(spec)
    queue = MG1(law, 0.7)
    at = np.unique(law.quantile(np.array([0.2, 0.5, 0.9, 0.99])))
    for name, rank in ranks(law).items():
        expected = soap.response(queue, at, rank)
        found = Response(queue, rank, at)
        row, least = np.arange(len(at)), 1e-5 / expected
        # (1 - T(s)) / s less its bend: s E[T^2] / 2 + O(s^2) is taken out by a second step.
        one, two = ((1 - found.transform(row, (least * k)[:, None] + 0j).real[:, 0]) / (least * k) for k in (1.0, 2.0))
        assert at + 2 * one - two == pytest.approx(expected, rel=1e-5), name


@pytest.mark.parametrize("spec", SPECS)
def test_the_transform_has_the_variance_of_kleinrock(spec):
    """First come first served and least attained service: Kleinrock 1975, 5.7; 1976, 4.6, by way of busy periods."""
    law = law_of(spec)
    queue = MG1(law, 0.6)
    at = np.unique(law.quantile(np.array([0.3, 0.8])))
    for name in ("fifo", "las"):
        cut = np.full(len(at), np.inf) if name == "fifo" else at
        m1, m2, m3 = (queue.arrival_rate * law.truncated(k, cut) for k in (1, 2, 3))
        work, free = m2 / (2 * (1 - m1)), 1 - m1
        spread = work**2 + m3 / (3 * free)
        if name == "las":
            spread = spread / free**2 + (work + at) * m2 / free**3
        mean = soap.response(queue, at, RANKS[name](law)) - at
        found = Response(queue, RANKS[name](law), at)
        h = 3e-4 / (mean + np.sqrt(spread))
        values = [found.transform(np.arange(len(at)), (h * k)[:, None] + 0j).real[:, 0] for k in (1, 2, 3)]
        # Variance is the bend of log T(s) at 0: three steps, and the known mean, leave O(h^2).
        logs = [np.log(value) + mean * h * k for k, value in enumerate(values, 1)]
        second = 2 * (3 * logs[0] - 0.75 * logs[1] + logs[2] / 9) / h**2
        assert second == pytest.approx(spread, rel=2e-3), name


def simulated(name, law, rho, n, seed):
    given = {}
    if name == "levels-fcfs":
        given["threshold"] = np.array([float(law.quantile(p)) * 0.75 for p in (0.4, 0.95)])
    run = simulate_jobs(played(policy(name), **given), *poisson_jobs(law, rho, n, seed))
    return run, RANKS[name](law, **given)


PLAYED = [name for name in RANKS if POLICIES[name].stations]
FEW = Discrete([1.0, 2.0, 5.0, 20.0], [0.4, 0.3, 0.2, 0.1])
UNEVEN = Discrete([1.0, 2.3, 5.7, 20.0], [0.4, 0.3, 0.2, 0.1])


@pytest.mark.parametrize("law", [FEW, UNEVEN], ids=["lattice", "uneven"])
@pytest.mark.parametrize("name", PLAYED)
def test_percentiles_by_size_agree_with_jobs(name, law):
    run, rank = simulated(name, law, 0.7, 200_000, 5)
    edges = np.r_[0.0, law.values]
    shares = np.array([50.0, 90.0, 99.0])
    late = percentiles(MG1(law, 0.7), law.values, rank, shares)
    check(run, edges, late[:, np.searchsorted(law.values, run.sizes)], shares)


@pytest.mark.parametrize("spec", ["exponential:mean=1", "bounded-pareto:min=1,max=1e2,alpha=1.1"])
@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.slow
def test_percentiles_of_all_jobs_agree_with_jobs(name, spec):
    law = law_of(spec)
    run, rank = simulated(name, law, 0.7, 200_000, 6)
    shares = np.array([50.0, 90.0, 99.0])
    late = overall(MG1(law, 0.7), rank, shares)
    check(run, np.array([0.0, np.inf]), np.broadcast_to(late[:, None], (3, len(run.sizes))), shares)


@pytest.mark.parametrize("law", [FEW, UNEVEN], ids=["lattice", "uneven"])
@pytest.mark.parametrize("ages, values", [([0, 1.5, 4], [0, 2, 1]), ([0, 1, 3, 10], [1, 0, 2, -1])])
def test_jobs_that_get_ahead_again_agree_with_a_simulation(law, ages, values):
    """Gittins on discrete laws is such a table; its rank falls between the steps besides."""
    rank, shares = table(ages, values), np.array([50.0, 90.0, 99.0])
    arrivals, sizes = poisson_jobs(law, 0.7, 60_000, 8)
    run = JobRun(arrivals, sizes, brute(rank, arrivals.tolist(), sizes.tolist()), np.full(len(sizes), -1))
    late = percentiles(MG1(law, 0.7), law.values, rank, shares)
    check(run, np.r_[0.0, law.values], late[:, np.searchsorted(law.values, sizes)], shares)


@pytest.mark.parametrize("name", ["las", "psjf", "srpt"])
def test_sizes_that_are_multiples_of_nothing_are_rounded(name):
    law = Discrete([1.0, 2.0**0.5, math.e, 13.7], [0.4, 0.3, 0.2, 0.1])
    run, rank = simulated(name, law, 0.7, 200_000, 9)
    shares = np.array([50.0, 75.0, 90.0, 99.0])
    late = percentiles(MG1(law, 0.7), law.values, rank, shares)
    # A step for each of up to three jobs that come meanwhile.
    slack = 3 * law.smallest / COARSE
    check(run, np.r_[0.0, law.values], late[:, np.searchsorted(law.values, run.sizes)], shares, slack)


def test_a_wrong_model_is_found_out():
    """A load 3 % off is not the load, and what remains is not the size."""
    run, rank = simulated("psjf", FEW, 0.7, 200_000, 5)
    shares = np.array([90.0, 99.0])
    for wrong, rho in ((rank, 0.68), (RANKS["srpt"](FEW), 0.7)):
        late = percentiles(MG1(FEW, rho), FEW.values, wrong, shares)
        with pytest.raises(AssertionError):
            check(run, np.r_[0.0, FEW.values], late[:, np.searchsorted(FEW.values, run.sizes)], shares)


def check(run, edges, late, shares, wide=0.0):
    """As many jobs are done by a percentile as it says, and no more before it: jumps may lie at it."""
    for q, times in zip(shares, late, strict=True):
        by, before = (
            run.mean_by_size(
                edges, (run.response_time <= times * (1 + 1e-5 * way) + wide * way).astype(float), level=SURE
            )
            for way in (1, -1)
        )
        assert np.all(by.mean + by.half_width >= q / 100), (q, by)
        assert np.all(before.mean - before.half_width <= q / 100), (q, before)


def test_equal_jobs_under_las_end_in_steps():
    """Nobody in the system and k others while they are served: the law of Borel and Tanner."""
    rho = 0.6
    found = Response(MG1(law_of("deterministic:value=2"), rho), AgeRank(lambda age: age), np.array([2.0]))
    k = np.arange(1, 9)
    mass = (1 - rho) * np.exp(-rho * (k + 1)) * (rho * (k + 1)) ** k / [math.factorial(j) for j in k] / (k + 1)
    near = np.array([2.0 * k * (1 + slack) for slack in (-1e-9, 1e-9)])
    jump = found.tail(np.zeros(8, int), near[0]) - found.tail(np.zeros(8, int), near[1])
    assert jump == pytest.approx(mass, abs=1e-7)
    assert found.at_once == pytest.approx([(1 - rho) * math.exp(-rho)], rel=1e-12)


def test_busy_periods_are_those_of_exponential_jobs():
    rng = np.random.default_rng(1)
    s = (10.0 ** rng.uniform(-6, 3, 200) * np.exp(1j * rng.uniform(-1.5, 1.5, 200)))[None, :]
    for rho in (0.1, 0.9, 0.999):
        whole = [Part(np.zeros(1), np.full(1, np.inf), np.zeros(1))]
        sigma = busy(work_of(MG1(law_of("exponential:mean=1"), rho), whole, 1), s, np.array([rho]))
        both = 1 + rho + s
        root = np.sqrt(both**2 - 4 * rho)
        expected = 2 / (both + np.where((np.conj(both) * root).real > 0, root, -root))
        assert np.abs(1 / (1 + sigma) / expected - 1).max() < 1e-9


@pytest.mark.parametrize("spec", ["exponential:mean=1", "lognormal:mean=1,cov=1.5", "zipf:min=6,mean=15,cov=2"])
def test_the_table_agrees_with_the_inversion(spec):
    queue = MG1(law_of(spec), 0.7)
    at = np.unique(queue.law.quantile(np.array([0.3, 0.9])))
    row, time = np.repeat(np.arange(len(at)), 6), np.tile(np.geomspace(0.3, 9, 6) * queue.law.mean, len(at))
    both = [kind(queue, Remaining(), at).tail(row, time) for kind in (Tabled, Response)]
    assert np.abs(both[0] - both[1]).max() < 5e-4


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.slow
def test_percentiles_rise_with_share_and_size(spec):
    law = law_of(spec)
    at = np.unique(np.r_[0.0, law.quantile(np.linspace(0.05, 0.99, 8))])
    for name, rank in ranks(law).items():
        found = percentiles(MG1(law, 0.8), at, rank, np.array([20.0, 50.0, 90.0, 99.0]))
        assert np.all(found >= at), name
        assert np.all(np.diff(found, axis=0) >= 0), name
        assert np.all(np.diff(found, axis=1) >= -1e-3 * found[:, 1:]), name


def test_without_load_the_size_is_all():
    law = law_of("lognormal:mean=1,cov=1.5")
    at = np.array([0.2, 1.0, 5.0])
    for name, rank in ranks(law).items():
        found = percentiles(MG1(law, 1e-6), at, rank, np.array([50.0, 99.0]))
        assert found == pytest.approx(np.array([at, at]), rel=1e-9), name


def test_overload_leaves_percentiles_to_the_sizes_that_are_served():
    queue = MG1(law_of("bounded-pareto:min=1,max=1e4,alpha=1.5"), 1.2)
    by_size, of_all = policy("las").percentiles(queue, [1.0, 10.0, 100.0], [50.0, 99.0])
    assert np.all(np.isfinite(by_size[:, :2]))
    assert np.all(np.isinf(by_size[:, 2]))
    assert np.isfinite(of_all[0]) and np.isinf(of_all[1])


def test_functions_without_a_jump_are_inverted_to_the_stated_error():
    time = np.array([0.1, 1.0, 7.0])
    s = euler()[0] / time[:, None]
    assert invert(1 / np.sqrt(s * s + 1), time) == pytest.approx(
        [0.99750156, 0.76519769, 0.30007927], abs=10 * INVERSION
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: policy("ps").percentiles(MG1(law_of(SPECS[0]), 0.5), [1.0], [50]), "no rank"),
        (lambda: policy("run2c").percentiles(MG1(law_of(SPECS[0]), 0.5), [1.0], [50], threshold=1.0), "no rank"),
        (lambda: policy("lasack").percentiles(MG1(law_of(SPECS[0]), 0.5), [1.0], [50]), "two kinds of jobs"),
        (lambda: policy("las").percentiles(MG1(law_of(SPECS[0]), 0.5), [1.0], [100]), "below 100"),
        (lambda: policy("las").percentiles(MG1(law_of(SPECS[0]), 0.5), [-1.0], [50]), "0 or more"),
        (lambda: policy("srpt").percentiles(MG1(law_of(SPECS[0]), 1.5), [1.0], [50]), "must be below 1"),
        (lambda: euler(40), "from 2 to 20"),
        (lambda: quantiles(lambda row, t: np.ones(len(t)), np.array([[0.5]]), np.zeros(1), np.ones(1)), "no bracket"),
    ],
)
def test_bad_input_is_refused_in_one_line(make, said):
    with pytest.raises(MayflyError) as refused:
        make()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_policy_is_a_rank_function_or_says_why_not():
    for row in POLICIES.values():
        assert (row.id in RANKS) != bool(row.unranked), row.id
