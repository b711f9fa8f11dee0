"""Two sweeps and a report on one folder at once: one of them is held at a call while the others run.

Whatever the order, no run is made twice or lost, and a report shows what was stored at one moment between its beginning
and its end.
"""

import json
import time
from pathlib import Path

import faults
import pytest
from fault_trials import SWEEP, stored

from mayfly.sweep.store import Store

pytestmark = pytest.mark.skipif(
    faults.compiler() is None, reason="no C compiler, or no Linux: nothing can be preloaded"
)

RUNS = 2
REFUSED = "another process runs this sweep there"
BLOCKED_S = 1.5
"""A command that has not ended after this waits for the one that is held."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    with faults.warm(tmp_path_factory.mktemp("warm")) as process:
        yield process


class Place:
    """A folder of a sweep, and commands on it."""

    def __init__(self, warm: faults.Warm, folder: Path):
        self.warm, self.folder, self.out = warm, folder, folder / "out"
        folder.mkdir(exist_ok=True)
        (folder / "sweep.toml").write_text(SWEEP)

    def command(self, *words: str) -> list[object]:
        return ["sweep", *words, self.folder / "sweep.toml", "--out", self.out, "--json"]

    def sweep(self) -> list[object]:
        return [*self.command(), "--quiet"]

    def begin(self, command: list[object], at: int, reads: bool = False):
        """Starts a command and waits until it is held at a call, or over."""
        fault = faults.Fault(at, "pause", reads, self.folder / "flag")
        self.ended = self.warm.start(self.out, command, fault)
        end = time.monotonic() + faults.PATIENCE_S
        while not (self.folder / "flag.there").exists():
            assert time.monotonic() < end, "is not held"
            time.sleep(0.005)

    def let_go(self) -> faults.Ended:
        (self.folder / "flag.go").touch()
        return self.ended()

    def stored(self) -> int:
        return len(Store(self.out).rows()) if (self.out / "shards").is_dir() else 0


def missing(ended: faults.Ended) -> int:
    """Runs that a report lacks, by what it printed and by what it wrote."""
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert sum(row["seeds"] for row in document["rows"]) == RUNS - document["missing"]
    return document["missing"]


def around_one_sweep(place: Place, at: int) -> None:
    """A sweep is held at a call; another one and a report run meanwhile."""
    place.begin(place.sweep(), at)
    before = place.stored()
    other = place.warm.start(place.out, place.sweep())
    report = place.warm.start(place.out, place.command("report"))
    time.sleep(BLOCKED_S)
    first, second, told = place.let_go(), other(), report()
    assert {first.status, second.status} <= {0, 2} and 0 in (first.status, second.status), (first.err, second.err)
    for ended in (first, second):
        assert ended.status == 0 or REFUSED in ended.err, ended.err
        assert ended.err.count("\n") == (1 if ended.status else 0)
    made = [key for ended in (first, second) for key in stored(ended)]
    assert len(made) == len(set(made)) == RUNS, "a run was made twice, or not at all"
    assert place.stored() == RUNS and faults.leftovers(place.out) == []
    if told.status == 0:
        assert missing(told) <= RUNS - before
    else:
        assert "not the folder of a sweep" in told.err
    # Whoever reported last had all there was.
    assert json.loads((place.out / "summary.json").read_text())["rows"] == whole(place)
    for path in faults.results(place.out):
        faults.content(path)


def whole(place: Place):
    """Rows of a report of all there is."""
    ended = place.warm.run(place.out, place.command("report"))
    assert missing(ended) == 0
    return json.loads(ended.out)["rows"]


def calls_of(warm: faults.Warm, folder: Path) -> list[faults.Call]:
    place = Place(warm, folder)
    return warm.run(place.out, place.sweep()).calls


def test_two_sweeps_and_a_report_at_once(warm, tmp_path):
    calls = calls_of(warm, tmp_path / "calls")
    # While the folder is made, with the lock held, between two runs, while rows become a shard, in the report.
    names = [("mkdir", 1), ("pwrite64", 0), ("rename", 1), ("unlink", 0)]
    for name, which in names:
        at = [call.number for call in calls if call.name == name][which]
        around_one_sweep(Place(warm, tmp_path / f"{name}{which}"), at)


@pytest.mark.slow
def test_two_sweeps_and_a_report_with_the_first_held_at_every_call(warm, tmp_path):
    for call in calls_of(warm, tmp_path / "calls"):
        around_one_sweep(Place(warm, tmp_path / str(call.number)), call.number)


def report_around_a_sweep(place: Place, at: int) -> int:
    """A report is held at a call while a sweep goes on; how many runs it lacks."""
    place.begin(place.command("report"), at, reads=True)
    other = place.warm.start(place.out, place.sweep())
    end = time.monotonic() + faults.PATIENCE_S
    # The sweep has put its rows into a shard.
    while list((place.out / "runs").glob("*.json")) or place.stored() < RUNS:
        assert time.monotonic() < end, "the sweep does not go on"
        time.sleep(0.01)
    # It waits to report itself; nothing else would keep it from being done by now.
    time.sleep(BLOCKED_S)
    told, done = place.let_go(), other()
    assert done.status == 0, done.err
    assert json.loads((place.out / "summary.json").read_text())["rows"] == whole(place), "an older report is the last"
    return missing(told)


def half_done(warm: faults.Warm, folder: Path) -> Place:
    """A sweep that was killed after its first run: a row that is in no shard."""
    place = Place(warm, folder)
    number = [call.number for call in calls_of(warm, folder / "calls") if "/runs/" in call.other][1]
    assert warm.run(place.out, place.sweep(), faults.Fault(number, "kill")).status == -9
    assert place.stored() == 1
    return place


def calls_of_a_report(place: Place) -> list[faults.Call]:
    return place.warm.run(place.out, place.command("report"), faults.Fault(reads=True)).calls


def test_a_report_while_a_sweep_moves_its_rows(warm, tmp_path):
    """Before, a report that had read few results could take the place of the report of all."""
    place = half_done(warm, tmp_path / "a")
    read = [call.number for call in calls_of_a_report(place) if call.name == "mkdir"]
    assert report_around_a_sweep(place, read[-1]) == 1
    place = half_done(warm, tmp_path / "b")
    assert report_around_a_sweep(place, 2) in (0, 1)


@pytest.mark.slow
def test_a_report_held_at_every_call_while_a_sweep_moves_its_rows(warm, tmp_path):
    for call in calls_of_a_report(half_done(warm, tmp_path / "first")):
        place = half_done(warm, tmp_path / str(call.number))
        assert report_around_a_sweep(place, call.number) in (0, 1)
