"""Sub-flows of a run (`subflows.parquet` of docs/tables.md): their sizes, their times in the queue, their arrivals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mayfly.arrays import Floats
from mayfly.errors import MayflyError

if TYPE_CHECKING:
    import polars as pl

RUN = ("discipline", "replication")
"""Columns that tell runs apart."""

COLUMNS = ("queued_s", "high_data_packets", "low_data_packets")
"""What a table of sub-flows must have."""


def read_subflows(file: str | os.PathLike[str], discipline: str | None = None, since_s: float = 0.0) -> pl.DataFrame:
    """Read the sub-flows of one discipline.

    Parameters
    ----------
    file : path
        Parquet.
    discipline : str, optional
        Label of the run; may be left out where the table has one only.
    since_s : float
        Sub-flows that began earlier are left out, s.

    Returns
    -------
    polars.DataFrame, shape (n_subflows, ...)
        As in docs/tables.md.

    Raises
    ------
    MayflyError
        The file cannot be read, is no such table, or has nothing of the discipline.
    """
    import polars as pl

    from mayfly.text.parquet import read_parquet

    try:
        table = read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        raise MayflyError(f"{file}: not a table of sub-flows: {reason}") from None
    if lacking := [name for name in COLUMNS if name not in table.columns]:
        raise MayflyError(f"{file}: not a table of sub-flows: has no column {lacking[0]}")
    labels = table["discipline"].unique().sort().to_list() if "discipline" in table.columns else []
    if discipline is None and len(labels) > 1:
        raise MayflyError(f"discipline: {file} has several, name one of {', '.join(labels)}")
    if discipline is not None:
        if discipline not in labels:
            raise MayflyError(f"discipline = {discipline}: must be one of {', '.join(labels) or 'none'} in {file}")
        table = table.filter(pl.col("discipline") == discipline)
    table = table.filter(pl.col("queued_s") >= since_s)
    if table.is_empty():
        raise MayflyError(f"{file}: has no sub-flow from {since_s:g} s on")
    return table


def data_packets(subflows: pl.DataFrame) -> Floats:
    """Packets with data of each sub-flow that has any.

    Parameters
    ----------
    subflows : polars.DataFrame
        As in docs/tables.md.

    Returns
    -------
    numpy.ndarray, shape (n,)
        In the order of the table.

    Examples
    --------
    >>> import polars as pl
    >>> data_packets(pl.DataFrame({"high_data_packets": [0, 2], "low_data_packets": [0, 1]})).tolist()
    [3]
    """
    import polars as pl

    sizes = subflows.select(pl.col("high_data_packets") + pl.col("low_data_packets")).to_series()
    return sizes.filter(sizes > 0).to_numpy()


def arrival_gaps(subflows: pl.DataFrame) -> tuple[Floats, int]:
    """Times between the arrivals of one sub-flow and the next, each run for itself.

    Parameters
    ----------
    subflows : polars.DataFrame
        As in docs/tables.md.

    Returns
    -------
    gaps : numpy.ndarray, shape (n,)
        Those above 0, s.
    together : int
        Sub-flows that came at the same instant as another.

    Examples
    --------
    >>> import polars as pl
    >>> gaps, together = arrival_gaps(pl.DataFrame({"queued_s": [1.0, 4.0, 1.0, 2.0]}))
    >>> gaps.tolist(), together
    ([1.0, 2.0], 1)
    """
    import polars as pl

    keys = [name for name in RUN if name in subflows.columns]
    gap = pl.col("queued_s").diff()
    gaps = subflows.sort(*keys, "queued_s").select(gap.over(keys) if keys else gap).to_series().drop_nulls()
    positive = gaps.filter(gaps > 0)
    return positive.to_numpy(), len(gaps) - len(positive)


def flow_times(subflows: pl.DataFrame, rate_bps: float) -> pl.DataFrame:
    """Total and queueing time of each flow.

    Parameters
    ----------
    subflows : polars.DataFrame
        As in docs/tables.md.
    rate_bps : float
        Of the link, bit/s: the last packet of a sub-flow is gone when it is sent.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        ``flow_id``, ``discipline`` and ``replication`` where the table has them, ``begin_s``, ``subflows``, ``total_s``
        and ``queueing_s``; flows with a packet in the queue at the end of the run are left out.

    Notes
    -----
    Chen 2012, 5.3.1 and Fig. 5.1: the total time goes from the first packet that comes to the last that goes, the
    queueing time is the sum over the sub-flows of the same, without the idle times between them. A sub-flow that begins
    while the last packet of the one before is being sent counts from its end.

    Examples
    --------
    >>> import polars as pl
    >>> own = {"flow_id": [1, 1], "queued_s": [0.0, 5.0], "left_s": [1.0, 7.0], "last_wire_bytes": [125, 125]}
    >>> flow_times(pl.DataFrame(own), 1000.0).select("total_s", "queueing_s").row(0)
    (8.0, 5.0)
    """
    import polars as pl

    keys = [name for name in (*RUN, "flow_id") if name in subflows.columns]
    gone = pl.col("left_s") + pl.col("last_wire_bytes") * (8 / rate_bps)
    told = subflows.sort(*keys, "queued_s", maintain_order=True).with_columns(gone_s=gone)
    served = told.with_columns(from_s=pl.max_horizontal("queued_s", pl.col("gone_s").shift().over(keys)))
    grouped = served.group_by(keys, maintain_order=True)
    return (
        grouped.agg(
            begin_s=pl.col("queued_s").min(),
            subflows=pl.len(),
            total_s=pl.col("gone_s").max() - pl.col("queued_s").min(),
            queueing_s=(pl.col("gone_s") - pl.col("from_s")).sum(),
            waiting=pl.col("left_s").null_count(),
        )
        .filter(pl.col("waiting") == 0)
        .drop("waiting")
    )
