"""Packets of a capture that are copies of others, in words; nothing here needs a table."""

from collections.abc import Mapping
from typing import Any

from mayfly.text.readable import printable, share_text

SAID_FROM = 0.01
"""Share of the packets from which on copies are worth a word."""

LEFT_OUT_FROM = 0.2
"""Share of the packets above which copies are left out without being asked (`capture::read::copies`)."""

_MOST_NAMED = 4
"""Interfaces that are named, at most."""


def copies_sentence(counts: Mapping[str, Any]) -> str | None:
    """Say how many packets were seen more than once, where, and what became of them.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str or None
        None below :data:`SAID_FROM` of the packets.

    Examples
    --------
    >>> copies_sentence({"packets": 200, "copies": 1})
    >>> copies_sentence({"packets": 200, "copies": 100, "skipped": {"duplicate": 100}, "taps": [{"interface": 0}]})[:94]
    '50.0 % of the packets are copies of packets that were seen before, by one tap (a mirror port, '
    """
    packets, copies = counts.get("packets", 0), counts.get("copies", 0)
    if not packets or copies / packets < SAID_FROM:
        return None
    seen = (
        f"{share_text(copies / packets)} of the packets are copies of packets that were seen before, {_where(counts)}"
    )
    if counts.get("skipped", {}).get("duplicate"):
        return f"{seen}: they are left out, so that each packet counts once; --duplicates keep counts them"
    if copies > packets // round(1 / LEFT_OUT_FROM):
        return (
            f"{seen}: they count as traffic and as retransmissions, and the figures are wrong by that; --duplicates "
            "leave-out leaves them out"
        )
    return f"{seen}: they count as traffic; --duplicates leave-out leaves them out"


def _where(counts: Mapping[str, Any]) -> str:
    taps = counts.get("taps", [])
    names = list(dict.fromkeys(str(tap.get("name") or tap["interface"]) for tap in taps))
    if len(names) > _MOST_NAMED:
        return f"at {len(names)} interfaces"
    if len(names) < 2:
        return "by one tap (a mirror port, or -i any)"
    *most, last = (printable(name) for name in names)
    return f"at interfaces {', '.join(most)} and {last}"
