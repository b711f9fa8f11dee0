"""What a discipline with an estimator said of traffic that does not respond to drops, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from mayfly.arrays import number

if TYPE_CHECKING:
    from mayfly.summary_types import Nonresponsive


def estimate_row(samples: pl.DataFrame, begin_s: float = 0.0) -> Nonresponsive | None:
    """Key ``nonresponsive`` of the summary (docs/tables.md).

    Parameters
    ----------
    samples : polars.DataFrame
        Of one discipline, all replications.
    begin_s : float
        End of the warm-up, s: samples after it count.

    Returns
    -------
    dict or None
        ``estimate``, mean share of the arrivals; ``last``; ``actual``, the true share; ``doubtful``, share of the
        samples whose estimate should not be relied on. None where there is no estimate.

    Examples
    --------
    >>> rows = {"time_s": [1.0, 2.0, 3.0], "arrivals": [10, 20, 20], "nonresponsive_arrivals": [0, 15, 15]}
    >>> rows |= {"nonresponsive_estimate": [None, 0.5, 0.75], "nonresponsive_doubt": [None, "start", None]}
    >>> estimate_row(pl.DataFrame(rows), 1.0)
    {'estimate': 0.625, 'last': 0.75, 'actual': 0.75, 'doubtful': 0.5}
    """
    if "nonresponsive_estimate" not in samples.columns:
        return None
    known = samples.filter((pl.col("time_s") > begin_s) & pl.col("nonresponsive_estimate").is_not_null())
    if not known.height:
        return None
    came = number(known["arrivals"].sum())
    return {
        "estimate": number(known["nonresponsive_estimate"].mean()),
        "last": known["nonresponsive_estimate"][-1],
        "actual": number(known["nonresponsive_arrivals"].sum()) / came if came else None,
        "doubtful": number(known["nonresponsive_doubt"].is_not_null().mean()),
    }
