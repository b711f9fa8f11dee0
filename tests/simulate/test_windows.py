"""A run in windows beside the whole run."""

import os
import signal
import subprocess
import sys

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.metrics.size_classes import completed_tcp
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import windows
from mayfly.simulate.windows import run_window, run_windows, windows_of
from mayfly.workers.workers import Dask, Local

WINDOWS, OVERLAP_S = 8, 40.0


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("wired", {"duration": "2000s", "workload.up_share": 0.1})


@pytest.mark.parametrize("discipline", ["fifo", "las"])
def test_windows_have_the_means_of_the_whole_run_to_what_the_cut_costs(scenario, discipline):
    whole = compare(scenario, discipline).records.filter(completed_tcp())
    found = run_windows(scenario, parse(discipline), WINDOWS, OVERLAP_S, workers=1)
    lost = whole.height - found["all"]["flows"]
    # Flows that outlast the window of their start by an overlap are all that is missing.
    assert 0 <= lost <= found["flows_crossing"] < whole.height / 500
    seam = found["seam"]
    assert seam["flows"] > 1000
    for part in [found["all"] | {"from_packets": 1, "below_packets": 10**9}, *found["by_size"]]:
        own = whole.filter(pl.col("size_packets").is_between(part["from_packets"], part["below_packets"] - 1))
        exact = own["response_time_s"].mean()
        assert part["flows"] == own.height
        # What the fluid twin leaves is less than what it took away, and nothing to speak of where the cut did nothing.
        left, before = (abs(part[name] - exact) for name in ("mean_s", "windows_mean_s"))
        assert left <= abs(part["correction_s"]) + 1e-3 * exact, part
        assert left <= 0.5 * before + 1e-3 * exact or part["flows"] < 1000, part
        assert part["ci95"][0] < exact < part["ci95"][1]
    if discipline == "fifo":
        # There the cut is felt, and corrected.
        assert abs(found["all"]["windows_mean_s"] / whole["response_time_s"].mean() - 1) > 0.01


def test_flows_of_a_window_that_begins_at_the_start_are_those_of_the_run(scenario):
    first, *_ = windows_of(scenario, WINDOWS, OVERLAP_S)
    found = run_window(scenario, parse("las"), first)
    whole = compare(scenario, "las").records.filter(completed_tcp() & (pl.col("finish_s") <= first.end_s))
    own = whole.filter(pl.col("start_s") < first.until_s)
    assert found.flows[-1] == own.height
    assert found.seconds[-1] == pytest.approx(own["response_time_s"].sum(), rel=1e-9)


def test_windows_that_cannot_be_are_refused(scenario):
    with pytest.raises(MayflyError, match="windows = 2: must be from 4"):
        windows_of(scenario, 2, 10.0)
    with pytest.raises(MayflyError, match="overlap = 900 s: must be above 0 and at most a window, 250 s"):
        windows_of(scenario, 8, 900.0)
    with pytest.raises(MayflyError, match="exact_load = true"):
        windows_of(load_scenario("wired", {"workload.exact_load": True}), 8, 10.0)


def the_same(one, other):
    """Whether two answers have the same figures; processor time apart."""
    assert one | {"cpu_s": 0} == other | {"cpu_s": 0}


@pytest.fixture(scope="module")
def short():
    scenario = load_scenario("wired", {"duration": "60s", "workload.up_share": 0.1})
    return scenario, run_windows(scenario, parse("fifo"), 6, 3.0, workers=1)


def killing(crew, victim):
    """Workers of the class `crew`, one of which is killed when the first result is there."""
    killed = []

    class Losing(crew):
        def wait(self):
            for result in super().wait():
                if not killed:
                    killed.append(victim(self))
                    os.kill(killed[0], signal.SIGKILL)
                yield result

    return Losing, killed


def test_a_process_that_is_lost_costs_no_figure(short, monkeypatch):
    scenario, whole = short
    losing, killed = killing(Local, lambda crew: next(iter(crew._pool._processes)))
    monkeypatch.setattr(windows, "workers_of", lambda *_: lambda: losing(2))
    the_same(run_windows(scenario, parse("fifo"), 6, 3.0), whole)
    assert killed


def test_a_cluster_that_loses_a_worker_finds_the_same(short, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    scenario, whole = short
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        the_same(run_windows(scenario, parse("fifo"), 6, 3.0, cluster=address), whole)
        losing, killed = killing(Dask, lambda _: next(iter(cluster.workers.values())).pid)
        monkeypatch.setattr(windows, "workers_of", lambda *_: lambda: losing(address))
        the_same(run_windows(scenario, parse("fifo"), 6, 3.0), whole)
        assert killed


def test_a_window_that_is_refused_says_why(short, monkeypatch):
    scenario, _ = short
    answer = windows.WindowJob(scenario, parse("fifo"), None).lost("a", "no memory")
    monkeypatch.setattr(windows.WindowJob, "run", lambda *_: answer)

    class Here(Local):
        """Runs jobs at once, in this process."""

        def __init__(self):
            self.done = []

        def room(self):
            return True

        def submit(self, job, key):
            self.done.append((key, job.run(key)))

        def wait(self):
            yield self.done.pop()

        def close(self):
            pass

    monkeypatch.setattr(windows, "workers_of", lambda *_: Here)
    with pytest.raises(MayflyError, match="a window could not be run: no memory"):
        run_windows(scenario, parse("fifo"), 6, 3.0)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--overlap", "3s"], "--overlap 3s: must be with --windows N"),
        (["--workers", "2"], "--workers 2: must be with --windows N"),
        (
            ["--windows", "8", "--workers", "2", "--cluster", "dask://a:1"],
            "--workers 2: must be left out with --cluster",
        ),
        (["--windows", "8", "--cluster", "tls://a:1"], "must be with --cluster-certificates DIR"),
        (["--windows", "8", "--workers", "0"], "--workers 0: must be from 1 to 4096"),
    ],
)
def test_who_runs_windows_is_checked_before_they_run(words, line, tmp_path):
    command = [sys.executable, "-m", "mayfly.cli", "simulate", "wired", "--discipline", "fifo", *words, "--out", "out"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2 and line in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
    assert not list(tmp_path.iterdir())
