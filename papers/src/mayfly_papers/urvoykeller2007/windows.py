"""Windows of Urvoy-Keller 2007: what is outstanding, weighted by time, as tcptrace tells it at the sender.

A segment is outstanding from the instant in which it is first sent until its acknowledgement is back: when it and all
before it have arrived, and the way back is over. That way is the mean round trip of the flow less the mean delay of
its segments. Segments that wait for a timeout count as long as they wait, which a mean over acknowledgements does not
see.
"""

import polars as pl

from mayfly.simulate.run import RunResult

_LEAST_BYTES = 500
"""Packets with data are longer, all others shorter."""


def outstanding(run: RunResult) -> pl.DataFrame:
    """Mean window of each flow that was traced.

    Parameters
    ----------
    run : RunResult
        With a trace.

    Returns
    -------
    polars.DataFrame, shape ``(n_flows, 2)``
        ``flow_id``, and ``window_packets`` from the first segment sent to the last acknowledged, or to the end of the
        run.
    """
    end_s = run.counters["end_ns"] * 1e-9
    segments = (
        run.packets.lazy()
        .filter(pl.col("wire_bytes") >= _LEAST_BYTES)
        .group_by("flow_id", "number")
        .agg(sent=pl.col("sent_s").min(), arrived=pl.col("received_s").min(), delay=_delay_of_first())
        .sort("flow_id", "number")
    )
    way_back = (pl.col("rtt_mean_s") - pl.col("delay").mean().over("flow_id")).clip(lower_bound=0).fill_null(0)
    return (
        segments.join(run.records.lazy().select("flow_id", "rtt_mean_s"), on="flow_id", maintain_order="left")
        .with_columns(
            acknowledged=(pl.col("arrived").fill_null(end_s).cum_max().over("flow_id") + way_back).clip(
                upper_bound=end_s
            )
        )
        .group_by("flow_id")
        .agg(
            window_packets=(pl.col("acknowledged") - pl.col("sent")).sum()
            / (pl.col("acknowledged").max() - pl.col("sent").min())
        )
        .collect()
    )


def _delay_of_first() -> pl.Expr:
    """Delay of the first transmission; null where it was lost."""
    return pl.col("received_s").sort_by("sent_s").first() - pl.col("sent_s").min()
