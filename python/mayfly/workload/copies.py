"""Packets of a capture that are copies of others, in words; nothing here needs a table."""

from collections.abc import Mapping
from typing import Any

from mayfly import _native


def copies_sentence(counts: Mapping[str, Any]) -> str | None:
    """Say how many packets were seen more than once, where, and what became of them.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str or None
        None below 1 % of the packets.

    Examples
    --------
    >>> copies_sentence({"packets": 200, "copies": 1})
    >>> copies_sentence({"packets": 200, "copies": 100, "skipped": {"duplicate": 100}, "taps": [{"interface": 0}]})[:94]
    '50.0 % of the packets are copies of packets that were seen before, by one tap (a mirror port, '
    """
    left_out = bool(counts.get("skipped", {}).get("duplicate"))
    taps = [(tap["interface"], tap.get("name")) for tap in counts.get("taps", [])]
    copies, packets, translated = (counts.get(name, 0) for name in ("copies", "packets", "translated"))
    return _native.copies_sentence(copies, packets, left_out, translated, taps)
