"""The shaper and the counters of waits of the kernel modules against exact arithmetic."""

import bisect
import itertools
import math
import random
import subprocess
from fractions import Fraction

import pytest

LATE_NS = 20_000_000
"""MF_SHAPER_LATE_NS: what a caller that is late makes up for."""
FRAMINGS = {"noatm": 0, "atm": 1, "ptm": 2}


def shaper(core, trace, overhead="raw", mpu=0, framing="noatm", late_ns=0) -> list[tuple[int, int]]:
    """When each packet of (time, length, header, rate, dropped before it) goes, ns, and its length on the link."""
    text = "\n".join(" ".join(map(str, (*packet, 0)[:5])) for packet in trace)
    command = [core.with_name("shaper"), str(overhead), str(mpu), str(FRAMINGS[framing]), str(late_ns)]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("rate", [1000, 8000, 125_000, 2_375_000, 12_345_678, 125_000_000, 1_250_000_000, 125 * 10**9])
def test_packets_go_as_a_link_would_send_them(core, rate):
    """Never sooner, and after 20,000 of them no later than the rounding of the rate allows."""
    rng = random.Random(rate)
    load, now, trace = rng.choice((0.5, 0.9, 1.3)), 0.0, []
    for _ in range(20_000):
        length = rng.choice((60, 577, 1514, 65_535))
        trace.append((int(now), length, 14, rate))
        now += rng.expovariate(load * rate / length) * 1e9
    free = Fraction(0)
    for (time, length, *_), (sent, on_link) in zip(trace, shaper(core, trace), strict=True):
        assert on_link == length
        exact = max(free, Fraction(time))
        # 2^-21 of a unit of 2^-20 ns a byte is lost, or won, with the rounding of the time for a byte.
        error = 1 + exact * Fraction(rate, 2**21 * 10**9)
        assert abs(sent - exact) <= error, (sent, float(exact), float(error))
        free = exact + Fraction(length * 10**9, rate)


def test_a_busy_link_does_not_drift(core):
    """Half of a percent was asked; at 100 Gbit/s the time for a byte is rounded by 6 parts in a million."""
    for rate, most in ((125_000, 1e-9), (12_500_000, 1e-7), (12_500_000_000, 6.1e-6)):
        trace = [(0, 1500, 0, rate)] * 100_000
        last, _ = shaper(core, trace)[-1]
        assert last == pytest.approx(99_999 * 1500 * 1e9 / rate, rel=most, abs=1)


def test_who_is_late_catches_up_and_no_further(core):
    rate = 1_250_000
    trace = [(0, 1250, 0, rate)] * 2000
    for late_ns in (1000, 200_000, LATE_NS // 2):
        sent = [time for time, _ in shaper(core, trace, late_ns=late_ns)]
        # It is late once, and then packets of the time that was lost leave at once.
        assert sent[-1] <= 1999 * 10**6 + late_ns + 1, (late_ns, sent[-1])
    sent = [time for time, _ in shaper(core, trace, late_ns=10 * LATE_NS)]
    burst = max(sent.count(time) for time in set(sent))
    assert burst <= LATE_NS // 10**6 + 1, burst


def test_nothing_is_saved_while_nothing_waits(core):
    trace = [(0, 1000, 0, 10**6), (10**10, 1000, 0, 10**6), (10**10, 1000, 0, 10**6), (10**10, 1000, 0, 10**6)]
    assert [time for time, _ in shaper(core, trace)] == [0, 10**10, 10**10 + 10**6, 10**10 + 2 * 10**6]


def test_another_rate_counts_for_what_is_left_of_a_packet(core):
    trace = [(0, 1000, 0, 1000), (250_000_000, 1000, 0, 1_000_000)]
    # A quarter of it went in the first second's quarter; what is left takes 750 us at the new rate.
    assert shaper(core, trace)[1][0] == 250_000_000 + 750_000
    assert shaper(core, [(0, 1000, 0, 1000), (1, 1000, 0, 0)])[1][0] == 1


def test_what_is_dropped_counts_and_stops_nothing(core):
    """A packet of 1000 bytes takes a ms; as many are dropped as go, twice and a hundred times as many."""
    rate, packets = 10**6, 1000
    times = {}
    for wasted in (0, 1, 2, 100):
        sent = [time for time, _ in shaper(core, [(0, 1000, 0, rate, wasted)] * packets)]
        times[wasted] = sent[-1] / (packets - 1)
        # Never later than one and a half times its own time after the one before, never two at once.
        assert all(10**6 <= late - early <= 1_500_002 for early, late in itertools.pairwise(sent)), wasted
    assert times[0] == 10**6
    assert times[1] == times[2] == times[100] == pytest.approx(1.5e6, rel=0.01), times
    # One for each four: their time is that of five.
    trace = [(0, 1000, 0, rate, int(number % 4 == 0)) for number in range(packets)]
    assert shaper(core, trace)[-1][0] == pytest.approx(1.25e6 * packets, rel=0.01)
    # After a flood there are 20 ms to make up for, and no more.
    flood = [(0, 1000, 0, rate, 100)] * 100
    after = [time for time, _ in shaper(core, flood + [(0, 1000, 0, rate)] * 100)]
    assert after[-1] - after[99] <= 100 * 10**6 + 21 * 10**6


def test_a_rate_after_none_begins_now(core):
    trace = [(0, 1000, 0, 10**6), (10**9, 1000, 0, 0), *[(2 * 10**9, 1000, 0, 10**6)] * 5]
    assert [time for time, _ in shaper(core, trace)][2:] == [2 * 10**9 + number * 10**6 for number in range(5)]


def test_lengths_on_the_link(core):
    """ITU-T I.363.5 and I.432: cells of 53 bytes for 48; IEEE 802.3 clause 61: 65 bytes for 64."""
    lengths = [*range(1, 400), 1500, 1514, 9014, 65_535]
    trace = [(0, length, min(14, length), 0) for length in lengths]
    for overhead, mpu, framing in (
        (-4, 0, "noatm"),
        (38, 84, "noatm"),
        (40, 0, "atm"),
        (30, 64, "ptm"),
        (256, 256, "atm"),
    ):
        got = [on_link for _, on_link in shaper(core, trace, overhead, mpu, framing)]
        for length, on_link in zip(lengths, got, strict=True):
            whole = max(length - min(14, length) + overhead, mpu, 1)
            want = {"noatm": whole, "atm": math.ceil(whole / 48) * 53, "ptm": whole + math.ceil(whole / 64)}[framing]
            assert on_link == want, (length, overhead, mpu, framing)


def counted(core, waits):
    done = subprocess.run([core.with_name("waits")], input=" ".join(map(str, waits)), capture_output=True, text=True)
    lines = list(map(int, done.stdout.split()))
    return lines[: len(waits)], lines[len(waits) : -2], lines[-2:]


def test_a_wait_goes_to_the_counter_in_which_it_lies(core):
    rng = random.Random(1)
    waits = [int(10 ** rng.uniform(2, 12)) for _ in range(5000)] + [0, 2**14 - 1, 2**14, 2**34, 2**64 - 1]
    counters, edges, _ = counted(core, waits)
    waits += [edge - 1 for edge in edges[1:]] + edges
    counters, edges, _ = counted(core, waits)
    assert edges == sorted(edges) and edges[0] == 0 and len(edges) == 43
    # Two for each doubling.
    assert all(high / low in (1.5, 4 / 3) for low, high in itertools.pairwise(edges[1:]))
    for wait, counter in zip(waits, counters, strict=True):
        assert counter == min(bisect.bisect_right(edges, wait) - 1, 41), wait


@pytest.mark.parametrize("mean_ms", [0.05, 1, 20, 800])
def test_quantiles_are_within_a_counter_of_those_of_all_waits(core, mean_ms):
    rng = random.Random(2)
    waits = sorted(int(rng.expovariate(1 / mean_ms) * 1e6) for _ in range(10_001))
    _, edges, (half, most) = counted(core, waits)
    for found, exact in ((half, waits[5000]), (most, waits[9500])):
        at = bisect.bisect_right(edges, exact)
        assert edges[at - 1] <= found <= edges[at]
    assert counted(core, [])[2] == [0, 0]
    assert counted(core, [10**6])[2] == [1_048_576, 1_048_576]
