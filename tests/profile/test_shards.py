"""Captures read by many processes, beside one: the same tables, the same documents, whatever dies on the way."""

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from invocation import heed_interrupts
from polars.testing import assert_frame_equal
from test_listing import exchange, packet, written

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.profile.listed import listed
from mayfly.profile.shards import ReadShard, ShardFolder, Sharding, read_shards, sharding_of
from mayfly.workers.certificates import make_certificates, security
from mayfly.workers.workers import Dask, Local

ROOT = Path(__file__).parents[2]
OFFICE, TINY = ROOT / "captures/office.pcap.gz", ROOT / "tests/data/tiny.pcapng.gz"
PATIENCE_S = 120
SYN = 2


class Here:
    """Runs each job at once, in this process."""

    def __init__(self):
        self.done = []

    def room(self):
        return not self.done

    def busy(self):
        return bool(self.done)

    def submit(self, job, key):
        self.done.append((key, job.run(key)))

    def wait(self):
        while self.done:
            yield self.done.pop()

    def close(self):
        pass


def here(count: int, folder: Path) -> Sharding:
    return Sharding(Here, count, folder)


def series(folder: Path) -> list[Path]:
    """Four files that follow one another, named against their order: half of them in gzip."""
    rows = [row for at in range(300) for row in exchange(7_000 * at, f"10.0.0.{at % 50}", "192.0.2.1", 5000 + at)]
    rows.sort(key=lambda row: row[0])
    parts = []
    for place, (begin, end) in enumerate([(0, 500), (500, 501), (501, 1300), (1300, len(rows))]):
        part = written(folder / f"part-{9 - place}.pcap", rows[begin:end])
        zipped = part.with_suffix(".pcap.gz")
        zipped.write_bytes(gzip.compress(part.read_bytes()))
        parts.append(zipped if place % 2 else part)
    return sorted(parts)


def same_list(captures, folder: Path, sharding: Sharding, internal=None) -> None:
    ours, theirs = listed(captures, internal=internal, sharding=sharding), listed(captures, internal=internal)
    assert json.dumps(ours.document()) == json.dumps(theirs.document())
    assert ours.sentences() == theirs.sentences()
    files = [found.write(folder / name)["connections"] for name, found in (("ours", ours), ("theirs", theirs))]
    assert_frame_equal(*(pl.read_parquet(path) for path in files))
    one, two = (pl.read_parquet_metadata(path) for path in files)
    assert {name: one[name] for name in one if name.startswith("mayfly.")} == {
        name: two[name] for name in two if name.startswith("mayfly.")
    }


def same_profile(captures, sharding: Sharding, **more) -> None:
    ours, theirs = profile(captures, sharding=sharding, bootstrap=0, **more), profile(captures, bootstrap=0, **more)
    assert json.dumps(ours.document()) == json.dumps(theirs.document())
    assert_frame_equal(ours.frame, theirs.frame)
    assert_frame_equal(ours.connections.volumes, theirs.connections.volumes)
    if more.get("trains"):
        assert theirs.connections.trains.height > 0
        assert_frame_equal(ours.connections.trains, theirs.connections.trains)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_office_is_listed_as_by_one_process(tmp_path, count):
    shards = tmp_path / "shards"
    shards.mkdir()
    same_list([OFFICE], tmp_path, here(count, shards), ["10.10.0.0/24"])
    assert not list(shards.iterdir())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_office_is_profiled_as_by_one_process(tmp_path, count):
    same_profile([OFFICE], here(count, tmp_path), internal=["10.10.0.0/24"], trains=True)
    assert not list(tmp_path.iterdir())


def test_other_captures_are_read_as_by_one_process(tmp_path):
    (tmp_path / "shards").mkdir()
    same_list([TINY], tmp_path, here(3, tmp_path / "shards"))
    parts = series(tmp_path)
    same_list(parts, tmp_path, here(3, tmp_path / "shards"))
    same_profile(parts, here(3, tmp_path / "shards"), trains=True)


def test_windows_are_as_wide_as_those_of_one_process(tmp_path, monkeypatch):
    # Of fewer rows than there are directions, 1,414, one process has all packets, and several say which are left out.
    for most in (20_000, 3_000, 1_414):
        monkeypatch.setattr("mayfly.profile.table.MOST_VOLUMES", most)
        same_profile([OFFICE], here(5, tmp_path))


def test_what_one_process_refuses_is_refused(tmp_path):
    empty = written(tmp_path / "empty.pcap", [])
    for captures, internal in (
        ([OFFICE], ["192.0.2.0/24"]),
        ([OFFICE], ["10.0.0.1/8"]),
        ([empty], None),
        ([ROOT], None),
    ):
        said = []
        for sharding in (here(2, tmp_path), None):
            with pytest.raises(MayflyError) as caught:
                listed(captures, internal=internal, sharding=sharding)
            said.append(str(caught.value))
        assert said[0] == said[1]
    assert [path.name for path in tmp_path.iterdir()] == ["empty.pcap"]


def test_what_cannot_be_split_is_refused_in_one_line(tmp_path):
    rows = [row for at in range(9) for row in exchange(10_000 * at, "10.0.0.1", "192.0.2.1", 5000 + at)]
    taps = [written(tmp_path / name, rows) for name in ("one.pcap", "two.pcap")]
    for captures in (taps, [taps[0], Path("-")]):
        for read in (listed, profile):
            with pytest.raises(MayflyError, match=r"^captures of the same time.*: read them in one process$"):
                read(captures, sharding=here(2, tmp_path))
    table = listed([OFFICE]).write(tmp_path / "out")["connections"]
    with pytest.raises(MayflyError, match="a table of connections is read at once"):
        listed([table], sharding=here(2, tmp_path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "0"], "--workers 0: must be from 1 to 4096"),
        (["--workers", "2", "--cluster", "dask://a:1"], "--workers 2: must be left out with --cluster"),
        (["--cluster", "dask://a:1"], "must be with --shards DIR, a folder that its workers see"),
        (["--cluster", "a:1", "--shards", "."], "must be tls://HOST:PORT or dask://HOST:PORT"),
        (["--cluster", "tls://a:1", "--shards", "."], "must be with --cluster-certificates DIR"),
        (["--shards", "."], "--shards .: must be with --workers or --cluster"),
        (["--workers", "1", "--shards", "none"], "--shards none: no folder to write in: No such file"),
    ],
)
def test_options_that_contradict_are_one_line_and_status_2(tmp_path, options, said):
    command = [sys.executable, "-m", "mayfly.cli", "profile", OFFICE, *options, "--out", tmp_path / "out"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2 and said in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
    assert not list(tmp_path.iterdir())


def test_connections_beyond_the_limit_are_listed_all_the_same(tmp_path, monkeypatch):
    """Which ones leave early depends on the shards; none is lost."""
    rows = [
        row for at in range(500) for row in exchange(2_000 * at, f"10.0.{at % 7}.{at % 50}", "192.0.2.1", 5000 + at)
    ]
    capture = written(tmp_path / "many.pcap", rows)
    whole = listed([capture])
    monkeypatch.setattr(Sharding, "max_held", lambda self: 20)
    found = listed([capture], sharding=here(3, tmp_path))
    assert found.counts["evicted"] == 0
    assert found.dataset == whole.dataset and found.site == whole.site
    ours, theirs = (pl.read_parquet(each.write(tmp_path / "out")["connections"]) for each in (found, whole))
    assert not ours["connection_id"].is_sorted()
    assert_frame_equal(ours.sort("connection_id"), theirs)


def test_a_flood_is_summed_up(tmp_path, monkeypatch):
    flood = [(at * 10, packet(f"2.{at // 250}.{at % 250}.9", "10.0.0.1", (5000, 80), at, 0, SYN)) for at in range(3000)]
    capture = written(tmp_path / "flood.pcap", flood)
    monkeypatch.setattr(Sharding, "max_held", lambda self: 100)
    found = listed([capture], sharding=here(5, tmp_path))
    assert found.counts["unanswered"] == {"connections": 2500, "packets": 2500, "bytes": 2500 * 40}
    assert found.dataset["connections"] == 500


def wait_for(what, said: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end, said
        time.sleep(0.02)


class Dying(Local):
    """Kills the process of the third job that is handed out, once."""

    handed = 0

    def submit(self, job, key):
        super().submit(job, key)
        self.handed += 1
        if self.handed == 3:
            wait_for(lambda: self._pool._processes, "no worker started")
            os.kill(next(iter(self._pool._processes)), signal.SIGKILL)


def test_a_worker_that_dies_costs_its_time_only(tmp_path):
    crews = []

    def dying():
        crews.append(Dying(2))
        return crews[-1]

    same_list([OFFICE], tmp_path, Sharding(dying, 5, None, 2))
    assert crews[0].handed > 5


def test_a_shard_that_no_worker_reads_ends_it(tmp_path, monkeypatch):
    monkeypatch.setattr(ReadShard, "run", lambda self, key: self.lost(key, "too much"))
    with pytest.raises(MayflyError, match=r"^a shard of the captures could not be read: too much$"):
        read_shards([str(OFFICE)], here(2, tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_job_that_ran_before_gives_the_same_again(tmp_path):
    """Its worker died when its work was done and nobody knew."""
    from mayfly import _native
    from mayfly.workload.reading import ReadOptions

    options, shard = ReadOptions().for_files([str(OFFICE)]), str(tmp_path / "0.shard")
    _, first_ns = _native.split_capture([str(OFFICE)], options, lambda *_: True, [shard])
    job = ReadShard(shard, str(tmp_path / "0"), options, first_ns)
    assert job.run("a")[0] | {"key": "b"} == job.run("b")[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "0.shard"]
    os.truncate(shard, 1000)
    assert "no whole shard" in job.run("c")[0]["error"]
    os.unlink(shard)
    assert "No such file" in job.run("d")[0]["error"]


def test_after_an_interrupt_no_shard_is_left(tmp_path):
    shards, out = tmp_path / "shards", tmp_path / "out"
    shards.mkdir()
    command = [
        sys.executable,
        "-m",
        "mayfly.cli",
        "profile",
        "-",
        "--connections",
        "--workers",
        "2",
        "--shards",
        shards,
    ]
    process = subprocess.Popen(
        [*command, "--out", out],
        stdin=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe, gzip.open(OFFICE) as office:
        pipe.write(office.read())
        pipe.flush()
        wait_for(lambda: list(shards.glob("*/*.shard")), "no shard is written")
        os.killpg(process.pid, signal.SIGINT)
        ends_s = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < ends_s:
            # What reads looks for signals between packets.
            pipe.write(bytes(1 << 16))
            pipe.flush()
    assert process.wait(PATIENCE_S) == 130
    assert not list(shards.iterdir()) and not out.exists()


class Interrupted(Local):
    """Who waits for the second shard that is read is interrupted, while workers read and write others."""

    def wait(self):
        for result in super().wait():
            if getattr(self, "came", False):
                raise KeyboardInterrupt
            self.came = True
            yield result


def test_after_an_interrupt_of_the_workers_no_shard_is_left(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        listed([OFFICE], sharding=Sharding(lambda: Interrupted(2), 16, tmp_path, 2))
    assert not list(tmp_path.iterdir())


def test_what_was_asked_for_is_told():
    assert sharding_of() is None
    asked = sharding_of(3)
    assert (asked.count, asked.processes) == (12, 3)
    with pytest.raises(MayflyError, match="count = 1025: must be 1 to 1024"):
        Sharding(Here, 1025)


def test_a_folder_of_shards_goes_away_with_what_is_in_it(tmp_path):
    folder = ShardFolder(tmp_path)
    Path(folder.path("a")).mkdir()
    Path(folder.path("a/b")).write_bytes(b"c")
    folder.remove()
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_a_cluster_loses_a_worker_in_mid_run(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    (tmp_path / "shards").mkdir()
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        lost = []

        class Losing(Dask):
            """Kills a worker when the first result is there."""

            def wait(self):
                for result in super().wait():
                    if not lost:
                        lost.append(next(iter(cluster.workers.values())).pid)
                        os.kill(lost[0], signal.SIGKILL)
                    yield result

        same_list([OFFICE], tmp_path, Sharding(lambda: Losing(address), 16, tmp_path / "shards"))
        assert lost
        same_profile([OFFICE], sharding_of(cluster=address, folder=tmp_path / "shards"), trains=True)
    assert not list((tmp_path / "shards").iterdir())


@pytest.mark.slow
def test_a_cluster_by_tls_reads_the_same(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    make_certificates(tmp_path / "one")
    make_certificates(tmp_path / "other")
    (tmp_path / "shards").mkdir()
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**how, protocol="tls", security=security(tmp_path / "one")) as cluster:
        address, folder = cluster.scheduler_address, tmp_path / "shards"
        assert address.startswith("tls://")
        same_profile([OFFICE], sharding_of(None, address, tmp_path / "one", folder), trains=True)
        with pytest.raises(MayflyError, match="no scheduler with these certificates answers"):
            profile([OFFICE], sharding=sharding_of(None, address, tmp_path / "other", folder))
    assert not list((tmp_path / "shards").iterdir())
