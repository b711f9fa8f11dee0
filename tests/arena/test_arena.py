"""The arena: short boards end to end."""

import json
import re
import shlex
from pathlib import Path

import pytest
from browser import Visit, figures_in, in_browser
from invocation import mayfly_here, refused_here

from mayfly.arena.arena import DEPLOYABLE, arena
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.rows import ROWS
from mayfly.arena.sensitivity import sensitivity, variants
from mayfly.arena.trial import Trial
from mayfly.discipline_registry import Discipline, disciplines, parse
from mayfly.errors import MayflyError


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


def test_the_command_prints_the_board_and_writes_its_report(board):
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


@in_browser
def test_the_report_is_drawn_without_error_or_network(board, tmp_path):
    folder, _ = board
    ended = mayfly_here("arena", "spaced", "-d", "fifo,fq_codel", "--quick", "--seeds", "2", "--out", folder, "--quiet")
    assert ended.status == 0, ended.err
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
    asked = ",".join(found.disciplines)
    assert "4 seeds" not in text and "2 seeds" in text
    assert f"mayfly arena --disciplines {shlex.quote(asked)} --quick --seeds 2 --page" in text
    trailing = text[text.index("## Where") :].partition("\n## ")[0]
    first = text[text.index("## Where") :].split()[2]
    goals = text[text.index(f"## What {first} is to reach") :].partition("\n## ")[0]
    assert goals.count("\n| ") - 1 == len(found.goals()) > 0
    assert trailing.count("\n| ") - 1 == found.counts()[first]["trails"] or found.counts()[first]["trails"] == 0


def test_in_a_cell_it_runs_with_the_options_for_cells_beside_its_own_which_go_first():
    cell = {label: Trial("cell-30", label, 1).discipline for label in ("lfq", "lfq(user_lag=180kB)", "fifo")}
    assert cell["lfq"] == "lfq(medium=cell)" and cell["fifo"] == "fifo"
    assert parse(cell["lfq(user_lag=180kB)"]) == Discipline("lfq", {"medium": "cell", "user_lag": "180000"})
    assert Trial("cell-30", "lfq(medium=wire)", 1).discipline == "lfq(medium=wire)"
    assert Trial("load-80", "lfq(user_lag=180kB)", 1).discipline == "lfq(user_lag=180kB)"
    keys = {Trial("cell-30", label, 1).key for label in ("lfq", "lfq(medium=cell)", "lfq(user_lag=180kB)")}
    assert len(keys) == 2


def test_the_stream_is_a_user_of_its_own_in_one_row_only_and_kept_addresses_outlive_the_probation():
    from mayfly.simulate.run import workload

    for name, alone in (("video", False), ("video-own", True)):
        flows = workload(Trial(name, "fifo", 1, quick=True).loaded())
        stream, rest = flows.filter(flows["protocol"] == "udp"), flows.filter(flows["protocol"] == "tcp")
        ends = {frozenset(pair) for pair in stream.select("src", "dst").iter_rows()}
        assert len(ends) == 1
        assert ends.isdisjoint({frozenset(pair) for pair in rest.select("src", "dst").iter_rows()}) == alone
    [source] = Trial("kept-addresses", "fifo", 1).loaded().workload.cbr
    [lfq] = [row for row in disciplines() if row["id"] == "lfq"]
    probation_s = next(param["default"] for param in lfq["params"] if param["name"] == "probation")
    assert 1.5 * probation_s < 8 * source.packet * source.renew / source.rate < 3 * probation_s


def test_a_default_is_halved_and_doubled_and_the_page_tells_what_moves(tmp_path):
    found = sensitivity(tmp_path / "board", "codel", ["bulk-1000"], quick=True, seeds=3)
    assert set(found.variants.values()) == {
        "codel(target=0.0025)",
        "codel(target=0.01)",
        "codel(interval=0.05)",
        "codel(interval=0.2)",
    }
    # CoDel on a queue that is never empty: who drops sooner keeps it shorter.
    moved = found.moved["bulk-1000:rtt"]
    assert moved["interval 0.1 → 0.05"] < 0 < moved["interval 0.1 → 0.2"]
    page = found.write_page(tmp_path / "page.md").read_text(encoding="utf-8")
    assert "mayfly arena --sensitivity codel --quick --seeds 3 --page" in page
    lines = page[page.index("## Every figure") :].splitlines()
    told = [line for line in lines if line.endswith((" worse |", " better** |"))]
    assert len(told) == sum(map(len, found.moved.values()))
    json.dumps(found.document(), allow_nan=False)
    assert arena(tmp_path / "board", "codel", ["bulk-1000"], quick=True, seeds=3).ran == 0


def test_what_has_no_number_to_change_and_two_lists_at_once_are_refused(tmp_path):
    assert variants("lfq")["user_lag 360,000 → 180,000"] == "lfq(user_lag=180000)"
    assert "pace 0.4 → 0.8" in variants("lfq") and not any("prefix" in name for name in variants("lfq"))
    with pytest.raises(MayflyError, match="with numbers"):
        variants("fifo")
    both = refused_here("arena", "-d", "fifo", "--sensitivity", "codel", "--out", tmp_path / "a")
    assert "must stand without disciplines" in both and not (tmp_path / "a").exists()


def test_the_page_of_the_documentation_has_the_rows_that_are_declared():
    text = (Path(__file__).parents[2] / "docs" / "arena.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")}
    quick = "mayfly arena --quick" in text
    expected = {row.title for row in ROWS if not quick or Trial(row.experiment, "fifo", 1).about.quick_s > 0}
    assert {row.title for row in ROWS} & rows == expected
