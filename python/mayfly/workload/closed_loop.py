"""Users in a flow list of a capture: what one starts next waits for what it had before.

Principle: a host that starts a connection while nothing of its own is under way has thought since the last one ended;
were the link faster, it would have started sooner. Connections of a host that overlap belong together: each of them
keeps its time within the group. A time longer than anybody thinks ties nothing: what comes then comes at its own
time.
"""

import numpy as np
import polars as pl

from mayfly.workload.sessions import users_of

LONGEST_THINK_S = 60.0
"""What a user waits at most between two tasks that belong together, s."""

LONGEST_TASK_S = 30.0
"""A connection longer than this is in the background: nobody waits for it, and it waits for nobody."""

LASTED = "lasted_s"
"""Column of a flow list: from the start of a connection to its last data, in the capture, s."""


def closed(flows: pl.DataFrame) -> pl.DataFrame:
    """The list with users who wait.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        With `LASTED`, null for flows that nobody waits for, such as UDP.

    Returns
    -------
    polars.DataFrame
        Without `LASTED`; with ``stage`` and ``after``, and ``start_s`` from the end of the stage before where there
        is one. In the order of the list.

    Examples
    --------
    >>> flows = pl.DataFrame({"start_s": [0.0, 3.0], "lasted_s": [1.0, 1.0], "src": ["a", "a"], "dst": ["b", "b"],
    ...                       "opened_by": ["sender", "sender"]})
    >>> closed(flows).select("start_s", "stage", "after").rows()
    [(0.0, 0, None), (2.0, 1, 0)]
    """
    if LASTED not in flows.columns:
        return flows
    begun, lasted = flows["start_s"].to_numpy().astype(float), flows[LASTED].to_numpy().astype(float)
    waits = np.isfinite(lasted) & (lasted <= LONGEST_TASK_S)
    users = users_of(flows).to_numpy()
    stage: list[int | None] = [None] * flows.height
    after: list[int | None] = [None] * flows.height
    start_s = begun.copy()
    last: dict[str, tuple[int, float, int | None, float]] = {}
    count = 0
    for row in np.argsort(begun, kind="stable"):
        if not waits[row]:
            continue
        user, ends = users[row], begun[row] + lasted[row]
        group = last.get(user)
        if group is None or begun[row] >= group[1]:
            near = group is not None and begun[row] - group[1] <= LONGEST_THINK_S
            before, since = (group[0], group[1]) if near and group is not None else (None, 0.0)
            group = (count, ends, before, since)
            count += 1
        number, until, before, since = group
        last[user] = (number, max(until, ends), before, since)
        stage[row], after[row] = number, before
        start_s[row] = begun[row] - since
    columns = {"stage": stage, "after": after}
    tied = flows.with_columns(
        pl.Series("start_s", start_s), *(pl.Series(name, values, pl.Int64) for name, values in columns.items())
    )
    return tied.drop(LASTED)
