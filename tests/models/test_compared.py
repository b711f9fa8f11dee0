"""Policies side by side: the same numbers as each alone, starving sizes, refusals."""

import json
import math

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.answer import answer
from mayfly.models.queue.compared import compared, curve_sizes, mean_slowdown, members
from mayfly.models.queue.mg1 import MG1

PARETO = "bounded-pareto:min=1,max=1e6,alpha=1.1"


def test_each_policy_has_the_numbers_it_has_alone():
    at = [1.0, 20.0, 5000.0]
    found = compared("fifo,ps,las", PARETO, [0.9, 0.5], at, rate_bps=10e6, unit_bytes=1500).document()
    assert found["rho"] == [0.5, 0.9]
    for row in found["policies"]:
        for load in row["loads"]:
            alone = answer(row["policy"], PARETO, load["rho"], at, rate_bps=10e6, unit_bytes=1500).document()
            for name in ("response_time", "slowdown", "mean"):
                assert load[name] == alone[name]


def test_mean_slowdowns_of_closed_forms():
    for rho in (0.3, 0.9):
        queue = MG1(service_law("bounded-pareto:min=2,max=50,alpha=1.5"), rho)
        [ps, fifo] = members("ps,fifo")
        assert mean_slowdown(ps, queue) == pytest.approx(1 / (1 - rho), rel=1e-10)
        # E[1/X] of a bounded Pareto law, and the wait of Pollaczek and Khinchine.
        a, low, high = 1.5, 2.0, 50.0
        inverse = a / (a + 1) * low**a * (low ** (-a - 1) - high ** (-a - 1)) / (1 - (low / high) ** a)
        second = a / (2 - a) * low**a * (high ** (2 - a) - low ** (2 - a)) / (1 - (low / high) ** a)
        wait = queue.arrival_rate * second / 2 / (1 - rho)
        assert mean_slowdown(fifo, queue) == pytest.approx(1 + wait * inverse, rel=1e-9)


def test_the_size_that_starves_under_las_fills_the_server():
    [las, ps] = members("las,ps")
    for spec, rho in ((PARETO, 1.1), ("exponential:mean=3", 2.0), ("lognormal:mean=1,cov=4", 5.0)):
        queue = MG1(service_law(spec), rho)
        assert float(queue.load(las.policy.starves_above(queue, **las.parameters))) == pytest.approx(1.0, abs=1e-5)
        assert ps.policy.starves_above(queue, **ps.parameters) == queue.law.smallest
        assert las.policy.starves_above(MG1(queue.law, 0.9), **las.parameters) is None
    whole = MG1(service_law("zipf:min=6,mean=40,cov=6"), 1.5)
    size = las.policy.starves_above(whole, **las.parameters)
    assert float(whole.load(size * (1 - 1e-5))) < 1 <= float(whole.load(size * (1 + 1e-5)))


def test_a_document_of_an_overload_is_json_without_infinities():
    found = compared("fifo,las", PARETO, [1.1], curve=50).document()
    json.dumps(found, allow_nan=False)
    fifo, las = (row["loads"][0] for row in found["policies"])
    assert fifo["mean"] is None and fifo["response_time"] == [None] * 50
    ends = [time is not None for time in las["response_time"]]
    assert ends == sorted(ends, reverse=True) and 0 < sum(ends) < 50
    assert las["starves_above"] >= found["at"][sum(ends) - 1]


@pytest.mark.parametrize("spec", [PARETO, "exponential:mean=1", "zipf:min=6,mean=40,cov=6", "deterministic:value=3"])
def test_sizes_of_a_curve_ascend_from_end_to_end(spec):
    law = service_law(spec)
    sizes = curve_sizes(law, 100)
    assert np.all(np.diff(sizes) > 0) and 1 <= len(sizes) <= 100
    assert sizes[0] >= law.smallest and sizes[-1] <= law.largest
    if math.isfinite(law.largest):
        assert sizes[-1] == law.largest
    if "zipf" in spec:
        assert np.all(sizes == np.round(sizes))


def test_a_list_names_policies_once_and_all_stands_for_those_that_need_nothing():
    assert [member.label for member in members("las, fifo,las")] == ["las", "fifo"]
    every = members("all")
    assert {"fifo", "ps", "las"} <= {member.label for member in every}
    assert all(parameter.default is not None for member in every for parameter in member.policy.parameters)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict(policies="fifo,lass"), "did you mean las?"),
        (dict(policies=" ,"), "must name at least one"),
        (dict(policies="las(threshold=3)"), "las takes no parameters"),
        (dict(policies="las(3)"), "must be NAME=NUMBER"),
        (dict(threshold=[3.0]), "none of fifo,ps takes one"),
        (dict(rho=[]), "0 loads: must be from 1 to 10"),
        (dict(rho=[0.5, -1]), "rho = -1: must be above 0"),
        (dict(curve=1), "curve = 1: must be from 2"),
        (dict(curve=5, at=[1.0]), "must not be given beside at"),
        (dict(at=[-1.0]), "a size must be 0 or more"),
    ],
)
def test_bad_input_is_refused_in_one_line(given, said):
    arguments = {"policies": "fifo,ps", "law": "exponential:mean=1", "rho": [0.5]} | given
    with pytest.raises(MayflyError) as refused:
        compared(**arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
