"""The arena: short boards end to end."""

import json
import re
from pathlib import Path

import pytest
from browser import BROWSER, Visit, figures_in
from invocation import mayfly_here, refused_here

from mayfly.arena.arena import DEPLOYABLE, arena
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.rows import ROWS
from mayfly.arena.trial import Trial
from mayfly.discipline_registry import disciplines


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    return folder, arena(folder, "fifo,fq_codel", ["load-104", "spaced"], quick=True, seeds=2)


def test_a_board_has_every_row_of_its_experiments(board):
    _, found = board
    assert [row.id for row in found.rows] == [
        *(f"load-104:{name}" for name in ("short", "middling", "long")),
        *(f"spaced:{name}" for name in ("attacker", "short", "stall")),
    ]
    assert all(set(found.board[row.id]) == {"fifo", "fq_codel"} for row in found.rows)
    # What everybody knows of the two.
    assert found.board["spaced:attacker"]["fifo"].mean > 1.5 > 1.2 > found.board["spaced:attacker"]["fq_codel"].mean
    assert found.board["load-104:short"]["fq_codel"].mean < found.board["load-104:short"]["fifo"].mean
    assert found.failed == [] and found.ran == 8 and found.cpu_s > 0


def test_what_is_there_does_not_run_again_and_a_row_does_not_depend_on_who_else_runs(board):
    folder, found = board
    again = arena(folder, "fifo,fq_codel,pie", ["load-104"], quick=True, seeds=2)
    assert again.ran == 2
    assert again.values["load-104:short"]["fifo"] == found.values["load-104:short"]["fifo"]


def test_the_command_prints_the_board_and_writes_its_report(board, tmp_path):
    folder, found = board
    ended = mayfly_here("arena", "spaced", "-d", "fifo,fq_codel", "--quick", "--seeds", "2", "--out", folder, "--quiet")
    assert ended.status == 0, ended.err
    assert "0 runs done now" in ended.out and re.search(r"attacker's +[\d.]+ +[\d.]+\*", ended.out)
    text = (folder / "report.html").read_text(encoding="utf-8")
    board_figure = figures_in(text)["board"]
    assert board_figure["data"][0]["x"] == ["fifo", "fq_codel"]
    document = json.loads((folder / "arena.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in document["rows"]] == ["spaced:attacker", "spaced:short", "spaced:stall"]
    assert document["rows"][0]["places"]["fifo"]["mean"] == found.board["spaced:attacker"]["fifo"].mean
    assert document["experiments"].keys() == {"spaced"}
    if BROWSER is not None:
        visit = Visit(folder / "report.html", tmp_path)
        assert 'data-errors="[]"' in visit.dom and visit.console == [] and visit.requests == []


def test_a_refused_run_is_told_and_leaves_the_row_to_the_others(tmp_path):
    found = arena(tmp_path, ["fifo", "efd(threshold=1B)"], ["spaced"], quick=True, seeds=1)
    assert len(found.rows) == 3
    assert all("fifo" in places for places in found.board.values())


def test_refusals(tmp_path):
    assert "must be one of load-50" in refused_here("arena", "load-81", "--out", tmp_path / "a")
    assert "seeds = 0" in refused_here("arena", "spaced", "--seeds", "0", "--out", tmp_path / "a")
    assert "nonsense" in refused_here("arena", "spaced", "-d", "nonsense", "--out", tmp_path / "a")


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.id)
def test_every_experiment_is_a_scenario_of_today(experiment):
    loaded = Trial(experiment.id, "fifo", 1).loaded()
    assert loaded.tcp.preset == "linux"
    assert 0 <= experiment.quick_s <= loaded.duration
    assert set(experiment.variants) <= set(DEPLOYABLE)


def test_the_board_has_only_disciplines_of_the_registry_that_know_no_sizes():
    known = {row["id"]: row for row in disciplines()}
    assert not any("bound" in known[name]["runs_on"]["places"] for name in DEPLOYABLE)
    assert set(DEPLOYABLE) <= set(known)


def test_the_page_has_every_row_of_the_board(board, tmp_path):
    _, found = board
    text = found.write_page(tmp_path / "arena.md").read_text(encoding="utf-8")
    assert all(f"| {row.title} |" in text for row in found.rows)
    assert "4 seeds" not in text and "2 seeds" in text and "mayfly arena --quick --page" in text
    trailing = text[text.index("## Where") : text.index("## The board")]
    first = text[text.index("## Where") :].split()[2]
    assert trailing.count("\n| ") - 1 == found.counts()[first]["trails"] or found.counts()[first]["trails"] == 0


def test_the_page_of_the_documentation_has_the_rows_that_are_declared():
    text = (Path(__file__).parents[2] / "docs" / "arena.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")}
    quick = "mayfly arena --quick" in text
    expected = {row.title for row in ROWS if not quick or Trial(row.experiment, "fifo", 1).about.quick_s > 0}
    assert {row.title for row in ROWS} & rows == expected
