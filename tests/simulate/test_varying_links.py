"""Links that vary in scenarios: what is read from where, what is told, and what a run does."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.link_trace.files import write_trace
from mayfly.link_trace.kinds import make
from mayfly.link_trace.trace import of_steps
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.network.shaping import bounds_bps, shaper_rates
from mayfly.simulate.run import run_one, workload
from mayfly.workload.lists import flow_list

ENDLESS = {"permanent": [{"flows": 3}]}


@pytest.fixture
def trace(tmp_path):
    """8 Mbit/s for 2 s, an outage of 1 s, 2 Mbit/s for 2 s."""
    path = tmp_path / "steps.csv"
    path.write_text("time_s,rate_mbps\n0,8\n2,0\n3,2\n5,\n")
    return str(path)


def test_the_rate_is_the_mean_of_the_trace_and_a_buffer_in_time_is_at_it(trace):
    network = scenario_of({"network": {"link_trace": trace, "rate": "3mbit", "buffer": "10ms"}}, "test").network
    assert network.rate == 4_000_000 and network.buffer == (5000, "bytes")
    assert [one.mean_bps for one in network.traces] == [4e6, 4e6]


def test_another_rate_or_trace_of_the_other_direction_takes_the_place_of_the_same(trace, tmp_path):
    one = scenario_of({"network": {"link_trace": trace, "reverse_rate": "1mbit"}}, "test").network
    assert one.traces[1] is None and one.reverse_rate == 1_000_000
    write_trace(of_steps("up", [0.0], [3e6], 1.0), tmp_path / "up.csv")
    up = str(tmp_path / "up.csv")
    other = scenario_of({"network": {"link_trace": trace, "reverse_link_trace": up, "reverse_rate": "1mbit"}}, "test")
    assert other.network.reverse_rate == 3_000_000 and other.network.traces[1].mean_bps == 3e6
    # A copy is checked again, with the means as rates that were given.
    assert other.override(seed=2).network == other.network


def test_a_trace_stands_beside_the_scenario_that_names_it(trace, tmp_path, monkeypatch):
    (tmp_path / "scenario.toml").write_text('[network]\nlink_trace = "steps.csv"\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load_scenario("../scenario.toml").network.rate == 4_000_000
    # An option of the command line is beside whoever gives it.
    assert load_scenario("wired", {"network.link_trace": "../steps.csv"}).network.rate == 4_000_000


@pytest.mark.parametrize(
    ("network", "says"),
    [
        ({"link_trace": "nowhere.csv"}, "nowhere.csv: not a trace of a link: No such file"),
        ({"link_trace": 3}, "must be a valid string"),
        ({"wlan": {}, "shaper": {}}, "must be left out: the cell takes the place"),
        ({"shaper": {"rate": "1mbit", "share": 0.5}}, "must be one of them"),
        ({"shaper": {"share": 0.5, "controller": "autorate"}}, "share with a controller: must be left out"),
        ({"shaper": {"autorate": {"delayed": 9}}}, "delayed = 9: must be at most the window, 6"),
        ({"shaper": {"autorate": {"fall_threshold": "20ms"}}}, "delay_threshold = 0.03: must be between"),
        ({"shaper": {}, "topology": "parking-lot"}, "must be a dumbbell without impairments"),
        ({"shaper": {}, "impairment": [{"do": "drop", "segment": 1}]}, "must be a dumbbell without impairments"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(network, says):
    with pytest.raises(MayflyError, match=says) as refused:
        scenario_of({"network": network}, "test")
    assert "\n" not in str(refused.value)


def test_a_trace_whose_last_rate_is_none_must_begin_anew(tmp_path):
    write_trace(of_steps("ends", [0.0, 1.0], [1e6, 0.0], 2.0), tmp_path / "ends.csv")
    given = {"link_trace": str(tmp_path / "ends.csv"), "trace_repeats": False}
    with pytest.raises(MayflyError, match="must be above 0, as it goes on"):
        scenario_of({"network": given}, "test")


def test_an_endless_transfer_takes_what_the_trace_sends(trace):
    given = {"link_trace": trace, "delay": "5ms", "buffer": 100, "access_rate": "1gbit"}
    scenario = scenario_of({"duration": "50s", "network": given, "workload": ENDLESS, "sample_interval": "1s"}, "test")
    result = run_one(scenario, parse("fifo"), flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1 << 30]})))
    sent = result.counters["utilisation"]
    # Mean rate times 50 s, less slow start and what TCP takes to come back after each outage: never more.
    assert 0.5 < sent <= 1.0 + 1500 * 8 / (50 * 4e6)
    rates = result.samples["link_rate_bps"].to_list()
    assert rates[:6] == pytest.approx([8e6, 8e6, 0, 2e6, 2e6, 8e6])
    assert result.samples["shaper_rate_bps"].null_count() == 50


def test_an_offset_and_an_end_of_the_trace_are_kept(trace):
    given = {"link_trace": trace, "trace_offset": "1s", "trace_repeats": False}
    scenario = scenario_of({"duration": "8s", "network": given, "sample_interval": "1s"}, "test")
    result = run_one(scenario, parse("fifo"), flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1 << 30]})))
    assert result.samples["link_rate_bps"].to_list() == pytest.approx([8e6, 0, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6])


def test_links_of_a_graph_have_their_own_traces(trace):
    network = {
        "topology": "graph",
        "rate": "1gbit",
        "link": [{"from": "a", "to": "b", "link_trace": trace}, {"from": "b", "to": "c"}],
        "hosts": [{"at": "a", "name": "senders"}, {"at": "c", "name": "receivers"}],
    }
    flows = {"start_s": [0.0], "size_bytes": [1 << 30], "src": ["senders"], "dst": ["receivers"]}
    scenario = scenario_of({"duration": "20s", "network": network, "sample_interval": "1s"}, "test")
    result = run_one(scenario, parse("fifo"), flow_list(pl.DataFrame(flows)))
    first, *_ = result.interfaces
    assert first["rate_bps"] == 4_000_000 and 0.4 < first["utilisation"] <= 1.0
    assert result.samples["link_rate_bps"][2] == 0.0


def test_an_answer_alone_is_at_the_mean_rate(trace):
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [1_000_000]})
    ways = {"delay": "5ms", "buffer": 1000}
    constant = scenario_of({"duration": "60s", "network": ways | {"rate": "4mbit"}}, "test")
    varying = scenario_of({"duration": "60s", "network": ways | {"link_trace": trace}}, "test")
    one, other = (run_one(scenario, parse("fifo"), flow_list(flows)) for scenario in (constant, varying))
    assert one.records["slowdown"][0] == pytest.approx(1.0)
    # The trace begins with twice the mean.
    assert other.records["slowdown"][0] == pytest.approx(
        other.records["response_time_s"][0] / one.records["response_time_s"][0]
    )
    assert other.records["slowdown"][0] < 1.0


def test_a_shaper_moves_the_queue_before_a_link(trace):
    network = {"rate": "10mbit", "delay": "10ms", "buffer": 200, "reverse_discipline": "fifo"}
    waits = {}
    for name, shaper in (
        ("none", None),
        ("share", {"share": 0.9, "ways": "down"}),
        ("above", {"share": 2.0, "ways": "down"}),
    ):
        given = network | ({} if shaper is None else {"shaper": shaper | {"modem_buffer": 200}})
        document = {"duration": "20s", "network": given, "workload": ENDLESS, "probes": {"ping": True}}
        scenario = scenario_of(document, "test")
        result = run_one(scenario, parse("fq_codel"), workload(scenario))
        ping = result.probes.filter(probe="ping").drop_nulls()
        waits[name] = float((ping["returned_s"] - ping["sent_s"]).quantile(0.9))
    # Above the rate of the link the queue of the modem fills: 200 packets are 240 ms.
    assert waits["above"] > 0.15
    assert waits["share"] < 0.05 and waits["none"] < 0.05


def test_bounds_and_rates_of_shapers_follow_from_the_trace(tmp_path):
    write_trace(of_steps("steps", np.arange(100) * 1.0, np.arange(100) * 1e5 + 1e6, 100.0), tmp_path / "steps.csv")
    given = {"link_trace": str(tmp_path / "steps.csv"), "shaper": {"controller": "autorate"}}
    network = scenario_of({"network": given}, "test").network
    bounds = bounds_bps(network)[0]
    assert bounds["min_bps"] == pytest.approx(1.495e6) and bounds["max_bps"] == pytest.approx(10.9e6)
    assert bounds["base_bps"] == pytest.approx(3.475e6)
    assert shaper_rates(network) == [bounds["base_bps"]] * 2


def test_a_controller_keeps_the_ping_of_a_link_that_halves(tmp_path):
    write_trace(of_steps("halves", [0.0, 30.0], [20e6, 6e6], 60.0), tmp_path / "halves.csv")
    network = {"link_trace": str(tmp_path / "halves.csv"), "delay": "15ms", "buffer": 500}
    medians = {}
    for name, shaper in (("none", None), ("autorate", {"controller": "autorate", "modem_buffer": 500})):
        given = network | ({} if shaper is None else {"shaper": shaper})
        document = {"duration": "60s", "network": given, "workload": ENDLESS, "probes": {"ping": True}}
        document["tcp"] = {"preset": "linux"}
        scenario = scenario_of(document, "test")
        result = run_one(scenario, parse("fq_codel" if shaper else "fifo"), workload(scenario))
        ping = result.probes.filter(pl.col("probe") == "ping", pl.col("sent_s") > 40).drop_nulls()
        medians[name] = float((ping["returned_s"] - ping["sent_s"]).median())
        if shaper:
            rates = result.samples.filter(pl.col("time_s") > 40)["shaper_rate_bps"]
            assert 2e6 < rates.mean() < 7e6
            # The pings of the controller are no probe that the user asked for.
            assert set(result.probes["probe"]) == {"ping", "autorate"}
    assert medians["autorate"] < medians["none"] / 3


def test_the_same_seed_gives_the_same_run(tmp_path):
    write_trace(make("lte", 20.0, seed=1), tmp_path / "lte.csv")
    network = {"link_trace": str(tmp_path / "lte.csv"), "shaper": {"controller": "autorate"}}
    scenario = scenario_of({"duration": "20s", "network": network, "workload": {"load": "4mbit"}}, "test")
    runs = [run_one(scenario, parse("fq_codel"), workload(scenario)) for _ in range(2)]
    assert runs[0].records.equals(runs[1].records) and runs[0].samples.equals(runs[1].samples)
