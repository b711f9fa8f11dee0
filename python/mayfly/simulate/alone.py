"""Response time of a transfer alone on its path: what slowdown is measured against."""

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.simulate import columns

_MOST_PATHS = 1000
_PATH = ("rtt_s", "direction", "opened_by")


def response_alone(settings: dict, records: pl.DataFrame, full_packet_bytes: int) -> pl.Series:
    """Response time of each completed TCP flow had it been alone on its path.

    Parameters
    ----------
    settings : dict
        Native settings of the run.
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records.
    full_packet_bytes : int
        Wire length of a full packet, bytes.

    Returns
    -------
    polars.Series, shape (n_flows,)
        Seconds; null for UDP and for unfinished flows.

    Notes
    -----
    A sender does the same up to its n-th segment whatever the size of the transfer, so one simulated transfer per
    path gives the time alone of all smaller ones on it: arrival of segment n, plus what the tear-down took. Where a list
    has more than 1000 round-trip times they are rounded to two significant digits first.
    """
    tcp = (pl.col("protocol") == "tcp") & pl.col("finish_s").is_not_null()
    flows = records.select(*_PATH, "size_packets", "size_bytes", "protocol", "finish_s").with_row_index("row").filter(tcp)
    if flows["rtt_s"].n_unique() > _MOST_PATHS:
        flows = flows.with_columns(pl.col("rtt_s").round_sig_figs(2))
    alone = np.full(records.height, np.nan)
    for _, path in flows.group_by(*_PATH, maintain_order=True):
        biggest = path.sort("size_packets", descending=True).head(1)
        only = biggest.with_columns(
            start_s=pl.lit(0.0), src=pl.lit("1"), dst=pl.lit("1"), packet_bytes=pl.lit(None, pl.Int64), rate_bps=None
        )
        arrivals, end_ns = _native.alone(settings, columns.native_flows(only, full_packet_bytes))
        arrivals = columns.integers(arrivals)
        if len(arrivals) < biggest["size_packets"][0]:
            continue
        tear_down = max(end_ns - int(arrivals[-1]), 0)
        rows = path["row"].to_numpy()
        alone[rows] = (arrivals[path["size_packets"].to_numpy() - 1] + tear_down) * 1e-9
    return pl.Series(alone, nan_to_null=True)
