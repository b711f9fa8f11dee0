"""Each exception of a relation is one: the runs differ, and not without its cause."""

import pytest
from drawn_links import DISCIPLINES, PRESETS, parameters
from exceptions import EXCEPTIONS, PERIODS
from relations import CODEL_OF_LINUX, CODEL_SHIFT_S, RELATIONS, SHIFT_S

from mayfly.scenario.presets import PRESETS as SETTINGS

TO_NS = 10**9
OF_CODEL = "CoDel of Linux counts in units of 2^10 ns"


@pytest.mark.parametrize("exception", EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_an_exception_is_one_for_its_reason_alone(exception):
    assert exception.differences()
    assert exception.without() == []


def test_exceptions_are_of_relations_of_the_lane():
    assert {part for one in EXCEPTIONS.values() for part in one.relation.split(", ")} <= {one.id for one in RELATIONS}


@pytest.mark.parametrize("name", PERIODS)
def test_all_is_moved_by_a_multiple_of_each_period(name):
    period_ns = round(PERIODS[name][0] * TO_NS)
    assert round(SHIFT_S * TO_NS) % period_ns == 0


def test_under_codel_of_linux_all_is_moved_by_a_multiple_of_what_counts_there():
    """No visits of a table and no updates are made there, which would ask for more than the 2199 s that there are."""
    for name in ("timers of Linux of 16 s and more go off with a slot of 512 jiffies", OF_CODEL):
        assert round(CODEL_SHIFT_S * TO_NS) % round(PERIODS[name][0] * TO_NS) == 0
    assert not {"visit", "update"} & {name for one in CODEL_OF_LINUX for name in parameters(one)}


def test_periods_that_are_fields_are_in_the_table():
    of_disciplines = {
        parameters(one)[name]["default"]
        for one in DISCIPLINES
        for name in ("visit", "update")
        if name in parameters(one)
    }
    assert of_disciplines <= {period for period, _ in PERIODS.values()}
    ticks = {SETTINGS[preset].get("tick", "1ns") for preset in PRESETS}
    assert ticks == {"1ns", "1ms", "4ms", "10ms"}, "a new tick: SHIFT_S must be a multiple of 512 of it"
