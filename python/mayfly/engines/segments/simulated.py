"""A pattern in the simulator: the same link, the same impairments, and what the sender's host sent and got."""

import re
import struct
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.discipline_registry import parse
from mayfly.engines.segments.traces import Trace
from mayfly.errors import MayflyError
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.scenario.transport import MODULES
from mayfly.simulate.recording import Recording
from mayfly.simulate.run import run_one
from mayfly.workload.lists import flow_list

FAST_BPS = 400_000_000_000
"""Of the links that shall take no time."""
QUEUE_PACKETS = 100_000
RECEIVE_MEMORY = 2 * (16 << 20)
"""Of a receiver whose buffer the guest sets: SO_RCVBUF counts the payload, the kernel takes twice as much."""
RULES = {module: rule for rule, module in MODULES.items()}
"""Names of congestion controls in the settings by names of the kernel's modules."""

SYN, ACK = 0x02, 0x10
ECHOES = 0xC0
"""ECE and CWR."""


@dataclass(frozen=True)
class Event:
    """What the sender's host sent or got.

    Parameters
    ----------
    time_ns : int
        Since the SYN.
    sent : bool
        Whether it sent it.
    what : tuple
        Of what is sent: first byte, payload, CWR. Of what comes: bytes acknowledged, ECE, edges of the SACK blocks.
    """

    time_ns: int
    sent: bool
    what: tuple[Any, ...]


def scenario_for(trace: Trace, changes: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a pattern.

    Parameters
    ----------
    trace : Trace
        Of the kernel.
    changes : mapping, optional
        Fields of ``[tcp]`` that win over those of the preset of that kernel.

    Returns
    -------
    Scenario
        One link with the pattern's impairments, and hosts of Linux.
    """
    pattern, link = trace.pattern, trace.link
    tcp: dict[str, Any] = {
        "preset": preset_of(trace.kernel),
        "tick": 1 / trace.hz,
        "mss": trace.mss,
        "congestion": RULES[pattern["congestion"]],
        "timestamps": pattern["timestamps"],
        "ecn": pattern["ecn"],
        "fin": False,
    }
    if not pattern.get("tuned"):
        tcp |= {"receive_buffer": "fixed", "receive_memory": RECEIVE_MEMORY}
    tcp["recovery"] = "linux" if pattern["sack"] else "linux-without-sack"
    network = {
        "rate": link["rate_bps"],
        "reverse_rate": FAST_BPS,
        "access_rate": FAST_BPS,
        "exit_rate": FAST_BPS,
        "delay": link["delay_s"],
        "access_delay": 0,
        "exit_delay": 0,
        "buffer": QUEUE_PACKETS,
        "impairment": [_impairment(rule) for rule in pattern["impairments"]],
    }
    document = {
        "name": trace.id,
        "duration": pattern["limit_s"],
        "stop_when_idle": True,
        # A flow of the guest begins with a jiffy.
        "clock_phase": 0,
        "sample_interval": 0,
        "network": network,
        "tcp": {**tcp, **(changes or {})},
    }
    return scenario_of(document, trace.id)


def preset_of(kernel: str) -> str:
    """The preset of a kernel: of the newest release that is not newer.

    Parameters
    ----------
    kernel : str
        Release, such as ``7.3.4``.

    Returns
    -------
    str

    Raises
    ------
    MayflyError
        A kernel older than all presets.

    Examples
    --------
    >>> preset_of("6.1.192"), preset_of("6.12.8"), preset_of("7.3.4+deb13")
    ('linux-6.1', 'linux-6.1', 'linux-7.3')
    """
    named = {name: _release(name.removeprefix("linux-")) for name in PRESETS if name.startswith("linux-")}
    older = [name for name in named if named[name] <= _release(kernel)]
    if not older:
        raise MayflyError(f"kernel {kernel}: must be one of {', '.join(named)} or newer")
    return max(older, key=named.__getitem__)


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


def _impairment(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule of ``kernel/uml/segments.py`` as the section takes it."""
    names = {"by_s": "by", "from_s": "from", "to_s": "to"}
    return {names.get(name, name): value for name, value in rule.items()}


def simulated(trace: Trace, changes: Mapping[str, Any] | None = None) -> list[Event]:
    """Leads the pattern of a trace through the simulator.

    Parameters
    ----------
    trace : Trace
        Of the kernel.
    changes : mapping, optional
        As :func:`scenario_for` takes them.

    Returns
    -------
    list of Event
        At the sender's host, in order.
    """
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [trace.size_bytes]}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pcap"
        run_one(scenario_for(trace, changes), parse("fifo"), flows, recording=Recording(path, "server"))
        return list(_events(path.read_bytes()))


def _events(capture: bytes) -> Iterator[Event]:
    """Events of a capture at the sender's host, which sends the first packet."""
    position, initial, sender = 24, None, b""
    while position < len(capture):
        seconds, rest, kept, _ = struct.unpack_from("<IIII", capture, position)
        frame = capture[position + 16 : position + 16 + kept]
        position += 16 + kept
        ip = frame[14:]
        (total,) = struct.unpack_from("!H", ip, 2)
        tcp = ip[20:]
        seq, ack, offset, flags = struct.unpack_from("!IIBB", tcp, 4)
        header = (offset >> 4) * 4
        if initial is None:
            initial, sender = seq + 1, ip[12:16]
        payload, time_ns = total - 20 - header, seconds * 1_000_000_000 + rest
        if ip[12:16] == sender:
            if payload or flags & SYN:
                first = 0 if flags & SYN else (seq - initial) & 0xFFFFFFFF
                yield sent(time_ns, first, payload, flags)
        else:
            edges = tuple((edge - initial) & 0xFFFFFFFF for edge in _sack(tcp[20:header]))
            yield got(time_ns, (ack - initial) & 0xFFFFFFFF, flags, edges)


def sent(time_ns: int, first: int, payload: int, flags: int) -> Event:
    """A segment with data, or the SYN."""
    return Event(time_ns, True, (first, payload, flags & ECHOES if not flags & SYN else 0))


def got(time_ns: int, acknowledged: int, flags: int, edges: tuple[int, ...]) -> Event:
    """An acknowledgement."""
    return Event(time_ns, False, (acknowledged, flags & ECHOES if not flags & SYN else 0, edges))


def _sack(options: bytes) -> tuple[int, ...]:
    while options and options[0]:
        if options[0] == 1:
            options = options[1:]
            continue
        if options[0] == 5:
            return struct.unpack_from(f"!{(options[1] - 2) // 4}I", options, 2)
        options = options[options[1] :]
    return ()


def in_kernel(trace: Trace) -> list[Event]:
    """The same of the kernel, until all was acknowledged."""
    events = []
    for packet in trace.packets:
        if packet.direction == 0 and (packet.bytes or packet.flags & SYN):
            events.append(sent(packet.time_ns, packet.seq, packet.bytes, packet.flags))
        elif packet.direction == 1 and packet.arrival_ns is not None:
            events.append(got(packet.arrival_ns, packet.ack or 0, packet.flags, packet.sack))
    # What an acknowledgement brings about comes behind it.
    return sorted(events, key=lambda event: (event.time_ns, event.sent))
