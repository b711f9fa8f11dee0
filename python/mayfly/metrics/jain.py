"""Fairness of an allocation in one number."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from mayfly.errors import MayflyError
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.size_classes import parts_by, run_keys


def jain_index(shares: ArrayLike) -> float | None:
    """Jain's fairness index (Jain, Chiu and Hawe 1984, Eq. 1).

    Parameters
    ----------
    shares : array_like, shape ``(n,)``
        What each got, any unit, >= 0.

    Returns
    -------
    float or None
        ``(sum x)^2 / (n sum x^2)``, from 1/n (one has all) to 1 (equal shares). None when there is nobody, or nobody
        got anything.

    Raises
    ------
    MayflyError
        A share below 0 or not finite.

    Examples
    --------
    >>> jain_index([1, 1, 1, 1]), jain_index([4, 0, 0, 0]), jain_index([2, 1, 1])
    (1.0, 0.25, 0.8888888888888888)
    """
    values = np.asarray(shares, dtype=float)
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise MayflyError("shares: must be finite and at least 0")
    largest = values.max(initial=0.0)
    if largest == 0:
        return None
    scaled = values / largest
    return float(scaled.sum() ** 2 / (values.size * (scaled**2).sum()))


def permanent_jain(records: pl.DataFrame, end_s: float) -> float | None:
    """Jain's index over the goodput of the TCP flows that never end.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline; of several replications the mean is taken.
    end_s : float
        End of the run, s.

    Returns
    -------
    float or None
        Goodput is payload delivered in order over the time since the start, whatever the path of the flow. None with
        fewer than two such flows.
    """
    endless = records.filter(
        (pl.col("protocol") == "tcp") & (pl.col("size_bytes") >= ENDLESS_BYTES) & (pl.col("start_s") < end_s)
    ).with_columns(goodput=pl.col("delivered_bytes") / (end_s - pl.col("start_s")))
    keys = [key for key in run_keys(records) if key == "replication"]
    runs = list(parts_by(endless, keys).values())
    indices = [jain_index(run["goodput"].to_numpy()) for run in runs if run.height > 1]
    known = [index for index in indices if index is not None]
    return sum(known) / len(known) if known else None
