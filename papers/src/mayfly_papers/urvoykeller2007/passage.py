"""Time of a download at the access point, out of the delays of its packets, as Urvoy-Keller 2007, 6.1, has it.

The report takes the one-way delay of each TCP packet from sender to receiver, puts the packets into groups by slow
start with delayed acknowledgements up to the advertised window, and removes "the latency associated to the wired part
for the groups". Two things it does not say: whether the delays of a group add up or overlap, and what is removed,
once for each group or for each packet. Each way to read it is one of `READINGS`. Packets that are sent again are left
out, as there.
"""

from functools import cache

import numpy as np
import polars as pl

from mayfly.simulate.run import RunResult
from mayfly_papers.chen2012.wlan.measures import RECEIVER_WINDOW

PROPAGATION_S = 0.002
EMISSION_S = 0.0012
"""From any sender to the access point, and of a packet of 1500 bytes on its link of 10 Mb/s (6.1)."""

TRACED = "downloads"
"""Group of the flows whose packets are traced."""

READINGS = {
    "present": "while any packet of the flow is at the access point",
    "packets": "delays of all packets, less what each spends on its wire and behind those of its group",
    "groups": "delays of all packets, less 2 ms for each group and 1.2 ms for each packet",
    "group-once": "delays of all packets, less 3.2 ms for each group",
    "spans": "from the first packet of a group sent to its last received, less 3.2 ms",
    "spans-wired": "from the first packet of a group sent to its last received, nothing removed",
}
"""What T may be, in words."""


@cache
def group_ends(initial_window: int, most: int) -> np.ndarray:
    """Data packets sent by the end of each group: slow start, an acknowledgement for every second packet.

    Parameters
    ----------
    initial_window : int
        Packets of the first group.
    most : int
        At least so many packets are covered.

    Returns
    -------
    ndarray of int, shape ``(n_groups,)``
        Ascending.

    Examples
    --------
    >>> group_ends(1, 11).tolist(), group_ends(3, 9).tolist()
    ([1, 3, 6, 11], [3, 8, 16])
    """
    ends, window = [initial_window], initial_window
    while ends[-1] < most:
        window = min(window + -(-window // 2), RECEIVER_WINDOW)
        ends.append(ends[-1] + window)
    return np.array(ends)


def times(run: RunResult, initial_window: int) -> pl.DataFrame:
    """Time at the access point of each flow that was traced.

    Parameters
    ----------
    run : RunResult
        With a trace of the group `TRACED`, in which a data packet has a number from 1.
    initial_window : int
        Packets of the first group.

    Returns
    -------
    polars.DataFrame, shape ``(n_flows, 7)``
        ``flow_id`` and, s, a column for each of `READINGS`.
    """
    least = 500  # bytes; packets with data are longer, all others shorter
    first = (
        run.packets.lazy()
        .sort("sent_s")
        .unique(["flow_id", "number"], keep="first", maintain_order=True)
        .filter(pl.col("received_s").is_not_null())
    )
    most = run.packets["number"].max()
    assert isinstance(most, int), "packets are numbered"
    ends = pl.Series(group_ends(initial_window, max(most, 1)))
    data = pl.col("wire_bytes") >= least
    group = ends.search_sorted(pl.Series(run.packets["number"].unique()))
    numbered = pl.DataFrame({"number": run.packets["number"].unique(), "group": group}).lazy()
    emission = pl.when(data).then(EMISSION_S).otherwise(0.0)
    return (
        first.join(numbered, on="number")
        .with_columns(
            # What is not data is a group of its own.
            group=pl.when(data).then(pl.col("group")).otherwise(-1 - pl.col("number")),
            emission=emission,
            delay=pl.col("received_s") - pl.col("sent_s"),
        )
        .group_by("flow_id", "group")
        .agg(
            delay=pl.col("delay").sum(),
            emission=pl.col("emission").sum(),
            once=pl.col("emission").max(),
            queued=(pl.col("received_s") - pl.col("queued_s")).sum(),
            span=pl.col("received_s").max() - pl.col("sent_s").min(),
        )
        .group_by("flow_id")
        .agg(
            packets=pl.col("queued").sum(),
            groups=(pl.col("delay") - PROPAGATION_S - pl.col("emission")).sum(),
            once=(pl.col("delay") - PROPAGATION_S - pl.col("once")).sum(),
            spans=(pl.col("span") - PROPAGATION_S - pl.col("once")).sum(),
            wired=pl.col("span").sum(),
        )
        .rename({"once": "group-once", "wired": "spans-wired"})
        .join(run.records.lazy().select("flow_id", present="presence_s"), on="flow_id")
        .select("flow_id", *READINGS)
        .collect()
    )
