"""Response time of a transfer alone on its path: what slowdown is measured against.

Principle: transfers of up to 300 segments are simulated, each distinct pair of path and size once. A sender does the
same up to its n-th segment whatever the size of the transfer, so that beyond these the largest transfer of a path gives
the times of the others on it: arrival of segment n, plus what its tear-down took. That is 0.1 % off on average, and 3 %
where the last segment waits for a delayed acknowledgement that the largest does not meet. It takes a path on which
nothing is lost; where the largest loses segments of its own making, all sizes of its path are simulated.
"""

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.scenario.presets import OF_LINUX
from mayfly.simulate import columns
from mayfly.simulate.network.protocol import Net

_SIMULATED_SEGMENTS = 300
_MOST_TRANSFERS = 20_000
_BATCH_SEGMENTS = 2_000_000
_OPTION_BYTES = 12
"""Of accurate ECN, in each data segment of Linux."""

_PATH = ("own_transport", "rtt_s", "direction", "opened_by")


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
        self,
        net: Net,
        settings: dict[str, Any],
        records: pl.DataFrame,
        full_packet_bytes: int,
        replication: int = 0,
        transports: Integers | None = None,
    ) -> pl.Series:
        """Response time of each completed TCP flow had it been alone on its path.

        Parameters
        ----------
        net : Net
            The network.
        settings : dict
            Native settings of the run.
        records : polars.DataFrame, shape (n_flows, ...)
            Flow records.
        full_packet_bytes : int
            Wire length of a full packet, bytes.
        replication : int
            Tells one flow list from another.
        transports : ndarray, shape (n_flows,), uint16, optional
            Number of each flow's transport in ``settings``; all 0 when not given.

        Returns
        -------
        polars.Series, shape (n_flows,)
            Seconds; null for UDP and for unfinished flows.
        """
        with self._lock:
            if replication not in self._found:
                ways = Ways(net, settings, full_packet_bytes)
                several = transports is not None and transports.any()
                # See `mayfly.metrics.active` on arrays as columns.
                numbers = pl.Series(transports) if several else pl.lit(0, pl.UInt16)
                self._found[replication] = self._of_list(ways, records.with_columns(own_transport=numbers))
        found = self._found[replication]
        return found.zip_with(records["finish_s"].is_not_null(), pl.Series([None], dtype=pl.Float64))

    def _of_list(self, ways: "Ways", flows: pl.DataFrame) -> pl.Series:
        """Time alone of every TCP flow that can complete in the time it has, s; whatever discipline it meets."""
        settings, path = ways.settings, ways.keys
        flows = ways.net.paths(flows)
        able = pl.col("size_bytes") * 8.0 / ways.net.fastest_bps <= settings["duration_ns"] * 1e-9 - pl.col("start_s")
        if "script" in flows.columns:
            # A script alone takes what its think times take: no measure of the path.
            able &= pl.col("script").is_null()
        keys = flows.lazy().select(*path, "size_bytes", able=(pl.col("protocol") == "tcp") & able)
        distinct = keys.filter("able").unique(subset=[*path, "size_bytes"]).collect()
        if distinct.height > _MOST_TRANSFERS:
            mss = ways.mss_of(keys.select("own_transport").collect().to_series())
            keys = keys.with_columns((pl.col("size_bytes") + (mss - 1)) // mss * mss, pl.col("rtt_s").round_sig_figs(2))
            distinct = keys.filter("able").unique(subset=[*path, "size_bytes"]).collect()
        if distinct.height == 0:
            return pl.repeat(None, flows.height, dtype=pl.Float64, eager=True)
        times = self._of_transfers(ways, distinct.drop("able").sort(*path, "size_bytes"))
        joined = keys.join(
            times.with_columns(able=True).lazy(),
            on=[*path, "size_bytes", "able"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return joined.select("alone_s").collect().to_series()

    def _of_transfers(self, ways: "Ways", transfers: pl.DataFrame) -> pl.DataFrame:
        """Adds `alone_s` to the distinct transfers, sorted by path, then size."""
        mss = ways.mss_of(transfers["own_transport"]).to_numpy()
        segments = (transfers["size_bytes"].to_numpy() + (mss - 1)) // mss
        alone = np.full(transfers.height, np.nan)
        path = transfers.select(pl.struct(*ways.keys).rle_id()).to_series().to_numpy()
        last = np.append(np.flatnonzero(np.diff(path)), transfers.height - 1)
        exact = segments <= _SIMULATED_SEGMENTS
        for largest in last[~exact[last]]:
            arrivals, end = ways.simulated(transfers[int(largest)])[0]
            rows = np.flatnonzero((path == path[largest]) & ~exact)
            # What was lost arrives in order at one instant with all that waited behind it.
            if end < 0 or len(arrivals) < segments[largest] or (np.diff(arrivals) == 0).any():
                exact[rows] = True
                continue
            short = segments[rows] * mss[rows] - transfers["size_bytes"].to_numpy()[rows]
            reached = arrivals[segments[rows] - 1] - short * ways.net.byte_ns
            alone[rows] = reached + (end - arrivals[-1])
            alone[largest] = end
        rows = np.flatnonzero(exact)
        batches = np.split(rows, np.flatnonzero(np.diff(np.cumsum(segments[rows]) // _BATCH_SEGMENTS)) + 1)
        for batch in batches:
            if self.stopped or not len(batch):
                break
            ends = [end for _, end in ways.simulated(transfers[batch])]
            alone[batch] = np.where(np.array(ends) < 0, np.nan, ends)
        return transfers.with_columns(alone_s=pl.Series(alone * 1e-9, nan_to_null=True))


def _payload_bytes(tcp: dict[str, Any]) -> int:
    """Payload of a full data segment, bytes, as the core's ``Tcp::payload``: without the option of accurate ECN.

    Examples
    --------
    >>> [_payload_bytes({"mss": 1448, "recovery": "linux", "ecn": ecn}) for ecn in ("classic", "accurate")]
    [1448, 1436]
    """
    has_option = tcp["recovery"] in OF_LINUX and tcp["ecn"] in ("accurate", "l4s")
    return int(tcp["mss"]) - (_OPTION_BYTES if has_option else 0)


@dataclass(frozen=True)
class Ways:
    """The paths of a network, and transfers alone on them.

    Parameters
    ----------
    net : Net
        The network.
    settings : dict
        Native settings of the run.
    full_packet_bytes : int
        Wire length of a full packet, bytes.
    """

    net: Net
    settings: dict[str, Any]
    full_packet_bytes: int

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns of which equal values mean an equal path."""
        return (*_PATH, *self.net.path_columns)

    def mss_of(self, transports: pl.Series) -> pl.Series:
        """Payload of a full segment of each of these transports, given by number, bytes."""
        given = [self.settings["tcp"], *(own["tcp"] for own in self.settings["transports"])]
        return pl.Series([_payload_bytes(tcp) for tcp in given], dtype=pl.Int64).gather(transports)

    def simulated(self, transfers: pl.DataFrame) -> list[tuple[Floats, int]]:
        """Arrivals of the segments of each transfer, and its end, ns; the end is -1 for never."""
        flows = transfers.with_columns(
            start_s=pl.lit(0.0),
            protocol=pl.lit("tcp"),
            packet_bytes=pl.lit(None, pl.Int64),
            rate_bps=pl.lit(None, pl.Float64),
        )
        found: list[tuple[Floats, int]] = [(np.empty(0), -1)] * flows.height
        for part in self.net.alone(flows, self.settings):
            constant = {"traces": [None, None], "shaping": None}
            settings = json.dumps({**self.settings, **constant, **part.settings})
            numbers = part.flows["own_transport"].to_numpy()
            own = columns.native_flows(part.flows, self.full_packet_bytes, part.ends, transports=numbers)
            native = _native.alone(settings, own)
            segments, alone = map(pl.DataFrame, native)
            parts = np.split(segments["time_ns"].to_numpy(), np.cumsum(alone["arrivals"].to_numpy())[:-1])
            each = zip(parts, alone["finish_ns"].fill_null(-1).to_list(), strict=True)
            for row, one in zip(part.rows, each, strict=True):
                found[row] = one
        return found
