"""Calls in a capture: UDP in both directions that comes as regularly as speech is sent.

Principle: a codec of speech sends a packet of some tens to some hundreds of bytes each 15 to 50 ms, in both directions
and for as long as the call lasts (RTP with RFC 3551 payloads: 20 ms by default). What is inside is not looked at: a
capture may hold headers only, and media is mostly encrypted.
"""

import polars as pl

LEAST_S = 10.0
"""A call lasts so long in both directions: as long as a playout buffer takes to adapt."""

RATES_PPS = (20.0, 70.0)
"""Packets a second of a direction."""

LENGTHS_BYTES = (60.0, 300.0)
"""Mean length of its packets, with IP and UDP headers."""

REGULAR_SHARE = 0.9
"""Of the whole seconds of a direction: so many have packets at such a rate."""

MOST_CALLS = 10
"""Calls that are measured, those with the most packets ..."""

MOST_PACKETS = 1_000_000
"""... as long as they have no more than this together, but one at least: 64 bytes of memory each in a run."""


def calls_of(connections: pl.DataFrame, volumes: pl.DataFrame, width_s: float) -> list[int]:
    """Which rows of a connection table are calls.

    Parameters
    ----------
    connections : polars.DataFrame, shape (n_connections, ...)
        As :func:`mayfly.workload.connections.connections` returns it.
    volumes : polars.DataFrame, shape (n_volumes, ...)
        Of the same reading (``max_volumes``).
    width_s : float
        Width of their windows, s, above 0: ``counts["volume_width_s"]``.

    Returns
    -------
    list of int
        ``connection_id``, those with the most packets first; at most `MOST_CALLS`.
    """

    def fits(end: str) -> pl.Expr:
        count, length = pl.col(f"{end}_packets"), pl.col(f"{end}_wire_bytes")
        span_s = pl.col(f"{end}_last_s") - pl.col(f"{end}_first_s")
        return (
            (span_s >= LEAST_S)
            & ((count - 1) / span_s).is_between(*RATES_PPS)
            & (length / count).is_between(*LENGTHS_BYTES)
        )

    packets = pl.col("opener_packets") + pl.col("responder_packets")
    likely = connections.filter(pl.col("protocol") == "udp", fits("opener"), fits("responder"))
    likely = likely.select("connection_id", packets=packets)
    regular = _regular(volumes.join(likely, on="connection_id", how="semi"), width_s)
    found = likely.join(regular, on="connection_id", how="semi").sort(
        "packets", "connection_id", descending=[True, False]
    )
    kept = (pl.col("packets").cum_sum() <= MOST_PACKETS) | (pl.int_range(pl.len()) == 0)
    return found.filter(kept).head(MOST_CALLS)["connection_id"].to_list()


def _regular(volumes: pl.DataFrame, width_s: float) -> pl.DataFrame:
    """Connections both of whose directions have packets at the rate of speech in nearly all of their seconds."""
    # Windows of a second, or of as many as the reading's are wide.
    bin_s = max(width_s, 1.0)
    way = ["connection_id", "side"]
    seconds = volumes.group_by(*way, second=(pl.col("start_s") / bin_s + 1e-9).floor()).agg(pl.col("packets").sum())
    # The first and the last are not whole.
    inside = seconds.filter(
        pl.col("second") > pl.col("second").min().over(way), pl.col("second") < pl.col("second").max().over(way)
    )
    between = (pl.col("packets") / bin_s).is_between(*RATES_PPS)
    whole = pl.col("second").max() - pl.col("second").min() + 1
    shares = inside.group_by(way).agg(share=between.sum() / whole)
    steady = shares.filter(pl.col("share") >= REGULAR_SHARE).group_by("connection_id").len()
    return steady.filter(pl.col("len") == 2)


def with_calls(flows: pl.DataFrame, connections: pl.DataFrame, volumes: pl.DataFrame, width_s: float) -> pl.DataFrame:
    """A flow list of a capture in which the calls are marked, to be measured packet by packet.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        With ``connection_id``.
    connections, volumes, width_s
        As for :func:`calls_of`, of the same capture.

    Returns
    -------
    polars.DataFrame
        With ``call_packets`` where there is a call: how many packets the direction had in the capture, null for others.
    """
    found = calls_of(connections, volumes, width_s)
    ways = flows.filter(pl.col("connection_id").is_in(found)).group_by("connection_id").len().filter(pl.col("len") == 2)
    own = connections.filter(pl.col("connection_id").is_in(ways["connection_id"].to_list()))
    if own.height == 0:
        return flows
    counts = own.select("connection_id", "opener_packets", "responder_packets")
    sent = pl.when(pl.col("opened_by") == "sender").then("opener_packets").otherwise("responder_packets")
    return (
        flows.join(counts, on="connection_id", how="left", maintain_order="left")
        .with_columns(call_packets=sent)
        .drop("opener_packets", "responder_packets")
    )
