"""Which hosts are of the site: by CIDRs, by private addresses, or by the network that every connection touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


ROLES = ("server", "client")
"""What a host can be."""


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
    >>> import polars as pl
    >>> rows = [("8.1.1.1", "9.9.9.9"), ("8.1.1.2", "7.7.7.7"), ("8.1.1.1", "8.1.1.3")]
    >>> found = sides_of(pl.DataFrame(rows, schema=["opener", "responder"], orient="row"))
    >>> found.how, found.networks, sorted(found.internal)
    ('network', ('8.1.1.0/24',), ['8.1.1.1', '8.1.1.2', '8.1.1.3'])
    """
    from mayfly.workload.capture import NOBODY, hosts_of, hosts_of_site, networks_of, site_of, within

    everyone = hosts_of(frame)
    nobody = frozenset(host for host in everyone if within(host, NOBODY))
    named = [host for host in everyone if host not in nobody]
    if internal is not None:
        networks = networks_of(internal)
        inside = set(hosts_of_site(frame, networks)) - nobody
        return _split(named, inside, nobody, "given", [str(network) for network in networks])
    inside, how, found = site_of(frame)
    return _split(named, inside, nobody, how, [str(network) for network in found])


def _split(named: list[str], inside: set[str], nobody: frozenset[str], how: str, networks: list[str]) -> Sides:
    return Sides(frozenset(inside), frozenset(named) - inside, nobody, how, tuple(networks))


def counted(roles: Mapping[str, str], sides: Sides) -> dict[str, int]:
    """How many hosts of the site have each role, or none."""
    inside = [roles.get(host, "unknown") for host in sides.internal]
    return {role: inside.count(role) for role in (*ROLES, "unknown")}
