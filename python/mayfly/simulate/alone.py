"""Response time of a transfer alone on its path: what slowdown is measured against."""

from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.simulate import columns

_MOST_PATHS = 1000
_PATH = ("rtt_s", "direction", "opened_by")


@dataclass
class PathsAlone:
    """Times alone of the paths of one scenario, found once for all its runs.

    Notes
    -----
    A sender does the same up to its n-th segment whatever the size of the transfer, so one simulated transfer per
    path gives the time alone of all smaller ones on it: arrival of segment n, plus what the tear-down took. Where a list
    has more than 1000 round-trip times they are rounded to two significant digits first.
    """

    _known: dict[tuple, tuple[np.ndarray, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def response(self, settings: dict, records: pl.DataFrame, full_packet_bytes: int) -> pl.Series:
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
        """
        done = (pl.col("protocol") == "tcp") & pl.col("finish_s").is_not_null()
        flows = records.select(*_PATH, "size_packets", "size_bytes", "protocol", "finish_s").with_row_index("row").filter(done)
        if flows["rtt_s"].n_unique() > _MOST_PATHS:
            flows = flows.with_columns(pl.col("rtt_s").round_sig_figs(2))
        alone = np.full(records.height, np.nan)
        grouped = flows.partition_by(_PATH, as_dict=True, include_key=True)
        with self._lock:
            self._find(settings, grouped, full_packet_bytes)
            for path, rows in grouped.items():
                arrivals, tear_down = self._known[path]
                sizes = rows["size_packets"].to_numpy()
                reached = sizes <= len(arrivals)
                alone[rows["row"].to_numpy()[reached]] = (arrivals[sizes[reached] - 1] + tear_down) * 1e-9
        return pl.Series(alone, nan_to_null=True)

    def _find(self, settings: dict, grouped: dict[tuple, pl.DataFrame], full_packet_bytes: int) -> None:
        """Simulates the largest transfer of each path that is not known up to its size."""
        lacking = [
            rows.sort("size_packets", descending=True).head(1)
            for path, rows in grouped.items()
            if path not in self._known or len(self._known[path][0]) < rows["size_packets"].max()
        ]
        if not lacking:
            return
        biggest = pl.concat(lacking).with_columns(
            start_s=pl.lit(0.0),
            src=pl.lit("1"),
            dst=pl.lit("1"),
            protocol=pl.lit("tcp"),
            packet_bytes=pl.lit(None, pl.Int64),
            rate_bps=pl.lit(None, pl.Float64),
        )
        arrivals, counts, ends = map(
            columns.integers, _native.alone(settings, columns.native_flows(biggest, full_packet_bytes))
        )
        parts = np.split(arrivals, np.cumsum(counts)[:-1])
        for path, part, end in zip(biggest.select(*_PATH).iter_rows(), parts, ends, strict=True):
            self._known[path] = (part, max(int(end - part[-1]), 0) if len(part) else 0)
