"""The registry of M/G/1 policies: closed forms, order, limits, refusals."""

import json
import math

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.answer import answer
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, policy

AT = np.array([0.1, 1.0, 4.0])


def queue(spec, rho=0.5):
    return MG1(service_law(spec), rho)


def test_mean_responses_of_the_mm1_queue():
    for rho in (0.1, 0.5, 0.9, 0.99):
        mm1 = queue("exponential:mean=2", rho)
        for name in ("fifo", "ps", "las"):
            assert policy(name).mean(mm1) == pytest.approx(2 / (1 - rho), rel=1e-9)
        assert policy("fifo").response(mm1, AT) == pytest.approx(AT + 2 * rho / (1 - rho))


@pytest.mark.parametrize("spec", ["deterministic:value=1", "lognormal:mean=1,cov=3", "zipf:min=6,mean=40,cov=6"])
def test_processor_sharing_does_not_see_the_law(spec):
    assert policy("ps").response(queue(spec), AT) == pytest.approx(2 * AT)


def test_las_with_equal_sizes_is_fifo_over_the_idle_time():
    for rho in (0.2, 0.5, 0.9):
        equal = queue("deterministic:value=3", rho)
        fifo, las = (float(policy(name).response(equal, 3.0)) for name in ("fifo", "las"))
        assert las == pytest.approx(fifo / (1 - rho), rel=1e-12)
        # Chen 2012, Eq. 5.7.
        assert las == pytest.approx(equal.arrival_rate * 9 / (2 * (1 - rho) ** 2) + 3 / (1 - rho), rel=1e-12)


@pytest.mark.parametrize(("cov", "mean"), [(2, 1.78), (5, 1.69), (10, 1.67)])
def test_means_of_las_with_balanced_hyperexponential_sizes(cov, mean):
    assert policy("las").mean(queue(f"hyperexponential:mean=1,cov={cov}")) == pytest.approx(mean, abs=0.005)


def test_las_in_overload_answers_small_sizes_and_starves_large_ones():
    over = queue("bounded-pareto:min=1,max=1e4,alpha=1.5", 1.2)
    times = policy("las").response(over, np.geomspace(1, 1e4, 200))
    finite = np.isfinite(times)
    assert finite[0]
    assert not finite[-1]
    # Once a size starves all larger ones do: beyond x* with rho(x*) = 1.
    assert np.all(np.diff(finite.astype(int)) <= 0)
    first = np.geomspace(1, 1e4, 200)[~finite][0]
    assert float(over.load(first)) >= 1 > float(over.load(first * 0.95))
    assert math.isinf(policy("las").mean(over))
    assert np.all(np.isinf(policy("fifo").response(over, AT)))
    assert np.all(np.isinf(policy("ps").response(over, AT)))


@pytest.mark.parametrize("spec", ["exponential:mean=1", "bounded-pareto:min=1,max=1e6,alpha=1.1"])
def test_a_curve_of_a_thousand_sizes_is_one_call(spec):
    at = np.geomspace(0.1, 1e5, 1000)
    times = policy("las").response(queue(spec), at)
    assert times.shape == at.shape
    assert times[400] == policy("las").response(queue(spec), at[400])


def test_answers_with_a_rate_are_in_seconds():
    found = answer("ps", "deterministic:value=10", 0.5, [10.0], rate_bps=10e6, unit_bytes=1500).document()
    assert found["response_time"] == pytest.approx([10 * 1500 * 8 / 10e6 * 2])
    assert found["slowdown"] == pytest.approx([2.0])
    assert found["unit"] == "s"
    assert found["mean"] == pytest.approx(found["response_time"][0])


def test_an_infinite_time_is_null_in_json():
    found = answer("fifo", "pareto-ii:shape=1.5,mean=3", 0.5, [1.0]).document()
    assert json.loads(json.dumps(found, allow_nan=False))["response_time"] == [None]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict(rho=0.0), "rho = 0.0: must be above 0"),
        (dict(rho=math.nan), "rho = nan: must be above 0"),
        (dict(at=[1.0, -2.0]), "at = -2: a size must be 0 or more"),
        (dict(threshold=3.0), "threshold = 3.0: fifo takes no parameters"),
        (dict(unit_bytes=0.0), "unit = 0: must be above 0"),
        (dict(name="fiffo"), "did you mean fifo?"),
    ],
)
def test_bad_input_is_refused_in_one_line(given, said):
    arguments = {"name": "fifo", "law": "exponential:mean=1", "rho": 0.5} | given
    with pytest.raises(MayflyError) as refused:
        answer(**arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("row", POLICIES.values(), ids=lambda row: row.id)
def test_every_row_names_a_formula_with_a_source(row):
    assert callable(row.function)
    assert row.title
    assert row.source
