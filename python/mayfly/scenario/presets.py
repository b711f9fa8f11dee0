"""Named settings of TCP: a transport that papers or hosts use, one declaration each.

``tcp.preset`` takes the values from here; fields given in the scenario, or by ``--set``, win over them.
"""

from collections.abc import Mapping
from typing import Any

TIMESTAMPS_BYTES = 12
"""Timestamps option in every header, aligned to words (RFC 7323, appendix A)."""

LINUX: dict[str, Any] = {
    "mss": 1448,
    "header": 40,
    "initial_window": 10,
    "initial_rto": "1s",
    "min_rto": "200ms",
    "max_rto": "120s",
    "delayed_ack": "40ms",
    "quick_acks": 16,
    "recovery": "linux",
    "tick": "4ms",
    "timestamps": True,
    "rto_rule": "linux",
    "congestion": "cubic",
    "hystart": "linux",
    "byte_counting": True,
    "ecn": "off",
    "syn_retries": 6,
    "retries": 15,
    "restart_after_idle": True,
}
"""Linux with its defaults and Ethernet: 1500 = 20 IP + 20 TCP + 12 timestamps + 1448 bytes; 250 ticks a second, as
Debian's kernels have. Releases differ in the rest."""

LINUX_6_1: dict[str, Any] = {"kernel": "linux-6.1", "receiver_window": 2172}
"""Debian 12. The window is that of 6 MB of ``tcp_rmem``, half of which is advertised at most."""

LINUX_7_3: dict[str, Any] = {
    "kernel": "linux-7.3",
    "receiver_window": 11586,
    "receive_memory": 33_554_432,
    "linear_syn_timeouts": 4,
}
"""Debian's unstable and backports of November 2026 (7.3.4). The window is that of 32 MB of ``tcp_rmem``; a lost SYN is
repeated after 1, 2, 3, 4, 5, 7, 11 s, as since Linux 6.5."""

QUIC: dict[str, Any] = {
    "header": 63,
    "min_rto": "1ms",
    "tick": "1ms",
    "delayed_ack": "25ms",
    "fin": False,
    "recovery": "quic",
    "hystart": "rfc9406",
    "byte_counting": True,
    "pacing": True,
    "ack_every": 2,
    "handshake_bytes": 3000,
    "early_data": False,
    "stream_order": "incremental",
}
"""What the presets of QUIC share. The header is 20 IP + 8 UDP + 27 short header with a connection ID of 8 bytes, a
number of 2 and a tag of 16 + 8 of a STREAM frame. 1 ms is kGranularity (RFC 9002, 6.1.2), 25 ms the default of
max_ack_delay (RFC 9000, 18.2), an acknowledgement for two packets RFC 9000, 13.2.2. HyStart++ is in no RFC of QUIC, but
in its stacks.

The preset `quic` has the recommended values over Ethernet: 10 datagrams of 1472 bytes are the 14720 of RFC 9002, 7.2;
the timeout before a sample is three initial round trips of 333 ms (6.2.2); the credit of a connection is that of
quic-go, 15 MB. The presets of stacks have the values of their sources; docs/mechanisms.md, "QUIC stacks", names file
and line of each, and what of them the simulator does not have. Their datagrams have the size of the first flight."""

AIOQUIC: dict[str, Any] = {
    "mss": 1165,
    "initial_window": 10,
    "receiver_window": 1 << 20,
    "initial_rto": "200ms",
    "max_rto": "600s",
    "delayed_ack": "1ms",
    "ack_every": 1000,
    "congestion": "aimd",
    "ecn": "off",
}
"""aioquic 1.7.2: datagrams of 1200 bytes, two initial round trips of 100 ms, acknowledgements by a timer of 1 ms alone,
Reno. Its credit doubles whenever half of it is used, and its timeout without end: both are the largest that a scenario
may have."""

NGTCP2: dict[str, Any] = {
    "mss": 1165,
    "initial_window": 10,
    "receiver_window": 21601,
    "initial_rto": "999ms",
    "max_rto": "600s",
    "congestion": "cubic",
    "ecn": "classic",
}
"""ngtcp2 1.24.0: 10 datagrams of 1200 bytes, which is less than 14720, and three initial round trips of 333 ms. The
credit is an application's choice, here the 24 MiB of the example client."""

QUIC_GO: dict[str, Any] = {
    "mss": 1253,
    "header": 55,
    "initial_window": 32,
    "receiver_window": 12552,
    "initial_rto": "200ms",
    "max_rto": "60s",
    "congestion": "aimd",
    "ecn": "classic",
}
"""quic-go 0.65.0: 32 datagrams of 1280 bytes, without a connection ID towards a client, two initial round trips of 100
ms, Reno, up to 15 MiB of credit."""

PRESETS: dict[str, dict[str, Any]] = {
    # Chen 2012, 4.4.1 used QualNet 4.5 with its defaults, which it does not list: RFC values of their time.
    "qualnet-4.5-like": {
        "mss": 1460,
        "receiver_window": 43,
        "initial_window": 3,
        "initial_rto": "3s",
        "min_rto": "1s",
        "delayed_ack": "200ms",
        "recovery": "newreno",
        "impatient": True,
        "limited_transmit": True,
    },
    # ns-2.35: Agent/TCP/Newreno and TCPSink/DelAck with syn_ true, minrto_ 0.2 and windowInit_ 2.
    "ns2": {
        "mss": 1460,
        "receiver_window": 43,
        "initial_window": 2,
        "initial_rto": "3s",
        "min_rto": "200ms",
        "tick": "10ms",
        "delayed_ack": "100ms",
        "fin": False,
        "handshake_ack": False,
        "limited_transmit": True,
        "recovery": "newreno",
        "impatient": True,
        "recovery_burst": 2,
        "lax_duplicates": True,
        "loss_window": "cwnd",
        "recovery_exit": "as-is",
        "syn_loss_lowers_ssthresh": True,
    },
    # ns-3.37 (tcp-socket-base.cc): TcpNewReno with TcpClassicRecovery, without SACK, timestamps and window scaling, MSS
    # 1460, 43 segments of window.
    "ns-3.37": {
        "mss": 1460,
        "receiver_window": 43,
        "initial_window": 2,
        "initial_rto": "3s",
        "min_rto": "1s",
        "delayed_ack": "200ms",
        "quick_acks": 1,
        "fin_on_data": True,
        "close_acks": 2,
        "limited_transmit": True,
        "recovery": "newreno",
        "impatient": True,
        "repair_end_opens": False,
        "backoff_ends": "ack",
        "time_repeated_syn": True,
    },
    "linux": LINUX | LINUX_7_3,
    "linux-6.1": LINUX | LINUX_6_1,
    "linux-7.3": LINUX | LINUX_7_3,
    "quic": QUIC
    | {
        "mss": 1437,
        "initial_window": 10,
        "receiver_window": 10944,
        "initial_rto": "999ms",
        "max_rto": "60s",
        "congestion": "cubic",
        "ecn": "off",
    },
    "aioquic": QUIC | AIOQUIC,
    "ngtcp2": QUIC | NGTCP2,
    "quic-go": QUIC | QUIC_GO,
}
"""Fields of the section ``[tcp]`` by name of the preset."""


OF_LINUX = ("linux", "linux-without-sack")
"""Values of ``tcp.recovery`` with which both ends are those of Linux."""

WITH_LINUX_ONLY = ("kernel", "linear_syn_timeouts")
"""Fields of ``[tcp]`` that other ends do not have."""


def kernel_of(tcp: Mapping[str, Any]) -> str | None:
    """The release of Linux whose TCP the hosts of a section ``[tcp]`` have.

    Parameters
    ----------
    tcp : mapping
        All fields of the section.

    Returns
    -------
    str or None
        None where ``recovery`` is none of Linux.

    Examples
    --------
    >>> kernel_of({"recovery": "linux", "kernel": "linux-6.1"}), kernel_of({"recovery": "sack", "kernel": "linux-6.1"})
    ('linux-6.1', None)
    """
    return str(tcp["kernel"]) if tcp["recovery"] in OF_LINUX else None


def filled_in(given: dict[str, Any]) -> dict[str, Any]:
    """A section ``[tcp]`` with what its preset adds.

    Parameters
    ----------
    given : dict
        As in the scenario; ``preset`` may name none that exists, which the section's own check tells.

    Returns
    -------
    dict
        The fields of the preset, under those given. Those that only the ends of Linux have are left out where
        ``recovery`` is given, and is none of Linux.

    Examples
    --------
    >>> filled_in({"preset": "linux", "initial_window": 4})["initial_window"], filled_in({})
    (4, {})
    >>> "linear_syn_timeouts" in filled_in({"preset": "linux", "recovery": "sack"})
    False
    """
    preset = given.get("preset")
    known = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    filled = {**known, **given}
    if filled.get("recovery") in OF_LINUX:
        return filled
    # A section that is written out has them among those given.
    left = {name for name in WITH_LINUX_ONLY if given.get(name, known.get(name)) == known.get(name)}
    return {name: value for name, value in filled.items() if name not in left}
