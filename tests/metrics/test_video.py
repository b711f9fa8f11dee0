"""Stalls of a film in closed form, and in runs."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare
from mayfly.metrics.video import Played, played, video_row
from mayfly.scenario.scenario import load_scenario

PERIOD_S, PIECES = 4.0, 11
ASKED = [PERIOD_S * piece for piece in range(PIECES)]
SIZES = [1_000_000] * PIECES


@pytest.mark.parametrize("took_s", [0.01, 1.0, 3.9, 4.0])
def test_a_link_that_keeps_up_has_no_stall(took_s):
    assert played(ASKED, [took_s] * PIECES, SIZES) == Played(0, 0.0, pytest.approx(PIECES * PERIOD_S))


@pytest.mark.parametrize("took_s", [4.5, 5.0, 6.5, 12.0])
def test_a_link_below_the_rate_stalls_by_what_is_missing(took_s):
    late_s = took_s - PERIOD_S
    # Piece k comes k times that too late for a film that begins at once, and this one has 2 s.
    stalls = sum(piece * late_s > 2 for piece in range(PIECES))
    found = played(ASKED, [took_s] * PIECES, SIZES)
    assert (found.stalls, found.stalled_s) == (stalls, pytest.approx((PIECES - 1) * late_s - 2))


def test_one_late_piece_delays_the_film_once_and_is_caught_up():
    took = [0.1] * 5 + [9.0] + [0.1] * 5
    # It comes at 29; the film, begun 2.1 s after the first request, needs it at 22.1.
    assert played(ASKED, took, SIZES) == Played(1, pytest.approx(6.9), pytest.approx(44.0))


def test_a_film_goes_on_with_two_seconds_in_hand():
    asked, sizes = [float(second) for second in range(12)], [1000] * 12
    took = [0.0] * 5 + [4.0] + [0.5] * 6
    # Piece 5 comes at 9 and piece 6 at 9.5; needed at 7.
    assert played(asked, took, sizes) == Played(1, pytest.approx(2.5), pytest.approx(12.0))


def test_pieces_of_different_sizes_stall_nowhere_on_an_ideal_link():
    sizes = [100, 900, 100, 1500, 300, 50, 1200, 400, 700, 600, 500]
    assert played(ASKED, [0.0] * PIECES, sizes).stalls == 0


def test_what_never_came_is_a_stall_to_the_end():
    found = played(ASKED, [0.1, 0.1, 50.0], SIZES, whole=False)
    # Two pieces last to 10.1; the third was asked for at 8 and had not come at 58.
    assert found == Played(1, pytest.approx(47.9), pytest.approx(8.0))


def test_without_streams_there_is_no_row():
    assert video_row(pl.DataFrame(), pl.DataFrame(), 9.0) is None


def run(rate, others=()):
    film = " | ".join(["wait 4s | up 400 | down 1000000"] * PIECES)
    flows = pl.DataFrame([{"start_s": 0.0, "script": film, "rtt_s": 0.05}, *others], infer_schema_length=None)
    given = {"duration": "120s", "tcp.preset": "linux", "network.rate": rate}
    rows = compare(load_scenario("wired", given), "fifo,fq_codel", flows).summary["disciplines"]
    return {row["label"]: row["users"]["video"] for row in rows}


def test_an_empty_link_stalls_none_and_one_below_the_rate_does():
    assert set(map(str, run("10mbit").values())) == {"{'streams': 1, 'stalls': 0, 'stalled_share': 0.0}"}
    wire_bits, period_s = 8 * (1_000_000 + 691 * 52), 4.05
    for found in run("1600kbit").values():
        # What comes over the link takes at least its length, and a tenth more with losses and slow start.
        least, most = (10 * (wire_bits * spread / 1.6e6 - period_s) - 2 for spread in (1.0, 1.1))
        share = [late / (late + PIECES * period_s) for late in (least, most)]
        assert share[0] <= found["stalled_share"] <= share[1] and found["stalls"] == 9


def test_the_replay_of_a_script_delays_no_film_that_has_its_rate():
    # Each piece takes about 2 s longer than the script thinks: all 11 together come 20 s later in the replay.
    found = run("4mbit")["fifo"]
    assert found == {"streams": 1, "stalls": 0, "stalled_share": 0.0}
