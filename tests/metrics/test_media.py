"""Calls, films and games in figures, of tables written by hand."""

import polars as pl
import pytest

from mayfly.metrics.media import call_rows, film_rows, frozen_share, gaming_rows

GAME, CALL, FILM = "gaming(fps=10)", "call(fps=10)", "video(rule=bola)"


def records(*rows):
    names = ("flow_id", "application", "group", "direction", "src", "dst", "start_s")
    return pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows])


def frames(flow_id, medium, sent_s, received_s, packets=1, lost=None, size_bytes=1000):
    return pl.DataFrame(
        {
            "flow_id": flow_id,
            "frame": list(range(len(sent_s))),
            "medium": medium,
            "sent_s": sent_s,
            "received_s": pl.Series(received_s, dtype=pl.Float64),
            "size_bytes": size_bytes,
            "packets": packets,
            "lost": [int(at is None) for at in received_s] if lost is None else lost,
        }
    )


def test_a_frame_is_late_after_100_ms_and_lost_when_a_packet_is():
    of = records((1, GAME, None, "down", 1, 2, 0.0), (2, None, None, "down", 1, 2, 0.0))
    sent = [0.0, 1.0, 2.0, 3.0]
    table = frames(1, "video", sent, [0.05, 1.099, 2.101, None])
    (row,) = gaming_rows(of, table, 100.0)
    assert (row["streams"], row["frames"], row["late"], row["lost"]) == (1, 4.0, 0.25, 0.25)
    assert row["delay_p50_ms"] == pytest.approx(99.0)


def test_what_may_be_on_its_way_at_the_end_does_not_count():
    of = records((1, GAME, None, "down", 1, 2, 0.0))
    table = frames(1, "video", [0.0, 9.5], [0.05, None], lost=[0, 0])
    assert gaming_rows(of, table, 10.0)[0]["lost"] == 0.0
    assert gaming_rows(of, table, 20.0)[0]["lost"] == 0.5


def test_a_picture_stands_still_where_a_whole_frame_is_missing_for_long():
    steady = pl.Series([0.1 * n for n in range(11)])
    assert frozen_share(steady, 1.0) == 0.0
    # Two of ten missing: 0.3 s between two frames, and 0.3 s is what it takes.
    assert frozen_share(pl.Series([0.0, 0.1, None, None, 0.4001, 0.5]), 0.6) == pytest.approx(0.3001 / 0.6)
    assert frozen_share(pl.Series([None, None], dtype=pl.Float64), 0.2) == 1.0
    assert frozen_share(pl.Series([0.0]), 0.1) is None


def test_a_call_has_the_rate_of_what_came_whole_and_its_loss():
    of = records((1, CALL, "g", "down", 1, 2, 0.0))
    sent = [0.1 * n for n in range(101)]
    came = [None if n == 50 else at + 0.02 for n, at in enumerate(sent)]
    (row,) = call_rows(of, frames(1, "video", sent, came, packets=2), 100.0)
    assert row["rate_mbps"] == pytest.approx(100 * 8e-3 / 10.0)
    assert row["loss"] == pytest.approx(1 / 202)
    assert (row["mos"], row["frozen"]) == (None, 0.0)
    assert row["delay_p95_ms"] == pytest.approx(20.0)


def test_of_a_call_that_began_just_before_the_end_nothing_is_known():
    """Before: an IndexError of `mayfly compare --duration 5ms` where a call takes 10 ms."""
    of = records((1, CALL, "g", "down", 1, 2, 0.0))
    (row,) = call_rows(of, frames(1, "audio", [0.0, 0.002], [None, None], lost=0), 0.005)
    assert (row["calls"], row["rate_mbps"], row["loss"], row["delay_p95_ms"]) == (1, None, None, None)


def film(received_s, dry_s, level=None, last=False, asked_s=None):
    count = len(received_s)
    return pl.DataFrame(
        {
            "flow_id": 1,
            "segment": list(range(count)),
            "level": level or [0] * count,
            "rate_bps": [1_000_000 * (1 + own) for own in level or [0] * count],
            "asked_s": asked_s or [0.0] * count,
            "received_s": pl.Series(received_s, dtype=pl.Float64),
            "dry_s": pl.Series(dry_s, dtype=pl.Float64),
            "last": [last and at == count - 1 for at in range(count)],
        }
    )


def test_a_film_has_a_beginning_stalls_switches_and_a_rate():
    of = records((1, FILM, "tv", "down", 1, 2, 10.0))
    table = film([11.0, 13.0, 21.0, 23.0], [15.0, 19.0, None, 31.0], level=[0, 1, 1, 2])
    (row,) = film_rows(of, table, 30.0)
    assert (row["films"], row["startup_s"], row["stalls"], row["stalled_s"]) == (1, 1.0, 1.0, 4.0)
    assert (row["switches"], row["rate_mbps"]) == (2.0, 2.0)
    # From 11 s to 30 s, the end of the run.
    assert row["stalled_share"] == pytest.approx(4.0 / 19.0)


@pytest.mark.parametrize(
    ("received_s", "dry_s", "last", "end_s", "stalls"),
    [
        ([1.0, 3.0], [5.0, 9.0], True, 60.0, (0, 0.0)),
        ([1.0, 3.0], [5.0, 9.0], False, 60.0, (1, 51.0)),
        ([1.0, None], [5.0, None], False, 12.0, (1, 7.0)),
        ([None], [None], False, 12.0, (0, 0.0)),
    ],
    ids=["ended", "open", "a segment that does not come", "never begun"],
)
def test_a_film_that_ends_does_not_stand_still_at_its_end(received_s, dry_s, last, end_s, stalls):
    of = records((1, FILM, None, "down", 1, 2, 0.0))
    (row,) = film_rows(of, film(received_s, dry_s, last=last), end_s)
    assert (row["stalls"], row["stalled_s"]) == stalls


def test_a_film_that_never_begins_has_no_times():
    of = records((1, FILM, None, "down", 1, 2, 0.0))
    (row,) = film_rows(of, film([None], [None]), 30.0)
    assert (row["startup_s"], row["stalled_share"], row["rate_mbps"]) == (None, None, None)


def test_nothing_is_told_of_workloads_without_them():
    of = records((1, None, None, "down", 1, 2, 0.0)).drop("application")
    assert call_rows(of, pl.DataFrame(), 1.0) == film_rows(of, pl.DataFrame(), 1.0) == []
    assert gaming_rows(of, pl.DataFrame(), 1.0) == []
