"""Why packets of a capture are left out, in words; nothing here needs a table."""

from __future__ import annotations

from typing import Any

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


def why_nothing(counts: dict[str, Any]) -> str:
    """Say why a capture gave no connection.

    Parameters
    ----------
    counts : dict
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
    reasons = sorted(skipped, key=lambda name: -skipped[name])[:3]
    return "no packet decoded: " + ", ".join(f"{skipped[name]:,} {SKIPPED[name]}" for name in reasons)


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
