"""What users feel in a run, measured as the commands do, is what ``tests/data/gold`` has."""

from pathlib import Path

import pytest
from gold import at_once, check
from measured_users import MEDIA, PROBES, asked, film_list, made_capture, replayed, whole_ns

from mayfly.comparison.run_set import Measured, Workload
from mayfly.comparison.sections.users import measure
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
SITE = ["10.10.0.0/24"]


def by_rust(case, scenario, discipline, flows):
    """Compares the figures of a run, and the list that it had; the figures."""
    _, columns, _ = asked(scenario, discipline, flows)
    run = run_one(scenario, parse(discipline), flows)
    found = measure(Measured(Workload(scenario, [run]), [run], run.records))["users"]
    given = {name: columns[name].tolist() for name in ("start_ns", "size_bytes", "src", "dst", "flags")}
    check("users", f"{case}, {discipline}", {"list": f"{flows.height} {at_once(given)}", "users": found})
    return found


@pytest.mark.parametrize(
    ("name", "discipline", "overrides"),
    [
        ("pages", "fifo", {"duration": "60s"} | PROBES),
        ("pages", "fq_codel", {"duration": "60s"}),
        ("gaming-spaced", "fifo", {"duration": "60s"} | PROBES),
        ("gaming-new-addresses", "lfq", {"duration": "60s", "warm_up": "10s"} | PROBES),
        ("linux-short-behind-bulk", "fq_codel", {}),
        ("wired", "efd", {"duration": "60s"} | PROBES),
        ("household", "fifo", {"network.rate": "2mbit"} | PROBES),
    ],
)
def test_a_scenario_gives_its_figures(name, discipline, overrides):
    scenario = load_scenario(name, overrides)
    by_rust(name, scenario, discipline, whole_ns(workload(scenario)))


@pytest.mark.parametrize(("discipline", "more"), [("pie", {}), ("fifo", PROBES | {"network.rate": "3mbit"})])
def test_calls_and_films_give_their_figures(discipline, more):
    scenario = load_scenario("wired", MEDIA | more)
    by_rust("wired, calls and films", scenario, discipline, whole_ns(workload(scenario)))


@pytest.fixture(scope="module")
def office():
    return replayed(OFFICE, "10mbit", "300", internal=SITE)


@pytest.mark.parametrize("discipline", ["fifo", "fq_codel", "cake", "pie", "lfq"])
def test_the_office_gives_its_figures(office, discipline):
    found = by_rust("office", office[0], discipline, office[1])
    assert found["pages"] and found["ping"] and found["call"]["from"] == "synthetic"


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"replay": "transfers"},
        {"replay": "trains"},
        {"replay": "packets"},
        {"load": 0.8},
        {"load": 0.6, "replay": "trains"},
        {"rtt": "40ms"},
    ],
    ids=str,
)
@pytest.mark.parametrize("discipline", ["fifo", "cake"])
def test_other_forms_of_the_office_give_their_figures(discipline, how):
    scenario, flows = replayed(OFFICE, "10mbit", "300", internal=SITE, **how)
    by_rust(", ".join(["office", *(f"{key} {value}" for key, value in how.items())]), scenario, discipline, flows)


def test_calls_of_a_capture_give_their_figures(tmp_path):
    scenario, flows = replayed(made_capture(tmp_path / "calls.pcap"), "8mbit", 50)
    found = by_rust("calls", scenario, "fifo", flows)
    assert (found["call"]["from"], found["call"]["calls"]) == ("capture", 2)


def test_a_film_among_scripted_connections_gives_its_figures():
    scenario, flows = film_list()
    found = by_rust("film", scenario, "fifo", flows)
    assert found["video"]["streams"] == 2 and found["video"]["stalls"] > 0
