"""Limits of the two queues of a link as the native module takes them."""

from collections.abc import Sequence
from typing import Any


def queue_limits(
    buffer: Sequence[Any], reverse_buffer: Sequence[Any] | None, counts_transmission: bool, full_packet: int
) -> dict[str, dict[str, int]]:
    """The limits of packets that wait.

    Parameters
    ----------
    buffer : pair of int and str
        Limit and its unit, ``packets`` or ``bytes``.
    reverse_buffer : pair of int and str, or None
        That of the other direction; as ``buffer`` when None.
    counts_transmission : bool
        Whether the packet in transmission takes a place.
    full_packet : int
        Bytes of a full packet.

    Returns
    -------
    dict
        ``limit`` and ``reverse_limit``, each the number by its unit.

    Examples
    --------
    >>> queue_limits((300, "packets"), (15000, "bytes"), True, 1500)
    {'limit': {'packets': 299}, 'reverse_limit': {'bytes': 13500}}
    """
    ways = {"limit": buffer, "reverse_limit": reverse_buffer or buffer}
    taken = {"packets": 1, "bytes": full_packet} if counts_transmission else {"packets": 0, "bytes": 0}
    return {way: {unit: number - taken[unit]} for way, (number, unit) in ways.items()}
