"""How much of a capture is QUIC, other UDP or of other IP protocols, and what a replay does with it.

Mayfly replays TCP and QUIC as transfers whose senders slow down when packets wait or are lost. Packets of other UDP are
replayed each at its time, since nothing in them says what their senders would do: true of calls, and wrong of VPNs,
most of whose inside is TCP and QUIC, as that of ESP and GRE is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mayfly import _native
from mayfly.workload.columns import Table, columns_of
from mayfly.workload.quic import marked, quic_rows

HTTPS = 443


@dataclass(frozen=True)
class UdpShare:
    """Shares of the bytes of all IP packets in a table of connections, each 0 to 1.

    Parameters
    ----------
    quic : float
        QUIC, whose senders slow down in a replay.
    probably : float
        Of ``quic``, connections whose beginning was not captured.
    other : float
        Other UDP.
    at_443 : float
        Of ``other``, to or from port 443.
    calls : float
        Of ``other``, calls (``crates/replay/src/calls.rs``), which do not slow down anywhere.
    media : float
        Of ``other``, video calls and games by their packets (``crates/replay/src/udp_share.rs``), which do not slow
        down for the seconds that a queue lasts; 0 of a table of connections.
    opaque : float
        IP protocols other than TCP, UDP and ICMP: ESP, GRE, SCTP and others.
    """

    quic: float = 0.0
    probably: float = 0.0
    other: float = 0.0
    at_443: float = 0.0
    calls: float = 0.0
    media: float = 0.0
    opaque: float = 0.0

    @property
    def whole(self) -> float:
        """QUIC, other UDP and other IP protocols together."""
        return self.quic + self.other + self.opaque

    @property
    def doubtful(self) -> float:
        """What a replay sends as captured and may slow down: all but QUIC, calls, video calls and games."""
        return self.other + self.opaque - self.calls - self.media

    def document(self) -> dict[str, float]:
        """For JSON: the shares but that of video calls and games, each with ``_share`` behind its name."""
        return {
            "quic_share": self.quic,
            "quic_probably_share": self.probably,
            "other_udp_share": self.other,
            "udp_443_share": self.at_443,
            "calls_share": self.calls,
            "opaque_share": self.opaque,
        }

    def text(self) -> str:
        """What share is QUIC, what share other UDP, and what share of other IP protocols, without an end.

        Examples
        --------
        >>> UdpShare(0.62, other=0.05).text()
        '62.0 % of the bytes are QUIC, and 5.0 % of the bytes are other UDP'
        >>> UdpShare(other=0.05).text()
        '5.0 % of the bytes are UDP that is not QUIC'
        >>> UdpShare(opaque=0.94).text()
        '94.0 % of the bytes are of IP protocols that are not looked into'
        """
        return self._sentences[0]

    def replay_sentence(self) -> str | None:
        """What a replay does with it; None below 1 % of the bytes."""
        return self._sentences[1]

    @property
    def _sentences(self) -> tuple[str, str | None]:
        return _native.udp_sentences(self.quic, self.probably, self.other, self.at_443, self.opaque)


def udp_share(frame: Table, calls: Collection[int] = ()) -> UdpShare:
    """Sum up the UDP, and other IP protocols, of connections.

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
    udp, quic, probably = table.words("protocol").are("udp"), quic_rows(table), marked(table, "quic_probably")
    at_443 = (table["opener_port"] == HTTPS) | (table["responder_port"] == HTTPS)
    called = np.isin(table["connection_id"], list(calls)) if calls else np.zeros_like(udp)
    chosen = (quic, probably, udp & ~quic, udp & ~quic & at_443, udp & called)
    quic_bytes, guessed, other, https, calling = (int(carried[rows].sum()) / whole for rows in chosen)
    opaque = int(carried[table.words("protocol").are("other")].sum()) / whole
    return UdpShare(quic_bytes, guessed, other, https, calling, opaque=opaque)
