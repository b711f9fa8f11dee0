"""Queueing delay, loss, active flows, transmission time and class rates against sums done by hand."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.comparison.comparison import run
from mayfly.errors import MayflyError
from mayfly.metrics import (
    active_flows,
    jain_index,
    loss_by_size,
    loss_rate,
    lossy_share_up_to,
    lossy_sizes,
    mean_transmission_time,
    queueing_delay,
    relative_queueing_delay,
)
from mayfly.scenario.scenario import load_scenario


def waiting(groups):
    """Records of flows with the given waits of their packets, by group."""
    rows = []
    for group, waits in groups:
        values = np.array(waits)
        some = values.size > 0
        rows.append(
            {
                "group": group,
                "queue_packets": values.size,
                "queue_delay_mean_s": values.mean() if some else None,
                "queue_delay_deviation_s": values.std() if some else None,
                "queue_delay_max_s": values.max() if some else None,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"group": pl.String})


def test_pooled_deviation_is_that_of_all_packets():
    rng = np.random.default_rng(1)
    waits = [("a", rng.exponential(1e-3, 50)), ("b", 5 + rng.exponential(1e-3, 3)), ("a", rng.uniform(0, 1, 20))]
    everything = np.concatenate([values for _, values in waits])
    table = queueing_delay(waiting([*waits, ("c", [])]), by="group")
    assert table["group"].to_list() == ["a", "b", "c"]
    total = queueing_delay(waiting(waits)).row(0, named=True)
    assert total["packets"] == 73
    assert total["mean_s"] == pytest.approx(everything.mean(), rel=1e-12)
    assert total["deviation_s"] == pytest.approx(everything.std(), rel=1e-12)
    assert total["max_s"] == everything.max()
    # 5 s with a deviation of a millisecond: no digits lost.
    assert table["deviation_s"][1] == pytest.approx(waits[1][1].std(), rel=1e-9)
    assert table.row(2) == ("c", 0, None, None, None)


def test_an_unknown_column_is_refused():
    with pytest.raises(MayflyError, match="by = colour: must be columns of the records"):
        queueing_delay(waiting([("a", [1.0])]), by="colour")
    with pytest.raises(MayflyError, match="propagation_rtt_s = 0: must be above 0 s"):
        relative_queueing_delay(0.1, 0)


def test_a_full_queue_of_drop_tail_waits_its_length_over_the_rate():
    # 20 Mb/s of UDP on 10 Mb/s with room for 50 packets of 1250 bytes, 1 ms each: a packet that is served finds 49
    # waiting and one in transmission, or comes as one leaves.
    overrides = {"duration": "10s", "network.buffer": 50, "network.access_rate": "1gbit"}
    flows = pl.DataFrame(
        {"start_s": [0.0], "size_bytes": [10**8], "protocol": ["udp"], "packet_bytes": [1250], "rate_bps": [2e7]}
    )
    records = run(load_scenario("wired", overrides), "fifo", flows).records
    delay = queueing_delay(records).row(0, named=True)
    assert delay["max_s"] == pytest.approx(0.05, abs=1e-3)
    assert delay["mean_s"] == pytest.approx(0.05, abs=1e-3)
    assert relative_queueing_delay(delay["mean_s"], 0.006) == pytest.approx(delay["mean_s"] / 0.006)
    assert loss_rate(records) == pytest.approx(0.5, abs=0.01)


LOSSY = pl.DataFrame(
    {
        "discipline": ["fifo"] * 5 + ["las"],
        "protocol": ["tcp", "tcp", "tcp", "udp", "tcp", "tcp"],
        "size_packets": [1, 1, 3, 1, 100, 1],
        "packets_sent": [2, 3, 5, 10, 190, 0],
        "drops": [0, 1, 2, 10, 9, 0],
    }
)


def test_loss_by_size_counts_flows_and_packets():
    table = loss_by_size(LOSSY)
    fifo = table.filter(discipline="fifo")
    assert fifo["size_packets"].to_list() == [1, 3, 100]
    assert fifo["flows"].to_list() == [2, 1, 1]
    assert fifo["lossy_share"].to_list() == [0.5, 1.0, 1.0]
    assert fifo["loss"].to_list() == [1 / 5, 2 / 5, 9 / 190]
    assert table.filter(discipline="las")["loss"].to_list() == [None]
    # 1 to 3 share a bin of half a decade, 100 has its own.
    assert loss_by_size(LOSSY.filter(discipline="fifo"), 2)["loss"].to_list() == [3 / 10, 9 / 190]
    with pytest.raises(MayflyError, match="bins_per_decade = 0"):
        loss_by_size(LOSSY, 0)


def test_sizes_of_lossy_flows():
    table = lossy_sizes(LOSSY)
    assert table.rows() == [("fifo", 1, 1, 1 / 3), ("fifo", 3, 1, 2 / 3), ("fifo", 100, 1, 1.0)]
    assert lossy_share_up_to(LOSSY, 9) == pytest.approx(2 / 3)
    assert lossy_share_up_to(LOSSY.filter(discipline="las"), 9) is None
    assert loss_rate(LOSSY) == 22 / 210
    assert loss_rate(LOSSY.clear()) is None


def test_active_flows_of_a_drawn_diagram():
    # |--0--|  from 1 to 12; 1 from 3 to 3.5; 2 from 10 on; 3 starts when 0 ends.
    records = pl.DataFrame({"start_s": [1.0, 3.0, 10.0, 12.0], "finish_s": [12.0, 3.5, None, 25.0]})
    table = active_flows(records, 30.0, 10.0)
    assert table["time_s"].to_list() == [0.0, 10.0, 20.0]
    assert table["mean"].to_list() == pytest.approx([(9 + 0.5) / 10, (2 + 10 + 8) / 10, (5 + 10) / 10])
    assert table["max"].to_list() == [2, 2, 2]
    assert active_flows(records, 30.0, 10.0, 20.0).rows() == table.rows()[2:]
    assert active_flows(records, 9.0, 2.0, 1.0).height == 4


def test_an_end_and_a_start_at_the_start_of_an_interval_do_not_overlap():
    records = pl.DataFrame({"start_s": [0.0, 10.0], "finish_s": [10.0, 15.0]})
    assert active_flows(records, 20.0, 10.0)["max"].to_list() == [1, 1]


def test_active_flows_keep_runs_apart_and_need_an_interval():
    records = pl.DataFrame(
        {"discipline": ["a", "b"], "replication": [0, 0], "start_s": [0.0, 5.0], "finish_s": [10.0, 6.0]}
    )
    table = active_flows(records, 10.0, 10.0)
    assert table["discipline"].to_list() == ["a", "b"]
    assert table["mean"].to_list() == pytest.approx([1.0, 0.1])
    with pytest.raises(MayflyError, match="interval_s = 0"):
        active_flows(records, 10.0, 0)
    with pytest.raises(MayflyError, match="end_s = 5"):
        active_flows(records, 5.0, 10.0)


def test_active_flows_follow_littles_law():
    records = run(load_scenario("wired", {"duration": "200s"}), "fifo").records
    table = active_flows(records, 200.0, 50.0)
    stay = records["finish_s"].fill_null(200.0) - records["start_s"]
    # Exactly: the area under the number of flows is the sum of their times.
    assert table["mean"].mean() * 200.0 == pytest.approx(stay.sum(), rel=1e-9)
    assert table["max"].max() >= math.ceil(table["mean"].max())


def test_transmission_time_by_size():
    records = pl.DataFrame(
        {
            "protocol": "tcp",
            "size_packets": [1, 1, 2, 2],
            "start_s": 0.0,
            "first_sent_s": [1.0, 1.0, 1.0, 1.0],
            "last_data_s": [2.0, 4.0, 3.0, None],
            "finish_s": [9.0, None, 9.0, None],
            "response_time_s": [9.0, None, 9.0, None],
        }
    )
    assert mean_transmission_time(records).rows() == [(1.0, 2.0, 2), (2.0, 2.0, 1)]


@pytest.mark.parametrize(("shares", "index"), [([], None), ([0, 0], None), ([3], 1.0), ([1e-300, 1e-300], 1.0)])
def test_jain_index_at_its_edges(shares, index):
    assert jain_index(shares) == index


@pytest.mark.parametrize("bad", [[1, -1], [1, float("nan")], [float("inf")]])
def test_jain_index_refuses_what_is_no_share(bad):
    with pytest.raises(MayflyError, match="finite and at least 0"):
        jain_index(bad)
