"""Sessions of users in a flow list, and other hours like it: lists made of sessions drawn with replacement.

Principle: what users start is well described as sessions that arrive as a Poisson process, while what happens inside a
session is not (Paxson and Floyd 1995). A list is one draw of that process. Another draw with the same law of sessions
is made of the sessions seen: as many as a Poisson number says, each one of those seen with equal chance, each at a time
of its own. This is the bootstrap of a marked point process (Efron and Tibshirani 1993, ch. 6 and 8).
"""

import numpy as np
import polars as pl

from mayfly.arrays import Integers
from mayfly.errors import MayflyError
from mayfly.workload.arrivals import stream

GAP_S = 5.0
"""A host that starts nothing for longer begins another session: most pauses inside a page or a task are shorter, most
of those in which a reader reads are longer (Barford and Crovella 1998)."""

LEAST_SESSIONS = 10
"""Sessions below which a list says nothing about the next one."""


def users_of(flows: pl.DataFrame) -> pl.Series:
    """The user each flow belongs to: the host that opened its connection, on whichever side of the link.

    Parameters
    ----------
    flows : polars.DataFrame, shape ``(n_flows, ...)``
        ``src``, ``dst`` and ``opened_by``.

    Returns
    -------
    polars.Series of str, shape ``(n_flows,)``
    """
    opener = pl.when(pl.col("opened_by") == "receiver").then("dst").otherwise("src")
    return flows.select(opener.cast(pl.String).alias("host"))["host"]


def session_of(flows: pl.DataFrame, gap_s: float = GAP_S) -> Integers:
    """Which session each flow belongs to.

    Parameters
    ----------
    flows : polars.DataFrame, shape ``(n_flows, ...)``
        A flow list; with ``connection_id``, both directions of a connection are in one session.
    gap_s : float
        Time without a start after which a host's next flow begins another session, s, > 0.

    Returns
    -------
    numpy.ndarray of int, shape ``(n_flows,)``
        Numbers from 0, by host and then by time.

    Raises
    ------
    MayflyError
        A gap that is not above 0.

    Examples
    --------
    >>> flows = pl.DataFrame({"start_s": [0.0, 1.0, 9.0], "src": ["web"] * 3, "dst": ["a", "b", "a"],
    ...                       "opened_by": ["receiver"] * 3})
    >>> session_of(flows).tolist()
    [0, 2, 1]
    """
    if not gap_s > 0:
        raise MayflyError(f"gap_s = {gap_s}: must be above 0 s")
    connection = flows["connection_id"] if "connection_id" in flows.columns else pl.Series(np.arange(flows.height))
    keyed = pl.DataFrame([flows["start_s"], users_of(flows), connection.alias("connection")]).with_row_index("row")
    keyed = keyed.with_columns(pl.col("start_s").min().over("connection"))
    pause_s = pl.col("start_s") - pl.col("start_s").shift(1).over("host")
    ordered = keyed.sort("host", "start_s", "row").with_columns(first=(pause_s > gap_s).fill_null(True))
    numbered = ordered.with_columns(session=pl.col("first").cum_sum().cast(pl.Int64) - 1)
    return np.asarray(numbered.sort("row")["session"].to_numpy(), dtype=np.int64)


def another_hour(flows: pl.DataFrame, seed: int, replication: int, gap_s: float = GAP_S) -> pl.DataFrame:
    """A flow list of sessions drawn with replacement.

    Parameters
    ----------
    flows : polars.DataFrame, shape ``(n_flows, ...)``
        As seen, sorted by ``start_s``.
    seed : int
        Of the named stream ``sessions``.
    replication : int
        Which of the draws: the same seed and number give the same list.
    gap_s : float
        As for :func:`session_of`.

    Returns
    -------
    polars.DataFrame
        The same columns, sorted by ``start_s``, with ``flow_id`` (and ``connection_id``) from 0. The second copy of a
        session belongs to another user: the host that opened it is ``name/2``.

    Raises
    ------
    MayflyError
        Fewer than `LEAST_SESSIONS` sessions.

    Notes
    -----
    A session begins at a uniform time within the span of the starts; what would start after the end of the span starts
    as much after its beginning, as what was under way when the capture began. Times within a session stay. The hour
    is thus taken as stationary, and users as independent of each other.
    """
    number = session_of(flows, gap_s)
    count = int(number.max()) + 1 if number.size else 0
    if count < LEAST_SESSIONS:
        raise MayflyError(
            f"{count} sessions of users: must be at least {LEAST_SESSIONS} to draw another hour from them"
        )
    rng = stream(seed, "sessions", replication)
    drawn = rng.integers(0, count, size=max(1, int(rng.poisson(count))))
    start_s = flows["start_s"].to_numpy().astype(float)
    span_s = float(start_s.max() - start_s.min())
    order = np.argsort(number, kind="stable")
    firsts = np.searchsorted(number[order], np.arange(count + 1))
    begins_s = np.minimum.reduceat(start_s[order], firsts[:-1])
    moved_s = rng.random(drawn.size) * span_s - begins_s[drawn]
    lengths = np.diff(firsts)[drawn]
    # Rows of each drawn session, one session after another.
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = order[np.repeat(firsts[:-1][drawn], lengths) + inside]
    copy = np.repeat(_copies(drawn), lengths)
    times_s = start_s[rows] + np.repeat(moved_s, lengths)
    times_s = np.where(times_s > span_s, times_s - span_s, times_s) if span_s else np.zeros(rows.size)
    # A session longer than the span goes round more than once.
    times_s = np.where(times_s > span_s, np.mod(times_s, span_s or 1.0), times_s)
    moved: pl.DataFrame = flows[rows].with_columns(start_s=pl.Series(times_s), copy=pl.Series(copy))
    ends = [_another_user(name, end) for name, end in (("src", "sender"), ("dst", "receiver"))]
    moved = moved.with_columns(*ends)
    if "connection_id" in flows.columns:
        moved = moved.with_columns(connection_id=_connections(moved))
    ordered: pl.DataFrame = moved.drop("copy").sort("start_s", maintain_order=True)
    return ordered.with_columns(flow_id=pl.int_range(ordered.height, dtype=pl.Int64))


def _copies(drawn: Integers) -> Integers:
    """How many times each drawn session was drawn before, from 1."""
    order = np.argsort(drawn, kind="stable")
    ordered = drawn[order]
    begins = np.searchsorted(ordered, ordered)
    copies = np.empty(drawn.size, dtype=np.int64)
    copies[order] = np.arange(drawn.size) - begins + 1
    return copies


def _another_user(name: str, opened_by: str) -> pl.Expr:
    """The user of a copy has a name of its own; where hosts are numbers they become text."""
    other = pl.format("{}/{}", pl.col(name), pl.col("copy"))
    again = (pl.col("opened_by") == opened_by) & (pl.col("copy") > 1)
    return pl.when(again).then(other).otherwise(pl.col(name).cast(pl.String)).alias(name)


def _connections(moved: pl.DataFrame) -> pl.Series:
    """Connections numbered anew: those of a copy are others."""
    return moved.select(pl.struct("connection_id", "copy").rank("dense").cast(pl.Int64) - 1).to_series()
