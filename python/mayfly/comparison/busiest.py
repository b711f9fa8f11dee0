"""The busiest minutes of a long capture, and how to cut them out."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.text.readable import digits

MINUTE_S = 60.0
LONG_S, MANY = 1800.0, 1_000_000
"""A capture that is so long, or has so many connections, takes minutes of simulation, and most of them idle."""

MINUTES = 10
"""That are offered of a long capture; of a short one with many connections it is one."""


def busiest_sentence(
    connections: pl.DataFrame, first_epoch_s: float | None, span_s: float, capture: str | os.PathLike[str]
) -> str | None:
    """Offer the busiest minutes of a capture that is long, or has many connections.

    Parameters
    ----------
    connections : polars.DataFrame, shape (n_connections, n_columns)
        ``start_s`` and ``end_s`` since the first packet, and what either end sent.
    first_epoch_s : float or None
        When that was, s since 1970.
    span_s : float
        How long the capture lasts, s.
    capture : path
        Its file.

    Returns
    -------
    str or None
        None of a capture that is neither.

    Notes
    -----
    What a connection sent is spread evenly over the time that it lasts.

    Examples
    --------
    >>> sent = {"opener_wire_bytes": [3_600, 600_000], "responder_wire_bytes": [0, 0]}
    >>> hour = pl.DataFrame({"start_s": [0.0, 1200.0], "end_s": [3600.0, 1800.0], **sent})
    >>> print(busiest_sentence(hour, 1_700_000_000.0, 3600.0, "hour.pcap"))
    Its busiest 10 minutes have 99.5 % of the bytes and begin 20 min in: editcap -A 2023-11-14T22:33:20Z -B ...
    """
    minutes = MINUTES if span_s >= LONG_S else 1
    if first_epoch_s is None or span_s <= minutes * MINUTE_S or (span_s < LONG_S and connections.height < MANY):
        return None
    load = _by_minute(connections, span_s)
    sums = np.convolve(load, np.ones(minutes), "valid")
    begin = int(np.argmax(sums))
    if not sums[begin]:
        return None
    first = datetime.fromtimestamp(first_epoch_s, UTC) + timedelta(minutes=begin)
    times = [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in (first, first + timedelta(minutes=minutes))]
    has, begins = (f"{minutes} minutes have", "begin") if minutes > 1 else ("minute has", "begins")
    share = digits(100 * float(sums[begin] / load.sum()))
    cut = f"editcap -A {times[0]} -B {times[1]} {shlex.quote(os.fspath(capture))} busiest.pcapng"
    return f"Its busiest {has} {share} % of the bytes and {begins} {begin} min in: {cut}, and ask whatif of that file"


def _by_minute(connections: pl.DataFrame, span_s: float) -> Floats:
    """Bytes of each minute, shape (n_minutes,)."""
    count = max(int(np.ceil(span_s / MINUTE_S)), 1)
    starts, ends = (connections[name].to_numpy() / MINUTE_S for name in ("start_s", "end_s"))
    carried = (connections["opener_wire_bytes"] + connections["responder_wire_bytes"]).to_numpy().astype(float)
    first, last = (np.clip(np.floor(times), 0, count - 1).astype(np.int64) for times in (starts, ends))
    within = first == last
    load: Floats = np.bincount(first[within], weights=carried[within], minlength=count).astype(float)
    starts, ends, first, last, carried = (values[~within] for values in (starts, ends, first, last, carried))
    pace = carried / (ends - starts)
    np.add.at(load, first, pace * (first + 1 - starts))
    np.add.at(load, last, pace * (ends - last))
    # Whole minutes between: as many begin as end.
    change = np.zeros(count + 1)
    np.add.at(change, first + 1, pace)
    np.add.at(change, last, -pace)
    return load + np.cumsum(change)[:count]
