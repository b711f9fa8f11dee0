"""Ideal cycles, the capacity estimator, shares of unequal stations, windows of uploads and downloads."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.models.wlan.shares import download_shares
from mayfly.models.wlan.tcp import (
    FIGURE_WINDOWS,
    capacity_bps,
    cycle_capacity,
    cycle_s,
    rate_with_uploads,
    response_of_smallest_s,
)
from mayfly.models.wlan.times import CellTimes
from mayfly.models.wlan.windows import delivered_per_s, starved_ratio, window_ratio

US = 1e-6
A = CellTimes(9 * US, 16 * US, 34 * US, 94 * US, 28 * US, 45 * US, {1500: 248 * US, 40: 32 * US}, 15, 1023)
A_SLOW = CellTimes(9 * US, 16 * US, 34 * US, 94 * US, 44 * US, 45 * US, {1500: 2072 * US, 40: 124 * US}, 15, 1023)
B = CellTimes(20 * US, 10 * US, 50 * US, 364 * US, 248 * US, 222 * US, {1500: 1310 * US, 40: 248 * US}, 31, 1023)
PRINTED_US = (50 + 10) + 192 + 14 * 8 / 11
"""Urvoy-Keller 2007, Eq. 2 as printed: A + l_a / r, one preamble, microseconds."""


# Ideal cycles.


def test_a_cycle_is_the_sum_of_its_exchanges():
    """DIFS, c slots, frame, SIFS, acknowledgement; two propagation delays each."""
    packet, ack = 50 + 16 * 20 + 1310 + 10 + 248 + 2, 50 + 16 * 20 + 248 + 10 + 248 + 2
    assert cycle_s(B, [1500, 1500, 40], 16, propagation_s=1 * US) == pytest.approx((2 * packet + ack) * US, rel=1e-12)


def test_capacities_read_off_the_paper_are_those_of_full_frame_times():
    """C_k "is 3.5 Mb/s" and C_mix "at most 2.6" at the smallest window, read off Figure 10: to 0.1.

    Eq. 2 as printed gives a fourth more.
    """
    found = cycle_capacity(B)
    assert found.smallest_bps / 1e6 == pytest.approx(3.5, abs=0.1)
    assert found.mixed_bps / 1e6 == pytest.approx(2.6, abs=0.1)
    printed_s = (8 * (PRINTED_US + 15.5 * 20) + (3 * 1500 + 5 * 40) * 8 / 11) * US
    assert 3 * 12000 / printed_s / 1e6 == pytest.approx(4.5, abs=0.05)


def test_mixed_capacity_is_three_quarters_of_that_of_the_smallest_flows():
    """Urvoy-Keller 2007, Eq. 11: 9 MSS / (4 T_down), a third of the traffic uploads."""
    found = cycle_capacity(B)
    down_s = cycle_s(B, [1500] * 3 + [40] * 5, 15.5)
    assert found.mixed_bps == pytest.approx(0.75 * found.smallest_bps) == pytest.approx(9 * 12000 / (4 * down_s))
    assert cycle_capacity(B, upload_share=0).mixed_bps == pytest.approx(found.smallest_bps)
    assert cycle_capacity(B, upload_share=1).mixed_bps == pytest.approx(found.smallest_bps / 2)


def test_capacity_decays_with_the_contention_window():
    """Figure 10: all curves fall. At the largest window a cycle is its backoffs, and there are three of them."""
    curves = [cycle_capacity(B, window / 2) for window in FIGURE_WINDOWS]
    for name in ("down_bps", "down_up_bps", "smallest_bps", "mixed_bps"):
        values = [getattr(found, name) for found in curves]
        assert values == sorted(values, reverse=True)
    assert curves[-1].down_bps == pytest.approx(24000 / (3 * (511.5 * 20 + 308) + 2 * 1310 + 248) * 1e6)


# The estimator.


@given(arrival_rate=st.floats(0, 1e4), size_bytes=st.floats(40, 1e7), load=st.floats(0.0, 0.999))
def test_the_estimator_undoes_the_response_time(arrival_rate, size_bytes, load):
    """Eq. 9 and Eq. 10, load the share of the capacity if all flows were of this size."""
    capacity = 8 * arrival_rate * size_bytes / load if load > 1e-3 and arrival_rate > 1e-3 else 1e9 + 8e11
    response = response_of_smallest_s(arrival_rate, size_bytes, capacity)
    assert capacity_bps(arrival_rate, size_bytes, response) == pytest.approx(capacity, rel=1e-9)


def test_the_estimator_is_that_of_the_errata():
    """C = lambda k s / (s - 1), s = sqrt(1 + 2 lambda T); and Eq. 10 as printed, in bytes."""
    rate, size, response = 30.0, 4500.0, 0.02
    root = math.sqrt(1 + 2 * rate * response)
    printed = (size * (2 * rate * response + 1) + math.sqrt(size**2 * (2 * rate * response + 1))) / (2 * response)
    assert capacity_bps(rate, size, response) == pytest.approx(8 * rate * size * root / (root - 1))
    assert capacity_bps(rate, size, response) == pytest.approx(8 * printed)


def test_without_arrivals_the_capacity_is_size_over_time():
    assert capacity_bps(0.0, 4500, 0.01) == pytest.approx(8 * 4500 / 0.01)
    assert response_of_smallest_s(0.0, 4500, 3.6e6) == pytest.approx(0.01)


def test_uploads_count_by_their_acknowledgements():
    assert rate_with_uploads(20, 0) == 20
    assert rate_with_uploads(0, 75) == pytest.approx(2)


# Shares of unequal stations.


def test_equal_packets_make_all_as_slow_as_the_mean():
    shares = download_shares([A, A, A_SLOW], "packets")
    mean_s = (2 * 393.5 + 34 + 67.5 + 2072 + 16 + 44) * US
    assert shares.station_bps == pytest.approx([12000 / mean_s] * 3)
    assert sum(shares.airtime) == pytest.approx(1)


def test_equal_airtime_gives_each_nearly_its_part_of_what_it_has_alone():
    """The shorter DIFS and backoff are beside the frames, the nearer: here they are stretched over fewer packets."""
    shares = download_shares([A, A_SLOW], "airtime")
    assert shares.airtime == pytest.approx([0.5, 0.5])
    alone = [download_shares([one], "airtime").throughput_bps for one in (A, A_SLOW)]
    assert alone[0] == pytest.approx(12000 / (393.5 * US))
    for share, whole in zip(shares.station_bps, alone, strict=True):
        assert share == pytest.approx(whole / 2, rel=(34 + 67.5) / 292)
    ideal = [CellTimes(1e-12, 16 * US, 1e-12, 94 * US, 28 * US, 45 * US, one.data_s, 15, 1023) for one in (A, A_SLOW)]
    alone = [download_shares([one], "airtime").throughput_bps for one in ideal]
    assert download_shares(ideal, "airtime").station_bps == pytest.approx([whole / 2 for whole in alone])


def test_equal_airtime_carries_more_in_all():
    cells = [A] * 4 + [A_SLOW]
    assert download_shares(cells, "airtime").throughput_bps > 1.5 * download_shares(cells, "packets").throughput_bps
    assert download_shares([A] * 5, "airtime").station_bps == pytest.approx(
        download_shares([A] * 5, "packets").station_bps
    )


# Windows.


def test_a_buffer_for_all_windows_is_fair():
    """5 against 5 with windows of 43: 215 packets of data and 107.5 acknowledgements."""
    assert window_ratio(323, 5, 5).ratio == 1
    assert window_ratio(322, 5, 5).ratio == pytest.approx(43 / (214.5 / 5))
    assert window_ratio(400, 2, 6).ratio == pytest.approx(2 / 6)


def test_ns3_at_300_packets():
    """13.42 up, 11.80 down, windows 43.0 and 38.0 (ns-3.37, two seeds); 5 % by the issue."""
    found = window_ratio(300, 5, 5)
    assert found.ratio == pytest.approx(13.42 / 11.80, rel=0.05)
    assert found.window_down == pytest.approx(38.0, rel=0.05)


@pytest.mark.parametrize(
    ("buffer", "loss", "up_mbps", "ratio"), [(10, 0.278, 25.09, 196), (30, 0.292, 25.15, 254), (70, 0.246, 25.04, 146)]
)
def test_ns3_where_downloads_starve(buffer, loss, up_mbps, ratio):
    """At the loss ns-3.37 has: a factor 2 by the issue, on a logarithmic scale. Windows alone say 43."""
    assert window_ratio(buffer, 5, 5).case == "starved"
    found = starved_ratio(loss, up_mbps * 1e6 * 1500 / 1460, 5, 5)
    assert abs(math.log2(found / ratio)) < 1
    assert found > window_ratio(buffer, 5, 5).ratio


def test_the_ratio_falls_with_the_buffer():
    ratios = [window_ratio(packets, 5, 5).ratio for packets in range(1, 400)]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.parametrize("per_ack", [1, 2])
def test_few_losses_leave_the_square_root_law(per_ack):
    """Padhye et al. 2000: sqrt(3 / (2 b p)) packets a round trip as p goes to 0."""
    found = delivered_per_s(1e-8, 0.1, 1.0, per_ack=per_ack, window=10**9)
    assert found == pytest.approx(math.sqrt(3 / (2 * per_ack * 1e-8)) / 0.1, rel=2e-3)


def test_the_receiver_window_bounds_the_rate():
    assert delivered_per_s(1e-8, 0.1, 1.0) == pytest.approx(430)


@pytest.mark.parametrize(
    ("refusing", "refused"),
    [
        (lambda: cycle_s(A, [1500], -1), "backoff_slots = -1: must be at least 0"),
        (lambda: cycle_capacity(A, per_ack=0), "per_ack = 0: must be from 1"),
        (lambda: cycle_capacity(A, upload_share=1.5), "upload_share = 1.5: must be from 0 to 1"),
        (lambda: response_of_smallest_s(100, 4500, 3.6e6), r"capacity_bps = 3.6e\+06: must be above 3.6e\+06"),
        (lambda: capacity_bps(-1, 4500, 1), "arrival_rate = -1: must be at least 0"),
        (lambda: capacity_bps(1, 0, 1), "size_bytes = 0: must be above 0"),
        (lambda: capacity_bps(1, 4500, math.nan), "response_s = nan: must be above 0"),
        (lambda: rate_with_uploads(-1, 0), "downloads = -1: must be at least 0"),
        (lambda: rate_with_uploads(1, 0, ack_bytes=2000), "ack_bytes = 2000: must be above 0, and packet_bytes = 1500"),
        (lambda: download_shares([], "airtime"), "no stations"),
        (lambda: download_shares([A], "turns"), "fairness = turns: must be one of packets, airtime"),
        (lambda: window_ratio(0, 5, 5), "buffer_packets = 0: must be from 1"),
        (lambda: starved_ratio(0, 1e6, 5, 5), "loss = 0: must be above 0 and below 1"),
        (lambda: starved_ratio(0.1, 0, 5, 5), "upload_bps = 0: must be above 0"),
        (lambda: delivered_per_s(0.1, -1, 1), "rtt_s = -1: must be above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(refusing, refused):
    with pytest.raises(MayflyError, match=refused):
        refusing()
