"""Folders of what does not fit into memory are gone, however the process ends."""

import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mayfly.errors import MayflyError
from mayfly.text.files import UNFINISHED, in_use, remove_unfinished
from mayfly.text.folder import UNFINISHED_FOLDER
from mayfly.text.waiting import MADE_S, NAMED, WaitingFolder, roomy

STOPPED = """
import time
from mayfly.cli.process import limit
from mayfly.profile.shards import ShardFolder
from mayfly.text.waiting import WaitingFolder
from pathlib import Path

limit(None, "1s")
folders = [WaitingFolder(), ShardFolder(None)]
for folder in folders:
    Path(folder.name, "left.parquet").write_bytes(b"rows")
print(len(folders), flush=True)
time.sleep(60)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_large_files_are_on_a_disk_unless_a_variable_says_where(tmp_path, monkeypatch):
    for name in NAMED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("mayfly.text.waiting.ON_DISK", tmp_path)
    assert roomy() == tmp_path
    monkeypatch.setattr("mayfly.text.waiting.ON_DISK", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", "/elsewhere")
    assert roomy() == Path("/elsewhere")
    monkeypatch.setattr("mayfly.text.waiting.ON_DISK", tmp_path)
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert roomy() == Path("/elsewhere")


def test_a_folder_is_removed_with_its_object(place):
    folder = WaitingFolder()
    path = Path(folder.name)
    (path / "column").write_bytes(b"1")
    assert path in UNFINISHED
    with in_use(path) as free:
        assert not free
    folder.cleanup()
    del folder
    gc.collect()
    assert path not in UNFINISHED and not path.exists()


def test_a_process_that_a_limit_ends_at_once_leaves_no_folder(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", STOPPED], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout.split()) == (2, ["2"])
    assert ended.stderr.startswith("mayfly: stopped at 1 s") and ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_files_that_come_while_a_folder_is_removed_go_too(place, monkeypatch):
    from mayfly.text import files

    folder, removed = WaitingFolder(), files.shutil.rmtree
    path = Path(folder.name)
    calls = []

    def disturbed(path, ignore_errors):
        calls.append(path)
        if len(calls) == 1:
            return
        removed(path, ignore_errors=ignore_errors)

    with monkeypatch.context() as patched:
        patched.setattr(files.shutil, "rmtree", disturbed)
        remove_unfinished()
    assert len(calls) == 2 and not path.exists()


def test_what_a_killed_process_left_is_removed_by_the_next_one(place):
    names = ("killed", "locked", "new", "link")
    killed, locked, new, link = (place / f"{UNFINISHED_FOLDER}{name}" for name in names)
    for path in (killed, locked, new, place / "mayfly-mine"):
        path.mkdir()
        (path / "left.parquet").write_bytes(b"rows")
    link.symlink_to(place / "mayfly-mine")
    old_s = time.time() - 2 * MADE_S
    for path in (killed, locked, link, place / "mayfly-mine"):
        os.utime(path, (old_s, old_s), follow_symlinks=False)
    with in_use(locked):
        WaitingFolder()
    assert not killed.exists()
    assert all((path / "left.parquet").exists() for path in (locked, new, place / "mayfly-mine"))


def test_without_a_place_for_temporary_files_it_is_one_line(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/proc/self/none")
    monkeypatch.setattr("mayfly.text.waiting.ON_DISK", Path("/nowhere"))
    with pytest.raises(MayflyError, match="TMPDIR: no folder for temporary files: No such file or directory"):
        WaitingFolder()
