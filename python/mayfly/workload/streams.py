"""Streams of video among scripted connections: those that fetch a piece after the other at a steady pace.

Principle: a player fetches the pieces of a film one by one, and once it has some in hand it waits before it asks for
the next, so that pieces come as fast as they are played. Headers do not say that a connection is a film; steady
requests for large pieces with pauses between them do (Rao et al. 2011, "Network characteristics of video streaming
traffic": short ON-OFF cycles). The schedule here is that of the script over a link without limits.
"""

from itertools import pairwise

import polars as pl

from mayfly.workload.scripts import Train, parsed

PIECE_BYTES = 50_000
"""A train of at least so much is a piece."""

LEAST_PIECES = 5
LEAST_S = 20.0
"""From the first request to the last, s."""

RATES_BPS = (200e3, 50e6)
"""Mean rates of a film."""

LONGEST_GAP_S = 15.0
"""Between two requests, s."""

STEADY_SHARE = 2 / 3
"""Of the times between two requests: so many lie between half the median and twice that."""

WAITING_SHARE = 0.2
"""Of the time the script waits, at least: who always has data to send is a download."""

STREAMS = {
    "flow_id": pl.Int64,
    "piece": pl.Int64,
    "asked_train": pl.Int64,
    "train": pl.Int64,
    "size_bytes": pl.Int64,
    "asked_s": pl.Float64,
}


def streams_of(records: pl.DataFrame, mss: int) -> pl.DataFrame:
    """The pieces of the streams among the flows of a list.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        ``flow_id``, ``script`` and ``rtt_s``, of a flow list or of the records of one run.
    mss : int
        Payload of a full packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_pieces, 6)
        ``flow_id``, ``piece`` from 0, ``asked_train`` (number of the train that asked for it: the one before it where
        that is of the other end, else its own), ``train``, ``size_bytes``, and ``asked_s``, when the script asks for it
        over a link without limits, s after its first request. Empty without scripts.
    """
    rows: list[tuple[int, int, int, int, int, float]] = []
    if "script" in records.columns:
        known: dict[tuple[str, float], list[tuple[int, int, int, float]]] = {}
        # Most scripts are too short, and need not be read.
        long = pl.col("script").str.count_matches("|", literal=True) >= LEAST_PIECES - 1
        scripted = records.filter(long).select("flow_id", "script", "rtt_s")
        for flow, script, rtt_s in scripted.iter_rows():
            key = (script, rtt_s or 0.0)
            if key not in known:
                known[key] = pieces(parsed(script), key[1], mss)
            rows += [(flow, place, *piece) for place, piece in enumerate(known[key])]
    return pl.DataFrame(rows, schema=STREAMS, orient="row")


def pieces(trains: list[Train], rtt_s: float, mss: int) -> list[tuple[int, int, int, float]]:
    """The pieces of one script, where it is a stream.

    Parameters
    ----------
    trains : list of Train
        Of the script.
    rtt_s : float
        Round-trip time of its path, s.
    mss : int
        Payload of a full packet, bytes.

    Returns
    -------
    list of tuple
        Number of the train that asks, of the piece's own train, bytes, time of the request in s after the first one.
        Empty where it is none by the rule of docs/users.md.

    Examples
    --------
    >>> film = [Train("up", 400, wait_ns=4_000_000_000), Train("down", 500_000)] * 8
    >>> len(pieces(film, 0.02, 1448)), len(pieces(film[:8], 0.02, 1448)), len(pieces(film[:1] + film[1::2], 0.02, 1448))
    (8, 0, 0)
    """
    way = max(("down", "up"), key=lambda one: sum(train.size_bytes for train in trains if train.direction == one))
    found: list[tuple[int, int, int, float]] = []
    clock_s, begun_s, last = 0.0, 0.0, 0
    for number, train in enumerate(trains):
        turned = number > 0 and trains[number - 1].direction != train.direction
        # An end that goes on waits for its acknowledgement first.
        clock_s += 0.0 if number == 0 or turned else rtt_s / 2
        clock_s += 1e-9 * train.wait_ns
        before_s, begun_s = begun_s, clock_s
        clock_s += 1e-9 * train.pace_ns * (-(-train.size_bytes // mss) - 1) + rtt_s / 2
        if train.direction == way and train.size_bytes >= PIECE_BYTES:
            asked = (number - 1, before_s) if turned else (number, begun_s)
            found.append((asked[0], number, train.size_bytes, asked[1]))
            last = number
    if len(found) < LEAST_PIECES:
        return []
    first_s = found[0][3]
    waited_s = sum(1e-9 * train.wait_ns for train in trains[found[0][0] + 1 : last + 1])
    shifted = [(asked, own, size, at - first_s) for asked, own, size, at in found]
    return shifted if _steady(shifted, waited_s) else []


def _steady(found: list[tuple[int, int, int, float]], waited_s: float) -> bool:
    span_s = found[-1][3]
    if span_s < LEAST_S or waited_s < WAITING_SHARE * span_s:
        return False
    rate_bps = 8 * sum(size for _, _, size, _ in found[:-1]) / span_s
    gaps_s = sorted(after[3] - before[3] for before, after in pairwise(found))
    median_s = gaps_s[len(gaps_s) // 2]
    steady = sum(median_s / 2 <= gap <= 2 * median_s for gap in gaps_s)
    within = RATES_BPS[0] <= rate_bps <= RATES_BPS[1]
    return within and gaps_s[-1] <= LONGEST_GAP_S and steady >= STEADY_SHARE * len(gaps_s)
