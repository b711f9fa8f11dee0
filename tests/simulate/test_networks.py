"""Networks of all kinds answer to one protocol; nobody asks which kind one is."""

import re
from pathlib import Path

import pytest

from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.network.cell import Cell
from mayfly.simulate.network.dumbbell import Dumbbell
from mayfly.simulate.network.graph import Graph
from mayfly.simulate.network.protocol import Net
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import workload

PYTHON = Path(__file__).parents[2] / "python" / "mayfly"
ASKED = [name for name in vars(Net) if not name.startswith("_")]


@pytest.mark.parametrize(("name", "kind"), [("wired", Dumbbell), ("parking-lot", Graph), ("wlan", Cell)])
def test_every_kind_has_all_that_is_asked(name, kind):
    network = network_of(load_scenario(name))
    assert type(network) is kind and len(ASKED) > 12
    assert [one for one in ASKED if not hasattr(network, one)] == []
    assert set(network.settings(parse("fifo"), 1500)) == {"graph", "wlan", "traces"}


def test_the_speed_is_that_of_the_interface_of_interest():
    assert network_of(scenario_of({"network": {"rate": "8mbit"}}, "x")).rate_bps == 8_000_000
    lot = network_of(load_scenario("parking-lot"))
    assert lot.rate_bps == lot.named_rates()[2 * lot.watched][1] and lot.fastest_bps >= lot.rate_bps


def test_nobody_asks_which_kind_it_is():
    asking = re.compile(r"(topology|cell|graph) is (not )?None|isinstance\(\w+, \(?(Graph|Cell|Dumbbell)\b")
    files = [*(PYTHON / "simulate").glob("*.py"), *(PYTHON / "engines").glob("*.py")]
    assert len(files) > 10
    assert [file.name for file in files if asking.search(file.read_text(encoding="utf-8"))] == []


def test_a_network_without_the_usual_groups_does_without_transfers():
    scenario = load_scenario("zhao-multihop", {"duration": 3, "warm_up": 1})
    assert "senders" not in {group.name for group in network_of(scenario).groups}
    assert workload(scenario).height > 10
