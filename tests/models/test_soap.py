"""Means of response times from rank functions: closed forms, order of policies, brute force, refusals."""

import functools
import heapq
import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws import service_spec as law_spec
from mayfly.laws.service import Discrete
from mayfly.models.queue.jobs import poisson_jobs, simulate_jobs
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, policy
from mayfly.models.ranks import gittins, soap
from mayfly.models.ranks.age_rank import AgeRank, steps, table
from mayfly.models.ranks.policies import RANKS

# The rank of Gittins is kept with the law.
service_law = functools.cache(law_spec.service_law)

SPECS = [
    "exponential:mean=1",
    "hyperexponential:mean=1,cov=5",
    "bounded-pareto:min=1,max=1e6,alpha=1.1",
    "lognormal:mean=1,cov=3",
    "shifted-exponential:min=1,mean=3",
    "zipf:min=6,mean=40,cov=6",
    "deterministic:value=3",
]
THRESHOLDS = [2.0, 20.0]
# Jobs of 0.5 go first, then those of 3 and more, whose rank falls, climbs and jumps.
WINDING = AgeRank(lambda age: np.where(age < 4, np.abs(age - 2.0) + (age < 1) * -5, 1.0), [1.0, 2.0, 4.0])


def queue(spec, rho=0.8):
    return MG1(service_law(spec), rho)


def sizes(law):
    ends = np.geomspace(float(law.quantile(0.01)), float(law.quantile(0.9999)), 60)
    return np.unique(np.r_[0.3 * law.smallest + 0.01, ends, law.quantile(np.array([0.5, 0.9]))])


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", [name for name in RANKS if name != "gittins"])
def test_the_rank_function_gives_the_classic_formula(name, spec):
    mg1, given = queue(spec), {"threshold": THRESHOLDS} if name == "levels-fcfs" else {}
    at = sizes(mg1.law)
    found = soap.response(mg1, at, RANKS[name](mg1.law, **given))
    assert found == pytest.approx(policy(name).response(mg1, at, **given), rel=1e-10)


@pytest.mark.parametrize(
    "rank", [WINDING, table([0, 1, 3, 20], [0, 2, 1, 5]), AgeRank(lambda age: -age), steps([1, 2])]
)
@pytest.mark.parametrize("rho", [0.3, 0.8, 0.95])
def test_no_policy_without_sizes_changes_the_mean_of_exponential_jobs(rank, rho):
    """Kleinrock's conservation law, for memoryless sizes: the number of jobs does not depend on which one is served."""
    mg1 = queue("exponential:mean=1", rho)
    assert mg1.law.expect(lambda x: soap.response(mg1, x, rank), rank.bends()) == pytest.approx(1 / (1 - rho), rel=1e-9)


@pytest.mark.parametrize("rank", [WINDING, AgeRank(lambda age: age), table([0, 1, 3, 20], [0, 2, 1, 5])])
@pytest.mark.parametrize(
    "spec", ["lognormal:mean=3,cov=1", "shifted-exponential:min=1,mean=3", "zipf:min=2,mean=4,cov=1"]
)
def test_no_policy_without_sizes_changes_the_work(rank, spec):
    """Conservation for any law: the time jobs spend at each age, weighed by what they have left there, is the work."""
    mg1 = queue(spec, 0.7)
    law = mg1.law
    edges = np.unique(np.r_[0.0, np.linspace(0, 60, 6001), law.values if isinstance(law, Discrete) else []])
    times = soap.response(mg1, np.nextafter(edges, np.inf), rank)
    times[0] = 0.0
    middles = edges[:-1] + np.diff(edges) / 2
    residual = law.mean - law.truncated(1, middles)
    work = mg1.arrival_rate * float(np.sum(np.diff(times) * residual))
    assert work == pytest.approx(float(mg1.backlog(np.inf)), rel=2e-3)


def test_means_agree_with_mpmath():
    lam = mp.mpf(1) / 2

    def rho(t):
        return lam * (1 - mp.exp(-t) * (1 + t))

    mg1 = queue("exponential:mean=1", 0.5)
    for x in (0.3, 2.0, 9.0):
        squares = mp.quad(lambda t: t * t * mp.exp(-t), [0, x]) + x * x * mp.exp(-x)
        srpt = lam * squares / 2 / (1 - rho(x)) ** 2 + mp.quad(lambda t: 1 / (1 - rho(t)), [0, x])
        assert float(policy("srpt").response(mg1, x)) == pytest.approx(float(srpt), rel=1e-12)
        sjf = lam / (1 - rho(x)) ** 2 + x
        assert float(policy("sjf").response(mg1, x)) == pytest.approx(float(sjf), rel=1e-12)


def brute(rank, arrivals, work):
    """Response times of jobs served by a table of ranks, event by event."""
    starts = [piece.start for piece in rank.pieces]
    ranks = [piece.first for piece in rank.pieces]
    age, end = [0.0] * len(work), [0.0] * len(work)
    waiting, now, next_job, n = [], 0.0, 0, len(work)
    while next_job < n or waiting:
        if not waiting:
            now = arrivals[next_job]
        while next_job < n and arrivals[next_job] <= now:
            heapq.heappush(waiting, (ranks[0], next_job))
            next_job += 1
        _, job = waiting[0]
        place = int(np.searchsorted(starts, age[job], side="right")) - 1
        cut = min(work[job], starts[place + 1] if place + 1 < len(starts) else math.inf)
        step = min(cut - age[job], arrivals[next_job] - now if next_job < n else math.inf)
        now += step
        age[job] = cut if step == cut - age[job] else age[job] + step
        if age[job] >= work[job]:
            end[job] = now
            heapq.heappop(waiting)
        elif age[job] == cut:
            heapq.heapreplace(waiting, (ranks[place + 1], job))
    return np.array(end) - arrivals


def within(times, expected, batches=40):
    """Whether means of two lists differ by no more than chance: batches of neighbours, 1 in 10000."""
    gaps = np.array([part.mean() for part in np.array_split(times - expected, batches)])
    return abs(gaps.mean()) <= 4.3 * gaps.std(ddof=1) / math.sqrt(batches)


@pytest.mark.parametrize(
    "spec", ["lognormal:mean=3,cov=1.5", "zipf:min=2,mean=4,cov=1", "bounded-pareto:min=1,max=50,alpha=1"]
)
def test_jobs_that_get_ahead_again_agree_with_a_simulation(spec):
    law = service_law(spec)
    rank = table([0, 2, 3, 5, 20], [0, 3, 1, 2, -1])
    arrivals, work = poisson_jobs(law, 0.7, 40_000, seed=3)
    times = brute(rank, arrivals.tolist(), work.tolist())
    expected = soap.response(MG1(law, 0.7), work, rank)
    for low, high in ((0, 2), (2, 3), (3, 5), (5, 20), (20, 1e9)):
        mine = (work > low) & (work <= high)
        if mine.sum() > 400:
            assert within(times[mine], expected[mine]), (spec, low, times[mine].mean(), expected[mine].mean())


@pytest.mark.parametrize("spec", [*SPECS[:5], "deterministic:value=3", "weibull:shape=2,mean=1"])
def test_order_of_policies(spec):
    mg1 = queue(spec)
    means = {name: policy(name).mean(mg1) for name in ("fifo", "las", "srpt", "psjf", "sjf", "gittins")}
    assert all(means["srpt"] <= mean * (1 + 1e-9) for mean in means.values()), means
    blind = [means[name] for name in ("fifo", "las")]
    blind += [
        policy("levels-fcfs").mean(mg1, threshold=[c * mg1.law.mean, 9.0 * mg1.law.mean]) for c in (0.3, 1.0, 3.0)
    ]
    assert all(means["gittins"] <= mean * (1 + 1e-7) for mean in blind), (means, blind)


@pytest.mark.parametrize(
    "spec", ["hyperexponential:mean=1,cov=5", "pareto-ii:shape=2.5,mean=3", "weibull:shape=0.5,mean=1"]
)
def test_gittins_is_least_attained_service_where_the_hazard_rate_falls(spec):
    mg1 = queue(spec)
    at = sizes(mg1.law)
    assert policy("gittins").response(mg1, at) == pytest.approx(policy("las").response(mg1, at), rel=1e-9)


@pytest.mark.parametrize("spec", ["exponential:mean=2", "shifted-exponential:min=1,mean=3", "weibull:shape=2,mean=1"])
def test_gittins_is_fifo_where_new_jobs_are_better_than_used(spec):
    mg1 = queue(spec)
    at = sizes(mg1.law)
    assert policy("gittins").response(mg1, at) == pytest.approx(policy("fifo").response(mg1, at), rel=1e-9)


@pytest.mark.parametrize("spec", ["bounded-pareto:min=1,max=1e6,alpha=1.1", "lognormal:mean=1,cov=3"])
def test_the_rank_of_gittins_is_the_least_ratio(spec):
    law = service_law(spec)
    rank = gittins.rank(law)
    ages = np.geomspace(0.01, float(law.quantile(0.999)), 40)
    ends = np.geomspace(0.01, law.edges[-1], 40_000)
    for age, found in zip(ages, rank._rank(ages), strict=True):
        beyond = ends[ends > age * 1.001]
        gain = law.survival(age) - law.survival(beyond)
        ratios = (law.truncated(1, beyond) - law.truncated(1, age)) / np.where(gain > 0, gain, np.nan)
        now = float(law.survival(age) / law.pdf(age)) if law.pdf(age) > 0 else math.inf
        assert found == pytest.approx(min(float(np.nanmin(ratios)), now), rel=1e-4)
        assert found <= min(float(np.nanmin(ratios)), now) * (1 + 1e-7)


def test_gittins_of_few_sizes_is_the_best_of_all_tables():
    """Sizes 1, 6 and 14: a rank by level of service; all orders of three stages are tried."""
    mg1 = MG1(Discrete([1.0, 6.0, 14.0]), 0.8)
    tables = [table([0, 1, 6], ranks) for ranks in itertools.product((0, 1, 2), repeat=3)]
    means = [mg1.law.expect(lambda x, rank=rank: soap.response(mg1, x, rank)) for rank in tables]
    assert policy("gittins").mean(mg1) <= min(means) * (1 + 1e-12)


def test_overload_serves_the_sizes_that_simulated_jobs_say():
    law = service_law("zipf:min=2,mean=8,cov=2")
    arrivals, work = poisson_jobs(law, 1.3, 200_000)
    for order in ("srpt", "psjf", "sjf"):
        times = policy(order).response(MG1(law, 1.3), law.values)
        last = law.values[np.isfinite(times)][-1]
        run = simulate_jobs(order, arrivals, work, until=float(arrivals[-1]))
        served = run.sizes <= 0.6 * last
        late = (run.arrivals[served] > arrivals[-1] / 20) & (run.arrivals[served] < arrivals[-1] * 0.95)
        assert np.mean(np.isnan(run.response_time[served][late])) < 1e-4
        late &= np.isfinite(run.response_time[served])
        expected = np.interp(run.sizes[served][late], law.values, times)
        assert within(run.response_time[served][late], expected), order


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: table([0, 3, 2], [0, 1, 2]), "must be ages above 0 that ascend"),
        (lambda: table([1, 3], [0, 1]), "must begin at 0"),
        (lambda: table([0, 3], [0]), "must be as many"),
        (lambda: AgeRank(lambda age: np.abs(age - 2)), "name where it turns"),
        (lambda: AgeRank(lambda age: age * math.nan), "must be a number at every age"),
        (lambda: soap.response(queue(SPECS[0], 1.2), np.array([0.5]), table([0, 1, 2], [1, 2, 0])), "must be below 1"),
        (lambda: policy("gittins").mean(queue("zipf:min=6,mean=40,cov=6")), "at most 500 different sizes"),
    ],
)
def test_bad_input_is_refused_in_one_line(make, said):
    with pytest.raises(MayflyError) as refused:
        make()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_rank_is_of_a_policy():
    assert set(RANKS) <= set(POLICIES)
