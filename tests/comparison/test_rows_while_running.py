"""Rows of the summary are made as soon as a discipline has ended, and are those made after all runs."""

import json

import pytest

from mayfly.comparison.comparison import Rows, compare, gather
from mayfly.discipline_registry import parse_list
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_many


def told(summary):
    for row in summary["disciplines"]:
        assert row.pop("cpu_s") >= 0
    return json.dumps(summary)


@pytest.mark.parametrize(
    ("scenario", "changes"),
    [
        ("wired", {"duration": "20s", "replications": 3}),
        # Runs of unequal length: what the first that ended took for the end of all is not.
        ("wired", {"duration": "20s", "stop_when_idle": True}),
        # Fair shares of groups: those of the first discipline, and of each where flows wait for others.
        ("enterprise", {"duration": "10s", "replications": 2}),
        ("household", {"duration": "5s"}),
    ],
)
def test_rows_are_those_of_a_gathering_after_all_runs(scenario, changes):
    loaded = load_scenario(scenario, changes)
    chosen = parse_list("fifo,efd,las")
    after = gather(loaded, run_many(loaded, chosen), "compare")
    assert told(compare(loaded, "fifo,efd,las").summary) == told(after.summary)


def test_each_discipline_ends_once_with_all_replications():
    loaded, ended = load_scenario("wired", {"duration": "5s", "replications": 3}), []
    run_many(loaded, parse_list("fifo,efd"), ended=ended.append)
    found = sorted((own[0].discipline.label, [run.replication for run in own]) for own in ended)
    assert found == [("efd", [0, 1, 2]), ("fifo", [0, 1, 2])]


def test_a_row_that_was_made_is_not_made_again(monkeypatch):
    loaded = load_scenario("wired", {"duration": "5s"})
    rows = Rows(loaded)
    runs = run_many(loaded, parse_list("fifo,efd"), ended=rows.add)
    monkeypatch.setattr(rows, "_make", None)
    assert [row["id"] for row in gather(loaded, runs, "compare", rows=rows).summary["disciplines"]] == ["fifo", "efd"]
