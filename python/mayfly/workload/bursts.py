"""UDP flows that do not send at one constant rate: the column ``bursts`` of a flow list.

A burst is a number of packets of one length at one distance. Written ``AT:BYTES`` for a single packet, or
``AT:BYTESxPACKETS/GAP``, bursts separated by blanks: ``0:1000x2500/0.008 40:500`` sends 2500 packets of 1000 bytes on
the wire, 8 ms apart, from the start of the flow on, and one of 500 bytes after 40 s. On/off and variable rates are a
burst per period, a recorded trace is a burst per packet. Times are seconds since the start of the flow, kept to 1 ns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES

MOST_BYTES = 65_535
"""Largest packet of IPv4."""

LONGEST_S = 63_072_000.0
"""Latest packet after the start of its flow, s: 2 years."""

MOST_BURSTS = 20_000_000
"""Largest number of bursts of a workload."""

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
_BURST = rf"({_NUMBER}):(\d{{1,5}})(?:x(\d{{1,12}})/({_NUMBER}))?"
_WHOLE = rf"^{_BURST}(?: {_BURST})*$"

_KEPT_ROWS = 1000
"""Longest list whose bursts are parsed once only."""

EXPECTED = "bursts such as `0:1000x2500/0.008 40:500`"


def parsed(texts: pl.Series) -> pl.DataFrame:
    """Bursts of the flows that have any.

    Parameters
    ----------
    texts : polars.Series of str, shape (n_flows,)
        As above; null for a flow of constant rate.

    Returns
    -------
    polars.DataFrame, shape (n_bursts, 5)
        ``row`` in ``texts``, ``at_ns``, ``gap_ns``, ``packets``, ``packet_bytes``; in order of row and time.

    Raises
    ------
    MayflyError
        A text that is none, a packet outside 29 to 65535 bytes, no packets, bursts that overlap, or come after 2 years.

    Examples
    --------
    >>> parsed(pl.Series([None, "0:1000x3/0.5 2:100"])).rows()
    [(1, 0, 500000000, 3, 1000), (1, 2000000000, 0, 1, 100)]
    """
    return _kept(tuple(texts.to_list())) if len(texts) <= _KEPT_ROWS else _parsed(texts)


@lru_cache(maxsize=8)
def _kept(texts: tuple[str | None, ...]) -> pl.DataFrame:
    """A short list is asked for by everyone who measures or runs it."""
    return _parsed(pl.Series(texts, dtype=pl.String))


def _parsed(texts: pl.Series) -> pl.DataFrame:
    known = pl.DataFrame({"row": np.arange(len(texts), dtype=np.uint32), "text": texts}).drop_nulls()
    bad = known.filter(~pl.col("text").str.contains(_WHOLE))
    if bad.height:
        raise MayflyError(f"row {bad['row'][0] + 1}: bursts = {_shortened(bad['text'][0])}: must be {EXPECTED}")
    parts = known.with_columns(pl.col("text").str.split(" ")).explode("text")
    if parts.height > MOST_BURSTS:
        raise MayflyError(f"bursts = {parts.height} in all: must be at most {MOST_BURSTS}")
    found = parts.select("row", burst=pl.col("text").str.extract_groups(f"^{_BURST}$")).unnest("burst")
    numbers = found.select(
        "row",
        at_s=pl.col("1").cast(pl.Float64),
        gap_s=pl.col("4").cast(pl.Float64).fill_null(0.0),
        packets=pl.col("3").cast(pl.Int64).fill_null(1),
        packet_bytes=pl.col("2").cast(pl.Int64),
    )
    _check(numbers)
    return numbers.select("row", at_ns=_ns("at_s"), gap_ns=_ns("gap_s"), packets="packets", packet_bytes="packet_bytes")


def _ns(name: str) -> pl.Expr:
    return (pl.col(name) * 1e9).round().cast(pl.Int64)


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _check(numbers: pl.DataFrame) -> None:
    """Refuse the first burst out of bounds or order."""
    end_s = pl.col("at_s") + pl.col("gap_s") * (pl.col("packets") - 1)
    same = pl.col("row") == pl.col("row").shift(1)
    bounds = (
        (
            ~pl.col("packet_bytes").is_between(UDP_HEADER_BYTES + 1, MOST_BYTES),
            f"{UDP_HEADER_BYTES + 1} to {MOST_BYTES} bytes",
        ),
        (pl.col("packets") < 1, "at least one packet"),
        ((end_s > LONGEST_S) | (pl.col("gap_s") > LONGEST_S), "over within 2 years"),
        # Rounded to 1 ns, a burst may meet the end of the one before it.
        ((same & (pl.col("at_s") < end_s.shift(1) - 0.5e-9)).fill_null(False), "after the one before it"),
    )
    for wrong, bound in bounds:
        found = numbers.filter(wrong)
        if found.height:
            row, at_s, gap_s, packets, packet_bytes = found.row(0)
            given = f"{at_s:g}:{packet_bytes}x{packets}/{gap_s:g}"
            raise MayflyError(f"row {row + 1}: burst {given}: must be {bound}")


def written(at_s: Floats, packet_bytes: Integers | int, packets: Integers | int, gap_s: Floats) -> str:
    """Bursts of one flow as text.

    Parameters
    ----------
    at_s : ndarray, shape (n_bursts,)
        First packet of each since the start of the flow, s, ascending.
    packet_bytes, packets : int or ndarray, shape (n_bursts,)
        Wire length and number of its packets.
    gap_s : ndarray, shape (n_bursts,)
        Time between them, s.

    Returns
    -------
    str
        To the nanosecond.

    Examples
    --------
    >>> written(np.array([0.0, 2.5]), 1000, np.array([100, 1]), np.array([0.008, 0.016]))
    '0:1000x100/0.008 2.5:1000'
    """
    columns = np.broadcast_arrays(at_s, packet_bytes, packets, gap_s)
    return " ".join(_one(*burst) for burst in zip(*(column.tolist() for column in columns), strict=True))


def _one(at_s: float, packet_bytes: int, packets: int, gap_s: float) -> str:
    return f"{_decimal(at_s)}:{packet_bytes}" + (f"x{packets}/{_decimal(gap_s)}" if packets > 1 else "")


def _decimal(seconds: float) -> str:
    return f"{seconds:.9f}".rstrip("0").rstrip(".")


def volumes(texts: pl.Series) -> pl.DataFrame:
    """What the bursts of each flow add up to.

    Parameters
    ----------
    texts : polars.Series of str, shape (n_flows,)
        As of :func:`parsed`.

    Returns
    -------
    polars.DataFrame, shape (n_flows_with_bursts, 5)
        ``row``, ``size_bytes`` of payload, ``wire_bytes``, largest ``packet_bytes``, ``end_s`` of the last packet.

    Examples
    --------
    >>> volumes(pl.Series(["0:1000x3/0.5 2:100"])).rows()
    [(0, 2988, 3100, 1000, 2.0)]
    """
    last_ns = pl.col("at_ns") + pl.col("gap_ns") * (pl.col("packets") - 1)
    return (
        parsed(texts)
        .group_by("row", maintain_order=True)
        .agg(
            size_bytes=_sum(pl.col("packet_bytes") - UDP_HEADER_BYTES),
            wire_bytes=_sum(pl.col("packet_bytes")),
            packet_bytes=pl.col("packet_bytes").max(),
            end_s=last_ns.max() * 1e-9,
        )
    )


def _sum(each_bytes: pl.Expr) -> pl.Expr:
    # Bursts without bound overflow whole numbers; below 2^53 the sum is exact.
    return (pl.col("packets").cast(pl.Float64) * each_bytes).sum().clip(upper_bound=2.0**53).cast(pl.Int64)


def scaled(texts: pl.Series, factor: float) -> pl.Series:
    """Bursts on a clock that runs slower by ``factor``, > 0.

    Examples
    --------
    >>> scaled(pl.Series([None, "0:1000x3/0.5 2:100"]), 2).to_list()
    [None, '0:1000x3/1 4:100']
    """
    texts_of: list[str | None] = [None] * len(texts)
    for (row,), own in parsed(texts).partition_by("row", as_dict=True).items():
        at_s, gap_s = (own[name].to_numpy() * 1e-9 * factor for name in ("at_ns", "gap_ns"))
        texts_of[row] = written(at_s, own["packet_bytes"].to_numpy(), own["packets"].to_numpy(), gap_s)
    return pl.Series(texts.name, texts_of, dtype=pl.String)


def native_bursts(flows: pl.DataFrame) -> dict[str, Floats]:
    """Columns of the bursts as the native module takes them; of length 0 when all rates are constant."""
    texts = flows.get_column("bursts", default=None)
    found = parsed(pl.Series([], dtype=pl.String) if texts is None else texts)
    types: Sequence[tuple[str, str, type]] = (
        ("flow", "row", np.uint32),
        ("at_ns", "at_ns", np.uint64),
        ("gap_ns", "gap_ns", np.uint64),
        ("packets", "packets", np.uint64),
        ("packet_bytes", "packet_bytes", np.uint32),
    )
    return {name: found[column].to_numpy().astype(kind) for name, column, kind in types}
