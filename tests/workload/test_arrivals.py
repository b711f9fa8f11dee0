import math

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.workload.arrivals import arrival_rate, choice, poisson, stream


def test_the_first_numbers_of_a_seed_are_fixed():
    assert stream(1, "arrivals").random(4).tolist() == [
        0.2135599361404752,
        0.12739565529605135,
        0.5852938485565479,
        0.719000024696858,
    ]
    assert stream(1, "cbr", 3).random(2).tolist() == [0.6152349261926642, 0.8983537193562362]
    assert stream(2**64 - 1).random(2).tolist() == [0.5680746376436066, 0.5038448686122904]
    # By inversion: the logarithm may differ by a rounding from one platform to another.
    assert poisson(stream(1, "arrivals"), 10.0, 0.5).tolist() == pytest.approx(
        [0.02402387655420914, 0.037651180481439776, 0.12566968831759115, 0.2526097580713481, 0.30083274245045966],
        rel=1e-14,
    )


def test_streams_differ_by_seed_and_by_every_name():
    keys = [(1, "a"), (2, "a"), (1, "b"), (1, "a", "b"), (1, "ab"), (1, "a", 0), (1, "a", 1), (1,), (11,), (1, "1")]
    assert len({float(stream(*key).random()) for key in keys}) == len(keys)


def test_streams_are_uncorrelated():
    first, second = stream(1, "sizes").random(100_000), stream(1, "arrivals").random(100_000)
    # Four standard deviations.
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / math.sqrt(100_000)


def test_counts_are_poisson():
    counts = np.array([len(poisson(stream(seed, "arrivals"), 2.0, 50.0)) for seed in range(400)])
    # Mean and variance are 100; the variance of a sample variance is 2 x 100^2 / 400 and a little.
    assert abs(counts.mean() - 100) < 4 * 10 / 20
    assert abs(counts.var(ddof=1) - 100) < 4 * 100 * math.sqrt(2 / 399 + 1 / 100 / 400)


def test_gaps_are_exponential():
    gaps = np.diff(poisson(stream(3, "arrivals"), 100.0, 1000.0))
    ordered = np.sort(gaps)
    empirical = np.arange(1, len(ordered) + 1) / len(ordered)
    # Dvoretzky-Kiefer-Wolfowitz: beyond this distance once in 10^6 draws.
    assert np.abs(empirical - (1 - np.exp(-100 * ordered))).max() < math.sqrt(math.log(2e6) / (2 * len(ordered)))
    assert gaps.min() >= 0


@pytest.mark.parametrize("duration_s", [1e-9, 0.01, 1.0, 77.7])
def test_a_longer_run_begins_with_the_shorter_one(duration_s):
    longer = poisson(stream(5, "arrivals"), 30.0, 200.0)
    shorter = poisson(stream(5, "arrivals"), 30.0, duration_s)
    assert shorter.tolist() == longer[longer < duration_s].tolist()


def test_the_rate_offers_the_load():
    rate = arrival_rate(8e6, 40 * 1500)
    assert rate * 40 * 1500 * 8 == pytest.approx(8e6)


def test_choices_are_uniform():
    counts = np.bincount(choice(stream(1, "senders"), 5, 50_000), minlength=5)
    assert len(counts) == 5
    # Chi-square with 4 degrees of freedom exceeds 33.4 once in 10^6 draws.
    assert np.sum((counts - 10_000) ** 2 / 10_000) < 33.4


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: stream(-1), "seed = -1: must be a whole number from 0 to"),
        (lambda: stream(2**64), "seed = 18446744073709551616: must be"),
        (lambda: stream(1.5), "seed = 1.5: must be"),
        (lambda: arrival_rate(0, 1), "load_bps = 0: must be above 0"),
        (lambda: arrival_rate(1, math.nan), "mean_wire_bytes = nan: must be above 0"),
        (lambda: poisson(stream(1), math.inf, 1.0), "rate = inf: must be above 0 and finite"),
        (lambda: poisson(stream(1), 1.0, -1.0), r"duration_s = -1.0: must be above 0"),
        (lambda: poisson(stream(1), 1e6, 1e6), "must be at most 100000000 arrivals"),
    ],
)
def test_bad_values_are_refused(call, told):
    with pytest.raises(MayflyError) as caught:
        call()
    assert told in str(caught.value)
