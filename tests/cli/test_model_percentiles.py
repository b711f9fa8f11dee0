"""`mayfly model POLICY --percentiles`: bare, with a list, in JSON, with a rate, refused."""

import math

import pytest
from invocation import mayfly_here, refused_here

LAW = ["--law", "exponential:mean=1", "--rho", "0.5"]


@pytest.mark.parametrize("after", [[], ["--at", "1,4"], ["--json"]])
def test_without_a_list_it_asks_for_three(after):
    ended = mayfly_here("model", "fifo", *LAW, "--percentiles", *after)
    assert (ended.status, ended.err) == (0, "")
    assert all((f'"{q}"' if after == ["--json"] else f"p{q}") in ended.out for q in (50, 90, 99))


def test_the_document_has_a_list_by_size_and_one_of_all():
    ended = mayfly_here("model", "fifo", *LAW, "--at", "1,4", "--percentiles", "50,99.9", "--json")
    late, overall = ended.document["percentiles"], ended.document["overall_percentiles"]
    assert late["50"] == pytest.approx([1, 4], rel=1e-6)
    assert late["99.9"] == pytest.approx([size + 2 * math.log(500) for size in (1, 4)], rel=1e-4)
    assert overall == pytest.approx({"50": 2 * math.log(2), "99.9": 2 * math.log(1000)}, rel=1e-3)
    assert "percentiles" not in mayfly_here("model", "fifo", *LAW, "--json").document


def test_a_rate_makes_them_seconds():
    timed = ["--rate", "12kbit", "--unit", "1500", "--at", "3", "--percentiles=90", "--json"]
    plain = mayfly_here("model", "las", *LAW, "--at", "3", "--percentiles=90", "--json").document["percentiles"]["90"]
    assert mayfly_here("model", "las", *LAW, *timed).document["percentiles"]["90"] == pytest.approx(plain)
    quick = mayfly_here("model", "las", *LAW, *timed, "--rate", "24kbit").document["percentiles"]["90"]
    assert quick == pytest.approx([value / 2 for value in plain])


def test_jobs_that_are_never_served_have_none():
    ended = mayfly_here("model", "fifo", "--law", "exponential:mean=1", "--rho", "1.5", "--percentiles=50", "--json")
    assert ended.document["percentiles"]["50"] == [None] * 5
    assert ended.document["overall_percentiles"] == {"50": None}


def test_bad_input_is_one_line():
    assert "is no rank" in refused_here("model", "ps", *LAW, "--percentiles")
    assert "two kinds of jobs" in refused_here("model", "lasack", *LAW, "--percentiles")
    assert "must be above 0 and below 100" in refused_here("model", "las", *LAW, "--percentiles", "50,100")
    assert "must be numbers" in refused_here("model", "las", *LAW, "--percentiles", "half")
