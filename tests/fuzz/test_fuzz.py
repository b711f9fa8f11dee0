"""A short run of every kind, what earlier runs found, and that the harness sees what it is there to see."""

from pathlib import Path

import pytest
import worker
from case import Case, read_case
from explore import explore
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kinds import KINDS
from kinds.scenarios import documents
from worker import Ended, Failure, Runner

from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.run import named, run_many

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))
CASES = 10
SCENARIO = b'duration = "5s"\n[[workload.permanent]]\nflows = 5\n'
SIMULATE = ("simulate", "scenario.toml", "--discipline", "fifo", "--out", "out/run", "--json", "--quiet")


@pytest.fixture(scope="module")
def runner():
    with Runner() as found:
        yield found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_found_is_mended(runner, path):
    assert runner.run(read_case(path)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_run(runner, kind):
    told = explore(KINDS[kind], runner, cases=CASES, seed=2026)
    assert told.cases == CASES and told.findings == {}


def test_a_case_is_read_as_it_was_kept(tmp_path):
    case = Case("x", (("a", "b"),), {"t.csv": b"a\n", "d/b.bin": b"\xff\x00"}, {"l": "t.csv"}, (("p", "q"),))
    path = tmp_path / "case.json"
    path.write_text(case.text(), encoding="utf-8")
    assert read_case(path) == case


def test_limits_of_time_and_memory_are_kept(runner, monkeypatch):
    case = Case("x", (SIMULATE,), {"scenario.toml": SCENARIO})
    assert runner.run(case) == []
    monkeypatch.setattr(worker, "MEMORY_BYTES", 10_000)
    assert [failure.signature for failure in runner.run(case)] == ["more than 1e-05 GB"]
    monkeypatch.undo()
    monkeypatch.setattr(worker, "CPU_S", 0.01)
    monkeypatch.setattr(worker, "LOOK_S", 0.001)
    slow = Case("x", (SIMULATE,), {"scenario.toml": SCENARIO.replace(b"5s", b"2000s")})
    assert [failure.signature for failure in runner.run(slow)] == ["more than 0.01 s"]
    monkeypatch.undo()
    # The child was killed; the next case has another.
    assert runner.run(case) == []


def test_runs_that_differ_are_told(runner):
    other = (*SIMULATE[:5], "out/other", *SIMULATE[6:], "--seed", "2")
    files = {"scenario.toml": b'duration = "5s"\n[workload]\nload = "5mbit"\n'}
    case = Case("x", (SIMULATE, other), files, same=(("run/flows.parquet", "other/flows.parquet"),))
    said = [failure.signature for failure in runner.run(case)]
    assert said == ["not the same: run/flows.parquet, other/flows.parquet"]


TRACE = """Traceback (most recent call last):
  File "/x/mayfly/cli/process.py", line 1, in run
  File "/x/mayfly/sweep/page.py", line 310, in _failures
AttributeError: 'list' object
mayfly: internal error: AttributeError
"""


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (Ended(0, "{}", "", 0, 0.0, ()), []),
        (Ended(2, "", "mayfly: no such file\n", 0, 0.0, ()), []),
        (Ended(2, "", "", 0, 0.0, ()), ["a refusal of other than one line"]),
        (Ended(2, "", "mayfly: \x1b[2J\n", 0, 0.0, ()), ["a refusal of other than one line"]),
        (Ended(0, '{"a": NaN}', "", 0, 0.0, ()), ["no JSON document"]),
        (Ended(0, "", "", 0, 0.0, ()), ["no JSON document"]),
        (Ended(9, "", "", 0, 0.0, ()), ["exit status 9"]),
        (Ended(2, "", "mayfly: x\n", 0, 0.0, ("out/.a.partial",)), ["a file left half-written"]),
        (Ended(1, "", TRACE, 0, 0.0, ()), ["traceback: AttributeError at _failures in mayfly/sweep/page.py"]),
        (Ended(1, "", "thread panicked at crates/a.rs:7:2:\nno", 0, 0.0, ()), ["panic at crates/a.rs:7"]),
    ],
)
def test_what_a_command_must_not_do(ended, said):
    assert list(worker._wrong(ended, ("estimate", "--json"))) == said


class Pretending:
    """Runs nothing, and finds fault with cases that hold a large number."""

    def __init__(self):
        self.statuses, self.longest_s, self.largest_bytes = {}, 0.0, 0

    def run(self, case):
        return [Failure("large", case.commands[0])] if int(case.commands[0][0]) >= 1000 else []


def test_a_finding_is_made_small_and_the_run_goes_on():
    strategy = st.integers(0, 100_000).map(lambda number: Case("x", ((str(number),),)))
    told = explore(strategy, Pretending(), cases=200, seed=1)
    assert told.cases == 200 and told.findings["large"].times > 10
    assert told.findings["large"].case.commands == (("1000",),)


@pytest.mark.slow
@given(documents())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_one_thread_and_several_give_the_same(document):
    try:
        scenario = scenario_of(document | {"replications": 2}, "drawn")
        alone, beside = (run_many(scenario, named("fifo,efd,fq_codel"), workers=count) for count in (1, 4))
    except MayflyError:
        assume(False)
    for one, other in zip(alone, beside, strict=True):
        assert one.records.equals(other.records) and one.samples.equals(other.samples)
