"""The registry of attacks: its rows hold together, and a new row reaches everything that runs attacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mayfly.scenario.attacks import ATTACKS, PARTS, attack, written
from mayfly.scenario.scenario import READY, load_scenario

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("row", ATTACKS, ids=lambda row: row.id)
def test_a_row_is_a_source_of_its_scenario_with_strengths_within_their_bounds(row):
    strength = row.strength
    strengths = [row.fields]
    strengths += [row.board.changed] if row.board else []
    strengths += [{strength.field: strength.value(one)} for one in row.cases.strengths] if row.cases else []
    for changed in strengths:
        given = {f"workload.{name}": value for name, value in row.workload(changed).items()}
        found = load_scenario(row.scenario, given).workload
        [source] = getattr(found, row.source) if row.source else [found]
        assert strength.least <= getattr(source, strength.field) <= strength.most
        assert source.group == row.group
        assert {"long"} | ({"short"} if row.joins else set()) <= {found.group, *(one.group for one in found.permanent)}
    assert row.cases is None or set(row.cases.kernel) <= set(row.cases.strengths)
    assert row.cases is None or (row.cases.part if isinstance(row.cases.part, str) else row.id) in PARTS


READY_ROWS = [row for row in ATTACKS if (READY / f"gaming-{row.id}.toml").exists()]


@pytest.mark.parametrize("row", READY_ROWS, ids=lambda row: row.id)
def test_the_ready_scenario_of_an_attack_has_the_source_of_its_row(row):
    path = READY / f"gaming-{row.id}.toml"
    if row.source:
        assert written(row, text := path.read_text(encoding="utf-8")) == text, "make attacks"
    given = {f"workload.{name}": value for name, value in row.workload({}).items()}
    assert load_scenario(path) == load_scenario(path, given)


def test_an_unknown_attack_is_no_row():
    assert attack("split").title == "Split transfer"
    with pytest.raises(StopIteration):
        attack("rude")


ROW = """
    Attack(
        "small", "Sender of small packets", "UDP in packets of 200 bytes.", "queues that count packets",
        "gaming-spaced", "cbr", {"rate": "2mbit", "packet": 200, "users": 1, "group": ATTACKER}, RATE,
        Cases(
            (40,), Part("A sender of small packets", "small packets", "Small packets", "rate"), "small-{}",
            kernel=(40,), key="small", column="small", rule="Hold a sender of small packets",
        ),
        Board("small packets", "small packets", quick_s=10.0, guest_s=10.0),
        page={},
    ),
"""

ADDED = """
import json, sys, types
from pathlib import Path
import mayfly.scenario

path, end = Path(mayfly.scenario.__path__[0]) / "attacks.py", ')\\n\\"\\"\\"In the order of tables'
before, after = path.read_text(encoding="utf-8").split(end)
attacks = sys.modules["mayfly.scenario.attacks"] = types.ModuleType("mayfly.scenario.attacks")
attacks.__file__ = str(path)
exec(compile(before + ROW + end + after, path, "exec"), vars(attacks))
"""
"""Takes the module with one row more, in place of that of the package, before anything else imports it."""

REACHED = """
from mayfly import _native, compare
from mayfly.arena.arena import arena
from mayfly.arena.goals import GOALS
from mayfly.explore.catalogue import catalogue
from mayfly.explore.documents import preset, text
from mayfly.packs.gaming import gaming
from mayfly.packs.gaming_report import gaming_page
from mayfly.packs.gaming_verdicts import RULES
from mayfly.scenario.scenario import load_scenario

if __name__ == "__main__":
    found = {}
    ran = gaming("fifo,fq_codel", ["small"], duration="10s")
    found["overview"] = {row["label"]: row["small"] for row in ran.overview}
    found["page"] = "<h2>A sender of small packets</h2>" in gaming_page(ran)
    found["rules"] = [rule.what for rule in RULES if "small" in rule.needs]
    board = arena(Path(sys.argv[1]), "fifo,fq_codel", ["small"], quick=True, seeds=1)
    found["arena"] = {row: places["fifo"].mean for row, places in board.board.items()}
    found["goals"] = [goal.row for goal in GOALS if goal.row.startswith("small:")]
    found["catalogue"] = next(row for row in catalogue()["attacks"] if row["id"] == "small")
    engine = _native.Explorer()
    engine.load(text(preset("attack")))
    link = {"rate_bps": 10_000_000, "reverse_rate_bps": 10_000_000, "buffer": {"packets": 300}}
    asked = {"workload": "attack", "link": link, "discipline": {"id": "fifo"}}
    asked["attack"] = {"kind": "small", "rate_bps": 2_000_000, "connections": 1}
    found["engine"] = json.loads(engine.run(json.dumps(asked)))["figures"]["short"]
    given = {"workload.cbr": attacks.ATTACKS[-1].workload({})["cbr"]}
    users = compare(load_scenario("attack", given), "fifo").summary["disciplines"][0]["users"]
    found["command"] = users["short"]
    sys.path[:0] = ["tests/helpers", "tests/kernel", "benchmarks"]
    import one_guest
    import rivals

    found["kernel"] = [case for case in rivals.SHOWN if case.startswith("small")]
    found["scenario"] = rivals.GAMING["small-40"].scenario.model_dump(mode="json")["workload"]["cbr"][0]["packet"]
    found["guest"] = [row.id for row in one_guest.ROWS if row.experiment == "small"]
    print(json.dumps(found))
"""


def test_a_row_reaches_gaming_arena_page_and_the_kernel_tests(tmp_path):
    script = tmp_path / "added.py"
    script.write_text(f"ROW = {ROW!r}\n{ADDED}{REACHED}", encoding="utf-8")
    ended = subprocess.run([sys.executable, script, tmp_path / "board"], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    # Who does not respond to drops loses nothing to those who do, unless each has a queue.
    assert found["overview"].keys() == {"fifo", "fq_codel"}
    assert found["overview"]["fifo"] > 1.2 > found["overview"]["fq_codel"] > 0.8, found["overview"]
    assert found["page"] and found["rules"] == ["Hold a sender of small packets"]
    assert list(found["arena"]) == ["small:attacker", "small:short", "small:stall"]
    assert found["goals"] == ["small:attacker", "small:stall"]
    assert found["catalogue"]["value"] == '{rate = "{rate}", packet = 200, users = 1, group = "attacker"}'
    for name in ("flows", "unfinished", "p50_s", "p95_s"):
        assert found["engine"][name] == pytest.approx(found["command"][name], rel=1e-9)
    assert found["kernel"] == ["small-40"] and found["scenario"] == 200
    assert found["guest"] == ["small:attacker", "small:short", "small:stall"]
