"""Response time of a transfer alone on its path: what slowdown is measured against.

Principle: transfers of up to 300 segments are simulated, each distinct pair of path and size once. A sender does the
same up to its n-th segment whatever the size of the transfer, so that beyond these the largest transfer of a path gives
the times of the others on it: arrival of segment n, plus what its tear-down took. That is 0.1 % off on average, and 3 %
where the last segment waits for a delayed acknowledgement that the largest does not meet. It takes a path on which
nothing is lost; where the largest loses segments of its own making, all sizes of its path are simulated.
"""

from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.simulate import columns

_SIMULATED_SEGMENTS = 300
_MOST_TRANSFERS = 20_000
_BATCH_SEGMENTS = 2_000_000
_PATH = ("rtt_s", "direction", "opened_by")


@dataclass
class PathsAlone:
    """Times alone of the transfers of each flow list of a scenario, found once for all disciplines.

    Notes
    -----
    Where a list has more than 20 000 distinct transfers, sizes are rounded up to whole segments and round-trip times to
    two significant digits first.
    """

    stopped: bool = False
    """Set to have the work given up soon; the times are then of no use."""

    _found: dict[int, pl.Series] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def response(
        self, settings: dict, records: pl.DataFrame, full_packet_bytes: int, replication: int = 0
    ) -> pl.Series:
        """Response time of each completed TCP flow had it been alone on its path.

        Parameters
        ----------
        settings : dict
            Native settings of the run.
        records : polars.DataFrame, shape (n_flows, ...)
            Flow records.
        full_packet_bytes : int
            Wire length of a full packet, bytes.
        replication : int
            Tells one flow list from another.

        Returns
        -------
        polars.Series, shape (n_flows,)
            Seconds; null for UDP and for unfinished flows.
        """
        with self._lock:
            if replication not in self._found:
                self._found[replication] = self._of_list(settings, records, full_packet_bytes)
        found = self._found[replication]
        return found.zip_with(records["finish_s"].is_not_null(), pl.Series([None], dtype=pl.Float64))

    def _of_list(self, settings: dict, flows: pl.DataFrame, full_packet_bytes: int) -> pl.Series:
        """Time alone of every TCP flow that can complete in the time it has, s; whatever discipline it meets."""
        able = pl.col("size_bytes") * 8.0 / settings["rate_bps"] <= settings["duration_ns"] * 1e-9 - pl.col("start_s")
        keys = flows.lazy().select(*_PATH, "size_bytes", able=(pl.col("protocol") == "tcp") & able)
        distinct = keys.filter("able").unique(subset=[*_PATH, "size_bytes"]).collect()
        if distinct.height > _MOST_TRANSFERS:
            mss = settings["tcp"]["mss"]
            keys = keys.with_columns((pl.col("size_bytes") + (mss - 1)) // mss * mss, pl.col("rtt_s").round_sig_figs(2))
            distinct = keys.filter("able").unique(subset=[*_PATH, "size_bytes"]).collect()
        if distinct.height == 0:
            return pl.repeat(None, flows.height, dtype=pl.Float64, eager=True)
        times = self._of_transfers(settings, distinct.drop("able").sort(*_PATH, "size_bytes"), full_packet_bytes)
        joined = keys.join(
            times.with_columns(able=True).lazy(),
            on=[*_PATH, "size_bytes", "able"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return joined.select("alone_s").collect().to_series()

    def _of_transfers(self, settings: dict, transfers: pl.DataFrame, full_packet_bytes: int) -> pl.DataFrame:
        """Adds `alone_s` to the distinct transfers, sorted by path, then size."""
        mss = settings["tcp"]["mss"]
        segments = ((transfers["size_bytes"] + (mss - 1)) // mss).to_numpy()
        alone = np.full(transfers.height, np.nan)
        path = transfers.select(pl.struct(*_PATH).rle_id()).to_series().to_numpy()
        last = np.append(np.flatnonzero(np.diff(path)), transfers.height - 1)
        exact = segments <= _SIMULATED_SEGMENTS
        for largest in last[~exact[last]]:
            arrivals, end = self._simulated(settings, transfers[int(largest)], full_packet_bytes)[0]
            rows = np.flatnonzero((path == path[largest]) & ~exact)
            # What was lost arrives in order at one instant with all that waited behind it.
            if end < 0 or len(arrivals) < segments[largest] or (np.diff(arrivals) == 0).any():
                exact[rows] = True
                continue
            short = segments[rows] * mss - transfers["size_bytes"].to_numpy()[rows]
            reached = arrivals[segments[rows] - 1] - short * 8e9 / settings["rate_bps"]
            alone[rows] = reached + (end - arrivals[-1])
            alone[largest] = end
        rows = np.flatnonzero(exact)
        batches = np.split(rows, np.flatnonzero(np.diff(np.cumsum(segments[rows]) // _BATCH_SEGMENTS)) + 1)
        for batch in batches:
            if self.stopped or not len(batch):
                break
            ends = [end for _, end in self._simulated(settings, transfers[batch], full_packet_bytes)]
            alone[batch] = np.where(np.array(ends) < 0, np.nan, ends)
        return transfers.with_columns(alone_s=pl.Series(alone * 1e-9, nan_to_null=True))

    def _simulated(
        self, settings: dict, transfers: pl.DataFrame, full_packet_bytes: int
    ) -> list[tuple[np.ndarray, int]]:
        """Arrivals of the segments of each transfer, and its end, ns; the end is -1 for never."""
        flows = transfers.with_columns(
            start_s=pl.lit(0.0),
            src=pl.lit("1"),
            dst=pl.lit("1"),
            protocol=pl.lit("tcp"),
            packet_bytes=pl.lit(None, pl.Int64),
            rate_bps=pl.lit(None, pl.Float64),
        )
        native = _native.alone(settings, columns.native_flows(flows, full_packet_bytes))
        arrivals, counts, ends = map(columns.integers, native)
        return list(zip(np.split(arrivals, np.cumsum(counts)[:-1]), ends.tolist(), strict=True))
