"""The kernel's own queue disciplines in a process (kernel/upstream), beside ours: traces, and what both decide."""

import itertools
import os
import random
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")
WORDS = 400_000
"""Random words that a run may take: more than any here does."""
MASK = (1 << 64) - 1
FOLDED = 0x9E37_79B9_7F4A_7C15


def homes() -> list[Path]:
    """Test kernels of kernel/uml/build.sh with their objects, the newest last; not those that find errors of memory."""
    found = []
    for told in CACHE.glob("uml-6.1.*/build/net/sched/.sch_cake.o.cmd"):
        home = told.parents[3]
        if (home / "linux").exists() and "\nCONFIG_KASAN=y" not in (home / "build" / ".config").read_text():
            found.append(home)
    return sorted(found, key=lambda home: (home / "linux").stat().st_mtime)


class Packet(NamedTuple):
    """A packet that comes; `time_ns` of one that is to be sent has no more."""

    time_ns: int
    handle: int
    len: int
    ecn: int
    flow: int
    src: int
    dst: int


Call = Packet | int
"""A packet comes, or at this time, ns, one is to be sent."""


@dataclass(frozen=True)
class Traffic:
    """What `calls` draws from."""

    flows: int = 20
    sources: int = 4
    destinations: int = 4
    lengths: Sequence[int] = (1500, 1500, 1000, 576, 64, 40)
    ecn: Sequence[int] = (0, 0, 1, 2, 3)
    loads: Sequence[float] = (0.3, 0.9, 1.0, 1.2, 2.0, 5.0)
    rates_bps: Sequence[float] = (1e6, 1e7, 1e7, 1e8)
    gaps_s: Sequence[float] = (0, 0, 0, 0.003, 0.05, 0.3, 5, 300)
    keys: Sequence[int] = field(default=())


def calls(seed: int, packets: int, traffic: Traffic) -> Iterator[Call]:
    """Spells of load on a link, some of overload, of one flow, of few or of all, with idle gaps between them."""
    rng = random.Random(seed)
    keys = traffic.keys or rng.sample(range(1 << 31), traffic.flows)
    flows = [
        (key << 1, rng.randrange(1, 1 + traffic.sources), rng.randrange(1 << 20, (1 << 20) + traffic.destinations))
        for key in keys
    ]
    ecn = [rng.choice(traffic.ecn) for _ in flows]
    now = free = handle = waiting = 0
    while handle < packets:
        rate, load = rng.choice(traffic.rates_bps), rng.choice(traffic.loads)
        active = rng.sample(range(len(flows)), rng.choice((1, min(3, len(flows)), len(flows))))
        lengths = traffic.lengths if rng.random() < 0.7 else (rng.choice(traffic.lengths),)
        mean_ns = 8e9 * sum(lengths) / len(lengths) / rate
        for _ in range(rng.choice((20, 200, 1000))):
            now += round(rng.expovariate(load / mean_ns)) if rng.random() < 0.9 else 0
            while waiting and free <= now:
                yield free
                waiting -= 1
                free += round(rng.choice((0.3, 1, 1.7)) * mean_ns)
            if not waiting:
                free = max(free, now)
            flow = rng.choice(active)
            key, src, dst = flows[flow]
            yield Packet(now, handle, rng.choice(lengths), ecn[flow] if rng.random() < 0.95 else 0, key, src, dst)
            handle, waiting = handle + 1, waiting + 1
        gap = round(1e9 * rng.choice(traffic.gaps_s))
        # The link goes on in part of the gaps, and finds the queue empty now and then.
        for _ in range(rng.choice((0, 1, waiting, waiting + 20))):
            free += round(mean_ns)
            yield free
        waiting = 0
        now = max(now, free) + gap
        free = now


@dataclass(frozen=True)
class Hash:
    """`Seeded` of crates/qdisc (parts/hash.rs), drawn from two words of a stream."""

    first: int
    second: int

    def __call__(self, key: int) -> int:
        """64 bits."""
        return _fold(_fold(key ^ self.first, FOLDED), self.second | 1)

    def slot(self, key: int, slots: int) -> int:
        """The queue of `key`."""
        return self(key) * slots >> 64


def _fold(a: int, b: int) -> int:
    return a * b & MASK ^ a * b >> 64


@dataclass(frozen=True)
class Programs:
    """Programs of both sides, and a folder for random words."""

    crate: Path
    words: Path
    kernel: Path
    folder: Path

    def stream(self, seed: int, name: str) -> Path:
        """File with the words of a random stream of the crate."""
        file = self.folder / f"{name.replace(' ', '-')}-{seed}.words"
        if not file.exists():
            told = subprocess.run([self.words, str(seed), name, str(WORDS)], check=True, capture_output=True).stdout
            file.write_bytes(told)
        return file

    @cached_property
    def drawn(self) -> list[int]:
        """The first words that a queue of examples/decisions.rs draws."""
        return [word for (word,) in struct.iter_unpack("<Q", self.stream(1, "decisions").read_bytes()[:256])]

    def ours(self, id: str, limit: str, options: dict[str, object], trace: Sequence[Call]) -> list[tuple[str, ...]]:
        """Decisions of the crate, as the kernel's are told."""
        lines = []
        for call in trace:
            if isinstance(call, int):
                lines.append(f"- {call}")
            else:
                lines.append(
                    f"+ {call.time_ns} {call.flow} {call.handle} 0 {call.len} u {call.ecn} {call.src} {call.dst} 0"
                )
        told = _run([self.crate, id, limit, *(f"{name}={value}" for name, value in options.items())], lines)
        return [_reduced(line.split()) for line in told]

    def theirs(
        self, id: str, attributes: dict[str, object], words: tuple[Path, Path], lines: list[str]
    ) -> list[tuple[str, ...]]:
        """Decisions of the kernel."""
        command = [self.kernel, id, *words, *(f"{name}={value}" for name, value in attributes.items())]
        return [tuple(line.split()) for line in _run(command, lines)]


def _run(command: Sequence[object], lines: list[str]) -> list[str]:
    done = subprocess.run(
        [str(word) for word in command], input="\n".join(lines) + "\n", capture_output=True, text=True
    )
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done.stdout.splitlines()


def _reduced(words: list[str]) -> tuple[str, ...]:
    """A line of the crate without what the kernel does not tell: reasons, classes, what peek said."""
    call, handle, second = words[0], words[1], words[2]
    victims = [] if words[4] == "-" else [victim.split(":")[0] for victim in words[4].split(",")]
    if call == "+" and second != "queued":
        victims.append(handle)
    dropped = ",".join(victims) or "-"
    return (call, handle, dropped, *words[5:7]) if call == "+" else (call, handle, second, dropped, *words[5:7])


def told_to_kernel(
    trace: Sequence[Call],
    flow: Callable[[int], int],
    src: Callable[[int], int],
    dst: Callable[[int], int],
    memory: Callable[[Packet], int],
) -> list[str]:
    """Lines of a trace for the kernel: hashes by flow and by host, and what a packet takes of a limit in memory."""
    return [
        f"- {call}"
        if isinstance(call, int)
        else f"+ {call.time_ns} {call.handle} {call.len} {memory(call)} {call.ecn} "
        f"{flow(call.flow)} {src(call.src)} {dst(call.dst)}"
        for call in trace
    ]


def first_difference(ours: list[tuple[str, ...]], theirs: list[tuple[str, ...]], trace: Sequence[Call]) -> str | None:
    """What comes before the first decision that differs, and both; ``None`` where none does."""
    assert len(ours) == len(theirs) == len(trace)
    if ours == theirs:
        return None
    at = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    before = "\n".join(
        f"{call}\n    {' '.join(a)}" for call, a in itertools.islice(zip(trace, ours, strict=True), max(at - 5, 0), at)
    )
    return (
        f"call {at} of {len(trace)}:\n{before}\n{trace[at]}\nours   {' '.join(ours[at])}\nkernel {' '.join(theirs[at])}"
    )
