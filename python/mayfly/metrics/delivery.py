"""A flow over time from its trace: packets sent, received and dropped, and timeouts, per interval (Rai 2003, 5.1)."""

import numpy as np
import polars as pl

from mayfly.arrays import Integers, Numbers
from mayfly.metrics.curves import intervals_of
from mayfly.metrics.size_classes import run_keys

_COUNTED = {"sent": "sent_s", "received": "received_s", "dropped": "dropped_s"}


def per_interval(
    packets: pl.DataFrame, timeouts: pl.DataFrame, end_s: float, interval_s: float = 100.0, start_s: float = 0.0
) -> pl.DataFrame:
    """Counts of each traced flow in intervals that do not overlap.

    Parameters
    ----------
    packets, timeouts : polars.DataFrame
        Traces of docs/tables.md.
    end_s : float
        End of the last interval, s, > start_s.
    interval_s : float
        Length of an interval, s, > 0; a last one that is shorter does not count.
    start_s : float
        Start of the first interval, s.

    Returns
    -------
    polars.DataFrame
        ``discipline`` and ``replication`` (when the traces have them), ``flow_id``, ``time_s`` (start of the interval),
        ``sent``, ``received``, ``dropped`` and ``timeouts``; a row for every interval of every flow that sent anything.

    Raises
    ------
    MayflyError
        ``interval_s`` not above 0, or no whole interval before ``end_s``.
    """
    edges = intervals_of(end_s, interval_s, start_s)
    intervals = len(edges) - 1
    keys = [*run_keys(packets), "flow_id"]
    expired = timeouts.partition_by(keys, as_dict=True)
    empty = timeouts.clear()

    def counts(times: pl.Series) -> Integers:
        place = np.floor((times.drop_nulls().to_numpy() - start_s) / interval_s)
        return np.bincount(place[(place >= 0) & (place < intervals)].astype(np.intp), minlength=intervals)

    blocks = []
    for key, own in packets.partition_by(keys, as_dict=True, maintain_order=True).items():
        labels = [pl.lit(value).alias(name) for name, value in zip(keys, key, strict=True)]
        table: dict[str, Numbers] = {"time_s": edges[:-1]}
        table |= {name: counts(own[column]) for name, column in _COUNTED.items()}
        table["timeouts"] = counts(expired.get(key, empty)["time_s"])
        blocks.append(pl.DataFrame(table).select(*labels, pl.all()))
    schema = {key: packets.schema[key] for key in keys} | {"time_s": pl.Float64()}
    schema |= {name: pl.Int64() for name in (*_COUNTED, "timeouts")}
    return pl.concat(blocks).cast(pl.Schema(schema)) if blocks else pl.DataFrame(schema=schema)
