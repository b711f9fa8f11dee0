"""The lower incomplete gamma function of whole numbers beside that of scipy and of mpmath, and exact ends."""

import mpmath
import numpy as np
import pytest
from scipy.special import gammainc

from mayfly.laws.erlang import erlang_cdf

X = np.concatenate([np.geomspace(1e-12, 900, 4000), np.linspace(0, 60, 4001)])


@pytest.mark.parametrize("stages", range(1, 11))
def test_it_is_the_function_of_scipy(stages):
    """Whose powers of small numbers are exponentials of large logarithms."""
    np.testing.assert_allclose(erlang_cdf(stages, X), gammainc(stages, X), rtol=1e-13, atol=0)


@pytest.mark.parametrize("stages", range(1, 11))
def test_it_has_all_digits(stages):
    x = np.concatenate([np.geomspace(1e-12, 900, 200), np.linspace(stages, stages + 2, 41)])
    exact = [float(mpmath.gammainc(stages, 0, mpmath.mpf(float(value)), regularized=True)) for value in x]
    np.testing.assert_allclose(erlang_cdf(stages, x), exact, rtol=3e-15, atol=0)


@pytest.mark.parametrize("stages", [1, 2, 5])
def test_it_begins_at_zero_and_ends_at_one(stages):
    assert erlang_cdf(stages, np.array([0.0, np.inf])).tolist() == [0.0, 1.0]
    assert np.isnan(erlang_cdf(stages, np.nan))
    assert np.all(np.diff(erlang_cdf(stages, np.linspace(0, 40, 10_000))) >= -1e-15)
