"""The test of periods against scipy's, and what it costs to import."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from mayfly.profile.periods import larger_p


@pytest.mark.parametrize("seed", range(20))
def test_the_test_of_mann_and_whitney_is_scipys(seed):
    rng = np.random.default_rng(seed)
    for n, m in ((6, 6), (6, 400), (8, 30), (9, 9), (30, 5), (250, 80)):
        for digits in (12, 1, 0):
            values = np.round(rng.normal(0.3 * (seed % 3), 1, n), digits)
            others = np.round(rng.normal(0, 1, m), digits)
            expected = mannwhitneyu(values, others, alternative="greater").pvalue
            assert larger_p(values, others) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_equal_values_say_nothing():
    assert larger_p([1.0] * 9, [1.0] * 20) == 1.0


def test_periods_need_no_scipy():
    program = """
import sys
import numpy as np
from mayfly.profile.periods import periods_of
rng = np.random.default_rng(1)
found = periods_of(np.concatenate([rng.normal(10, 1, 60), rng.normal(30, 1, 40)]))
assert found[-1].busy_p < 0.01
print([name for name in sys.modules if name.split(".")[0] == "scipy"])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
