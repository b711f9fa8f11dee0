"""What stands for functions of numpy that import more than they need."""

import numpy as np
import pytest

from mayfly.arrays import distinct, quantiles


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101, 5000])
def test_quantiles_are_those_of_numpy_to_the_last_digit(n):
    rng = np.random.default_rng(3)
    for _ in range(100):
        shares = (*rng.random(4), 0.0, 1.0, 0.9, 0.5)
        for values in (rng.exponential(size=n), rng.integers(0, 5, n).astype(float)):
            assert quantiles(values, shares).tolist() == np.quantile(values, shares).tolist()


def test_distinct_values_are_those_of_numpy():
    values = np.random.default_rng(3).integers(0, 50, 1000)
    assert distinct(values).tolist() == np.unique(values).tolist()
