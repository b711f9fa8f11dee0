"""Traces for kernel/test/decisions.c and its like in crates/qdisc: random, adversarial, recorded."""

import gzip
import math
import random
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

OFFICE = Path(__file__).resolve().parents[2] / "captures" / "office.pcap.gz"
FORGED = (0, 1, (1 << 62) - 1, 1 << 62, (1 << 64) - 1)
"""Acknowledged bytes that no connection has, at the edges of what is counted."""


class Flow:
    """One connection of a random trace: both directions, numbers that mostly advance."""

    def __init__(self, rng: random.Random, number: int):
        self.rng = rng
        self.number = number
        self.kinds = rng.choice(("d", "u", "a", "da"))
        self.lengths = rng.choice(((1500,), (40, 1500), (40,), range(40, 1515), (9000, 64000)))
        self.sent = [0, 0]

    def packet(self) -> tuple[int, int, int, str]:
        """Key, progress, length, kind."""
        rng = self.rng
        direction = int(rng.random() < 0.3)
        kind, length = rng.choice(self.kinds), rng.choice(self.lengths)
        progress = 0
        if kind == "d":
            progress = self.sent[direction]
            self.sent[direction] += length if rng.random() < 0.9 else -min(length, progress)
        elif kind == "a":
            if rng.random() < 0.5:
                self.sent[1 - direction] += rng.randrange(5000)
            # Late and repeated ones too.
            progress = max(self.sent[1 - direction] - rng.choice((0, 0, 0, 3000)), 0)
            if rng.random() < 0.01:
                progress = rng.choice(FORGED)
            length = min(length, 80)
        return self.number << 1 | direction, progress, length, kind


def drawn(seed: int, calls: int, flows: int) -> Iterator[str]:
    """Random calls in stretches that fill the queue, hold it, empty it or leave it alone for up to a minute."""
    rng = random.Random(seed)
    known = [Flow(rng, number) for number in range(flows)]
    now = 0
    handle = 0
    while calls > 0:
        arrivals = rng.choice((0.2, 0.5, 0.6, 0.95))
        choice = known if rng.random() < 0.5 else rng.sample(known, min(3, flows))
        for _ in range(rng.randrange(1, 400)):
            now += rng.choice((0, 1, 1_000_000, rng.randrange(20_000_000)))
            calls -= 1
            if rng.random() < arrivals:
                flow, progress, length, kind = rng.choice(choice).packet()
                yield f"+ {now} {flow} {handle} {progress} {length} {kind} {rng.randrange(4)}"
                handle += 1
            else:
                yield f"- {now}"
        if rng.random() < 0.1:
            now += rng.randrange(60_000_000_000)
        if rng.random() < 0.05:
            known[rng.randrange(flows)] = Flow(rng, rng.randrange(1 << 62))


def flood(calls: int) -> Iterator[str]:
    """Every packet is of a flow of its own, four arrivals for each departure."""
    for k in range(calls):
        yield f"- {k}" if k % 5 == 4 else f"+ {k} {k << 1} {k} 0 {40 + k % 1461} u 0"


def alternation(calls: int) -> Iterator[str]:
    """One long flow that acknowledgements of others push out all the time."""
    for k in range(calls):
        if k % 3 == 2:
            yield f"- {k}"
        elif k % 2:
            yield f"+ {k} {2 * (k % 50) + 1} {k} {k * 10} 40 a 1"
        else:
            yield f"+ {k} 200 {k} {k * 1460} 1500 d 2"


def frames(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, length and first bytes of the frames of a little-endian pcap file with microseconds."""
    data = gzip.decompress(path.read_bytes())
    at = 24
    while at < len(data):
        seconds, micros, kept, length = struct.unpack_from("<IIII", data, at)
        yield (seconds * 1_000_000 + micros) * 1000, length, data[at + 16 : at + 16 + kept]
        at += 16 + kept


def recorded(rate_bps: float, path: Path = OFFICE) -> Iterator[str]:
    """The packets of a capture into a link of `rate_bps`, keyed and numbered as a module does it."""
    connections, first, handle = {}, {}, 0
    start = free = None
    for time, length, frame in frames(path):
        if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] not in (6, 17):
            continue
        start = time if start is None else start
        free = time if free is None else free
        while free < time:
            yield f"- {free - start}"
            free += round(1514 * 8e9 / rate_bps)
        ports = 14 + 4 * (frame[14] & 15)
        ends = [(frame[26:30], frame[ports : ports + 2]), (frame[30:34], frame[ports + 2 : ports + 4])]
        key = (frame[23], *sorted(ends))
        flow = connections.setdefault(key, len(connections)) << 1 | (ends[0] > ends[1])
        kind, progress = "u", 0
        if frame[23] == socket.IPPROTO_TCP:
            sequence, number, offset, flags = struct.unpack_from("!IIBB", frame, ports + 4)
            payload = struct.unpack_from("!H", frame, 16)[0] - 4 * (frame[14] & 15) - 4 * (offset >> 4)
            kind = "d" if payload > 0 or flags & 3 else "a"
            first.setdefault(flow, sequence)
            first.setdefault(flow ^ 1, number)
            progress = (sequence - first[flow] if kind == "d" else number - first[flow ^ 1]) % (1 << 32)
        hosts = " ".join(str(int.from_bytes(end[0], "big")) for end in ends)
        yield f"+ {time - start} {flow} {handle} {progress} {length} {kind} {(0, 2, 1, 3)[frame[15] & 3]} {hosts} 0"
        handle += 1


def congested(calls: int, rate_bps: float = 6e6, length: int = 1000) -> Iterator[str]:
    """A link that is mostly busy: arrivals swing around its rate, by the minute and every few round trips."""
    rng = random.Random(calls)
    gap = round(8e9 * length / rate_bps)
    now = free = handle = 0
    while handle < calls:
        seconds = now / 1e9
        load = 1.05 + 0.25 * math.sin(seconds / 3) + 0.1 * math.sin(seconds / 0.15)
        now += round(rng.expovariate(load) * gap)
        while free <= now:
            yield f"- {free}"
            free += gap
        yield f"+ {now} {handle % 40 << 1} {handle} 0 {rng.choice((40, length, 2 * length - 40))} u {handle % 4}"
        handle += 1


def contests(half_life_s: float, calls: int) -> Iterator[str]:
    """Pairs of flows that sent the same, but for the fading of a nanosecond, at different times, and then compete.

    Which goes first depends on the last bits of the arithmetic of LARS.
    """
    rng = random.Random(0)
    half_life_ns = half_life_s * 1e9
    now = 0
    for k in range(0, calls, 8):
        first, second = (k << 1), (k << 1) + 2
        long = rng.randrange(800, 1501)
        short = rng.randrange(long // 2 + 1, long)
        now += rng.randrange(round(half_life_ns))
        apart = round(half_life_ns * math.log2(long / short)) + rng.randrange(-2, 3)
        yield f"+ {now} {first} {k} 0 {long} u 0"
        yield f"- {now}"
        now += apart
        yield f"+ {now} {second} {k + 1} 0 {short} u 0"
        yield f"- {now}"
        yield f"+ {now} {second} {k + 2} 0 100 u 0"
        yield f"+ {now} {first} {k + 3} 0 100 u 0"
        yield f"- {now}"
        yield f"- {now}"
