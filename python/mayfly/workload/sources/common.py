"""What the sections of the sources share."""

from typing import Literal

USERS = "each with a pair of hosts of its own; hosts are drawn when absent"
GROUP = "name of these flows in records and summary"
TRANSPORT = "name of a section `[transports.NAME]`, or a preset, which these flows have for `[tcp]`"
FROM = "group of hosts that send: senders when absent"
TO = "group of hosts that receive: receivers when absent"
Direction = Literal["down", "up"]
DIRECTION = "down, or up: from a receiver to a sender"
Place = Literal["random", "even"]
PLACE = "how spread places the flows: drawn uniformly, or at equal distances"

MOST_FLOWS = 10_000_000
"""Largest number of flows one entry of a mix may make."""


def bytes_of(size: tuple[int, str], mss: int) -> int:
    """A size in bytes, or in full segments, as bytes."""
    return size[0] * (1 if size[1] == "bytes" else mss)
