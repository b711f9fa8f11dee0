"""Estimates while polls come: what `mayfly estimate --follow` prints, against the estimate of all polls at once."""

import io
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from invocation import mayfly_here, refused_here

from mayfly.estimate import Samples, estimate, read_samples
from mayfly.estimate.follow import follow

OURS = Path(__file__).parents[2] / "captures" / "red-queue.csv.gz"
LINK = ("--rate", "28mbit", "--packet", "1000B", "--rtt", "100ms")
EPOCH_S = 1_700_000_000.25


def polls(seconds: float) -> str:
    """Our samples as `tc -s -j` would have shown them, each poll with its time before it."""
    samples = read_samples(OURS)
    told, sent, dropped, before = [], 0, 0, 0
    for time_s, queue, came, drops in zip(
        samples.time_s, samples.queue_pkts, samples.arrivals, samples.drops, strict=True
    ):
        waits = round(queue * 1000)
        sent, dropped = sent + int((came - drops) * 1000) - (waits - before), dropped + int(drops)
        before = waits
        row = {"kind": "red", "dev": "eth0", "root": True, "bytes": sent, "drops": dropped, "backlog": waits}
        told.append(f"{EPOCH_S + time_s:.6f}\n{json.dumps([row])}\n")
        if time_s > seconds:
            break
    return "".join(told)


def test_what_is_told_while_polls_come_is_what_all_polls_say():
    text, every = polls(60).splitlines(), []
    for found in follow(text, "28mbit", "100ms", device="eth0"):
        assert found.columns["share"][: len(every)] == every, "what was told stays"
        every = list(found.columns["share"])
    path = io.StringIO("\n".join(text))
    from mayfly.estimate.polls import between, counters

    times, *columns = between(list(counters(path, None, "polls")), 1000)
    whole = estimate(Samples(times, *columns), "28mbit", "100ms", options={"sampling": found.settings["sampling"]})
    assert len(every) > 80
    assert np.allclose(every, whole.columns["share"][: len(every)], atol=1e-6)


def test_an_estimate_is_told_before_the_next_poll_is_read():
    lines, read = iter(polls(20).splitlines()), 0

    def slowly():
        nonlocal read
        for line in lines:
            read += 1
            yield line

    first = next(iter(follow(slowly(), "28mbit", "100ms")))
    # Two lines a poll, an estimate takes 21 polls.
    assert read < 2 * 35 and len(first.columns["time_s"]) == 1


def test_the_command_prints_a_line_for_each_estimate_and_tells_alarms(tmp_path):
    path = tmp_path / "polls.txt"
    path.write_text(polls(100))
    ended = mayfly_here("estimate", path, *LINK, "--follow", "--from", "50s", "--alarm", "0.6,0.5")
    lines = ended.out.splitlines()
    assert ended.status == 0 and sum("alarm: from" in line for line in lines) == 1
    assert float(lines[0].split()[0]) > 50, "--from counts from the first poll"
    assert all(" s " in line and " %" in line for line in lines if not line.startswith("alarm"))
    documents = [
        json.loads(line) for line in mayfly_here("estimate", path, *LINK, "--follow", "--json").out.splitlines()
    ]
    assert {"time_s", "estimate", "doubt"} <= documents[0].keys()
    assert all(a["time_s"] < b["time_s"] for a, b in itertools.pairwise(documents))


def test_polls_come_from_the_standard_input_too(tmp_path, monkeypatch):
    text = polls(30)
    path = tmp_path / "polls.txt"
    path.write_text(text)
    for options in ([], ["--follow"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        shown = mayfly_here("estimate", "-", *LINK, *options)
        assert shown.status == 0 and shown.out == mayfly_here("estimate", path, *LINK, *options).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rtt", "auto"], "rtt = 'auto': must be one time"),
        (["--rtt", "20ms..90ms"], "must be one time"),
        (["--rate", "fast"], "rate = 'fast'"),
        (["--packet", "9B"], "packet = '9B'"),
        (["--out", "page.html"], "must be left out with --follow"),
    ],
)
def test_following_refuses_in_a_line(arguments, said, tmp_path):
    path = tmp_path / "polls.txt"
    path.write_text(polls(5))
    assert said in refused_here("estimate", path, *LINK, "--follow", *arguments)


def test_what_is_no_poll_is_refused(tmp_path):
    assert "cannot be read" in refused_here("estimate", tmp_path / "none", *LINK, "--follow")
    path = tmp_path / "polls.txt"
    path.write_text("1.0\nqdisc pfifo 1: dev eth0 parent 1:1\n2.0\n")
    assert "poll 1: has no queue at a root" in refused_here("estimate", path, *LINK, "--follow")
