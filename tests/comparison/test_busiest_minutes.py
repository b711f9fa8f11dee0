"""A long capture offers its busiest minutes."""

from datetime import UTC, datetime, timedelta
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from connection_captures import connection, write_ip
from hypothesis import given
from hypothesis import strategies as st
from invocation import mayfly_here, refused_here

import mayfly
from mayfly.comparison.busiest import busiest_sentence
from mayfly.workload.load_by_time import load_of


def table(rows):
    starts, ends, carried = zip(*rows, strict=True)
    sent = {"opener_wire_bytes": carried, "responder_wire_bytes": [0] * len(rows)}
    return pl.DataFrame({"start_s": map(float, starts), "end_s": map(float, ends), **sent})


@given(st.lists(st.tuples(st.floats(0, 590), st.floats(0, 590), st.integers(1, 10**9)), min_size=1, max_size=20))
def test_bytes_of_minutes_are_those_of_the_connections(rows):
    rows = [(min(start, end), max(start, end), carried) for start, end, carried in [*rows, (599.0, 599.5, 1)]]
    found = load_of(table(rows), 60.0)
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
    assert busiest_sentence(table(rows), 1700.0) is None
    assert busiest_sentence(table([(0, 1, 0)]), 7200.0) is None
    many = table([(0, 1, 10)] * 1_000_000 + [(120, 130, 10**9)])
    said = "Its busiest minute has 99.0 % of the bytes and begins 2 min in: --from 2min --to 3min asks of it alone"
    assert busiest_sentence(many, 600.0) == said


def long_capture(tmp_path):
    """Two connections an hour apart, and twenty in some minutes between."""
    rows = connection(0.0) + connection(3_500.0, port=1025)
    for at in range(20):
        rows += connection(1_300.0 + 20 * at, port=2000 + at)
    return write_ip(tmp_path / "long.pcap", sorted(rows, key=lambda row: row[0]))


def test_whatif_of_a_long_capture_says_it(tmp_path):
    capture = long_capture(tmp_path)
    found = mayfly.whatif(capture, "10mbit", 100, disciplines="fifo", replications=1, overrides={"duration": "1s"})
    [said] = [note for note in found.summary["notes"] if "busiest 10 minutes" in note]
    # The first of the windows that hold all twenty.
    assert said.endswith("have 90.9 % of the bytes and begin 19 min in: --from 19min --to 29min asks of these alone")
    options = said.partition(": ")[2].partition(" asks")[0].split()
    arguments = ["profile", capture, "--bootstrap", "0", "--out", tmp_path / "out", "--json"]
    found = mayfly_here(*arguments, *options).document
    assert found["dataset"]["connections"] == 20
    assert found["counts"]["span"] == {"begins_s": 1140.0, "ends_s": 1740.0}


def test_the_busiest_time_is_found_and_counts_alone(tmp_path):
    capture = long_capture(tmp_path)
    arguments = ["profile", capture, "--bootstrap", "0", "--out", tmp_path / "out"]
    found = mayfly_here(*arguments, "--busiest", "8min", "--json").document
    assert found["dataset"]["connections"] == 20
    begins_s = found["counts"]["span"]["begins_s"]
    assert 1_220 <= begins_s <= 1_300 and found["counts"]["span"]["ends_s"] == pytest.approx(begins_s + 480)
    packets, left = found["counts"]["packets"], found["counts"]["filtered"]
    assert packets * 22 == 20 * (packets + left)
    said = " ".join(mayfly_here(*arguments, "--busiest", "8min").out.split())
    assert f"after the first packet: {packets} of {packets + left} packets (90.9 %) count" in said
    asked = ["whatif", capture, "--rate", "10mbit", "--buffer", "100", "-n", "1", "-d", "fifo", "--out", tmp_path / "w"]
    answer = mayfly_here(*asked, "--busiest", "8min", "--json").document
    assert answer["capture"]["span_s"] < 480
    assert any("(90.9 %) count" in note for note in answer["notes"])
    assert not any("busiest" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--from", "20min"], 21),
        (["--to", "20min"], 1),
        (["--from", "21min", "--to", "50min"], 20),
        (["--from", "{:%H:%M:%S}", "--to", "{:%Y-%m-%dT%H:%M:%S}"], 20),
        (["--from", "{:%Y-%m-%dT%H:%M:%S}+00:00"], 21),
    ],
)
def test_times_may_be_given_in_any_way(tmp_path, options, kept):
    capture = long_capture(tmp_path)
    arguments = ["profile", capture, "--bootstrap", "0", "--out", tmp_path / "out", "--json"]
    first = datetime.fromtimestamp(mayfly_here(*arguments).document["counts"]["first_epoch_s"], UTC)
    # 20 and 50 minutes after the first packet.
    times = (first + timedelta(minutes=minutes) for minutes in (20, 50))
    given = [option.format(next(times)) if "{" in option else option for option in options]
    assert mayfly_here(*arguments, *given).document["dataset"]["connections"] == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--from", "20min", "--to", "10min"], "--to 10min: must be after --from, 20min"),
        (["--from", "soon"], "--from"),
        (["--from", "25:00"], "--from 25:00: must be a time since the first packet such as 20min, or 14:30"),
        (["--busiest", "10min", "--to", "1h"], "--busiest 10min: must be given without --from and --to"),
        (["--busiest", "0s"], "--busiest 0s: must be longer than 0"),
        (["--from", "2h"], "from 7,200 s to the end: 0 of"),
    ],
)
def test_other_times_are_refused_in_one_line(tmp_path, options, said):
    found = refused_here("profile", long_capture(tmp_path), *options, "--out", tmp_path / "out")
    assert said in found


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
