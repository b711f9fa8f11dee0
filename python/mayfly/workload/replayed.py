"""Captures as flow lists for a replay: read once by the compiled module, which makes the list of each form.

Principle: crate ``replay`` takes each connection apart into trains and makes a script of them
(:mod:`mayfly.workload.scripts`), in which an end speaks when it has heard what came before and thought about it for as
long as it did; or it sends every packet when it was captured, as UDP, whatever becomes of the ones before; or a
transfer for each direction. ``docs/mechanisms.md`` has the rules. Source: Chen 2012, 9.2.1 and 9.3.2.

Users who wait: a host that starts a connection while nothing of its own is under way has thought since the last one
ended; were the link faster, it would have started sooner. Connections of a host that overlap belong together: each of
them keeps its time within the group. A time longer than anybody thinks ties nothing: what comes then comes at its own
time.

Sessions: what users start is well described as sessions that arrive as a Poisson process, while what happens inside a
session is not (Paxson and Floyd 1995). A list is one draw of that process. Another draw with the same law of sessions
is made of the sessions seen: as many as a Poisson number says, each one of those seen with equal chance, each at a time
of its own. This is the bootstrap of a marked point process (Efron and Tibshirani 1993, ch. 6 and 8).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.limits import Look
from mayfly.workload.arrivals import check_seed
from mayfly.workload.reading import MOST_TRAINS, MOST_VOLUMES, ReadOptions
from mayfly.workload.sides import networks_of
from mayfly.workload.sieve import noted

FORMS = tuple(_native.Replay.FORMS)
"""How a capture is replayed.

``users``: connections as scripts of users who wait (:func:`mayfly.workload.replayed.closed`), without what the
captured link did. ``trains``: scripts too, each at its time, with the queue of the captured link. ``packets``: every
packet when it was captured, as UDP. ``transfers``: a transfer for each direction of a connection, with all its data at
once.
"""


def read_options(form: str = "users", *, initial_window: int = 1, delayed_ack: bool = True) -> ReadOptions:
    """How a capture is read for a replay.

    Parameters
    ----------
    form : str
        One of :data:`FORMS`.
    initial_window, delayed_ack
        Of the ideal transfer with which a train is compared to be called slow: those of the TCP that replays it.

    Returns
    -------
    ReadOptions
    """
    options = ReadOptions(max_volumes=MOST_VOLUMES, initial_window=initial_window, delayed_ack=delayed_ack)
    if form == "transfers":
        return options
    # Scripts are made of trains.
    of_tcp = form == "packets"
    return replace(options, max_trains=MOST_TRAINS, max_packets=MOST_TRAINS, packets_of_tcp=of_tcp, pauses=True)


class Captured:
    """Captures, read as one for a replay; their connections stay in the compiled module.

    Parameters
    ----------
    paths : path or sequence of paths
        As for :func:`mayfly.workload.connections.read_captures`.
    options : ReadOptions
        Of :func:`read_options`, for the form in which they will be replayed.

    Attributes
    ----------
    counts : dict
        As :func:`mayfly.workload.connections.connections` returns it.

    Raises
    ------
    MayflyError
        As :func:`mayfly.workload.connections.read_captures`.
    """

    def __init__(self, paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], options: ReadOptions) -> None:
        files = [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]
        if not files:
            raise MayflyError("no capture given: name at least one file, or - for the standard input")
        name = str(paths) if isinstance(paths, str | os.PathLike) else ", ".join(files)
        look = Look(files)
        try:
            self._reading = _native.CaptureReading(name, files, options.for_files(files), look)
        except ValueError as error:
            raise MayflyError(" ".join(str(error).split())) from None
        look.end()
        self.counts: dict[str, Any] = noted(json.loads(self._reading.counts()))
        self.counts["stopped"] = look.stopped if self.counts["stopped"] else None

    def connections(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """The table of connections, as :func:`mayfly.workload.connections.connections` returns it.

        Parameters
        ----------
        names : sequence of str, optional
            Its columns next to ``connection_id``; all when None.

        Returns
        -------
        polars.DataFrame, shape (n_connections, n_columns)
        """
        wanted = None if names is None else list(names)
        frame = pl.DataFrame(self._reading.connections(wanted)).with_row_index("connection_id")
        return frame.cast({"connection_id": pl.Int64})

    def replay(
        self,
        form: str,
        networks: Sequence[str] | None = None,
        *,
        mss: int = 1460,
        header_bytes: int = 40,
        tcp_only: bool = False,
        last: bool = False,
    ) -> _native.Replay:
        """The captures, ready to be replayed over any link.

        Parameters
        ----------
        form : str
            One of :data:`FORMS`.
        networks : sequence of str, optional
            CIDRs of the near side of the link; found by :func:`mayfly.workload.sides.near_side` when None.
        mss, header_bytes : int
            Payload of a full packet of the replay, and header of each, bytes.
        tcp_only : bool
            Leave UDP out.
        last : bool
            Nothing is asked of the captures any more: their memory is given back.

        Returns
        -------
        _native.Replay

        Raises
        ------
        MayflyError
            Another form, no host in ``networks``, nothing to replay, or more trains or packets than were read; one
            line.
        """
        if form not in FORMS:
            raise MayflyError(f"replay = {form!r}: must be {', '.join(FORMS[:-1])} or {FORMS[-1]}")
        try:
            return _native.Replay(self._reading, form, networks, mss, header_bytes, tcp_only, last)
        except ValueError as error:
            raise MayflyError(str(error)) from None


def flows_of(
    replay: _native.Replay, rates_bps: tuple[float, float], *, rtt_s: float | None = None, scaled: bool = False
) -> tuple[pl.DataFrame, list[str], float | None, _native.Asides]:
    """The flow list of a replay over a link.

    Parameters
    ----------
    replay : _native.Replay
    rates_bps : (float, float)
        Of the link, down and up, bit/s; where the capture carries more in a second, the captured link had more.
    rtt_s : float, optional
        Median round-trip time of the TCP connections, s: the times of all flows are multiplied by one factor, within
        what a flow list may hold; where none is known, all are this. Waits and starts stay as they are: they are of the
        users and their hosts.
    scaled : bool
        Times will be multiplied, so that they may span years.

    Returns
    -------
    polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list, the first flow at 0, with ``connection_id``; of ``users`` also ``lasted_s``, for
        :func:`mayfly.workload.replayed.closed`; where there are calls also ``call_packets``, how many packets a
        direction of one had in the capture, null for others.
    list of str
        What of the capture is not in it, or was assumed, in sentences.
    float or None
        Median round-trip time of the TCP connections without the queue of the captured link, in whatever form; of all
        flows where there is no TCP, s.
    _native.Asides
        How much of the capture is left aside.

    Raises
    ------
    MayflyError
        A value that a flow list cannot hold, or flows that span years; one line.
    """
    try:
        table, missing, path_rtt_s, asides = replay.flows(*rates_bps, rtt_s, scaled)
    except ValueError as error:
        raise MayflyError(str(error)) from None
    return pl.DataFrame(table), missing, path_rtt_s, asides


def replayed_flows(
    path: str | os.PathLike[str],
    form: str,
    networks: Sequence[str] | None = None,
    *,
    rates_bps: tuple[float, float] = (0.0, 0.0),
    mss: int = 1460,
    initial_window: int = 1,
    delayed_ack: bool = True,
    tcp_only: bool = False,
) -> pl.DataFrame:
    """The flow list of a capture.

    Parameters
    ----------
    path : path
        Capture.
    form, networks, mss, tcp_only
        As for :meth:`Captured.replay`.
    rates_bps : (float, float)
        As for :func:`flows_of`; the form ``users`` alone depends on it.
    initial_window, delayed_ack
        As for :func:`read_options`.

    Returns
    -------
    polars.DataFrame, shape (n_flows, n_columns)
        As :func:`flows_of` returns it.

    Raises
    ------
    MayflyError
        As there.

    Examples
    --------
    >>> flows = replayed_flows("captures/office.pcap.gz", "trains", ["10.10.0.0/24"])
    >>> flows["protocol"].value_counts(sort=True).rows()
    [('tcp', 520), ('udp', 368)]
    """
    options = read_options(form, initial_window=initial_window, delayed_ack=delayed_ack)
    inside = None if networks is None else networks_of(networks)
    replay = Captured(path, options).replay(form, inside, mss=mss, tcp_only=tcp_only, last=True)
    return flows_of(replay, rates_bps)[0]


def refuse_clock_jump(starts_s: Any, source: str, lasted_s: float = 0.0, *, scaled: bool = False) -> None:
    """Refuse flows that span years, as those of two captures in one file do.

    Parameters
    ----------
    starts_s : array_like, shape (n_flows,)
        When the flows of a capture start, or its connections, s.
    source : str
        What the message calls it.
    lasted_s : float
        How long their packets came, s, where that is known.
    scaled : bool
        A load will scale their times: only what no flow list holds is refused.

    Raises
    ------
    MayflyError
        They span more than two years, or 10^9 s where ``scaled``.
    """
    try:
        starts_s = np.ascontiguousarray(starts_s, dtype=np.float64)
        _native.refuse_clock_jump(starts_s, source, lasted_s, scaled)
    except ValueError as error:
        raise MayflyError(str(error)) from None


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


LASTED = "lasted_s"
"""Column of a flow list: from the start of a connection to its last data, in the capture, s."""


CAPTURED, CAPTURED_FOR = "captured_s", "captured_for_s"
"""Columns of a list with users who wait: when each flow starts in the capture, and how long it lasts there, s; null for
those that nobody waits for."""


def closed(flows: pl.DataFrame) -> pl.DataFrame:
    """The list with users who wait.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        With `LASTED`, null for flows that nobody waits for, such as UDP.

    Returns
    -------
    polars.DataFrame
        Without `LASTED`; with ``stage`` and ``after``, ``start_s`` from the end of the stage before where there is
        one, and `CAPTURED` and `CAPTURED_FOR`, which were ``start_s`` and `LASTED`. In the order of the list.

    Examples
    --------
    >>> flows = pl.DataFrame({"start_s": [0.0, 3.0], "lasted_s": [1.0, 1.0], "src": ["a", "a"], "dst": ["b", "b"],
    ...                       "opened_by": ["sender", "sender"]})
    >>> closed(flows).select("start_s", "stage", "after").rows()
    [(0.0, 0, None), (2.0, 1, 0)]
    """
    if LASTED not in flows.columns:
        return flows
    # Crate ``replay`` has the rules: whom a host waits for, and how long at most.
    users = users_of(flows).cast(pl.Categorical).to_physical()
    columns = (
        flows["start_s"].cast(pl.Float64).to_numpy(),
        users.cast(pl.UInt32).to_numpy(),
        flows[LASTED].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
    )
    begun_s, numbers, lasted_s = (np.ascontiguousarray(column) for column in columns)
    starts = pl.DataFrame(_native.closed_loop(begun_s, numbers, lasted_s))
    there = {CAPTURED: flows["start_s"].cast(pl.Float64), CAPTURED_FOR: flows[LASTED].cast(pl.Float64)}
    return flows.with_columns(starts).with_columns(**there).drop(LASTED)
