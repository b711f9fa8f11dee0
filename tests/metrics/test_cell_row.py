"""What the summary tells of a wireless cell, from tables made by hand."""

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.metrics.cell import (
    cell_row,
    direction_row,
    fairness_row,
    goodput,
    mac_row,
    offered_twice,
    queue_losses,
    station_rows,
)

MSS, HEADER = 1460, 40
ENDLESS = 2**40


def record(**given):
    """A completed download of 10 segments to station 0, but for what is given."""
    row = {
        "flow_id": 0,
        "start_s": 0.0,
        "direction": "down",
        "protocol": "tcp",
        "size_bytes": 10 * MSS,
        "size_packets": 10,
        "finish_s": 1.0,
        "response_time_s": 1.0,
        "delivered_bytes": 10 * MSS,
        "warm_up_bytes": 0,
        "packets_sent": 12,
        "retransmits": 0,
        "timeouts": 0,
        "drops": 0,
        "rtt_mean_s": 0.01,
        "cwnd_mean_packets": 5.0,
        "presence_s": 0.5,
        "station": 0,
        "replication": 0,
    }
    return row | given


def records(*rows):
    return pl.DataFrame([record(**{"flow_id": number} | row) for number, row in enumerate(rows)])


def cell(stations=2, **given):
    """Totals of 10 s in which nothing happened, but for what is given; lists begin with the access point."""
    names = ("attempts", "retries", "collided", "damaged", "acked", "acked_bytes", "given_up", "accesses", "airtime_s")
    nodes = {name: given.pop(name, [0] * (1 + stations)) for name in names}
    counts = {name: 0 for name in ("data_arrivals", "data_drops", "ack_arrivals", "ack_drops")}
    return {"seconds": 10.0, "busy_s": 0.0, "nodes": nodes} | counts | given


def test_goodput_counts_what_came_after_the_warm_up_in_each_replication():
    flows = records(
        {"delivered_bytes": 3_000_000, "warm_up_bytes": 500_000},
        {"direction": "up", "delivered_bytes": 1_250_000},
        {"direction": "up", "delivered_bytes": 2_500_000, "replication": 1},
    )
    assert goodput(flows, 2, 10.0) == {"down": [2.0, 0.0], "up": [1.0, 2.0]}


def test_losses_of_data_and_of_acknowledgements_are_told_apart():
    cells = [cell(data_arrivals=30, data_drops=3, ack_arrivals=50, ack_drops=10), cell(data_arrivals=10, data_drops=1)]
    assert queue_losses(cells) == {
        "data": {"arrivals": 40, "drops": 4, "loss": 0.1},
        "acks": {"arrivals": 50, "drops": 10, "loss": 0.2},
    }
    assert queue_losses([cell()])["acks"]["loss"] is None


def test_first_transmissions_are_the_size_and_again_what_was_repeated():
    done, unfinished, unborn = (
        records({"size_bytes": 3000, "size_packets": 3, "packets_sent": 7, "retransmits": 2}),
        # SYN, 5 segments, one of them twice.
        records({"finish_s": None, "packets_sent": 7, "retransmits": 1}),
        records({"finish_s": None, "packets_sent": 0}),
    )
    assert offered_twice(done, MSS, HEADER) == (3000 + 3 * 40, 2 * 1500)
    assert offered_twice(unfinished, MSS, HEADER) == (5 * 1500, 1500)
    assert offered_twice(unborn, MSS, HEADER) == (0, 0)
    assert offered_twice(pl.concat([done, unfinished, unborn]), MSS, HEADER) == (3120 + 7500, 4500)


def test_a_direction_has_its_own_classes_means_and_active_flows():
    flows = records(
        {"size_packets": 10, "response_time_s": 0.2, "finish_s": 0.2, "presence_s": 0.1},
        {"size_packets": 90, "size_bytes": 90 * MSS, "start_s": 5.0, "finish_s": 10.0, "response_time_s": 5.0},
        {"finish_s": None, "response_time_s": None, "rtt_mean_s": None, "cwnd_mean_packets": None, "timeouts": 3},
    )
    row = direction_row(flows, 1, end_s=10.0, begin_s=0.0, mss=MSS, header_bytes=HEADER)
    assert (row["flows"], row["completed"], row["timeouts"]) == (3, 2, 3)
    assert (row["short"]["mean_s"], row["short"]["flows"], row["short"]["presence_mean_s"]) == (0.2, 1, 0.1)
    assert (row["long"]["mean_s"], row["long"]["mean_size_packets"]) == (5.0, 90.0)
    assert (row["rtt_mean_s"], row["cwnd_mean_packets"]) == (0.01, 5.0)
    assert row["active_flows"] == {"mean": pytest.approx(0.02 + 0.5 + 1.0), "max": 2}
    nobody = direction_row(flows.clear(), 1, end_s=10.0, begin_s=0.0, mss=MSS, header_bytes=HEADER)
    assert (nobody["flows"], nobody["rtt_mean_s"], nobody["long"]["mean_s"]) == (0, None, None)
    assert nobody["active_flows"] == {"mean": None, "max": None}


def test_the_mac_is_summed_over_nodes_and_replications():
    one = cell(attempts=[60, 30, 10], retries=[6, 3, 1], collided=[12, 6, 2], given_up=[1, 0, 0], busy_s=4.0)
    row = mac_row([one | {"data_drops": 5, "ack_drops": 2}, cell(attempts=[100, 0, 0], busy_s=8.0)])
    assert (row["attempts"], row["retries"], row["given_up"], row["queue_drops"]) == (200, 10, 1, 7)
    assert (row["retry_rate"], row["collision_rate"], row["busy"]) == (0.05, 0.1, pytest.approx(0.6))
    assert mac_row([cell()])["retry_rate"] is None


def test_fairness_counts_stations_with_flows_only():
    flows = records(
        {"size_bytes": ENDLESS, "finish_s": None, "delivered_bytes": 4000, "warm_up_bytes": 1000},
        {"size_bytes": ENDLESS, "finish_s": None, "delivered_bytes": 1000, "station": 2},
        {"direction": "up", "delivered_bytes": 2000, "station": 2},
    )
    row = fairness_row(flows, [cell(stations=3, airtime_s=[9.0, 2.0, 0.0, 0.0])])
    assert row == {"flows": pytest.approx(16 / 20), "stations": 1.0, "airtime": pytest.approx(0.5)}
    assert fairness_row(flows.head(1), [cell()]) == {"flows": None, "stations": None, "airtime": None}


def test_stations_have_both_directions_and_their_air():
    flows = records(
        {"delivered_bytes": 1_250_000},
        {"direction": "up", "delivered_bytes": 2_500_000, "station": 1},
    )
    rows = station_rows(
        flows,
        [cell(airtime_s=[5.0, 2.0, 4.0], attempts=[9, 0, 10], collided=[3, 0, 1])],
        10.0,
        ["6mbit", "54mbit"],
    )
    assert rows[0] == {
        "station": 0,
        "rate": "6mbit",
        "down_mbps": 1.0,
        "up_mbps": 0.0,
        "airtime": 0.2,
        "collision_rate": None,
    }
    assert (rows[1]["up_mbps"], rows[1]["airtime"], rows[1]["collision_rate"]) == (2.0, 0.4, 0.1)


def test_the_whole_row_of_two_replications():
    flows = records(
        {"delivered_bytes": 1_250_000},
        {"direction": "up", "delivered_bytes": 2_500_000, "station": 1},
        {"delivered_bytes": 2_500_000, "replication": 1},
        {"direction": "up", "delivered_bytes": 5_000_000, "station": 1, "replication": 1},
    )
    row = cell_row(flows, [cell(), cell()], end_s=11.0, begin_s=1.0, mss=MSS, header_bytes=HEADER)
    assert [row["goodput_mbps"][way]["mean"] for way in ("down", "up", "total")] == [1.5, 3.0, 4.5]
    assert row["goodput_mbps"]["down"]["ci95"] == pytest.approx([1.5 - 6.353, 1.5 + 6.353], abs=1e-3)
    assert row["up_down_ratio"] == 2.0
    alone = cell_row(flows.filter(direction="up"), [cell(), cell()], end_s=11.0)
    assert alone["up_down_ratio"] is None
    with pytest.raises(MayflyError, match="0 cells: must be at least 1"):
        cell_row(flows, [], end_s=11.0)
    with pytest.raises(MayflyError, match=r"end_s = 1\.0: must be above begin_s, 1\.0 s"):
        cell_row(flows, [cell()], end_s=1.0, begin_s=1.0)
