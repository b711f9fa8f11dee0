"""A long capture offers its busiest minutes."""

import shutil
import subprocess
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from connection_captures import connection, write_ip
from hypothesis import given
from hypothesis import strategies as st
from invocation import mayfly_here

import mayfly
from mayfly.comparison.busiest import _by_minute, busiest_sentence

EPOCH_S = 1_700_000_000.0


def table(rows):
    starts, ends, carried = zip(*rows, strict=True)
    sent = {"opener_wire_bytes": carried, "responder_wire_bytes": [0] * len(rows)}
    return pl.DataFrame({"start_s": map(float, starts), "end_s": map(float, ends), **sent})


@given(st.lists(st.tuples(st.floats(0, 590), st.floats(0, 590), st.integers(1, 10**9)), min_size=1, max_size=20))
def test_bytes_of_minutes_are_those_of_the_connections(rows):
    rows = [(min(start, end), max(start, end), carried) for start, end, carried in rows]
    found = _by_minute(table(rows), 600.0)
    assert len(found) == 10
    expected = np.zeros(10)
    for start, end, carried in rows:
        for minute in range(10):
            inside = max(min(end, 60 * (minute + 1)) - max(start, 60 * minute), 0.0)
            alone = start // 60 == end // 60
            expected[minute] += carried * (minute == start // 60 if alone else inside / (end - start))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_short_captures_and_few_connections_offer_nothing():
    rows = [(0, 10, 1000), (700, 1000, 5000)]
    assert busiest_sentence(table(rows), EPOCH_S, 1700.0, "a.pcap") is None
    assert busiest_sentence(table(rows), None, 7200.0, "a.pcap") is None
    assert busiest_sentence(table([(0, 1, 0)]), EPOCH_S, 7200.0, "a.pcap") is None
    many = table([(0, 1, 10)] * 1_000_000 + [(120, 130, 10**9)])
    assert busiest_sentence(many, EPOCH_S, 600.0, "a b.pcap").startswith(
        "Its busiest minute has 99.0 % of the bytes and begins 2 min in: "
        "editcap -A 2023-11-14T22:15:20Z -B 2023-11-14T22:16:20Z 'a b.pcap' busiest.pcapng"
    )


def test_whatif_of_a_long_capture_says_it(tmp_path):
    rows = connection(0.0) + connection(3_500.0, port=1025)
    for at in range(20):
        rows += connection(1_300.0 + 20 * at, port=2000 + at)
    capture = write_ip(tmp_path / "long.pcap", sorted(rows, key=lambda row: row[0]))
    found = mayfly.whatif(capture, "10mbit", 100, disciplines="fifo", replications=1, overrides={"duration": "1s"})
    [said] = [note for note in found.summary["notes"] if "busiest 10 minutes" in note]
    # The first of the windows that hold all twenty.
    assert "have 90.9 % of the bytes and begin 19 min in: editcap -A " in said
    if shutil.which("editcap") is None:
        pytest.skip("not installed: editcap")
    _, _, line = said.partition(": ")
    command = line.partition(", and ask")[0].replace("busiest.pcapng", str(tmp_path / "busiest.pcapng"))
    subprocess.run(command, shell=True, check=True)
    assert mayfly.profile([tmp_path / "busiest.pcapng"], bootstrap=0).columns.height == 20


def test_it_is_said_before_anything_runs(tmp_path, monkeypatch):
    """Before, it was the last note of an answer that had taken all the minutes it would have saved."""
    rows = connection(0.0) + connection(3_500.0, port=1025)
    capture = write_ip(tmp_path / "long.pcap", rows)
    happened = []
    module = import_module("mayfly.comparison.whatif")
    run = module.run_replay
    monkeypatch.setattr(module, "run_replay", lambda *given, **more: happened.append("run") or run(*given, **more))
    short = {"disciplines": "fifo", "replications": 1, "overrides": {"duration": "1s"}}
    found = mayfly.whatif(capture, "10mbit", 100, tell=happened.append, **short)
    said, ran = happened
    assert said.startswith("Its busiest 10 minutes have ") and ran == "run"
    assert said in found.summary["notes"]
    arguments = (
        "--rate",
        "10mbit",
        "--buffer",
        100,
        "-n",
        1,
        "-d",
        "fifo",
        "--duration",
        "1s",
        "--out",
        tmp_path / "a",
    )
    ended = mayfly_here("whatif", capture, *arguments, "--json")
    assert ended.status == 0 and f"mayfly: {said}" in ended.err.splitlines()
    assert "busiest" not in mayfly_here("whatif", capture, *arguments, "--json", "-q").err
