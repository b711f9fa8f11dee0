"""The round-trip time from the echo of arrivals."""

import math
from pathlib import Path

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.estimate import Samples, estimate, read_samples
from mayfly.estimate.echo import echo

OURS = Path(__file__).parents[2] / "captures" / "red-queue.csv.gz"
STEP_S = 0.025


def echoing(lags: float, weight: float = 0.5, n: int = 6000, together: int = 1) -> Samples:
    """Poisson arrivals of which a share comes again ``lags`` intervals later; a fraction goes to the next one."""
    rng = np.random.default_rng(4)
    arrivals = rng.poisson(60, n).astype(float)
    whole, rest = math.floor(lags), lags - math.floor(lags)
    for i in range(whole + 1, n):
        before = (1 - rest) * arrivals[i - whole] + rest * arrivals[i - whole - 1]
        arrivals[i] += weight * (before - 60)
    return Samples(STEP_S * np.arange(1, n + 1), np.full(n, 10.0), arrivals, np.zeros(n))


@pytest.mark.parametrize("lags", [2.0, 3.3, 4.0, 7.5, 12.0])
def test_the_lag_of_the_echo_is_found(lags):
    # The weights have a standard error of 1/sqrt(6000) = 0.013; three of them, in 0.5, move the mean of three lags.
    bound = 3 * 0.013 / 0.5 * 2
    assert abs(echo(echoing(lags)).rtt_s / STEP_S - lags) < bound


def test_arrivals_without_an_echo_tell_nothing():
    assert echo(echoing(4.0, weight=0.0)) is None
    assert echo(echoing(4.0, n=200)) is None
    n = 4000
    assert echo(Samples(STEP_S * np.arange(1, n + 1), *(np.full(n, value) for value in (10.0, 60.0, 1.0)))) is None


def test_missing_and_impossible_numbers_do_no_harm():
    samples = echoing(4.0)
    for i, bad in enumerate((math.nan, -1.0, math.inf, 1e300)):
        samples.arrivals[500 + i] = bad
    samples.time_s[3000:] += 40.0
    assert abs(echo(samples).rtt_s / STEP_S - 4.0) < 0.25


def test_the_round_trip_of_our_own_samples_is_found():
    samples = read_samples(OURS)
    truth = 0.1 + samples.queue_pkts.mean() / 3500
    # Windows swing by a third, and the queue with them: between neighbouring lags the echo is told to a quarter.
    assert abs(echo(samples).rtt_s - truth) < samples.interval_s() / 4


def test_an_estimate_needs_no_round_trip_where_there_is_an_echo():
    samples = read_samples(OURS)
    told, given = (estimate(samples, "28mbit", rtt, from_s=20).columns["share"] for rtt in ("auto", "100ms"))
    # The responsive share is in proportion to the round trip.
    allowed = 0.4 * samples.interval_s() / 4 / 0.1
    assert abs(np.mean(told[-100:]) - np.mean(given[-100:])) < allowed
    with pytest.raises(MayflyError, match="no clear echo of a round trip"):
        estimate(echoing(4.0, weight=0.0), "28mbit", "auto")
    with pytest.raises(MayflyError, match="shorter than the queueing delay"):
        estimate(echoing(4.0), "500kbit", "auto")
