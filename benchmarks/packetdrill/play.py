"""What packetdrill does with a script: time, expectations, tolerances. Below it is a back end, the TCP that is tested.

Source: packetdrill (gtests/net/packetdrill/run.c, run_packet.c), of which this keeps: the first event is at time 0; a
relative time counts from now, but from the time of the event before between two inbound packets; an outbound packet
is the next one that was sent, whenever it was; an event may be off by ``--tolerance_usecs`` (4000) or 12.5 % of the
time since the event before, the end of a call that blocks by as much of the time it takes, whichever is more; what is
sent and never asked for is not looked at; TSval is compared only with ``--tcp_ts_tick_usecs``.

It is stricter in one place: TSecr is compared. A back end says what it does not have and what is therefore not
compared (`Backend.unchecked`).
"""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from packetdrill.script import Call, Code, Command, Event, Option, Packet, Script

TOLERANCE_US = 4000
TOLERANCE_SHARE = 0.125
PATIENCE_US = 2_000_000
"""How long a packet is waited for beyond the time it is expected at."""

STATES = "ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK LISTEN CLOSING"
BITS = "TIMESTAMPS SACK WSCALE ECN ECN_SEEN SYN_DATA USEC_TS TFO_CHILD"
CONSTANTS = {f"TCP_{name}": value for value, name in enumerate(STATES.split(), 1)}
CONSTANTS |= {f"TCP_CA_{name}": value for value, name in enumerate(["Open", "Disorder", "CWR", "Recovery", "Loss"])}
CONSTANTS |= {f"TCPI_OPT_{name}": 1 << bit for bit, name in enumerate(BITS.split())}
"""Names that code in scripts may use (linux/tcp.h)."""


@dataclass(frozen=True)
class Sent:
    """A segment that the TCP under test has sent, in the numbers of the script.

    ``stamp`` is the TSval as the TCP knows it, which an inbound TSecr is translated to; ``ticks`` is the same in units
    of its clock. What a back end does not have is None.
    """

    time_us: float
    flags: str
    ace: int | None
    seq: int
    length: int
    ack: int | None
    window: int | None = None
    options: tuple[Option, ...] = ()
    ecn: str | None = None
    stamp: int | None = None
    ticks: int | None = None

    def __str__(self) -> str:
        return described(self)


class RefusedError(Exception):
    """Something that a back end does not have: one clause."""


class Backend(Protocol):
    """A TCP and the host around it."""

    unchecked: frozenset[str]
    """Of psh, window, handshake (options of SYN and SYN-ACK): what is not compared."""
    whole: bool
    """A packet of the script is one of the TCP; else it may be several that follow each other."""

    def now_us(self) -> float: ...

    def advance(self, until_us: float) -> None:
        """Lets time pass."""

    def next_sent(self, until_us: float) -> Sent | None:
        """The next segment that was sent, for which time passes at most until then."""

    def inject(self, packet: Packet, stamp: int | None) -> None:
        """A segment arrives; ``stamp`` is its TSecr as the TCP knows it."""

    def call(self, call: Call) -> tuple[Any, str | None]:
        """Result and name of the error of a system call that does not block, or begins to."""

    def returned(self) -> tuple[float, Any, str | None] | None:
        """When the call that blocks returned, its result and error; None while it does not."""

    def command(self, command: Command) -> None: ...

    def info(self) -> dict[str, Any]:
        """``tcpi_*`` and the like of the connection under test."""


@dataclass(frozen=True)
class Failure:
    """Where a script fails: what was expected and what came; ``kind`` is one word for the two."""

    line: int
    kind: str
    expected: str
    came: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind}: expected {self.expected}; came {self.came}"


class FaultError(Exception):
    """A failure on its way up."""

    def __init__(self, kind: str, expected: str, came: str) -> None:
        super().__init__(kind, expected, came)
        self.kind, self.expected, self.came = kind, expected, came


def described(packet: Packet | Sent) -> str:
    """A segment in the language of scripts."""
    parts = [f"[{packet.ecn}]"] if packet.ecn not in (None, "noecn") else []
    parts.append(packet.flags + (str(packet.ace) if isinstance(packet, Packet) and packet.ace is not None else ""))
    parts.append(f"{packet.seq}:{packet.seq + packet.length}({packet.length})")
    if packet.ack is not None:
        parts.append(f"ack {packet.ack}")
    if packet.window is not None:
        parts.append(f"win {packet.window}")
    if packet.options is None:
        parts.append("<...>")
    elif packet.options:
        parts.append("<" + ",".join(option_text(option) for option in packet.options) + ">")
    return " ".join(parts)


def option_text(option: Option) -> str:
    match option:
        case Option("TS", (value, echo)):
            return f"TS val {value} ecr {echo}"
        case Option("sack", blocks):
            return "sack " + " ".join(f"{left}:{right}" for left, right in blocks)
        case Option("ECN", fields):
            return "ECN " + " ".join(f"{name} {value}" for name, value in fields)
    return " ".join([option.name, *map(str, option.values)])


@dataclass
class Player:
    """One run of a script.

    Parameters
    ----------
    script : Script
        What to play.
    backend : Backend
        On what.
    """

    script: Script
    backend: Backend

    def __post_init__(self) -> None:
        options = self.script.options
        self.tolerance_us = float(options.get("tolerance_usecs") or TOLERANCE_US)
        self.tick_us = int(options.get("tcp_ts_tick_usecs") or 0)
        self.names: dict[str, Any] = dict(CONSTANTS)
        self.last: Event | None = None
        self.last_us = 0.0
        self.blocking: tuple[Event, Call, float] | None = None
        self.stamps: dict[int, int] = {}
        self.first_stamps: tuple[int, int] | None = None

    def play(self) -> Failure | None:
        """Plays the script: where it fails, or None."""
        event = None
        try:
            if self.script.set_up:
                self.backend.command(self.script.set_up)
            for event in self.script.events:
                self.run(event)
            if self.blocking:
                self.wait_for_call()
        except FaultError as fault:
            return Failure(event.line if event else 1, fault.kind, fault.expected, fault.came)
        except RefusedError as refusal:
            return Failure(event.line if event else 1, "not there", str(refusal), "nothing to play it with")
        return None

    def run(self, event: Event) -> None:
        start_us, end_us = self.times(event)
        match event.action:
            case Packet(inbound=True) as packet:
                self.wait(event, start_us, "inbound packet")
                self.backend.inject(packet, self.live_stamp(packet))
            case Packet() as packet:
                self.expect(event, packet, start_us, end_us)
            case Call() as call:
                if self.blocking:
                    self.wait_for_call()
                self.wait(event, start_us, "system call")
                self.call(event, call, start_us)
            case Command() as command:
                self.wait(event, start_us, "command")
                self.backend.command(command)
            case Code() as code:
                self.wait(event, start_us, "code")
                self.check(code)
        self.last, self.last_us = event, start_us

    def times(self, event: Event) -> tuple[float, float]:
        """Start and end of the time at which an event is due, from the start of the script."""
        offset = 0.0
        if event.when.kind != "absolute":
            inbound = [isinstance(e.action, Packet) and e.action.inbound for e in (self.last, event) if e]
            offset = self.last_us if inbound == [True, True] else self.backend.now_us()
        start = event.when.start_us + offset
        return start, start if event.when.end_us is None else event.when.end_us + offset

    def tolerance(self, start_us: float) -> float:
        return max(self.tolerance_us, TOLERANCE_SHARE * (start_us - self.last_us))

    def wait(self, event: Event, start_us: float, what: str) -> None:
        self.backend.advance(start_us)
        now = self.backend.now_us()
        if now > start_us + self.tolerance(start_us):
            raise FaultError("late", f"{what} at {seconds(start_us)}", f"it was {seconds(now)} before it could be")

    def live_stamp(self, packet: Packet) -> int | None:
        """TSecr of an inbound packet as the TCP under test knows it."""
        values = packet.option("TS")
        if not values or "." not in packet.flags:
            return None
        if values[1] in self.stamps:
            return self.stamps[values[1]]
        raise FaultError("script", f"a TSval {values[1]} sent before", "no such one")

    def expect(self, event: Event, packet: Packet, start_us: float, end_us: float) -> None:
        never = event.when.kind == "any"
        # packetdrill waits without end for a packet at any time; here a minute is.
        until_us = self.backend.now_us() + 60e6 if never else max(start_us, end_us) + PATIENCE_US
        parts: list[Sent] = []
        while not parts or (not self.backend.whole and sum(part.length for part in parts) < packet.length):
            part = self.backend.next_sent(until_us)
            if part is None:
                came = "nothing more" if parts else "nothing"
                raise FaultError("no packet", self.at(described(packet), start_us, end_us, never), came)
            if parts and not self.belongs(part, parts, packet):
                came = f"{self.sent(parts)}, then {part}"
                raise FaultError("packet", self.at(described(packet), start_us, end_us, never), came)
            parts.append(part)
        self.compare(packet, parts, start_us, end_us, never)

    def belongs(self, part: Sent, parts: list[Sent], packet: Packet) -> bool:
        """Whether a segment goes on from those before it: all are alike, and only the last may be shorter."""
        before = parts[-1]
        alike = (part.seq, part.ack) == (before.seq + before.length, before.ack)
        fills = sum(p.length for p in parts) + part.length >= packet.length
        return alike and (fills or part.length == before.length)

    def compare(self, packet: Packet, parts: list[Sent], start_us: float, end_us: float, never: bool) -> None:
        first, last = parts[0], parts[-1]
        # As packetdrill puts them together: all of the last one, but the number and CWR of the first.
        flags = last.flags.replace("W", "") + ("W" if "W" in first.flags else "")
        came = replace(
            last,
            flags="".join(sorted(flags, key="SFRPEWAU.".index)),
            seq=first.seq,
            length=sum(part.length for part in parts),
        )
        wrong = self.differences(packet, came)
        if wrong:
            where = self.at(described(packet), start_us, end_us, never)
            raise FaultError("packet", where, f"{self.sent(parts)}, other {', '.join(wrong)}")
        tolerance = self.tolerance(start_us)
        early = min(part.time_us for part in parts) < start_us - tolerance
        if not never and (early or last.time_us > end_us + tolerance):
            raise FaultError("time", self.at(described(packet), start_us, end_us, never), self.sent(parts))

    def differences(self, packet: Packet, came: Sent) -> list[str]:
        """Names of the fields that are not as expected."""
        aside = {"P"} if "psh" in self.backend.unchecked else set()
        if packet.ace is not None:
            aside |= set("AWE")
        flags = (set(packet.flags) ^ set(came.flags)) - aside
        found = {
            "flags": bool(flags),
            "ACE": packet.ace is not None and packet.ace != came.ace,
            "numbers": (packet.seq, packet.length) != (came.seq, came.length),
            "ack": packet.ack is not None and packet.ack != came.ack,
            "window": packet.window is not None
            and "window" not in self.backend.unchecked
            and packet.window != came.window,
            "ECN": packet.ecn is not None
            and not (packet.ecn == came.ecn or (packet.ecn == "ect01" and came.ecn in ("ect0", "ect1"))),
            "options": not self.same_options(packet, came),
        }
        wrong = [name for name, differs in found.items() if differs]
        expected = packet.option("TS")
        if expected and came.stamp is not None and came.ticks is not None:
            self.stamps[expected[0]] = came.stamp
            self.first_stamps = self.first_stamps or (expected[0], came.ticks)
            off = abs(came.ticks - self.first_stamps[1] + self.first_stamps[0] - expected[0]) * self.tick_us
            if off > max(self.tolerance_us, TOLERANCE_SHARE * self.backend.now_us()):
                wrong.append("TSval")
        return wrong

    def same_options(self, packet: Packet, came: Sent) -> bool:
        if packet.options is None:
            return True
        if "S" in packet.flags and "handshake" in self.backend.unchecked:
            # All that the handshake decides about the segments after it, and the back end has.
            return packet.option("ECN") == next((o.values for o in came.options if o.name == "ECN"), None)
        whole = "handshake" not in self.backend.unchecked

        def seen(options: tuple[Option, ...]) -> list[tuple[str, tuple[Any, ...]]]:
            # TSval is compared apart; padding only where the TCP has bytes.
            rest = [o for o in options if whole or o.name != "nop"]
            return [(o.name, o.values[1:] if o.name == "TS" else o.values) for o in rest]

        return seen(packet.options) == seen(came.options)

    def call(self, event: Event, call: Call, start_us: float) -> None:
        result, error = self.backend.call(call)
        if call.end_us is not None:
            self.blocking = (event, call, start_us - event.when.start_us if event.when.kind == "relative" else 0.0)
        else:
            self.judge(call, result, error)

    def wait_for_call(self) -> None:
        """The call that blocks returns, in time."""
        assert self.blocking is not None
        event, call, offset = self.blocking
        self.blocking = None
        assert call.end_us is not None
        due = call.end_us + offset
        while (returned := self.backend.returned()) is None and self.backend.now_us() < due + PATIENCE_US - 1:
            self.backend.advance(min(self.backend.now_us() + 1000, due + PATIENCE_US))
        if returned is None:
            raise FaultError(
                "call", f"{call.name} of line {event.line} returns at {seconds(due)}", "it does not return"
            )
        self.judge(call, returned[1], returned[2])
        began = event.when.start_us + offset
        tolerance = max(self.tolerance_us, TOLERANCE_SHARE * (due - began))
        if abs(returned[0] - due) > tolerance:
            raise FaultError("time", f"{call.name} returns at {seconds(due)}", f"it returned at {seconds(returned[0])}")

    def judge(self, call: Call, result: Any, error: str | None) -> None:
        fine = call.error == error and (call.result == result or call.result == "..." or error is not None)
        if not fine:
            expected = f"{call.name} = {call.result} {call.error or ''}".strip()
            raise FaultError("call", expected, f"{result} {error or ''}".strip())

    def check(self, code: Code) -> None:
        self.names.update(self.backend.info())
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code.text, "code", "exec"), self.names)
        except AssertionError as error:
            line = next((part for part in code.text.splitlines() if self.fails(part)), code.text)
            wanted = line.rpartition("assert ")[2].split(",")[0].strip()
            raise FaultError("state", wanted, str(error) or "not so") from None
        except NameError as error:
            raise FaultError("state", code.text.strip().splitlines()[0], f"'{error.name}' is not known") from None

    def fails(self, line: str) -> bool:
        """Whether it is the assertion of this line that fails."""
        if "assert " not in line:
            return False
        try:
            exec(line[line.index("assert ") :].strip(), dict(self.names))
        except AssertionError:
            return True
        except SyntaxError:
            return False
        return False

    def at(self, text: str, start_us: float, end_us: float, never: bool) -> str:
        if never:
            return text
        times = seconds(start_us) + (f" to {seconds(end_us)}" if end_us > start_us else "")
        return f"{text} at {times}"

    def sent(self, parts: list[Sent]) -> str:
        if len(parts) == 1:
            return f"{parts[0]} at {seconds(parts[0].time_us)}"
        first, last = parts[0], parts[-1]
        return f"{first} to {last} in {len(parts)} packets at {seconds(first.time_us)} to {seconds(last.time_us)}"


def seconds(time_us: float) -> str:
    return f"{time_us / 1e6:.6g} s"


def play(script: Script, backend: Callable[[Script], Backend]) -> Failure | None:
    """Plays a script on a fresh back end: where it fails, or None."""
    try:
        made = backend(script)
    except RefusedError as refusal:
        return Failure(1, "not there", str(refusal), "nothing to play it with")
    return Player(script, made).play()
