"""Named settings of TCP."""

import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.run import run_one


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_what_it_declares(name):
    tcp = scenario_of({"tcp": {"preset": name}}, "preset").tcp
    written_out = scenario_of({"tcp": PRESETS[name]}, "fields").tcp
    assert tcp.model_dump(exclude={"preset"}) == written_out.model_dump(exclude={"preset"})


def test_given_fields_win_over_the_preset():
    scenario = scenario_of({"tcp": {"preset": "linux", "initial_window": 4, "retries": None}}, "given")
    assert (scenario.tcp.initial_window, scenario.tcp.retries, scenario.tcp.recovery) == (4, None, "linux")
    assert scenario.override(seed=2).tcp == scenario.tcp


def test_a_preset_on_the_command_line_replaces_that_of_the_scenario():
    tcp = load_scenario("wired", {"tcp.preset": "linux"}).tcp
    assert (tcp.congestion, tcp.min_rto, tcp.receiver_window) == ("cubic", 0.2, 11586)


def test_an_unknown_preset_is_refused_with_those_there_are():
    *names, last = map(repr, PRESETS)
    with pytest.raises(MayflyError, match=f"^bad: tcp.preset = 'windows': must be {', '.join(names)} or {last}"):
        scenario_of({"tcp": {"preset": "windows"}}, "bad")


def test_a_full_packet_has_1500_bytes_but_under_stacks_of_quic_that_begin_with_less():
    less = {"aioquic": 1228, "ngtcp2": 1228, "quic-go": 1308}
    for name in PRESETS:
        tcp = scenario_of({"tcp": {"preset": name}}, name).tcp
        assert tcp.mss + tcp.headers_bytes == less.get(name, 1500)


def _permanent(tcp: dict, loss: float = 0.0) -> pl.DataFrame:
    scenario = scenario_of(
        {
            "duration": "30s",
            "network": {"rate": "10mbit", "delay": "20ms", "buffer": 40, "loss": loss},
            "tcp": tcp,
            "workload": {"permanent": [{"flows": 4, "spread": "1s"}]},
        },
        "permanent",
    )
    from mayfly.simulate.run import workload

    return run_one(scenario, parse("fifo"), workload(scenario)).records


def test_selective_acknowledgements_spare_timeouts_and_keep_the_link_full():
    records = {name: _permanent({"recovery": name}, loss=0.01) for name in ("reno", "newreno", "sack")}
    delivered = {name: frame["delivered_bytes"].sum() for name, frame in records.items()}
    timeouts = {name: frame["timeouts"].sum() for name, frame in records.items()}
    assert delivered["sack"] > delivered["newreno"] > delivered["reno"]
    assert timeouts["sack"] < timeouts["reno"]


def test_linux_fills_the_link():
    linux = _permanent({"preset": "linux"})
    assert not linux["gave_up"].any()
    # Payload of 1448 in 1500 bytes; the first second is spent starting.
    assert linux["delivered_bytes"].sum() * 8 > 0.9 * 10e6 * 1448 / 1500 * 29


def test_a_flow_that_gives_up_says_so_and_is_unfinished():
    records = _permanent({"retries": 1, "initial_rto": "1s", "min_rto": "200ms"}, loss=0.3)
    lost = records.filter(pl.col("gave_up"))
    assert lost.height > 0
    assert lost["finish_s"].null_count() == lost.height
