"""Groups, users, renewed ports and split transfers of a mix."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from mayfly.errors import MayflyError
from mayfly.laws.sizes import Deterministic, wired
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload
from mayfly.workload.lists import ENDLESS_BYTES
from mayfly.workload.mix import Transfers, synthetic
from mayfly.workload.sources.batch import Batch
from mayfly.workload.sources.cbr import Cbr
from mayfly.workload.sources.permanent import Permanent


def pairs(flows):
    return flows.select("src", "dst").unique().rows()


def test_every_user_has_a_pair_of_hosts_of_its_own():
    flows = synthetic(
        Transfers(wired(), 8e6, users=4, group="short"),
        duration_s=50.0,
        sources=[
            Cbr(1e6, users=1, group="voice"),
            Permanent(3, users=3, group="long"),
            Permanent(2, group="drawn"),
        ],
    )
    owned = flows.filter(pl.col("group") != "drawn")
    found = [pair for name in ("short", "long", "voice") for pair in pairs(owned.filter(group=name))]
    assert len(found) == 8
    hosts = [host for pair in found for host in pair]
    assert len(set(hosts)) == 16
    assert not set(hosts) & {*range(1, 6), *range(8, 13)}
    assert {src for src, _ in pairs(flows.filter(group="drawn"))} <= set(range(1, 6))


def test_flows_are_dealt_to_their_users_in_turn():
    flows = synthetic(duration_s=1.0, sources=[Permanent(7, users=3)])
    counts = flows.group_by("src", "dst").len()["len"].sort()
    assert counts.to_list() == [2, 2, 3]
    assert flows["src"].to_list()[:3] == flows["src"].to_list()[3:6]


def test_transfers_are_drawn_uniformly_for_the_users():
    flows = synthetic(Transfers(Deterministic(10), 12e6, users=4, up_share=0.5), duration_s=400.0)
    down = flows.filter(direction="down")
    counts = down.group_by("src").len()["len"]
    assert len(counts) == 4
    expected = down.height / 4
    # Chi-square with 3 degrees of freedom exceeds 30.7 once in 10^6 draws.
    assert ((counts - expected) ** 2 / expected).sum() < 30.7
    assert sorted(pairs(down)) == sorted((dst, src) for src, dst in pairs(flows.filter(direction="up")))


def test_users_beside_named_hosts_have_names():
    mix = {"duration_s": 1.0, "sources": [Permanent(2, users=2), Permanent(1)]}
    flows = synthetic(**mix, senders=["lab"], receivers=["4", 9])
    assert {pair for pair in pairs(flows) if pair[0] != "lab"} == {("10", "11"), ("12", "13")}


def test_a_group_changes_nothing_but_the_name():
    plain = synthetic(Transfers(wired(), 8e6), duration_s=50.0, sources=[Cbr(1e6, spread_s=1.0), Permanent(2, 3.0)])
    named = synthetic(
        Transfers(wired(), 8e6, group="a"),
        duration_s=50.0,
        sources=[Cbr(1e6, spread_s=1.0, group="b"), Permanent(2, 3.0, group="c")],
    )
    assert plain["group"].null_count() == plain.height
    assert_frame_equal(plain.drop("group"), named.drop("group"))
    kinds = named.select(
        "group", kind=pl.when(pl.col("protocol") == "udp").then(0).when(size_bytes=ENDLESS_BYTES).then(1).otherwise(2)
    )
    assert set(kinds.unique().rows()) == {("b", 0), ("c", 1), ("a", 2)}


def test_a_renewing_sender_goes_on_without_a_gap_under_another_port():
    whole = synthetic(duration_s=10.0, sources=[Cbr(1.2e6, 1500, start_s=1.0, flows=2, users=2)])
    flows = synthetic(duration_s=10.0, sources=[Cbr(1.2e6, 1500, start_s=1.0, flows=2, users=2, renew_packets=7)])
    # 9 s at 100 packets a second: 128 ports of 7 packets and one of 4, for each of two senders.
    assert flows.height == 2 * 129
    assert flows["size_bytes"].sum() == whole["size_bytes"].sum() == 2 * 900 * 1472
    for _, own in flows.group_by("src"):
        own = own.sort("start_s")
        assert own["size_bytes"].to_list() == [7 * 1472] * 128 + [4 * 1472]
        assert own["start_s"].diff().drop_nulls().round(9).unique().to_list() == [0.07]
        assert own["start_s"][0] == 1.0


def test_a_batch_is_one_transfer_in_equal_parts_again_and_again():
    flows = synthetic(duration_s=100.0, sources=[Batch(1000, flows=3, start_s=5.0, every_s=30.0, users=1, group="x")])
    assert flows["start_s"].to_list() == [5.0] * 3 + [35.0] * 3 + [65.0] * 3 + [95.0] * 3
    assert flows["size_bytes"].to_list() == [334, 333, 333] * 4
    assert len(pairs(flows)) == 1
    assert flows["group"].unique().to_list() == ["x"]
    once = synthetic(duration_s=100.0, sources=[Batch(10**6)])
    assert once.select("start_s", "size_bytes").rows() == [(0.0, 10**6)]
    # As the flows of a list that start after the end of the run.
    late = synthetic(duration_s=5.0, sources=[Permanent(1), Batch(10, start_s=5.0, every_s=1.0)])
    assert late.height == 1


def test_connections_of_a_batch_are_dealt_to_the_same_users_every_time():
    flows = synthetic(duration_s=100.0, sources=[Batch(1000, flows=3, every_s=50.0, users=2)])
    assert flows["src"].to_list()[:3] == flows["src"].to_list()[3:]
    assert flows["src"].n_unique() == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sources": [Permanent(2, users=3)]}, r"permanent: users = 3: must be from 1 to flows = 2"),
        ({"sources": [Cbr(1e6, users=0)]}, r"cbr: users = 0: must be from 1"),
        ({"sources": [Cbr(1e6, renew_packets=0)]}, r"renew_packets = 0: must be at least 1"),
        (
            {"sources": [Cbr(1e12, 29, renew_packets=1)]},
            r"renew_packets = 1: must be large enough for at most 10000000",
        ),
        ({"transfers": Transfers(wired(), 8e6, users=0)}, r"transfers: users = 0: must be from 1 to 1000000"),
        ({"sources": [Batch(10, flows=11)]}, r"batch: flows = 11: must be from 1 to 10, with at least a byte"),
        ({"sources": [Batch(10, start_s=-1.0)]}, r"batch: start_s = -1.0: must be 0 or more"),
        ({"sources": [Batch(10, start_s=10.0)]}, r"no flows in 10.0 s"),
        ({"sources": [Batch(10, every_s=0.0)]}, r"batch: every_s = 0.0: must be above 0"),
        ({"sources": [Batch(10, every_s=1e-9)]}, r"batch: every_s = 1e-09: must be long enough for at most"),
        ({"sources": [Batch(10, flows=2, users=3)]}, r"batch: users = 3: must be from 1 to flows = 2"),
    ],
)
def test_what_makes_no_sense_is_refused(given, told):
    with pytest.raises(MayflyError, match=told):
        synthetic(**given, duration_s=10.0)


def test_a_scenario_says_all_of_it():
    scenario = load_scenario(
        "wired",
        {
            "duration": "10s",
            "workload.load": "1mbit",
            "workload.users": 2,
            "workload.group": "short",
            "workload.permanent": [{"flows": 3, "users": 3, "group": "long"}],
            "workload.batch": [{"size": 10, "flows": 2, "start": "1s", "every": "4s", "users": 1, "group": "split"}],
            "workload.cbr": [{"rate": "1.2mbit", "renew": 100, "users": 1, "group": "udp"}],
        },
    )
    flows = workload(scenario)
    users = dict(flows.group_by("group").agg(pl.struct("src", "dst").n_unique()).iter_rows())
    assert users == {"short": 2, "long": 3, "split": 1, "udp": 1}
    split = flows.filter(group="split")
    assert split["start_s"].to_list() == [1.0, 1.0, 5.0, 5.0, 9.0, 9.0]
    assert split["size_bytes"].to_list() == [7300] * 6
    assert flows.filter(group="udp").height == 10
