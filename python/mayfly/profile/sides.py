"""Which hosts are of the site: by CIDRs, by private addresses, or by the network that every connection touches."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from mayfly.workload.capture import NOBODY, PRIVATE, hosts_of, hosts_of_site, internal_hosts, networks_of, within

COVERED = 0.99
"""Share of the connections that must touch a network for it to be the site."""

SHORTEST = {4: 8, 6: 16}
"""Shortest prefix that is still one site; a shorter one does not identify a site."""

LONGEST = {4: 24, 6: 64}
"""Longest prefix that is looked for: a site is at least one subnet."""


@dataclass(frozen=True)
class Sides:
    """Hosts by side.

    Parameters
    ----------
    internal, external : frozenset of str
        Addresses of the site and beyond.
    nobody : frozenset of str
        Multicast, broadcast and unspecified addresses: no host.
    how : str
        ``given``, ``private``, ``network`` (touched by nearly every connection) or ``openers``.
    networks : tuple of str
        CIDRs of the site, where it was found by such.
    """

    internal: frozenset[str]
    external: frozenset[str]
    nobody: frozenset[str]
    how: str
    networks: tuple[str, ...] = ()


def sides_of(frame: pl.DataFrame, internal: Sequence[str] | None = None) -> Sides:
    """Tell the hosts of a site from the others.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    internal : sequence of str, optional
        CIDRs of the site. When absent, private addresses are internal; where there is none (public or anonymised
        addresses), the longest prefix that at least 99 % of the connections touch, of at least /8 and at most /24
        (IPv6: /16 and /64), separately for IPv4 and IPv6; where there is none either, hosts that opened more
        connections than they were asked for.

    Returns
    -------
    Sides

    Raises
    ------
    MayflyError
        ``internal`` holds something else than a CIDR, or no host of the capture is in it.

    Notes
    -----
    An anonymisation that keeps prefixes (Chen 2012, 8.2: the LBNL traces) keeps the answer: every connection seen
    inside a site has an end there, while the other ends are spread. A trace of one server shows the server's own
    subnet.

    Examples
    --------
    >>> rows = [("8.1.1.1", "9.9.9.9"), ("8.1.1.2", "7.7.7.7"), ("8.1.1.1", "8.1.1.3")]
    >>> found = sides_of(pl.DataFrame(rows, schema=["opener", "responder"], orient="row"))
    >>> found.how, found.networks, sorted(found.internal)
    ('network', ('8.1.1.0/24',), ['8.1.1.1', '8.1.1.2', '8.1.1.3'])
    """
    everyone = hosts_of(frame)
    nobody = frozenset(host for host in everyone if within(host, NOBODY))
    named = [host for host in everyone if host not in nobody]
    if internal is not None:
        networks = networks_of(internal)
        inside = set(hosts_of_site(frame, networks)) - nobody
        return _split(named, inside, nobody, "given", [str(network) for network in networks])
    if private := {host for host in named if within(host, PRIVATE)}:
        return _split(named, private, nobody, "private", [])
    found = [network for version in (4, 6) if (network := _common_network(frame, version)) is not None]
    versions = {ipaddress.ip_address(host).version for host in named}
    if versions and {network.version for network in found} == versions:
        inside = {host for host in named if within(host, found)}
        return _split(named, inside, nobody, "network", [str(network) for network in found])
    return _split(named, set(internal_hosts(frame)) - nobody, nobody, "openers", [])


def _split(named: list[str], inside: set[str], nobody: frozenset[str], how: str, networks: list[str]) -> Sides:
    return Sides(frozenset(inside), frozenset(named) - inside, nobody, how, tuple(networks))


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
