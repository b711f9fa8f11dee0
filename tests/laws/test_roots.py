"""Roots, against closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.laws.solving import root

FUNCTIONS = {
    "cube": (lambda x: x**3 - 2, 0.0, 2.0, 2 ** (1 / 3)),
    "exponential": (lambda x: math.exp(-5 * x) - 1e-9, 0.0, 10.0, -math.log(1e-9) / 5),
    # brentq of scipy gives up here after 100 steps.
    "flat": (lambda x: (x - 0.3) ** 3, 0.0, 1.0, 0.3),
    "jump": (lambda x: math.copysign(1.0, x - 1 / 3), -1.0, 1.0, 1 / 3),
    "steep": (lambda x: math.atan(1e6 * (x - 0.7)), 0.0, 1.0, 0.7),
    "at the lower end": (lambda x: x, 0.0, 1.0, 0.0),
    "at the upper end": (lambda x: 1 - x, 0.0, 1.0, 1.0),
}


@pytest.mark.parametrize(("function", "low", "high", "expected"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_roots(function, low, high, expected):
    assert root(function, low, high, 1e-13) == pytest.approx(expected, abs=1e-13, rel=1e-15)


def test_few_steps_of_a_smooth_function():
    asked = []

    def function(x: float) -> float:
        asked.append(x)
        return math.cos(x) - x

    assert root(function, 0.0, 1.5, 1e-14) == pytest.approx(0.7390851332151607, abs=1e-14)
    assert len(asked) <= 12


@given(at=st.floats(-1e6, 1e6), steep=st.floats(1e-6, 1e6))
def test_root_of_any_line_is_found_from_either_end(at, steep):
    within = 1e-9
    for low, high in ((-2e6, 3e6), (3e6, -2e6)):
        assert root(lambda x: steep * (x - at), low, high, within) == pytest.approx(at, abs=within, rel=1e-15)


def test_one_sign_is_refused():
    with pytest.raises(ValueError, match="no change of sign"):
        root(lambda x: x * x + 1, -1.0, 1.0, 1e-9)
