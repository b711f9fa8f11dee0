"""Flow lists made of packet captures, which replay them through a bottleneck.

Principle: :mod:`mayfly.workload.connections` has one row per TCP connection or UDP flow; everything here is a polars
expression over these rows. What a capture cannot tell (round-trip time of a connection begun before it,
rate of a single datagram) is filled in by the rules stated at :func:`flows_of_capture`.
"""

import ipaddress
import os
from collections.abc import Iterable
from functools import lru_cache

import polars as pl

from mayfly.errors import MayflyError
from mayfly.workload.connections import COLUMNS, connections
from mayfly.workload.doubts import RTT_BOUNDS_S as RTT_BOUNDS_S
from mayfly.workload.doubts import clock_jump_sentence as clock_jump_sentence
from mayfly.workload.doubts import one_sided_sentence as one_sided_sentence
from mayfly.workload.networks import Network as Network
from mayfly.workload.networks import networks_of as networks_of

__all__ = ["COLUMNS", "connections", "flows_of_capture", "flows_of_connections"]

PRIVATE = tuple(
    ipaddress.ip_network(cidr)
    for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)
"""Networks of RFC 1918, RFC 4193 and link-local addresses."""

NOBODY = tuple(
    ipaddress.ip_network(cidr) for cidr in ("0.0.0.0/32", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8")
)
"""Addresses that tell nothing about the side of a host: unspecified, multicast, broadcast."""

COVERED = 0.99
"""Share of the connections that must touch a network for it to be the site."""

SHORTEST = {4: 8, 6: 16}
"""Shortest prefix that is still one site; a shorter one does not identify a site."""

LONGEST = {4: 24, 6: 64}
"""Longest prefix that is looked for: a site is at least one subnet."""

SMALLEST_UDP_BYTES = 29
"""IPv4 and UDP header and one byte of payload."""

LARGEST_UDP_BYTES = 65535
"""A packet of segmentation offload is longer than any on the wire; it is replayed at this length."""

SINGLE_BPS = 1e6
"""Rate of a UDP flow of one packet, bit/s: the packet lasts its length at 1 Mbit/s."""

CLOCK_S = 1e-6
"""Shortest span between two packets, the resolution of most captures."""

NETWORKS_TOLD = 4
"""Networks that a refusal names."""

RATE_BOUNDS_BPS = (1.0, 1e12)
"""Rates a flow list may hold, bit/s."""


def flows_of_capture(
    path: str | os.PathLike[str], *, internal: list[str] | None = None, max_flows: int = 1_000_000
) -> pl.DataFrame:
    """Read a capture as a flow list.

    Parameters
    ----------
    path : path
        Capture, as for :func:`connections`.
    internal : list of str, optional
        CIDRs of the side behind the link (``10.0.0.0/8``, ``2001:db8::/32``). When not given, see
        :func:`internal_hosts`.
    max_flows : int
        As for :func:`connections`.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12)
        As :func:`flows_of_connections` returns it.

    Raises
    ------
    MayflyError
        As :func:`connections`, or ``internal`` holds something else than a CIDR, or no host is in it; one line.
    """
    networks = None if internal is None else networks_of(internal)
    frame = connections(path, max_flows=max_flows)[0]
    if networks is not None:
        hosts_of_site(frame, networks)
    return flows_of_connections(frame, networks)


def flows_of_connections(
    frame: pl.DataFrame,
    networks: list[Network] | None = None,
    *,
    from_zero: bool = True,
    near: Iterable[str] | None = None,
) -> pl.DataFrame:
    """Make the flow list of a connection table: one row per direction that carried something.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        As :func:`connections` returns it.
    networks : list of ip_network, optional
        Internal side; inferred by :func:`internal_hosts` when None.
    from_zero : bool
        Whether the first flow starts at 0, or times are those of the connections.
    near : iterable of str, optional
        Hosts of the internal side, in place of its networks.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 12)
        The columns of ``docs/tables.md`` and ``connection_id``, sorted by ``start_s``.

    Notes
    -----
    - ICMP is left out.
    - TCP: a row for each direction with payload; ``size_bytes`` is its distinct payload. ``start_s`` is one
      round-trip time before the first payload of the direction, not before the connection. An idle connection is not
      split.
    - UDP: a row for each direction with packets; ``packet_bytes`` is the mean IP length, ``size_bytes`` the payload,
      at least 1. ``rate_bps`` lets the last packet leave when it did: the bits of all packets but one over the span
      from first to last packet (at least 1 us), 1 Mbit/s for a single packet, within 1 bit/s and 1 Tbit/s.
    - ``rtt_s``: the handshake's, else the median over the capture, else null.
    - ``direction``: ``up`` from internal to external, ``down`` from external to internal; where both ends are on the
      same side, ``down`` towards the opener.
    """
    frame = frame.filter(pl.col("protocol") != "icmp")
    if near is None:
        near = internal_hosts(frame) if networks is None else hosts_within(frame, networks)
    measured = pl.when(pl.col("rtt_s").is_between(*RTT_BOUNDS_S)).then("rtt_s")
    known = frame.with_columns(measured.alias("rtt_s"))
    known = known.with_columns(pl.col("rtt_s").fill_null(pl.col("rtt_s").median()))
    ways = known.select("connection_id", opener_near=opener_is_near(near))
    flows = pl.concat([direction_of(known, "opener", "responder"), direction_of(known, "responder", "opener")])
    flows = flows.join(ways, on="connection_id", how="left", maintain_order="left")
    up = (pl.col("opened_by") == "sender") == pl.col("opener_near")
    flows = flows.with_columns(
        pl.when(up).then(pl.lit("up")).otherwise(pl.lit("down")).alias("direction"),
        (pl.col("start_s") - (pl.col("start_s").min() if from_zero else 0.0)).alias("start_s"),
    ).sort("start_s", "connection_id", "opened_by", descending=[False, False, True])
    return flows.with_row_index("flow_id").select(
        pl.col("flow_id").cast(pl.Int64),
        *("start_s", "src", "dst", "direction", "protocol", "size_bytes", "rtt_s", "opened_by"),
        *("packet_bytes", "rate_bps", "connection_id"),
    )


def direction_of(frame: pl.DataFrame, sender: str, receiver: str) -> pl.DataFrame:
    """Flows sent by ``sender`` (``opener`` or ``responder``), before the shift to 0 and without ``direction``."""

    def sent(name: str) -> pl.Expr:
        return pl.col(f"{sender}_{name}")

    udp = pl.col("protocol") == "udp"
    asked_s = sent("first_data_s") - pl.col("rtt_s").fill_null(0.0)
    start_s = pl.when(udp).then(sent("first_s")).otherwise(pl.max_horizontal("start_s", asked_s))
    packet_bytes = (sent("wire_bytes") / sent("packets")).round().cast(pl.Int64)
    span_s = pl.max_horizontal(sent("last_s") - sent("first_s"), pl.lit(CLOCK_S))
    paced_bps = 8 * sent("wire_bytes") / sent("packets") * (sent("packets") - 1) / span_s
    rate_bps = pl.when(sent("packets") > 1).then(paced_bps.clip(*RATE_BOUNDS_BPS)).otherwise(SINGLE_BPS)
    carried = pl.when(udp).then(sent("packets") > 0).otherwise(sent("distinct_bytes") > 0)
    return frame.filter(carried).select(
        pl.col("connection_id"),
        pl.max_horizontal(start_s, pl.lit(0.0)).alias("start_s"),
        pl.col(sender).alias("src"),
        pl.col(receiver).alias("dst"),
        pl.col("protocol"),
        pl.max_horizontal(sent("distinct_bytes"), pl.lit(1, dtype=pl.Int64)).alias("size_bytes"),
        pl.col("rtt_s"),
        pl.lit("sender" if sender == "opener" else "receiver").alias("opened_by"),
        pl.when(udp).then(packet_bytes.clip(SMALLEST_UDP_BYTES, LARGEST_UDP_BYTES)).alias("packet_bytes"),
        pl.when(udp).then(rate_bps).alias("rate_bps"),
    )


def internal_hosts(frame: pl.DataFrame) -> list[str]:
    """Addresses on the inner side of the link, inferred from a connection table.

    The hosts of the site (:func:`site_of`) are internal. Where next to nothing crosses between them and others
    (:data:`mayfly.workload.doubts.LEAST_CROSSING`), as in a capture inside a site, the side that opens connections is:
    each address that opened more connections than it accepted.
    """
    return sorted(near_side(frame)[0])


def near_side(frame: pl.DataFrame) -> tuple[frozenset[str], str]:
    """The same, and how it was found: ``site``, or ``openers`` where no site tells."""
    # Columns are arrays of numpy, which takes a while to import.
    from mayfly.workload.columns import columns_of
    from mayfly.workload.crossing import near_side_of

    inside, how, _ = site_of(frame)
    return near_side_of(columns_of(frame), frozenset(inside), how, _nobody(frame))[:2]


def crossing_share(frame: pl.DataFrame, inside: Iterable[str]) -> float:
    """Share of the bytes that crosses (:func:`mayfly.workload.crossing.crossing_share`)."""
    from mayfly.workload.columns import columns_of
    from mayfly.workload.crossing import crossing_share as of_columns

    return of_columns(columns_of(frame), frozenset(inside), _nobody(frame))


def _nobody(frame: pl.DataFrame) -> frozenset[str]:
    return frozenset(host for host in hosts_of(frame) if within(host, NOBODY))


def site_of(frame: pl.DataFrame) -> tuple[set[str], str, list[Network]]:
    """Hosts of the site, how they were found, and its networks where these tell.

    Private, unique local and link-local addresses are the site (``private``). Where there is none, it is the longest
    prefix that at least 99 % of the connections touch (``network``), and where there is none either, the hosts that
    opened more connections than they accepted (``openers``).
    """
    named = [host for host in hosts_of(frame) if not within(host, NOBODY)]
    if private := {host for host in named if within(host, PRIVATE)}:
        return private, "private", []
    found = [network for version in (4, 6) if (network := _common_network(frame, version)) is not None]
    versions = {ipaddress.ip_address(host).version for host in named}
    if versions and {network.version for network in found} == versions:
        return {host for host in named if within(host, found)}, "network", found
    from mayfly.workload.columns import columns_of
    from mayfly.workload.crossing import openers

    return set(openers(columns_of(frame), _nobody(frame))), "openers", []


def _common_network(frame: pl.DataFrame, version: int) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Longest prefix that nearly all connections of an IP version touch, or None."""
    import numpy as np  # no other way to tell the sides needs it, and it takes a while to import

    numbers = {
        host: address
        for host in hosts_of(frame)
        if (address := ipaddress.ip_address(host)).version == version and not within(host, NOBODY)
    }
    pairs = frame.group_by("opener", "responder").agg(pl.len().alias("connections"))
    pairs = pairs.filter(pl.col("opener").is_in(list(numbers)) & pl.col("responder").is_in(list(numbers)))
    if not pairs.height:
        return None
    bits = 32 if version == 4 else 128
    # The leading 64 bits are all that is looked at.
    kept = min(bits, 64)
    ends = [
        np.array([int(numbers[host]) >> (bits - kept) for host in pairs[side]], dtype=np.uint64)
        for side in ("opener", "responder")
    ]
    weights = pairs["connections"].to_numpy().astype(float)
    prefix, length = 0, 0
    while length < LONGEST[version]:
        shift = np.uint64(kept - length - 1)
        touched = {}
        for child in (2 * prefix, 2 * prefix + 1):
            touches = ((ends[0] >> shift) == child) | ((ends[1] >> shift) == child)
            touched[child] = float(weights[touches].sum()) / float(weights.sum())
        # Of two halves that all connections touch, the site is the one that opens more of them.
        opened = {child: float(weights[(ends[0] >> shift) == child].sum()) for child in touched}
        best = max(touched, key=lambda child: (touched[child] >= COVERED, opened[child]))
        if touched[best] < COVERED:
            break
        prefix, length = best, length + 1
    if length < SHORTEST[version]:
        return None
    return ipaddress.ip_network((prefix << (bits - length), length))


def opener_is_near(hosts: Iterable[str]) -> pl.Expr:
    """Whether the opener of a connection is on the near side of the link, that of ``hosts``.

    Every connection of a capture is taken to pass the link. Between two hosts of one side, the opener is near.
    """
    inside = list(hosts)
    near = pl.col("opener").is_in(inside)
    return pl.when(near != pl.col("responder").is_in(inside)).then(near).otherwise(pl.lit(True))


def hosts_within(frame: pl.DataFrame, networks: Iterable[Network]) -> list[str]:
    """Addresses of a connection table inside any of ``networks``."""
    networks = list(networks)
    return [host for host in hosts_of(frame) if within(host, networks)]


def hosts_of_site(frame: pl.DataFrame, networks: Iterable[Network]) -> list[str]:
    """The same of networks that a user named.

    Raises
    ------
    MayflyError
        There are addresses, and none of them is inside.

    Examples
    --------
    >>> frame = pl.DataFrame({"opener": ["10.1.2.3"], "responder": ["192.0.2.1"]})
    >>> hosts_of_site(frame, networks_of(["10.9.0.0/16"]))
    Traceback (most recent call last):
    mayfly.errors.MayflyError: internal = 10.9.0.0/16: no host is in it; seen are 10.1.2.0/24, 192.0.2.0/24
    """
    networks = list(networks)
    found = hosts_within(frame, networks)
    if frame.height and not found:
        named = ", ".join(map(str, networks)) or "nothing"
        raise MayflyError(f"internal = {named}: no host is in it; seen are {', '.join(networks_seen(frame))}")
    return found


LONGEST_S = 2 * 365.25 * 86_400
"""Longest span of a replay, that of a time in settings."""


def refuse_clock_jump(flows: pl.DataFrame, source: str, lasted_s: float = 0.0) -> None:
    """Refuse flows that span years, as those of two captures in one file do.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, n_columns)
        Of a capture.
    source : str
        What the message calls it.
    lasted_s : float
        How long their packets came, s, where that is known.

    Raises
    ------
    MayflyError
        They span more than :data:`LONGEST_S`.
    """
    starts = flows["start_s"].sort()
    span_s = max(float(starts[-1] - starts[0]) if len(starts) else 0.0, lasted_s)
    # What comes after the last start is as long again at most.
    if 2 * span_s <= LONGEST_S:
        return
    gaps = starts.diff().drop_nulls()
    years = 365.25 * 86_400
    without, cut = "", "cut it"
    # All may begin together, and one of them have a packet years later.
    if len(gaps) and (longest := gaps.arg_max()) is not None and gaps[longest] > 0:
        without = f", {gaps[longest] / years:.1f} of them without any"
        cut = f"cut it after {starts[longest]:,.0f} s"
    raise MayflyError(
        f"{source}: its flows span {span_s / years:.1f} years{without}: two captures in one file, or a clock that "
        f"jumped; {cut} (editcap -A and -B), or scale it with --load"
    )


def networks_seen(frame: pl.DataFrame) -> list[str]:
    """The four networks of the size of a subnet with the most connections, and how many more there are.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.

    Returns
    -------
    list of str
        CIDRs of 24 bits (IPv6: 64), the busiest first; multicast, broadcast and unspecified addresses are left out.
    """
    ends = pl.concat([frame["opener"], frame["responder"].alias("opener")]).value_counts()
    counts: dict[str, int] = {}
    for host, count in ends.iter_rows():
        if not within(host, NOBODY):
            prefix = 24 if ipaddress.ip_address(host).version == 4 else 64
            network = str(ipaddress.ip_network(f"{host}/{prefix}", strict=False))
            counts[network] = counts.get(network, 0) + count
    ordered = sorted(counts, key=lambda network: (-counts[network], network))
    more = len(ordered) - NETWORKS_TOLD
    return ordered[:NETWORKS_TOLD] + ([f"{more:,} more"] if more > 0 else [])


def hosts_of(frame: pl.DataFrame) -> list[str]:
    """Every address of a connection table, once."""
    return pl.concat([frame["opener"], frame["responder"].alias("opener")]).unique().sort().to_list()


def within(host: str, networks: Iterable[Network]) -> bool:
    """Whether an address lies inside any of ``networks``."""
    address = _address(host)
    return any(address in network for network in networks)


@lru_cache(maxsize=1 << 14)
def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The same hosts are looked for in the networks of a site and in those of nobody, for each table anew."""
    return ipaddress.ip_address(host)
