"""Two other ways to tell what does not respond, which look at flows: by protocol, and by what follows their drops."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Floats
from mayfly.errors import MayflyError


def by_protocol(packets: pl.DataFrame, udp: set[int]) -> float:
    """Share of the arrivals that a counter of UDP packets calls non-responsive.

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of all flows (``packets.parquet``): ``flow_id``, ``queued_s``.
    udp : set of int
        Flows that carry UDP.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    MayflyError
        No packet came to the queue.

    Notes
    -----
    Right where UDP is what does not respond; wrong by every QUIC flow, and by every TCP sender that does not slow down.

    Examples
    --------
    >>> by_protocol(pl.DataFrame({"flow_id": [1, 1, 2, 3], "queued_s": [0.1, 0.2, 0.2, 0.3]}), {1})
    0.5
    """
    came = _came(packets)
    return int(came["flow_id"].is_in(sorted(udp)).sum()) / came.height


def by_own_drops(packets: pl.DataFrame, rtt_s: float, significance: float = 3.0) -> float:
    """Share of the arrivals from flows that do not send less after packets of theirs were dropped.

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of all flows (``packets.parquet``): ``flow_id``, ``queued_s``, ``dropped_s``.
    rtt_s : float
        Round-trip time, above 0, s.
    significance : float
        Standard errors that the fall must have, for a flow to count as one that responds.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    MayflyError
        No packet came to the queue, or ``rtt_s`` is not above 0.

    Notes
    -----
    Per flow, the change of its arrivals from a round trip to the second one after is correlated with its drops in the
    former. Needs the state of every flow, and flows that live for tens of drops: a short one is never significant, and
    counts as not responding. It is told apart by flow, so that a sender which responds only on some is not.

    Examples
    --------
    >>> beats = np.arange(0, 60, 0.01)
    >>> steady = pl.DataFrame({"flow_id": 1, "queued_s": beats, "dropped_s": np.where(beats > 59, beats, np.nan)})
    >>> by_own_drops(steady.fill_nan(None), 0.1)
    1.0
    """
    if not rtt_s > 0:
        raise MayflyError(f"rtt_s = {rtt_s}: must be above 0 s")
    came = _came(packets)
    silent = 0
    for _, own in came.group_by("flow_id"):
        if not _responds(own["queued_s"].to_numpy(), own["dropped_s"].is_not_null().to_numpy(), rtt_s, significance):
            silent += own.height
    return silent / came.height


def _came(packets: pl.DataFrame) -> pl.DataFrame:
    came = packets.filter(pl.col("queued_s").is_not_null())
    if came.is_empty():
        raise MayflyError("packets: must have some that came to the queue")
    return came


def _responds(queued_s: Floats, dropped: Booleans, rtt_s: float, significance: float) -> bool:
    """The flow's arrivals fall after its drops."""
    places = ((queued_s - queued_s.min()) / rtt_s).astype(int)
    arrivals = np.bincount(places).astype(float)
    drops = np.bincount(places, weights=dropped)
    # From one round trip to the second after: in the next one the flight is still that of before.
    change, own = arrivals[2:] - arrivals[:-2], drops[:-2]
    if len(change) < 3 or own.std() == 0 or change.std() == 0:
        return False
    correlation = float(np.corrcoef(change, own)[0, 1])
    return correlation * math.sqrt(len(change)) < -significance
