"""Which scripts are streams of video, and when they ask for their pieces."""

import polars as pl
import pytest

from mayfly.workload.scripts import Train, parsed
from mayfly.workload.streams import pieces, streams_of

FILM = " | ".join(["wait 4s | up 400 | wait 10ms | down 500000"] * 8)


def asked_s(script, rtt_s=0.05):
    return [piece[3] for piece in pieces(parsed(script), rtt_s, 1448)]


def test_a_film_asks_for_its_pieces_when_its_script_does():
    # From request to request: 4 s, 10 ms of the server, there and back.
    assert asked_s(FILM) == pytest.approx([4.06 * number for number in range(8)])
    rows = streams_of(pl.DataFrame({"flow_id": [3, 4], "script": [FILM, None], "rtt_s": [0.05, None]}), 1448)
    assert rows["flow_id"].to_list() == [3] * 8
    assert rows.select("asked_train", "train").rows() == [(2 * n, 2 * n + 1) for n in range(8)]
    assert set(rows["size_bytes"]) == {500_000}


def test_what_a_server_pushes_is_asked_by_nobody():
    pushed = "up 400 | " + " | ".join(["wait 4s | down 500000 pace 1ms"] * 8)
    found = pieces(parsed(pushed), 0.0, 1448)
    assert [asked for asked, *_ in found[1:]] == [own for _, own, *_ in found[1:]]
    # 346 packets a millisecond apart after each wait; only the first has a request.
    assert [b - a for a, b in zip(asked_s(pushed, 0)[1:], asked_s(pushed, 0)[2:], strict=False)] == pytest.approx(
        [4.345] * 6
    )


@pytest.mark.parametrize(
    "script",
    [
        "down 10000000",
        " | ".join(["wait 4s | up 400 | down 500000"] * 4),
        " | ".join(["wait 1s | up 400 | down 500000"] * 8),
        " | ".join(["wait 4s | up 400 | down 60000"] * 8),
        " | ".join(["wait 16s | up 400 | down 500000"] * 8),
        " | ".join(["up 400 | down 500000 pace 12ms"] * 8),
        " | ".join(f"wait {at}ms | up 400 | down 500000" for at in (40, 9000, 200, 7000, 90, 12000, 30, 800, 60)),
    ],
    ids=["bulk", "few", "brief", "slow", "rare", "never waits", "browsing"],
)
def test_what_is_no_film(script):
    assert pieces(parsed(script), 0.05, 1448) == []


def test_both_directions_count_alike():
    turned = FILM.replace("up", "x").replace("down", "up").replace("x", "down")
    assert pieces(parsed(turned), 0.05, 1448) == pieces(parsed(FILM), 0.05, 1448)
    assert pieces([Train("up", 1)], 0.0, 1448) == []
