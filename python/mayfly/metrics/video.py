"""Video: how long a film stands still while its pieces come over the link.

Principle: the run tells how long each piece took from its request to its last byte; a player with a clock of its own
asks for the next one when the schedule says so, or as soon as the one before has come when it is late. So a piece that
takes longer delays the film, and not all later requests, as it does in the replay of a script. The film is played at
the mean rate of the schedule; the player never asks for another quality.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

START_S = 2.0
"""The film begins so much later than it would have to if each piece came at once, s."""

RESUME_S = 2.0
"""After a stall it goes on with so much of the film in hand, or all of it, s."""


@dataclass(frozen=True)
class Played:
    """A film as it was seen.

    Parameters
    ----------
    stalls : int
        How often it stood still.
    stalled_s, played_s : float
        How long it stood still, and how long it was played, s.
    """

    stalls: int
    stalled_s: float
    played_s: float


def played(asked_s: Sequence[float], took_s: Sequence[float], size_bytes: Sequence[int], whole: bool = True) -> Played:
    """Plays a film whose pieces took so long.

    Parameters
    ----------
    asked_s : sequence of float, shape (n_pieces,)
        When the schedule asks for each piece, s from the first on; at least two, the last one later than the first.
    took_s : sequence of float, shape (n_asked,)
        From the request of a piece to its last byte, s; of the first of the pieces, those that were asked for.
    size_bytes : sequence of int, shape (n_pieces,)
        Of each.
    whole : bool
        Whether the last one asked for came; else its time is up to the end of the run, and it is not played.

    Returns
    -------
    Played

    Examples
    --------
    >>> played([0.0, 4.0, 8.0], [0.1, 0.1, 0.1], [1000, 1000, 1000])
    Played(stalls=0, stalled_s=0.0, played_s=12.0)
    """
    rate = sum(size_bytes[:-1]) / (asked_s[-1] - asked_s[0])
    media_s = [size / rate for size in size_bytes]
    hold_s, had_s = 0.0, 0.0
    for own_s, at_s in zip(media_s[:-1], asked_s[1:], strict=True):
        had_s += own_s
        hold_s = max(hold_s, at_s - asked_s[0] - had_s)
    came_s: list[float] = []
    for at_s, own_s in zip(asked_s, took_s, strict=False):
        came_s.append(max(at_s - asked_s[0], came_s[-1] if came_s else 0.0) + own_s)
    clock_s = came_s[0] + hold_s + START_S if came_s else 0.0
    stalls, stalled_s, played_s = 0, 0.0, 0.0
    for piece, at_s in enumerate(came_s):
        if not whole and piece == len(came_s) - 1:
            # It stands still to the end of what was seen.
            late_s = at_s - clock_s
            return Played(stalls + (late_s > 0), stalled_s + max(late_s, 0.0), played_s)
        if at_s > clock_s:
            goes_on_s = _in_hand(came_s, media_s, piece)
            stalls, stalled_s, clock_s = stalls + 1, stalled_s + goes_on_s - clock_s, goes_on_s
        clock_s += media_s[piece]
        played_s += media_s[piece]
    return Played(stalls, stalled_s, played_s)


def _in_hand(came_s: Sequence[float], media_s: Sequence[float], piece: int) -> float:
    """When enough of the film from a piece on has come to go on."""
    had_s = 0.0
    for place in range(piece, len(came_s)):
        had_s += media_s[place]
        if had_s >= RESUME_S:
            return came_s[place]
    return came_s[-1]


def video_row(streams: pl.DataFrame, trains: pl.DataFrame, end_s: float) -> dict[str, Any] | None:
    """The films of one discipline.

    Parameters
    ----------
    streams : polars.DataFrame, shape (n_pieces, ...)
        As of :func:`mayfly.workload.streams.streams_of`, of all replications; then with ``replication``.
    trains : polars.DataFrame, shape (n_trains, ...)
        Trains of the same runs.
    end_s : float
        End of the run, s.

    Returns
    -------
    dict or None
        ``streams``, ``stalls`` of all of them, and ``stalled_share``: time that they stood still over that and the time
        that they played. None without a stream that began.
    """
    if streams.height == 0 or trains.height == 0:
        return None
    run = [name for name in ("replication",) if name in streams.columns]
    whole = trains.filter(pl.col("part").is_null())
    begun = whole.select(*run, "flow_id", asked_train="train", begun_s="start_s")
    ended = whole.select(*run, "flow_id", "train", "end_s")
    keys = [*run, "flow_id"]
    timed = streams.join(begun, on=[*keys, "asked_train"], how="left", maintain_order="left")
    timed = timed.join(ended, on=[*keys, "train"], how="left", maintain_order="left")
    films = []
    for film in timed.partition_by(keys, maintain_order=True):
        own = film.sort("piece")
        asked = own.filter(pl.col("begun_s").is_not_null())
        if asked.height == 0 or own.height < 2:
            continue
        took = (asked["end_s"].fill_null(end_s) - asked["begun_s"]).to_list()
        sizes = own["size_bytes"].to_list()
        films.append(played(own["asked_s"].to_list(), took, sizes, asked["end_s"].null_count() == 0))
    if not films:
        return None
    stalled_s = sum(film.stalled_s for film in films)
    in_all_s = stalled_s + sum(film.played_s for film in films)
    return {
        "streams": len(films),
        "stalls": sum(film.stalls for film in films),
        "stalled_share": stalled_s / in_all_s if in_all_s else None,
    }
