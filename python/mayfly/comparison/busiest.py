"""The busiest minutes of a long capture, and how to ask of them alone."""

from __future__ import annotations

import polars as pl

from mayfly.text.readable import digits
from mayfly.workload.load_by_time import busiest_of, load_of

MINUTE_S = 60.0
LONG_S, MANY = 1800.0, 1_000_000
"""A capture that is so long, or has so many connections, takes minutes of simulation, and most of them idle."""

MINUTES = 10
"""That are offered of a long capture; of a short one with many connections it is one."""


def busiest_sentence(connections: pl.DataFrame, span_s: float) -> str | None:
    """Offer the busiest minutes of a capture that is long, or has many connections.

    Parameters
    ----------
    connections : polars.DataFrame, shape (n_connections, n_columns)
        ``start_s`` and ``end_s`` since the first packet, and what either end sent.
    span_s : float
        How long the capture lasts, s.

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
    >>> print(busiest_sentence(hour, 3600.0))
    Its busiest 10 minutes have 99.5 % of the bytes and begin 20 min in: --from 20min --to 30min asks of these alone
    """
    minutes = MINUTES if span_s >= LONG_S else 1
    if span_s <= minutes * MINUTE_S or (span_s < LONG_S and connections.height < MANY):
        return None
    load = load_of(connections, MINUTE_S)
    begin, carried = busiest_of(load, minutes)
    if not carried:
        return None
    has, begins = (f"{minutes} minutes have", "begin") if minutes > 1 else ("minute has", "begins")
    share = digits(100 * carried / float(load.sum()))
    asks = f"--from {begin}min --to {begin + minutes}min asks of {'these' if minutes > 1 else 'it'} alone"
    return f"Its busiest {has} {share} % of the bytes and {begins} {begin} min in: {asks}"
