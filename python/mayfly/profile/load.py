"""Load over time by class (Chen 2012, 8.3.1, Fig. 8.2).

Principle: a table of connections holds when each direction sent its first and last packet and how many bytes, not when
each byte went. The bytes of a direction are spread evenly over that time; whole bytes go into bins so that no byte is
lost or made. What this can get wrong is bounded by the bytes of the directions that reach over the edge of a bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.profile.classes import CLASSES, SIDES, share
from mayfly.workload.columns import Columns, Table, columns_of

if TYPE_CHECKING:
    import polars as pl

BIN_S = 300.0
"""Width of a bin in the paper, s."""

BINS = 100
"""Bins that a load is drawn with, about: enough to see its shape, few enough to tell them apart."""

SHORTEST_BIN_S = 1e-3
"""Narrowest bin that is chosen, s."""

MAX_BINS = 200_000
"""Bins of a profile: a day in half seconds."""


def bin_width(duration_s: float) -> float:
    """Choose the width of the bins of a load.

    Parameters
    ----------
    duration_s : float
        Of the capture, s.

    Returns
    -------
    float
        1, 2 or 5 times a power of ten, s: the narrowest with which the capture has at most :data:`BINS` bins, at least
        :data:`SHORTEST_BIN_S`.

    Examples
    --------
    >>> [bin_width(duration_s) for duration_s in (0.0, 0.03, 10.6, 74.8, 3600.0, 86_400.0)]
    [0.001, 0.001, 0.2, 1.0, 50.0, 1000.0]
    """
    least = max(duration_s / BINS, SHORTEST_BIN_S)
    exponent = math.floor(math.log10(least))
    widths = [float(f"{step}e{power}") for power in (exponent, exponent + 1) for step in (1, 2, 5)]
    # A duration of exactly so many bins is no reason for wider ones.
    return next(width for width in widths if width >= least * (1 - 1e-9))


SENT = ("packets", "wire_bytes", "first_s", "last_s")
"""What is spread of each direction, and over which time."""


@dataclass(frozen=True, eq=False)
class Loads:
    """Load of groups of connections in bins.

    Parameters
    ----------
    starts, covered : numpy.ndarray, shape (n_bins,)
        Start of each bin and how much of it the capture covers, s.
    groups : sequence of tuple of str
        Class and side of each group, in the order they come.
    bytes, packets : sequence of numpy.ndarray of int, shape (n_groups, n_bins)
        What each sent.
    """

    starts: Floats
    covered: Floats
    groups: Sequence[tuple[str, str]]
    bytes: Sequence[Integers]
    packets: Sequence[Integers]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The same as a table, as :func:`load_by_class` returns it."""
        import polars as pl

        parts = [
            pl.DataFrame(
                {"start_s": self.starts, "covered_s": self.covered, "class": name, "side": side}
                | {"bytes": sent, "packets": packets}
            )
            for (name, side), sent, packets in zip(self.groups, self.bytes, self.packets, strict=True)
        ]
        kinds = {"start_s": pl.Float64, "covered_s": pl.Float64, "class": pl.String, "side": pl.String}
        return pl.concat(parts) if parts else pl.DataFrame(schema=kinds | {"bytes": pl.Int64, "packets": pl.Int64})


def load_by_class(frame: Table, duration_s: float, bin_s: float | None = None) -> pl.DataFrame:
    """Bytes and packets of each class in each bin.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.
    duration_s : float
        Of the capture; the last bin ends there.
    bin_s : float, optional
        Width of a bin, s, above 0; that of :func:`bin_width` when absent.

    Returns
    -------
    polars.DataFrame, shape (n_bins * n_groups, 6)
        ``start_s`` and ``covered_s`` of each bin, ``class``, ``side``, ``bytes``, ``packets``: sums over all bins are
        those of the connections. Groups that do not occur are left out.

    Raises
    ------
    MayflyError
        The width is not above 0, or there would be too many bins.

    Examples
    --------
    >>> from mayfly.profile.answer import profile
    >>> load = profile(["captures/office.pcap.gz"], bin_s=10.0, bootstrap=0).load
    >>> load["bytes"].sum(), load["packets"].sum(), load["start_s"].n_unique()
    (56918367, 71390, 8)
    """
    return loads_by_class(columns_of(frame), duration_s, bin_s).frame


def loads_by_class(table: Columns, duration_s: float, bin_s: float | None = None) -> Loads:
    """The same as arrays."""
    bin_s = bin_width(duration_s) if bin_s is None else bin_s
    if not (np.isfinite(bin_s) and bin_s > 0):
        raise MayflyError(f"bin = {bin_s} s: must be above 0")
    begin = _begin(table)
    bins = max(int(np.ceil(duration_s / bin_s)), 1)
    if bins > MAX_BINS:
        raise MayflyError(f"bin = {bin_s} s: must be at least {duration_s / MAX_BINS:.3g} s, for {MAX_BINS} bins")
    starts: Floats = begin + bin_s * np.arange(bins, dtype=float)
    covered = np.minimum(starts + bin_s, begin + duration_s) - starts
    classes, side = table.words("class"), table.words("side")
    sums: dict[tuple[str, str], dict[str, Integers]] = {}
    group = classes.codes.astype(np.int64) * len(side.names) + side.codes
    codes, first_rows = np.unique(group, return_index=True)
    # Groups in the order they come.
    for code, row in sorted(zip(codes.tolist(), first_rows.tolist(), strict=True), key=lambda pair: pair[1]):
        key = (classes.names[classes.codes[row]], side.names[side.codes[row]])
        sums[key] = {what: np.zeros(bins, dtype=np.int64) for what in ("bytes", "packets")}
        for sender in ("opener", "responder"):
            rows = np.flatnonzero((group == code) & (table[f"{sender}_packets"] > 0))
            first, last = ((table[f"{sender}_{end}"][rows] - begin) / bin_s for end in ("first_s", "last_s"))
            for what, column in (("bytes", "wire_bytes"), ("packets", "packets")):
                sums[key][what] += spread(first, last, table[f"{sender}_{column}"][rows], bins)
    return Loads(
        starts,
        covered,
        list(sums),
        [found["bytes"] for found in sums.values()],
        [found["packets"] for found in sums.values()],
    )


def _begin(table: Columns) -> float:
    """Start of the first bin: 0, or the first packet where the file is out of order."""
    return min(float(table["start_s"].min()), 0.0) if table.height else 0.0


def spread(first: Floats, last: Floats, amounts: Integers, bins: int) -> Integers:
    """Spread whole amounts evenly over spans of time, into bins.

    Parameters
    ----------
    first, last : numpy.ndarray, shape (n,)
        Ends of the spans, in widths of a bin from the start of the first.
    amounts : numpy.ndarray of int, shape (n,)
        What to spread.
    bins : int
        How many bins; what lies beyond the last goes into it.

    Returns
    -------
    numpy.ndarray of int, shape (bins,)
        Its sum is that of the amounts.

    Notes
    -----
    Of each span the whole amounts that are sent by the end of a bin count, and what is new in the bin. Memory is
    bounded by the bins and :data:`AT_ONCE`, time by the smaller of amount and bins of each span.

    Examples
    --------
    >>> spread(np.array([0.5, 1.0]), np.array([2.5, 1.0]), np.array([101, 7]), 3).tolist()
    [25, 57, 26]
    """
    begin = np.clip(np.floor(first).astype(np.int64), 0, bins - 1)
    end = np.clip(np.floor(last).astype(np.int64), begin, bins - 1)
    single = end == begin
    found: Integers = np.zeros(bins, dtype=np.int64)
    np.add.at(found, begin[single], amounts[single])
    steps = end - begin + 1
    # A span of fewer units than bins leaves most of them empty: the bin of each unit is found then, not the units of
    # each bin.
    sparse = ~single & (amounts < steps)
    for rows in _parts(np.flatnonzero(sparse), amounts):
        bins_of_units, _ = _units(first[rows], last[rows], amounts[rows], begin[rows], end[rows])
        np.add.at(found, bins_of_units, 1)
    for rows in _parts(np.flatnonzero(~single & ~sparse), steps):
        _spread_dense(found, first[rows], last[rows], amounts[rows], begin[rows], end[rows])
    return found


AT_ONCE = 1 << 20
"""Pairs of span and bin that are held at once: 100 MB."""


def _parts(rows: Integers, sizes: Integers) -> Iterator[Integers]:
    """The rows in parts whose sizes add up to no more than :data:`AT_ONCE`, or that are one row."""
    if not len(rows):
        return
    place = np.cumsum(sizes[rows]) // AT_ONCE
    yield from np.split(rows, np.flatnonzero(np.diff(place)) + 1)


def _by_end(first: Floats, last: Floats, amounts: Integers, bin_of: Integers, end: Integers) -> Integers:
    """Whole amounts sent by the end of a bin; all by the end of the last."""
    reached = np.floor(amounts * np.clip((bin_of + 1 - first) / (last - first), 0.0, 1.0)).astype(np.int64)
    result: Integers = np.where(bin_of >= end, amounts, reached)
    return result


def _spread_dense(
    found: Integers, first: Floats, last: Floats, amounts: Integers, begin: Integers, end: Integers
) -> None:
    """Add the differences of what is sent by the end of each bin."""
    steps = end - begin + 1
    rows = np.repeat(np.arange(len(steps)), steps)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(steps) - steps, steps)
    bin_of = begin[rows] + place
    by_end = _by_end(first[rows], last[rows], amounts[rows], bin_of, end[rows])
    np.add.at(found, bin_of, by_end - np.where(place == 0, 0, np.roll(by_end, 1)))


def _units(first: Floats, last: Floats, amounts: Integers, begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    """The bin of each unit, by whose end that many units are sent, and the row of the unit."""
    rows = np.repeat(np.arange(len(amounts)), amounts)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(amounts) - amounts, amounts) + 1
    first, last = first[rows], last[rows]
    amounts, begin, end = amounts[rows], begin[rows], end[rows]
    near = np.floor(first + number * ((last - first) / amounts)).astype(np.int64)
    bin_of = np.clip(near, begin, end)
    # Roundings of the estimate are mended by the rule itself.
    while len(late := np.flatnonzero(_by_end(first, last, amounts, bin_of, end) < number)):
        bin_of[late] += 1
    while True:
        before = _by_end(first, last, amounts, bin_of - 1, end)
        early = np.flatnonzero((bin_of > begin) & (before >= number))
        if not len(early):
            return bin_of, rows
        bin_of[early] -= 1


def across_bins(frame: Table, bin_s: float) -> float | None:
    """Share of the bytes in directions that reach over the edge of a bin: most that a bin can be wrong by.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    bin_s : float
        Width of a bin, s.

    Returns
    -------
    float or None
        None without bytes.
    """
    table = columns_of(frame)
    begin = _begin(table)
    whole = crossing = 0
    for sender in ("opener", "responder"):
        rows = np.flatnonzero(table[f"{sender}_packets"] > 0)
        first, last = (np.floor((table[f"{sender}_{end}"][rows] - begin) / bin_s) for end in ("first_s", "last_s"))
        sent = table[f"{sender}_wire_bytes"][rows]
        whole += int(sent.sum())
        crossing += int(sent[first != last].sum())
    return share(crossing, whole)


def totals(load: Loads | pl.DataFrame, by: str) -> dict[str, Floats]:
    """Rate of each group in each bin.

    Parameters
    ----------
    load : polars.DataFrame or Loads
        Of :func:`load_by_class`.
    by : str
        ``class`` or ``side``.

    Returns
    -------
    dict of numpy.ndarray, shape (n_bins,)
        bit/s over the part of the bin that the capture covers, by group in the order of the paper, and ``all``; NaN
        where it covers none, as in a capture of one packet.
    """
    load = load if isinstance(load, Loads) else _loads_of(load)
    order, place = (CLASSES, 0) if by == "class" else (SIDES, 1)
    parts = {
        name: [sent for group, sent in zip(load.groups, load.bytes, strict=True) if group[place] == name]
        for name in order
    }
    parts = {name: sent for name, sent in parts.items() if sent} | {"all": [*load.bytes]}
    return {name: _rate(sum(sent[1:], sent[0]), load.covered) for name, sent in parts.items() if sent}


def _loads_of(load: pl.DataFrame) -> Loads:
    parts = load.partition_by("class", "side", maintain_order=True, as_dict=True)
    starts = load.select("start_s", "covered_s").unique().sort("start_s")
    ordered = [part.sort("start_s") for part in parts.values()]
    return Loads(
        starts["start_s"].to_numpy(),
        starts["covered_s"].to_numpy(),
        [(str(name), str(side)) for name, side in parts],
        [part["bytes"].to_numpy() for part in ordered],
        [part["packets"].to_numpy() for part in ordered],
    )


def _rate(sent: Integers, covered_s: Floats) -> Floats:
    result: Floats = np.full(len(covered_s), np.nan)
    np.divide(8 * sent, covered_s, out=result, where=covered_s > 0)
    return result


def load_document(load: Loads, bin_s: float, crossing: float | None) -> dict[str, Any]:
    """The bins for JSON: their starts, how much of each is covered, rates by class and side in bit/s, None for NaN."""
    return {
        "bin_s": bin_s,
        "start_s": load.starts.tolist(),
        "covered_s": load.covered.tolist(),
        "by_class_bps": {name: _known(rate) for name, rate in totals(load, "class").items()},
        "by_side_bps": {name: _known(rate) for name, rate in totals(load, "side").items() if name != "all"},
        "across_bins_share": crossing,
    }


def _known(rates: Floats) -> list[float | None]:
    return [rate if math.isfinite(rate) else None for rate in rates.tolist()]
