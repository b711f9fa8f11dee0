"""Captures read by many processes: split by connection into shards, each read by a worker, and put together again.

Principle: what one connection holds depends on no other, only on the number of each packet in the capture and on the
time of the first one (``crates/capture``, ``shards``). So one pass writes each packet, decoded, to the shard of its
connection; workers of this machine or of a cluster read the shards, in any order and again where one was lost; and the
rows of all of them in the order of their first packets are those of one process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import SIMULATING, Look, limits
from mayfly.text.files import UNFINISHED
from mayfly.text.waiting import roomy
from mayfly.workers.job import Done
from mayfly.workers.workers import Workers, run_all, workers
from mayfly.workload.reading import MAX_ROWS, ReadOptions, most_connections, most_open
from mayfly.workload.sieve import noted

EACH = 4
"""Shards for a worker of this machine: one that is lost, or that is larger than others, costs less."""

ON_A_CLUSTER = 64
"""Shards for a cluster, whose workers come and go."""

MOST_SHARDS = 1024
"""Files that are open at once, each with 64 kB in memory."""

PATIENCE_S = 10.0
"""For how long a folder is removed again and again, while a worker that was ended may still write."""


@dataclass(frozen=True)
class Sharding:
    """How captures are read by many processes.

    Parameters
    ----------
    make_workers : callable
        As :func:`mayfly.workers.workers.workers` gives it.
    count : int
        Shards, 1 to 1024.
    folder : path, optional
        Where they are, which all workers see under this name; that for temporary files when absent.
    processes : int, optional
        How many of the workers share the memory of this machine; None of a cluster.

    Raises
    ------
    MayflyError
        ``count`` is out of bounds.
    """

    make_workers: Callable[[], Workers]
    count: int
    folder: str | os.PathLike[str] | None = None
    processes: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_SHARDS:
            raise MayflyError(f"count = {self.count}: must be 1 to {MOST_SHARDS}")

    def max_held(self) -> int:
        """Connections that a worker may hold: it keeps nothing beside them."""
        if limits.memory_bytes is None or self.processes is None:
            return MAX_ROWS
        return most_connections(within_bytes=SIMULATING * limits.memory_bytes / self.processes)


def sharding_of(
    count: int | None = None,
    cluster: str | None = None,
    certificates: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Sharding | None:
    """How a user wants captures to be read.

    Parameters
    ----------
    count, cluster, certificates
        As for :func:`mayfly.workers.workers.workers`.
    folder : path, optional
        For the shards; a cluster needs one.

    Returns
    -------
    Sharding or None
        None where nothing is asked for: one process.

    Raises
    ------
    MayflyError
        As there, or the folder is lacking or of no use.

    Examples
    --------
    >>> sharding_of() is None, sharding_of(2).count
    (True, 8)
    >>> sharding_of(cluster="dask://head:8786")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: --cluster dask://head:8786: must be with --shards DIR, a folder that its workers see ...
    """
    if (count, cluster, certificates) == (None, None, None):
        if folder is not None:
            raise MayflyError(f"--shards {os.fspath(folder)}: must be with --workers or --cluster")
        return None
    make = workers(count, cluster, certificates)
    if cluster is None:
        assert count is not None
        return Sharding(make, min(EACH * count, MOST_SHARDS), folder, count)
    if folder is None:
        raise MayflyError(
            f"--cluster {cluster}: must be with --shards DIR, a folder that its workers see under this name"
        )
    return Sharding(make, ON_A_CLUSTER, folder)


@dataclass(frozen=True)
class ReadShard:
    """Reading one shard, as :mod:`mayfly.workers` takes it.

    Parameters
    ----------
    shard, into : str
        File, and the folder of what is in it, which appears when all is there.
    options : dict
        Of the reader.
    first_ns : int, optional
        Time of the first packet of the capture, ns since 1970.
    """

    shard: str
    into: str
    options: dict[str, Any]
    first_ns: int | None

    def run(self, key: str) -> Done:
        """Reads it; a refusal is a row too.

        Parameters
        ----------
        key : str
            Its address.

        Returns
        -------
        row : dict
            ``key, status, error``, and what was counted.
        records : None
        """
        try:
            partial = tempfile.mkdtemp(prefix="unfinished-", dir=os.path.dirname(self.into))
            try:
                told = _native.read_shard(self.shard, self.options, self._wanted, self.first_ns, partial)
                # One that was lost after its work had done the same.
                if not os.path.isdir(self.into):
                    os.rename(partial, self.into)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except (ValueError, OSError, MemoryError) as error:
            return self.lost(key, str(error) or type(error).__name__)
        return {"key": key, "status": "done", "error": None, **json.loads(told)}, None

    def _wanted(self, *_: int) -> bool:
        """Whether who asked for it still waits: it removes the shards when it does not."""
        return os.path.exists(self.shard)

    def lost(self, key: str, error: str) -> Done:
        """Its row where it was not read to its end, and why."""
        return {"key": key, "status": "failed", "error": error}, None


@dataclass(frozen=True, eq=False)
class Shards:
    """Shards that were read.

    Parameters
    ----------
    folders : tuple of str
        What was found in each.
    counts : dict
        As :func:`mayfly.workload.connections.connections` returns it.
    first_ns : int, optional
        Time of the first packet, ns since 1970.
    volumes : list of tuple of int
        Of each shard the width of the windows, ns, and the packets that are in none.
    place : ShardFolder
        Where they are, as long as they are asked for.
    """

    folders: tuple[str, ...]
    counts: dict[str, Any]
    first_ns: int | None
    volumes: list[tuple[int, int]]
    place: ShardFolder


class ShardFolder:
    """A new folder for shards, removed with all that is in it when nobody asks for it any more.

    Parameters
    ----------
    parent : path, optional
        That for temporary files when absent.

    Raises
    ------
    MayflyError
        It cannot be made there.
    """

    def __init__(self, parent: str | os.PathLike[str] | None):
        try:
            self._folder = tempfile.TemporaryDirectory(
                prefix="mayfly-shards-",
                dir=roomy() if parent is None else os.path.abspath(parent),
                ignore_cleanup_errors=True,
            )
        except OSError as error:
            where = roomy() if parent is None else os.fspath(parent)
            raise MayflyError(f"--shards {where}: no folder to write in: {error.strerror or error}") from None
        self.name = self._folder.name
        # It is removed where the process ends at once.
        UNFINISHED.add(Path(self.name))

    def path(self, name: str) -> str:
        """A file or folder in it."""
        return os.path.join(self.name, name)

    def remove(self) -> None:
        """Removes it now."""
        end = time.monotonic() + PATIENCE_S
        self._folder.cleanup()
        UNFINISHED.discard(Path(self.name))
        while os.path.lexists(self.name) and time.monotonic() < end:
            time.sleep(0.05)
            shutil.rmtree(self.name, ignore_errors=True)


def read_shards(names: Sequence[str], sharding: Sharding, max_trains: int = 0, max_volumes: int = 0) -> Shards:
    """Splits captures and reads the shards.

    Parameters
    ----------
    names : sequence of str
        One capture, or several that follow one another in time; ``-`` is the standard input.
    sharding : Sharding
    max_trains, max_volumes : int
        Of :class:`mayfly.workload.reading.ReadOptions`, of each shard.

    Returns
    -------
    Shards

    Raises
    ------
    MayflyError
        A capture cannot be read or split, or a shard not written or read.
    """
    place = ShardFolder(sharding.folder)
    try:
        options = ReadOptions(
            max_flows=most_open(), max_held=sharding.max_held(), max_trains=max_trains, max_volumes=max_volumes
        )
        return _read(list(names), sharding, options, place)
    except BaseException:
        place.remove()
        raise


def _read(names: list[str], sharding: Sharding, options: ReadOptions, place: ShardFolder) -> Shards:
    asked = options.for_files(names)
    shards = [place.path(f"{number}.shard") for number in range(sharding.count)]
    # A cluster that does not answer is told before the work.
    crew = sharding.make_workers()
    try:
        look = Look(names)
        try:
            split, first_ns = _native.split_capture(names, asked, look, shards)
        except ValueError as error:
            raise MayflyError(" ".join(str(error).split())) from None
        jobs = [ReadShard(shard, shard.removesuffix(".shard"), asked, first_ns) for shard in shards]
        rows = _run(jobs, crew)
        look.end()
    finally:
        crew.close()
    counts = noted(json.loads(split.told([json.dumps(_of_shard(row)) for row in rows])))

    def total(name: str) -> int:
        return sum(row[name] for row in rows)

    counts["trains_left_out"] = total("trains_left_out")
    counts["volumes_left_out"] = total("volumes_left_out")
    counts["volume_width_s"] = max(row["volume_width_ns"] for row in rows) * 1e-9
    counts["stopped"] = look.stopped if counts["stopped"] else None
    if counts["stopped"]:
        counts["stopped"]["connections"] = total("rows") + total("left")
    volumes = [(row["volume_width_ns"], row["volumes_left_out"]) for row in rows]
    return Shards(tuple(job.into for job in jobs), counts, first_ns, volumes, place)


def _of_shard(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the compiled module told of a shard, without what a worker adds."""
    return {name: value for name, value in row.items() if name not in ("key", "status", "error")}


def _run(jobs: list[ReadShard], crew: Workers) -> list[dict[str, Any]]:
    """What was counted in each; a shard that was read is removed."""
    rows = dict[int, dict[str, Any]]()
    for place, row in run_all(jobs, crew):
        if row["status"] != "done":
            raise MayflyError(f"a shard of the captures could not be read: {row['error']}")
        rows[place] = row
        with contextlib.suppress(OSError):
            os.unlink(jobs[place].shard)
        if limits.told is not None:
            limits.told(f"{len(rows)} of {len(jobs)} shards read", len(rows) / len(jobs))
    return [rows[place] for place in sorted(rows)]


def told_of(shards: Shards) -> str:
    """What was counted, as the compiled module takes it."""
    return json.dumps(shards.counts | {"stopped": bool(shards.counts["stopped"])})
