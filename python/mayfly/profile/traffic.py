"""What passed the link when, from the volumes of a capture: the load of the link in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from mayfly.workload.capture import crossing_share, opener_is_near

DIRECTIONS = ("down", "up")
"""To the near side, and from it."""

_WAYS = pl.Enum(DIRECTIONS)


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets that passed a link, in windows of time.

    Parameters
    ----------
    rows : polars.DataFrame, shape (n_rows, 9)
        ``start_s``, ``direction`` (an enumeration), ``near`` and ``far`` (addresses, as categories), ``bytes``,
        ``packets``, ``acked_bytes`` (payload
        the other direction that they acknowledge), ``rtt_s`` (between the tap and the sender, null where nothing ended
        a round trip) and ``protocol``, in the order of time.
    width_s : float
        Of the windows of the rows.
    duration_s : float
        Of the capture.
    near : frozenset of str
        Addresses on the near side.
    found_by : str
        ``given``, ``site``, or ``openers`` where next to no traffic crosses the boundary of a site.
    crossing : float
        Share of the bytes of all connections that pass between the two sides.
    whole : bool
        Whether every packet is in a row.
    """

    rows: pl.DataFrame
    width_s: float
    duration_s: float
    near: frozenset[str]
    found_by: str = "given"
    crossing: float = 1.0
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
        rows = self._moments[direction].select(self._window(width_s), column)
        sums = rows.group_by("window").agg((8 * pl.col(column).sum() / width_s).alias("bps"))
        whole = math.floor(self.duration_s / width_s * (1 + 1e-9))
        return sums.filter(pl.col("window").is_between(0, whole - 1)).sort("window")

    @cached_property
    def _moments(self) -> dict[str, pl.DataFrame]:
        """Whole numbers by direction and start: loads of many widths are summed of these, without a word in them."""
        return {
            direction: self.rows.filter(pl.col("direction") == direction)
            .group_by("start_s")
            .agg(pl.col("bytes").sum(), pl.col("acked_bytes").sum())
            for direction in DIRECTIONS
        }

    def _window(self, width_s: float) -> pl.Expr:
        # Rows that reach over an edge go where most of them is.
        return ((pl.col("start_s") + self.width_s / 2) / width_s).floor().cast(pl.Int64).alias("window")

    def placed(self, width_s: float) -> pl.DataFrame:
        """The rows with ``window``, the number of the window of a width that they are in."""
        return self.rows.with_columns(self._window(width_s))


def traffic_of(
    frame: pl.DataFrame,
    volumes: pl.DataFrame,
    *,
    width_s: float,
    duration_s: float,
    near: frozenset[str],
    found_by: str = "given",
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
        Addresses on the near side of the link; between two of one side, the opener is near
        (:func:`mayfly.workload.capture.opener_is_near`).
    found_by : str
        How they were found.
    whole : bool
        Whether every packet is in a volume.

    Returns
    -------
    Traffic
    """
    hosts = [pl.col(end).cast(pl.Categorical) for end in ("opener", "responder")]
    ends = frame.select("connection_id", "protocol", *hosts, opener_near=opener_is_near(near))
    rows = volumes.join(ends, on="connection_id", how="inner")
    up = (pl.col("side") == "opener") == pl.col("opener_near")
    found = rows.select(
        "start_s",
        pl.when(up).then(pl.lit("up", _WAYS)).otherwise(pl.lit("down", _WAYS)).alias("direction"),
        pl.when("opener_near").then("opener").otherwise("responder").alias("near"),
        pl.when("opener_near").then("responder").otherwise("opener").alias("far"),
        pl.col("wire_bytes").alias("bytes"),
        "packets",
        "acked_bytes",
        "rtt_s",
        "protocol",
    ).sort("start_s", maintain_order=True)
    return Traffic(found, width_s, duration_s, near, found_by, crossing_share(frame, near), whole)
