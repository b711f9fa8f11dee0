"""Distributions of a profile: flow sizes, durations, times between arrivals, round-trip times (Chen 2012, 8.3.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Booleans, Floats, Integers, Numbers
from mayfly.profile.classes import CLASSES, SIDES, share
from mayfly.workload.columns import Columns, Table, Words, begins_of, columns_of

if TYPE_CHECKING:
    import polars as pl

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles that are told."""

LARGEST = 0.05
"""Share of the largest flows whose part of the bytes is told."""

OVER = {
    "udp": ("one_way", "two_way"),
    "tcp": ("complete", "reset", "rejected"),
}
"""States of a connection whose end was seen, or that has none."""


def begun() -> pl.Expr:
    """Whether the start of a connection is in the capture: its SYN or SYN-ACK, or any UDP."""
    import polars as pl

    return (pl.col("protocol") != "tcp") | pl.col("opener_from").is_in(FROM_START)


FROM_START = ("syn", "syn_ack", "simultaneous")
"""What tells who opened a connection that began in the capture."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of a measure with the class of their connection.

    Parameters
    ----------
    classes, side : Words
        Of each value.
    values : numpy.ndarray, shape (n,)
        None is missing.
    counts : numpy.ndarray of int, shape (n,), optional
        Of what each value is the mean, where it is one.
    """

    classes: Words
    side: Words
    values: Floats
    counts: Integers | None = None

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The same as a table with ``class``, ``side`` and ``value``, and ``samples`` where there are counts."""
        import polars as pl

        columns = {"class": self.classes.listed(), "side": self.side.listed()}
        table = pl.DataFrame(columns, schema={"class": pl.String, "side": pl.String}).with_columns(
            pl.Series("value", self.values, dtype=pl.Float64)
        )
        return table if self.counts is None else table.with_columns(pl.Series("samples", self.counts, dtype=pl.Int64))

    def groups(self, by: str) -> dict[str, Floats]:
        """Values of each class or side."""
        words, order = (self.side, SIDES) if by == "side" else (self.classes, CLASSES)
        return {name: self.values[words.are(name)] for name in order}


def sample_of(table: Columns, rows: Integers, values: Floats, counts: Integers | None = None) -> Sample:
    """The values of some rows that are known."""
    known = ~np.isnan(values)
    rows = rows[known]
    counts = None if counts is None else table.held(counts[known])
    values = table.held(values[known])
    return Sample(table.words("class").of(rows), table.words("side").of(rows), values, counts)


def _flows(table: Columns) -> Booleans:
    return table.words("protocol").among(["tcp", "udp"])


def _begun(table: Columns) -> Booleans:
    found: Booleans = ~table.words("protocol").are("tcp") | table.words("opener_from").among(FROM_START)
    return found


def _over(table: Columns) -> Booleans:
    return table.words("state").among([*OVER["udp"], *OVER["tcp"]])


def _arrivals(table: Columns) -> Integers:
    """Rows of connections that began in the capture, in the order of their starts."""
    rows = np.flatnonzero(_flows(table) & _begun(table))
    return rows[np.argsort(table["start_s"][rows], kind="stable")]


def samples(frame: Table) -> dict[str, pl.DataFrame]:
    """Values of each measure with the class of their connection.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.

    Returns
    -------
    dict of polars.DataFrame
        Each with ``class``, ``side`` and ``value``, of TCP and UDP:

        ``size_bytes`` of mature connections: payload of both directions, each byte once.
        ``packets`` of mature connections, both directions.
        ``duration_s`` from first to last packet, of mature connections whose start and end were seen.
        ``gap_s`` between the starts of consecutive connections of all classes that began in the capture; the class is
        that of the later one. Zeros (within the resolution of the clock) are among them.
        ``rtt_s`` of handshakes.
    """
    return {name: sample.frame for name, sample in sampled(columns_of(frame)).items()}


def sampled(table: Columns) -> dict[str, Sample]:
    """The same as arrays."""
    flows, mature = np.flatnonzero(_flows(table)), np.flatnonzero(_flows(table) & table["mature"])
    seen = np.flatnonzero(_flows(table) & table["mature"] & _begun(table) & _over(table))
    arrivals = _arrivals(table)
    size = table["opener_distinct_bytes"] + table["responder_distinct_bytes"]
    return {
        "size_bytes": sample_of(table, mature, size[mature].astype(float)),
        "packets": sample_of(table, mature, table["packets"][mature].astype(float)),
        "duration_s": sample_of(table, seen, table["end_s"][seen] - table["start_s"][seen]),
        "gap_s": sample_of(table, arrivals[1:], np.diff(table["start_s"][arrivals])),
        "rtt_s": sample_of(table, flows, table["rtt_s"][flows]),
    }


def gaps_within(frame: Table, by: str) -> dict[str, Floats]:
    """Times between the arrivals of connections of the same group.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.
    by : str
        ``class`` or ``side``.

    Returns
    -------
    dict of numpy.ndarray
        s, in the order of arrival, by group; groups with fewer than two arrivals are left out.
    """
    table = columns_of(frame)
    rows = _arrivals(table)
    words, starts = table.words(by).of(rows), table["start_s"][rows]
    order = CLASSES if by == "class" else SIDES
    found = {name: np.diff(starts[words.are(name)]) for name in order}
    return {name: values for name, values in found.items() if len(values)}


def summary(values: Numbers) -> dict[str, Any]:
    """Number, mean, deviation over mean, extremes and quantiles of values.

    Parameters
    ----------
    values : array_like, shape (n,)
        Any numbers.

    Returns
    -------
    dict
        ``n, mean, cov, min, max`` and ``q05`` to ``q95`` (the smallest value with at least that share at or below it);
        None where there is nothing to tell.

    Examples
    --------
    >>> told = summary([1.0, 2.0, 3.0, 10.0])
    >>> told["n"], told["mean"], told["q50"], told["max"]
    (4, 4.0, 2.0, 10.0)
    """
    values = np.asarray(values, dtype=float)
    if not len(values):
        return {name: None for name in ("mean", "cov", "min", "max", *map(_named, SHARES))} | {"n": 0}
    # As numpy's `inverted_cdf`, which takes ten times as long to say which they are.
    places = [max(math.ceil(len(values) * share - 1), 0) for share in SHARES]
    quantiles = np.partition(values, sorted({*places}))[places]
    mean = float(values.mean())
    return {
        "n": len(values),
        "mean": mean,
        "cov": float(values.std()) / mean if mean else None,
        "min": float(values.min()),
        "max": float(values.max()),
        **{_named(q): float(value) for q, value in zip(SHARES, quantiles, strict=True)},
    }


def _named(q: float) -> str:
    return f"q{round(100 * q):02d}"


def cdf(values: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """Distribution function at the values, thinned to evenly spaced shares.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least one.
    points : int
        Most points, at least 2; both extremes are among them.

    Returns
    -------
    x, y : numpy.ndarray, shape (at most points,)
        Values ascending, and the share of the values at or below each.

    Examples
    --------
    >>> x, y = cdf([3.0, 1.0, 1.0, 2.0])
    >>> x.tolist(), y.tolist()
    ([1.0, 2.0, 3.0], [0.5, 0.75, 1.0])
    """
    x, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    y = np.cumsum(counts) / counts.sum()
    return _thinned(x, y, points)


def mass_cdf(values: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """Mass-weighted distribution: share of the sum that is in values at or below each (Chen 2012, Fig. 8.3(b)).

    Parameters
    ----------
    values : array_like, shape (n,)
        At least one above 0, none below.
    points : int
        As for :func:`cdf`.

    Returns
    -------
    x, y : numpy.ndarray, shape (at most points,)

    Examples
    --------
    >>> x, y = mass_cdf([1.0, 1.0, 2.0, 4.0])
    >>> x.tolist(), y.tolist()
    ([1.0, 2.0, 4.0], [0.25, 0.5, 1.0])
    """
    x, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    y = np.cumsum(x * counts)
    return _thinned(x, y / y[-1], points)


def _thinned(x: Floats, y: Floats, points: int) -> tuple[Floats, Floats]:
    if len(x) <= points:
        return x, y
    # Evenly by share and evenly by place in the logarithm of what is left: the tail keeps its points.
    wanted = np.concatenate([np.linspace(0, 1, points // 2), 1 - np.geomspace(1, 1 / len(x), points - points // 2)])
    kept = np.sort(np.concatenate([[0], np.clip(np.searchsorted(y, wanted), 0, len(x) - 1), [len(x) - 1]]))
    kept = kept[begins_of(kept)]
    return x[kept], y[kept]


def carried_by_largest(values: Floats, largest: float = LARGEST) -> float | None:
    """Share of the sum that the largest values hold.

    Parameters
    ----------
    values : array_like, shape (n,)
        None below 0.
    largest : float
        Share of the values, rounded up to whole ones.

    Returns
    -------
    float or None
        None of nothing.

    Examples
    --------
    >>> carried_by_largest([1.0] * 19 + [81.0])
    0.81
    """
    ordered = np.sort(np.asarray(values, dtype=float))[::-1]
    count = int(np.ceil(largest * len(ordered)))
    return share(float(ordered[:count].sum()), float(ordered.sum()))


def summaries(sample: Sample) -> dict[str, Any]:
    """Summary of a measure over all connections, by side and by class.

    Parameters
    ----------
    sample : Sample
        One of :func:`sampled`.

    Returns
    -------
    dict
        ``all``, and the sides and classes that have values: each as :func:`summary`.
    """
    groups = sample.groups("side") | sample.groups("class")
    return grouped_summaries(sample.values, {name: values for name, values in groups.items() if len(values)})


def grouped_summaries(values: Floats, groups: Mapping[str, Floats]) -> dict[str, Any]:
    """Summaries of all values, ``all``, and of groups of them; a group that has as many is all of them."""
    whole = summary(values)
    return {"all": whole} | {
        name: dict(whole) if len(group) == len(values) else summary(group) for name, group in groups.items()
    }


SENT_AGAIN = ("data_packets", "retransmits", "lost_before", "missing_bytes")
"""What is counted of each direction."""


def retransmission(frame: Table) -> dict[str, Any]:
    """Data packets of TCP that had been sent before, over all.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.

    Returns
    -------
    dict
        For ``all``, and each side and class with TCP: ``data_packets``; of these ``retransmits``, seen twice, and
        ``lost_before``, sent twice and seen once since the first was lost before the tap; the share of both, ``rate``
        (None without data); ``missing_bytes`` never captured. docs/captures.md says how they are told.
    """
    table = columns_of(frame)
    tcp = table.words("protocol").are("tcp")
    parts = {"all": tcp}
    parts |= {name: tcp & table.words("side").are(name) for name in SIDES}
    parts |= {name: tcp & table.words("class").are(name) for name in CLASSES}
    sent = {name: table[f"opener_{name}"] + table[f"responder_{name}"] for name in SENT_AGAIN}
    found = {}
    for name, rows in parts.items():
        if name == "all" or rows.any():
            sums = {what: int(values[rows].sum()) for what, values in sent.items()}
            found[name] = sums | {"rate": share(sums["retransmits"] + sums["lost_before"], sums["data_packets"])}
    return found


def unseen(frame: Table) -> dict[str, int]:
    """Connections that the durations leave out: begun before the capture, or not ended in it."""
    table = columns_of(frame)
    mature, there = _flows(table) & table["mature"], _begun(table)
    return {"begun_before": int((mature & ~there).sum()), "not_ended": int((mature & there & ~_over(table)).sum())}


def positive(values: Sequence[float] | Floats) -> tuple[Floats, int]:
    """Values above 0, and how many are not."""
    values = np.asarray(values, dtype=float)
    kept = values[values > 0]
    return kept, len(values) - len(kept)
