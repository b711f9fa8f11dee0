"""Who runs the jobs: processes of this machine, or workers of a Dask cluster. One that is lost costs its run's time."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol

from mayfly.errors import MayflyError
from mayfly.limits import LOOK_S, SHARE, limits, machine_bytes, taken_bytes
from mayfly.workers.job import Done, Job
from mayfly.workers.scheduler import refuse_no_scheduler

AHEAD = 2
"""Jobs handed out for each worker: the one that runs, and one that waits."""

WITHOUT_WORKERS_S = 60
"""For how long jobs wait while their cluster has no worker."""
LOST = "the worker that ran it died, and a second one too; out of memory?"


def _lost_here() -> str:
    """Why a run of this machine was given up, with what a worker may take where that is known."""
    most = limits.memory_bytes
    return LOST if most is None else f"{LOST} All workers together have {most / 1e9:.3g} GB: --workers, mayfly --memory"


def _lost_there(lost: str) -> str:
    """Why a run of a cluster was given up, with what its workers may take where that is known."""
    if limits.memory_bytes is None:
        return lost
    asked = limits.asked_bytes
    most = f"{SHARE:.0%} of its memory" if asked is None else f"{asked / 1e9:.3g} GB"
    return f"{lost} The workers of a machine together have {most}: fewer of them, mayfly --memory"


def deaths_text(workers: int) -> str:
    """Why Dask gave a run up: after so many workers, one more than ``distributed.scheduler.allowed-failures``.

    Parameters
    ----------
    workers : int
        How many died while they had it.

    Returns
    -------
    str

    Examples
    --------
    >>> deaths_text(4)
    'the 4 workers that ran it died, one after the other; out of memory?'
    >>> deaths_text(1)
    'the worker that ran it died; out of memory?'
    """
    if workers == 1:
        return "the worker that ran it died; out of memory?"
    return f"the {workers} workers that ran it died, one after the other; out of memory?"


def run_job(job: Job, key: str) -> Done:
    """Runs a job, in a process of its own.

    Parameters
    ----------
    job : Job
    key : str
        Address of the result.

    Returns
    -------
    tuple
        A row and, where kept, the flow records.
    """
    return job.run(key)


@dataclass(frozen=True)
class Beside:
    """Who shares the memory of a machine of a cluster.

    Parameters
    ----------
    addresses : tuple of str
        Of all workers of the cluster.
    asked_bytes : int, optional
        What the workers of a machine may take together; a share of its memory when None.
    """

    addresses: tuple[str, ...]
    asked_bytes: int | None

    def share(self, address: str) -> int:
        """Bytes that the worker may take which has this address, and runs here."""
        host = _host(address)
        # One that came since is not among them.
        beside = sum(_host(other) == host for other in {*self.addresses, address})
        return (self.asked_bytes or int(SHARE * machine_bytes())) // beside


def _host(address: str) -> str:
    """The host in the address of a Dask worker.

    Examples
    --------
    >>> _host("tls://10.0.0.7:41231"), _host("tcp://[::1]:8786")
    ('10.0.0.7', '[::1]')
    """
    return address.partition("://")[2].rpartition(":")[0]


def run_within(beside: Beside, run: Callable[[Job, str], Done], job: Job, key: str) -> Done:
    """Runs a job on a worker of a cluster, whose process ends when it takes more than its share meanwhile.

    Parameters
    ----------
    beside : Beside
    run : callable
        :func:`run_job`.
    job, key
        As it takes them.

    Returns
    -------
    tuple
        As :func:`run_job`.
    """
    from distributed import get_worker

    done = threading.Event()
    most_bytes = beside.share(get_worker().address)
    threading.Thread(target=_end_beyond, args=(most_bytes, done), daemon=True).start()
    try:
        return run(job, key)
    finally:
        done.set()


_QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
"""As for `python -W`: processes that multiprocessing starts are given it."""


class Workers(Protocol):
    """Takes jobs and gives results in the order they end."""

    def room(self) -> bool:
        """Whether one more job should be handed out."""

    def submit(self, job: Job, key: str) -> None:
        """Hands out a job."""

    def wait(self) -> Iterator[tuple[str, Done]]:
        """Results that came, by address; waits for one, or half a second."""

    def busy(self) -> bool:
        """Whether a job is handed out."""

    def close(self) -> None:
        """Stops whatever runs."""


def _start(most_bytes: int | None) -> None:
    """Of a worker: an interrupt is for the process that keeps the results, and without that one there is no work.

    It takes no more than its share of the memory, and dies of more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if most_bytes is not None:
        threading.Thread(target=_end_beyond, args=(most_bytes, threading.Event()), daemon=True).start()


def _end_beyond(most_bytes: int, done: threading.Event) -> None:
    """Ends the process when it takes more before it is done; a run cannot be asked to stop."""
    while not done.wait(LOOK_S):
        if taken_bytes() > most_bytes:
            os._exit(1)


def _end_with_parent() -> None:
    """Ends the process as soon as the one that started it has, however that did."""
    parent = multiprocessing.parent_process()
    # A worker has a parent: multiprocessing started it.
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def run_all(jobs: Sequence[Job], crew: Workers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Has workers run jobs, each of which has a place among the results.

    Parameters
    ----------
    jobs : sequence of Job
        Handed out in this order.
    crew : Workers
        Who runs them; whoever made them closes them.

    Yields
    ------
    place : int
        Of a job that has ended.
    row : dict
        What it gives.
    """
    # A cluster keeps results by their keys: those of other jobs are not to be met.
    name, handed, ended = uuid.uuid4().hex, 0, 0
    while ended < len(jobs):
        while handed < len(jobs) and crew.room():
            crew.submit(jobs[handed], f"{name}-{handed}")
            handed += 1
        for key, (row, _) in crew.wait():
            ended += 1
            yield int(key.rpartition("-")[2]), row


class Local:
    """Processes of this machine.

    Parameters
    ----------
    count : int, optional
        As many as cores when not given.
    """

    def __init__(self, count: int | None = None):
        self.count = count or os.cpu_count() or 1
        self._jobs: dict[Future[Done], tuple[Job, str]] = {}
        self._suspects: list[tuple[Job, str]] = []
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        # A command that a limit ends at once leaves its semaphores to the process of multiprocessing that clears them
        # away: it need not complain of each.
        if _QUIET not in sys.warnoptions:
            sys.warnoptions.append(_QUIET)
        # Threads run here: a fork would copy their locks.
        return ProcessPoolExecutor(
            self.count, multiprocessing.get_context("spawn"), initializer=_start, initargs=(self._share(),)
        )

    def _share(self) -> int | None:
        """Bytes that a worker may take; None without a limit."""
        return None if limits.memory_bytes is None else limits.memory_bytes // self.count

    def room(self) -> bool:
        return not self._suspects and len(self._jobs) < AHEAD * self.count

    def busy(self) -> bool:
        return bool(self._jobs or self._suspects)

    def submit(self, job: Job, key: str) -> None:
        try:
            self._jobs[self._pool.submit(run_job, job, key)] = (job, key)
        except BrokenProcessPool:
            # A worker died since the last look; the jobs that are out will tell.
            self._suspects.append((job, key))
            if not self._jobs:
                self._pool = self._made()

    def wait(self) -> Iterator[tuple[str, Done]]:
        # It is not known which job killed the worker: those that were running run again, one at a time.
        alone = bool(self._suspects) and not self._jobs
        if alone:
            self.submit(*self._suspects.pop())
        done, _ = wait(self._jobs, timeout=None if alone else 0.5, return_when=FIRST_COMPLETED)
        broken = []
        for future in done:
            job, key = self._jobs.pop(future)
            try:
                yield key, future.result()
            except BrokenProcessPool:
                broken.append((job, key))
        if not broken:
            return
        broken += self._jobs.values()
        self._jobs.clear()
        self._pool.shutdown(wait=False)
        self._pool = self._made()
        if alone:
            yield broken[0][1], broken[0][0].lost(broken[0][1], _lost_here())
        else:
            self._suspects += broken

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()


class Dask:
    """Workers of a cluster of dask.distributed; Dask runs the jobs of a lost worker on another.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tls://HOST:PORT``, or ``dask://HOST:PORT`` without encryption.
    certificates : path, optional
        Folder of the cluster's certificates, with ``tls://``.

    Raises
    ------
    MayflyError
        Dask is not installed, or nobody answers there who has the certificates.
    """

    def __init__(self, address: str, certificates: str | os.PathLike[str] | None = None):
        try:
            from distributed import Client, as_completed
        except ImportError:
            raise MayflyError("--cluster needs dask.distributed: pip install 'mayfly[cluster]'") from None
        secured: dict[str, Any] = {}
        if certificates is not None:
            from mayfly.workers.certificates import security

            secured = {"security": security(certificates)}
        given = secured["security"].get_connection_args("client") if secured else {}
        refuse_no_scheduler(address, given.get("ssl_context"))
        where = address if secured else "tcp://" + address.removeprefix("dask://")
        try:
            self._client = Client(where, timeout=10, set_as_default=False, **secured)
        except (OSError, ValueError, MemoryError) as error:
            who = "no scheduler with these certificates" if secured else "no scheduler"
            raise MayflyError(f"--cluster {address}: {who} answers: {error}") from None
        self._results = as_completed(loop=self._client.loop)
        self._jobs: dict[Hashable, tuple[Job, str]] = {}
        self._addresses: tuple[str, ...] = ()
        self._seen_s = time.monotonic()

    def _threads(self) -> dict[str, int]:
        """Threads of the workers that are there, by address."""
        threads: dict[str, int] = self._client.nthreads()
        if threads:
            self._seen_s = time.monotonic()
        return threads

    def room(self) -> bool:
        threads = self._threads()
        self._addresses = tuple(threads)
        return len(self._jobs) < AHEAD * (sum(threads.values()) or 1)

    def busy(self) -> bool:
        return bool(self._jobs)

    def submit(self, job: Job, key: str) -> None:
        how: dict[str, Any] = {"key": f"mayfly-{key}", "pure": False, "retries": 1}
        if limits.memory_bytes is None:
            future = self._client.submit(run_job, job, key, **how)
        else:
            beside = Beside(self._addresses, limits.asked_bytes)
            future = self._client.submit(run_within, beside, run_job, job, key, **how)
        self._jobs[future.key] = (job, key)
        self._results.add(future)

    def wait(self) -> Iterator[tuple[str, Done]]:
        from distributed import KilledWorker

        end = time.monotonic() + 0.5
        while not self._results.has_ready():
            if time.monotonic() > end:
                # Workers that died come back after some seconds, unless who started them has given them up.
                if not self._threads() and time.monotonic() - self._seen_s > WITHOUT_WORKERS_S:
                    yield from self._given_up()
                return
            time.sleep(0.01)
        future = next(self._results)
        job, key = self._jobs.pop(future.key)
        try:
            found = future.result()
        except KilledWorker as error:
            found = job.lost(key, _lost_there(deaths_text(error.allowed_failures + 1)))
        except (OSError, ImportError) as error:
            # Of the cluster: no such file there, or another version of Mayfly.
            found = job.lost(key, f"{type(error).__name__}: {error}")
        future.release()
        yield key, found

    def _given_up(self) -> Iterator[tuple[str, Done]]:
        """Nobody is left who could run what is handed out."""
        jobs = list(self._jobs.values())
        self._jobs.clear()
        self._results.clear()
        for job, key in jobs:
            lost = f"no worker of the cluster is left, for {WITHOUT_WORKERS_S} s; out of memory?"
            yield key, job.lost(key, _lost_there(lost))

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)


def workers(
    count: int | None = None, cluster: str | None = None, certificates: str | os.PathLike[str] | None = None
) -> Callable[[], Workers]:
    """What makes the workers a user asks for.

    Parameters
    ----------
    count : int, optional
        Processes of this machine.
    cluster : str, optional
        ``tls://HOST:PORT``, or ``dask://HOST:PORT`` without encryption.
    certificates : path, optional
        Folder of the cluster's certificates (`mayfly.workers.certificates`): with ``tls://``, and only with it.

    Returns
    -------
    callable

    Raises
    ------
    MayflyError
        Both, or neither known.
    """
    if certificates is not None and (cluster is None or not cluster.startswith("tls://")):
        raise MayflyError(f"--cluster-certificates {certificates}: must be with --cluster tls://HOST:PORT")
    if cluster is None:
        if count is not None and not 1 <= count <= 4096:
            raise MayflyError(f"--workers {count}: must be from 1 to 4096")
        return lambda: Local(count)
    if count is not None:
        raise MayflyError(f"--workers {count}: must be left out with --cluster, whose workers run the jobs")
    scheme, _, place = cluster.partition("://")
    if scheme not in ("tls", "dask") or not place:
        raise MayflyError(f"--cluster {cluster}: must be tls://HOST:PORT or dask://HOST:PORT, of a Dask scheduler")
    if scheme == "tls" and certificates is None:
        raise MayflyError(f"--cluster {cluster}: must be with --cluster-certificates DIR")
    return lambda: Dask(cluster, certificates)
