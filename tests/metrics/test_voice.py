"""The E-model against what ITU-T G.107 prints, and calls against closed forms."""

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from mayfly.metrics.voice import DEFAULTS, call_direction, call_row, call_windows, opinion, rating, smoothed_jitter_s


def call(delays_s, sent_s=None):
    sent = 0.02 * np.arange(len(delays_s)) if sent_s is None else sent_s
    received = [None if math.isnan(delay) else at + delay for at, delay in zip(sent, delays_s, strict=True)]
    return pl.DataFrame({"sent_s": sent, "received_s": pl.Series(received, dtype=pl.Float64)})


def test_defaults_give_the_printed_ratings():
    # G.107 (06/2015), Table 3: R = 93.2 with all defaults; Ro = 94.77 and Is = 1.41 on the way.
    assert DEFAULTS.signal == pytest.approx(94.77, abs=0.005)
    assert DEFAULTS.simultaneous() == pytest.approx(1.41, abs=0.005)
    assert rating(0.0, 0.0) == pytest.approx(93.2, abs=0.05)
    assert opinion(rating(0.0, 0.0)) == pytest.approx(4.41, abs=0.005)


@pytest.mark.parametrize(("r", "mos"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_opinions_are_those_of_table_b_1(r, mos):
    assert opinion(r) == pytest.approx(mos, abs=0.01)


def test_opinion_is_bounded_and_never_falls():
    values = [opinion(r) for r in np.linspace(-10, 110, 500)]
    assert values[0] == 1.0 and values[-1] == 4.5
    assert all(a <= b + 1e-12 for a, b in pairwise(values))


@pytest.mark.parametrize("delay_ms", [25, 50, 100, 150, 200, 250, 300])
def test_delay_costs_what_the_fit_of_cole_and_rosenbluth_says(delay_ms):
    # Cole and Rosenbluth 2001, a fit to G.107 by two lines, furthest from it at their corner.
    fit = 0.024 * delay_ms + 0.11 * max(delay_ms - 177.3, 0)
    assert DEFAULTS.delayed(delay_ms) == pytest.approx(fit, abs=0.7)


def test_loss_costs_the_effective_impairment():
    # G.107, 7-29, with G.113's Bpl: 25.1 with concealment, 4.3 without.
    assert rating(0, 0) - rating(0, 0.01) == pytest.approx(95 / 26.1, rel=1e-12)
    assert rating(0, 0, bpl=4.3) - rating(0, 0.02, bpl=4.3) == pytest.approx(95 * 2 / 6.3, rel=1e-12)


def test_a_steady_call_waits_for_its_delay_and_a_packet():
    found = call_direction(call([0.03] * 1500))
    assert found["delay_ms"] == pytest.approx(30) and found["jitter_ms"] == pytest.approx(0, abs=1e-9)
    assert found["loss"] == found["late"] == 0
    assert found["mos"] == pytest.approx(opinion(rating(50.0, 0.0)), rel=1e-9)


def test_the_playout_buffer_leaves_a_few_late_packets_behind():
    delays = np.full(1000, 0.03)
    delays[::50] = 1.0
    windows = call_windows(call(delays))
    assert windows["playout_s"].to_list() == pytest.approx([0.03, 0.03])
    assert windows["missing"].to_list() == pytest.approx([0.02, 0.02])
    # Waiting for all would cost more.
    assert windows["r"][0] == pytest.approx(rating(50.0, 0.02)) and windows["r"][0] > rating(1020.0, 0.0)


def test_loss_and_late_packets_are_told_apart_and_the_worse_direction_counts():
    delays = np.full(1000, 0.03)
    delays[::50], delays[1::100] = 1.0, np.nan
    row = call_row(call([0.03] * 1000), call(delays))
    assert row["up"]["loss"] == pytest.approx(0.01) and row["up"]["late"] == pytest.approx(0.02)
    assert row["mos"] == row["up"]["mos"] == pytest.approx(opinion(rating(50.0, 0.03)))
    assert row["mos_ci95"] == pytest.approx([row["mos"]] * 2)


def test_a_dead_window_is_as_bad_as_can_be():
    windows = call_windows(call([0.03] * 500 + [math.nan] * 500))
    assert windows["r"].to_list() == [pytest.approx(rating(50.0, 0.0)), 0.0]
    assert call_direction(call([math.nan] * 500))["mos"] == 1.0


def test_a_short_rest_belongs_to_the_window_before_it():
    assert call_windows(call([0.03] * 700))["window"].to_list() == [0]
    assert call_windows(call([0.03] * 800))["window"].to_list() == [0, 1]
    assert call_row(call([]), call([0.03])) is None


def test_jitter_is_that_of_rfc_3550():
    rng = np.random.default_rng(1)
    delays = rng.exponential(0.01, 300)
    jitter, seen = 0.0, []
    for before, now in pairwise(delays):
        jitter += (abs(now - before) - jitter) / 16
        seen.append(jitter)
    assert smoothed_jitter_s(delays) == pytest.approx(np.mean(seen), rel=1e-12)
    assert smoothed_jitter_s(np.array([0.01])) is None
