"""The enterprise of Chen 2012, 9.3.1, on a wired dumbbell and in a cell."""

import numpy as np
import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.comparison.sections import groups
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload

TABLE_9_1 = {("intranet", "down"): 0.45, ("intranet", "up"): 0.45, ("internet", "down"): 0.09, ("internet", "up"): 0.01}
RTTS = {"intranet": 0.001, "internet": 0.1}


@pytest.mark.parametrize("name", ["enterprise", "wlan-enterprise"])
def test_transfers_are_shared_out_as_table_9_1_says_and_have_the_round_trips_of_9_2(name):
    scenario = load_scenario(name)
    flows = workload(scenario, 0)
    for (group, way), share in TABLE_9_1.items():
        own = flows.filter(group=group, direction=way)
        assert abs(own.height / flows.height - share) < 4 * (share * (1 - share) / flows.height) ** 0.5
        assert set(own["rtt_s"]) == {RTTS[group]}


def test_a_transfer_alone_takes_the_round_trips_of_its_group():
    """SYN, SYN-ACK; then the first packets: a response time is at least two round trips."""
    result = compare(load_scenario("enterprise", {"duration": "40s", "workload.load": "1mbit"}), "fifo")
    for group, rtt_s in RTTS.items():
        own = result.records.filter(pl.col("group") == group, pl.col("finish_s").is_not_null())
        rounds = own["response_time_s"].min() / rtt_s
        assert own.height and rounds >= 2
    assert np.isclose(result.records.filter(group="internet")["rtt_mean_s"].min(), 0.1, rtol=0.05)


def test_response_times_are_told_by_group_and_direction():
    result = compare(load_scenario("enterprise", {"duration": "20s"}), "fifo,las")
    for row in result.summary["disciplines"]:
        told = {(of["group"], of["direction"]): of for of in row["group_transfers"]}
        assert set(told) <= set(TABLE_9_1) and len(told) >= 3
        for (group, way), of in told.items():
            own = result.records.filter(discipline=row["label"], group=group, direction=way)
            assert (of["flows"], of["completed"]) == (own.height, own["finish_s"].count())
    (table,) = groups.transfer_tables(result.summary)
    text = "".join(table.heads)
    assert "short flows" in text
    wired = compare(load_scenario("wired", {"duration": "5s"}), "fifo")
    assert groups.transfer_tables(wired.summary) == ()
