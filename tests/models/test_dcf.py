"""Saturated stations: closed forms against one station, a direct simulation of the two rules, and printed values."""

import math
import random

import pytest

from mayfly.errors import MayflyError
from mayfly.models.wlan.dcf import saturation
from mayfly.models.wlan.times import CellTimes

US = 1e-6
A = CellTimes(9 * US, 16 * US, 34 * US, 94 * US, 28 * US, 45 * US, {1500: 248 * US, 40: 32 * US}, 15, 1023)
A_SLOW = CellTimes(9 * US, 16 * US, 34 * US, 94 * US, 44 * US, 45 * US, {1500: 2072 * US, 40: 124 * US}, 15, 1023)
B = CellTimes(20 * US, 10 * US, 50 * US, 364 * US, 203 * US, 222 * US, {1500: 1310 * US, 40: 248 * US}, 31, 1023)


def simulated(cells, rule, events, *, tries=7, seed=1):
    """Backoff counters of independent random numbers, contest after contest: (Mb/s, collisions) of 20 batches.

    The rules as they are written down: the least counter sends, all count its idle slots; with every-slot those who did
    not send count the busy slot too. Who sent draws anew from its stage's window, 0 among them.
    """
    draw = random.Random(seed).randrange
    windows = [min((cells[0].cw_min + 1) << stage, cells[0].cw_max + 1) for stage in range(tries)]
    stages, counters = [0] * len(cells), [draw(windows[0]) for _ in cells]
    batches = []
    for _ in range(20):
        seconds, sent, attempts = 0.0, 0, 0
        for _ in range(events // 20):
            idle = min(counters)
            counters = [counter - idle for counter in counters]
            senders = [station for station, counter in enumerate(counters) if not counter]
            attempts += len(senders)
            seconds += idle * cells[0].slot_s
            if len(senders) == 1:
                sent += 1
                seconds += cells[senders[0]].exchange_s(1500)
                stages[senders[0]] = 0
            else:
                seconds += max(cells[station].collision_s(1500) for station in senders)
                for station in senders:
                    stages[station] = (stages[station] + 1) % tries
            if rule == "every-slot":
                counters = [counter - 1 for counter in counters]
            for station in senders:
                counters[station] = draw(windows[stages[station]])
        batches.append((sent * 12e-3 / seconds, 1 - sent / attempts))
    return zip(*batches, strict=True)


def interval(values):
    """Mean and four standard errors of independent batches."""
    values = list(values)
    mean = sum(values) / len(values)
    return mean, 4 * math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) * (len(values) - 1)))


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
@pytest.mark.parametrize(("cell", "expected_us"), [(A, 393.5), (B, 310 + 50 + 1310 + 10 + 203)])
def test_one_station_has_its_mean_backoff_and_nothing_else(cell, expected_us, rule):
    found = saturation(cell, 1, rule=rule)
    assert 12000 / found.throughput_bps == pytest.approx(expected_us * US, rel=1e-12)
    assert found.collision_probability == found.drop_probability == 0


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
@pytest.mark.parametrize(("cell", "stations"), [(A, 2), (A, 5), (A, 20), (B, 5)])
def test_the_rules_simulated_agree_within_what_independence_costs(cell, stations, rule):
    """The docstring's bound: 0.5 % of the throughput, 0.008 of the collisions; and the interval of the simulation."""
    throughput, collisions = map(interval, simulated([cell] * stations, rule, 40_000))
    found = saturation(cell, stations, rule=rule)
    assert found.throughput_bps / 1e6 == pytest.approx(throughput[0], abs=0.005 * throughput[0] + throughput[1])
    assert found.collision_probability == pytest.approx(collisions[0], abs=0.008 + collisions[1])


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
def test_small_windows_and_few_tries_agree_too(rule):
    """Bursts after collisions are frequent: a third of those who sent draw 0."""
    narrow = CellTimes(9 * US, 16 * US, 34 * US, 94 * US, 28 * US, 45 * US, {1500: 248 * US}, 3, 15)
    throughput, collisions = map(interval, simulated([narrow] * 10, rule, 40_000, tries=4))
    found = saturation(narrow, 10, rule=rule, tries=4)
    assert found.throughput_bps / 1e6 == pytest.approx(throughput[0], abs=0.005 * throughput[0] + throughput[1])
    assert found.collision_probability == pytest.approx(collisions[0], abs=0.008 + collisions[1])


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
def test_a_slow_station_slows_all_to_the_same_rate(rule):
    """Heusse et al. 2003: the anomaly."""
    cells = [A, A, A, A_SLOW]
    throughput, _ = map(interval, simulated(cells, rule, 40_000))
    found = saturation(cells, rule=rule)
    assert found.throughput_bps / 1e6 == pytest.approx(throughput[0], abs=0.005 * throughput[0] + throughput[1])
    assert found.station_bps == (found.throughput_bps / 4,) * 4
    assert found.throughput_bps < 0.5 * saturation(A, 4, rule=rule).throughput_bps


@pytest.mark.parametrize(("stations", "mbps", "collisions"), [(1, 30.495, 0.0), (2, 31.28, 0.105), (10, 27.36, 0.389)])
def test_values_of_others_for_the_chain_with_seven_tries(stations, mbps, collisions):
    """802.11a; these take a collision until DIFS after the timeout. To the digits printed."""
    found = saturation(A, stations, wait="timeout")
    assert found.throughput_bps / 1e6 == pytest.approx(mbps, abs=0.005)
    assert found.collision_probability == pytest.approx(collisions, abs=0.0005)


@pytest.mark.parametrize(
    ("cell", "stations", "wait", "mbps", "collisions"),
    [(A, 2, "timeout", 30.82, 0.109), (A, 10, "difs", 28.04, 0.3675), (B, 5, "difs", 6.628, 0.1724)],
)
def test_ns3_counts_idle_slots(cell, stations, wait, mbps, collisions):
    """Saturated UDP in ns-3.37; two stations wait for both timeouts, of more the others go on after DIFS.

    Bounds of the issue: 1.5 % and 0.01. With ten stations the chain that counts every slot collides too often.
    """
    found = saturation(cell, stations, rule="idle-slots", wait=wait)
    assert found.throughput_bps / 1e6 == pytest.approx(mbps, rel=0.015)
    assert found.collision_probability == pytest.approx(collisions, abs=0.01)


def test_frames_are_given_up_as_the_chain_has_it():
    found = saturation(A, 20, tries=3)
    assert found.drop_probability == pytest.approx(found.collision_probability**3)
    idle = saturation(A, 20, tries=3, rule="idle-slots")
    assert idle.drop_probability == pytest.approx(idle.collision_probability**3, rel=0.1)


@pytest.mark.parametrize("rule", ["every-slot", "idle-slots"])
def test_a_thousand_stations_still_have_a_solution(rule):
    found = saturation(A, 1000, rule=rule)
    assert 0 < found.throughput_bps < saturation(A, 50, rule=rule).throughput_bps


def test_longer_waits_after_collisions_cost_throughput():
    rates = [saturation(A, 10, wait=wait).throughput_bps for wait in ("difs", "timeout", "eifs")]
    assert rates == sorted(rates, reverse=True)


def test_rates_in_any_order_give_the_same_cell():
    assert saturation([A, A_SLOW, A]).throughput_bps == pytest.approx(saturation([A_SLOW, A, A]).throughput_bps)
    assert saturation([A] * 7) == saturation(A, 7)


@pytest.mark.parametrize(
    ("arguments", "options", "refused"),
    [
        ((A, 0), {}, "stations = 0: must be from 1 to 10000"),
        ((A,), {}, "stations = None: must be"),
        (([A], 2), {}, "stations = 2: must be as many as there are times, 1"),
        (([A, B],), {}, "different slots or windows"),
        ((A, 2), {"tries": 0}, "tries = 0: must be from 1 to 255"),
        ((A, 2), {"rule": "some"}, "rule = some: must be one of every-slot, idle-slots"),
        ((A, 2), {"wait": "long"}, "wait = long: must be one of difs, timeout, eifs"),
        ((A, 2), {"packet_bytes": 99}, "packet_bytes = 99: must be one of 1500, 40"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, options, refused):
    with pytest.raises(MayflyError, match=refused):
        saturation(*arguments, **options)
