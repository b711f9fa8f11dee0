"""What a capture lacks and what to doubt in it, in words; nothing here needs a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import stopped_sentence
from mayfly.text.readable import share_text
from mayfly.workload.reading import MOST_VOLUMES, ReadOptions
from mayfly.workload.sieve import nothing_passes

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


def clock_sentences(
    silence_s: float | None, duration_s: float, set_back_s: float = 0.0, nanoseconds: bool = False
) -> list[str]:
    """What to doubt in the times of a capture.

    Parameters
    ----------
    silence_s : float or None
        Longest time in which nothing passes, s: worth a word where it is more than 0.9 of a capture of more than an
        hour.
    duration_s : float
        From the first packet to the last, s.
    set_back_s : float
        Longest step of more than 1 s that times go back, s; 0 without one.
    nanoseconds : bool
        Whether a file of microseconds had nanoseconds.

    Returns
    -------
    list of str

    Examples
    --------
    >>> [said] = clock_sentences(1_400_000.0, 1_470_000.0)
    >>> said[:19]
    'nothing passes for '
    >>> clock_sentences(60_000.0, 86_000.0)
    []
    """
    return _native.clock_sentences(silence_s, duration_s, set_back_s, nanoseconds)


SKIPPED = {
    "link_type": "of a link type that is not decoded",
    "not_ip": "neither IPv4 nor IPv6",
    "fragment": "fragments without their first one",
    "other_protocol": "neither TCP nor UDP nor ICMP",
    "cut_header": "cut within their headers",
    "malformed": "malformed",
    "no_interface": "without a known interface or time",
    "oversized": "too long",
    "cut_record": "cut off by the end of the file",
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
    44: "fragments",
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
        What most of its packets were left out for; that there is none, or that none passes the filter.

    Examples
    --------
    >>> why_nothing({"packets": 9, "skipped": {"link_type": 9}, "link_types": {"105": 9}})
    'link type not decoded: 9 packets of link type 105 (IEEE 802.11)'
    """
    skipped = {name: count for name, count in counts.get("skipped", {}).items() if count}
    if not counts.get("packets"):
        return nothing_passes(counts) or "no packet in it"
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
    >>> why_no_flow(1, {"other_protocols": {"47": {"packets": 9}}})[53:]
    'there are packets of other protocols: GRE (IP protocol 47)'
    >>> why_no_flow(0, {})
    'no packet in it'
    """
    if connections:
        others = [protocol_text(int(number)) for number in counts.get("other_protocols", {})]
        packets = f"; there are packets of other protocols: {', '.join(others[:3])}" if others else ""
        plural = "" if connections == 1 else "s"
        return f"none of its {connections:,} connection{plural} carries TCP payload or UDP{packets}"
    return why_nothing(counts)


PARTS = "cut the capture into parts (editcap -A and -B, or -c) and read each"
"""What always helps."""


def given_up(counts: Mapping[str, Any]) -> int:
    """Connections that are in no row of a table of connections, since a limit was reached.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it; of a table that was written, ``lost`` has those
        that did not wait in a file.

    Returns
    -------
    int

    Examples
    --------
    >>> given_up({"evicted": 7}), given_up({"evicted": 7, "lost": 0}), given_up({})
    (7, 0, 0)
    """
    return int(counts.get("lost", counts.get("evicted", 0)))


def partial_sentences(counts: Mapping[str, Any], most_open: int = ReadOptions.max_flows) -> list[str]:
    """Say what a reading left out, a sentence for each limit.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    most_open : int
        Bound of the connections that were open at once.

    Returns
    -------
    list of str
        Each begins with ``Partial:``; empty where all was read.

    Examples
    --------
    >>> partial_sentences({"evicted": 2_000, "duration_s": 9.0})
    ['Partial: more than 1,000,000 connections were open at once, and 2,000 that were silent for longest are left ...
    >>> partial_sentences({"evicted": 0, "duration_s": 9.0})
    []
    >>> short = {"left_out": {"budget": {"count": 9, "bytes": 360}}}
    >>> partial_sentences({"evicted": 7, "account": short})
    ['Partial: memory held no more connections, and 7 that were silent for longest are left out: use `mayfly --mem...
    """
    found = []
    if stopped := stopped_sentence(dict(counts), float(counts.get("duration_s", 0.0))):
        found.append(stopped)
    if lost := given_up(counts):
        # Where memory is the bound, the account says so.
        short = "budget" in counts.get("account", {}).get("left_out", {})
        why = "memory held no more connections" if short else f"more than {most_open:,} connections were open at once"
        more = "use `mayfly --memory SIZE COMMAND` with more, or " if short else ""
        found.append(f"Partial: {why}, and {lost:,} that were silent for longest are left out: {more}{PARTS}")
    if parted := counts.get("parted", 0):
        found.append(
            f"Partial: {parted:,} connections were open and had to leave memory: what they sent later counts as "
            f"connections of their own: use `mayfly --memory SIZE COMMAND` with more, or {PARTS}"
        )
    if (sentence := loads_sentence(counts)) is not None:
        found.append(sentence)
    return found


def loads_sentence(counts: Mapping[str, Any]) -> str | None:
    """Say that the loads over time are of a part of the packets.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str or None
        None where all packets are in them.

    Examples
    --------
    >>> print(loads_sentence({"volumes_left_out": 9_000, "decoded": 90_000}))
    Partial: 10.0 % of the packets are in no load over time, since at most 1,048,576 directions of connections are ...
    """
    left = counts.get("volumes_left_out", 0)
    if not left:
        return None
    share = share_text(left / max(counts.get("decoded", 0), left))
    return (
        f"Partial: {share} of the packets are in no load over time, since at most {MOST_VOLUMES:,} directions of "
        f"connections are counted: loads, busiest hosts and waits on the captured link are of the others: {PARTS}"
    )


def refuse_partial(
    counts: Mapping[str, Any], source: str, what: str, most_open: int | None = ReadOptions.max_flows
) -> None:
    """Refuse a reading that left something out.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    source : str
        What the message calls the captures.
    what : str
        What must be whole, such as ``a flow list``.
    most_open : int, optional
        Bound of the connections that were open at once; None where memory was the bound.

    Raises
    ------
    MayflyError
        A limit of number, memory or time was reached; one line.

    Examples
    --------
    >>> counts = {"evicted": 2_000, "packets": 3_000_000, "duration_s": 9.0}
    >>> refuse_partial(counts, "big.pcap", "a flow list")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: big.pcap: 2,000 connections do not fit, since more than 1,000,000 were open at once: ...
    >>> refuse_partial({"evicted": 0}, "small.pcap", "a flow list")
    """
    rest = f"{what} must be whole"
    if stopped := counts.get("stopped"):
        raise MayflyError(
            f"{source}: reading reached {stopped['at']} after {stopped['packets']:,} packets, "
            f"{stopped['connections']:,} connections and {counts.get('duration_s', 0.0):.3g} s of the capture: {rest}: "
            f"use `mayfly {stopped['more']} COMMAND`, or {PARTS}"
        )
    if parted := counts.get("parted", 0):
        raise MayflyError(
            f"{source}: {parted:,} connections were open and had to leave memory: {rest}: "
            f"use `mayfly --memory SIZE COMMAND` with more, or {PARTS}"
        )
    if not (lost := given_up(counts)):
        return
    if most_open is None:
        raise MayflyError(
            f"{source}: {lost:,} connections do not fit into the memory of the command: {rest}: "
            f"use `mayfly --memory SIZE COMMAND` with more, or {PARTS}"
        )
    raise MayflyError(
        f"{source}: {lost:,} connections do not fit, since more than {most_open:,} were open at once: {rest}: {PARTS}"
    )


def named(paths: Sequence[Any]) -> str:
    """Captures as messages call them.

    Examples
    --------
    >>> named(["a.pcap", "b.pcap"])
    'a.pcap, b.pcap'
    """
    return ", ".join(map(str, paths))
