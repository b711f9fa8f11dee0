"""Networks as they are named."""

import ipaddress
from collections.abc import Iterable

from mayfly.errors import MayflyError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks_of(cidrs: Iterable[str]) -> list[Network]:
    """Parse CIDRs.

    Raises
    ------
    MayflyError
        One of them is not an IPv4 or IPv6 network, or has bits set behind its prefix.

    Examples
    --------
    >>> networks_of(["192.168.1.0/33"])
    Traceback (most recent call last):
    mayfly.errors.MayflyError: internal = '192.168.1.0/33': must be a network such as 10.0.0.0/8 or 2001:db8::/32
    """
    networks = []
    for cidr in cidrs:
        try:
            networks.append(ipaddress.ip_network(cidr))
        except ValueError:
            raise MayflyError(f"internal = {cidr!r}: must be a network such as 10.0.0.0/8 or 2001:db8::/32") from None
    return networks
