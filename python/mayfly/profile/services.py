"""What fills the link: bytes by transport and service, as ports and forms tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from mayfly.arrays import Integers
from mayfly.profile.traffic import DIRECTIONS
from mayfly.workload.columns import Columns, Table, columns_of
from mayfly.workload.quic import quic_rows
from mayfly.workload.sides import opener_is_near

SERVICES = 5
"""Services that are named; the rest is one row."""

LEAST_SHARE = 0.0005
"""Of all bytes: a service with less has 0.0 %, and is not named."""

PORTS: dict[tuple[str, int], str] = {
    ("tcp", 22): "SSH",
    ("tcp", 25): "SMTP",
    ("tcp", 53): "DNS",
    ("tcp", 80): "HTTP",
    ("tcp", 443): "HTTPS",
    ("tcp", 445): "SMB",
    ("tcp", 465): "SMTP over TLS",
    ("tcp", 587): "mail submission",
    ("tcp", 853): "DNS over TLS",
    ("tcp", 873): "rsync",
    ("tcp", 993): "IMAP over TLS",
    ("tcp", 1935): "RTMP",
    ("tcp", 3389): "remote desktop",
    ("tcp", 5201): "iperf3",
    ("tcp", 8080): "HTTP",
    ("tcp", 8443): "HTTPS",
    ("udp", 53): "DNS",
    ("udp", 67): "DHCP",
    ("udp", 123): "NTP",
    ("udp", 443): "UDP of port 443",
    ("udp", 500): "IPsec key exchange",
    ("udp", 1194): "OpenVPN",
    ("udp", 1701): "L2TP",
    ("udp", 2152): "GTP-U",
    ("udp", 3389): "remote desktop",
    ("udp", 3478): "STUN and TURN",
    ("udp", 4500): "IPsec over UDP",
    ("udp", 4789): "VXLAN",
    ("udp", 5201): "iperf3",
    ("udp", 5353): "multicast DNS",
    ("udp", 6081): "Geneve",
    ("udp", 51820): "WireGuard",
}
"""Services by transport and port of the responder (IANA, Service Name and Transport Protocol Port Number Registry; of
OpenVPN, WireGuard and RTMP the usual ones). QUIC is known by its form, whatever the port."""

PROTOCOLS = {47: "GRE", 50: "ESP", 51: "AH", 132: "SCTP", 4: "IP in IP", 41: "6in4", 44: "fragments", 2: "IGMP"}
"""Other IP protocols by number (IANA, Assigned Internet Protocol Numbers)."""


def services(frame: Table, near: frozenset[str]) -> list[dict[str, Any]]:
    """Sum up what each service carried.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    near : frozenset of str
        Addresses of the near side.

    Returns
    -------
    list of dict
        At most :data:`SERVICES`, those with the most bytes of IP packets first, and ``other`` for the rest:
        ``service``, ``transport`` (``tcp``, ``quic``, ``udp``, ``icmp``, ``other``; None of ``other``), ``port`` of the
        responder (None where it says nothing), ``connections``, ``down_bytes``, ``up_bytes``, and ``share`` of all.

    Notes
    -----
    The service is that of the responder's port (:data:`PORTS`), and where that has none, of the opener's; else it is
    called by the port.
    """
    table = columns_of(frame)
    if not table.height:
        return []
    kinds, of = np.unique(_keys(table), return_inverse=True)
    opener_near = opener_is_near(table, near)
    bytes_of = {way: np.zeros(len(kinds), dtype=np.int64) for way in DIRECTIONS}
    for end in ("opener", "responder"):
        sent = table[f"{end}_wire_bytes"]
        up = opener_near == (end == "opener")
        for way in DIRECTIONS:
            own = up == (way == "up")
            bytes_of[way] += np.bincount(of[own], weights=sent[own], minlength=len(kinds)).astype(np.int64)
    connections = np.bincount(of, minlength=len(kinds))
    sums = bytes_of["down"] + bytes_of["up"]
    whole = int(sums.sum())
    if not whole:
        return []
    order = np.argsort(-sums, kind="stable")
    named = [int(place) for place in order[:SERVICES] if sums[place] >= LEAST_SHARE * whole]
    found = [_row(_named(int(kinds[place])), [place], bytes_of, connections, whole) for place in named]
    if rest := [int(place) for place in order[len(named) :]]:
        found.append(_row(("other", None, None), rest, bytes_of, connections, whole))
    return found


def _row(
    name: tuple[str, str | None, int | None],
    places: list[int],
    bytes_of: dict[str, Any],
    connections: Any,
    whole: int,
) -> dict[str, Any]:
    service, transport, port = name
    sums = {f"{way}_bytes": int(bytes_of[way][places].sum()) for way in DIRECTIONS}
    return {
        "service": service,
        "transport": transport,
        "port": port,
        "connections": int(connections[places].sum()),
        **sums,
        "share": sum(sums.values()) / whole,
    }


TRANSPORTS = ("tcp", "udp", "quic", "icmp", "other")
"""Names in the upper bits of a key; the lower ones are the port, or the number of the protocol."""

_LOW = 1 << 20


def _keys(table: Columns) -> Integers:
    """The service of each connection as a number, shape (n_connections,)."""
    protocols, quic = table.words("protocol"), quic_rows(table)
    responder, opener = (table[f"{end}_port"].astype(np.int64) for end in ("responder", "opener"))
    keys = np.zeros(table.height, dtype=np.int64)
    for transport in ("tcp", "udp"):
        own = protocols.are(transport) & ~quic
        known = np.array([port for kind, port in PORTS if kind == transport])
        port = np.where(~np.isin(responder, known) & np.isin(opener, known), opener, responder)
        keys[own] = TRANSPORTS.index(transport) * _LOW + port[own]
    keys[quic] = TRANSPORTS.index("quic") * _LOW
    keys[protocols.are("icmp")] = TRANSPORTS.index("icmp") * _LOW
    other = protocols.are("other")
    numbers = table["ip_protocol"] if "ip_protocol" in table else np.zeros(table.height, dtype=np.int64)
    keys[other] = TRANSPORTS.index("other") * _LOW + numbers[other].astype(np.int64)
    return keys


def _named(key: int) -> tuple[str, str | None, int | None]:
    """Service, transport and port of a number of :func:`_keys`."""
    transport, low = TRANSPORTS[key // _LOW], key % _LOW
    if transport in ("quic", "icmp"):
        return transport.upper(), transport, None
    if transport == "other":
        return PROTOCOLS.get(low, f"IP protocol {low}"), transport, None
    return PORTS.get((transport, low), f"{transport.upper()} port {low}"), transport, low
