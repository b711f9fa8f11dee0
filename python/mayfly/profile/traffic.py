"""What crossed the boundary of a site when, from the volumes of a capture: the load of the link in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from mayfly.workload.capture import internal_hosts

DIRECTIONS = ("down", "up")
"""Into the site, and out of it."""


LEAST_CROSSING = 0.05
"""Share of the bytes that crosses between a site and the rest; of less, the link is somewhere else."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets that crossed between two sides, in windows of time.

    Parameters
    ----------
    rows : polars.DataFrame, shape (n_rows, 9)
        ``start_s``, ``direction``, ``near`` and ``far`` (addresses), ``bytes``, ``packets``, ``acked_bytes`` (payload
        the other direction that they acknowledge), ``rtt_s`` (between the tap and the sender, null where nothing ended
        a round trip) and ``protocol``, in the order of time.
    width_s : float
        Of the windows of the rows.
    duration_s : float
        Of the capture.
    near : frozenset of str
        Addresses on the near side.
    by_openers : bool
        Whether the near side is that which opens connections, since next to no traffic crosses the boundary of the
        site.
    whole : bool
        Whether every packet is in a row.
    """

    rows: pl.DataFrame
    width_s: float
    duration_s: float
    near: frozenset[str]
    by_openers: bool = False
    whole: bool = True

    def loads(self, direction: str, width_s: float) -> pl.DataFrame:
        """Load of a direction in the windows that have any.

        Parameters
        ----------
        direction : str
            One of :data:`DIRECTIONS`.
        width_s : float
            Of the windows, s; at least that of the rows.

        Returns
        -------
        polars.DataFrame, shape (n_windows, 2)
            ``window``, counted from time 0, and ``bps``, the load in bit/s of IP packets. A last window that the
            capture does not fill is left out.
        """
        return self._summed(direction, "bytes", width_s)

    def acknowledged(self, direction: str, width_s: float) -> pl.DataFrame:
        """Payload of TCP that arrived in a direction, by the acknowledgements that pass back.

        Parameters
        ----------
        direction, width_s
            As for :meth:`loads`.

        Returns
        -------
        polars.DataFrame, shape (n_windows, 2)
            As :meth:`loads`, in bit/s of payload. What is lost behind the tap is not in it, and what waits there is in
            it when it has arrived.
        """
        return self._summed("up" if direction == "down" else "down", "acked_bytes", width_s)

    def _summed(self, direction: str, column: str, width_s: float) -> pl.DataFrame:
        rows = self.placed(width_s).filter(pl.col("direction") == direction)
        sums = rows.group_by("window").agg((8 * pl.col(column).sum() / width_s).alias("bps"))
        whole = math.floor(self.duration_s / width_s * (1 + 1e-9))
        return sums.filter(pl.col("window").is_between(0, whole - 1)).sort("window")

    def placed(self, width_s: float) -> pl.DataFrame:
        """The rows with ``window``, the number of the window of a width that they are in."""
        # Rows that reach over an edge go where most of them is.
        place = ((pl.col("start_s") + self.width_s / 2) / width_s).floor().cast(pl.Int64)
        return self.rows.with_columns(place.alias("window"))


def traffic_of(
    frame: pl.DataFrame,
    volumes: pl.DataFrame,
    *,
    width_s: float,
    duration_s: float,
    near: frozenset[str],
    whole: bool = True,
) -> Traffic:
    """Give the volumes of a capture their directions.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections, with ``connection_id``.
    volumes : polars.DataFrame, shape (n_volumes, 7)
        Of :func:`mayfly.workload.connections.read_captures`.
    width_s, duration_s : float
        Of their windows, and of the capture.
    near : frozenset of str
        Addresses on the near side of the link. Where next to nothing crosses between these and others
        (:data:`LEAST_CROSSING`), the side that opens connections (:func:`mayfly.workload.capture.internal_hosts`).
    whole : bool
        Whether every packet is in a volume.

    Returns
    -------
    Traffic
    """
    found = _crossing(frame, volumes, near)
    by_openers = int(found["bytes"].sum()) < LEAST_CROSSING * int(volumes["wire_bytes"].sum())
    if by_openers:
        near = frozenset(internal_hosts(frame))
        found = _crossing(frame, volumes, near)
    return Traffic(found, width_s, duration_s, near, by_openers, whole)


def _crossing(frame: pl.DataFrame, volumes: pl.DataFrame, near: frozenset[str]) -> pl.DataFrame:
    hosts = list(near)
    ends = frame.select("connection_id", "protocol", "opener", "responder").with_columns(
        pl.col("opener").is_in(hosts).alias("opener_near"), pl.col("responder").is_in(hosts).alias("responder_near")
    )
    ends = ends.filter(pl.col("opener_near") != pl.col("responder_near"))
    rows = volumes.join(ends, on="connection_id", how="inner")
    up = (pl.col("side") == "opener") == pl.col("opener_near")
    return rows.select(
        "start_s",
        pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        pl.when("opener_near").then("opener").otherwise("responder").alias("near"),
        pl.when("opener_near").then("responder").otherwise("opener").alias("far"),
        pl.col("wire_bytes").alias("bytes"),
        "packets",
        "acked_bytes",
        "rtt_s",
        "protocol",
    ).sort("start_s", maintain_order=True)
