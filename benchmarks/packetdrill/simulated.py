"""The simulator's TCP as a back end: one end of a connection of ``crates/netsim``, with a host around it.

The simulator counts segments. A script's bytes are mapped to them: a write becomes segments of the MSS that the
handshake gives, its rest a short one, which waits while another short one is unacknowledged (Nagle's rule in Minshall's
form, as in Linux) and takes more bytes in until it is sent. What the other end sends is cut at every number that the
script uses.

What the simulator does not have is not compared: PSH, the window that this end advertises, the options of SYN and
SYN-ACK. Several segments that follow each other make one packet of the script, which on a Linux host is one
super-packet (TSO). A packet without ACK, a reset, an acknowledgement of what was not sent: a simulated host never
gets one.
"""

import json
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import Any

from mayfly import _native
from mayfly.scenario.transport import OwnTransport, Tcp
from mayfly.simulate.transports import native
from packetdrill.play import RefusedError, Sent
from packetdrill.script import Call, Command, Option, Packet, Script

ETHERNET_MSS = 1460
STAMP_BYTES = 12
WINDOW = 1 << 16
"""Segments that no window of a script exceeds; a slow-start threshold as large is none."""
NO_THRESHOLD = 0x7FFFFFFF

DEFAULTS = {
    "tcp_timestamps": "1",
    "tcp_sack": "1",
    "tcp_syn_retries": "5",
    "tcp_synack_retries": "5",
    "tcp_syn_linear_timeouts": "4",
    "tcp_retries2": "15",
    "tcp_congestion_control": "cubic",
    "tcp_slow_start_after_idle": "0",
    "tcp_early_retrans": "4",
    "tcp_recovery": "1",
    "tcp_ecn": "0",
    "tcp_ecn_option": "2",
    "tcp_ecn_option_beacon": "3",
    "tcp_ecn_fallback": "1",
}
"""What the scripts' defaults.sh sets of net.ipv4, where it matters to the transport, and the kernel's own defaults."""

RULES = {"reno": "aimd"}
"""Names of congestion controls that the simulator spells otherwise."""

ACE = {"E": 1, "W": 2, "A": 4}
FIELDS = ("e1b", "ceb", "e0b")

LINUX = {"preset": "linux", "recovery": "linux", "tick": "1ms"}
"""Fields of ``[tcp]``: hosts of Linux with HZ = 1000, which most scripts count on."""

TRANSPORT: dict[str, Callable[[str], dict[str, Any]]] = {
    "tcp_congestion_control": lambda value: {"congestion": RULES.get(value, value)},
    "tcp_slow_start_after_idle": lambda value: {"restart_after_idle": value != "0"},
    "tcp_syn_linear_timeouts": lambda value: {"linear_syn_timeouts": int(value)},
    "tcp_syn_retries": lambda value: {"syn_retries": int(value)},
    "tcp_retries2": lambda value: {"retries": int(value)},
    "hystart_detect": lambda value: {"hystart": "off" if value == "0" else "linux"},
    "qdisc": lambda value: {"pacing": value == "fq"},
}
"""From a setting of the kernel to fields of ``[tcp]``; a field that the simulator does not have is left out."""

WITHOUT_EFFECT = (
    *("tcp_tso_win_divisor", "tcp_min_tso_segs", "tcp_rmem", "tcp_wmem", "tcp_fack", "tcp_dsack", "tcp_frto"),
    *("tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio", "tcp_notsent_lowat", "tcp_fastopen", "tcp_syncookies"),
    *("tcp_invalid_ratelimit", "tcp_fastopen_key"),
)
"""Settings of the host rather than of what goes over the link."""

SOCKET_OPTIONS = ("SO_REUSEADDR", "SO_SNDBUF", "SO_RCVBUF", "IP_MTU_DISCOVER", "IP_TOS", "SO_ZEROCOPY", "SO_PRIORITY")
"""Options of sockets that do not change what goes over the link."""

SYSCTL = re.compile(r"net[./]ipv4[./](\w+)=(\"[^\"]*\"|\S+)")
FILE = re.compile(r"/proc/sys/net/ipv4/(\w+)=(\S+)")
MODULE = re.compile(r"echo (\S+) > /sys/module/tcp_cubic/parameters/(\w+)")
ROOT = re.compile(r"tc qdisc (?:replace|add) dev tun0 root (\w+)(.*)")


class Simulated:
    """A host with the simulator's TCP.

    Parameters
    ----------
    script : Script
        The script to be played, of which the handshake and the numbers of the other end are read beforehand.
    tcp : dict
        Fields of ``[tcp]``, over which the script's own settings go.
    """

    unchecked = frozenset({"psh", "window", "handshake"})
    whole = False

    def __init__(self, script: Script, tcp: dict[str, Any]) -> None:
        self.script = script
        self.tcp = tcp
        self.kernel = dict(DEFAULTS)
        self.end: _native.TcpEndpoint | None = None
        self.sent: deque[Sent] = deque()
        self.clock_us = 0.0
        self.listens = self.no_delay = self.closed = self.reading_ended = False
        self.connecting_us: float | None = None
        # What a call says when the connection is no more.
        self.ended = "ETIMEDOUT"
        # Ours: the byte after each segment; bytes of a short segment that waits; whether the last one carries the FIN.
        self.ends: list[int] = []
        self.waiting = 0
        # The last short one.
        self.short = 0
        # Theirs: the bytes at which segments begin or end; how far the application has read.
        self.cuts: list[int] = []
        self.read_to = 1
        self.their_fin: int | None = None
        self.mss, self.scale, self.stamped, self.marks = ETHERNET_MSS, 0, False, "off"

    # Time.

    def now_us(self) -> float:
        return self.clock_us

    def advance(self, until_us: float) -> None:
        if until_us > self.clock_us:
            if self.end:
                self.end.advance(round(until_us * 1000), False)
                self.collect()
            self.clock_us = until_us

    def next_sent(self, until_us: float) -> Sent | None:
        if not self.sent and self.end and until_us > self.clock_us:
            self.end.advance(round(until_us * 1000), True)
            self.clock_us = max(self.clock_us, self.end.now_ns / 1000)
            self.collect()
        return self.sent.popleft() if self.sent else None

    # The connection.

    def inject(self, packet: Packet, stamp: int | None) -> None:
        if "R" in packet.flags and self.end:
            self.end.on_reset()
            self.ended = "ECONNRESET"
            return
        if self.end is None:
            if not self.listens or "S" not in packet.flags:
                raise RefusedError("an answer to a packet of no connection")
            self.connect(opens=False)
        assert self.end is not None
        if "S" not in packet.flags and "." not in packet.flags:
            return  # RFC 9293, 3.10.7.4: without ACK it is dropped.
        if packet.ack is not None and (self.acked(packet.ack) > self.end.numbers[1] or packet.ack > self.top()):
            self.end.challenge()  # RFC 9293, 3.10.7.4: acknowledges what was not sent.
            self.collect()
            return
        if packet.window is None and "S" in packet.flags:
            raise RefusedError("a SYN without a window")
        window = (packet.window or 0) << (0 if "S" in packet.flags else self.scale)
        numbers = None
        fin = "F" in packet.flags
        if packet.length or fin:
            last = packet.end + fin
            numbers = (self.number(packet.seq), self.number(last))
            if fin:
                self.their_fin = packet.end
        values = packet.option("TS")
        stamps = (values[0], stamp or 0) if values and self.stamped else None
        self.end.receive(
            syn="S" in packet.flags,
            numbers=numbers,
            fin=fin,
            ack=self.acked(packet.ack) if packet.ack is not None else None,
            window=min(window // self.mss, WINDOW),
            blocks=[(self.above(left), self.acked(right)) for left, right in packet.option("sack") or ()],
            stamps=stamps,
            payload=packet.length,
            ecn=packet.ecn or "noecn",
            ace=packet.ace if packet.ace is not None else sum(ACE[flag] for flag in packet.flags if flag in ACE),
            counts=counted(packet),
        )
        self.release()
        self.collect()

    def connect(self, opens: bool) -> None:
        """Makes the connection, with what the handshake of the script will settle."""
        syn = next((p for p in self.inbound() if "S" in p.flags), None)
        if syn is None:
            syn = Packet(True, "S.", None, 0, 0, 1, 65535, (Option("mss", (ETHERNET_MSS,)), Option("sackOK")))
        names = {option.name for option in syn.options or ()}
        self.stamped = "TS" in names and self.kernel["tcp_timestamps"] != "0"
        mss = syn.option("mss")
        self.mss = min(mss[0] if mss else 536, ETHERNET_MSS) - (STAMP_BYTES if self.stamped else 0)
        scale = syn.option("wscale")
        self.scale = scale[0] if scale else 0
        setting = self.kernel["tcp_ecn"]
        asks = {"E", "W"} <= set(syn.flags) if not opens else "E" in syn.flags and "W" not in syn.flags
        self.marks = "classic" if asks and setting in (("1", "4") if opens else ("1", "2")) else "off"
        if setting in (("3",) if opens else ("3", "4", "5")):
            self.marks = "accurate"
        cuts = {1}
        for packet in self.inbound():
            if packet.length or "F" in packet.flags:
                cuts |= {packet.seq, packet.end, packet.end + ("F" in packet.flags)}
        self.cuts = sorted(cuts - {0})
        self.end = _native.TcpEndpoint(json.dumps(self.settings("sackOK" in names)), opens)
        self.end.advance(round(self.clock_us * 1000), False)
        self.set_habits()
        if opens:
            self.end.connect()
        self.collect()

    def set_habits(self) -> None:
        """Hands over what the kernel lets be changed during a connection."""
        if self.end:
            option, beacon, fallback = (
                self.kernel[f"tcp_ecn_{name}"] for name in ("option", "option_beacon", "fallback")
            )
            self.end.set_ecn_habits(int(option), int(beacon), fallback != "0")

    def inbound(self) -> list[Packet]:
        return [e.action for e in self.script.events if isinstance(e.action, Packet) and e.action.inbound]

    def settings(self, selective: bool) -> dict[str, Any]:
        given: dict[str, Any] = {**self.tcp}
        for name, value in self.kernel.items():
            if name in TRANSPORT:
                given.update(TRANSPORT[name](value))
        given = {name: value for name, value in given.items() if name in OwnTransport.model_fields}
        given |= {"mss": self.mss, "timestamps": self.stamped, "receiver_window": WINDOW, "ecn": self.marks}
        if not selective or self.kernel["tcp_sack"] == "0":
            given |= without_sack(given)
        try:
            return native(Tcp.model_validate(given))
        except ValueError as error:
            raise RefusedError(f"a transport of {given['congestion']}: {str(error).splitlines()[-1].strip()}") from None

    # Numbers and bytes.

    def top(self) -> int:
        """The byte after all that was written, the FIN included."""
        return self.ends[-1] if self.ends else 1

    def start(self, number: int) -> int:
        """First byte of one of our segments, from 1; of the next one the byte after the last."""
        return self.ends[number - 2] if number > 1 else number

    def acked(self, byte: int) -> int:
        """Our segments that end at that byte or before, plus one: the next one expected."""
        return bisect_right(self.ends, byte) + 1 if byte > 0 else 0

    def above(self, byte: int) -> int:
        """Our first segment that begins at that byte or above it."""
        number = self.acked(byte)
        return number if self.start(number) >= byte else number + 1

    def number(self, byte: int) -> int:
        """Number of their segment that begins at the byte."""
        return self.cuts.index(byte) + 1

    def collect(self) -> None:
        """Takes what was sent."""
        assert self.end is not None
        for time_ns, role, number, ack, ace, ecn, counts, (stamp, echoed), blocks in self.end.take():
            flags = "." if ack > 0 else ""
            seq, length = self.start(number), 0
            if role == "syn":
                flags, seq = "S" + flags, 0
                if self.kernel["tcp_ecn"] in ("1", "4") and not ack:
                    flags = "SEW"
                elif self.marks == "classic":
                    flags = "SE."
            elif role == "data":
                length = self.ends[number - 1] - seq
                if self.closed and number == len(self.ends) and self.fin_rides:
                    flags, length = "F" + flags, length - 1
            elif role == "fin":
                flags = "F" + flags
            elif role == "reset":
                flags = "R" + flags
            elif role == "probe":
                seq = self.start(number + 1) - 1
            flags += "".join(flag for flag, bit in ACE.items() if ace & bit)
            options = []
            if self.stamped and (role != "reset" or ack):
                options.append(Option("TS", (stamp // 1_000_000, echoed)))
            if counts:
                first, values = counts
                options.append(Option("ECN", tuple(zip(FIELDS if first else FIELDS[::-1], values, strict=False))))
            if blocks:
                cut = tuple((self.cuts[left - 1], self.cuts[right - 1]) for left, right in blocks)
                options.append(Option("sack", cut))
            self.sent.append(
                Sent(
                    time_us=time_ns / 1000,
                    flags="".join(sorted(flags, key="SFRPEWAU.".index)),
                    ace=ace,
                    seq=seq,
                    length=length,
                    ack=self.cuts[ack - 1] if ack else None,
                    options=tuple(options),
                    ecn=ecn,
                    stamp=stamp,
                    ticks=stamp // 1_000_000,
                )
            )
        if self.connecting_us is None and self.end.expected and self.end.numbers[0]:
            self.connecting_us = self.clock_us

    # The application.

    def write(self, count: int) -> tuple[int, str | None]:
        if self.end is None:
            raise RefusedError("data before the connection")
        if self.closed:
            return -1, "EPIPE"
        if self.end.over:
            return -1, self.ended
        top = self.end.numbers[1]
        # A short segment that was not sent takes bytes in.
        if self.ends and not self.waiting and len(self.ends) >= top:
            room = self.room() - (self.ends[-1] - self.start(len(self.ends)))
            taken = min(room, count)
            self.ends[-1] += taken
            self.waiting -= taken
        self.waiting += count
        whole = self.waiting // self.room()
        self.hand_over([self.room()] * whole)
        self.release()
        return count, None

    def room(self) -> int:
        """Payload of a full segment now."""
        return self.mss - (self.end.ecn_option_bytes() if self.end else 0)

    def hand_over(self, lengths: list[int]) -> None:
        assert self.end is not None
        for length in lengths:
            self.ends.append(self.top() + length)
        self.waiting -= sum(lengths)
        if lengths:
            self.end.write(len(lengths))
            self.collect()

    def release(self, anyhow: bool = False) -> None:
        """Sends the short rest, unless another short one is unacknowledged."""
        assert self.end is not None
        if self.waiting and (anyhow or self.no_delay or self.end.numbers[0] > self.short):
            self.short = len(self.ends) + 1
            self.hand_over([self.waiting])

    def finish(self, wholly: bool = False) -> None:
        """Closes our direction, ``wholly`` with the socket."""
        assert self.end is not None
        if self.closed:
            return
        self.release(anyhow=True)
        self.closed = True
        unsent = self.end.numbers[1] <= len(self.ends) and bool(self.ends)
        self.fin_rides = unsent
        if unsent:
            self.ends[-1] += 1
        else:
            self.ends.append(self.top() + 1)
        self.end.close(wholly)
        self.collect()

    def call(self, call: Call) -> tuple[Any, str | None]:
        match call.name, call.arguments:
            case "socket", (_, kind, *_):
                if self.end:
                    raise RefusedError("a second connection")
                self.blocks = "SOCK_NONBLOCK" not in kind
                return call.result, None
            case "bind", _:
                return 0, None
            case "fcntl", (_, "F_SETFL", flags):
                self.blocks = "O_NONBLOCK" not in flags
                return 0, None
            case "fcntl", (_, "F_GETFL", *_):
                return call.result, None
            case "listen", _:
                self.listens = True
                return 0, None
            case "accept", _:
                if not (self.end and self.end.numbers[0]):
                    raise RefusedError("accept before the connection")
                return call.result, None
            case "connect", _:
                self.connect(opens=True)
                return (0, None) if self.blocks else (-1, "EINPROGRESS")
            case ("write" | "send", (_, _, count, *flags)):
                if any(flag not in (0, "MSG_NOSIGNAL") for flag in flags):
                    raise RefusedError(f"{call.name} with {flags[0]}")
                return self.write(count)
            case ("read" | "recv", (_, _, count, *_)):
                return self.read(count)
            case "shutdown", (_, how):
                if how != "SHUT_RD":
                    self.finish()
                if how != "SHUT_WR":
                    self.reading_ended = True
                return 0, None
            case "close", _:
                if self.end and self.available():
                    self.end.abort()
                    self.collect()
                elif self.end:
                    self.finish(wholly=True)
                return 0, None
            case "setsockopt", (_, _, name, value, *_):
                return self.set_option(name, value)
            case "ioctl", (_, "SIOCINQ", _):
                if [self.available()] != call.arguments[2]:
                    return [self.available()], None
                return call.result, None
        raise RefusedError(f"the system call {call.name}")

    def set_option(self, name: str, value: Any) -> tuple[int, None]:
        if name == "TCP_NODELAY":
            self.no_delay = bool(value[0])
            if self.end and self.no_delay:
                self.release()
        elif name == "TCP_USER_TIMEOUT" and self.end:
            self.end.set_user_timeout(int(value[0]) * 1_000_000)
        elif name not in SOCKET_OPTIONS:
            raise RefusedError(f"the socket option {name}")
        return 0, None

    def available(self) -> int:
        """Bytes that have come in order and were not read."""
        assert self.end is not None
        came = self.cuts[self.end.expected - 1] if self.end.expected else 1
        if self.their_fin is not None:
            came = min(came, self.their_fin)
        return came - self.read_to

    def read(self, count: int) -> tuple[int, str | None]:
        assert self.end is not None
        found = min(count, self.available())
        self.read_to += found
        ended = self.reading_ended or (self.their_fin is not None and self.read_to >= self.their_fin)
        if not found and not ended:
            return (-1, "EAGAIN") if not self.blocks else (0, "none: it blocks")
        return found, None

    def returned(self) -> tuple[float, Any, str | None] | None:
        return None if self.connecting_us is None else (self.connecting_us, 0, None)

    # The host.

    def command(self, command: Command) -> None:
        before = dict(self.kernel)
        known = 0
        for name, value in (*SYSCTL.findall(command.text), *FILE.findall(command.text)):
            known += 1
            if name not in WITHOUT_EFFECT:
                self.kernel[name] = value.strip('"')
        for value, name in MODULE.findall(command.text):
            known += 1
            self.kernel[name] = value
        for name, rest in ROOT.findall(command.text):
            known += 1
            if "limit 0" in rest:
                raise RefusedError("packets that the host's own queue drops")
            self.kernel["qdisc"] = name
        lines = [part for line in command.text.splitlines() for part in line.split(";") if part.strip()]
        silent = sum(any(word in line for word in ("defaults.sh", "restore", "tc qdisc del")) for line in lines)
        comments = sum(line.lstrip().startswith("#") for line in lines)
        if known + silent + comments < len(lines) and not FILE.search(command.text):
            raise RefusedError(f"the command {lines[-1].strip()}")
        unknown = [name for name in self.kernel if name not in {*DEFAULTS, *TRANSPORT}]
        if unknown:
            raise RefusedError(f"the setting {unknown[0]}")
        self.set_habits()
        changed = {name for name in self.kernel if before.get(name) != self.kernel[name]}
        if self.end and not all(name.startswith("tcp_ecn_") for name in changed):
            raise RefusedError("settings that change during a connection")

    def info(self) -> dict[str, Any]:
        if self.end is None:
            return {}
        found = {f"tcpi_{name}": round(value) for name, value in self.end.state().items()}
        if found.get("tcpi_snd_ssthresh", 0) >= WINDOW:
            found["tcpi_snd_ssthresh"] = NO_THRESHOLD
        came = self.cuts[self.end.expected - 1] - 1 if self.end.expected else 0
        return found | {"tcpi_snd_mss": self.mss, "tcpi_bytes_received": came}


def counted(packet: Packet) -> tuple[bool, list[int]] | None:
    """The option of accurate ECN: whether ECT(1) comes first, and its values."""
    fields = packet.option("ECN")
    return (fields[0][0] == "e1b", [value for _, value in fields]) if fields else None


def without_sack(given: dict[str, Any]) -> dict[str, Any]:
    """Fields of ``[tcp]`` for a peer without SACK."""
    others = {"sack": "newreno", "linux": "linux-without-sack"}
    recovery = Tcp.model_validate(given).recovery
    return {"recovery": others.get(recovery, recovery)}


def simulated(tcp: dict[str, Any]) -> Callable[[Script], Simulated]:
    """Back ends with these fields of ``[tcp]``."""
    return lambda script: Simulated(script, tcp)
