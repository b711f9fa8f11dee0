"""What is said of a replay whose capture has much UDP, of which Mayfly cannot say what its senders would have done.

A capture's UDP that is not QUIC is replayed as captured. Calls send so whatever happens; TCP and QUIC inside a VPN slow
down. Verdicts that rest on it are withheld by the rule itself (crate ``metrics``, module
``recommendation``). docs/recommendation.md, "UDP of a capture".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mayfly.scenario.presets import filled_in
from mayfly.workload.udp_share import UdpShare

if TYPE_CHECKING:
    from mayfly.summary_types import Capture, Summary

SOME = 0.1
"""Share of the bytes of a capture, in UDP that is no call, video call or game and in other IP protocols, from which on
it is said in the first line, and the sentence on accuracy is not."""

KIND = "unanswered"
"""``kind`` of a recommendation that is withheld."""


def udp_share_of(capture: Capture | None) -> UdpShare | None:
    """How much of a capture is QUIC, other UDP and of other IP protocols.

    Parameters
    ----------
    capture : mapping
        As in the summary.

    Returns
    -------
    UdpShare or None
        None of what is no capture.
    """
    if capture is None or "quic_share" not in capture:
        return None
    return UdpShare(
        capture["quic_share"],
        capture.get("quic_probably_share", 0.0),  # since 2026-11-30
        capture["other_udp_share"],
        capture["udp_443_share"],
        capture["calls_share"],
        capture.get("media_share", 0.0),  # since 2026-11-30
        capture.get("opaque_share", 0.0),  # since 2026-11-30
    )


def transport_note(changed: Mapping[str, Any]) -> str | None:
    """What another transport changes in a replay, where one is asked for.

    Parameters
    ----------
    changed : mapping
        Scenario fields by dotted name, as ``--set`` has them.

    Returns
    -------
    str or None

    Examples
    --------
    >>> print(transport_note({"tcp.preset": "quic"}))
    tcp.preset = quic is the transport of the TCP transfers of the capture, which are replayed by it; QUIC of the \
capture has [transports.quic], and other UDP stays as captured
    >>> transport_note({"tcp.preset": "linux"})
    """
    tcp = changed.get("tcp")
    given = tcp if isinstance(tcp, Mapping) else {name: changed.get(f"tcp.{name}") for name in ("preset", "recovery")}
    if filled_in({name: value for name, value in given.items() if value is not None}).get("recovery") != "quic":
        return None
    by = "recovery = quic" if given.get("recovery") is not None else f"preset = {given.get('preset')}"
    return (
        f"tcp.{by} is the transport of the TCP transfers of the capture, which are replayed by it; QUIC of the capture "
        "has [transports.quic], and other UDP stays as captured"
    )


_BENT = (
    "Its delays and losses are larger than they would be next to senders that slow down, those of long transfers above "
    "all."
)


def udp_share_lines(summary: Summary) -> list[str]:
    """What stands before an answer of a capture of which much is UDP.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
        Empty below :data:`SOME` of the bytes, and where the recommendation says it.
    """
    found = summary.get("recommendation")
    withheld = found is not None and found["kind"] == KIND
    return [] if withheld else [f"{sentence} {_BENT}" for sentence in udp_sentences(summary)]


def udp_sentences(summary: Summary) -> list[str]:
    """The same, whatever the recommendation is."""
    share = udp_share_of(summary.get("capture"))
    if share is None:
        return []
    sentence = share.replay_sentence()
    return [f"{sentence}."] if sentence and share.doubtful >= SOME else []
