"""Stalls of a film in runs; the crate ``metrics`` has them in closed form."""

import polars as pl

from mayfly.comparison.comparison import compare
from mayfly.scenario.scenario import load_scenario

PIECES = 11


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
