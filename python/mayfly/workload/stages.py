"""Stages of a flow list: groups of flows that others wait for, which make a workload a closed loop.

A stage is over when its last flow is. Flows with ``after`` start then, ``start_s`` later; it is drawn beforehand, so
that disciplines are compared on common random numbers.
"""

import numpy as np
import polars as pl

from mayfly.arrays import Integers

NONE = 2**32 - 1
"""No stage, in the columns of the native module."""


def is_closed_loop(flows: pl.DataFrame) -> bool:
    """Whether some flow waits for a stage.

    Parameters
    ----------
    flows : polars.DataFrame
        Flow list or records; flows of a capture have no columns for stages.

    Returns
    -------
    bool
        Whether there is a value in ``after``.
    """
    return "after" in flows.columns and flows["after"].null_count() < flows.height


def native(flows: pl.DataFrame) -> dict[str, Integers]:
    """Columns ``stage`` and ``after`` as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame
        Flow list; flows of a capture have no columns for stages.

    Returns
    -------
    dict of ndarray, each of shape (n_flows,), uint32
        Numbers of stages from 0; 2^32 - 1 for none.
    """
    if not is_closed_loop(flows):
        return dict.fromkeys(("stage", "after"), np.full(flows.height, NONE, np.uint32))
    return {"stage": dense(flows["stage"]), "after": dense(flows["after"], flows["stage"])}


def unknown(columns: dict[str, pl.Series]) -> pl.Series | None:
    """Rows that wait for a stage without flows.

    Parameters
    ----------
    columns : dict of polars.Series, each of shape (n_flows,)
        ``stage`` and ``after``, where given.

    Returns
    -------
    polars.Series, shape (n_flows,), or None
        True where ``after`` is no flow's ``stage``; None when there is no such row.
    """
    after = columns.get("after")
    if after is None:
        return None
    known = columns["stage"].unique() if "stage" in columns else pl.Series([], dtype=pl.Int64)
    wrong = after.is_not_null() & ~after.is_in(known.drop_nulls().implode()).fill_null(True)
    return wrong if wrong.any() else None


def endless(columns: dict[str, pl.Series], endless_bytes: int) -> pl.Series | None:
    """Rows that wait for a stage with a flow that never ends.

    Parameters
    ----------
    columns : dict of polars.Series, each of shape (n_flows,)
        ``size_bytes``, and ``stage`` and ``after`` where given.
    endless_bytes : int
        Size of a flow that never ends, bytes.

    Returns
    -------
    polars.Series, shape (n_flows,), or None
        True for the rows; None when there is none.
    """
    if "after" not in columns or "stage" not in columns:
        return None
    never = columns["stage"].filter(columns["size_bytes"] >= endless_bytes).drop_nulls()
    wrong = columns["after"].is_in(never.unique().implode()).fill_null(False)
    return wrong if wrong.any() else None


def circular(columns: dict[str, pl.Series]) -> pl.Series | None:
    """Rows whose stage waits for itself, if by way of others.

    Parameters
    ----------
    columns : dict of polars.Series, each of shape (n_flows,)
        ``stage`` and ``after``, where given.

    Returns
    -------
    polars.Series, shape (n_flows,), or None
        True for the rows; None when there is none.

    Examples
    --------
    >>> circular({"stage": pl.Series([1, 2, 3]), "after": pl.Series([2, 1, 2])}).to_list()
    [True, True, False]
    """
    if "after" not in columns or "stage" not in columns:
        return None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    stage, after = dense(columns["stage"]), dense(columns["after"], columns["stage"])
    both = (stage != NONE) & (after != NONE)
    if not both.any():
        return None
    number = int(stage[stage != NONE].max()) + 1
    edges = coo_array((np.ones(both.sum(), np.int8), (after[both], stage[both])), shape=(number, number))
    _, component = connected_components(edges, connection="strong")
    # An edge inside a strongly connected component lies on a circle.
    wrong = both.copy()
    wrong[both] = component[stage[both]] == component[after[both]]
    return pl.Series(wrong) if wrong.any() else None


def without_endless_waits(flows: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """Flows without those that wait for a stage of which some flow was taken out.

    Parameters
    ----------
    flows, kept : polars.DataFrame
        A flow list, and what is left of it.

    Returns
    -------
    polars.DataFrame
        In the order of the list.

    Examples
    --------
    >>> flows = pl.DataFrame({"stage": [0, 1, 2], "after": [None, 0, 1]})
    >>> without_endless_waits(flows, flows.tail(2)).height
    0
    """
    if "stage" not in flows.columns:
        return kept
    whole = dict(flows["stage"].drop_nulls().value_counts().iter_rows())
    while True:
        left = dict(kept["stage"].drop_nulls().value_counts().iter_rows())
        broken = [stage for stage, count in whole.items() if left.get(stage, 0) < count]
        still = kept.filter(~pl.col("after").is_in(broken).fill_null(False))
        if still.height == kept.height:
            return kept
        kept = still


def dense(stages: pl.Series, of: pl.Series | None = None) -> Integers:
    """Stages as numbers from 0, in order of their ids.

    Parameters
    ----------
    stages : polars.Series, shape (n_flows,)
        Ids, or null for none.
    of : polars.Series, optional
        The ids that count; those of ``stages`` when not given.

    Returns
    -------
    ndarray, shape (n_flows,), uint32
        Numbers; 2^32 - 1 for null.

    Examples
    --------
    >>> dense(pl.Series([70, None, 5])).tolist()
    [1, 4294967295, 0]
    """
    known = (stages if of is None else of).unique().drop_nulls().sort()
    # Sorted ids, all of them known: the insertion point is the rank.
    return known.search_sorted(stages.fill_null(0)).to_numpy().astype(np.uint32) | np.where(
        stages.is_null().to_numpy(), np.uint32(NONE), np.uint32(0)
    )
