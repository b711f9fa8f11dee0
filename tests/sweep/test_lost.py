"""Kill -9 of the sweep, and of one of its workers."""

import os
import signal
import subprocess
import sys
import time

import pytest
from files import grid, start

from mayfly.limits import SHARE, machine_bytes
from mayfly.sweep.job import Job
from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import sweep
from mayfly.sweep.store import Store
from mayfly.workers.workers import Beside, Dask, Local, workers

PATIENCE_S = 120


def wait_for(what, said: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end, said
        time.sleep(0.02)


def test_after_kill_9_nothing_is_lost_and_nothing_runs_twice(tmp_path):
    path, out = grid(tmp_path, seeds=8, duration="120s"), tmp_path / "out"
    runs = out / "runs"
    process = start(path, "--out", out, "--workers", 2, "--quiet")
    wait_for(lambda: runs.is_dir() and len(list(runs.glob("*.json"))) >= 4, "no run ended")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = Store(out).rows()
    assert 4 <= len(before) < 64
    swept = sweep(load_plan(path), out, make_workers=lambda: Local(2))
    after = Store(out).rows()
    assert (swept.found, swept.ran) == (len(before), 64 - len(before))
    assert len(after) == 64 and all(after[key]["cpu_s"] == row["cpu_s"] for key, row in before.items())


class Dying(Local):
    """Kills the process of the second job that is handed out, once."""

    def submit(self, job: Job, key: str) -> None:
        super().submit(job, key)
        if len(self._jobs) == 2 and not getattr(self, "killed", False):
            wait_for(lambda: self._pool._processes, "no worker started")
            self.killed = True
            os.kill(next(iter(self._pool._processes)), signal.SIGKILL)


def test_a_worker_that_dies_costs_its_time_only(tmp_path):
    done = sweep(load_plan(grid(tmp_path)), tmp_path / "out", make_workers=lambda: Dying(2))
    assert done.ran == 16 and all(row["status"] == "done" for row in done.rows)


def _end_of_the_process(job: Job, key: str) -> None:
    os._exit(9)


def test_a_job_that_kills_its_worker_is_a_failure_and_not_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("mayfly.workers.workers.run_job", _end_of_the_process)
    done = sweep(load_plan(grid(tmp_path, seeds=1)), tmp_path / "out", make_workers=lambda: Local(2))
    assert done.ran == 8 and {row["error"] for row in done.rows} == {
        "the worker that ran it died, and a second one too; out of memory?"
    }


def _too_much(job: Job, key: str) -> None:
    held = bytearray(2_000_000_000)
    held[::4096] = bytes(len(held[::4096]))
    wait_for(lambda: False, "nobody ended a worker that takes too much")


@pytest.mark.slow
def test_workers_share_the_memory_and_one_that_takes_more_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("mayfly.workers.workers.run_job", _too_much)
    monkeypatch.setattr("mayfly.limits.limits.memory_bytes", 1_000_000_000)
    done = sweep(load_plan(grid(tmp_path, seeds=1)), tmp_path / "out", make_workers=lambda: Local(2))
    assert done.ran == 8
    assert all("All workers together have 1 GB: --workers, mayfly --memory" in row["error"] for row in done.rows)


def test_workers_of_a_machine_share_its_memory():
    beside = Beside(("tls://a:1", "tls://a:2", "tls://b:1"), 900)
    # The second and the fourth came since.
    asked = ("tls://a:1", "tls://a:3", "tls://b:1", "tls://c:9")
    assert [beside.share(address) for address in asked] == [450, 300, 900, 900]
    own = Beside(("tls://a:1",), None)
    assert own.share("tls://a:1") == int(SHARE * machine_bytes())
    assert own.share("tls://a:2") == int(SHARE * machine_bytes()) // 2


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_worker_of_a_cluster_that_takes_more_than_its_share_is_a_failure(tmp_path, monkeypatch, threads):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr("mayfly.limits.limits.memory_bytes", 1_000_000_000)
    monkeypatch.setattr("mayfly.limits.limits.asked_bytes", 1_000_000_000)
    how = {"n_workers": 2, "threads_per_worker": threads, "processes": True, "dashboard_address": None}
    # A local cluster gives up a worker that is not back after 15 s; here each one dies again and again.
    dask = pytest.importorskip("dask", reason="dask is not installed")
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    # Dask itself has no limit here.
    with patient, distributed.LocalCluster(**how, memory_limit=0) as cluster:
        make_workers = workers(cluster="dask://" + cluster.scheduler_address.removeprefix("tcp://"))
        done = sweep(load_plan(grid(tmp_path, seeds=1)), tmp_path / "out", make_workers=make_workers)
        assert done.ran == 8 and all(row["status"] == "done" for row in done.rows)
        monkeypatch.setattr("mayfly.workers.workers.run_job", _too_much)
        done = sweep(load_plan(grid(tmp_path, seeds=1)), tmp_path / "more", make_workers=make_workers)
    assert done.ran == 8
    assert all("workers of a machine together have 1 GB" in row["error"] for row in done.rows)


def test_a_job_that_kills_its_workers_says_how_many_dask_counted(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    dask = pytest.importorskip("dask", reason="dask is not installed")
    monkeypatch.setattr("mayfly.workers.workers.run_job", _end_of_the_process)
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    # A worker that died comes back; after the second the scheduler gives the job up.
    few = dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "1h"})
    with few, distributed.LocalCluster(**how) as cluster:
        make_workers = workers(cluster="dask://" + cluster.scheduler_address.removeprefix("tcp://"))
        done = sweep(load_plan(grid(tmp_path, seeds=1, duration="1s")), tmp_path / "out", make_workers=make_workers)
    assert {row["error"] for row in done.rows} == {
        "the 2 workers that ran it died, one after the other; out of memory?"
    }


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up(tmp_path, monkeypatch):
    """Its workers and who would start them anew are dead: the sweep ends and says so."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr("mayfly.workers.workers.WITHOUT_WORKERS_S", 2)
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:

        class Losing(Dask):
            """The cluster is shut down to no worker when the first job is handed out."""

            def submit(self, job, key):
                super().submit(job, key)
                if not getattr(self, "lost", False):
                    self.lost = True
                    cluster.scale(0)

        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        plan = load_plan(grid(tmp_path, seeds=1, duration="600s"))
        done = sweep(plan, tmp_path / "out", make_workers=lambda: Losing(address))
    failed = [row for row in done.rows if row["status"] == "failed"]
    assert failed and {row["error"] for row in failed} == {"no worker of the cluster is left, for 2 s; out of memory?"}


def test_two_at_once_in_one_folder_are_refused(tmp_path):
    path, out = grid(tmp_path, seeds=8, duration="600s"), tmp_path / "out"
    process = start(path, "--out", out, "--workers", 1, "--quiet")
    wait_for(lambda: (out / "runs").is_dir() and list((out / "runs").glob("*.json")), "no run ended")
    done = subprocess.run(
        [sys.executable, "-m", "mayfly.cli", "sweep", path, "--out", out], capture_output=True, text=True
    )
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 130
    assert done.returncode == 2 and "another process runs this sweep there" in done.stderr
    # What had ended before the interrupt counts.
    assert Store(out).rows()


def test_a_cluster_loses_a_worker_in_mid_run(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    path, out = grid(tmp_path, seeds=4, duration="20s"), tmp_path / "out"
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")

        class Losing(Dask):
            """Kills a worker when the first results are there."""

            seen = 0

            def wait(self):
                for result in super().wait():
                    self.seen += 1
                    if self.seen == 3:
                        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
                    yield result

        done = sweep(load_plan(path), out, make_workers=lambda: Losing(address))
    assert done.ran == 32 and all(row["status"] == "done" for row in done.rows)
    alone = sweep(load_plan(path), tmp_path / "alone", make_workers=lambda: Local(2))
    same = {row["key"]: row["short.mean_s"] for row in alone.rows}
    assert {row["key"]: row["short.mean_s"] for row in done.rows} == same
