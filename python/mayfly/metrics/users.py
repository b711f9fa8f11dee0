"""Which transfers users feel, and what is decided once on how they are measured.

The figures are measured in Rust (crate ``metrics``, ``_native.users_of_runs``); docs/users.md says what each is.
Percentiles are order statistics: the p-quantile of n values is the one of rank ``ceil(p n)`` (Hyndman and Fan 1996,
definition 1), and a transfer that did not finish counts as an infinite time.
"""

import math
from dataclasses import dataclass

import polars as pl

from mayfly.arrays import Floats
from mayfly.metrics.curves import ENDLESS_BYTES

SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000
"""Short transfers have at most the first, long ones more than the second."""

LARGEST_SHARE = 0.01
"""Without long ones: the largest transfers, so many of all."""


@dataclass(frozen=True)
class Rule:
    """What is decided once, so that runs which are compared or resampled are measured alike.

    Parameters
    ----------
    above : bool, optional
        Whether long transfers are those above `LONG_BYTES`; else the largest hundredth. Decided by the flows of the run
        when not given.
    least_bytes : int, optional
        In place of the largest hundredth of a run: least size of the largest hundredth of the capture, bytes.
    while_busy : bool, optional
        Whether ping and call are of the busy seconds, and are None in a run without any; decided by the run itself when
        not given.
    """

    above: bool | None = None
    least_bytes: int | None = None
    while_busy: bool | None = None


def listed_sizes(flows: pl.DataFrame) -> pl.Series:
    """Sizes of the transfers that a flow list brings, whatever becomes of them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A flow list, or flow records.

    Returns
    -------
    polars.Series, shape (n_transfers,)
        Bytes: of flows of TCP that end, and of the larger part of each exchange of a script.

    Examples
    --------
    >>> from mayfly.workload.scripts import Train, column
    >>> flows = pl.DataFrame({"protocol": ["tcp", "tcp", "udp"], "size_bytes": [500, 2400, 70]})
    >>> listed_sizes(flows.with_columns(column([None, [Train(True, 400), Train(False, 2000)], None]))).to_list()
    [500, 2000]
    """
    tcp = flows.filter(pl.col("protocol") == "tcp")
    trains = pl.Series([], dtype=pl.Int64)
    if "script" in tcp.columns:
        trains = _exchanges(tcp.select(pl.col("script").drop_nulls()))
        tcp = tcp.filter(pl.col("script").is_null())
    sizes = pl.concat([tcp["size_bytes"].cast(pl.Int64).rename(""), trains.rename("")])
    return sizes.filter(sizes < ENDLESS_BYTES)


def _exchanges(scripts: pl.DataFrame) -> pl.Series:
    """Sizes of exchanges: a train of the end that speaks first, with that of the other end that follows."""
    trains = scripts.with_row_index("flow").explode("script").unnest("script")
    asks = pl.col("up") == pl.col("up").first().over("flow")
    answers = (~asks & asks.shift(1).over("flow")).fill_null(False)
    size = pl.col("size_bytes").cast(pl.Int64)
    answer = pl.when(answers.shift(-1).over("flow").fill_null(False)).then(size.shift(-1).over("flow"))
    found = trains.select(size=pl.max_horizontal(size, answer), is_answer=answers)
    return found.filter(~pl.col("is_answer"))["size"]


def least_long_bytes(flows: pl.DataFrame) -> int | None:
    """Least size of the largest hundredth of the transfers of a list, bytes; None without any.

    Examples
    --------
    >>> least_long_bytes(pl.DataFrame({"protocol": ["tcp"] * 300, "size_bytes": range(1, 301)}))
    298
    """
    sizes = listed_sizes(flows).sort(descending=True)
    return int(sizes[math.ceil(LARGEST_SHARE * len(sizes)) - 1]) if len(sizes) else None


def percentile(ordered: Floats, share: float) -> float | None:
    """A quantile of ascending values, infinite ones among them.

    Parameters
    ----------
    ordered : ndarray, shape (n,)
        Ascending.
    share : float
        Above 0, at most 1.

    Returns
    -------
    float or None
        None without values, or when it falls on an infinite one.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([1.0, 2.0, 3.0, np.inf])
    >>> percentile(times, 0.5), percentile(times, 0.95)
    (2.0, None)
    """
    if ordered.size == 0:
        return None
    value = float(ordered[max(math.ceil(share * ordered.size - 1e-9), 1) - 1])
    return value if math.isfinite(value) else None


def transfers_of(records: pl.DataFrame, trains: pl.DataFrame | None = None) -> pl.DataFrame:
    """The transfers whose times users feel.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    trains : polars.DataFrame, optional
        Trains of scripted flows: they are the transfers then, as a connection mostly waits for its user.

    Returns
    -------
    polars.DataFrame, shape (n_transfers, 6)
        ``replication``, ``flow_id``, ``direction``, ``size_bytes``, ``start_s``, ``response_time_s`` (null when
        unfinished).
    """
    names = ("replication", "flow_id", "direction", "size_bytes", "start_s", "response_time_s")
    if "replication" not in records.columns:
        records = records.with_columns(replication=pl.lit(0, pl.Int32))
    plain = records.select("protocol", *names).filter(
        (pl.col("protocol") == "tcp") & (pl.col("size_bytes") < ENDLESS_BYTES)
    )
    if trains is not None and trains.height:
        whole = trains.filter(pl.col("part").is_null())
        run = ["replication", "flow_id"]
        whole = whole.with_columns(pl.col(name).cast(plain.schema[name]) for name in run)
        plain = plain.join(whole.select(run).unique(), on=run, how="anti")
        own = whole.with_columns(response_time_s=pl.col("end_s") - pl.col("start_s"))
        plain = pl.concat([plain.select(names), own.select(names)], how="vertical_relaxed")
    return plain.select(*names)
