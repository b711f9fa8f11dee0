"""Levels of processor sharing (Run2C): closed solutions, limits, conservation, the error stated; LASACK."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue import las, lasack, levels, ps
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES

LAWS = [
    "exponential:mean=1",
    "hyperexponential:mean=1,cov=5",
    "bounded-pareto:min=1,max=1e6,alpha=1.1",
    "lognormal:mean=1,cov=3",
    "shifted-exponential:min=3,mean=10",
    "zipf:min=6,mean=40,cov=6",
]


def closed_form(law, rho, threshold, x):
    """Response times in the low level where sizes are a mixture of exponential ones.

    The Laplace transform A of c' solves A(s) (1 - r sum q_i / (s + m_i)) = 1/s + sum q_i (b + r A(m_i)) / (s + m_i):
    linear in A(m_i), then partial fractions (Avrachenkov, Brown and Osipova 2007).
    """
    parts = law.law
    share, mean = (
        (np.array([parts.share, 1 - parts.share]), np.array([parts.first, parts.second]))
        if hasattr(parts, "share")
        else (np.ones(1), np.array([parts.scale]))
    )
    m, arrivals = 1 / mean, rho / law.mean
    here = share * np.exp(-m * threshold)
    load = arrivals * np.sum((share - here) / m)
    square = np.sum(2 * (share - here * (1 + m * threshold)) / m**2)
    reach, idle = arrivals * square / 2 / (1 - load) + threshold, 1 - load
    r, b = arrivals / idle, 2 * arrivals * reach / idle
    sums = here / (m[:, None] + m)
    at_poles = np.linalg.solve(np.diag(1 - r * sums.sum(axis=1)) - r * sums, 1 / m + b * sums.sum(axis=1))
    bottom = top = np.poly(-m)
    for i in range(len(m)):
        others = np.poly(np.delete(-m, i))
        bottom = np.polysub(bottom, r * here[i] * others)
        top = np.polyadd(top, here[i] * (b + r * at_poles[i]) * np.r_[others, 0])
    y = x - threshold
    needed = np.polyval(top, 0) / np.polyval(bottom, 0) * y
    for pole in np.roots(bottom).real:
        residue = np.polyval(top, pole) / np.polyval(np.polyder(np.r_[bottom, 0]), pole)
        needed = needed + residue * np.expm1(pole * y) / pole
    return (reach + needed) / idle


@pytest.mark.parametrize("spec", [*LAWS[:2], "hyperexponential:mean=1,cov=10"])
@pytest.mark.parametrize("rho", [0.3, 0.9])
@pytest.mark.parametrize("threshold", [0.1, 1.0, 5.0])
def test_the_low_level_is_the_closed_form_of_mixed_exponential_sizes(spec, rho, threshold):
    law = service_law(spec)
    x = threshold + np.geomspace(0.01, 50, 30)
    found = levels.response(MG1(law, rho), x, threshold=threshold)
    assert found == pytest.approx(closed_form(law, rho, threshold, x), rel=2e-6)
    error = levels.solve(MG1(law, rho), threshold, np.inf, x.max()).error
    assert error <= 1e-6


@pytest.mark.parametrize("spec", LAWS)
def test_the_error_stated_bounds_that_against_a_finer_solution(spec):
    queue = MG1(service_law(spec), 0.8)
    threshold = 1.5 * queue.law.mean
    coarse, fine = (levels.solve(queue, threshold, np.inf, 50 * queue.law.mean, limit) for limit in (1e-3, 1e-7))
    y = np.geomspace(0.01, 50, 60) * queue.law.mean
    reach = float(queue.backlog(threshold)) + threshold
    apart = np.abs(coarse.virtual_time(y) / fine.virtual_time(y) - 1) * fine.virtual_time(y)
    assert np.max(apart / (reach + fine.virtual_time(y))) <= 2 * coarse.error + fine.error
    assert fine.error < coarse.error


@pytest.mark.parametrize("spec", LAWS)
def test_levels_conserve_the_work_of_policies_that_do_not_see_sizes(spec):
    # Kleinrock 1976, 4.7: the integral of T(x) P(X > x) is m_2 / (2 (1 - rho)).
    queue = MG1(service_law(spec), 0.7)
    law, mean = queue.law, queue.law.mean
    cuts = np.array([0.4, 3.0]) * mean
    last = law.largest if np.isfinite(law.largest) else 1e7 * mean
    edges = np.unique(np.r_[0, cuts, np.geomspace(mean / 300, last, 600)])
    if spec.startswith("zipf"):
        edges = np.unique(np.r_[edges, law.values])
    points, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    at = (edges[:-1, None] + half * (1 + points)).ravel()
    weight = (half * weights).ravel() * law.survival(at)
    wanted = law.moment(2) / (2 * (1 - queue.rho))
    for times, error in (
        (levels.response(queue, at, threshold=cuts), 1e-5),
        (levels.response(queue, at, threshold=cuts[:1]), 1e-5),
        (las.response(queue, at), 1e-6),
        (ps.response(queue, at), 1e-6),
    ):
        assert float(weight @ times) == pytest.approx(wanted, rel=error)


def test_thresholds_beyond_all_sizes_or_below_them_change_nothing():
    queue = MG1(service_law("bounded-pareto:min=1,max=1e3,alpha=1.5"), 0.8)
    x = np.array([1.0, 2.0, 30.0, 999.0])
    assert levels.response(queue, x, threshold=2e3) == pytest.approx(ps.response(queue, x), rel=1e-12)
    assert levels.response(queue, x, threshold=1e-6) == pytest.approx(ps.response(queue, x), rel=1e-4)
    # A tagged job larger than the law has: the rest of it is served when nothing else is there.
    assert np.isfinite(levels.response(queue, np.array([3e3]), threshold=2e3)[0])


def test_many_levels_come_to_las():
    queue = MG1(service_law("exponential:mean=1"), 0.7)
    x = np.array([0.25, 1.0, 2.5])
    apart = []
    for count in (8, 32):
        cuts = np.linspace(0, 4, count + 1)[1:]
        apart.append(np.max(np.abs(levels.response(queue, x, threshold=cuts) / las.response(queue, x) - 1)))
    assert apart[1] < apart[0] / 2
    assert apart[1] < 0.06


def test_an_overloaded_low_level_starves_and_the_high_one_does_not():
    queue = MG1(service_law("exponential:mean=1"), 1.2)
    times = levels.response(queue, np.array([0.5, 1.0, 1.1]), threshold=1.0)
    assert times[:2] == pytest.approx(np.array([0.5, 1.0]) / (1 - float(queue.load(1.0))))
    assert np.isinf(times[2])


def test_lasack_is_las_of_downloads_with_scaled_moments():
    queue = MG1(service_law("bounded-pareto:min=3,max=13333,alpha=1.73"), 0.6)
    x = np.array([3.0, 10.0, 500.0])
    assert lasack.response(queue, x, uploads=0, ack=0.5) == pytest.approx(las.response(queue, x), rel=1e-12)
    # Acknowledgements as large as data are as many downloads more.
    doubled = MG1(queue.law, 0.9)
    assert lasack.response(queue, x, uploads=0.5, ack=1) == pytest.approx(las.response(doubled, x), rel=1e-12)
    # Urvoy-Keller 2007, Eq. 6 to 8, written out.
    down, up, ack = queue.arrival_rate, 0.5 * queue.arrival_rate, 40 / 3000
    both = down + up
    first = (down / both + ack * up / both) * queue.law.truncated(1, x)
    second = (down / both + ack**2 * up / both) * queue.law.truncated(2, x)
    wanted = both * second / (2 * (1 - both * first) ** 2) + x / (1 - both * first)
    assert lasack.response(queue, x, uploads=0.5, ack=ack) == pytest.approx(wanted, rel=1e-12)
    assert np.all(lasack.ack_response(queue, x, uploads=0.5, ack=ack) < wanted)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("run2c", {}, "threshold: run2c needs it"),
        ("run2c", {"threshold": 0.0}, "threshold = 0: must be above 0"),
        ("run2c", {"threshold": [1.0, 2.0]}, "must be one number"),
        ("levels", {"threshold": [2.0, 1.0]}, "must ascend"),
        ("lasack", {"uploads": -1.0}, "uploads = -1: must be from 0"),
    ],
)
def test_bad_parameters_are_refused(name, given, said):
    with pytest.raises(MayflyError) as refused:
        POLICIES[name].response(MG1(service_law("exponential:mean=1"), 0.5), [1.0], **given)
    assert said in str(refused.value)
