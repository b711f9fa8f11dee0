"""Calls in figures, of packets written by hand; the E-model itself is tested in the crate ``metrics``."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.metrics.voice import call_direction, call_row

MOS_AT_50_MS = 4.3796
"""G.107 (06/2015) with its defaults, 50 ms from mouth to ear and no loss: R = 91.8."""


def call(delays_s):
    sent = 0.02 * np.arange(len(delays_s))
    received = [None if math.isnan(delay) else at + delay for at, delay in zip(sent, delays_s, strict=True)]
    return pl.DataFrame({"sent_s": sent, "received_s": pl.Series(received, dtype=pl.Float64)})


def test_a_steady_call_waits_for_its_delay_and_a_packet():
    found = call_direction(call([0.03] * 1500))
    assert found["delay_ms"] == pytest.approx(30) and found["jitter_ms"] == pytest.approx(0, abs=1e-9)
    assert found["loss"] == found["late"] == 0
    assert found["mos"] == pytest.approx(MOS_AT_50_MS, abs=5e-4)


def test_loss_and_late_packets_are_told_apart_and_the_worse_direction_counts():
    delays = np.full(1000, 0.03)
    delays[::50], delays[1::100] = 1.0, np.nan
    row = call_row(call([0.03] * 1000), call(delays))
    assert list(row) == ["down", "up", "mos", "mos_ci95"]
    assert row["up"]["loss"] == pytest.approx(0.01) and row["up"]["late"] == pytest.approx(0.02)
    assert row["mos"] == row["up"]["mos"] < row["down"]["mos"]
    assert row["mos_ci95"] == pytest.approx([row["mos"]] * 2)


def test_the_order_of_the_packets_does_not_matter():
    packets = call([0.03, 0.05] * 500)
    assert call_direction(packets.reverse()) == call_direction(packets)


def test_a_call_without_packets_has_no_figures():
    assert call_row(call([]), call([0.03])) is None and call_direction(call([])) is None
    assert call_direction(call([math.nan] * 500))["mos"] == 1.0
