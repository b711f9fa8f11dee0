"""All models of a cell from the command line."""

import json

import pytest
from typer.testing import CliRunner

from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.models.wlan.cell import cell_model
from mayfly.models.wlan.tcp import rate_with_uploads, response_of_smallest_s
from mayfly.models.wlan.times import CellTimes
from mayfly.scenario.airtimes import airtimes

TIMES = CellTimes.of(airtimes("802.11a", lengths=[1536, 76]))


def run(*arguments):
    return CliRunner().invoke(app, ["model", "wlan", *arguments])


def test_times_of_a_standard_are_those_of_the_simulator():
    assert TIMES.exchange_s(1500) + 7.5 * TIMES.slot_s == pytest.approx(393.5e-6, rel=1e-12)
    assert (TIMES.cw_min, TIMES.cw_max) == (15, 1023)
    assert TIMES.collision_s(1500, "timeout") == pytest.approx((248 + 45 + 34) * 1e-6)


def test_json_is_one_document_with_units_in_the_names():
    document = json.loads(run("--stations", "1", "--json").stdout)
    assert [one["rule"] for one in document["saturated"]] == ["every-slot", "idle-slots"]
    assert document["saturated"][0]["throughput_bps"] == pytest.approx(12000 / 393.5e-6)
    assert document["cycles"][0]["down_bps"] == pytest.approx(24000 / (3 * 67.5 + 2 * 326 + 110) * 1e6)
    assert document["shares"] == {} and document["windows"] is None


def test_slow_stations_and_a_buffer_have_their_tables():
    printed = run("--rates", "6mbit", "--stations", "3", "--buffer", "30", "--uploads", "5", "--downloads", "5")
    assert printed.exit_code == 0
    assert "equal airtime" in printed.stdout and "43 (starved)" in printed.stdout


@pytest.mark.parametrize("standard", ["802.11a", "802.11b", "802.11g", "802.11n", "802.11ac"])
def test_every_standard_has_a_model(standard):
    found = json.loads(run("--standard", standard, "--stations", "2", "--json").stdout)
    assert 5e6 < found["single"]["throughput_bps"] < found["saturated"][0]["throughput_bps"]


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--standard", "802.11z"], "standard = 802.11z"),
        (["--stations", "0"], "stations = 0: must be from 1 to 1000"),
        (["--rate", "7mbit"], "rate = 7mbit"),
        (["--packet", "40"], "packet = 40: must be from 41 to 2304"),
        (["--rates", "6mbit,6mbit", "--stations", "1"], "rates = 6mbit,6mbit: must be at most 1"),
        (["--uploads", "5"], "uploads and downloads share the access point's buffer"),
        (["--tries", "0"], "tries = 0"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, refused):
    result = run(*arguments)
    assert isinstance(result.exception, MayflyError) and refused in str(result.exception)


def test_equal_stations_have_no_shares_to_compare():
    assert cell_model([TIMES] * 2).shares == {}


def test_the_time_of_a_cycle_and_the_estimate_from_the_smallest_flows_are_told():
    words = ["--standard", "802.11b", "--ack-rate", "2mbit"]
    first = json.loads(run(*words, "--json").stdout)["cycles"][0]
    # Urvoy-Keller 2007, Eq. 2: 2 MSS / T_down.
    assert first["down_bps"] == pytest.approx(2 * 1500 * 8 / first["down_s"])
    assert first["down_s"] == pytest.approx(4.722e-3, abs=1e-6)
    told = json.loads(run(*words, "--response", "17ms", "--arrivals", "20,10", "--json").stdout)["estimate"]
    rate = rate_with_uploads(20, 10)
    assert told["arrival_rate"] == rate and told["size_bytes"] == 4500
    assert response_of_smallest_s(rate, 4500, told["capacity_bps"]) == pytest.approx(0.017)
    assert "capacity by the smallest flows" in run(*words, "--response", "17ms", "--arrivals", "20").stdout
    refused = run("--response", "17ms")
    assert isinstance(refused.exception, MayflyError) and "arrivals = []: must be downloads a second" in str(
        refused.exception
    )
