"""How much of a capture is QUIC and other UDP: a replay sends these packets as they were captured.

Mayfly replays TCP as transfers whose senders slow down when packets wait or are lost. Packets of UDP are replayed each
at its time, since nothing in them says what their senders would do: true of calls, and wrong of QUIC, which slows down
as TCP does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mayfly import _native
from mayfly.workload.columns import Table, columns_of

HTTPS = 443


@dataclass(frozen=True)
class UdpShare:
    """Shares of the bytes of all IP packets in a table of connections, each 0 to 1.

    Parameters
    ----------
    quic : float
        QUIC, by the long headers of the first packets.
    other : float
        Other UDP.
    at_443 : float
        Of ``other``, to or from port 443: perhaps QUIC whose first packets were not captured.
    calls : float
        Of ``quic`` and ``other``, calls (``crates/replay/src/calls.rs``), which do not slow down anywhere.
    media : float
        Of ``other``, video calls and games by their packets (``crates/replay/src/udp_share.rs``), which do not slow
        down for the seconds that a queue lasts; 0 of a table of connections.
    """

    quic: float = 0.0
    other: float = 0.0
    at_443: float = 0.0
    calls: float = 0.0
    media: float = 0.0

    @property
    def whole(self) -> float:
        """QUIC and other UDP together."""
        return self.quic + self.other

    @property
    def doubtful(self) -> float:
        """Of both, what may slow down when it meets a queue: all but calls, video calls and games."""
        return self.whole - self.calls - self.media

    def document(self) -> dict[str, float]:
        """For JSON: ``quic_share``, ``other_udp_share``, ``udp_443_share`` and ``calls_share``."""
        return {
            "quic_share": self.quic,
            "other_udp_share": self.other,
            "udp_443_share": self.at_443,
            "calls_share": self.calls,
        }

    def text(self) -> str:
        """What share is QUIC and what share other UDP, without an end.

        Examples
        --------
        >>> UdpShare(0.62, 0.05).text()
        '62.0 % of the bytes are QUIC and 5.0 % other UDP'
        >>> UdpShare(0.0, 0.05).text()
        '5.0 % of the bytes are UDP (none of it begins as QUIC)'
        """
        return _native.udp_sentences(self.quic, self.other, self.at_443)[0]

    def replay_sentence(self) -> str | None:
        """What a replay does with it; None below 1 % of the bytes."""
        return _native.udp_sentences(self.quic, self.other, self.at_443)[1]


def udp_share(frame: Table, calls: Collection[int] = ()) -> UdpShare:
    """Sum up the UDP of connections.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    calls : collection of int
        ``connection_id`` of those that are calls.

    Returns
    -------
    UdpShare
        Zeros without a byte.

    Examples
    --------
    >>> from mayfly.workload.connections import connections
    >>> udp_share(connections("captures/office.pcap.gz")[0]).quic
    0.0
    """
    table = columns_of(frame)
    carried = table["opener_wire_bytes"] + table["responder_wire_bytes"]
    whole = int(carried.sum())
    if not whole:
        return UdpShare()
    udp = table.words("protocol").are("udp")
    quic = udp & np.asarray(table["quic"], dtype=bool) if "quic" in table else np.zeros(len(udp), dtype=bool)
    at_443 = (table["opener_port"] == HTTPS) | (table["responder_port"] == HTTPS)
    called = np.isin(table["connection_id"], list(calls)) if calls else np.zeros(len(udp), dtype=bool)
    chosen = (quic, udp & ~quic, udp & ~quic & at_443, udp & called)
    return UdpShare(*(int(carried[rows].sum()) / whole for rows in chosen))
