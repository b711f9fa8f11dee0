"""The catalogue of the page: its templates, filled in as the page does, are what the package itself would write."""

import json
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from invocation import refused_here

import mayfly
from mayfly.comparison.user_metrics import MEASURES
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.explore import catalogue as module
from mayfly.explore.catalogue import COMMANDS, PRESETS, TERMS, catalogue, glossary
from mayfly.scenario.attacks import ATTACKS
from mayfly.scenario.overrides import parse_override
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.run import workload

LINK = {"rate": "12mbit", "reverse_rate": "3mbit", "buffer": "450kB", "delay": "33ms"}
FIELDS = {f"network.{name}": value for name, value in LINK.items()}


@pytest.fixture(scope="module")
def found():
    return catalogue()


def put(template, **values):
    """A template with its braces filled in; nothing else in braces is touched."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template


def test_every_discipline_that_a_preset_can_meet_is_there_with_its_options(found):
    rows = {row["id"]: row for row in mayfly.disciplines()}
    assert {row["id"] for row in found["disciplines"]} == set(rows) - {"ranked"}
    for row in found["disciplines"]:
        own = rows[row["id"]]
        assert [option["name"] for option in row["options"]] == [param["name"] for param in own["params"]]
        assert row["page"] == f"disciplines/{row['id']}" and row["title"] and row["summary"] == own["about"]
        defaults = {option["name"]: str(option["default"]) for option in row["options"]}
        assert parse(f"{row['id']}({','.join(f'{k}={v}' for k, v in defaults.items())})").id == row["id"]
    titles = {row["id"]: row["title"] for row in found["disciplines"]}
    assert (titles["fq_codel"], titles["efd"], titles["choke"]) == ("FQ-CoDel", "EFD", "CHOKe")
    assert [row["id"] for row in found["disciplines"] if row["shortlist"]] == [
        "fifo",
        "pie",
        "fq_codel",
        "cake",
        "lfq",
        "efd",
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_the_scenario_file_of_a_preset_is_the_preset_over_another_link(name, found):
    template = next(row["scenario"] for row in found["presets"] if row["name"] == name)
    made = scenario_of(tomllib.loads(put(template, **LINK)), name)
    assert made == load_scenario(name, FIELDS)
    in_packets = scenario_of(tomllib.loads(put(template, **LINK | {"buffer": 300})), name)
    assert in_packets.network.buffer == (300, "packets")


@pytest.mark.parametrize("name", PRESETS)
def test_the_command_of_a_preset_is_the_preset_over_another_link(name):
    words = shlex.split(put(COMMANDS["compare"], scenario=name, disciplines="fifo,lfq(debt=1000)", **LINK))
    changes = dict(parse_override(word) for before, word in pairwise(words) if before == "--set")
    assert words[:5] == ["mayfly", "compare", name, "--disciplines", "fifo,lfq(debt=1000)"]
    assert load_scenario(name, changes) == load_scenario(name, FIELDS)


@pytest.mark.parametrize("id", ["spaced", "new-addresses", "split"])
def test_an_attack_is_the_same_in_the_command_and_in_the_file(found, id):
    attack = next(row for row in found["attacks"] if row["id"] == id)
    values = {"rate": "5mbit", "connections": 8}
    words = shlex.split(put(COMMANDS["compare_attack"], source=attack["source"], value=put(attack["value"], **values)))
    by_command = load_scenario("attack", dict([parse_override(words[1])]))
    text = (module.READY / "attack.toml").read_text(encoding="utf-8")
    by_file = scenario_of(tomllib.loads(f"{text}\n{put(attack['section'], **values)}"), "attack")
    assert by_command == by_file
    flows = workload(by_file).filter(group="attacker")
    expected = {"spaced": (1, "udp"), "split": (16, "tcp"), "new-addresses": (834, "udp")}[attack["id"]]
    assert (flows.height, flows["protocol"][0]) == expected
    assert flows["src"].n_unique() == (834 if attack["id"] == "new-addresses" else 1)


def test_the_lines_of_python_run_what_the_command_does(monkeypatch, capsys):
    seen = {}

    def compare(scenario, disciplines):
        seen["compare"] = scenario, disciplines
        import polars as pl

        return type("Result", (), {"records": pl.DataFrame({"discipline": ["fifo"], "response_time_s": [1.0]})})

    def whatif(*arguments, **options):
        seen["whatif"] = arguments, options
        return type("Result", (), {"summary": {"recommendation": {"sentence": "Use it."}}})

    monkeypatch.setattr(mayfly, "compare", compare, raising=False)
    monkeypatch.setattr(mayfly, "whatif", whatif, raising=False)
    quoted = {name: repr(value) for name, value in LINK.items()}
    exec(put(COMMANDS["python_compare"], scenario="'office'", disciplines="['fifo', 'lfq']", **quoted), {})
    assert seen["compare"] == (load_scenario("office", FIELDS), ["fifo", "lfq"])
    lines = put(
        COMMANDS["python_whatif"], capture="'a.pcap'", rates="'10mbit/5mbit'", buffer="300", disciplines="['pie']"
    )
    exec(lines, {})
    assert seen["whatif"] == (("a.pcap", "10mbit/5mbit", 300), {"disciplines": ["pie"]})
    lines = put(
        COMMANDS["python_whatif_rtt"], capture="'a'", rates="'1mbit'", buffer="9", rtt="'40ms'", disciplines="'pie'"
    )
    exec(lines, {})
    assert seen["whatif"] == (("a", "1mbit", 9), {"rtt": "40ms", "disciplines": "pie"})
    assert capsys.readouterr().out.endswith("Use it.\n")


def test_the_command_of_a_capture_is_understood():
    words = put(COMMANDS["whatif"], capture="none.pcap", disciplines="fifo,lfq(debt=1000)", **LINK)
    words += put(COMMANDS["whatif_internal"], network="10.0.0.0/8") + put(COMMANDS["whatif_rtt"], rtt="40ms")
    # Every option was read: what is refused is the file.
    assert refused_here(*shlex.split(words)[1:]).startswith("none.pcap: ")


def test_every_term_has_a_meaning_in_one_plain_line(found):
    assert list(found["glossary"]) == list(TERMS)
    for term, meaning in found["glossary"].items():
        assert meaning.endswith(".") and "\n" not in meaning and not set("[]`$") & set(meaning), (term, meaning)


def test_a_term_that_the_glossary_lacks_is_named(monkeypatch):
    monkeypatch.setattr(module, "TERMS", ("Bottleneck", "Nothing of the kind"))
    with pytest.raises(MayflyError, match=r"docs/glossary\.md: must have an entry Nothing of the kind"):
        glossary()


def test_away_from_a_checkout_the_catalogue_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(MayflyError, match=r"glossary\.md: not found: .* in a checkout"):
        glossary()


def test_presets_are_listed_with_their_files(found):
    assert [(row["name"], row["file"], row["attacks"]) for row in found["presets"]] == [
        (name, f"presets/{name}.json", name == "attack") for name in PRESETS
    ]
    assert [row["id"] for row in found["attacks"]] == [row.id for row in ATTACKS if row.page is not None]


def test_rows_of_figures_are_the_users_measures_and_the_pages_own_tests_have_them(found):
    rows = found["measures"]
    assert [row["id"] for row in rows] == ["ping", "short", "pages", "call", "film", "streams", "conferences", "games"]
    assert {(row["part"], row["field"]) for row in rows} <= {(row.part, row.field) for row in MEASURES}
    assert all(row["title"] and row["about"] and row["phrase"] for row in rows)
    fixture = Path(__file__).parents[2] / "explore" / "tests" / "fixtures" / "catalogue.json"
    assert json.loads(fixture.read_text(encoding="utf-8"))["measures"] == rows
