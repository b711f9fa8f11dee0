"""What of a capture its replay leaves out or had to assume, in words.

Principle: an answer about a part of the traffic says so before anything else. ``crates/replay`` has the same sentences;
``tests/explore`` holds both equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.text.readable import share_text, time_text
from mayfly.workload.doubts import SKIPPED, protocol_text, reasons

if TYPE_CHECKING:
    from mayfly.workload.connections import Reading

LEAST_SAID = 0.01
"""Share of the packets or of the bytes from which on it is said that they are missing."""

LEAST_ONE_WAY = 0.1
"""Share of the TCP connections with payload, captured in one direction, from which on that is said."""

MOSTLY_ONE = 0.9
"""Share of the connections of a side that one address has where it may stand for many hosts ..."""

LEAST_CONNECTIONS = 100
"""... of so many connections at least."""

ASSUMED_RTT_S = 0.04
"""Round-trip time of all flows where the capture tells none, s: that of a path of some 4,000 km."""

TUNNELS = (4, 41, 47, 50, 97, 108, 115, 137)
"""IP protocols that carry packets of others."""


def missing(reading: Reading, near: Iterable[str]) -> list[str]:
    """Say what of a capture no replay has.

    Parameters
    ----------
    reading : Reading
    near : iterable of str
        Addresses on the near side.

    Returns
    -------
    list of str
        Sentences, the packets that are left out first.
    """
    frame = reading.connections
    found = (left_out_sentence(reading.counts, wire_bytes(frame)), one_way_sentence(frame), one_host(frame, near))
    return [sentence for sentence in found if sentence is not None]


def wire_bytes(frame: pl.DataFrame) -> int:
    """IP bytes of all connections."""
    return int(frame["opener_wire_bytes"].sum()) + int(frame["responder_wire_bytes"].sum())


def left_out_sentence(counts: Mapping[str, Any], connected_bytes: int) -> str | None:
    """Say which packets are in no connection, and so in no load; copies are no loss.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    connected_bytes : int
        Length of the IP packets that are in a connection.

    Returns
    -------
    str or None
        None where less than :data:`LEAST_SAID` of the packets and of the bytes is missing.

    Examples
    --------
    >>> esp = {"50": {"packets": 900, "bytes": 1_300_000}}
    >>> print(left_out_sentence({"packets": 960, "skipped": {"other_protocol": 900}, "other_protocols": esp}, 66_000))
    93.8 % of 960 packets are left out: 900 ESP (IP protocol 50), 95.2 % of the bytes. The answer is about the ...
    """
    found = reasons(counts)
    packets, left = counts.get("packets", 0), sum(count for count, _ in found)
    by_bytes = _share_of_bytes(counts, connected_bytes)
    if left_out_share(counts, connected_bytes) < LEAST_SAID:
        return None
    named = ", ".join(f"{count:,} {why}" for count, why in found[:3])
    share = f", {share_text(by_bytes)} of the bytes" if by_bytes >= LEAST_SAID else ""
    told = (
        f"{share_text(left / packets)} of {packets:,} packets are left out: {named}{share}. The answer is about the "
        f"other {share_text(1 - left / packets)}: the load of the packets left out is missing from it"
    )
    why = found[0][1]
    advice = {
        SKIPPED["cut_header"]: "capture more of each packet (tcpdump -s 128)",
        SKIPPED["link_type"]: "capture where frames are of Ethernet or IP, on the wire behind an access point",
        **{protocol_text(number): "capture at an end of the tunnel, where packets are not in it" for number in TUNNELS},
    }.get(why)
    return told if advice is None else f"{told}; {advice}"


def left_out_share(counts: Mapping[str, Any], connected_bytes: int) -> float:
    """How much of a capture is in no connection: the larger of the shares of packets and of bytes.

    Parameters
    ----------
    counts, connected_bytes
        As for :func:`left_out_sentence`.

    Returns
    -------
    float
        From 0 to 1; 0 without packets.

    Examples
    --------
    >>> left_out_share({"packets": 960, "skipped": {"cut_header": 96}}, 66_000)
    0.1
    """
    packets, left = counts.get("packets", 0), sum(count for count, _ in reasons(counts))
    return max(left / packets, _share_of_bytes(counts, connected_bytes)) if packets else 0.0


def _share_of_bytes(counts: Mapping[str, Any], connected_bytes: int) -> float:
    bytes_left: int = sum(entry["bytes"] for entry in counts.get("other_protocols", {}).values())
    return bytes_left / (bytes_left + connected_bytes) if bytes_left else 0.0


def one_way_sentence(frame: pl.DataFrame) -> str | None:
    """Say how many TCP connections were captured in one direction only.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.

    Returns
    -------
    str or None
        None where fewer than :data:`LEAST_ONE_WAY` of those with payload were.
    """
    carried = pl.col("opener_distinct_bytes") + pl.col("responder_distinct_bytes") > 0
    tcp = frame.filter((pl.col("protocol") == "tcp") & carried)
    one_way = tcp.filter((pl.col("opener_packets") == 0) | (pl.col("responder_packets") == 0)).height
    if not one_way or one_way < LEAST_ONE_WAY * tcp.height:
        return None
    return (
        f"{one_way:,} of {tcp.height:,} TCP connections were captured in one direction only: the data, the load and "
        "the round trips of the other direction are missing, and times of the answer are too short: capture where "
        "both directions pass"
    )


def one_host(frame: pl.DataFrame, near: Iterable[str]) -> str | None:
    """Say that one address has nearly all connections of the near side, as behind address translation.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    near : iterable of str
        Addresses on the near side.

    Returns
    -------
    str or None
        None where fewer than :data:`MOSTLY_ONE` of the TCP connections with payload that the near side opened are of
        one address, or these are fewer than :data:`LEAST_CONNECTIONS`, or the far side opened more.

    Notes
    -----
    One host that was captured alone looks the same: only who captured knows how many hosts stand behind the address.
    """
    carried = pl.col("opener_distinct_bytes") + pl.col("responder_distinct_bytes") > 0
    tcp = frame.filter((pl.col("protocol") == "tcp") & carried)
    own = tcp.filter(pl.col("opener").is_in(list(near)))
    if own.height < max(LEAST_CONNECTIONS, tcp.height / 2):
        return None
    by_host = own.group_by("opener").len().sort("len", "opener", descending=[True, False])
    host, most = by_host.row(0)
    if most < MOSTLY_ONE * own.height:
        return None
    return (
        f"{most:,} of {own.height:,} connections of the near side are of one address, {host}: if many hosts stand "
        "behind it (address translation), they are taken for one user and times of pages are too long: capture on "
        "their side of the translation"
    )


def asides_sentence(left_bytes: Mapping[str, int], all_bytes: Mapping[str, int]) -> str | None:
    """Say what ``--replay users`` leaves out of connections.

    Parameters
    ----------
    left_bytes, all_bytes : mapping of int
        TCP payload that is left out, and all of it, by ``down`` and ``up``, bytes.

    Returns
    -------
    str or None
        None where less than :data:`LEAST_SAID` of each direction is left out.

    Examples
    --------
    >>> print(asides_sentence({"down": 0, "up": 57}, {"down": 900, "up": 127}))
    44.9 % of the TCP bytes up are short messages that an end sends while the other goes on: --replay users leaves ...
    >>> asides_sentence({"down": 1, "up": 0}, {"down": 900, "up": 127})
    """
    shares = {way: left_bytes[way] / all_bytes[way] for way in ("down", "up") if all_bytes[way]}
    said = [f"{share_text(share)} of the TCP bytes {way}" for way, share in shares.items() if share >= LEAST_SAID]
    if not said:
        return None
    return (
        f"{' and '.join(said)} are short messages that an end sends while the other goes on: --replay users leaves "
        "them out, --replay trains has them"
    )


def assumed_rtt_sentence() -> str:
    """Say that no round-trip time is known.

    Examples
    --------
    >>> assumed_rtt_sentence().partition(":")[0]
    'No round-trip time can be measured in the capture'
    """
    return (
        f"No round-trip time can be measured in the capture: {time_text(ASSUMED_RTT_S)} is assumed for every flow; "
        "--rtt TIME sets another"
    )
