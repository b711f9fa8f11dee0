"""The sections ``[tcp]`` and ``[transports.NAME]`` of a scenario."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from mayfly import _native
from mayfly.fields import Seconds, Section, Whole, as_written
from mayfly.scenario import presets

_SCHEMA: dict[str, Any] = json.loads(_native.transport_schema())


def _words(name: str) -> tuple[str, ...]:
    """Words of a setting, in the order of the native module."""
    return tuple(word["const"] for word in _SCHEMA["$defs"][name]["oneOf"])


def _meanings(name: str) -> str:
    """Every word of a setting with what the native module says of it, in one line."""
    return "; ".join(f"{word['const']}: {word['description'].rstrip('.')}" for word in _SCHEMA["$defs"][name]["oneOf"])


class CongestionControl(NamedTuple):
    """A row of the registry of congestion controls, ``crates/netsim/src/tcp/rules/mod.rs``."""

    rule: str
    """Name in the settings."""
    title: str
    """What readers call it."""
    module: str | None
    """Name of the kernel module that is the same control, None where the kernel engine has none."""


CONTROLS: tuple[CongestionControl, ...] = tuple(CongestionControl(*row) for row in _native.congestion_controls())
"""Congestion controls, in the order of the registry."""

RULES: tuple[str, ...] = tuple(control.rule for control in CONTROLS)
"""Their names in the settings."""

MODULES: dict[str, str] = {control.rule: control.module for control in CONTROLS if control.module is not None}
"""Names of kernel modules by names in the settings, of the controls that the kernel engine has."""

ECN: tuple[str, ...] = _words("EcnMode")
"""Kinds of explicit congestion notification, in the order of ``crates/netsim/src/tcp/words.rs``."""


HYSTART: tuple[str, ...] = _words("Hystart")
"""What may end slow start early, in the order of ``crates/netsim/src/tcp/settings.rs``."""


if TYPE_CHECKING:
    Preset = str
    Rule = str
    Ecn = str
    HyStart = str
else:
    Preset = Literal[tuple(presets.PRESETS)]
    # One of words that only the native module knows.
    Rule = Literal[RULES]
    Ecn = Literal[ECN]
    HyStart = Literal[HYSTART]


class OwnTransport(Section):
    """TCP of the flows that name it: what differs from `[tcp]`, or all that follows from a preset of its own."""

    preset: Preset | None = Field(None, description="named settings; fields given beside it win")
    mss: Whole = Field(1460, ge=1, le=65_000, description="payload of a full segment, bytes")
    header: Whole = Field(40, ge=1, le=500, description="headers of every segment, bytes")
    initial_window: Whole = Field(3, ge=1, le=1000, description="segments after the handshake")
    receiver_window: Whole = Field(43, ge=1, le=1 << 20, description="segments; of receive_buffer = window")
    receive_buffer: Literal["auto", "window", "fixed", "tuned"] = Field(
        "auto",
        description="the receiver's window: window, that of receiver_window, which does not move; with recovery = linux"
        " also fixed, half of a buffer of receive_memory bytes (SO_RCVBUF), or tuned, of one that follows what is read"
        " in a round trip (tcp_rmem); auto: tuned with recovery = linux, else window",
    )
    receive_memory: Whole = Field(
        6_291_456, ge=4096, le=1 << 30, description="memory of a receive buffer, at most where it is tuned, bytes"
    )
    gro: Seconds = Field(
        as_written("0s"),
        le=1e-2,
        description="segments that arrive within that time go up as one and are acknowledged once (generic receive"
        " offload); recovery = linux",
    )
    initial_rto: Seconds = Field(as_written("3s"), ge=1e-3, le=60, description="timeout before the first RTT sample")
    min_rto: Seconds = Field(as_written("1s"), ge=1e-3, le=60, description="lower bound of the timeout")
    max_rto: Seconds = Field(as_written("60s"), le=600, description="upper bound of the timeout, at least min_rto")
    tick: Seconds = Field(as_written("1ns"), le=1, description="granularity of the RTT measurement")
    delayed_ack: Seconds = Field(as_written("200ms"), le=10, description="0 acknowledges every segment")
    fin: bool = Field(True, description="FIN exchange; without it a flow ends with its last data")
    fin_on_data: bool = Field(False, description="the FIN rides on the last data; not in scripted connections")
    close_acks: Whole = Field(0, ge=0, le=10, description="bare ACKs of the receiver beside its FIN (ns-3: 2)")
    handshake_ack: bool = Field(True, description="a bare ACK completes the handshake")
    limited_transmit: bool = Field(True, description="RFC 3042")
    congestion: Rule = Field("aimd", description=f"window: {_meanings('Congestion')}")
    ecn: Ecn = Field(
        "off",
        description="marks: classic (RFC 3168), as in dctcp (RFC 8257), accurate: counted (RFC 9768), or "
        "l4s: counted, with ECT(1) (RFC 9331); the option of these two takes 12 bytes of the payload with recovery = "
        "linux; true is classic, false off",
    )
    byte_counting: bool = Field(False, description="segments acknowledged open the window, not ACKs (RFC 3465)")
    hystart: HyStart = Field(
        "off",
        description="slow start ends when the queue begins to fill: linux (Ha and Rhee 2011) or rfc9406 (HyStart++);"
        " true is linux, false off",
    )
    lax_duplicates: bool = Field(False, description="limited transmit and delayed ACK take duplicates as ns-2 does")
    impatient: bool = Field(True, description="restart the timer on the first partial ACK only (RFC 6582, 4)")
    recovery_burst: Whole = Field(0, ge=0, le=1000, description="segments per ACK during recovery; 0: no bound")
    loss_window: Literal["flight", "cwnd"] = Field("flight", description="what is halved after a loss")
    recovery_exit: Literal["deflate", "as-is"] = Field("deflate", description="window at the end of recovery")
    repair_end_opens: bool = Field(
        True, description="the ACK of all that was out at a timeout opens the window; else only if there is more (ns-3)"
    )
    backoff_ends: Literal["sample", "ack"] = Field(
        "sample", description="what ends the timeout's back-off: an RTT sample (Karn), or any new ACK (ns-3)"
    )
    time_repeated_syn: bool = Field(False, description="a repeated SYN is timed from its first copy (ns-3)")
    syn_loss_lowers_ssthresh: bool = Field(False, description="a lost SYN lowers ssthresh to 2 (ns-2)")
    recycled_senders: bool = Field(False, description="a sender that lost a SYN keeps a window of 1 (ns-2 reset)")
    recovery: Literal["reno", "newreno", "sack", "linux", "linux-without-sack", "quic"] = Field(
        "newreno",
        description="repair of losses: RFC 5681, RFC 6582, selective acknowledgements (RFC 2018, 6675), or both ends as"
        " Linux has them (RFC 8985, 6937, 5682), with a peer that acknowledges selectively or without; or QUIC in place"
        " of TCP (RFC 9000, 9002)",
    )
    ack_every: Whole = Field(
        2,
        ge=1,
        le=1000,
        description="QUIC: packets with one acknowledgement; fewer wait for delayed_ack (RFC 9000, 13.2)",
    )
    handshake_bytes: Whole = Field(
        3000, ge=100, le=100_000, description="QUIC: TLS messages of the server, with its certificate, bytes"
    )
    early_data: bool = Field(False, description="QUIC: data leaves with the first packet (0-RTT)")
    stream_order: Literal["incremental", "sequential"] = Field(
        "incremental", description="QUIC: streams have turns packet by packet, or one after the other (RFC 9218)"
    )
    timestamps: bool = Field(False, description="RFC 7323: 12 more bytes per header, an RTT sample per new ACK")
    rto_rule: Literal["rfc6298", "linux"] = Field(
        "rfc6298",
        description="timeout from samples; linux: min_rto bounds 4 RTTVAR, which follows the largest deviation",
    )
    kernel: Literal["linux-6.1", "linux-7.3"] = Field(
        "linux-6.1",
        description="release of Linux whose ends recovery = linux has, where releases differ and no other field says"
        " so: how the receive buffer is tuned, how long acknowledgements of data behind a hole are held together, what"
        " a sender has in its host's queue",
    )
    pacing: bool = Field(False, description="segments spaced at 2 (slow start) or 1.2 windows per RTT, as Linux does")
    quick_acks: Whole = Field(0, ge=0, le=1 << 31, description="first segments that are acknowledged at once")
    syn_retries: int | None = Field(
        None, strict=True, ge=0, le=1000, description="repetitions of a SYN before giving up; never when absent"
    )
    linear_syn_timeouts: Whole = Field(
        0,
        ge=0,
        le=1000,
        description="timeouts of a SYN that do not double the next one, with recovery linux: 4 in Linux 6.5 and later",
    )
    retries: int | None = Field(
        None,
        strict=True,
        ge=0,
        le=1000,
        description="repetitions of another segment before giving up; never when absent",
    )
    cached_metrics: Literal["off", "linux", "threshold"] = Field(
        "off",
        description="what a host keeps of a path for the next connection: linux (RTT for its timeout, reordering),"
        " or threshold (ssthresh too); recovery = linux",
    )
    restart_after_idle: bool = Field(
        False, description="scripts: an end idle for a timeout begins again with the initial window (RFC 5681, 4.1)"
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, given: Any) -> Any:
        return presets.filled_in(given) if isinstance(given, dict) else given

    @field_validator("ecn", mode="before")
    @classmethod
    def _was_a_switch(cls, given: object) -> object:
        """Before there were kinds it was a switch, and in scenarios it may still be."""
        return ("classic" if given else "off") if isinstance(given, bool) else given

    @field_validator("hystart", mode="before")
    @classmethod
    def _had_one_kind(cls, given: object) -> object:
        """The same: Linux' was the only one."""
        return ("linux" if given else "off") if isinstance(given, bool) else given

    @property
    def headers_bytes(self) -> int:
        """Headers of a segment without SACK blocks, bytes."""
        return self.header + (presets.TIMESTAMPS_BYTES if self.timestamps else 0)


class Tcp(OwnTransport):
    """TCP: RFC 5681, 6582, 6675, 6298, 7323, 3042."""

    congestion_of: dict[str, Rule] = Field(
        {}, description="rule of the flows of a group without a transport of their own, by its name, for congestion"
    )


def merged(tcp: Tcp, own: OwnTransport) -> Tcp:
    """All settings of a transport.

    Parameters
    ----------
    tcp : Tcp
        Section ``[tcp]``.
    own : OwnTransport
        What differs. With a preset of its own nothing is taken from ``tcp``.

    Returns
    -------
    Tcp
        The same as if a scenario had it as its section ``[tcp]``.

    Examples
    --------
    >>> today = Tcp(preset="linux")
    >>> found = merged(today, OwnTransport(congestion="bbr"))
    >>> found.congestion, found.mss, merged(today, OwnTransport(preset="ns2")).mss
    ('bbr', 1448, 1460)
    """
    given = own.model_dump(exclude_unset=True)
    below = {} if own.preset is not None else tcp.model_dump(exclude_unset=True, exclude={"congestion_of"})
    return Tcp.model_validate({**below, **given})


def refusal(name: str, known: Iterable[str]) -> str | None:
    """What a transport must be that is none.

    Parameters
    ----------
    name : str
        Of a transport.
    known : iterable of str
        Names of the sections. Those of presets are known without a section.

    Returns
    -------
    str or None
        None where it is one.

    Examples
    --------
    >>> refusal("quick", ["slow"]), refusal("slow", ["slow"])
    ('must be the NAME of a section [transports.NAME]: slow, or a preset such as quic', None)
    >>> refusal("quick", [])
    'must be the NAME of a section [transports.NAME], of which there are none, or a preset such as quic'
    >>> refusal("quic", [])
    """
    known = list(known)
    if name in known or name in presets.PRESETS:
        return None
    there = f": {', '.join(known)}" if known else ", of which there are none"
    return f"must be the NAME of a section [transports.NAME]{there}, or a preset such as quic"
