"""Which transfers users feel, and what is decided once on how they are measured.

The figures are measured in Rust (crate ``metrics``, ``_native.users_of_runs``); docs/users.md says what each is.
Percentiles are order statistics: the p-quantile of n values is the one of rank ``ceil(p n)`` (Hyndman and Fan 1996,
definition 1), and a transfer that did not finish counts as an infinite time.
"""

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats
from mayfly.metrics.curves import ENDLESS_BYTES

SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000
"""Short transfers have at most the first, long ones more than the second."""

_RUN = ("discipline", "replication")

_AT_ONCE = 1 << 16
"""Flows whose scripts are taken apart at once."""

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
    >>> flows = pl.DataFrame({"protocol": ["tcp", "tcp", "udp"], "size_bytes": [500, 2400, 70], "start_s": 0.0,
    ...     "flow_id": [0, 1, 2], "direction": "down", "opened_by": "receiver"})
    >>> listed_sizes(flows.with_columns(column([None, [Train(True, 400), Train(False, 2000)], None]))).to_list()
    [500, 2000]
    """
    sizes = transfers_of(flows, every=True)["size_bytes"]
    return sizes.filter(sizes < ENDLESS_BYTES)


def least_long_bytes(flows: pl.DataFrame) -> int | None:
    """Least size of the largest hundredth of the transfers of a list, bytes; None without any.

    Examples
    --------
    >>> least_long_bytes(pl.DataFrame({"protocol": "tcp", "size_bytes": range(1, 301), "start_s": 0.0,
    ...     "flow_id": range(300), "direction": "down", "opened_by": "receiver"}))
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


def transfers_of(flows: pl.DataFrame, trains: pl.DataFrame | None = None, *, every: bool = False) -> pl.DataFrame:
    """The transfers whose times users feel, by the rule of docs/users.md (crate ``metrics``, ``transfers.rs``).

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        Flow records of any disciplines and replications, those that started; a flow list with `every`.
    trains : polars.DataFrame, optional
        Trains of their scripts.
    every : bool, optional
        Whether exchanges count that never began, as those do of a list that has not run. Else, as in ``users`` of a
        summary, a connection whose script never began is one transfer.

    Returns
    -------
    polars.DataFrame, shape (n_transfers, ...)
        ``discipline`` and ``replication`` where the records have them, ``flow_id``, ``protocol`` (tcp), ``train``
        (place of the first train of an exchange, null of a flow without script), ``direction``, ``size_bytes``,
        ``start_s`` (null when it never began), ``response_time_s`` (null when unfinished).

    Examples
    --------
    >>> from mayfly.workload.scripts import Train, column
    >>> flows = pl.DataFrame({"protocol": ["tcp"], "size_bytes": [2400], "start_s": [1.0], "response_time_s": [3.0],
    ...     "flow_id": [7], "direction": ["down"], "opened_by": ["receiver"]})
    >>> flows = flows.with_columns(column([[Train(True, 400), Train(False, 2000, wait_ns=500_000_000)]]))
    >>> trains = pl.DataFrame({"flow_id": [7, 7], "train": [0, 1], "part": [None, None], "start_s": [1.1, 1.7],
    ...     "end_s": [1.2, 2.0]})
    >>> transfers_of(flows, trains).select("train", "size_bytes", "response_time_s").row(0)
    (0, 2000, 0.5)
    """
    slices = range(0, max(flows.height, 1), _AT_ONCE)
    whole = _whole_trains(flows, trains)
    # Scripts on their way take several times what their transfers do.
    cuts = np.searchsorted(whole["flow_id"], [*slices, math.inf])
    return pl.concat(
        _transfers_of(
            flows[first : first + _AT_ONCE],
            {name: values[begin:end] - (first if name == "flow_id" else 0) for name, values in whole.items()},
            every,
        )
        for first, begin, end in zip(slices, cuts[:-1], cuts[1:], strict=True)
    )


def _transfers_of(flows: pl.DataFrame, trains: dict[str, Floats], every: bool) -> pl.DataFrame:
    run = [name for name in _RUN if name in flows.columns]
    flags = (
        (flows["direction"] == "up").to_numpy() * 1
        + (flows["opened_by"] == "receiver").to_numpy() * 2
        + (flows["protocol"] == "udp").to_numpy() * 4
    ).astype(np.uint8)
    # Nothing of a list has come in.
    ran = "response_time_s" in flows.columns
    listed = {
        "flags": flags,
        "size_bytes": _floats(flows["size_bytes"]),
        "start_s": _floats(flows["start_s"]),
        "response_s": _floats(flows["response_time_s"]) if ran else np.full(flows.height, math.nan),
        "scripts": flows.select("script") if "script" in flows.columns else None,
    }
    found = pl.DataFrame(_native.listed_transfers(listed, trains, every))
    rows = found["flow"]
    own = [flows[name].gather(rows) for name in (*run, "flow_id", "protocol")]
    way = pl.when("up").then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction")
    return found.select(*own, "train", way, "size_bytes", "start_s", pl.col("response_s").alias("response_time_s"))


def _whole_trains(flows: pl.DataFrame, trains: pl.DataFrame | None) -> dict[str, Floats]:
    """The trains that began, by the rows of their flows."""
    names = ("flow_id", "train", "start_s", "end_s")
    if trains is None or not trains.height:
        return {name: np.empty(0) for name in names}
    keys = [*(name for name in _RUN if name in flows.columns and name in trains.columns), "flow_id"]
    rows = flows.select(keys).with_row_index("row")
    whole = trains.select(*keys, "train", "start_s", "end_s").filter(trains["part"].is_null())
    whole = whole.with_columns(pl.col(name).cast(rows.schema[name]) for name in keys).join(rows, on=keys)
    whole = whole.select("row", "train", "start_s", "end_s").sort("row")
    return {name: _floats(whole["row" if name == "flow_id" else name]) for name in names}


def _floats(values: pl.Series) -> Floats:
    return values.cast(pl.Float64).fill_null(math.nan).to_numpy()
