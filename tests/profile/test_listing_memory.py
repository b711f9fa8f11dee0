"""`mayfly profile --connections` within a budget of memory: the same rows, from a file, and a peak below it."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from invocation import COMMAND, PLAIN
from polars.testing import assert_frame_equal

STREAM = Path(__file__).parents[2] / "benchmarks/captures.py"
CONNECTIONS = 100_000
MEASURED = """
import os, resource, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
status = os.waitstatus_to_exitcode(os.wait4(child, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(status)
"""
"""Runs a command from a process so small that the peak is the command's."""


def profiled(kind: str, folder: Path, *options: str) -> tuple[dict, pl.DataFrame, int]:
    """Document, rows and peak of memory in bytes of a stream of ten packets a connection."""
    made = [sys.executable, STREAM, "--stream", kind, "--connections", str(CONNECTIONS)]
    command = [*COMMAND, *options, "profile", "-", "--connections", "--out", folder, "--json"]
    with subprocess.Popen(made, stdout=subprocess.PIPE) as source:
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED, *map(str, command)], stdin=source.stdout, capture_output=True, env=PLAIN
        )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), pl.read_parquet(folder / "connections.parquet"), int(ended.stderr.split()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["whole", "peers"])
def test_a_small_budget_lists_what_a_large_one_does(kind, tmp_path):
    whole, rows, _ = profiled(kind, tmp_path / "whole")
    part, left, peak_bytes = profiled(kind, tmp_path / "part", "--memory", "300mb")
    assert (whole["counts"]["evicted"], part["counts"]["stopped"]) == (0, None)
    assert part["counts"]["evicted"] == 0 and whole["dataset"]["connections"] == CONNECTIONS
    assert (part["dataset"], part["site"]) == (whole["dataset"], whole["site"])
    assert_frame_equal(left.sort("connection_id"), rows)
    assert peak_bytes < 300e6


@pytest.mark.slow
def test_a_flood_within_a_small_budget_is_summed_up(tmp_path):
    part, left, peak_bytes = profiled("flood", tmp_path, "--memory", "300mb")
    counts = part["counts"]
    assert counts["stopped"] is None and counts["packets"] == CONNECTIONS
    assert counts["unanswered"]["connections"] + left.height == CONNECTIONS and left.height < CONNECTIONS // 2
    assert peak_bytes < 300e6


def test_who_makes_a_stream_says_in_one_line_that_nobody_reads_on():
    made = [sys.executable, STREAM, "--stream", "whole", "--connections", str(CONNECTIONS)]
    with subprocess.Popen(made, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as source:
        source.stdout.read(10)
        source.stdout.close()
        said = source.stderr.read()
    assert said == b"captures.py: who reads stopped before the end of the stream\n"
