"""The job-level simulation against closed forms that do not go through the models, and its intervals against chance.

That it serves jobs as its orders say is tested in crates/jobs/tests/orders.rs.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.laws.service import deterministic
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.jobs import Level, levels, played, poisson_jobs, ratio_means, simulate_jobs, simulate_poisson
from mayfly.models.queue.policies import POLICIES, Policy

ALL = [0.0, math.inf]
BLIND = ["fcfs", "lcfs", "ps", "las"]
"""Orders that do not know sizes."""

EXPONENTIAL = service_law("exponential:mean=2")
HYPER = service_law("hyperexponential:mean=1,cov=3")
SURE = 1 - 1e-4
"""Level of each interval below: some fifty are checked, so by chance one of two hundred versions of this file fails."""


@pytest.fixture(scope="module")
def hyper_jobs():
    """Half a million of them: their quantiles take long to find."""
    return poisson_jobs(HYPER, 0.7, 500_000)


def run(order, law, rho, n, seed=1):
    return simulate_jobs(order, *poisson_jobs(law, rho, n, seed))


def close(means, expected, *, within):
    """Each mean is in its interval, and the interval is no wider than a part of it."""
    assert np.all(np.abs(means.mean - expected) <= means.half_width), (means, expected)
    assert np.all(means.half_width <= within * np.abs(expected)), (means, expected)


# What jobs do.


def test_all_orders_end_all_jobs_and_each_takes_its_size_or_longer():
    jobs = poisson_jobs(HYPER, 0.8, 20_000)
    for order in _native.job_orders():
        found = simulate_jobs(order, *jobs)
        assert np.all(found.response_time >= found.sizes * (1 - 1e-9)), order
        assert np.array_equal(found.cycle, simulate_jobs("fcfs", *jobs).cycle), order


def test_first_come_first_served_is_the_recursion_of_lindley():
    found = run("fcfs", HYPER, 0.9, 5000)
    end, expected = 0.0, []
    for arrival, size in zip(found.arrivals, found.sizes, strict=True):
        end = max(end, arrival) + size
        expected.append(end - arrival)
    np.testing.assert_allclose(found.response_time, expected, rtol=1e-9)


def test_jobs_of_one_size_leave_least_attained_service_when_the_busy_period_ends():
    """All of them are at the same age when the last one of the busy period has come to it."""
    found = run("las", deterministic(1.0), 0.7, 20_000)
    ends = found.arrivals + found.response_time
    last = np.full(found.cycle.max() + 1, -np.inf)
    np.maximum.at(last, found.cycle, ends)
    np.testing.assert_allclose(ends, last[found.cycle], rtol=1e-12)


def test_what_has_not_ended_is_not_counted_and_told():
    found = simulate_jobs("fcfs", [0.0, 1.0, 2.0], [1.0, 3.0, 4.0], until=4.0)
    assert found.response_time[:2].tolist() == [1.0, 3.0]
    assert math.isnan(found.response_time[2]) and found.cycle[2] == -1
    means = found.mean_by_size([0.0, 2.0, 3.5, 5.0], batches=2)
    assert means.jobs.tolist() == [1, 1, 1] and means.mean[0] == 1.0 and math.isnan(means.mean[2])


def test_in_overload_least_attained_service_ends_the_small_jobs():
    """Bounded by Chen 2012, Eq. 5.3 at the size where the load of the jobs cut off there is below 1."""
    arrivals, sizes = poisson_jobs(service_law("bounded-pareto:min=1,max=1e5,alpha=1.1"), 1.5, 200_000)
    found = simulate_jobs("las", arrivals, sizes, until=arrivals[-1])
    small = sizes < 20
    assert np.mean(np.isnan(found.response_time[sizes > 20_000])) > 0.5
    assert np.mean(np.isnan(found.response_time[small])) < 1e-3


def test_weights_are_work_and_not_age():
    found = simulate_jobs("las", [0.0, 0.0], [10.0, 10.0], [1.0, 0.1])
    np.testing.assert_allclose(found.response_time, [11.0, 11.0])
    halved = simulate_jobs("srpt", [0.0, 0.5], [4.0, 4.0], [1.0, 0.5])
    np.testing.assert_allclose(halved.response_time, [6.0, 2.0])


def test_one_level_of_thresholds_beyond_all_jobs_changes_nothing():
    jobs = poisson_jobs(service_law("bounded-pareto:min=1,max=1e3,alpha=1.1"), 0.8, 20_000)
    for order in _native.job_orders():
        whole = simulate_jobs(order, *jobs).response_time
        assert np.array_equal(simulate_jobs(levels(f"{order}|fcfs", [2e3]), *jobs).response_time, whole), order


def test_many_levels_are_least_attained_service():
    """A hundred thin levels in order of arrival: only within a level does who came first go first."""
    jobs = poisson_jobs(service_law("bounded-pareto:min=1,max=100,alpha=1.1"), 0.7, 20_000)
    thin = simulate_jobs(levels("fcfs*", np.geomspace(1.0, 99.0, 31).tolist()), *jobs)
    sharing = simulate_jobs(levels("las*", np.geomspace(1.0, 99.0, 31).tolist()), *jobs)
    exact = simulate_jobs("las", *jobs)
    np.testing.assert_allclose(sharing.response_time, exact.response_time, rtol=1e-9)
    assert abs(thin.response_time.mean() / exact.response_time.mean() - 1) < 0.1


# Closed forms of M/M/1 and M/G/1.


@pytest.mark.parametrize("order", BLIND)
@pytest.mark.parametrize("rho", [0.3, 0.7, 0.9])
def test_exponential_sizes_have_one_mean_whatever_the_order(order, rho):
    """E[X] / (1 - rho): Kleinrock 1976, 4.9, and Little's law."""
    jobs = {0.3: 2e5, 0.7: 4e5, 0.9: 2e6}[rho]
    close(simulate_poisson(order, EXPONENTIAL, rho, jobs, ALL, level=SURE), 2 / (1 - rho), within=0.08)


def test_exponential_sizes_in_order_of_arrival_have_exponential_response_times():
    """M/M/1: P(T > t) = exp(-(1 - rho) t / E[X])."""
    found = run("fcfs", EXPONENTIAL, 0.5, 400_000)
    for p in (0.5, 0.9, 0.99):
        above = (found.response_time > -math.log(1 - p) * 2 / 0.5).astype(float)
        close(found.mean_by_size(ALL, above, level=SURE), 1 - p, within=0.25)


@pytest.mark.parametrize("order", ["ps", "lcfs"])
def test_sharing_and_interruption_give_each_job_its_size_over_the_idle_share(order, hyper_jobs):
    """T(x) = x / (1 - rho) whatever the law (Kleinrock 1976, 4.4)."""
    found = simulate_jobs(order, *hyper_jobs)
    means = found.mean_by_size([0.0, 0.3, 1.0, 3.0, math.inf], found.response_time - found.sizes / 0.3, level=SURE)
    assert np.all(np.abs(means.mean) <= means.half_width), means
    assert np.all(means.half_width <= 0.15 * np.array([0.3, 1, 3, 10]) / 0.3), means


def test_one_size_makes_least_attained_service_longer_than_order_of_arrival_by_the_idle_share():
    """FIFO / (1 - rho): Chen 2012, 5.3.1, Eq. 5.7 to 5.9."""
    one, rho = deterministic(1.0), 0.6
    wait = rho / 2 / (1 - rho)
    close(simulate_poisson("fcfs", one, rho, 4e5, ALL, level=SURE), wait + 1, within=0.02)
    close(simulate_poisson("las", one, rho, 4e5, ALL, level=SURE), (wait + 1) / (1 - rho), within=0.05)


@pytest.mark.parametrize(("cov", "expected", "within"), [(2, 1.78, 0.02), (5, 1.69, 0.05), (10, 1.67, 0.1)])
def test_means_of_least_attained_service_with_balanced_hyperexponential_sizes(cov, expected, within):
    """Balanced: both kinds of jobs are half of the work, p m1 = (1 - p) m2. The means are given to a hundredth."""
    p = (1 + math.sqrt((cov**2 - 1) / (cov**2 + 1))) / 2
    rng, n = np.random.default_rng(2), 1_000_000
    sizes = rng.exponential(size=n) * np.where(rng.random(n) < p, 0.5 / p, 0.5 / (1 - p))
    found = simulate_jobs("las", np.cumsum(rng.exponential(size=n)) / 0.5, sizes)
    means = found.mean_by_size(ALL, level=SURE)
    assert abs(means.mean[0] - expected) <= means.half_width[0] + 0.005, means
    assert means.half_width[0] <= within * expected, means


@pytest.mark.parametrize("order", [*BLIND, levels("ps|ps", [1.0]), levels("las|fcfs|ps", [0.5, 3.0])])
def test_the_work_in_the_system_is_conserved(order, hyper_jobs):
    """Kleinrock 1976, 4.9: the integral of T(x) P(X > x) is E[X^2] / (2 (1 - rho)) for all who do not know sizes.

    As a mean over jobs: of T(X) times P(X > X) / f(X), the inverse of the hazard rate.
    """
    found = simulate_jobs(order, *hyper_jobs)
    weighed = found.response_time * HYPER.survival(found.sizes) / HYPER.pdf(found.sizes)
    close(found.mean_by_size(ALL, weighed, level=SURE), HYPER.moment(2) / 2 / 0.3, within=0.2)


def known_sizes(order, rho):
    """Mean response time by size of exponential jobs of mean 1 under an order that knows sizes; from 0 to 30.

    SRPT: Schrage and Miller 1966; preemptive and non-preemptive shortest job first: Conway, Maxwell, Miller 1967, 8.
    """
    at = np.linspace(0.0, 30.0, 60_001)
    tail = np.exp(-at)
    load, square = rho * (1 - tail * (1 + at)), rho * (2 - tail * (2 + 2 * at + at**2))
    if order == "sjf":
        return at, rho * 2 / 2 / (1 - load) ** 2 + at
    if order == "psjf":
        return at, square / 2 / (1 - load) ** 2 + at / (1 - load)
    middles = (1 / (1 - load[1:]) + 1 / (1 - load[:-1])) / 2
    served = np.r_[0.0, np.cumsum(middles * np.diff(at))]
    return at, (square + rho * at**2 * tail) / 2 / (1 - load) ** 2 + served


@pytest.mark.parametrize("rho", [0.5, 0.8])
@pytest.mark.parametrize("order", ["srpt", "psjf", "sjf"])
def test_orders_that_know_sizes_have_the_means_of_the_textbooks(order, rho):
    law, (at, expected) = service_law("exponential:mean=1"), known_sizes(order, rho)
    edges = [0.0, 0.2, 0.7, 1.5, 3.0, 30.0]
    means = simulate_poisson(order, law, rho, 1e6, edges, less=lambda x: np.interp(x, at, expected), level=SURE)
    assert np.all(np.abs(means.mean) <= means.half_width), means
    assert np.all(means.half_width <= 0.1 * np.interp(edges[1:], at, expected)), means


def test_levels_in_order_of_arrival_wait_for_all_work_above_and_beside_them():
    """(W(b) + x) / (1 - rho(a)) between the thresholds a and b (Kleinrock 1976, 4.7), exponential sizes."""
    rho, cuts = 0.8, [0.0, 0.5, 2.0, math.inf]
    for low, high in itertools.pairwise(cuts):
        share = np.exp(-np.array([low, high]))
        load = rho * (1 - share)
        square = 2 * rho * (1 - share[1] * (1 + (high if high < math.inf else 0)))
        backlog = square / 2 / (1 - load[1])
        means = simulate_poisson(
            levels("fcfs*", cuts[1:-1]),
            service_law("exponential:mean=1"),
            rho,
            1e6,
            [low, high],
            less=lambda x, add=backlog, idle=1 - load[0]: (add + x) / idle,
            level=SURE,
        )
        assert abs(means.mean[0]) <= means.half_width[0] <= 0.15 * (backlog + low) / (1 - load[0]), (low, means)


def test_the_first_level_of_sharing_does_not_see_the_second():
    """T(x) = x / (1 - rho(th)) up to the threshold: Chen 2012, Eq. 5.5."""
    law, threshold = service_law("bounded-pareto:min=1,max=1e3,alpha=1.1"), 10.0
    slope = 1 / (1 - 0.8 * float(law.truncated(1, threshold)) / law.mean)
    mix, edges = levels("ps|ps", [threshold]), [0.0, 2.0, 5.0, threshold]
    means = simulate_poisson(mix, law, 0.8, 1e6, edges, less=lambda x: slope * x, level=SURE)
    assert np.all(np.abs(means.mean) <= means.half_width), means
    assert np.all(means.half_width <= 0.02 * slope * np.array(edges[1:])), means


def test_acknowledgements_and_data_under_least_attained_service():
    """Urvoy-Keller 2007, Eq. 5 to 8 (corrected): both kinds age in data bytes, and need 1 and 0.05 of them.

    Work of both cut off at the same age x delays both: (W(x) + w x) / (1 - rho(x)), rho(x) = sum of l w E[min(X, x)].
    """
    law, weights = service_law("bounded-pareto:min=1,max=1e3,alpha=1.1"), np.array([1.0, 0.05])
    rng, n = np.random.default_rng(7), 1_000_000
    kind, sizes = (rng.random(n) < 0.5).astype(int), law.sample(rng, n)
    rate = 0.8 / (law.mean * weights.mean())
    found = simulate_jobs("las", np.cumsum(rng.exponential(size=n)) / rate, sizes, weights[kind])
    load = rate * weights.mean() * law.truncated(1, sizes)
    backlog = rate * (weights**2).mean() * law.truncated(2, sizes) / 2 / (1 - load)
    expected = (backlog + weights[kind] * sizes) / (1 - load)
    for which in (0, 1):
        # A size of -1 is in no class.
        of_kind = replace(found, sizes=np.where(kind == which, sizes, -1.0))
        edges = [0.0, 2.0, 10.0, 100.0, 1e3]
        means = of_kind.mean_by_size(edges, found.response_time - expected, level=SURE)
        whole = of_kind.mean_by_size(edges, expected, level=SURE).mean
        assert np.all(np.abs(means.mean) <= means.half_width), (which, means)
        assert np.all(means.half_width <= np.array([0.03, 0.03, 0.1, 0.4]) * whole), (which, means, whole)


def test_least_remaining_work_first_has_the_least_mean():
    jobs = poisson_jobs(service_law("bounded-pareto:min=1,max=1e4,alpha=1.1"), 0.8, 200_000)
    means = {order: simulate_jobs(order, *jobs).response_time.mean() for order in _native.job_orders()}
    assert min(means, key=means.get) == "srpt"
    assert means["srpt"] < means["psjf"] < means["las"] < means["ps"] < means["fcfs"]
    assert means["sjf"] < means["fcfs"]


def test_least_attained_service_is_the_best_for_falling_hazard_rates_and_the_worst_for_rising_ones():
    """Of those who do not know sizes (Righter and Shanthikumar 1989), common jobs."""
    falling = poisson_jobs(HYPER, 0.8, 400_000)
    rising = poisson_jobs(service_law("shifted-exponential:min=2,mean=2.5"), 0.8, 400_000)
    mean = {
        name: {order: simulate_jobs(order, *jobs).response_time.mean() for order in ("fcfs", "ps", "las")}
        for name, jobs in (("falling", falling), ("rising", rising))
    }
    assert mean["falling"]["las"] < mean["falling"]["ps"] < mean["falling"]["fcfs"]
    assert mean["rising"]["fcfs"] < mean["rising"]["ps"] < mean["rising"]["las"]


# Intervals and streams.


@pytest.mark.slow
def test_the_intervals_hold_the_mean_as_often_as_they_say():
    """200 runs at level 0.9: 180 within four deviations of a binomial law, 17."""
    held = 0
    for seed in range(200):
        means = simulate_poisson("fcfs", EXPONENTIAL, 0.5, 2e4, ALL, seed=seed, level=0.9)
        held += abs(means.mean[0] - 4.0) <= means.half_width[0]
    assert 163 <= held <= 197


def test_a_run_in_stretches_is_the_run_in_one():
    edges = [0.0, 1.0, 4.0, math.inf]
    streamed = simulate_poisson("las", EXPONENTIAL, 0.8, 3e5, edges, batches=10, seed=3)
    arrivals, sizes = poisson_jobs(EXPONENTIAL, 0.8, 400_000, seed=3)
    whole = simulate_jobs("las", arrivals, sizes)
    counted = whole.cycle < 10 * int(3e5 * 0.2 / 10)
    for i, (low, high) in enumerate(itertools.pairwise(edges)):
        chosen = counted & (low < sizes) & (sizes <= high)
        assert streamed.jobs[i] == chosen.sum()
        assert streamed.mean[i] == pytest.approx(whole.response_time[chosen].mean(), rel=1e-9)


def test_batches_of_busy_periods_and_of_jobs_agree():
    found = run("ps", EXPONENTIAL, 0.7, 200_000)
    cut = simulate_jobs("ps", found.arrivals, found.sizes, until=found.arrivals[-1])
    by_cycles, by_jobs = found.mean_by_size(ALL), cut.mean_by_size([0.0, 1.0])
    assert by_cycles.jobs[0] > 0.95 * 200_000
    assert by_jobs.half_width[0] == pytest.approx(found.mean_by_size([0.0, 1.0]).half_width[0], rel=0.5)


def test_a_mean_of_ratios_has_the_variance_of_independent_batches():
    rng = np.random.default_rng(5)
    counts = rng.integers(50, 150, (4000, 20, 1)).astype(float)
    sums = 3 * counts + rng.normal(size=counts.shape) * np.sqrt(counts)
    found = [ratio_means(n, s, 0.95) for n, s in zip(counts, sums, strict=True)]
    held = np.mean([abs(mean[0] - 3) <= half[0] for mean, half in found])
    assert abs(held - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4000)


# Bad input.


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: simulate_jobs("fifo", [0.0], [1.0]), "order = fifo: must be one of fcfs, lcfs"),
        (lambda: simulate_jobs("ps", [0.0], [0.0]), "size = 0: must be above 0 and finite"),
        (lambda: simulate_jobs("ps", [0.0], [math.nan]), "size = nan: must be above 0 and finite"),
        (lambda: simulate_jobs("ps", [0.0], [1.0], [-1.0]), "weight = -1: must be above 0"),
        (lambda: simulate_jobs("ps", [1.0, 0.0], [1.0, 1.0]), "arrivals: must ascend"),
        (lambda: simulate_jobs("ps", [-1.0], [1.0]), "arrivals: must ascend from 0"),
        (lambda: simulate_jobs("ps", [0.0, 1.0], [1.0]), "must be of the same one-dimensional shape"),
        (lambda: simulate_jobs("ps", [2.0], [1.0], until=1.0), "until = 1: must not be before the last arrival, 2"),
        (lambda: simulate_jobs([Level("ps", 2.0), Level("ps", 2.0), Level("ps")], [], []), "threshold = 2: must be"),
        (lambda: simulate_jobs([Level("ps")] * 40, [], []), "levels = 40: must be from 1 to 32"),
        (lambda: simulate_jobs([Level("ps", 3.0)], [], []), "threshold = 3: must be infinite in the last level"),
        (lambda: levels("ps|ps", [1.0, 2.0]), "levels = ps|ps: must have 1 thresholds, not 2"),
        (lambda: simulate_poisson("ps", EXPONENTIAL, 1.0, 1e5, ALL), "rho = 1.0: must be above 0 and below 1"),
        (lambda: simulate_poisson("ps", EXPONENTIAL, 0.5, 10, ALL), "jobs = 10: must be 64 batches"),
        (lambda: poisson_jobs(EXPONENTIAL, 0.0, 5), "rho = 0.0: must be above 0"),
        (lambda: run("ps", EXPONENTIAL, 0.5, 10).mean_by_size(ALL, batches=1), "batches = 1: must be at least 2"),
        (lambda: played(Policy("x", "x", "x.y")), "policy = x: the job-level simulation cannot play it"),
    ],
)
def test_bad_input_is_refused_in_a_line(call, told):
    with pytest.raises(MayflyError) as refused:
        call()
    assert str(refused.value).startswith(told) or told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_jobs_are_no_run():
    found = simulate_jobs("las", [], [])
    assert len(found.response_time) == 0 and np.isnan(found.mean_by_size(ALL, batches=2).mean[0])


def test_policies_say_how_they_are_played():
    assert played(POLICIES["fifo"]) == [Level("fcfs")]
