"""Laws of links that vary: seeds, parameters, and what each law says of its draws."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.link_trace.kinds import KINDS, make
from mayfly.link_trace.trace import of_steps


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_one_trace_and_another_seed_another(kind):
    one, same, other = (make(kind, 600.0, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.rate_bps, same.rate_bps) and np.array_equal(one.at_ns, same.at_ns)
    assert not np.array_equal(one.rate_bps, other.rate_bps)
    assert one.period_s == 600.0 and one.at_ns[0] == 0 and (np.diff(one.at_ns) > 0).all()
    assert (one.rate_bps >= 0).all()


@pytest.mark.parametrize("kind", ["lte", "5g", "starlink", "wifi"])
def test_the_mean_is_the_one_asked_for(kind):
    assert make(kind, 300.0, seed=3, parameters={"mean": "12mbit"}).mean_bps == pytest.approx(12e6, rel=1e-6)


def test_a_satellite_changes_rate_and_delay_every_15_s():
    trace = make("starlink", 300.0, seed=5, parameters={"within": 0, "interrupts": 0, "obstructed": 0})
    edges = trace.at_ns[1:][np.diff(trace.rate_bps) != 0] / 1e9
    assert len(edges) == 19
    assert np.allclose(edges % 15, 0)
    assert np.array_equal(edges, trace.at_ns[1:][np.diff(trace.added_delay_ns) != 0] / 1e9)
    assert trace.added_delay_ns.min() >= 0 and trace.added_delay_ns.max() <= 20_000_000


def test_a_line_that_retrains_is_without_service_for_as_long():
    trace = make("dsl", 3600.0, seed=1, parameters={"retrains_every": "300s", "retraining": "20s"})
    lengths = [length for _, length in trace.outages]
    assert len(lengths) >= 5 and np.allclose(lengths[:-1], 20.0)


def test_the_walk_of_a_cellular_link_has_the_volatility_of_its_law():
    trace = make("lte", 3600.0, seed=1)
    rates = trace.rates(0.1) / (1500 * 8)
    inside = (rates[:-1] > 300) & (rates[:-1] < 700)
    steps = np.diff(rates)[inside]
    # 200 packets/s per root of a second: 63.2 in 0.1 s. 3.3 standard errors of a deviation.
    expected = 200 * np.sqrt(0.1)
    assert abs(steps.std() / expected - 1) < 3.3 / np.sqrt(2 * len(steps))
    # Outages last 1 s on average: exponential, in steps of 0.1 s and longer by the way back from near zero.
    silent = rates == 0
    ends = int((silent[:-1] & ~silent[1:]).sum())
    mean_s = silent.sum() * 0.1 / ends
    assert abs(mean_s - 0.1 / (1 - np.exp(-0.1))) < 3.3 * mean_s / np.sqrt(ends)


@pytest.mark.parametrize(
    ("kind", "duration", "seed", "parameters", "says"),
    [
        ("let", 60, 1, {}, "kind = let: did you mean lte"),
        ("lte", 0.5, 1, {}, "duration = 0.5: must be from 1 s to a day"),
        ("lte", 60, -1, {}, "seed = -1"),
        ("lte", 60, 1, {"mena": 3}, "lte: mena: no such parameter; did you mean mean"),
        ("wifi", 60, 1, {"busy": 2}, "wifi: busy = 2: must be less than or equal to 0.95"),
    ],
)
def test_what_no_law_has_is_refused(kind, duration, seed, parameters, says):
    with pytest.raises(MayflyError) as refused:
        make(kind, duration, seed, parameters)
    assert says in str(refused.value)


def test_bits_and_rates_of_a_trace_add_up():
    trace = of_steps("example", [0.0, 0.25, 1.0], [4e6, 0.0, 8e6], 2.0)
    assert trace.bits(0.0, 2.0) == pytest.approx(9e6) and trace.mean_bps == pytest.approx(4.5e6)
    assert trace.bits(0.1, 3.5) == pytest.approx(9e6 - 0.4e6 + 1e6 + 4e6)
    assert trace.bits(1.5, 3.0, repeats=False) == pytest.approx(12e6)
    assert trace.rates(0.5) == pytest.approx([2e6, 0, 8e6, 8e6])
    assert trace.outages == [(0.25, 0.75)]
