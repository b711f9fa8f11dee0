"""The regulator of `estmred`: drop-tail while too much does not respond, RED before and after."""

import polars as pl
import pytest

from mayfly import load_scenario, run

FLOW = {"rate": "1mbit", "packet": 1000, "group": "flood", "spread": "2s"}
FLOOD = [FLOW | {"flows": 5, "users": 5}, FLOW | {"flows": 17, "users": 17, "start": "40s", "stop": "80s"}]
SETTINGS = {"duration": "130s", "warm_up": "0s", "workload.cbr": FLOOD}
RED = "min_th=15,max_th=45"


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("flood", SETTINGS)


def queues(scenario, discipline):
    """Mean queue in packets before, in and after the flood, 10 s or more after each change and 30 s after its end."""
    samples = run(scenario, discipline).samples
    spans = ((20, 40), (50, 80), (115, 130))
    return [samples.filter(pl.col("time_s").is_between(*span))["queue_mean_packets"].mean() for span in spans]


def test_without_a_bound_every_packet_is_treated_as_by_red(scenario):
    red, plain = (run(scenario, f"{name}({RED}{more})") for name, more in (("red", ""), ("estmred", ",rate=28e6")))
    assert plain.records.drop("discipline").equals(red.records.drop("discipline"))


def test_a_flood_moves_it_to_drop_tail_and_its_end_moves_it_back(scenario):
    before, amid, after = queues(scenario, f"estmred({RED},rate=28e6,per_ack=2,above=0.6)")
    red = queues(scenario, f"red({RED})")
    tail = queues(scenario, "fifo")
    # Packets: RED keeps 20 less than drop-tail in the flood, so either is told from the other by half of that.
    assert tail[1] - red[1] > 20
    assert abs(amid - tail[1]) < 10
    assert before == pytest.approx(red[0]) and abs(after - red[2]) < 10 < tail[2] - red[2]
