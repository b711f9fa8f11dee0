"""MSER-5 against its definition and on series whose warm-up is known."""

import numpy as np
import pytest

from mayfly.sweep.mser import mser


def by_definition(values, batch=5):
    means = np.asarray(values)[: len(values) // batch * batch].reshape(-1, batch).mean(axis=1)
    spread = [np.sum((means[d:] - means[d:].mean()) ** 2) / (means.size - d) ** 2 for d in range(means.size - 3)]
    best = int(np.argmin(spread))
    return None if best > means.size // 2 else best * batch


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = rng.exponential(1, 400) + 5 * np.exp(-np.arange(400) / rng.uniform(1, 60))
    assert mser(values) == by_definition(values)


def test_a_decaying_start_is_cut_and_a_steady_series_hardly():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, 2000)
    steep = noise + 50 * np.exp(-np.arange(2000) / 40)
    assert 80 <= mser(steep) <= 400
    assert abs(steep[mser(steep) :].mean()) < 4 / 1600**0.5 + 0.1
    cuts = [mser(rng.normal(0, 1, 2000)) for _ in range(50)]
    assert np.median([cut for cut in cuts if cut is not None]) < 200


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 19, list(range(500))])
def test_a_series_too_short_to_tell_has_no_cut(values):
    assert mser(values) is None
