"""Traced flows: per interval, jitter, playout deadlines and departures, by hand."""

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.metrics import (
    blocks_in_time,
    deadline_misses,
    inter_departure_cdf,
    inter_departures,
    jitter,
    one_way_delays,
    per_interval,
    regularity,
)


def stream(delays, gap_s=1.0):
    """Packets of one flow sent ``gap_s`` apart; a delay of None is a loss on arrival at the queue."""
    sent = np.arange(len(delays)) * gap_s
    received = [None if delay is None else float(at + delay) for at, delay in zip(sent, delays, strict=True)]
    return pl.DataFrame(
        {
            "flow_id": 4,
            "sent_s": sent,
            "departed_s": [None if at is None else at - 0.1 for at in received],
            "received_s": received,
            "dropped_s": [float(at) if delay is None else None for at, delay in zip(sent, delays, strict=True)],
        }
    )


def test_delays_are_in_order_of_sending():
    packets = stream([0.5, None, 0.25])
    assert np.array_equal(one_way_delays(packets.reverse()), [0.5, np.nan, 0.25], equal_nan=True)


def test_jitter_is_the_change_of_delay_between_neighbours_that_arrived():
    packets = stream([0.5, 0.75, None, 0.5, 0.25, 0.0])
    table = jitter(packets, 3)
    assert table["packet"].to_list() == [0, 3]
    # 0.5 to 0.75 in the first group; in the second 0.5 to 0.25 to 0, nothing across the loss.
    assert table["jitter_s"].to_list() == [0.25, 0.25]
    assert table["lost"].to_list() == [1, 0]
    assert jitter(stream([None, None]), 2)["jitter_s"].to_list() == [None]
    with pytest.raises(MayflyError, match="each = 1"):
        jitter(packets, 1)


def test_a_packet_misses_when_later_than_buffer_and_mean():
    packets = stream([0.5, 1.5, 1.6, None, 9.0])
    misses = deadline_misses(packets, 1.0, mean_s=0.5, block=2)
    # 1.5 is not later than 1 + 0.5; the fifth packet has no full block.
    assert misses.rows() == [(0, 0.0), (2, 0.5)]
    assert blocks_in_time(misses) == 0.5
    assert deadline_misses(packets, 1.0, mean_s=0.5, block=2, count_lost=True)["missed"].to_list() == [0.0, 1.0]
    # The mean of those that arrived is 3.15 s.
    assert deadline_misses(packets, 5.9, block=5)["missed"].to_list() == [0.0]
    assert deadline_misses(packets, 5.8, block=5)["missed"].to_list() == [0.2]
    assert blocks_in_time(deadline_misses(packets, 0.0, block=6)) is None


@pytest.mark.parametrize(("playout_s", "block"), [(-0.1, 20), (float("nan"), 20), (1.0, 0)])
def test_a_deadline_needs_a_buffer_and_a_block(playout_s, block):
    with pytest.raises(MayflyError, match=r"must be at least"):
        deadline_misses(stream([0.1]), playout_s, block=block)


def test_departures_are_taken_in_order_of_time():
    packets = stream([1.5, 0.2, None, 0.2])
    assert inter_departures(packets) == pytest.approx([0.3, 1.7])
    cdf = inter_departure_cdf(stream([0.2] * 5 + [1.2]))
    assert cdf["gap_s"].to_list() == pytest.approx([1.0, 2.0])
    assert cdf["share"].to_list() == [0.8, 1.0]
    assert inter_departure_cdf(stream([0.2])).height == 0
    two = pl.concat([packets, packets.with_columns(flow_id=5)])
    with pytest.raises(MayflyError, match="packets of 2 flows and runs: must be of one; filter by flow_id"):
        inter_departures(two)


def test_regularity_of_a_queue_that_serves_in_batches():
    # Three at once every three periods.
    found = regularity(np.array([0.0, 0.0, 3.0] * 10), 1.0)
    assert (found["regular"], found["batched"]) == (0.0, pytest.approx(2 / 3))
    assert found["jitter"] == pytest.approx(np.sqrt(2))
    with pytest.raises(MayflyError, match="0 gaps"):
        regularity(np.array([]), 1.0)


def test_counts_per_interval_have_a_row_for_silence():
    packets = stream([0.5, None, 0.5, 0.5], gap_s=25.0).with_columns(discipline=pl.lit("las"))
    timeouts = pl.DataFrame({"flow_id": [4, 4, 9], "time_s": [30.0, 39.0, 1.0], "discipline": "las"})
    table = per_interval(packets, timeouts, 110.0, 20.0)
    assert table["time_s"].to_list() == [0.0, 20.0, 40.0, 60.0, 80.0]
    assert table["sent"].to_list() == [1, 1, 1, 1, 0]
    assert table["received"].to_list() == [1, 0, 1, 1, 0]
    assert table["dropped"].to_list() == [0, 1, 0, 0, 0]
    assert table["timeouts"].to_list() == [0, 2, 0, 0, 0]
    assert table.columns[:2] == ["discipline", "flow_id"]
    later = per_interval(packets, timeouts, 100.0, 20.0, 40.0)
    assert later.rows() == table.rows()[2:]
    assert per_interval(packets.clear(), timeouts.clear(), 10.0, 5.0).columns == table.columns
    with pytest.raises(MayflyError, match="end_s = 10"):
        per_interval(packets, timeouts, 10.0, 20.0)
    with pytest.raises(MayflyError, match="interval_s = -1"):
        per_interval(packets, timeouts, 10.0, -1)
