"""On/off, variable-rate and replayed UDP flows, short-term TCP flows, sets in step and staggered."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload
from mayfly.workload.arrivals import stream
from mayfly.workload.lists import in_text
from mayfly.workload.mix import offered, synthetic
from mayfly.workload.sources.cbr import Cbr
from mayfly.workload.sources.datagrams import places
from mayfly.workload.sources.on_off import OnOff
from mayfly.workload.sources.permanent import Permanent
from mayfly.workload.sources.replay import Replay
from mayfly.workload.sources.short_term import ShortTerm
from mayfly.workload.sources.vbr import Vbr


def test_on_off_flows_of_a_set_in_step_are_on_together():
    flows = synthetic(sources=[OnOff(rate_bps=1e6, on_s=20, off_s=20, flows=6)], duration_s=320.0)
    assert flows["start_s"].to_list() == [0.0] * 6
    bursts = flows["bursts"][0].struct.unnest()
    assert bursts["at_ns"].to_list() == [40 * 10**9 * k for k in range(8)]
    assert bursts["packets"].unique().to_list() == [2500]
    assert bursts["gap_ns"].unique().to_list() == [8_000_000]
    assert in_text(flows)["bursts"].n_unique() == 1


def test_the_last_period_ends_with_the_flow():
    bursts = OnOff(rate_bps=8000, on_s=4, off_s=1).bursts(7.0, np.random.default_rng(1))
    assert bursts.struct.unnest().select("at_ns", "packets").rows() == [(0, 4), (5 * 10**9, 2)]


def test_exponential_periods_have_their_means():
    drawn = OnOff(rate_bps=8e6, on_s=2, off_s=3, periods="exponential").bursts(50_000.0, stream(1, "x"))
    bursts = drawn.struct.unnest()
    n = bursts.height
    on_s = bursts["packets"].to_numpy() * 1e-3
    # A period is rounded up to whole packets of 1 ms; four standard deviations.
    assert abs(on_s.mean() - 2.0005) < 4 * 2 / math.sqrt(n)
    assert abs(n - 10_000) < 4 * math.sqrt(50_000 / 5 * (2**2 + 3**2) / 5**2)


def test_variable_rates_lie_in_their_bounds_and_keep_their_mean():
    source = Vbr(flows=16, period_min_s=0.1, period_max_s=1.0)
    flows = synthetic(sources=[source], duration_s=2000.0)
    bursts = flows["bursts"].explode().struct.unnest()
    rates = 8000 / (bursts["gap_ns"].to_numpy() * 1e-9)
    many = bursts["packets"].to_numpy() > 1
    assert rates[many].min() >= 0.5e6 * (1 - 1e-6) and rates[many].max() <= 1.5e6 * (1 + 1e-6)
    # Uniform on 0.5 to 1.5 Mb/s: variance 1/12 per period, weighted by lengths (mean square over squared mean 1.223).
    error = math.sqrt(1 / 12 * 1.223 / (16 * 2000 / 0.55))
    assert abs(offered(flows, span_s=2000.0)["down"]["mbps"] / 16 - 1) < 4 * error + 16 * 8e-3 / 2000 / 16
    assert in_text(flows)["bursts"].n_unique() == 16


def test_a_trace_is_replayed_from_its_first_packet(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text("time_s,bytes\n100.5,200\n100.5,1000\n103,40\n")
    flows = synthetic(sources=[Replay(file=file, start_s=2.0, stop_s=4.0)], duration_s=10.0)
    assert flows["start_s"].to_list() == [2.0]
    assert in_text(flows)["bursts"].to_list() == ["0:200 0:1000"]
    for text, told in [
        ("", "not a trace"),
        ("time_s,size\n1,2\n", "not a trace with the columns time_s and bytes"),
        ("time_s,bytes\n2,40\n1,40\n", r"row 2: time_s = 1: must not be before"),
        ("time_s,bytes\n2,28\n", "row 1: bytes = 28: must be from 29 to 65535"),
        ("time_s,bytes\n2,\n", "must hold a time_s and bytes in every row"),
        ("time_s,bytes\nx,40\n", "not a trace"),
    ]:
        file.write_text(text)
        with pytest.raises(MayflyError, match=told):
            synthetic(sources=[Replay(file=file)], duration_s=10.0)
    with pytest.raises(MayflyError, match="not a trace"):
        synthetic(sources=[Replay(file=tmp_path / "none.csv")], duration_s=10.0)


def test_five_instants_in_every_period_of_every_source():
    source = ShortTerm(300, 20 * 960, times=5, period_s=50, arrivals="uniform", start_s=100, users=50)
    flows = synthetic(sources=[source], duration_s=320.0, mss=960)
    assert flows["start_s"].min() >= 100
    whole = flows.filter(pl.col("start_s") < 300)
    assert whole.height == 300 * 5 * 4
    assert flows.select("src", "dst").n_unique() == 50
    assert flows["size_bytes"].unique().to_list() == [19_200]
    in_period = (whole["start_s"] - 100).to_numpy() % 50
    # Dvoretzky-Kiefer-Wolfowitz: beyond this distance once in 10^6 draws.
    n = len(in_period)
    assert np.abs(np.sort(in_period) / 50 - np.arange(n) / n).max() < math.sqrt(math.log(2e6) / (2 * n)) + 1 / n


def test_mice_come_every_ten_seconds_on_average():
    source = ShortTerm(1300, 9600, period_s=10, spread_s=10)
    flows = synthetic(sources=[source], duration_s=320.0)
    expected = 1300 * (320 - 5) / 10 + 1300
    assert abs(flows.height - expected) < 4 * math.sqrt(expected)
    even = synthetic(sources=[ShortTerm(10, 9600, period_s=10, arrivals="even", spread_s=10)], duration_s=100.0)
    assert even.height == 100


def test_sets_in_step_staggered_and_spread():
    rng = np.random.default_rng(1)
    assert places(3, 0.0, "random", rng).tolist() == [0, 0, 0]
    assert places(4, 0.008, "even", rng).tolist() == [0, 0.002, 0.004, 0.006]
    assert len(set(places(9, 1.0, "random", rng))) == 9
    flows = synthetic(duration_s=1.0, sources=[Cbr(1e6, 1000, flows=4, spread_s=0.008, place="even")])
    assert flows["start_s"].to_list() == [0, 0.002, 0.004, 0.006]


def test_round_trip_times_of_permanent_flows_lie_at_equal_distances():
    flows = synthetic(duration_s=1.0, sources=[Permanent(5, rtt_min_s=0.0244, rtt_max_s=0.1755)])
    assert sorted(flows["rtt_s"]) == pytest.approx(np.linspace(0.0244, 0.1755, 5))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (OnOff(on_s=0), "on_s = 0: must be above 0"),
        (OnOff(on_s=1e-9, off_s=1e-9), "must give at most 20000000 periods"),
        (OnOff(periods="odd"), "periods = odd: must be fixed or exponential"),
        (OnOff(packet_bytes=28), "packet_bytes = 28: must be from 29"),
        (OnOff(start_s=5, stop_s=5), "must be 0 <= start_s < stop_s"),
        (OnOff(place="odd"), "place = odd: must be random or even"),
        (OnOff(users=2), "users = 2: must be from 1 to flows = 1"),
        (Vbr(rate_min_bps=2e6), "must be 1 <= min <= max"),
        (Vbr(period_min_s=0), "must be 0 < min <= max"),
        (Vbr(period_min_s=1e-9), "period_min_s = 1e-09: must give at most"),
        (ShortTerm(0, 1), "sources = 0: must be from 1"),
        (ShortTerm(1, 0), "size_bytes = 0: must be at least 1"),
        (ShortTerm(10**6, 1, period_s=1e-3), "must give at most 10000000 connections"),
        (ShortTerm(1, 1, arrivals="odd"), "arrivals = odd: must be uniform or exponential or even"),
    ],
)
def test_bad_sources_are_refused(source, told):
    with pytest.raises(MayflyError) as caught:
        synthetic(sources=[source], duration_s=10.0)
    assert told in str(caught.value)


def test_a_scenario_draws_all_of_them():
    given = {
        "duration": "30s",
        "workload.on_off": [{"rate": "1mbit", "on": "5s", "off": "5s", "group": "a"}],
        "workload.vbr": [{"flows": 2, "group": "b"}],
        "workload.short_term": [{"sources": 3, "size": 10, "arrivals": "even", "group": "c"}],
    }
    flows = workload(load_scenario("wired", given | {"workload.load": "1mbit"}))
    assert flows["group"].value_counts().sort("group").rows() == [
        (None, flows.height - 12),
        ("a", 1),
        ("b", 2),
        ("c", 9),
    ]
    assert flows.equals(workload(load_scenario("wired", given | {"workload.load": "1mbit"})))


def test_bounds_that_cross_are_refused_in_a_scenario():
    with pytest.raises(MayflyError, match=r"period_max = 0.5: must be at least period_min, 1.0"):
        load_scenario("wired", {"workload.vbr": [{"period_max": 0.5}]})
    with pytest.raises(MayflyError, match=r"rtt_max = None: must be given with rtt_min"):
        load_scenario("wired", {"workload.permanent": [{"rtt_min": "20ms"}]})
