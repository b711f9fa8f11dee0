"""Captures as flow lists for a replay: read once by the compiled module, which makes the list of each form.

Principle: crate ``replay`` takes each connection apart into trains and makes a script of them
(:mod:`mayfly.workload.scripts`), in which an end speaks when it has heard what came before and thought about it for as
long as it did; or it sends every packet when it was captured, as UDP, whatever becomes of the ones before; or a
transfer for each direction. ``docs/mechanisms.md`` has the rules. Source: Chen 2012, 9.2.1 and 9.3.2.
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
from mayfly.errors import MayflyError
from mayfly.limits import Look
from mayfly.workload.reading import MOST_TRAINS, MOST_VOLUMES, ReadOptions
from mayfly.workload.sides import networks_of

FORMS = tuple(_native.Replay.FORMS)
"""How a capture is replayed.

``users``: connections as scripts of users who wait (:func:`mayfly.workload.closed_loop.closed`), without what the
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
    return replace(options, max_trains=MOST_TRAINS, max_packets=MOST_TRAINS, pauses=True)


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
        self.counts: dict[str, Any] = json.loads(self._reading.counts())
        self.counts["stopped"] = look.stopped if self.counts["stopped"] else None

    def connections(self) -> pl.DataFrame:
        """The table of connections, as :func:`mayfly.workload.connections.connections` returns it."""
        frame = pl.DataFrame(self._reading.connections()).with_row_index("connection_id")
        return frame.cast({"connection_id": pl.Int64})

    def replay(
        self,
        form: str,
        networks: Sequence[str] | None = None,
        *,
        mss: int = 1460,
        header_bytes: int = 40,
        tcp_only: bool = False,
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
            return _native.Replay(self._reading, form, networks, mss, header_bytes, tcp_only)
        except ValueError as error:
            raise MayflyError(str(error)) from None


def flows_of(
    replay: _native.Replay, rates_bps: tuple[float, float], *, rtt_s: float | None = None, scaled: bool = False
) -> tuple[pl.DataFrame, list[str], float | None]:
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
        :func:`mayfly.workload.closed_loop.closed`; where there are calls also ``call_packets``, how many packets a
        direction of one had in the capture, null for others.
    list of str
        What of the capture is not in it, or was assumed, in sentences.
    float or None
        Median round-trip time of the TCP connections without the queue of the captured link, in whatever form; of all
        flows where there is no TCP, s.

    Raises
    ------
    MayflyError
        A value that a flow list cannot hold, or flows that span years; one line.
    """
    try:
        table, missing, path_rtt_s = replay.flows(*rates_bps, rtt_s, scaled)
    except ValueError as error:
        raise MayflyError(str(error)) from None
    return pl.DataFrame(table), missing, path_rtt_s


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
    replay = Captured(path, options).replay(form, inside, mss=mss, tcp_only=tcp_only)
    return flows_of(replay, rates_bps)[0]


def refuse_clock_jump(flows: pl.DataFrame, source: str, lasted_s: float = 0.0, *, scaled: bool = False) -> None:
    """Refuse flows that span years, as those of two captures in one file do.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, n_columns)
        Of a capture, or its connections: ``start_s``.
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
        starts_s = flows["start_s"].drop_nulls().cast(pl.Float64).to_numpy()
        _native.refuse_clock_jump(np.ascontiguousarray(starts_s), source, lasted_s, scaled)
    except ValueError as error:
        raise MayflyError(str(error)) from None
