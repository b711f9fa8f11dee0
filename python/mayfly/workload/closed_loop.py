"""Users in a flow list of a capture: what one starts next waits for what it had before.

Principle: a host that starts a connection while nothing of its own is under way has thought since the last one ended;
were the link faster, it would have started sooner. Connections of a host that overlap belong together: each of them
keeps its time within the group. A time longer than anybody thinks ties nothing: what comes then comes at its own
time.
"""

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.workload.sessions import users_of

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
    # Crate ``replay`` has the rules: whom a host waits for, and how long at most.
    users = users_of(flows).cast(pl.Categorical).to_physical()
    columns = (
        flows["start_s"].cast(pl.Float64).to_numpy(),
        users.cast(pl.UInt32).to_numpy(),
        flows[LASTED].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
    )
    begun_s, numbers, lasted_s = (np.ascontiguousarray(column) for column in columns)
    starts = pl.DataFrame(_native.closed_loop(begun_s, numbers, lasted_s))
    return flows.with_columns(starts).drop(LASTED)
