"""Scenario files and overrides: what loads, what is refused, and how it is said."""

import inspect
import keyword
import tomllib
from pathlib import Path
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly import fields
from mayfly.discipline_registry import disciplines
from mayfly.errors import MayflyError
from mayfly.laws.section import Sizes
from mayfly.scenario import scenario as module
from mayfly.scenario.overrides import merged, parse_override
from mayfly.scenario.scenario import READY, Scenario, field_names, load_scenario, scenario_of
from mayfly.scenario.shaping import Shaper
from mayfly.scenario.transport import OwnTransport
from mayfly.scenario.tree import Tree
from mayfly.scenario.wlan import Wlan

READY_NAMES = sorted(path.stem for path in READY.glob("*.toml"))

FORMS = {
    fields.Rate: ("5mbit", 5_000_000),
    fields.Seconds: ("30s", 30.0),
    fields.Delay: ("30ms", 0.03),
    fields.Buffer: ("450kB", (450_000, "bytes")),
    fields.Group: ("lab", "lab"),
}
"""A value of each type, as written and as read."""

STEPS = str(Path(__file__).parents[1] / "data" / "steps.csv")
"""A trace of a link."""

BY_NAME = {
    "network.link_trace": (STEPS, STEPS),
    "network.reverse_link_trace": (STEPS, STEPS),
    "network.shaper": ('{share = 0.5, ways = "up"}', Shaper(share=0.5, ways="up")),
    "tcp.handshake_bytes": ("5000", 5000),
    "trace": ('[7, "game"]', ("7", "game")),
    "nonresponsive": ('["stf"]', ("stf",)),
    "mark_of": ("{ gold = 3 }", {"gold": 3}),
    "network.reverse_discipline": ("las", "las"),
    "network.loss": ("0.01", 0.01),
    "name": ("lab", "lab"),
    "title": ("a lab", "a lab"),
    "disciplines": ("fifo,efd(threshold=40000, high=las)", ("fifo", "efd(threshold=40000, high=las)")),
    "tcp.congestion_of": ('{ slow = "iiad" }', {"slow": "iiad"}),
    "transports": (
        '{ quick = { congestion = "bbr" }, lab = {} }',
        {"quick": OwnTransport(congestion="bbr"), "lab": OwnTransport()},
    ),
    "workload.transport": ("lab", "lab"),
    "tcp.tick": ("10ms", 0.01),
    "tcp.gro": ("5ms", 0.005),
    "tcp.receive_memory": ("131072", 131_072),
    "tcp.delayed_ack": ("40ms", 0.04),
    "tcp.max_rto": ("300s", 300.0),
    "workload.up_share": ("0.25", 0.25),
    "workload.minimum": ("5", 5.0),
    "workload.arrivals": ("weibull", "weibull"),
    "workload.arrival_shape": ("0.5", 0.5),
    "workload.arrival_file": ("starts.csv", "starts.csv"),
    "workload.sizes": ('{law = "lognormal", mean = 40, cov = 3}', Sizes(law="lognormal", mean=40, cov=3)),
    "workload.cbr": (
        '[{rate = "1mbit", packet = 1000, flows = 2, spread = "2s", start = "1s", stop = 9}, '
        '{rate = 64000, renew = 10, renew_hosts = true, users = 1, group = "bulk"}]',
        (
            (1_000_000, 1000, 1.0, 9.0, 2, 2.0, "random", None, False, None, None, None, None, "down"),
            (64_000, 1500, 0.0, None, 1, 0.0, "random", 10, True, 1, "bulk", None, None, "down"),
        ),
    ),
    "workload.permanent": (
        '[{flows = 3, spread = "2s", users = 2, to = "receivers", rtt_min = "20ms", rtt_max = 0.2, direction = "up", '
        'transport = "lab"}]',
        ((3, 2.0, 0.02, 0.2, 2, None, "lab", None, "receivers", "up"),),
    ),
    "workload.part": (
        '[{share = 0.9, up_share = 0.5, rtt = "1ms", group = "intranet"}, {share = 0.1, transport = "lab"}]',
        ((0.9, 0.5, 0.001, "intranet", None), (0.1, 0.0, None, None, "lab")),
    ),
    "network.tree": (
        '{node = [{name = "ap", ceil = "50mbit"}], circuit = [{name = "home", parent = "ap", ceil = "20mbit"}]}',
        Tree(node=[{"name": "ap", "ceil": "50mbit"}], circuit=[{"name": "home", "parent": "ap", "ceil": "20mbit"}]),
    ),
    "network.wlan": (
        '{standard = "802.11b", stations = 3, rates = "1mbit"}',
        Wlan(standard="802.11b", stations=3, rates=("1mbit",)),
    ),
    "workload.batch": (
        '[{size = "5MB", flows = 4, every = "20s", group = "a"}, {size = 10, direction = "up"}]',
        (
            ((5_000_000, "bytes"), 4, 0.0, 20.0, None, "a", None, None, None, "down"),
            ((10, "packets"), 1, 0.0, None, None, None, None, None, None, "up"),
        ),
    ),
    "workload.on_off": (
        '[{rate = "1mbit", on = "5s", off = "20s", place = "even", spread = "2s"}]',
        ((1000, 0.0, None, 1, 2.0, "even", None, None, None, None, 1_000_000, 5.0, 20.0, "fixed"),),
    ),
    "workload.vbr": (
        '[{flows = 16, period_min = "100ms", period_max = "1s"}]',
        ((1000, 0.0, None, 16, 0.0, "random", None, None, None, None, 500_000, 1_500_000, 0.1, 1.0),),
    ),
    "workload.replay": (
        '[{file = "trace.csv", stop = "9s"}]',
        ((1000, 0.0, 9.0, 1, 0.0, "random", None, None, None, None, "trace.csv"),),
    ),
    "workload.short_term": (
        '[{sources = 300, size = 20, times = 5, period = "50s", arrivals = "uniform", start = "100s"}]',
        ((300, (20, "packets"), 5, 50.0, "uniform", 100.0, 0.0, None, None, None, None, None),),
    ),
    "network.topology": ("parking-lot", "parking-lot"),
    "network.watched": ("r1>r2", "r1>r2"),
    "network.impairment": (
        '[{segment = 3, do = "drop"}, {direction = "ack", from = "1s", to = 2, do = "hold"}]',
        (("data", "drop", 3, 1, None, None, None, None), ("ack", "hold", None, 1, None, 1.0, 2.0, None)),
    ),
    "network.link": (
        '[{from = "a", to = "b", rate = "5mbit"}]',
        (("a", "b", None, 5_000_000, *[None] * 8, "compare", None),),
    ),
    "network.hosts": (
        '[{at = "a", name = "x"}, {at = "b", name = "y", count = 2, access_rate = "1mbit"}]',
        (("a", "x", 1, None, None, None, None), ("b", "y", 2, None, 1_000_000, None, None)),
    ),
    "workload.web": (
        '{sessions = 4, session_gap = "6s", pages = 2, loop = "open", request = "400B"}',
        ((4, 6.0, 0.0, 2.0, 5.0, 3.0, 0.5, 12.0, 1.2, None, "open", (400, "bytes"), None, None, None, None),),
    ),
    "workload.http": (
        '[{version = "2", request = "1kB", think = "5ms", group = "a"}]',
        (("2", 6, (1000, "bytes"), 0.005, 10, 1.0, 0.0, 60.0, 5.0, 20.0, 12.0, 1.2, None, "a", None, None, None),),
    ),
    "workload.call": (
        '[{calls = 3, participants = 4, max_rate = "1mbit", feedback = "50ms", group = "a"}]',
        ((3, 4, 0.0, None, 0.0, "random", 300_000, 100_000, 1_000_000, 30, 0.15, 160, 1.5, 0.05, "a", None, None),),
    ),
    "workload.video": (
        '[{ladder = ["1mbit", 2000000], rule = "bola", segment = "2s", length = "60s", request = "1kB", users = 1}]',
        (
            (
                *(1, (1_000_000, 2_000_000), "bola", 2.0, 60.0, 30.0, 4.0, 4.0, 0.9, 5, 5.0, (1000, "bytes"), 0.0),
                *(0.0, 0.0, "random", 1, None, None, None, None),
            ),
        ),
    ),
    "workload.gaming": (
        '[{rate = "20mbit", fps = 120, pace = 0, direction = "up"}]',
        ((1, 20_000_000, 120, 0.15, 0.0, 0.0, None, 0.0, "random", None, None, None, None, "up"),),
    ),
}
"""Fields whose value the type alone does not tell."""

GRAPH = {
    "network.topology": "graph",
    "network.link": [{"from": "a", "to": "b"}],
    "network.hosts": [{"at": "a", "name": "senders"}, {"at": "b", "name": "receivers"}],
}
LAB = {"transports": {"lab": {"congestion": "cubic"}}}
BESIDE = {
    "workload.transport": LAB,
    "workload.permanent": LAB,
    "workload.part": LAB,
    "network.link": GRAPH,
    "network.hosts": GRAPH,
    "workload.arrivals": {"workload.arrival_shape": 0.5},
    "workload.arrival_shape": {"workload.arrivals": "weibull"},
    "workload.arrival_file": {"workload.arrivals": "trace", "workload.load": None},
}
"""What a field needs beside it."""


def annotations(model=Scenario, prefix=""):
    """Annotation of each field by its dotted name, unions with None opened."""
    found = {}
    for name, field in model.model_fields.items():
        home = next(one for one in model.__mro__ if name in inspect.get_annotations(one))
        kind = inspect.get_annotations(home, eval_str=True)[name]
        name = field.alias or name
        if isinstance(kind, type) and hasattr(kind, "model_fields"):
            found |= annotations(kind, f"{prefix}{name}.")
            continue
        if get_origin(kind) in (Union, UnionType):
            (kind,) = (part for part in get_args(kind) if part is not type(None))
        found[prefix + name] = fields.section_of(kind) or kind
    return found


def written(name):
    """How a user may set the field, and what must come of it."""
    kind = annotations()[name]
    if name in BY_NAME:
        return BY_NAME[name]
    if kind in FORMS:
        return FORMS[kind]
    if get_origin(kind) is Literal:
        return get_args(kind)[-1], get_args(kind)[-1]
    if kind is bool:
        opposite = not value_of(load_scenario("wired"), name)
        return str(opposite).lower(), opposite
    return ("7.5", 7.5) if kind is float else ("7", 7)


def value_of(scenario, name):
    for part in name.split("."):
        scenario = getattr(scenario, f"{part}_" if keyword.iskeyword(part) else part)
    if isinstance(scenario, tuple):
        scenario = tuple(tuple(dict(row).values()) if isinstance(row, module.BaseModel) else row for row in scenario)
    return scenario


@pytest.mark.parametrize("name", READY_NAMES)
def test_every_ready_scenario_loads_by_name_and_by_path(name):
    by_name = load_scenario(name)
    assert by_name == load_scenario(READY / f"{name}.toml")
    assert by_name.name == name


@pytest.mark.parametrize("name", READY_NAMES)
def test_a_scenario_survives_its_own_summary(name):
    scenario = load_scenario(name)
    assert scenario_of(scenario.model_dump(mode="json"), "again") == scenario


@pytest.mark.parametrize("name", field_names())
def test_set_reaches_every_field(name):
    text, expected = written(name)
    field, value = parse_override(f"{name}={text}")
    assert field == name
    changed = load_scenario("wired", BESIDE.get(name, {}) | {name: value})
    assert value_of(changed, name) == expected
    assert value_of(load_scenario("wired"), name) != expected, "the test must change something"
    again = scenario_of(changed.model_dump(mode="json"), "again")
    assert value_of(again, name) == expected


@pytest.mark.parametrize("name", field_names())
@pytest.mark.parametrize("bad", ["{a = 1}", "[[1]]", "nan", "-1"])
def test_wrong_types_are_refused_in_one_line_or_make_sense(name, bad):
    try:
        loaded = load_scenario("wired", dict([parse_override(f"{name}={bad}")]))
    except MayflyError as error:
        assert name.split(".")[-1] in str(error)
        assert "\n" not in str(error) and len(str(error)) < 400
    else:
        if name == "mark_of":
            assert loaded.mark_of == {"a": 1} and bad == "{a = 1}", "a table of marks is one"
            return
        assert annotations()[name] is str or name.startswith("workload.m") or name == "workload.cov"
        assert bad == "-1", "a number may be judged by the law that uses it, never NaN or a table"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("network.bufer", "network.buffer"),
        ("buffer", "network.buffer"),
        ("tcp.minrto", "tcp.min_rto"),
        ("workload.loads", "workload.load"),
        ("durations", "duration"),
        ("tcp.buffer", "network.buffer"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known_name(name, near, tmp_path):
    with pytest.raises(MayflyError, match=f"unknown field {name}; did you mean {near}\\?$"):
        load_scenario("wired", {name: 20})
    *sections, last = name.split(".")
    path = tmp_path / "mine.toml"
    path.write_text("".join(f"[{section}]\n" for section in sections) + f"{last} = 20\n")
    with pytest.raises(MayflyError, match=f"unknown field {name}; did you mean {near}\\?$"):
        load_scenario(path)


def test_an_unknown_field_of_a_row_is_refused_with_the_nearest_known_name():
    with pytest.raises(MayflyError, match=r"unknown field workload\.cbr\.1\.rat; did you mean workload\.cbr\.rate\?$"):
        load_scenario("wired", {"workload.cbr": [{"rate": "1mbit"}, {"rat": 3}]})


def test_a_missing_field_of_a_row_is_named():
    with pytest.raises(MayflyError, match=r"workload\.cbr\.0\.rate: field required$"):
        load_scenario("wired", {"workload.cbr": [{}]})


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"size": 0}, r"workload\.batch\.0\.size = 0: must be a whole number of packets"),
        ({"size": 10, "every": 0}, r"workload\.batch\.0\.every = 0: must be greater than 0"),
        ({"size": 10, "group": "x" * 256}, r"workload\.batch\.0\.group = .*: must be a name of 1 to 255"),
    ],
)
def test_a_refused_field_of_a_row_is_named_with_its_bound(row, told):
    with pytest.raises(MayflyError, match=told):
        load_scenario("wired", {"workload.batch": [row]})


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("tcp.mss", 0, "greater than or equal to 1"),
        ("tcp.mss", 1.5, "valid integer"),
        ("tcp.mss", True, "valid integer"),
        ("tcp.mss", 10**30, "less than or equal to 65000"),
        ("tcp.fin", "perhaps", "valid boolean"),
        ("tcp.initial_rto", "0s", "greater than or equal to 0.001"),
        ("tcp.max_rto", "500ms", "at least tcp.min_rto"),
        ("tcp.loss_window", "flights", "'flight' or 'cwnd'"),
        ("network.delay", "-1ms", "0 or more"),
        ("network.delay", "2h", "less than or equal to 60"),
        ("network.rate", "1bit", "from 1kbit to 400gbit"),
        ("network.reverse_discipline", "fifoo", "did you mean fifo"),
        ("workload.up_share", 1.5, "less than or equal to 1"),
        ("workload.users", 0, "greater than or equal to 1"),
        ("workload.group", "a\nb", "a name of 1 to 255 printable characters"),
        ("workload.group", "", "a name of 1 to 255 printable characters"),
        ("workload.mean", float("inf"), "finite number"),
        ("duration", 0, "at least 1ns"),
        ("duration", "3 years", "at most 2 years"),
        ("sample_interval", "1ns", "at least 0.0001 s"),
        ("replications", 0, "greater than or equal to 1"),
        ("seed", -1, "greater than or equal to 0"),
        ("seed", 2**70, "less than or equal to 9223372036854775807"),
        ("disciplines", 3, "valid tuple"),
    ],
)
def test_a_refusal_names_field_value_and_bound(name, value, bound):
    with pytest.raises(MayflyError) as refused:
        load_scenario("wired", {name: value})
    text = str(refused.value)
    assert f"{name} = " in text and bound in text and "\n" not in text, text


def test_a_buffer_of_one_cannot_count_the_packet_in_transmission():
    with pytest.raises(MayflyError, match=r"network\.buffer = 1: must be at least 2"):
        load_scenario("wired-ns2", {"network.buffer": 1})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x00\xff\xfe\x80" * 50, "not a scenario file"),
        (b"duration = ", "not a scenario file"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"duration = " + b"9" * 5000, "not a scenario file"),
        (b"network = 5\n", "network = 5"),
        (b"network = 5\n", "network"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused_in_one_line(content, reason, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(MayflyError, match=reason) as refused:
        load_scenario(path)
    assert "\n" not in str(refused.value) and str(path) in str(refused.value)


def test_a_section_that_is_no_table_cannot_be_overridden(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("network = 5\n")
    with pytest.raises(MayflyError, match="network = 5: must be a table"):
        load_scenario(path, {"network.rate": "1mbit"})


def test_an_empty_file_is_the_default_scenario(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("")
    assert load_scenario(path) == scenario_of({"name": "mine"}, "default")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(MayflyError, match="not a scenario file: Is a directory"):
        load_scenario(tmp_path)


@pytest.mark.parametrize("name", ["nothing", "nothing.toml", "no/such/folder/mine.toml", "", "a\0b", "x" * 5000])
def test_a_missing_file_is_refused_with_the_ready_names(name):
    with pytest.raises(MayflyError) as refused:
        load_scenario(name)
    assert "\n" not in str(refused.value)
    if name.startswith("nothing"):
        assert all(ready in str(refused.value) for ready in READY_NAMES)


@given(st.text())
def test_any_override_text_is_parsed_or_refused(text):
    try:
        name, _ = parse_override(text)
    except MayflyError as error:
        assert "must be written name=value" in str(error) and "\n" not in str(error)
    else:
        assert name == text.partition("=")[0].strip() != ""


def test_an_override_cannot_smuggle_in_another_field():
    assert parse_override("seed=1\nduration = 3") == ("seed", "1\nduration = 3")


def test_a_field_is_not_taken_from_option_and_set_at_once():
    with pytest.raises(MayflyError, match=r"duration is given twice: by --duration and by --set"):
        merged(["duration=3"], {"duration": "4"})
    assert merged(["seed=3", "seed=4"], {"duration": None}) == {"seed": 4}


def test_overriding_keeps_what_was_set_and_checks_again():
    scenario = load_scenario("wired-ns2", {"network.buffer": "450kB"})
    longer = scenario.override(duration=7)
    assert longer.duration == 7.0 and longer.network == scenario.network and longer.tcp == scenario.tcp
    with pytest.raises(MayflyError, match="duration"):
        scenario.override(duration=-7)


def test_ready_scenarios_name_disciplines_of_the_registry():
    known = {row["id"] for row in disciplines()} | {"all", "shortlist"}
    for path in READY.glob("*.toml"):
        named = tomllib.loads(Path(path).read_text())["disciplines"]
        assert {name.partition("(")[0] for name in named} <= known, path


def test_a_folder_of_the_same_name_does_not_hide_a_ready_scenario(tmp_path, monkeypatch):
    (tmp_path / "wired").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_scenario("wired").name == "wired"
