"""Parquet of strangers: whatever is in it, the process that asks lives on."""

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invocation import mayfly, mayfly_here
from polars.testing import assert_frame_equal
from polars.testing.parametric import dataframes

from mayfly import limits
from mayfly.text import parquet
from mayfly.text.parquet import read_parquet, read_parquet_metadata

# What stays itself in a Parquet file, whoever reads it.
TYPES = [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Binary, pl.Date, pl.Null, pl.Categorical]


def content(frame, **how):
    kept = io.BytesIO()
    frame.write_parquet(kept, **how)
    return kept.getvalue()


def fatal():
    """A flow list whose first column says, by one byte, that a run of its values is longer than any memory."""
    found = bytearray(content(pl.DataFrame({"start_s": [0.0, 1.0], "size_bytes": [1, 2]}), compression="uncompressed"))
    # Two bytes of levels, in a run of two.
    at = found.index(bytes([2, 0, 0, 0, 4])) + 4
    found[at] = 1
    return bytes(found)


@settings(max_examples=60, deadline=None)
@given(frame=dataframes(max_cols=5, max_size=8, allowed_dtypes=TYPES), group=st.integers(1, 8))
def test_what_crosses_is_what_polars_reads(frame, group):
    kept = content(frame, row_group_size=group)
    assert_frame_equal(read_parquet(kept), pl.read_parquet(io.BytesIO(kept)))


def test_a_file_its_columns_and_what_it_says_of_itself(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    frame.write_parquet(tmp_path / "a.parquet", metadata={"k": "v"})
    assert read_parquet(tmp_path / "a.parquet", columns=["b"]).equals(frame.select("b"))
    assert read_parquet_metadata(tmp_path / "a.parquet")["k"] == "v"
    # The name is of the working directory as it is now, and is no pattern.
    monkeypatch.chdir(tmp_path)
    os.rename("a.parquet", "[a]*.parquet")
    assert read_parquet("[a]*.parquet").equals(frame)
    assert read_parquet(content(frame), most_rows=2).height == 2
    with pytest.raises(pl.exceptions.ComputeError, match="2 rows: at most 1"):
        read_parquet(content(frame), most_rows=1)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        read_parquet(content(frame), columns=["c"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [("absent", FileNotFoundError), (".", IsADirectoryError), ("/dev/zero", OSError), ("pipe", OSError)],
)
def test_what_is_no_file_is_refused(tmp_path, name, kind):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(kind):
        read_parquet(tmp_path / name)


def test_a_file_that_ends_the_process_that_reads_it_is_damaged():
    with pytest.raises(pl.exceptions.PolarsError, match="damaged"):
        read_parquet(fatal())
    # And the next one is read.
    assert read_parquet(content(pl.DataFrame({"a": [1]}))).height == 1


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "wired", "--discipline", "fifo", "--flows"),
        ("workload", "convert"),
        ("estimate", "--rate", "1mbit", "--rtt", "1s"),
    ],
)
def test_commands_refuse_it_in_one_line(tmp_path, command):
    (tmp_path / "a.parquet").write_bytes(fatal())
    more = [tmp_path / "b.csv"] if command[0] == "workload" else []
    ended = mayfly(*command, tmp_path / "a.parquet", *more)
    assert ended.status == 2
    assert ended.err.count("\n") == 1 and "damaged" in ended.err


def test_records_of_a_sweep_are_not_read_by_duckdb(tmp_path):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(
        'scenario = "wired"\ndisciplines = "fifo"\nrecords = true\nwarm_up = "none"\n[set]\nduration = "1s"'
    )
    assert mayfly_here("sweep", "run", plan, "--out", out, "--workers", 1).status == 0
    (kept,) = (out / "records").iterdir()
    kept.write_bytes(fatal())
    ended = mayfly_here("sweep", "query", out, "select count(*) from records")
    assert ended.status == 2 and kept.name in ended.err and ended.err.count("\n") == 1


@settings(max_examples=200, deadline=None)
@given(at=st.integers(0, 4000), junk=st.binary(min_size=1, max_size=8), cut=st.none() | st.integers(0, 4000))
def test_any_change_is_a_table_or_an_error(at, junk, cut):
    found = bytearray(content(pl.DataFrame({"a": [0.0, None], "b": ["x", "y" * 40]}), compression="uncompressed"))
    at %= len(found)
    found[at : at + len(junk)] = junk
    try:
        read_parquet(bytes(found[: None if cut is None else cut % len(found)]))
    except pl.exceptions.PolarsError as error:
        assert str(error)


def test_threads_take_turns():
    frames = [pl.DataFrame({"a": np.arange(number)}) for number in range(8)]
    found = {}

    def read(number):
        for _ in range(5):
            found[number] = read_parquet(content(frames[number]))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number].equals(frame) for number, frame in enumerate(frames))


def test_its_memory_counts_and_is_given_back(monkeypatch):
    read_parquet(content(pl.DataFrame({"a": [1]})))
    (process,) = limits.counted
    before = limits.taken_bytes()
    monkeypatch.setattr(limits, "counted", set())
    assert before > limits.taken_bytes() + 10_000_000
    monkeypatch.undo()
    # One that sent a large table is ended.
    large = pl.DataFrame({"a": np.random.default_rng(1).random(parquet._LARGE_BYTES // 8 + 1)})
    assert read_parquet(content(large)).equals(large)
    assert not limits.counted and not _runs(process)


def test_an_interrupt_in_the_middle_leaves_nothing_behind(monkeypatch):
    def interrupted(answer):
        answer.readline()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "_received", interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_parquet(content(pl.DataFrame({"a": [1]})))
    assert read_parquet(content(pl.DataFrame({"a": [2]})))["a"].to_list() == [2]


def test_a_fork_has_a_process_of_its_own():
    read_parquet(content(pl.DataFrame({"a": [1]})))
    before, after = limits.counted.copy(), parquet._PROCESS
    child = os.fork()
    if child == 0:
        os._exit(0 if after._process is None and not limits.counted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert limits.counted == before


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_it_ends_with_the_process_that_asked(tmp_path, end):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    code = (
        "import sys, time\nfrom mayfly import limits\nfrom mayfly.text.parquet import read_parquet\n"
        "read_parquet(sys.argv[1])\nprint(*limits.counted, flush=True)\ntime.sleep(60)"
    )
    command = [sys.executable, "-c", code, tmp_path / "a.parquet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        process = int(parent.stdout.readline())
        assert _runs(process)
        getattr(parent, end)()
    until = time.monotonic() + 10
    while _runs(process):
        assert time.monotonic() < until, "it lives on"
        time.sleep(0.02)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
