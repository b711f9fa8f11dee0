"""How far a replay that was recorded resembles the capture it was made of.

Principle: both captures are read the same way, and each distribution that the apps model is to keep is compared on its
own, by the largest distance between the two distribution functions (Kolmogorov and Smirnov) and by quantiles. Think
times are compared instead of warm-ups: the path is taken off, so that the tap may be somewhere else.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.workload.replayed import Captured

QUANTILES = (0.1, 0.5, 0.9, 0.99)
"""Compared one by one."""

RESOLUTION_S = 1e-3
"""Shorter times count as this: below it lie transmission times of packets, which the replay has of its own."""


def ks_distance(one: Floats, other: Floats) -> float:
    """Largest distance between two empirical distribution functions.

    Parameters
    ----------
    one, other : ndarray, each of shape (n,)
        Values, at least one each.

    Returns
    -------
    float
        From 0, the same, to 1.

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 9.0]))
    0.25
    """
    places = np.sort(np.concatenate([one, other]))
    shares = (np.searchsorted(np.sort(values), places, side="right") / len(values) for values in (one, other))
    return float(np.abs(np.subtract(*shares)).max())


def critical_distance(one: int, other: int) -> float:
    """Distance that samples of these sizes of one law exceed in 5 of 100 cases (Smirnov 1948).

    Examples
    --------
    >>> round(critical_distance(100, 100), 3)
    0.192
    """
    return 1.358 * math.sqrt((one + other) / (one * other))


def compared(before: Captured, after: Captured) -> pl.DataFrame:
    """What two captures have in common, distribution by distribution.

    Parameters
    ----------
    before, after : Captured
        Read with :func:`mayfly.workload.replayed.read_options`.

    Returns
    -------
    polars.DataFrame, shape (n_quantities, 6 + 2 n_quantiles)
        ``quantity``, ``side``, ``count_before``, ``count_after``, ``ks``, ``critical`` (distance that two samples
        of one law exceed in 5 of 100 cases), and ``p10_before``, ``p10_after``, ... The
        quantities: ``size_bytes`` of TCP connections, ``train_bytes``, ``trains`` of a connection, ``think_s`` (a train
        after one of the other side), ``pause_s`` (after one of the same side), ``train_s`` (first to last packet);
        those that both captures have.
    """
    rows = []
    seen, replayed = distributions(before), distributions(after)
    for (quantity, side), one in seen.items():
        other = replayed.get((quantity, side), np.array([]))
        if not len(one) or not len(other):
            continue
        row = {"quantity": quantity, "side": side, "count_before": len(one), "count_after": len(other)}
        row["ks"] = ks_distance(one, other)
        row["critical"] = critical_distance(len(one), len(other))
        for share in QUANTILES:
            for name, values in (("before", one), ("after", other)):
                row[f"p{share * 100:g}_{name}"] = float(np.quantile(values, share))
        rows.append(row)
    return pl.DataFrame(rows)


def distributions(captured: Captured) -> dict[tuple[str, str], Floats]:
    """Values of each quantity by side."""
    trains = pl.DataFrame(captured.replay("trains").trains(0.0, 0.0))
    trains = trains.with_columns(before=pl.col("side").shift(1).over("connection_id"))
    known = captured.connections().filter(pl.col("data_s").is_not_null())
    found: dict[tuple[str, str], Floats] = {}
    for side in ("opener", "responder"):
        own = trains.filter(side=side)
        answers = own.filter(pl.col("before").is_not_null() & (pl.col("before") != side))
        sent = known.filter(pl.col(f"{side}_distinct_bytes") > 0)
        values = {
            "size_bytes": sent[f"{side}_distinct_bytes"],
            "trains": sent[f"{side}_trains"],
            "train_bytes": own["bytes"],
            "think_s": (answers["wait_ns"] * 1e-9).clip(RESOLUTION_S),
            "pause_s": (own.filter(pl.col("before") == side)["wait_ns"] * 1e-9).clip(RESOLUTION_S),
            "train_s": (own["end_s"] - own["start_s"]).clip(RESOLUTION_S),
        }
        found |= {(name, side): column.to_numpy() for name, column in values.items()}
    return found
