"""The model of lagged fair queueing: what it is at its ends, what holds in between, and what the command answers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mayfly
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue import las_ps, lfq
from mayfly.models.queue.disciplines import standing_for
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.lfq_answer import choice, defaults, lfq_answer
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, policy
from mayfly.models.queue.user_jobs import poisson_users

SPECS = (
    "exponential:mean=40",
    "zipf:min=6,mean=40,cov=6",
    "lognormal:mean=40,cov=3",
    "bounded-pareto:min=6,max=1e4,alpha=1.2",
)
SIZES = np.geomspace(1.0, 2e4, 41)
LAW = st.sampled_from(SPECS)
LOAD = st.floats(0.05, 0.95)
LAG = st.floats(1.0, 2000.0)
USERS = st.sampled_from([2.0, 3.0, 7.5, 20.0, 300.0])
PACE = st.floats(0.05, 1.0)


def queue(spec, rho=0.8):
    return MG1(service_law(spec), rho)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("users", [0, 1, 2, 10, 1000])
def test_without_lags_it_is_processor_sharing_whatever_the_users(spec, users):
    found = policy("lfq").response(queue(spec), SIZES, user_lag=0, flow_lag=0, users=users)
    assert found == pytest.approx(5 * SIZES, rel=1e-12)


@pytest.mark.parametrize("spec", ["zipf:min=6,mean=40,cov=6", "bounded-pareto:min=6,max=1e4,alpha=1.2"])
@pytest.mark.parametrize("users", [0, 1])
def test_with_a_lag_beyond_all_sizes_it_is_las(spec, users):
    """Of users that come once, and of the only user; the other lag does not matter."""
    law = service_law(spec)
    sizes = SIZES[law.largest >= SIZES]
    lags = {"user_lag": law.largest, "flow_lag": 7.0} if users == 0 else {"user_lag": 7.0, "flow_lag": law.largest}
    found = policy("lfq").response(MG1(law, 0.8), sizes, users=users, **lags)
    assert found == pytest.approx(policy("las").response(MG1(law, 0.8), sizes), rel=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_two_levels_are_las_below_and_the_low_level_of_run2c_beyond(spec):
    found = policy("las-ps").response(queue(spec), SIZES, threshold=80.0)
    below = SIZES <= 80
    assert np.array_equal(found[below], policy("las").response(queue(spec), SIZES[below]))
    assert np.array_equal(found[~below], policy("run2c").response(queue(spec), SIZES[~below], threshold=80.0))


@pytest.mark.parametrize("spec", SPECS)
def test_many_users_come_to_what_users_without_number_are(spec):
    """A user that hardly ever has two transfers, and all its credit: the difference falls as one over the number."""
    ends = lfq.response(queue(spec), SIZES, 240.0, 80.0, 0, 0.4)
    off = [np.abs(lfq.response(queue(spec), SIZES, 240.0, 80.0, users, 0.4) / ends - 1).max() for users in (1e4, 1e5)]
    assert off[1] < 0.02 and off[1] == pytest.approx(off[0] / 10, rel=0.2)


@settings(max_examples=15, deadline=None)
@given(LAW, LOAD, LAG, LAG, USERS, PACE)
def test_longer_transfers_take_longer_and_none_less_than_its_size(spec, rho, user_lag, flow_lag, users, pace):
    times = lfq.response(queue(spec, rho), SIZES, user_lag, flow_lag, users, pace)
    assert np.all(times >= SIZES * (1 - 1e-9))
    assert np.all(np.diff(times) >= -1e-6 * times[1:])


@settings(max_examples=15, deadline=None)
@given(LAW, LAG, LAG, USERS, PACE)
def test_without_load_a_transfer_takes_its_size(spec, user_lag, flow_lag, users, pace):
    law, rho = service_law(spec), 1e-9
    times = lfq.response(MG1(law, rho), SIZES, user_lag, flow_lag, users, pace)
    assert np.all(np.abs(times - SIZES) <= 10 * rho * (SIZES + law.moment(2) / law.mean) + 1e-9 * SIZES)


def test_in_overload_each_user_has_its_share_and_its_short_transfers_end():
    """Ten users, each with the tenth of the server and a load of 1.2 of that: LAS up to the lag, times ten."""
    crowded = queue("zipf:min=6,mean=40,cov=6", 1.2)
    below, beyond = np.array([6.0, 40.0, 80.0]), np.array([81.0, 1000.0])
    lags = {"user_lag": 240.0, "flow_lag": 80.0, "users": 10}
    las = policy("las").response(crowded, below)
    assert policy("lfq").response(crowded, below, **lags) == pytest.approx(10 * las)
    assert np.all(np.isinf(policy("lfq").response(crowded, beyond, **lags)))
    assert policy("lfq").starves_above(crowded, **lags) == pytest.approx(80.0)
    # Just below a load of 1 it is nearly there: users are level all the time.
    near = policy("lfq").response(queue("zipf:min=6,mean=40,cov=6", 0.9999), below, **lags)
    las = policy("las").response(queue("zipf:min=6,mean=40,cov=6", 0.9999), below)
    assert near == pytest.approx(10 * las, rel=0.05)


def test_the_mean_field_does_not_depend_on_its_steps(monkeypatch):
    coarse = lfq.response(queue(SPECS[1]), SIZES, 240.0, 80.0, 10, 0.4)
    monkeypatch.setattr(lfq, "STEPS", 480)
    lfq.mean_field.cache_clear()
    fine = lfq.response(queue(SPECS[1]), SIZES, 240.0, 80.0, 10, 0.4)
    lfq.mean_field.cache_clear()
    # The largest difference is where a size and the credit end together.
    assert coarse == pytest.approx(fine, rel=0.01)


def test_what_cannot_be_is_refused():
    with pytest.raises(MayflyError, match=r"users = 0\.5: must be 0, or 1 or more"):
        policy("lfq").response(queue(SPECS[0]), [1.0], user_lag=1, flow_lag=1, users=0.5)
    with pytest.raises(MayflyError, match="pace = 2: must be from 0 to 1"):
        policy("lfq").response(queue(SPECS[0]), [1.0], user_lag=1, flow_lag=1, pace=2)
    with pytest.raises(MayflyError, match="user_lag = 4001: must be at most 4000, 100 mean sizes"):
        policy("lfq").response(queue(SPECS[0]), [1.0], user_lag=4001, flow_lag=1, users=2)
    with pytest.raises(MayflyError, match="flow_lag: lfq needs it"):
        policy("lfq").response(queue(SPECS[0]), [1.0], user_lag=1)


# The choice of the lag.


def test_for_a_falling_hazard_rate_a_larger_lag_is_a_shorter_mean_with_one_user():
    """Aalto, Ayesta and Nyberg 2004 prove that none is above PS; that it falls all the way is what the table shows."""
    spec = "bounded-pareto:min=6,max=1e4,alpha=1.2"
    found = choice(queue(spec), 240.0, 80.0, 1, 0.4)
    assert found.mean[0] == pytest.approx(5 * service_law(spec).mean)
    assert found.mean[-1] == pytest.approx(policy("las").mean(queue(spec)))
    assert np.all(np.diff(found.mean) < 0) and found.best == len(found.mean) - 1
    assert (found.gain[0], found.gain[-1]) == (0, pytest.approx(1))
    assert np.all(np.diff(found.left[:-2]) > 0)
    # Of users that come once the lag of users is what counts.
    assert choice(queue(spec), 80.0, 5.0, 0, 0.4).mean == pytest.approx(found.mean)


def test_with_several_users_the_least_mean_is_between():
    """That of jobs, too: lags four times smaller or larger are worse, by more than their difference is unsure."""
    found = choice(queue(SPECS[3]), 240.0, 80.0, 10, 0.4)
    assert 0 < found.best < len(found.mean) - 1
    place = int(np.flatnonzero(found.flow_lag == 80.0)[0])
    assert found.mean[place] < min(found.mean[place - 2], found.mean[place + 2])

    def jobs(factor):
        lags = {"user_lag": 240.0 * factor, "flow_lag": 80.0 * factor}
        return poisson_users(service_law(SPECS[3]), 0.8, 200_000, 10, pace=0.4, **lags).jobs

    middle = jobs(1.0)
    for factor in (0.25, 4.0):
        # The same jobs: their differences are surer than their times.
        other = jobs(factor)
        worse = other.mean_by_size([0.0, math.inf], other.response_time - middle.response_time)
        assert worse.mean[0] > worse.half_width[0] > 0


def test_exponential_sizes_have_one_mean_and_nothing_to_choose():
    found = choice(queue("exponential:mean=40"), 240.0, 80.0, 1, 0.4)
    assert found.mean == pytest.approx(np.full(len(found.mean), 200.0), rel=1e-5)
    known = ~np.isnan(found.left)
    assert known.sum() >= 8 and found.left[known] == pytest.approx(np.full(known.sum(), 40.0), rel=1e-6)
    assert np.all(np.isnan(found.gain)) and found.best == 0


def test_a_rising_hazard_rate_wants_no_lag():
    law = "shifted-exponential:min=30,mean=40"
    found = lfq_answer(law, 0.8, [40.0], user_lag=240, flow_lag=80, users=1, jobs=0)
    assert found.choice.best == 0
    assert any("no lag shortens the mean" in sentence for sentence in found.sentences())


def test_a_stall_is_the_busy_period_of_a_newcomer():
    """Jobs of one size below the lag: a newcomer of the lag and those that come while it is served."""
    found = choice(queue("deterministic:value=3", 0.5), 9.0, 3.0, 1, 0.4)
    place = int(np.flatnonzero(found.flow_lag == 3.0)[0])
    assert found.stall[place] == pytest.approx(3.0 / (1 - 0.5))
    assert found.stall[0] == 0


# Defaults are those of the discipline.


def test_lags_by_default_are_those_of_the_discipline_in_the_unit_of_the_law():
    known = defaults()
    found = lfq_answer(SPECS[0], 0.8, [6.0], unit_bytes=1500, jobs=0).model.parameters
    assert (found["user_lag"], found["flow_lag"]) == (known["user_lag"] / 1500, known["flow_lag"] / 1500)
    assert found["pace"] == known["pace"] == next(p.default for p in POLICIES["lfq"].parameters if p.name == "pace")
    slow = lfq_answer(SPECS[0], 0.8, [6.0], unit_bytes=1500, rate_bps=1e6, jobs=0).model.parameters
    assert slow["user_lag"] * 1500 * 8 / 1e6 == pytest.approx(known["lag_time"])
    assert slow["flow_lag"] / slow["user_lag"] == pytest.approx(known["flow_lag"] / known["user_lag"])


def test_the_policy_stands_for_the_discipline_with_its_users_and_lags():
    link = Link(10e6, 100.0)
    row = {"id": "lfq", "family": "fair queueing", "options": {}}
    found = standing_for(row, link, {"pair": 25, "src": 5, "dst": 6, "flow": 0})
    assert found.policy.id == "lfq" and found.parameters["users"] == 25 and found.parameters["pace"] == 0.4
    assert found.parameters["flow_lag"] == link.wire_bytes(80) and found.parameters["user_lag"] == link.wire_bytes(240)
    for name, users in (("src", 5), ("dst", 6), ("flow", 0)):
        given = row | {"options": {"user": name, "pace": "0.2"}}
        found = standing_for(given, link, {"pair": 25, "src": 5, "dst": 6, "flow": 0})
        assert (found.parameters["users"], found.parameters["pace"]) == (users, 0.2)
    slow = standing_for(row, Link(1e6, 100.0), {"pair": 25}).parameters
    assert slow["user_lag"] == Link(1e6, 100.0).wire_bytes(math.ceil(62_500 / 1500))


def test_a_comparison_has_its_model():
    scenario = mayfly.load_scenario("wired", {"duration": "20s"})
    model = mayfly.compare(scenario, "lfq,drr").with_models(path=True).summary["models"]["lfq"]
    assert model["policy"] == "lfq" and 1 < model["users"] <= 25


def test_the_document_has_all_that_the_table_shows():
    found = lfq_answer(SPECS[3], 0.8, [100.0, 6.0, 1e5], rate_bps=10e6, unit_bytes=1500, jobs=20_000)
    told = found.document()
    assert [told[name] for name in ("policy", "unit", "users")] == ["lfq", "s", 10.0]
    assert len(told["response_time"]) == len(told["ps"]["response_time"]) == len(told["percentiles"]["95"]) == 3
    # In the order asked for; of a size that no job has, nothing is known.
    assert told["simulated"]["response_time"][0] > told["simulated"]["response_time"][1] > 0
    assert told["simulated"]["response_time"][2] is None and told["percentiles"]["95"][2] is None
    assert told["percentiles"]["95"][1] > told["simulated"]["response_time"][1]
    chosen, place = told["choice"], told["choice"]["flow_lag"].index(80.0)
    assert chosen["user_lag"][place] == 240 and chosen["gain"][0] == 0
    assert chosen["mean"][place] == pytest.approx(told["mean"]) and chosen["mean"][0] == pytest.approx(
        told["ps"]["mean"]
    )
    alone = lfq_answer("exponential:mean=40", 0.8, [6.0], user_lag=240, flow_lag=80, users=1, jobs=0).document()
    assert alone["choice"]["flow_lag"][-1] is None and alone["choice"]["gain"] == [None] * len(alone["choice"]["gain"])
    rows = found.tables()[0].columns
    assert [column.header for column in rows] == ["size", "up to it", "lfq", "jobs", "±", "p95", "ps", "las"]


def test_an_overload_has_formulas_only():
    told = lfq_answer(SPECS[1], 1.2, [6.0, 100.0], user_lag=240, flow_lag=80).document()
    assert "simulated" not in told and "choice" not in told and told["response_time"][1] is None
    assert las_ps.response(queue(SPECS[1], 1.2), np.array([6.0]), 80.0)[0] * 10 == told["response_time"][0]
