"""What two tools say of the same connections, in one form: a row per connection, its ends in a fixed order."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from mayfly.summary_types import Accounted

KEY = ("protocol", "a", "a_port", "b", "b_port")
"""The five-tuple; ``a`` is the end with the smaller address as text, then port."""


@dataclass(frozen=True)
class Metric:
    """A quantity of a connection or of one direction of it.

    Parameters
    ----------
    title : str
        What it is.
    unit : str
        ``packets``, ``bytes`` or ``s``.
    per_direction : bool
        Whether each direction has one: columns ``ab_`` and ``ba_``; else one column.
    sums : bool
        Whether it adds up over connections; means and times do not.
    """

    title: str
    unit: str
    per_direction: bool = True
    sums: bool = True


METRICS = {
    "packets": Metric("packets", "packets"),
    "wire_bytes": Metric("IP bytes", "bytes"),
    "payload_bytes": Metric("payload", "bytes"),
    "distinct_bytes": Metric("distinct payload", "bytes"),
    "data_packets": Metric("data packets", "packets"),
    "acks": Metric("pure ACKs", "packets"),
    "retransmits": Metric("sent again", "packets"),
    "retransmitted_bytes": Metric("bytes sent again", "bytes"),
    "out_of_order": Metric("out of order", "packets"),
    "repeats": Metric("again or out of order", "packets"),
    "zero_windows": Metric("zero windows", "packets"),
    "keep_alives": Metric("keep-alives", "packets"),
    "missing_bytes": Metric("never captured", "bytes"),
    "rtt_samples": Metric("RTT samples", "packets"),
    "rtt_min_s": Metric("RTT min", "s", sums=False),
    "rtt_mean_s": Metric("RTT mean", "s", sums=False),
    "rtt_max_s": Metric("RTT max", "s", sums=False),
    "handshake_s": Metric("handshake", "s", sums=False),
    "duration_s": Metric("duration", "s", per_direction=False, sums=False),
}
"""What is compared, in order. Of a direction: what its sender sent; times are between the tap and its addressee."""


def columns_of(name: str) -> tuple[str, ...]:
    """Columns of a metric."""
    return (f"ab_{name}", f"ba_{name}") if METRICS[name].per_direction else (name,)


@dataclass(frozen=True, eq=False)
class Seen:
    """What a tool says of a capture.

    Parameters
    ----------
    tool : str
        Its id.
    source : str
        Name of the file.
    frame : polars.DataFrame, shape (n_connections, n_columns)
        :data:`KEY`, ``start_s`` (null where not told), and columns of the metrics it has.
    resolution : mapping of str to float
        Of metrics that it rounds, the unit they are rounded to.
    account : Accounted, optional
        How much of a capture was seen, used, and left out by reason.
    """

    tool: str
    source: str
    frame: pl.DataFrame
    resolution: Mapping[str, float] = field(default_factory=dict)
    account: Accounted | None = None

    @property
    def metrics(self) -> list[str]:
        """What it has of :data:`METRICS`."""
        return [name for name in METRICS if columns_of(name)[0] in self.frame.columns]


@dataclass(frozen=True)
class Tool:
    """A tool whose output is read.

    Parameters
    ----------
    id : str
        Its name.
    title : str
        Which output of it.
    sniff : callable
        Whether the first bytes of a file are of it.
    read : callable
        From a path to a :class:`Seen`.
    """

    id: str
    title: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Path], Seen]


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn the connections round whose ends are not in order.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        :data:`KEY` and columns of metrics, ends in any order.

    Returns
    -------
    polars.DataFrame
        The same, with ``a`` before ``b`` and the directions exchanged where the ends were.

    Examples
    --------
    >>> row = {"protocol": "tcp", "a": "10.0.0.2", "a_port": 80, "b": "10.0.0.1", "b_port": 5, "ab_packets": 3}
    >>> in_order(pl.DataFrame([row | {"ba_packets": 4}])).row(0)
    ('tcp', '10.0.0.1', 5, '10.0.0.2', 80, 4, 3)
    """
    addresses = {text: _shortest(text) for text in pl.concat([frame["a"], frame["b"].alias("a")]).unique()}
    frame = frame.with_columns(pl.col("a", "b").replace(addresses))
    turned = (pl.col("a") > pl.col("b")) | ((pl.col("a") == pl.col("b")) & (pl.col("a_port") > pl.col("b_port")))
    pairs: list[tuple[str, ...]] = [("a", "b"), ("a_port", "b_port")]
    pairs += [columns_of(name) for name in METRICS if METRICS[name].per_direction]
    exchanged = []
    for one, other in pairs:
        if one in frame.columns:
            exchanged += [
                pl.when(turned).then(pl.col(other)).otherwise(pl.col(one)).alias(one),
                pl.when(turned).then(pl.col(one)).otherwise(pl.col(other)).alias(other),
            ]
    return frame.with_columns(exchanged)


def _shortest(text: str) -> str:
    """An address in its shortest spelling; tools write IPv6 in several."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return text


def by_opener(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Columns of metrics from a table whose ends are called opener and responder.

    Parameters
    ----------
    frame : polars.DataFrame
        With ``protocol``, ``opener``, ``opener_port``, ``responder``, ``responder_port``.
    names : mapping of str to str
        Metrics per direction, and the end of the column that has them: ``opener_...`` and ``responder_...``.

    Returns
    -------
    polars.DataFrame
        :data:`KEY` and the metrics, the opener first.
    """
    ends = [("opener", "a"), ("responder", "b")]
    sides = [("opener", "ab"), ("responder", "ba")]
    return frame.select(
        "protocol",
        *(pl.col(end + more).alias(short + more) for end, short in ends for more in ("", "_port")),
        *(pl.col(f"{end}_{column}").alias(f"{way}_{name}") for name, column in names.items() for end, way in sides),
    )
