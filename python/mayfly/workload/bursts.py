"""UDP flows that do not send at one constant rate: the column ``bursts`` of a flow list.

A burst is a number of packets of one length at one distance. As text it is ``AT:BYTES`` for a single packet, or
``AT:BYTESxPACKETS/GAP``, bursts separated by blanks: ``0:1000x2500/0.008 40:500`` sends 2500 packets of 1000 bytes on
the wire, 8 ms apart, from the start of the flow on, and one of 500 bytes after 40 s. On/off and variable rates are a
burst per period, a recorded trace is a burst per packet. Times are seconds since the start of the flow, to 1 ns.

Files have the text. In memory the column is a list of bursts (`BURSTS`); ``crates/workload`` reads, checks and writes
both.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.workload.scripts import typed

MOST_BYTES = 65_535
"""Largest packet of IPv4."""

MOST_BURSTS = 20_000_000
"""Largest number of bursts of a workload."""

EXPECTED = "bursts such as `0:1000x2500/0.008 40:500`"

BURST = pl.Struct(dict.fromkeys(("at_ns", "gap_ns", "packets", "packet_bytes"), pl.Int64))
BURSTS = pl.List(BURST)
"""Type of the column in memory: the bursts of each flow, ascending."""


def checked(bursts: pl.Series) -> pl.DataFrame:
    """Read or check the bursts of flows.

    Parameters
    ----------
    bursts : polars.Series of str or BURSTS, shape (n_flows,)
        Null for a flow of constant rate.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 5)
        ``bursts``, of type `BURSTS`; ``size_bytes`` of payload, ``wire_bytes``, largest ``packet_bytes``, ``end_s`` of
        the last packet; null without bursts.

    Raises
    ------
    MayflyError
        A text that is none, a packet outside 29 to 65535 bytes, no packets, bursts that overlap, or come after 2 years.

    Examples
    --------
    >>> found = checked(pl.Series([None, "0:1000x3/0.5 2:100"]))
    >>> found["bursts"][1].struct.unnest().rows()
    [(0, 500000000, 3, 1000), (2000000000, 0, 1, 100)]
    >>> found.drop("bursts").row(1)
    (2988, 3100, 1000, 2.0)
    """
    bursts = typed(bursts, BURSTS)
    read = _native.parse_bursts if bursts.dtype == pl.String else _native.check_bursts
    try:
        return pl.DataFrame(read(bursts.to_frame(), MOST_BURSTS))
    except ValueError as error:
        raise MayflyError(_refusal(*error.args)) from None
    except TypeError as error:
        raise MayflyError(f"bursts: {error}") from None


def _refusal(row: int, given: str | tuple[float, int, int, float] | None = None, bound: str = "") -> str:
    if given is None:
        return f"bursts = {row} in all: must be at most {MOST_BURSTS}"
    if isinstance(given, str):
        text = given if len(given) <= 60 else given[:57] + "..."
        return f"row {row + 1}: bursts = {text!r}: must be {EXPECTED}"
    at_s, packet_bytes, packets, gap_s = given
    return f"row {row + 1}: burst {at_s:g}:{packet_bytes}x{packets}/{gap_s:g}: must be {bound}"


def of_flow(at_s: Floats, packet_bytes: Integers | int, packets: Integers | int, gap_s: Floats | float) -> pl.Series:
    """Bursts of one flow.

    Parameters
    ----------
    at_s : ndarray, shape (n_bursts,)
        First packet of each since the start of the flow, s, ascending.
    packet_bytes, packets : int or ndarray, shape (n_bursts,)
        Wire length and number of its packets.
    gap_s : float or ndarray, shape (n_bursts,)
        Time between them, s.

    Returns
    -------
    polars.Series of BURST, shape (n_bursts,)
        To the nanosecond.

    Examples
    --------
    >>> of_flow(np.array([0.0, 2.5]), 1000, np.array([100, 1]), np.array([0.008, 0.016])).struct.unnest().rows()
    [(0, 8000000, 100, 1000), (2500000000, 0, 1, 1000)]
    """
    at_s, packet_bytes, packets, gap_s = np.broadcast_arrays(at_s, packet_bytes, packets, gap_s)
    columns = {"at_ns": _in_ns(at_s), "gap_ns": np.where(packets > 1, _in_ns(gap_s), 0)}
    columns |= {"packets": packets.astype(np.int64), "packet_bytes": packet_bytes.astype(np.int64)}
    return pl.DataFrame(columns).to_struct("bursts")


def _in_ns(seconds: Floats) -> Integers:
    # The product of all of it would be off by 1 ns now and then.
    whole = np.floor(seconds)
    nanoseconds: Integers = whole.astype(np.int64) * 10**9 + np.rint((seconds - whole) * 1e9).astype(np.int64)
    return nanoseconds


def written(bursts: pl.Series) -> pl.Series:
    """Bursts as text.

    Parameters
    ----------
    bursts : polars.Series of BURSTS, shape (n_flows,)
        Null for a flow of constant rate.

    Returns
    -------
    polars.Series of str, shape (n_flows,)
        As :func:`checked` reads it.

    Examples
    --------
    >>> written(checked(pl.Series(["0:1000x3/0.5 2:100"]))["bursts"]).item()
    '0:1000x3/0.5 2:100'
    """
    return pl.DataFrame(_native.write_bursts(bursts.to_frame())).to_series().cast(pl.String).alias(bursts.name)


def scaled(bursts: pl.Series, factor: float) -> pl.Series:
    """Bursts on a clock that runs slower by ``factor``, > 0.

    Examples
    --------
    >>> written(scaled(checked(pl.Series([None, "0:1000x3/0.5 2:100"]))["bursts"], 2)).to_list()
    [None, '0:1000x3/1 4:100']
    """
    known = bursts.is_not_null()
    flat = bursts.drop_nulls().explode().struct.unnest()
    times = {name: pl.Series(_in_ns(flat[name].to_numpy() * 1e-9 * factor)) for name in ("at_ns", "gap_ns")}
    rows = pl.Series(np.repeat(known.arg_true().to_numpy(), bursts.drop_nulls().list.len().to_numpy()))
    own = flat.with_columns(**times).to_struct("bursts").to_frame().with_columns(row=rows)
    lists = own.group_by("row", maintain_order=True).agg("bursts")
    whole = pl.DataFrame({"row": np.arange(len(bursts))}).join(lists, on="row", how="left", maintain_order="left")
    return whole["bursts"].alias(bursts.name)
