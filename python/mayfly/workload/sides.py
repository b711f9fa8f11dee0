"""Which hosts of a capture are of its site, and which are on the near side of the link; nothing here needs polars.

Principle: crate ``hosts`` has the rules. Here the columns of connections are handed to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mayfly import _native
from mayfly.arrays import Booleans, Integers
from mayfly.errors import MayflyError
from mayfly.workload.columns import Columns, Table, columns_of, hosts_of_ends


def networks_of(cidrs: object) -> list[str]:
    """Check CIDRs, and write each as ``10.0.0.0/8`` or ``2001:db8::/32``.

    Parameters
    ----------
    cidrs : str or ip_network, or iterable of these
        What Python's :func:`ipaddress.ip_network` takes: an address alone is a network, and a mask may stand for the
        length of the prefix. One alone is one network.

    Returns
    -------
    list of str

    Raises
    ------
    MayflyError
        One of them is not an IPv4 or IPv6 network, or has bits set behind its prefix.

    Examples
    --------
    >>> networks_of(["10.0.0.0/255.0.0.0", "192.0.2.1"])
    ['10.0.0.0/8', '192.0.2.1/32']
    >>> networks_of("10.0.0.0/8")
    ['10.0.0.0/8']
    >>> networks_of(["192.168.1.0/33"])
    Traceback (most recent call last):
    mayfly.errors.MayflyError: internal = '192.168.1.0/33': must be a network such as 10.0.0.0/8 or 2001:db8::/32
    """
    # A network of ipaddress is iterable, too: over its addresses.
    several = isinstance(cidrs, Iterable) and not isinstance(cidrs, str) and not hasattr(cidrs, "prefixlen")
    each: Iterable[object] = cidrs if several and isinstance(cidrs, Iterable) else [cidrs]
    try:
        return _native.networks_of([str(cidr) for cidr in each])
    except ValueError as error:
        raise MayflyError(str(error)) from None


class Near(NamedTuple):
    """The near side of a link.

    Parameters
    ----------
    hosts : frozenset of str
        Addresses on it.
    found_by : str
        ``given``, ``site``, or ``openers`` where next to nothing crosses between a site and others.
    crossing : float
        Share of the bytes of IP packets that pass between its hosts and others; of connections, without bytes.
    """

    hosts: frozenset[str]
    found_by: str
    crossing: float


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
    roles : mapping of str, optional
        ``server`` or ``client`` of the hosts of the site by who opens connections: a server took more than it opened, a
        client opened as many or more; one that did neither is left out.
    """

    internal: frozenset[str]
    external: frozenset[str]
    nobody: frozenset[str]
    how: str
    networks: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, names: Sequence[str], kinds: bytes, how: str, networks: Iterable[str]) -> Sides:
        """Of addresses and a byte for each, the place of what it is in ``_native.Hosts.KINDS``."""
        words = _native.Hosts.KINDS
        found: dict[str, list[str]] = {word: [] for word in words}
        for name, kind in zip(names, kinds, strict=True):
            found[words[kind]].append(name)
        inside = frozenset(host for role in (*ROLES, "unknown") for host in found[role])
        roles = {host: role for role in ROLES for host in found[role]}
        return cls(inside, frozenset(found["remote"]), frozenset(found["nobody"]), how, tuple(networks), roles)


def near_side(table: Table, networks: Iterable[object] | None = None) -> Near:
    """Find the near side of the link that a capture was taken at.

    Parameters
    ----------
    table : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    networks : iterable of str or ip_network, optional
        CIDRs of the near side, of which no host need be there.

    Returns
    -------
    Near
        The hosts in ``networks``. Without these the hosts of the site (:func:`sides_of`); where less than 5 % of the
        bytes crosses between them and others, as in a capture inside a site, the hosts that opened more connections
        than they accepted. Multicast, broadcast and unspecified addresses are on no side.

    Raises
    ------
    MayflyError
        ``networks`` holds something else than a CIDR.
    """
    names, hosts = _hosts(columns_of(table))
    return _near(names, *hosts.near(_texts(networks)))


def near_of_site(table: Table, site: frozenset[str], found_by: str) -> Near:
    """Find the near side where the site is known.

    Parameters
    ----------
    table : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    site : frozenset of str
        Its hosts.
    found_by : str
        How it was found, as :class:`Sides` has it.

    Returns
    -------
    Near
        As :func:`near_side`.
    """
    names, hosts = _hosts(columns_of(table))
    return _near(names, *hosts.near_of(found_by, [name in site for name in names]))


def crossing_share(table: Table, near: frozenset[str]) -> float:
    """Share of the bytes that crosses between the hosts ``near`` and others, as in :class:`Near`."""
    names, hosts = _hosts(columns_of(table))
    return hosts.crossing_share([name in near for name in names])


def opener_is_near(table: Columns, near: frozenset[str]) -> Booleans:
    """Whether the opener of each connection is on the near side of the link, shape (n_connections,).

    Every connection of a capture is taken to pass the link. Between two hosts of one side, the opener is near.
    """
    opener, responder = (table.words(end).among(near) for end in ("opener", "responder"))
    found: Booleans = opener | ~responder
    return found


def sides_of(table: Table, networks: Iterable[object] | None = None) -> Sides:
    """Tell the hosts of the site of a capture from the others.

    Parameters
    ----------
    table : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections; without ``state`` and ``responder_packets`` no host took one.
    networks : iterable of str or ip_network, optional
        CIDRs of the site. Without these, private addresses are the site; where there is none (public or anonymised
        addresses), the longest prefix that at least 99 % of the connections touch, of at least /8 and at most /24
        (IPv6: /16 and /64), separately for IPv4 and IPv6; where there is none either, hosts that opened more
        connections than they were asked for.

    Returns
    -------
    Sides

    Raises
    ------
    MayflyError
        ``networks`` holds something else than a CIDR, or no host of the capture is in it.

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
    >>> frame = pl.DataFrame({"opener": ["10.1.2.3"], "responder": ["192.0.2.1"]})
    >>> sides_of(frame, ["10.9.0.0/16"])
    Traceback (most recent call last):
    mayfly.errors.MayflyError: internal = 10.9.0.0/16: no host is in it; seen are 10.1.2.0/24, 192.0.2.0/24
    """
    columns = columns_of(table)
    taken: Booleans = np.zeros(columns.height, dtype=bool)
    if "state" in columns:
        taken = (columns["responder_packets"] > 0) & ~columns.words("state").among(_native.Hosts.UNANSWERED)
    names, hosts = _hosts(columns, taken)
    try:
        found_by, found, kinds = hosts.site(_texts(networks))
    except ValueError as error:
        raise MayflyError(str(error)) from None
    return Sides.of(names, kinds, found_by, found)


def counted(roles: Mapping[str, str], sides: Sides) -> dict[str, int]:
    """How many hosts of the site have each role, or none."""
    inside = [roles.get(host, "unknown") for host in sides.internal]
    return {role: inside.count(role) for role in (*ROLES, "unknown")}


def _texts(networks: Iterable[object] | None) -> list[str] | None:
    return None if networks is None else networks_of(networks)


def _near(names: Sequence[str], inside: bytes, found_by: str, crossing: float) -> Near:
    hosts = frozenset(name for name, near in zip(names, inside, strict=True) if near)
    return Near(hosts, found_by, crossing)


def _hosts(table: Columns, taken: Booleans | None = None) -> tuple[list[str], _native.Hosts]:
    """Every address once, and their connections as the compiled module takes them."""
    names, opener, responder = hosts_of_ends(table)
    weights = [table[name] for end in ("opener", "responder") if (name := f"{end}_wire_bytes") in table]

    def whole(values: Integers) -> Integers:
        return np.ascontiguousarray(values, dtype=np.int64)

    carried = whole(sum(weights, start=np.zeros(table.height, dtype=np.int64)))
    flags = np.zeros(table.height, dtype=bool) if taken is None else np.ascontiguousarray(taken)
    try:
        return names, _native.Hosts(names, whole(opener), whole(responder), carried, flags.view(np.uint8))
    except ValueError as error:
        raise MayflyError(str(error)) from None
