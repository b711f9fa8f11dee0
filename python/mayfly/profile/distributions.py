"""Distributions of a profile: flow sizes, durations, times between arrivals, round-trip times (Chen 2012, 8.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.profile.classes import CLASSES, SIDES, share

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
    return (pl.col("protocol") != "tcp") | pl.col("opener_from").is_in(["syn", "syn_ack", "simultaneous"])


BEGUN = ("protocol", "opener_from", "start_s")
"""What :func:`begun` and the order of arrivals need."""


def _flows(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("protocol") != "icmp")


def samples(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
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
    # Of the columns of a connection, some seventy, only these are filtered and sorted.
    sizes = ("opener_distinct_bytes", "responder_distinct_bytes", "packets", "rtt_s", "mature")
    frame = _flows(frame.select(*BEGUN, "state", "end_s", *sizes, "class", "side"))
    mature = frame.filter(pl.col("mature"))
    size = pl.col("opener_distinct_bytes") + pl.col("responder_distinct_bytes")
    over = pl.col("state").is_in([*OVER["udp"], *OVER["tcp"]])
    arrivals = frame.filter(begun()).sort("start_s")
    keys = ("class", "side")
    found = {
        "size_bytes": mature.select(*keys, size.cast(pl.Float64).alias("value")),
        "packets": mature.select(*keys, pl.col("packets").cast(pl.Float64).alias("value")),
        "duration_s": mature.filter(begun() & over).select(*keys, (pl.col("end_s") - pl.col("start_s")).alias("value")),
        "gap_s": arrivals.select(*keys, pl.col("start_s").diff().alias("value")),
        "rtt_s": frame.select(*keys, pl.col("rtt_s").alias("value")),
    }
    return {name: table.drop_nulls("value") for name, table in found.items()}


def gaps_within(frame: pl.DataFrame, by: str) -> dict[str, Floats]:
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
    arrivals = _flows(frame.select(*BEGUN, by)).filter(begun()).sort("start_s")
    order = CLASSES if by == "class" else SIDES
    found = {name: np.diff(starts) for name, starts in _groups(arrivals, by, order, "start_s").items()}
    return {name: values for name, values in found.items() if len(values)}


def _groups(table: pl.DataFrame, by: str, order: Sequence[str], column: str) -> dict[str, Floats]:
    """The values of a column in each group, without nulls; by arrays, which take half the time of filters of tables."""
    values, names = table[column].to_numpy(), table[by]
    return {name: values[names.eq_missing(name).to_numpy()] for name in order}


def summary(values: Floats) -> dict[str, Any]:
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
    quantiles = np.quantile(values, SHARES, method="inverted_cdf")
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
    kept = np.unique(np.concatenate([[0], np.clip(np.searchsorted(y, wanted), 0, len(x) - 1), [len(x) - 1]]))
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


def summaries(table: pl.DataFrame) -> dict[str, Any]:
    """Summary of a measure over all connections, by side and by class.

    Parameters
    ----------
    table : polars.DataFrame
        One of :func:`samples`.

    Returns
    -------
    dict
        ``all``, and the sides and classes that have values: each as :func:`summary`.
    """
    found = {"all": summary(table["value"].to_numpy())}
    for by, order in (("side", SIDES), ("class", CLASSES)):
        groups = _groups(table, by, order, "value")
        found |= {name: summary(values) for name, values in groups.items() if len(values)}
    return found


SENT_AGAIN = ("data_packets", "retransmits", "lost_before", "missing_bytes")
"""What is counted of each direction."""


def retransmission(frame: pl.DataFrame) -> dict[str, Any]:
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
    counted = (f"{end}_{name}" for end in ("opener", "responder") for name in SENT_AGAIN)
    tcp = frame.select("protocol", "class", "side", *counted).filter(pl.col("protocol") == "tcp")
    parts = {"all": tcp}
    parts |= {name: tcp.filter(pl.col("side") == name) for name in SIDES}
    parts |= {name: tcp.filter(pl.col("class") == name) for name in CLASSES}
    return {name: _retransmitted(part) for name, part in parts.items() if part.height or name == "all"}


def _retransmitted(tcp: pl.DataFrame) -> dict[str, Any]:
    found = {name: int(tcp[f"opener_{name}"].sum()) + int(tcp[f"responder_{name}"].sum()) for name in SENT_AGAIN}
    return found | {"rate": share(found["retransmits"] + found["lost_before"], found["data_packets"])}


def unseen(frame: pl.DataFrame) -> dict[str, int]:
    """Connections that the durations leave out: begun before the capture, or not ended in it."""
    mature = _flows(frame.select(*BEGUN, "state", "mature")).filter(pl.col("mature"))
    before = mature.filter(~begun()).height
    over = pl.col("state").is_in([*OVER["udp"], *OVER["tcp"]])
    return {"begun_before": before, "not_ended": mature.filter(begun() & ~over).height}


def positive(values: Sequence[float] | Floats) -> tuple[Floats, int]:
    """Values above 0, and how many are not."""
    values = np.asarray(values, dtype=float)
    kept = values[values > 0]
    return kept, len(values) - len(kept)
