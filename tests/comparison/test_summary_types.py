"""Every ``summary.json`` is of the type that crate ``summary`` declares: no key that is not declared, none missing."""

import json
import re

import pytest
from json_schema import faults
from summaries import COMMANDS, FILE, STORED, definition, document

from mayfly import _native
from mayfly.explore.documents import preset, text
from mayfly.scenario.attacks import ATTACKS

SUMMARY, OUTCOME = json.loads(_native.summary_schema())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_of_its_type(name, tmp_path):
    summary, printed = document(name, tmp_path / "out")
    assert faults(summary, definition(summary), SUMMARY) == []
    # One discipline alone has its figures at the top level, too.
    row = summary["disciplines"][0] if COMMANDS[name].startswith("simulate") and "windows" not in summary else {}
    assert printed == {**row, **summary}


def test_the_stored_summaries_have_every_object_of_the_schema():
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    assert list(stored) == STORED
    found = {name: faults(summary, definition(summary), SUMMARY) for name, summary in stored.items()}
    assert not any(found.values()), found
    seen: set[str] = set()
    for summary in stored.values():
        faults(summary, definition(summary), Watched(SUMMARY, seen))
    # Of the kernel next to the simulator alone.
    assert {name for name in SUMMARY if "properties" in SUMMARY[name]} - seen == {"EngineRatios"}


def test_the_stored_summaries_name_no_folder_of_a_machine():
    assert re.findall(r'"(/[^"]*)"', FILE.read_text(encoding="utf-8")) == []


class Watched(dict):
    """Definitions that note which of them are read."""

    def __init__(self, definitions, seen):
        super().__init__(definitions)
        self.seen = seen

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)


def changed(name, change):
    """Faults of a stored summary after a change."""
    summary = json.loads(FILE.read_text(encoding="utf-8"))[name]
    change(summary)
    return faults(summary, definition(summary), SUMMARY)


def test_a_misspelt_missing_or_wrong_key_is_a_fault():
    assert changed("plain", lambda summary: None) == []
    row = "$.disciplines[0]"
    assert changed("plain", lambda s: s["disciplines"][0].pop("jain")) == [f"{row}: jain is missing"]
    assert changed("plain", lambda s: s["disciplines"][0].update(jian=None)) == [f"{row}: jian is not declared"]
    assert changed("plain", lambda s: s["disciplines"][0]["short"].update(mean_s="0.1")) == [
        f"{row}.short.mean_s: '0.1' must be number or null"
    ]
    assert changed("plain", lambda s: s["disciplines"][0].update(drops=-1)) == [f"{row}.drops: -1 must be 0 or more"]
    assert changed("plain", lambda s: s["links"].update(busier="left")) == ["$.links.busier: 'left' must be 'down'"]
    # A key that may be absent is not null where it is there.
    assert changed("plain", lambda s: s["disciplines"][0].update(pages=None)) == [f"{row}.pages: None must be array"]


def test_the_rows_that_kernel_and_simulator_make_together_are_of_their_type():
    from mayfly.engines.side_by_side import ratios

    row = json.loads(FILE.read_text(encoding="utf-8"))["plain"]["disciplines"][0]
    [found] = ratios([row, row])
    assert faults(found, "EngineRatios", SUMMARY) == []


@pytest.mark.parametrize("name", ["wired", "home"])
def test_what_the_page_gets_is_of_its_type(name):
    engine = _native.Explorer()
    engine.load(text(preset(name)))
    link = {"rate_bps": 10_000_000, "reverse_rate_bps": None, "buffer": {"packets": 300}, "rtt_s": None}
    request = {"workload": name, "link": link, "discipline": {"id": "lfq"}, "inside": {"from_s": 1.0, "to_s": 1.2}}
    request |= {"attack": {"kind": ATTACKS[0].id, "rate_bps": 5_000_000, "connections": 8}} if name == "wired" else {}
    found = json.loads(engine.run(json.dumps(request)))
    assert found["mechanisms"] and found["waits"] and found["inside"]
    assert faults(found, "Outcome", OUTCOME) == []
    assert faults(found | {"model": {}}, "Outcome", OUTCOME) != []
