"""Experiments that run before claims ask for them: the right ones, once, with the numbers they would have."""

import threading
from pathlib import Path

import numpy as np
import pytest

from mayfly import MayflyError
from mayfly_papers.declare import declaration
from mayfly_papers.declare.ahead import ahead, foreseen
from mayfly_papers.declare.declaration import Claim, Experiment, Row, Runs
from mayfly_papers.declare.measured import Kept
from mayfly_papers.pages import PAGES
from mayfly_papers.report.reproduce import reproduce


def experiment(identity, **more):
    return Experiment(
        identity, {"duration": "1s", **more}, ("fifo", "las"), 2, lambda run: {"flows": run.records.height}
    )


def claim(identity, *experiments):
    def margin(runs):
        return sum(runs.values(name, "fifo", "flows") for name in experiments)

    row = Row("flows", margin, margin=margin, direction="some")
    return Claim(identity, "", "", "", (row,))


@pytest.fixture
def simulated(monkeypatch):
    """Ids of what was simulated."""
    ran, real = [], declaration.simulate

    def simulate(experiment, pool=None):
        ran.append(experiment.id)
        return real(experiment, pool)

    monkeypatch.setattr(declaration, "simulate", simulate)
    return ran


def test_what_claims_ask_for_is_foreseen_in_their_order():
    runs = Runs([experiment("a"), experiment("b"), experiment("c")])
    broken = Claim("broken", "", "", "", (Row("x", lambda runs: 1 / 0, margin=lambda runs: 1 / 0),))
    assert foreseen([claim("x", "c"), broken, claim("y", "a", "c")], runs) == ["c", "a"]
    assert runs.asked() == ()


@pytest.mark.parametrize("page", ["zhao-2004", "urvoy-keller-2007", "chen-2012-wired"])
def test_all_experiments_of_whole_pages_are_foreseen(page):
    [item] = [item for item in PAGES if item.id == page]
    found = foreseen(item.claims, Runs(item.experiments))
    assert len(found) > 0.9 * len(item.experiments) and len(set(found)) == len(found)


def test_an_experiment_runs_once_with_the_same_numbers(simulated):
    declared = [experiment("a"), experiment("b")]
    alone = {name: Runs(declared).values(name, "las", "flows") for name in ("a", "b")}
    del simulated[:]
    runs = Runs(declared)
    with ahead([([claim("x", "a", "b")], runs)]):
        for name, values in alone.items():
            assert np.array_equal(runs.values(name, "las", "flows"), values)
    assert sorted(simulated) == ["a", "b"]


def test_afterwards_an_experiment_runs_as_before():
    runs = Runs([experiment("a"), experiment("b")])
    with ahead([([claim("x", "a")], runs)]):
        pass
    assert runs.values("b", "fifo", "flows").size == 2


def test_who_asks_gets_the_error_of_what_ran_ahead():
    runs = Runs([experiment("a", duration="0s")])
    with ahead([([claim("x", "a")], runs)]), pytest.raises(MayflyError, match="duration"):
        runs.values("a", "fifo", "flows")


def test_what_is_not_begun_at_the_end_is_left_out(simulated, monkeypatch):
    gate, real = threading.Event(), declaration.simulate

    def simulate(experiment, pool=None):
        gate.wait(30)
        return real(experiment, pool)

    monkeypatch.setattr(declaration, "simulate", simulate)
    names = [f"e{number}" for number in range(8)]
    runs = Runs([experiment(name) for name in names])
    with pytest.raises(KeyboardInterrupt), ahead([([claim("x", *names)], runs)]):
        gate.set()
        raise KeyboardInterrupt
    assert len(simulated) <= 4


def test_a_reproduction_keeps_what_ran_ahead(tmp_path: Path):
    found = reproduce(["zhao-2004-testbed"], quick=True, figures=False, keep=tmp_path)
    [runs] = found.runs.values()
    kept = Kept(tmp_path, "zhao-2004-testbed")
    assert runs.seconds and all(kept.read(own) is not None for own in runs.experiments)
