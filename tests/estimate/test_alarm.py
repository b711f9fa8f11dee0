"""Alarms: raised and cleared by rows of estimates, with hysteresis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.estimate import alarms


def spans(shares, above=0.7, below=0.6, **more):
    return [(one.raised_s, one.cleared_s) for one in alarms(range(len(shares)), shares, above, below, **more)]


def test_one_estimate_is_noise_and_a_row_is_not():
    assert spans([0.5, 0.9, 0.5, 0.9, 0.9, 0.5], hold=3) == []
    assert spans([0.5, 0.9, 0.9, 0.9, 0.9], hold=3) == [(3, None)]


def test_between_the_bounds_nothing_changes():
    swinging = [0.8] * 3 + [0.65, 0.75] * 20
    assert spans(swinging, hold=3) == [(2, None)]
    assert spans([0.65] * 50) == []


def test_it_clears_and_is_raised_again():
    assert spans([0.8] * 3 + [0.5] * 3 + [0.8] * 3, hold=2) == [(1, 4), (7, None)]


def test_estimates_that_are_not_to_be_relied_on_neither_raise_nor_break_a_row():
    shares, trusted = [0.8, 0.1, 0.8, 0.9], [True, False, True, True]
    assert spans(shares, hold=3, trusted=trusted) == [(3, None)]
    assert spans(shares, hold=1, trusted=[False] * 4) == []


def test_the_peak_is_that_of_the_stretch():
    assert [one.peak for one in alarms(range(7), [0.8, 0.95, 0.75, 0.5, 0.5, 0.8, 0.8], 0.7, 0.6, hold=2)] == [
        0.95,
        0.8,
    ]


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0, 1), st.floats(0, 1), st.integers(1, 5))
def test_alarms_follow_one_another(shares, one, other, hold):
    below, above = sorted((one, other))
    found = alarms(range(len(shares)), shares, above, below, hold=hold)
    ends = [time for alarm in found for time in (alarm.raised_s, alarm.cleared_s) if time is not None]
    assert ends == sorted(set(ends))
    assert all(alarm.cleared_s is not None for alarm in found[:-1])
    assert all(alarm.peak > above for alarm in found)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"above": 1.2}, "above = 1.2: must be a share from 0 to 1"),
        ({"above": np.nan}, "above = nan: must be a share"),
        ({"above": 0.5, "below": 0.6}, "below = 0.6: must be from 0 to above, 0.5"),
        ({"above": 0.5, "hold": 0}, "hold = 0: must be at least 1 estimate"),
        ({"above": 0.5, "trusted": [True]}, "must be as many"),
    ],
)
def test_what_cannot_be_is_refused(given_, message):
    with pytest.raises(MayflyError, match=message):
        alarms([1.0, 2.0], [0.5, 0.5], **given_)
