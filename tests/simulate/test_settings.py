"""Settings cross into the native module once: spelled alike on both sides, and nothing unknown or missing passes."""

import json
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

from mayfly import _native
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import scenario_of
from mayfly.scenario.transport import ECN, RULES, OwnTransport, Tcp
from mayfly.simulate import columns
from mayfly.simulate.settings import native_settings
from mayfly.simulate.transports import native

DOCS = Path(__file__).parents[2] / "docs" / "_ext"
PYTHON_ONLY = {"preset", "congestion_of"}


@pytest.fixture(scope="module")
def schema():
    return json.loads(_native.transport_schema())


@pytest.fixture
def settings():
    return native_settings(scenario_of({"duration": "1s"}, "example"), parse("fifo"), 1)


def in_a_cell(change):
    given = {"network": {"wlan": {"standard": "802.11g", "rate": "24mbit", "stations": 1}}, "duration": "1s"}
    found = native_settings(scenario_of(given, "cell"), parse("fifo"), 1)
    found["wlan"] |= change
    return found


def flows():
    own = {"flow_id": [0], "start_s": [0.0], "size_bytes": [1000], "protocol": ["tcp"], "direction": ["down"]}
    own |= {"opened_by": ["sender"], "src": ["1"], "dst": ["2"], "rtt_s": [None], "packet_bytes": [None]}
    types = {"rtt_s": pl.Float64, "packet_bytes": pl.Int64, "rate_bps": pl.Float64, "group": pl.String}
    frame = pl.DataFrame(own | {"rate_bps": [None], "group": [None]}, schema_overrides=types)
    return columns.native_flows(frame, 1500, (np.zeros(1, np.uint32), np.zeros(1, np.uint32)))


def run(settings):
    return _native.run(json.dumps(settings), flows(), _native.Control())


def test_what_the_scenario_gives_is_run(settings):
    assert run(settings)["counters"]


def test_every_setting_of_the_transport_is_in_the_section_and_in_the_native_module(schema):
    found = {name.removesuffix("_ns") for name in schema["properties"]}
    assert found == set(Tcp.model_fields) - PYTHON_ONLY and len(found) > 30
    assert set(OwnTransport.model_fields) == found | {"preset"}
    assert set(native(Tcp())) == set(schema["properties"]) == set(schema["required"])
    assert schema["additionalProperties"] is False


def words_of(schema, name):
    """Words that a field of the native module takes; None for one of no words."""
    field = schema["properties"][name]
    if "$ref" not in field:
        return None
    found = schema["$defs"][field["$ref"].rsplit("/", 1)[1]]
    return {one["const"] for one in found["oneOf"]} if "oneOf" in found else None


def test_words_are_those_of_the_section(schema):
    fields = {name: field.annotation for name, field in Tcp.model_fields.items() if name not in PYTHON_ONLY}
    literal = {name: set(get_args(kind)) for name, kind in fields.items() if "Literal" in str(kind)}
    assert len(literal) > 5
    assert literal == {name: words_of(schema, name) for name in schema["properties"] if words_of(schema, name)}


def test_rules_of_the_congestion_window_are_those_of_the_native_module_in_its_order(schema):
    assert list(RULES) == [word["const"] for word in schema["$defs"]["Congestion"]["oneOf"]]
    assert {"aimd", "cubic", "bbr"} <= set(RULES) and len(RULES) == len(set(RULES))
    assert Tcp().congestion == "aimd" and [Tcp(congestion=rule, recovery="sack").congestion for rule in RULES] == [
        *RULES
    ]


def test_ecn_may_be_given_as_the_switch_it_was():
    assert (Tcp(ecn=True).ecn, Tcp(ecn=False).ecn, Tcp().ecn) == ("classic", "off", "off")
    assert [Tcp(ecn=word).ecn for word in ECN] == ["off", "classic", "dctcp", "accurate", "l4s"]
    for bad in (1, "yes", "ect1", None):
        with pytest.raises(ValueError, match="Input should be 'off', 'classic', 'dctcp', 'accurate' or 'l4s'"):
            Tcp(ecn=bad)


def test_every_setting_is_in_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import reference_tables

    shown = reference_tables.scenario_fields()
    sys.modules.pop("reference_tables")
    assert [name for name in Tcp.model_fields if f"\n| `{name}` |" not in shown] == []


@pytest.mark.parametrize(
    ("field", "word", "known"),
    [
        ("congestion", "nonsense", ", ".join(f"`{rule}`" for rule in RULES)),
        ("loss_window", "bogus", "`flight` or `cwnd`"),
        ("recovery", "magic", "`reno`, `newreno`, `sack`, `linux`, `linux-without-sack`, `quic`"),
        ("recovery_exit", "as_is", "`deflate` or `as-is`"),
        ("backoff_ends", "", "`sample` or `ack`"),
        ("rto_rule", "RFC6298", "`rfc6298` or `linux`"),
    ],
)
def test_a_word_that_is_not_taken_is_named_with_its_field(settings, field, word, known):
    settings["tcp"][field] = word
    with pytest.raises(ValueError, match=rf"^tcp\.{field}: unknown variant `{word}`, expected (one of )?{known}$"):
        run(settings)


@pytest.mark.parametrize(
    ("field", "word", "known"),
    [
        ("decrement", "some-slots", "idle-slots"),
        ("after_failure", "never", "timeout-and-difs"),
        ("immediate", "always", "arrival"),
        ("queues", "two", "airtime-fair"),
    ],
)
def test_a_word_that_a_cell_does_not_take_is_named(field, word, known):
    with pytest.raises(ValueError, match=rf"^wlan\.{field}: unknown variant `{word}`, .*`{known}`"):
        run(in_a_cell({field: word}))


def every_field(settings, path=()):
    """Paths of all fields, also of sections."""
    for name, value in settings.items():
        yield (*path, name)
        if isinstance(value, dict) and name != "limit" and name != "reverse_limit":
            yield from every_field(value, (*path, name))


def at(settings, path):
    for name in path:
        settings = settings[name]
    return settings


def test_a_field_that_is_missing_is_named(settings):
    paths = list(every_field(settings))
    assert len(paths) > 60
    for path in paths:
        short = json.loads(json.dumps(settings))
        del at(short, path[:-1])[path[-1]]
        with pytest.raises(ValueError, match=rf"missing field `{path[-1]}`$"):
            run(short)


def test_a_field_of_a_cell_that_is_missing_is_named():
    whole = in_a_cell({})
    for path in every_field({"wlan": whole["wlan"]}):
        short = json.loads(json.dumps(whole))
        del at(short, path[:-1])[path[-1]]
        if len(path) > 1:
            with pytest.raises(ValueError, match=rf"missing field `{path[-1]}`$"):
                run(short)


@pytest.mark.parametrize("section", [(), ("tcp",)])
def test_a_field_that_is_unknown_is_named(settings, section):
    at(settings, section)["colour"] = "red"
    with pytest.raises(ValueError, match="unknown field `colour`, expected one of "):
        run(settings)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": -1}, r"^seed: invalid value: integer `-1`, expected u64$"),
        ({"seed": "1"}, r'^seed: invalid type: string "1", expected u64$'),
        ({"limit": {"packets": 2**32}}, r"^limit.*: invalid value: integer `4294967296`, expected u32$"),
        ({"limit": {"bits": 1}}, r"^limit.*: unknown variant `bits`, expected `packets` or `bytes`$"),
        ({"rate_bps": 0}, r"^network.rate = 0: must be at least 1 bit/s$"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_field(settings, change, says):
    with pytest.raises(ValueError, match=says):
        run(settings | change)


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match=r"^expected "):
        _native.alone("nonsense", flows())


def test_a_transport_of_a_flow_must_be_one_that_is_given(settings):
    one, given = flows() | {"transport": np.ones(1, np.uint16)}, {"name": "fast", "tcp": native(Tcp(congestion="iiad"))}
    assert _native.run(json.dumps(settings | {"transports": [given]}), one, _native.Control())["counters"]
    with pytest.raises(ValueError, match=r"^flow 0: a transport that is not listed$"):
        _native.run(json.dumps(settings), one, _native.Control())
    with pytest.raises(ValueError, match=r"^transports\[0\]: missing field `tcp`$"):
        _native.run(json.dumps(settings | {"transports": [{"name": "fast"}]}), one, _native.Control())
    given["tcp"]["mss"] = 0
    with pytest.raises(ValueError, match=r"^fast: tcp.mss = 0: must be from 1 to 65000 bytes$"):
        _native.run(json.dumps(settings | {"transports": [given]}), flows(), _native.Control())
