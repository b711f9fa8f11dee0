"""`mayfly diff`: known shifts are found with their size, and where nothing changed nothing is told."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import Visit, figures_in, in_browser
from invocation import mayfly_here, refused_here

from mayfly.diff.answer import Diff, diff
from mayfly.diff.measures import changes
from mayfly.diff.samples import COLUMNS, Side, sides_of

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"


def side(seed, sessions=150, slower=1.0, repeated=0.02, label="fifo"):
    """Sessions of one to ten transfers; each session has a speed of its own, so that its transfers are alike."""
    rng = np.random.default_rng(seed)
    rows = []
    for session in range(sessions):
        speed = rng.lognormal(0.0, 0.4)
        for place in range(int(rng.integers(1, 11))):
            size = int(rng.lognormal(9.5, 1.6)) + 1
            packets = 1 + size // 1460
            time_s = slower * (0.05 + size / 5e5) * speed * rng.lognormal(0.0, 0.3)
            rtt_s = 0.04 * slower * speed * rng.lognormal(0.0, 0.2)
            lost = int(rng.binomial(packets, min(1.0, repeated * speed)))
            key = f"{seed}/{session}/{place}"
            rows.append((key, f"{session}", 10.0 * session, size, time_s, rtt_s, packets, lost, lost, size, session))
    return Side("made", label, pl.DataFrame(rows, schema=COLUMNS, orient="row"), 10.0 * sessions)


def found(before, after, **options):
    return {change.name: change for change in changes(before, after, **options)}


def test_a_shift_is_found_with_its_size():
    all_changes = found(side(1), side(2, slower=1.6))
    told = {name for name, change in all_changes.items() if change.beyond_chance}
    assert {"transfers up to 10 kB, p50", "transfers 10 kB to 100 kB, p50", "round-trip time, p50"} <= told
    assert all(all_changes[name].ci95[0] > 1.0 and "p" in name for name in told)
    # One interval in twenty may miss it: how often they do is the test of the intervals.
    held = [all_changes[name].ci95[0] < 1.6 < all_changes[name].ci95[1] for name in told]
    assert held.count(False) <= 1
    assert not all_changes["packets repeated"].beyond_chance and not all_changes["load carried"].beyond_chance


def test_more_repeated_packets_are_found_alone():
    told = {name for name, change in found(side(1), side(2, repeated=0.05)).items() if change.beyond_chance}
    assert told == {"packets repeated", "packets dropped"}


@pytest.mark.slow
def test_intervals_hold_the_shift_as_often_as_they_say():
    """Of 100 comparisons with a shift of 1.3, the intervals of each time hold it in 95, but for chance."""
    held, given = Counter(), Counter()
    for seed in range(100):
        for name, change in found(side(2 * seed, 80), side(2 * seed + 1, 80, slower=1.3), resamples=100).items():
            if change.unit == "s" and change.ci95 is not None:
                given[name] += 1
                held[name] += change.ci95[0] <= 1.3 <= change.ci95[1]
    assert len(given) >= 6
    for name, count in given.items():
        # 3 standard deviations of a binomial count with p = 0.95.
        assert held[name] >= 0.95 * count - 3 * np.sqrt(count * 0.95 * 0.05), name


def test_halves_of_one_side_do_not_differ_more_often_than_they_may():
    """Halves of the sessions by chance, 100 times: Holm's procedure allows any change in 5 of them."""
    whole, rng, told = side(7, 300).frame, np.random.default_rng(3), 0
    for _ in range(100):
        chosen = rng.random(300) < 0.5
        halves = []
        for half in (chosen, ~chosen):
            kept = np.flatnonzero(half)
            number = {int(old): place for place, old in enumerate(kept)}
            part = whole.filter(pl.col("session").is_in(kept.tolist()))
            part = part.with_columns(pl.col("session").replace_strict(number))
            halves.append(Side("half", "", part, 1500.0))
        told += any(change.beyond_chance for change in changes(*halves, resamples=100))
    assert told <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_the_same_transfers_are_compared_in_pairs():
    before = side(1)
    after = replace(before, frame=before.frame.with_columns(pl.col("time_s") * 1.02))
    change = found(before, after)["transfers up to 10 kB, p50"]
    # Each transfer takes 2 % longer: nothing of the spread between transfers is left in the interval.
    assert change.beyond_chance and change.ci95 == pytest.approx((1.02, 1.02), rel=1e-6)


def test_few_sessions_have_no_interval_and_it_is_said(tmp_path):
    short = [side(1, sessions=6), side(2, sessions=6, slower=3.0)]
    assert all(change.p is None and not change.beyond_chance for change in changes(*short))


def test_an_unfinished_transfer_counts_as_endless():
    before = side(1)
    half = pl.int_range(pl.len()) % 2 == 0
    open_ended = before.frame.with_columns(pl.when(half).then(float("inf")).otherwise("time_s").alias("time_s"))
    change = found(before, replace(before, frame=open_ended))
    assert change["transfers unfinished"].after == pytest.approx(0.5, abs=0.01)
    assert change["transfers up to 10 kB, p95"].after == float("inf")


def test_no_link_carries_more_than_its_rate(runs):
    """The run is over with its last transfer, and what never arrived was not carried."""
    for folder, rate in zip(runs, (5e6, 20e6), strict=True):
        for one in sides_of(folder):
            carried = 8 * one.frame["carried_bytes"].sum() / one.span_s
            assert 0.2 * rate < carried < 2 * rate if rate < 10e6 else carried < 2 * rate
    summary = json.loads((runs[0] / "summary.json").read_text())
    first = sides_of(runs[0])[0]
    through = sum(way["throughput_mbps"] for way in summary["disciplines"][0]["links"].values())
    # Both directions, with headers and acknowledgements.
    assert 0.8 * through < 8e-6 * first.frame["carried_bytes"].sum() / first.span_s < through


def test_what_never_ends_is_shown_as_such():
    before = side(1)
    endless = before.frame.with_columns(pl.lit(float("inf")).alias("time_s"))
    pair = ("fifo", before, replace(before, frame=endless), changes(before, replace(before, frame=endless)))
    found = Diff("a", "b", [pair])
    assert "never" in [row[2] for row in found.tables()[0].rows]
    assert json.loads(json.dumps(found.document(), allow_nan=False))["compared"][0]["changes"][0]["after"] is None


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for rate in ("5mbit", "20mbit"):
        ended = mayfly_here(
            "whatif", OFFICE, "--rate", rate, "--buffer", "200", "--internal", "10.10.0.0/24", "--duration", "20s",
            "--disciplines", "fifo,fq_codel", "--out", place / rate, "--json",
        )  # fmt: skip
        assert ended.status == 0, ended.err
    return place / "5mbit", place / "20mbit"


def test_a_faster_link_is_told_for_each_discipline(runs, tmp_path):
    slow, fast = runs
    ended = mayfly_here("diff", slow, fast, "--out", tmp_path / "out")
    assert ended.status == 0, ended.err
    assert re.search(r"^transfers up to 10 kB, p50 +-\d+ % ", ended.out, re.MULTILINE)
    assert re.search(r"^fifo: 0 of \d+ measures got worse, [1-9]\d* better$", ended.out, re.MULTILINE)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h1>What changed from" in page and page.count("<table") == 3
    figure = figures_in(page)["changes"]
    drawn = {trace["meta"]: dict(zip(trace["y"], trace["x"], strict=True)) for trace in figure["data"]}
    board = {change.name: change.ratio for change in diff(slow, fast).pairs[0][3]}
    assert set(drawn) == {"fifo", "fq_codel"}
    assert drawn["fifo"]["transfers up to 10 kB, p50"] == pytest.approx(board["transfers up to 10 kB, p50"], rel=1e-4)
    document = json.loads((tmp_path / "out" / "diff.json").read_text(encoding="utf-8"))
    assert [part["label"] for part in document["compared"]] == ["fifo", "fq_codel"]
    assert re.search(r"^fifo: transfers up to 10 kB, p50: .* -> .*, -\d+ %", document["sentences"][0])


@in_browser
def test_the_figure_is_drawn(runs, tmp_path):
    diff(*runs).write(tmp_path / "out")
    visit = Visit(tmp_path / "out" / "report.html", tmp_path)
    assert 'data-errors="[]"' in visit.dom and 'data-plots="1"' in visit.dom
    assert visit.dom.count('class="trace scatter') == 2
    assert visit.console == [] and visit.requests == []


def test_a_run_and_itself_do_not_differ(runs):
    answer = diff(runs[0], runs[0])
    assert all("nothing changed beyond chance" in sentence for sentence in answer.sentences())
    assert answer.tables()[0].rows and repr(answer).startswith("<Diff: ")


def test_a_capture_and_itself_do_not_differ():
    [sentence] = diff(OFFICE, OFFICE, internal=["10.10.0.0/24"]).sentences()
    assert sentence.startswith("nothing changed beyond chance")


def test_a_capture_has_the_bytes_of_its_connections():
    from mayfly.profile.listing import listing

    [one] = sides_of(OFFICE, ["10.10.0.0/24"])
    frame = listing([OFFICE], internal=["10.10.0.0/24"]).frame.filter(pl.col("protocol") == "tcp")
    both = frame["opener_distinct_bytes"].sum() + frame["responder_distinct_bytes"].sum()
    assert one.frame["size_bytes"].sum() == both
    assert len(set(one.frame["session"].tolist())) >= 20


def test_refusals(runs, tmp_path):
    assert "has no summary.json with flows.parquet" in refused_here("diff", tmp_path, runs[0], "--out", tmp_path / "o")
    assert "no.pcap" in refused_here("diff", runs[0], tmp_path / "no.pcap", "--out", tmp_path / "o")
    assert "nothing is on both sides" in refused_here("diff", runs[0], OFFICE, "--out", tmp_path / "o")
    assert not (tmp_path / "o").exists()
