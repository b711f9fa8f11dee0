"""Queueing delay at the bottleneck: mean, deviation and maximum, of flows, classes and all (Zhao 2004, IV.A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from mayfly.summary_types import QueueDelay

_SCHEMA: dict[str, pl.DataType] = {
    "packets": pl.Int64(),
    "mean_s": pl.Float64(),
    "deviation_s": pl.Float64(),
    "max_s": pl.Float64(),
}


def queueing_delay(records: pl.DataFrame, by: str | Sequence[str] = ()) -> pl.DataFrame:
    """Queueing delay of the packets of many flows.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    by : str or sequence of str
        Columns whose values are taken apart, such as ``group`` or ``["discipline", "group"]``; everything together when
        empty.

    Returns
    -------
    polars.DataFrame
        Columns of ``by``, ``packets`` that left the forward queue, ``mean_s``, ``deviation_s`` (over packets, divisor
        n) and ``max_s`` of their waits; ordered by ``by``. Null where there was no packet.

    Raises
    ------
    MayflyError
        The records lack a column.

    Notes
    -----
    A wait lasts from the arrival at the queue to the start of transmission. Packets that were dropped do not count.

    Examples
    --------
    >>> flows = pl.DataFrame({"queue_packets": [1, 3], "queue_delay_mean_s": [5.0, 1.0],
    ...     "queue_delay_deviation_s": [0.0, 0.0], "queue_delay_max_s": [5.0, 1.0]})
    >>> queueing_delay(flows).row(0, named=True)["mean_s"]
    2.0
    """
    keys = [by] if isinstance(by, str) else list(by)
    if missing := [key for key in keys if key not in records.columns]:
        raise MayflyError(f"by = {', '.join(missing)}: must be columns of the records")
    packets, mean = pl.col("queue_packets"), pl.col("queue_delay_mean_s")
    count = packets.sum()
    pooled = (packets * mean).sum() / count
    # Law of total variance: within flows and between them, without the cancellation of E[W^2] - E[W]^2.
    within = packets * pl.col("queue_delay_deviation_s") ** 2
    between = packets * (mean - pooled) ** 2
    measures = {
        "packets": count,
        "mean_s": pl.when(count > 0).then(pooled),
        "deviation_s": pl.when(count > 0).then(((within + between).sum() / count).sqrt()),
        "max_s": pl.col("queue_delay_max_s").max(),
    }
    table = records.group_by(keys).agg(**measures).sort(keys, nulls_last=True) if keys else records.select(**measures)
    return table.cast(pl.Schema(_SCHEMA))


def pooled(delays: Sequence[Mapping[str, Any]]) -> QueueDelay:
    """Queueing delay of the packets of many runs, or of many classes, together.

    Parameters
    ----------
    delays : sequence of mapping
        ``packets``, ``mean_s``, ``deviation_s``, ``max_s`` of each.

    Returns
    -------
    dict
        The same keys; None where there was no packet.

    Examples
    --------
    >>> one = {"packets": 2, "mean_s": 1.0, "deviation_s": 0.0, "max_s": 1.0}
    >>> pooled([one, one | {"mean_s": 3.0, "max_s": 3.0}])
    {'packets': 4, 'mean_s': 2.0, 'deviation_s': 1.0, 'max_s': 3.0}
    """
    schema = {name: pl.Int64 if name == "packets" else pl.Float64 for name in _SCHEMA}
    rows = pl.DataFrame([{name: row[name] for name in schema} for row in delays], schema=schema)
    named = {name: "queue_packets" if name == "packets" else f"queue_delay_{name}" for name in schema}
    return cast("QueueDelay", queueing_delay(rows.rename(named)).row(0, named=True))


def relative_queueing_delay(mean_s: float, propagation_rtt_s: float) -> float:
    """Mean queueing delay over the round-trip propagation delay (Zhao 2004, IV.A.3).

    Parameters
    ----------
    mean_s : float
        Mean queueing delay, s.
    propagation_rtt_s : float
        Round-trip time without queueing and transmission, s, > 0; 0.12 in Zhao 2004.

    Returns
    -------
    float

    Raises
    ------
    MayflyError
        No propagation delay.
    """
    if not propagation_rtt_s > 0:
        raise MayflyError(f"propagation_rtt_s = {propagation_rtt_s}: must be above 0 s")
    return mean_s / propagation_rtt_s
