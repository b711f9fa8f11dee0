"""Sessions of users in a flow list, and other hours like it: lists made of sessions drawn with replacement.

Principle: what users start is well described as sessions that arrive as a Poisson process, while what happens inside a
session is not (Paxson and Floyd 1995). A list is one draw of that process. Another draw with the same law of sessions
is made of the sessions seen: as many as a Poisson number says, each one of those seen with equal chance, each at a time
of its own. This is the bootstrap of a marked point process (Efron and Tibshirani 1993, ch. 6 and 8).
"""

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.workload.arrivals import check_seed

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
    return pl.DataFrame(_native.sessions(*_starts(flows), _checked(gap_s)))["session"].to_numpy()


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
    A session begins at a uniform time within the span of the starts; a flow that would start after the end of the span
    starts as much after its beginning, as flows that were under way when the capture began. Times within a session
    stay. The hour is thus taken as stationary, and users as independent of each other. Crate ``replay`` draws it
    (``sessions.rs``), with numpy's random numbers.
    """
    check_seed(seed)
    try:
        native = _native.another_hour(*_starts(flows), _checked(gap_s), seed, str(replication))
    except ValueError as error:
        raise MayflyError(str(error)) from None
    drawn = pl.DataFrame(native)
    moved = flows[drawn["row"]].with_columns(drawn["start_s", "copy"])
    ends = [_another_user(name, end) for name, end in (("src", "sender"), ("dst", "receiver"))]
    hour = moved.with_columns(*ends, flow_id=pl.int_range(drawn.height, dtype=pl.Int64)).drop("copy")
    return hour.with_columns(drawn["connection_id"]) if "connection_id" in flows.columns else hour


def _checked(gap_s: float) -> float:
    if not gap_s > 0:
        raise MayflyError(f"gap_s = {gap_s}: must be above 0 s")
    return gap_s


def _starts(flows: pl.DataFrame) -> tuple[Floats, Integers, Integers | None]:
    """Start, rank of the user and connection of each flow, as the native module takes them."""
    # Without a number they are of one connection, without a name of one user.
    ranks = users_of(flows).fill_null("").rank("dense").cast(pl.UInt32)
    connections = flows["connection_id"].cast(pl.Int64).fill_null(-1) if "connection_id" in flows.columns else None
    columns = (flows["start_s"].cast(pl.Float64), ranks, connections)
    start_s, users, ids = (None if own is None else np.ascontiguousarray(own.to_numpy()) for own in columns)
    assert start_s is not None and users is not None  # every list has these
    return start_s, users, ids


def _another_user(name: str, opened_by: str) -> pl.Expr:
    """The user of a copy has a name of its own; where hosts are numbers they become text."""
    other = pl.format("{}/{}", pl.col(name), pl.col("copy"))
    again = (pl.col("opened_by") == opened_by) & (pl.col("copy") > 1)
    return pl.when(again).then(other).otherwise(pl.col(name).cast(pl.String)).alias(name)
