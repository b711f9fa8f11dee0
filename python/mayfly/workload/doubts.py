"""What a capture lacks and what to doubt in it, in words; nothing here needs a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mayfly import _native

RTT_BOUNDS_S = (1e-9, 60.0)
"""Round-trip times a flow list may hold, s; a handshake outside them counts as not measured."""


def one_sided_sentence(crossing: float) -> str | None:
    """What to doubt where much of a capture passes between hosts of one side.

    Parameters
    ----------
    crossing : float
        :attr:`mayfly.workload.sides.Near.crossing` of the near side.

    Returns
    -------
    str or None
        None where at least 90 % crosses.
    """
    return _native.one_sided_sentence(crossing)


def clock_jump_sentence(silence_s: float | None, duration_s: float) -> str | None:
    """What to doubt in a capture of more than a day in which next to nothing passes.

    Parameters
    ----------
    silence_s : float or None
        Longest time in which nothing passes, s.
    duration_s : float
        From the first packet to the last, s.

    Returns
    -------
    str or None
        None where there is no such doubt.

    Examples
    --------
    >>> clock_jump_sentence(1_400_000.0, 1_470_000.0)[:19]
    'nothing passes for '
    >>> clock_jump_sentence(60_000.0, 86_000.0)
    """
    return _native.clock_jump_sentence(silence_s, duration_s)


SKIPPED = {
    "link_type": "of a link type that is not decoded",
    "not_ip": "neither IPv4 nor IPv6",
    "fragment": "fragments without their first one",
    "other_protocol": "neither TCP nor UDP nor ICMP",
    "cut_header": "cut within their headers",
    "malformed": "malformed",
    "no_interface": "without a known interface or time",
    "oversized": "too long",
    "duplicate": "copies",
}
"""Why packets are left out, in words."""

LINK_TYPES = {
    105: "IEEE 802.11",
    119: "IEEE 802.11 with a Prism header",
    127: "IEEE 802.11 with radiotap",
    163: "IEEE 802.11 with AVS",
    192: "per-packet information",
    147: "user 0",
    187: "Bluetooth",
    189: "USB",
    195: "IEEE 802.15.4",
    201: "Bluetooth",
    220: "USB",
    227: "CAN",
}
"""Link types that people capture and that are not decoded."""


PROTOCOLS = {
    2: "IGMP",
    4: "IP in IP",
    41: "6in4",
    46: "RSVP",
    47: "GRE",
    50: "ESP",
    88: "EIGRP",
    89: "OSPF",
    97: "Ethernet in IP",
    103: "PIM",
    108: "IPComp",
    112: "VRRP",
    115: "L2TP",
    132: "SCTP",
    137: "MPLS in IP",
}
"""IP protocols that people capture and that are not decoded, by number (IANA, Assigned Internet Protocol Numbers)."""


def protocol_text(number: int) -> str:
    """An IP protocol in words.

    Examples
    --------
    >>> protocol_text(47), protocol_text(200)
    ('GRE (IP protocol 47)', 'of IP protocol 200')
    """
    name = PROTOCOLS.get(number)
    return f"of IP protocol {number}" if name is None else f"{name} (IP protocol {number})"


def reasons(counts: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Packets that are left out and why, the most frequent reason first; copies are none of them.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    list of (int, str)
        Packets, and the reason in words; each IP protocol is a reason of its own.

    Examples
    --------
    >>> counts = {"skipped": {"not_ip": 2, "other_protocol": 9}, "other_protocols": {"47": {"packets": 9}}}
    >>> reasons(counts)
    [(9, 'GRE (IP protocol 47)'), (2, 'neither IPv4 nor IPv6')]
    """
    found = []
    for name, count in counts.get("skipped", {}).items():
        if name == "duplicate":
            continue
        if name == "other_protocol":
            known = sorted((int(number), of["packets"]) for number, of in counts.get("other_protocols", {}).items())
            found += [(packets, protocol_text(number)) for number, packets in known]
            count -= sum(packets for _, packets in known)
        found.append((count, SKIPPED[name]))
    return sorted((reason for reason in found if reason[0]), key=lambda reason: -reason[0])


def why_nothing(counts: Mapping[str, Any]) -> str:
    """Say why a capture gave no connection.

    Parameters
    ----------
    counts : mapping
        As :func:`connections` returns it.

    Returns
    -------
    str
        What most of its packets were left out for; that there is none, where there is none.

    Examples
    --------
    >>> why_nothing({"packets": 9, "skipped": {"link_type": 9}, "link_types": {"105": 9}})
    'link type not decoded: 9 packets of link type 105 (IEEE 802.11)'
    """
    skipped = {name: count for name, count in counts.get("skipped", {}).items() if count}
    if not counts.get("packets"):
        return "no packet in it"
    if not skipped:
        return "no connection in it"
    if link_types := counts.get("link_types"):
        parts = [
            f"{count:,} packet{'' if count == 1 else 's'} of link type {kind}"
            + (f" ({LINK_TYPES[int(kind)]})" if int(kind) in LINK_TYPES else "")
            for kind, count in sorted(link_types.items(), key=lambda item: -item[1])[:3]
        ]
        return "link type not decoded: " + ", ".join(parts)
    return "no packet decoded: " + ", ".join(f"{count:,} {why}" for count, why in reasons(counts)[:3])


def why_no_flow(connections: int, counts: Mapping[str, Any]) -> str:
    """Say why a capture gave no flow.

    Parameters
    ----------
    connections : int
        Connections that it has.
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str

    Examples
    --------
    >>> why_no_flow(2, {})
    'none of its 2 connections carries TCP payload or UDP'
    >>> why_no_flow(0, {})
    'no packet in it'
    """
    if connections:
        return f"none of its {connections:,} connection{'' if connections == 1 else 's'} carries TCP payload or UDP"
    return why_nothing(counts)
