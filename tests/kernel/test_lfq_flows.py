"""lfq with TCP of the kernel: marks in place of drops, and shares of users, whatever their connections and weights."""

import guest
import polars as pl
import pytest
from guest_hosts import PRESET

import mayfly
from mayfly.discipline_registry import parse
from mayfly.engines import engine as engine_named
from mayfly.engines import linux
from mayfly.engines.network import MANY_HOSTS
from mayfly.scenario.scenario import load_scenario
from mayfly.workload.lists import ENDLESS_BYTES, flow_list

pytestmark = pytest.mark.kernel

SECONDS = 12.0


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


def wired(**changes):
    base = {"tcp.preset": PRESET, "duration": f"{SECONDS:g}s", "warm_up": "2s", "sample_interval": 0}
    return load_scenario("wired", base | {"network.delay": "8ms", "network.buffer": 200} | changes)


def endless(*users: tuple[int, int, int, str], **columns) -> pl.DataFrame:
    """Flows without end: of each user source, destination, connections and group; 10 ms after one another."""
    rows = [(src, dst, group) for src, dst, count, group in users for _ in range(count)]
    flows = pl.DataFrame(rows, schema=["src", "dst", "group"], orient="row")
    return flows.with_columns(start_s=pl.int_range(pl.len()) * 0.01, size_bytes=ENDLESS_BYTES, **columns)


def goodput(discipline: str, flows: pl.DataFrame, **changes) -> dict[str, float]:
    """Bytes of each group."""
    records = mayfly.compare(wired(**changes), discipline, flows, engine=engine_named("linux")).records
    found = records.group_by("group").agg(pl.col("delivered_bytes").sum())
    return dict(found.iter_rows())


def test_flows_with_ecn_are_marked_and_lose_nothing():
    flows = endless((1, 1, 1, "one"), (2, 2, 1, "two"))
    for discipline in ("lfq", "fq_codel"):
        result = mayfly.compare(wired(**{"tcp.ecn": True}), discipline, flows, engine=engine_named("linux"))
        row = result.summary["disciplines"][0]
        # What senders hear of: counted by their own stacks, not by the queue.
        assert result.records["marks"].min() > 5, discipline
        assert row["drops"] == 0, discipline
        assert row["utilisation"] > 0.9
    plain = mayfly.compare(wired(), "lfq", flows, engine=engine_named("linux"))
    assert plain.records["marks"].sum() == 0 and plain.summary["disciplines"][0]["drops"] > 10


def test_users_with_one_and_eight_connections_have_equal_shares():
    flows = endless((1, 1, 1, "one"), (2, 2, 8, "eight"))
    found = goodput("lfq", flows)
    assert found["eight"] / found["one"] == pytest.approx(1, abs=0.12), found
    # As flows they have not: the eight get eight ninths.
    found = goodput("lfq(user=flow)", flows)
    assert found["eight"] / found["one"] > 5, found


@pytest.mark.parametrize(
    ("user", "users"),
    [
        # Two sources to one destination, one source to two of them: the user is the side that is asked for.
        ("src", [(1, 1, 1, "one"), (2, 1, 6, "many")]),
        ("dst", [(1, 1, 1, "one"), (1, 2, 6, "many")]),
        ("triple", [(1, 1, 1, "one"), (2, 1, 6, "many")]),
        ("triple", [(1, 1, 1, "one"), (1, 2, 6, "many")]),
    ],
)
def test_a_user_is_a_source_a_destination_or_either(user, users):
    found = goodput(f"lfq(user={user})", endless(*users))
    assert found["many"] / found["one"] == pytest.approx(1, abs=0.12), found


@pytest.mark.parametrize(("user", "users"), [("src", [(1, 1, 1, "one"), (1, 2, 6, "many")])])
def test_flows_of_one_user_share_by_flow(user, users):
    found = goodput(f"lfq(user={user})", endless(*users))
    assert found["many"] / found["one"] > 4, found


def test_weights_by_mark_are_shares():
    flows = endless((1, 1, 1, "plain"), (2, 2, 4, "gold"))
    found = goodput("lfq(weights=mark)", flows, mark_of={"gold": 3})
    assert found["gold"] / found["plain"] == pytest.approx(3, rel=0.15), found
    found = goodput("lfq", flows, mark_of={"gold": 3})
    assert found["gold"] / found["plain"] == pytest.approx(1, abs=0.12), found


def test_the_kernel_engine_and_the_simulator_agree_about_marks():
    flows = endless((1, 1, 1, "plain"), (2, 2, 1, "gold"))
    result = mayfly.compare(wired(mark_of={"gold": 3}), "lfq(weights=mark)", flows, engine=engine_named("both"))
    ratio = []
    for _, rows in result.records.group_by("discipline", maintain_order=True):
        shares = dict(rows.select("group", "delivered_bytes").iter_rows())
        ratio.append(shares["gold"] / shares["plain"])
    assert ratio[0] == pytest.approx(ratio[1], rel=0.15), ratio


def test_an_empty_queue_makes_no_datagram_wait_and_a_crowd_arrives():
    # 300 senders with an address each, 4 packets in 0.1 s; one of them is traced.
    count = MANY_HOSTS + 50
    flows = pl.DataFrame(
        {
            "start_s": [0.02 * k for k in range(count)],
            "src": list(range(count)),
            "dst": [7] * count,
            "protocol": ["udp"] * count,
            "size_bytes": [4 * 472] * count,
            "packet_bytes": [500] * count,
            "rate_bps": [160e3] * count,
            "group": ["traced" if k == 100 else "others" for k in range(count)],
        }
    )
    scenario = wired(trace=["traced"], warm_up=0)
    run, _ = linux.run_one(scenario, parse("lfq"), flow_list(flows, source="list"), 0, linux.PathsAlone())
    assert run.records["drops"].sum() == 0 and run.records["packets_sent"].to_list() == [4] * count
    waits = run.packets["departed_s"] - run.packets["queued_s"]
    # 500 bytes take .4 ms: at most one other packet is under way, and netem counts whole microseconds.
    assert waits.len() == 4 and waits.max() < 0.41e-3, waits
    assert waits.min() < 10e-6
    assert (run.packets["received_s"] - run.packets["sent_s"]).min() > 0.010


def test_endless_transfers_tell_their_round_trip_time():
    flows = endless((1, 1, 1, "near"), (2, 2, 1, "far"), rtt_s=pl.Series([0.03, 0.12]))
    result = mayfly.compare(wired(), "fq_codel", flows, engine=engine_named("linux"))
    near, far = result.records["rtt_mean_s"]
    # What the path has, and a queue of CoDel.
    assert 0.03 < near < 0.06 and 0.12 < far < 0.15
