"""The section ``[tcp]`` of a scenario in the kernel: sysctls, options of routes and sockets, and what it has not."""

from dataclasses import dataclass, field
from typing import Any

from mayfly.engines.guest import HZ, KERNEL, series
from mayfly.errors import MayflyError
from mayfly.scenario.presets import LINUX_6_1, LINUX_7_3, TIMESTAMPS_BYTES
from mayfly.scenario.transport import MODULES, OwnTransport, Tcp

ECN = {"off": "0", "classic": "1"}
"""``net.ipv4.tcp_ecn`` by ``tcp.ecn``."""

OF_A_SOCKET = ("congestion", "pacing")
"""Fields of which flows may have a value of their own."""

WITH_SACK = ("sack", "linux")
"""Values of ``tcp.recovery`` with a peer that acknowledges selectively."""

FIRST_RECEIVE_MEMORY = 131_072
"""Memory with which a receive buffer that is tuned begins, bytes."""

LARGEST_UNSCALED_BYTES = 65_535

MOST_SYN_RETRIES = 127

CONSTANT: dict[str, Any] = {
    "initial_rto": 1.0,
    "max_rto": 120.0,
    "receive_buffer": None,
    "gro": 0.0,
    "delayed_ack": 0.04,
    "rto_rule": "linux",
    "kernel": "linux-6.1",
    "tick": 1 / HZ,
    "quick_acks": 16,
    "fin_on_data": True,
    "close_acks": 0,
    "handshake_ack": True,
    "limited_transmit": True,
    "byte_counting": True,
    "lax_duplicates": False,
    "impatient": None,
    "recovery_burst": 0,
    "loss_window": None,
    "recovery_exit": "as-is",
    "repair_end_opens": True,
    "backoff_ends": "sample",
    "time_repeated_syn": False,
    "syn_loss_lowers_ssthresh": False,
    "recycled_senders": False,
    "linear_syn_timeouts": 0,
    "retries": 15,
    "ack_every": None,
    "handshake_bytes": None,
    "early_data": None,
    "stream_order": None,
}
"""What the kernel does in one way only: its value of each field, None where the field does not apply."""


def _constant() -> dict[str, Any]:
    """The same of the test kernel that is asked for, where it is not 6.1: the newest has that of its preset."""
    release = LINUX_6_1 if series() == KERNEL else LINUX_7_3
    return CONSTANT | {name: value for name, value in release.items() if name in CONSTANT}


@dataclass(frozen=True)
class Transport:
    """The kernel's settings of TCP.

    Parameters
    ----------
    mtu_bytes : int
        Of all devices: with it a full segment has the scenario's MSS.
    overhead_bytes : int
        What the scenario counts per packet beyond an Ethernet frame; negative when less.
    window_bytes : int
        That sockets advertise at most; 0 for the kernel's own.
    route : str
        Options of the hosts' routes.
    sysctl : dict
        Of the hosts.
    module_parameters : dict
        By ``module/parameter``.
    congestion : str
        Linux's name of the rule.
    paced : bool
        Whether TCP spaces its segments.
    other : list of str
        Fields that the kernel has otherwise: ``tcp.initial_rto = 3 s (1 s)``.
    """

    mtu_bytes: int
    overhead_bytes: int
    window_bytes: int
    route: str
    sysctl: dict[str, str]
    module_parameters: dict[str, str]
    congestion: str
    paced: bool = False
    other: list[str] = field(default_factory=list)


def transport_of(tcp: Tcp) -> Transport:
    """The kernel's settings for a scenario.

    Parameters
    ----------
    tcp : Tcp
        Section ``[tcp]``.

    Returns
    -------
    Transport

    Raises
    ------
    MayflyError
        A rule of the congestion window that the kernel has not.

    Notes
    -----
    IP and TCP have 40 bytes of headers, Ethernet 14; ``tcp.header`` beyond or below that is overhead of every packet.

    Examples
    --------
    >>> from mayfly.scenario.transport import Tcp
    >>> transport_of(Tcp(preset="linux-6.1")).other
    ['tcp.tick = 0.004 (0.01)', 'tcp.fin_on_data = false (true)']
    """
    if tcp.recovery == "quic":
        raise MayflyError("tcp.recovery = quic: must be another with --engine linux: the kernel has TCP")
    window_bytes = tcp.receiver_window * tcp.mss
    route = f"initcwnd {tcp.initial_window} rto_min {round(tcp.min_rto * 1e3)}ms"
    # Two segments for an acknowledgement, or one.
    route += " quickack 1" if tcp.delayed_ack == 0 else ""
    # A socket advertises half of its memory at most.
    bounded = window_bytes + tcp.mss <= tcp.receive_memory // 2
    sack = "1" if tcp.recovery in WITH_SACK else "0"
    sysctl = {
        # Without it a connection starts from what earlier ones to the same host left behind.
        "net.ipv4.tcp_no_metrics_save": "1" if tcp.cached_metrics == "off" else "0",
        "net.ipv4.tcp_no_ssthresh_metrics_save": "0" if tcp.cached_metrics == "threshold" else "1",
        "net.ipv4.tcp_slow_start_after_idle": "1" if tcp.restart_after_idle else "0",
        "net.ipv4.tcp_sack": sack,
        "net.ipv4.tcp_recovery": "1" if tcp.recovery == "linux-without-sack" else sack,
        "net.ipv4.tcp_timestamps": "1" if tcp.timestamps else "0",
        # A window that needs no scale is not rounded by it.
        "net.ipv4.tcp_window_scaling": "0" if window_bytes <= LARGEST_UNSCALED_BYTES else "1",
        "net.ipv4.tcp_ecn": _ecn(tcp),
        # A guest has too little memory for that of an ordinary host.
        "net.ipv4.tcp_rmem": f"4096 {min(FIRST_RECEIVE_MEMORY, tcp.receive_memory)} {tcp.receive_memory}",
        "net.ipv4.tcp_syn_retries": str(_syn_retries(tcp)),
        "net.ipv4.tcp_synack_retries": str(_syn_retries(tcp)),
    }
    return Transport(
        mtu_bytes=tcp.mss + 40 + (TIMESTAMPS_BYTES if tcp.timestamps else 0),
        overhead_bytes=tcp.header - 54,
        window_bytes=window_bytes if bounded else 0,
        route=route,
        sysctl=sysctl,
        module_parameters={"tcp_cubic/hystart": "1" if tcp.hystart == "linux" else "0"},
        congestion=_algorithm(tcp.congestion, "tcp.congestion"),
        paced=tcp.pacing,
        other=_other(tcp, bounded),
    )


def own_transport(name: str, own: Tcp, tcp: Tcp) -> Transport:
    """The kernel's settings for flows with a transport of their own: sockets have a rule and pacing, hosts all else.

    Parameters
    ----------
    name : str
        What messages call it.
    own : Tcp
        All its settings.
    tcp : Tcp
        Section ``[tcp]``.

    Returns
    -------
    Transport

    Raises
    ------
    MayflyError
        A rule of the congestion window that the kernel has not, or another field that differs from ``[tcp]``.

    Examples
    --------
    >>> today = Tcp(preset="linux")
    >>> own_transport("transports.fast", today.model_copy(update={"congestion": "bbr"}), today).congestion
    'bbr'
    >>> own_transport("transports.old", today.model_copy(update={"initial_window": 3}), today)
    Traceback (most recent call last):
    mayfly.errors.MayflyError: transports.old.initial_window = 3: must be as in [tcp], 10, with --engine linux, ...
    """
    for field_name in OwnTransport.model_fields:
        here, there = getattr(own, field_name), getattr(tcp, field_name)
        if here != there and field_name not in ("preset", *OF_A_SOCKET):
            raise MayflyError(
                f"{name}.{field_name} = {_shown(here)}: must be as in [tcp], {_shown(there)}, with --engine linux, "
                f"where flows have {' and '.join(OF_A_SOCKET)} of their own"
            )
    _algorithm(own.congestion, name if name.startswith("tcp.") else f"{name}.congestion")
    return transport_of(own)


def _algorithm(rule: str, name: str) -> str:
    if rule not in MODULES:
        raise MayflyError(f"{name} = {rule}: the kernel has {', '.join(MODULES)}")
    return MODULES[rule]


def _ecn(tcp: Tcp) -> str:
    if tcp.ecn not in ECN:
        raise MayflyError(f"tcp.ecn = {tcp.ecn}: the kernel has {', '.join(ECN)}")
    return ECN[tcp.ecn]


def _syn_retries(tcp: Tcp) -> int:
    """Repetitions of a SYN: as many as Linux can count where the scenario has no bound."""
    return MOST_SYN_RETRIES if tcp.syn_retries is None else min(tcp.syn_retries, MOST_SYN_RETRIES)


def _other(tcp: Tcp, bounded: bool) -> list[str]:
    """Fields of which the kernel has another value, in the order of the section."""
    kernel = _constant()
    widest_bytes = tcp.receive_memory // 2
    if tcp.delayed_ack == 0:
        kernel = kernel | {"delayed_ack": 0.0, "quick_acks": None}
    if tcp.recovery in (*WITH_SACK, "linux-without-sack"):
        # Recovery with SACK, or as Linux has it, has no other way.
        kernel = kernel | {"recovery_exit": None}
    found = []
    for name in type(tcp).model_fields:
        if name == "receiver_window" and not bounded:
            if tcp.receiver_window * tcp.mss - widest_bytes >= tcp.mss:
                found.append(f"tcp.receiver_window = {tcp.receiver_window} ({widest_bytes // tcp.mss})")
        elif name == "recovery" and tcp.recovery == "reno":
            found.append("tcp.recovery = reno (newreno)")
        elif kernel.get(name) is not None and getattr(tcp, name) != kernel[name]:
            found.append(f"tcp.{name} = {_shown(getattr(tcp, name))} ({_shown(kernel[name])})")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
