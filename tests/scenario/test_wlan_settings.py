"""The section [network.wlan]: what it takes, what it refuses, what the simulator gets of it."""

import pytest

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.edca import CATEGORIES
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.scenario.wlan import PRESETS, Wlan
from mayfly.simulate.settings import native_settings


def cell(**wlan):
    return scenario_of({"network": {"wlan": wlan}}, "cell")


@pytest.mark.parametrize(
    ("wlan", "told"),
    [
        ({"standard": "802.11z"}, r"network\.wlan\.standard = '802\.11z': must be '802\.11a', "),
        ({"rate": "11mbit"}, r"network\.wlan: rate = 11mbit: must be one that 802\.11a has: 6mbit, .*54mbit"),
        ({"rates": ["54mbit", "mcs7"]}, r"rate = mcs7: must be one that"),
        ({"ack_rate": "11mbit"}, r"ack_rate = 11mbit: must be one that 802\.11a has"),
        ({"stations": 2, "rates": ["6mbit"] * 3}, "rates has 3 values: must be at most 2, as stations"),
        ({"stations": 1, "frame_errors": [0.1, 0.2]}, "frame_errors has 2 values: must be at most 1"),
        ({"frame_error": 1.0}, r"frame_error = 1\.0: must be less than 1"),
        ({"frame_errors": [-0.1]}, r"frame_errors\.0 = -0\.1: must be greater than or equal to 0"),
        ({"stations": 0}, "stations = 0: must be greater than or equal to 1"),
        ({"width": 40}, "width = 40: only goes with 802.11n and 802.11ac"),
        ({"streams": 2}, "streams = 2: only goes with"),
        ({"standard": "802.11n", "width": 80}, "width = 80: must be 20, 40 MHz"),
        ({"standard": "802.11n", "width": 30}, "width = 30: must be 20, 40, 80 or 160"),
        ({"short_preamble": True}, "short_preamble = true: only goes with 802.11b"),
        ({"standard": "802.11b", "long_slot": True}, "long_slot = true: only goes with 802.11g"),
        ({"aggregate": 2}, "aggregate = 2: must be 1 with 802.11a"),
        ({"aggregate_bytes": "1 packet"}, "aggregate_bytes = '1 packet': must be bytes, such as 2346 or 64kB"),
        ({"rts_threshold": 0}, "rts_threshold = 0: must be bytes"),
        ({"retry_limit": 0}, "retry_limit = 0: must be greater than or equal to 1"),
        ({"categories": {"voice": "vo"}}, "categories without edca = true: must be left out"),
        ({"edca": True, "categories": {"voice": "xx"}}, r"categories\.voice = 'xx': must be 'bk', 'be', 'vi' or 'vo'"),
        ({"hidden_pairs": [[0, 1]]}, "hidden_pairs: must be left out: every node of a cell hears every other here"),
        ({"preset": "ns-2"}, "preset = 'ns-2': must be 'ns-3.37', 'qualnet-4.5-like' or 'bianchi'"),
        ({"airtime_quantum": 0}, r"airtime_quantum = 0\.0: must be greater than 0"),
        ({"slots": 9}, "unknown field network.wlan.slots"),
    ],
)
def test_what_makes_no_cell_is_refused_in_one_line(wlan, told):
    with pytest.raises(MayflyError, match=told) as caught:
        cell(**wlan)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("network", "told"),
    [
        ({"rate": "20mbit"}, r"rate with \[network.wlan\]: must be left out: the cell takes the place of"),
        ({"delay": "5ms"}, "delay with"),
        ({"loss": 0.1}, "loss with"),
        ({"exit_rate": "1mbit"}, "exit_rate with"),
        ({"exit_delay": "0s"}, "exit_delay with"),
        ({"watched": "r1>r2"}, "watched with"),
        ({"topology": "parking-lot"}, "topology = 'parking-lot' with \\[network.wlan\\]: must be 'dumbbell'"),
    ],
)
def test_the_link_that_a_cell_replaces_has_no_settings(network, told):
    with pytest.raises(MayflyError, match=told):
        scenario_of({"network": network | {"wlan": {}}}, "cell")


def test_the_stations_are_the_receivers():
    with pytest.raises(MayflyError, match=r"workload.receivers with \[network.wlan\]: must be left out"):
        scenario_of({"network": {"wlan": {}}, "workload": {"receivers": 7}}, "cell")


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_given_beside_a_preset_wins(name):
    plain, own = Wlan(preset=name), Wlan(preset=name, eifs=not PRESETS[name]["eifs"])
    for field in PRESETS[name].keys() - {"eifs", "cca"}:
        assert getattr(plain, field) == getattr(own, field) == PRESETS[name][field]
    assert (plain.eifs, own.eifs) == (PRESETS[name]["eifs"], not PRESETS[name]["eifs"])


def test_defaults_follow_from_the_standard():
    assert Wlan().common_rate == "54mbit"
    assert Wlan(standard="802.11b").common_rate == "11mbit"
    assert Wlan(standard="802.11n").common_rate == "mcs7"
    assert [Wlan(standard=f"802.11{name}").aggregated for name in ("a", "b", "g", "n", "ac")] == [1, 1, 1, 32, 64]
    assert [Wlan().overhead_bytes, Wlan(edca=True).overhead_bytes, Wlan(standard="802.11n").overhead_bytes] == [
        36,
        38,
        38,
    ]
    assert Wlan(stations=3, rates=["6mbit"]).station_rates == ["6mbit", "54mbit", "54mbit"]
    assert Wlan(stations=3, frame_error=0.1, frame_errors=0.2).station_errors == [0.2, 0.1, 0.1]
    assert Wlan(rates=["6mbit"]).fastest_bps == 54_000_000
    assert Wlan(standard="802.11ac", width=80, streams=2, short_guard=True).fastest_bps == 866_666_667


def test_plain_dcf_has_one_category_and_edca_four():
    native = Wlan().native([])
    assert native["categories"] == [(2, 15, 1023, 0)]
    assert native["decrement"] == "idle-slots"
    native = Wlan(standard="802.11b", edca=True).native([0, 3])
    assert dict(zip(CATEGORIES, native["categories"], strict=True)) == {
        "bk": (7, 31, 1023, 0),
        "be": (3, 31, 1023, 0),
        "vi": (2, 15, 31, 6_016_000),
        "vo": (2, 7, 15, 3_264_000),
    }
    assert native["decrement"] == "every-slot"
    assert native["category_of"] == [0, 3]
    assert Wlan(edca=True, backoff="idle-slots").native([])["decrement"] == "idle-slots"


def test_the_frame_in_service_may_count():
    network = {"buffer": 30, "reverse_buffer": 2000, "buffer_counts_transmission": True, "wlan": {}}
    settings = native_settings(scenario_of({"network": network}, "cell"), parse("fifo"), 1)
    assert (settings["limit"], settings["reverse_limit"]) == ({"packets": 29}, {"packets": 1999})
    assert settings["rate_bps"] == 54_000_000


def test_a_field_of_the_cell_is_set_by_its_dotted_name():
    changed = load_scenario("wlan", {"network.wlan.stations": 3, "network.wlan.rates": "6mbit"})
    assert changed.network.wlan.station_rates == ["6mbit", "54mbit", "54mbit"]
    # Without a cell so far, and the bottleneck of the wired scenario is the default one.
    assert load_scenario("wired", {"network.wlan.standard": "802.11g"}).network.wlan.standard == "802.11g"
