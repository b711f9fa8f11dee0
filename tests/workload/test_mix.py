from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from mayfly.errors import MayflyError
from mayfly.laws.sizes import BoundedPareto, Deterministic, wired
from mayfly.workload.lists import ENDLESS_BYTES, flow_list, read_flows
from mayfly.workload.mix import Transfers, offered, scale_load, synthetic
from mayfly.workload.offering import Part
from mayfly.workload.sources.cbr import Cbr
from mayfly.workload.sources.permanent import Permanent

NS2 = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"


def test_transfers_are_poisson_with_uniform_end_points():
    flows = synthetic(Transfers(wired(), 8e6), duration_s=1000.0, seed=7)
    # 16.67 flows/s: four standard deviations of the count.
    assert abs(flows.height - 16667) < 4 * 16667**0.5
    assert flows["flow_id"].to_list() == list(range(flows.height))
    assert flows["start_s"].is_sorted()
    assert flows["start_s"].max() < 1000
    assert (flows["size_bytes"] % 1460 == 0).all()
    for side, nodes in (("src", range(1, 6)), ("dst", range(8, 13))):
        counts = flows[side].value_counts().sort(side)
        assert counts[side].to_list() == list(nodes)
        expected = flows.height / 5
        # Chi-square with 4 degrees of freedom exceeds 33.4 once in 10^6 draws.
        assert ((counts["count"] - expected) ** 2 / expected).sum() < 33.4
    pairs = flows.group_by("src", "dst").len()
    assert pairs.height == 25
    # Chi-square with 24 degrees of freedom exceeds 76 once in 10^6 draws.
    assert ((pairs["len"] - flows.height / 25) ** 2 / (flows.height / 25)).sum() < 76


def test_the_offered_load_is_the_nominal_one_on_average():
    loads = [
        offered(synthetic(Transfers(wired(), 8e6), duration_s=200.0, seed=seed), span_s=200.0)["down"]["mbps"]
        for seed in range(60)
    ]
    # Variance of a compound Poisson sum: rate x duration x E[size^2].
    deviation = 8 * ((1 + 6**2) / (200 * 8e6 / (40 * 12000))) ** 0.5
    assert abs(np.mean(loads) - 8) < 4 * deviation / 60**0.5


@pytest.mark.parametrize("seed", range(5))
def test_an_exact_load_is_exact_to_half_a_flow(seed):
    flows = synthetic(Transfers(wired(), 8e6, exact_load=True), duration_s=1000.0, seed=seed)
    wire = offered(flows)["down"]["wire_bytes"]
    largest = flows["size_bytes"].max() / 1460 * 1500
    assert abs(wire - 1e9) <= largest / 2
    assert flows["start_s"].max() < 1000
    plain = synthetic(Transfers(wired(), 8e6), duration_s=1000.0, seed=seed)
    both = min(flows.height, plain.height)
    assert flows["size_bytes"][:both].to_list() == plain["size_bytes"][:both].to_list()


def test_an_exact_load_is_met_by_equal_flows():
    flows = synthetic(Transfers(Deterministic(10), 1.2e6, exact_load=True), duration_s=100.0)
    assert flows.height == 1000
    assert offered(flows, span_s=100.0)["down"]["mbps"] == pytest.approx(1.2)


def test_sizes_of_a_continuous_law_are_rounded_up_and_accounted_for():
    law = BoundedPareto(0.5, 20.5, 1.1)
    flows = synthetic(Transfers(law, 50e6), duration_s=500.0)
    packets = flows["size_bytes"] / 1460
    assert packets.min() == 1
    assert packets.max() == 21
    assert offered(flows, span_s=500.0)["down"]["mbps"] == pytest.approx(50, rel=4 * (2 / flows.height) ** 0.5 * 2)


def test_changing_one_source_leaves_the_others():
    base = synthetic(Transfers(wired(), 8e6), duration_s=50.0)
    other_sizes = synthetic(Transfers(Deterministic(40), 8e6), duration_s=50.0)
    assert base["start_s"].to_list() == pytest.approx(other_sizes["start_s"].to_list(), rel=1e-9)
    assert_frame_equal(base.select("src", "dst"), other_sizes.select("src", "dst"))
    mixed = synthetic(
        Transfers(wired(), 8e6),
        duration_s=50.0,
        sources=[Cbr(1e6, flows=3, spread_s=1.0), Permanent(2, 5.0)],
    )
    transfers = mixed.filter(pl.col("protocol") == "tcp", pl.col("size_bytes") < ENDLESS_BYTES)
    assert_frame_equal(transfers.drop("flow_id"), base.drop("flow_id"))
    permanent = synthetic(duration_s=50.0, sources=[Permanent(2, 5.0)])
    assert_frame_equal(
        mixed.filter(size_bytes=ENDLESS_BYTES).drop("flow_id"),
        permanent.drop("flow_id"),
    )


def test_a_longer_run_begins_with_the_shorter_one():
    shorter = synthetic(Transfers(wired(), 8e6, up_share=0.5), duration_s=20.0)
    longer = synthetic(Transfers(wired(), 8e6, up_share=0.5), duration_s=60.0)
    assert_frame_equal(longer.head(shorter.height), shorter)


def test_what_goes_up_comes_from_the_receivers():
    flows = synthetic(Transfers(wired(), 8e6, up_share=0.25), duration_s=1000.0)
    up, down = flows.filter(direction="up"), flows.filter(direction="down")
    # Four standard deviations of a binomial share.
    assert abs(up.height / flows.height - 0.25) < 4 * (0.25 * 0.75 / flows.height) ** 0.5
    assert set(up["src"]) == set(down["dst"]) == {8, 9, 10, 11, 12}
    assert set(up["dst"]) == set(down["src"]) == {1, 2, 3, 4, 5}


def test_cbr_flows_send_what_fits_before_they_stop():
    # 1000 bytes every 8 ms from 2 s on: the packet due at 3 s is not sent.
    flows = synthetic(duration_s=10.0, sources=[Cbr(1e6, packet_bytes=1000, start_s=2.0, stop_s=3.0, flows=2)])
    assert (
        flows.select("start_s", "protocol", "size_bytes", "packet_bytes", "rate_bps").rows()
        == [(2.0, "udp", 125 * 972, 1000, 1e6)] * 2
    )
    load = offered(flows)
    assert load["span_s"] == pytest.approx(1.0)
    assert load["down"] == {"flows": 2, "wire_bytes": 250_000, "mbps": pytest.approx(2.0)}
    staggered = synthetic(duration_s=10.0, sources=[Cbr(1e6, flows=50, spread_s=4.0)])
    assert staggered["start_s"].n_unique() == 50
    assert staggered["start_s"].is_between(0, 4).all()


def test_permanent_flows_are_endless_and_count_as_no_load():
    flows = synthetic(duration_s=10.0, senders=["a"], receivers=[1], sources=[Permanent(300, 2.0)])
    assert set(flows["size_bytes"]) == {ENDLESS_BYTES}
    assert flows["start_s"].max() < 2
    assert set(flows["src"]) == {"a"}
    assert set(flows["dst"]) == {"1"}
    assert offered(flows)["endless_flows"] == 300
    assert offered(flows)["down"] == {"flows": 0, "wire_bytes": 0, "mbps": None}


def test_partial_packets_carry_a_header_each():
    flows = flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 1.0],
                "size_bytes": [1461, 100],
                "direction": ["up", "down"],
                "protocol": ["tcp", "udp"],
                "packet_bytes": [None, 100],
                "rate_bps": [None, 1600.0],
            }
        )
    )
    load = offered(flows)
    assert load["up"]["wire_bytes"] == 1461 + 80
    assert load["down"]["wire_bytes"] == 200
    # Two packets of 100 bytes at 1600 bit/s occupy 1 s after the start at 1 s.
    assert load["span_s"] == 2.0


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), load=st.floats(0.05, 3), rate_bps=st.floats(1e5, 1e9), up_share=st.floats(0, 1))
def test_a_scaled_list_offers_the_load_in_its_busier_direction(seed, load, rate_bps, up_share):
    flows = synthetic(Transfers(wired(), 2e6, up_share=up_share), duration_s=10.0, seed=seed, sources=[Cbr(64e3, 200)])
    scaled = scale_load(flows, load, rate_bps)
    then = offered(scaled)
    assert max(then["down"]["mbps"], then["up"]["mbps"]) * 1e6 == pytest.approx(load * rate_bps, rel=1e-9)
    assert_frame_equal(scaled.drop("start_s", "rate_bps"), flows.drop("start_s", "rate_bps"))
    assert then["span_s"] / offered(flows)["span_s"] == pytest.approx(64e3 / scaled["rate_bps"].max(), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: synthetic(duration_s=10.0), "no flows in 10.0 s"),
        (lambda: synthetic(duration_s=0.0), "duration_s = 0.0: must be above 0"),
        (lambda: synthetic(Transfers(wired(), 0.0), duration_s=1.0), "load_bps = 0.0: must be above 0"),
        (lambda: synthetic(Transfers(wired(), 1e6, up_share=2), duration_s=1.0), "up_share = 2: must be from 0 to 1"),
        (lambda: synthetic(Transfers(wired(), 1e6), duration_s=1.0, senders=[]), "senders = []: must be at least one"),
        (lambda: synthetic(Transfers(wired(), 1e6), duration_s=1.0, mss=0), "mss = 0, header_bytes = 40: must be"),
        (lambda: synthetic(duration_s=1.0, sources=[Cbr(0.0)]), "rate_bps = 0.0: must be from 1"),
        (
            lambda: synthetic(duration_s=1.0, sources=[Cbr(1e6, 28)]),
            "packet_bytes = 28: must be from 29 to 65535",
        ),
        (
            lambda: synthetic(duration_s=1.0, sources=[Cbr(1e6, start_s=1.0)]),
            "start_s = 1.0, stop_s = 1.0: must be",
        ),
        (lambda: synthetic(duration_s=1.0, sources=[Cbr(1e6, spread_s=-1.0)]), "spread_s = -1.0: must be >= 0"),
        (lambda: synthetic(duration_s=1.0, sources=[Permanent(0)]), "flows = 0: must be from 1"),
        (lambda: scale_load(synthetic(duration_s=1.0, sources=[Permanent(2, 1.0)]), 1, 1e6), "span 0 s"),
        (lambda: scale_load(synthetic(duration_s=1.0, sources=[Cbr(1e6)]), 0, 1e6), "load = 0: must be above 0"),
        (
            lambda: offered(synthetic(duration_s=1.0, sources=[Cbr(1e6)]), span_s=-1),
            "span_s = -1: must be above 0",
        ),
    ],
)
def test_bad_values_are_refused(call, told):
    with pytest.raises(MayflyError) as caught:
        call()
    assert told in str(caught.value)


@pytest.mark.skipif(not NS2.is_dir(), reason="the reference data of ../shared are not beside this checkout")
def test_the_reference_list_offers_its_load_and_scales():
    flows = read_flows(NS2 / "flows_B_8M.csv.gz")
    # Chosen there to lie within 1 % of 8 Mb/s.
    assert offered(flows, span_s=1000.0)["down"]["mbps"] == pytest.approx(8, rel=0.01)
    assert offered(scale_load(flows, 0.8, 10e6))["down"]["mbps"] == pytest.approx(8, rel=1e-9)


def test_parts_of_the_transfers_have_their_share_direction_and_path():
    parts = (Part(0.9, 0.5, 0.001, "intranet"), Part(0.1, 0.1, 0.1, "internet"))
    flows = synthetic(Transfers(wired(), 80e6, parts=parts), duration_s=200.0)
    plain = synthetic(Transfers(wired(), 80e6), duration_s=200.0)
    # Who belongs where changes neither arrivals nor sizes.
    assert flows.select("start_s", "size_bytes").equals(plain.select("start_s", "size_bytes"))
    n = flows.height
    assert flows["group"].null_count() == 0
    for group, share, up_share, rtt_s in (("intranet", 0.9, 0.5, 0.001), ("internet", 0.1, 0.1, 0.1)):
        own = flows.filter(group=group)
        assert abs(own.height - share * n) < 4 * (share * (1 - share) * n) ** 0.5
        up = own.filter(direction="up").height
        assert abs(up - up_share * own.height) < 4 * (up_share * (1 - up_share) * own.height) ** 0.5
        assert own["rtt_s"].unique().to_list() == [rtt_s]


def test_what_parts_leave_is_as_without_them():
    flows = synthetic(
        Transfers(wired(), 8e6, up_share=1.0, group="rest", parts=(Part(0.25), Part(0.25, rtt_s=0.05))),
        duration_s=100.0,
    )
    rest = flows.filter(direction="up")
    assert abs(rest.height - flows.height / 2) < 4 * (flows.height / 4) ** 0.5
    assert flows["group"].unique().to_list() == ["rest"]
    assert rest["rtt_s"].null_count() == rest.height
    assert flows["rtt_s"].count() == flows.filter(pl.col("rtt_s") == 0.05).height > 0


@pytest.mark.parametrize("shares", [(0.7, 0.4), (-0.1, 0.5)])
def test_parts_that_are_no_parts_are_refused(shares):
    parts = tuple(Part(share) for share in shares)
    with pytest.raises(
        MayflyError, match=f"share = {shares[0]}, {shares[1]}: must be at least 0 and together at most 1"
    ):
        synthetic(Transfers(wired(), 8e6, parts=parts), duration_s=1.0)


def test_endless_flows_and_flows_of_constant_rate_go_either_way():
    flows = synthetic(
        duration_s=5.0,
        senders=[1],
        receivers=[2],
        sources=[Cbr(1e6, flows=4, direction="up", users=4), Permanent(2), Permanent(3, direction="up")],
    )
    assert flows.filter(direction="down").height == 2
    up = flows.filter(direction="up", protocol="tcp")
    assert (up.height, up["src"].unique().to_list(), up["dst"].unique().to_list()) == (3, [2], [1])
    assert flows.filter(direction="up", protocol="udp").height == 4


def test_scripts_offer_either_direction_what_they_bring():
    rows = {"start_s": [0.0, 10.0], "script": ["up 400 | wait 20ms | down 29200", None], "size_bytes": [None, 1460]}
    flows = flow_list(pl.DataFrame(rows, schema_overrides={"script": pl.String}))
    found = offered(flows, span_s=10.0)
    # 400 bytes and a header; twenty packets and their headers, and one of the other flow.
    assert (found["up"]["wire_bytes"], found["down"]["wire_bytes"]) == (440, 29_200 + 20 * 40 + 1500)
    assert found["up"]["flows"] == 1 and found["down"]["flows"] == 2 and found["endless_flows"] == 0


def test_load_is_that_of_the_direction_which_takes_more_of_its_rate():
    rows = {"start_s": [0.0, 2.0], "size_packets": [100, 50], "direction": ["down", "up"]}
    flows = flow_list(pl.DataFrame(rows))
    scaled = scale_load(flows, 0.5, 10e6, up_rate_bps=1e6)
    # 75,000 bytes up are more of 1 Mbit/s than 150,000 of 10.
    assert offered(scaled)["up"]["mbps"] == pytest.approx(0.5, rel=1e-9)
    longer = scale_load(flows, 0.5, 10e6, up_rate_bps=1e6, span_s=4.0)
    assert longer["start_s"].to_list() == pytest.approx([0.0, scaled["start_s"][1] / 2])


def test_a_sender_that_renews_its_hosts_has_a_pair_for_each_port():
    source = Cbr(1e6, packet_bytes=1250, flows=2, renew_packets=10, renew_hosts=True, users=2)
    flows = synthetic(duration_s=1.0, sources=[source])
    # 100 packets of each of two senders.
    assert flows.height == 20 and flows.select("src", "dst").n_unique() == 20
    assert flows["src"].n_unique() == flows["dst"].n_unique() == 20
    with pytest.raises(MayflyError, match="renew_hosts: must stand beside renew"):
        synthetic(duration_s=1.0, sources=[Cbr(1e6, renew_hosts=True, users=1)])
