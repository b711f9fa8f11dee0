"""A folder of results that is damaged, foreign or shared: it is named, set aside, and nothing else is touched."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from files import grid, plan_of
from hypothesis import given, settings
from hypothesis import strategies as st
from invocation import mayfly_here, refused_here

from mayfly.errors import MayflyError
from mayfly.sweep import store as stores
from mayfly.sweep.answer import answer
from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import sweep
from mayfly.sweep.store import DamagedError, Store
from mayfly.workers.workers import Local


def row(key: str = "a", **more: object) -> dict[str, object]:
    return {"key": key, "status": "done", "error": None, "discipline": "fifo", "seed": 1, "short.mean_s": 0.1} | more


def filled(folder: Path, rows: int = 3) -> Store:
    """One shard, and one row that is not in it."""
    store = Store(folder, create=True)
    for number in range(rows):
        store.add(row(f"in{number}"))
    store.gather()
    store.add(row("loose"))
    return store


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_file_is_refused_and_its_target_is_left(tmp_path, kind):
    plan, out, mine = load_plan(grid(tmp_path)), tmp_path / "out", tmp_path / "mine.txt"
    Store(out, create=True)
    mine.write_text("my thesis")
    for name in (".lock", ".lock-1-of-1"):
        lock = out / name
        if kind == "link":
            lock.symlink_to(mine)
        elif kind == "pipe":
            os.mkfifo(lock)
        else:
            lock.mkdir()
        with pytest.raises(MayflyError, match="cannot be locked"):
            sweep(plan, out, make_workers=lambda: pytest.fail("nothing runs"))
        lock.rmdir() if kind == "folder" else lock.unlink()
    assert mine.read_text() == "my thesis"


@pytest.mark.parametrize("name", stores.FOLDERS)
def test_folders_behind_links_are_not_written(tmp_path, name):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    Store(out, create=True)
    elsewhere.mkdir()
    (out / name).rmdir()
    (out / name).symlink_to(elsewhere)
    with pytest.raises(MayflyError, match="symbolic link in the folder of a sweep"):
        Store(out, create=True)


def test_a_folder_of_somebody_else_is_not_written(tmp_path, monkeypatch):
    Store(tmp_path / "out", create=True)
    monkeypatch.setattr(stores.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(MayflyError, match="belongs to another user"):
        Store(tmp_path / "out", create=True)


DAMAGE = {
    "empty": b"",
    "cut": b'{"key": "loose", "stat',
    "no text": b"\xff\xfe\x00",
    "a list": b"[]",
    "nothing in it": b"{}",
    "of another key": b'{"key": "other", "status": "done"}',
    "deep": b"[" * 100_000,
    "not finite": b'{"key": "loose", "status": "done", "drops": NaN}',
    "a table for a figure": b'{"key": "loose", "status": "done", "drops": {"a": 1}}',
    "a vast number": b'{"key": "loose", "status": "done", "drops": 1' + b"0" * 400 + b"}",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_row_is_named_set_aside_and_run_again(tmp_path, kind):
    store = filled(tmp_path / "out")
    path = store.folder / "runs" / "loose.json"
    path.write_bytes(DAMAGE[kind])
    with pytest.raises(DamagedError, match=r"runs/loose.json: damaged: .*mayfly sweep check"):
        Store(store.folder).rows()
    with pytest.raises(DamagedError):
        Store(store.folder, create=True).gather(left_behind=True)
    found = Store(store.folder, create=True).check()
    assert (found.rows, [error.path for error in found.damaged]) == (3, [path])
    assert (store.folder / "damaged" / "loose.json").read_bytes() == DAMAGE[kind]
    assert set(Store(store.folder).rows()) == {"in0", "in1", "in2"}


def test_every_single_bit_of_a_shard_and_of_a_row_counts(tmp_path):
    store = filled(tmp_path / "out")
    (shard,) = (store.folder / "shards").iterdir()
    for path in (shard, store.folder / "runs" / "loose.json"):
        content = path.read_bytes()
        for place in range(0, len(content), max(len(content) // 200, 1)):
            changed = bytearray(content)
            changed[place] ^= 1 << place % 8
            path.write_bytes(changed)
            # A blank more in JSON says the same; nothing else passes.
            with contextlib.suppress(DamagedError):
                assert Store(store.folder).rows()["loose"] == row("loose") and path.suffix == ".json"
        path.write_bytes(content)
    assert len(Store(store.folder).rows()) == 4


@pytest.mark.parametrize("kind", ["no key", "link", "pipe", "not parquet", "empty"])
def test_shards_of_strangers(tmp_path, kind):
    store = filled(tmp_path / "out")
    path = store.folder / "shards" / ("0" * 32 + ".parquet")
    if kind == "no key":
        pl.DataFrame({"x": [1]}).write_parquet(path)
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"" if kind == "empty" else b"PAR1" + bytes(100) + b"PAR1")
    said = refused_here("sweep", "query", store.folder)
    assert path.name in said and "damaged" in said
    ended = mayfly_here("sweep", "check", store.folder, "--json")
    assert ended.status == 0 and [Path(file["file"]).name for file in ended.document["damaged"]] == [path.name]
    assert len(Store(store.folder).rows()) == 4


@given(st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_whatever_a_file_holds_it_is_a_row_or_damaged(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("store") / "out"
    store = Store(folder, create=True)
    (folder / "runs" / "x.json").write_bytes(content)
    (folder / "shards" / "x.parquet").write_bytes(content)
    assert len(store.check().damaged) == 2


def test_a_shard_of_an_earlier_version_is_read_and_counted(tmp_path):
    store = filled(tmp_path / "out")
    (shard,) = (store.folder / "shards").iterdir()
    shard.rename(shard.with_name("0123456789abcdef" * 2 + ".parquet"))
    (store.folder / "runs" / "loose.json").write_text(json.dumps(row("loose")))
    found = store.check()
    assert (found.rows, found.damaged, found.unsigned) == (4, [], 1)


def test_rows_that_are_gathered_meanwhile_are_seen(tmp_path, monkeypatch):
    """Another process gathers between the reading of the two folders: each order of the steps in turn."""
    for step in ("before", "after"):
        store = filled(tmp_path / step)
        reading, read = Store(store.folder), {"shards": Store._shards, "loose": Store._loose}

        def gathering(self, name, step=step, store=store, read=read):
            other = Store(store.folder, create=True)
            if step == "before":
                other.gather(left_behind=True)
            found = list(read[name](self))
            if step == "after":
                other.gather(left_behind=True)
            return found

        with monkeypatch.context() as patch:
            # Only the reader of this test is disturbed, and only once for each folder.
            patch.setattr(reading, "_shards", lambda: gathering(reading, "shards"))  # noqa: B023
            patch.setattr(reading, "_loose", lambda: iter(gathering(reading, "loose")))  # noqa: B023
            assert set(reading.rows()) == {"in0", "in1", "in2", "loose"}


def test_parts_of_different_divisions_do_not_run_at_once(tmp_path):
    store = Store(tmp_path / "out", create=True)
    with store.alone((0, 2)):
        with store.alone((1, 2)):
            pass
        for other in ((0, 1), (0, 3), (0, 2)):
            with pytest.raises(MayflyError, match="another process runs this sweep there"), store.alone(other):
                pass
    with store.alone((0, 1)), pytest.raises(MayflyError, match="another"), store.alone((1, 2)):
        pass
    with store.alone((0, 3)):
        pass


def test_what_killed_writers_left_is_removed(tmp_path):
    store = filled(tmp_path / "out")
    left = store.folder / "records" / ".a.parquet.0123456789abcdef.partial"
    left.write_bytes(b"half")
    with store.alone((0, 1)):
        assert not left.exists()


def test_damage_is_run_again(tmp_path):
    plan, out = load_plan(grid(tmp_path, seeds=1)), tmp_path / "out"
    first = sweep(plan, out, make_workers=lambda: Local(2))
    (shard,) = (out / "shards").iterdir()
    shard.write_bytes(shard.read_bytes()[:-9])
    with pytest.raises(MayflyError, match="sweep check"):
        sweep(plan, out, make_workers=lambda: Local(2))
    assert len(Store(out, create=True).check().damaged) == 1
    again = sweep(plan, out, make_workers=lambda: Local(2))
    same = [{r["key"]: r["short.mean_s"] for r in done.rows} for done in (first, again)]
    assert again.ran == 8 and same[0] == same[1]


def test_a_sweep_whose_runs_all_failed_says_so_by_its_status(tmp_path):
    text = 'scenario = "wired"\ndisciplines = "fifo"\nwarm_up = "100s"\n[set]\nduration = "3s"'
    plan = plan_of(tmp_path, text)
    assert answer(sweep(plan, tmp_path / "there", make_workers=lambda: Local(1)), "there").all_failed()
    ended = mayfly_here("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out", "--workers", 1, "--json")
    assert ended.status == 3 and ended.document["failures"]


def test_workers_end_with_the_process_that_started_them(tmp_path):
    """Before: kill -9 of the parent left its workers at work, and their memory taken."""
    code = """
import os, sys
from mayfly.workers.workers import Local
if __name__ == "__main__":
    local = Local(2)
    print(*(local._pool.submit(os.getpid).result() for _ in range(1)), flush=True)
    import time; time.sleep(60)
"""
    (tmp_path / "parent.py").write_text(code)
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while _runs(worker):
        assert time.monotonic() < end, "the worker lives on"
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
