"""`mayfly model lfq`: tables, one document, refusals in one line."""

import pytest
from invocation import mayfly_here, refused_here

LAW = ["--law", "exponential:mean=40", "--rho", "0.5"]
LAGS = ["--user-lag", "240", "--flow-lag", "80"]


def test_tables_have_the_model_beside_jobs_and_other_policies_and_what_lags_do():
    ended = mayfly_here("model", "lfq", *LAW, *LAGS, "--at", "6,100", "--jobs", "5000", "--users", "3")
    assert (ended.status, ended.err) == (0, "")
    assert all(
        word in ended.out for word in ("p95", "las", "What lags do", "5,000 jobs", "3 users alike, a mean field")
    )


def test_the_document_has_no_simulation_where_none_is_asked_for():
    ended = mayfly_here("model", "lfq", *LAW, *LAGS, "--at", "40", "--jobs", "0", "--users", "1", "--json")
    told = ended.document
    assert "simulated" not in told and "percentiles" not in told
    # Exponential sizes: PS is the mean of any order that does not know sizes.
    assert told["mean"] == pytest.approx(80, rel=1e-5) and told["ps"]["mean"] == pytest.approx(80)
    assert told["response_time"] == told["las"]["response_time"] and told["response_time"] < told["ps"]["response_time"]


def test_a_seed_says_which_jobs():
    given = [*LAW, *LAGS, "--at", "40", "--jobs", "3000", "--percentiles", "50,90", "--json"]
    first, same, other = (mayfly_here("model", "lfq", *given, "--seed", seed).document for seed in ("1", "1", "2"))
    assert first == same and first["percentiles"] != other["percentiles"] and list(first["percentiles"]) == ["50", "90"]
    assert first["response_time"] == other["response_time"]


def test_percentiles_without_a_list_are_three():
    told = mayfly_here("model", "lfq", *LAW, *LAGS, "--at", "40", "--jobs", "5000", "--percentiles", "--json").document
    assert list(told["percentiles"]) == ["50", "90", "99"]


def test_bad_input_is_one_line():
    assert "lfq needs them in the unit of the law, or unit" in refused_here("model", "lfq", *LAW)
    assert "flow_lag: lfq needs them" in refused_here("model", "lfq", *LAW, "--user-lag", "3")
    assert "must be above 0 and below 100" in refused_here("model", "lfq", *LAW, *LAGS, "--percentiles", "100")
    assert "users = 2.5: must be whole" in refused_here("model", "lfq", *LAW, *LAGS, "--users", "2.5")
    assert "jobs = 10: must be at least 64" in refused_here("model", "lfq", *LAW, *LAGS, "--jobs", "10")
    assert "pace = 3: must be from 0 to 1" in refused_here("model", "lfq", *LAW, *LAGS, "--pace", "3")
    assert "unit = 0: must be above 0" in refused_here("model", "lfq", *LAW, "--unit", "0")
    assert "user_lag = -1" in refused_here("model", "lfq", *LAW, "--user-lag", "-1", "--flow-lag", "3")
