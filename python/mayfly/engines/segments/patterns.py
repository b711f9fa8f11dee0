"""Patterns of impairments that a flow is led through, by the clause of loss recovery that they are about."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

RATE_BPS = 10_000_000
DELAY_S = 0.02
MTU = 1500
PACKET_S = MTU * 8 / RATE_BPS
"""Transmission of a full segment."""

SEGMENTS = 100
LONG_SEGMENTS = 400
LIMIT_S = 60.0
LATEST_S = 1e6
"""End of a window that has none."""

CONGESTION = ("cubic", "reno", "bbr")
"""Congestion controls, by their names in Linux."""


@dataclass(frozen=True)
class Options:
    """What the hosts of a flow negotiate, and whether the kernel tunes the receiver's buffer; else it is large."""

    sack: bool = True
    timestamps: bool = True
    ecn: bool = False
    tuned: bool = False

    @property
    def name(self) -> str:
        """Those that are on, as in `sack+timestamps`."""
        return "+".join(name for name, on in asdict(self).items() if on) or "none"


BASE = Options()
OPTIONS = (BASE, Options(sack=False), Options(timestamps=False), Options(sack=False, timestamps=False))
WITH_ECN = Options(ecn=True)
TUNED = Options(tuned=True)

Impairment = dict[str, Any]


@dataclass(frozen=True)
class Pattern:
    """One flow: its hosts, how much it sends, and what its link does to it.

    Parameters
    ----------
    clause : str
        Kind of the pattern.
    name : str
        What is impaired, unique within clause, congestion control and options.
    impairments : tuple of dict
        As ``kernel/uml/segments.py`` takes them.
    segments : int
        Length of the transfer.
    congestion : str
        Name in Linux.
    options : Options
        Negotiated by both hosts.
    """

    clause: str
    name: str
    impairments: tuple[Impairment, ...]
    segments: int = SEGMENTS
    congestion: str = "cubic"
    options: Options = BASE

    @property
    def id(self) -> str:
        """Unique among all patterns."""
        return f"{self.congestion}/{self.options.name}/{self.clause}/{self.name}"

    def row(self) -> dict[str, Any]:
        """The pattern as ``kernel/uml/segments.py`` takes it, with its clause."""
        return {
            "id": self.id,
            "clause": self.clause,
            "congestion": self.congestion,
            **asdict(self.options),
            "segments": self.segments,
            "limit_s": LIMIT_S,
            "impairments": list(self.impairments),
        }


def dropped(segment: int, transmission: int = 1) -> Impairment:
    """The so-many-eth transmission of a segment is lost."""
    return {"direction": "data", "segment": segment, "transmission": transmission, "do": "drop"}


def late(segment: int, by_s: float, transmission: int = 1) -> Impairment:
    """It comes so much later than it would, and others may overtake it."""
    return {"direction": "data", "segment": segment, "transmission": transmission, "do": "delay", "by_s": by_s}


def marked(segment: int) -> Impairment:
    """Congestion experienced, at the first transmission."""
    return {"direction": "data", "segment": segment, "transmission": 1, "do": "mark"}


def lost_ack(number: int) -> Impairment:
    """A packet back is lost; 0 is the SYN-ACK."""
    return {"direction": "ack", "ack": number, "do": "drop"}


def window(direction: str, do: str, from_s: float, to_s: float) -> Impairment:
    """All that would come within a time since the SYN."""
    return {"direction": direction, "from_s": from_s, "to_s": to_s, "do": do}


def overtaken(segment: int, count: int) -> Impairment:
    """A segment is overtaken by so many that leave right behind it."""
    return late(segment, round((count + 0.5) * PACKET_S, 9))


def _drops(segments: Iterable[int]) -> tuple[Impairment, ...]:
    return tuple(dropped(segment) for segment in segments)


def unimpaired() -> Iterator[Pattern]:
    """Nothing happens to the flow."""
    for segments in (1, 2, 10, SEGMENTS, LONG_SEGMENTS):
        yield Pattern("unimpaired", f"{segments}", (), segments)


def single() -> Iterator[Pattern]:
    """Each of the first 40 segments alone."""
    for segment in range(1, 41):
        yield Pattern("single", f"{segment}", _drops([segment]))


def pairs() -> Iterator[Pattern]:
    """Two segments of one window, or of two."""
    for first, apart in [(k, 1) for k in (1, 5, 9, 12, 20, 29, 40, 60)] + [(k, 4) for k in (2, 6, 15, 25, 45)]:
        yield Pattern("pair", f"{first}+{apart}", _drops((first, first + apart)))
    for first, second in ((5, 15), (5, 21), (11, 31), (20, 45), (30, 60), (8, 80)):
        yield Pattern("pair", f"{first}&{second}", _drops((first, second)))


def bursts() -> Iterator[Pattern]:
    """Several in a row, and every so-many-eth."""
    for first in (1, 4, 11, 25, 40):
        for count in (3, 5, 8, 14):
            yield Pattern("burst", f"{first}x{count}", _drops(range(first, first + count)))
    for every, until in ((2, 30), (3, 40), (5, 60), (10, 100)):
        yield Pattern("burst", f"every-{every}", _drops(range(every, until + 1, every)))


def tails() -> Iterator[Pattern]:
    """The last of a window, and of the transfer."""
    for last in (10, 30, 70):
        yield Pattern("tail", f"window-{last}", _drops([last]))
    for count in (1, 2, 3, 4, 6, 10):
        yield Pattern("tail", f"last-{count}", _drops(range(SEGMENTS - count + 1, SEGMENTS + 1)))
    for segments in (1, 2, 3, 5, 10, 12):
        yield Pattern("tail", f"last-of-{segments}", _drops([segments]), segments)
    yield Pattern("tail", "last-but-one", _drops([SEGMENTS - 1]))
    yield Pattern("tail", "last-twice", (dropped(SEGMENTS), dropped(SEGMENTS, 2)))
    yield Pattern("tail", "all-of-5", _drops(range(1, 6)), 5)


def lost_retransmissions() -> Iterator[Pattern]:
    """The repair of a segment is lost too, once and more often."""
    for segment in (1, 5, 10, 15, 25, 30, 50, 99):
        for times in (2, 3):
            impairments = tuple(dropped(segment, number) for number in range(1, times + 1))
            yield Pattern("lost retransmission", f"{segment}-{times}", impairments)
    for first, count in ((5, 3), (20, 4)):
        both = _drops(range(first, first + count))
        yield Pattern("lost retransmission", f"{first}x{count}-first", (*both, dropped(first, 2)))
        yield Pattern("lost retransmission", f"{first}x{count}-last", (*both, dropped(first + count - 1, 2)))
    yield Pattern("lost retransmission", "12-5", tuple(dropped(12, number) for number in range(1, 6)))


def reordering() -> Iterator[Pattern]:
    """A segment is overtaken by others."""
    for segment in (3, 15, 40):
        for count in (1, 2, 3, 4, 6):
            yield Pattern("reordering", f"{segment}-by-{count}", (overtaken(segment, count),))
    for segment in (15, 40):
        for count in (12, 25):
            yield Pattern("reordering", f"{segment}-by-{count}", (overtaken(segment, count),))
    yield Pattern("reordering", "several", tuple(overtaken(segment, 4) for segment in (12, 24, 36, 48, 60, 72)))
    yield Pattern("reordering", "several-far", tuple(overtaken(segment, 10) for segment in (12, 32, 52, 72)))
    yield Pattern("reordering", "and-loss", (overtaken(12, 4), dropped(40)))
    yield Pattern("reordering", "repair", (dropped(15), late(15, 0.05, 2)))


def ack_losses() -> Iterator[Pattern]:
    """Packets back are lost."""
    for number in (1, 2, 5, 10, 11, 20, 30, 60, SEGMENTS):
        yield Pattern("ack loss", f"{number}", (lost_ack(number),))
    for first, count in ((1, 10), (11, 10), (15, 5), (25, 20), (91, 10)):
        yield Pattern("ack loss", f"{first}x{count}", tuple(map(lost_ack, range(first, first + count))))
    for every in (2, 3):
        yield Pattern("ack loss", f"every-{every}", tuple(map(lost_ack, range(every, SEGMENTS, every))))
    yield Pattern("ack loss", "and-data", (dropped(12), *map(lost_ack, (12, 13, 14, 15))))


def delay_spikes() -> Iterator[Pattern]:
    """All that would come within a time comes at its end."""
    for direction in ("data", "ack"):
        for from_s in (0.07, 0.13):
            for long_s in (0.05, 0.15, 0.3, 0.6, 1.2):
                held = window(direction, "hold", from_s, round(from_s + long_s, 3))
                yield Pattern("delay spike", f"{direction}-{from_s * 1e3:.0f}-{long_s * 1e3:.0f}ms", (held,))
    for from_s, long_s in ((0.07, 0.3), (0.13, 0.6)):
        gone = (window("data", "drop", from_s, round(from_s + long_s, 3)),)
        yield Pattern("delay spike", f"outage-{from_s * 1e3:.0f}-{long_s * 1e3:.0f}ms", gone)


def handshakes() -> Iterator[Pattern]:
    """Packets of the handshake are lost."""
    yield Pattern("handshake", "syn", (dropped(0),))
    yield Pattern("handshake", "syn-twice", (dropped(0), dropped(0, 2)))
    yield Pattern("handshake", "syn-ack", (lost_ack(0),))
    yield Pattern("handshake", "syn-and-data", (dropped(0), dropped(4)))


def later() -> Iterator[Pattern]:
    """Losses in congestion avoidance, or for BBR behind its start."""
    for segment in (120, 180, 240, 300, 360):
        yield Pattern("later", f"{segment}", _drops([segment]), LONG_SEGMENTS)
    for first, second in ((20, 240), (20, 120), (100, 300)):
        yield Pattern("later", f"{first}&{second}", _drops((first, second)), LONG_SEGMENTS)
    for first, count in ((150, 5), (250, 12)):
        yield Pattern("later", f"{first}x{count}", _drops(range(first, first + count)), LONG_SEGMENTS)
    yield Pattern("later", "reordering", (overtaken(200, 6),), LONG_SEGMENTS)
    yield Pattern("later", "every-50", _drops(range(50, LONG_SEGMENTS, 50)), LONG_SEGMENTS)


def marks() -> Iterator[Pattern]:
    """Congestion experienced."""
    for segment in (1, 2, 5, 10, 11, 20, 35, 60, SEGMENTS):
        yield Pattern("mark", f"{segment}", (marked(segment),))
    for first, count in ((5, 3), (15, 10), (1, SEGMENTS), (40, 40)):
        yield Pattern("mark", f"{first}x{count}", tuple(map(marked, range(first, first + count))))
    yield Pattern("mark", "and-loss", (marked(15), dropped(18)))
    yield Pattern("mark", "after-loss", (dropped(12), marked(45)))
    yield Pattern("mark", "twice", (marked(20), marked(70)))
    yield Pattern("mark", "long", (marked(150), marked(300)), LONG_SEGMENTS)


CLAUSES = (
    unimpaired,
    single,
    pairs,
    bursts,
    tails,
    lost_retransmissions,
    reordering,
    ack_losses,
    delay_spikes,
    handshakes,
    later,
)

SOME = 4
"""Of these patterns every so-many-eth is run with the other options too."""


def patterns() -> list[Pattern]:
    """All patterns, in the order in which they are run."""
    base = [pattern for clause in CLAUSES for pattern in clause()]
    found = []
    for congestion in CONGESTION:
        for options in OPTIONS:
            for number, pattern in enumerate(base):
                if options == BASE or number % SOME == 0:
                    found.append(_with(pattern, congestion, options))
        found += [_with(pattern, congestion, WITH_ECN) for pattern in (*marks(), *base[::10])]
        found += [_with(pattern, congestion, TUNED) for pattern in base[2::SOME]]
    return found


def _with(pattern: Pattern, congestion: str, options: Options) -> Pattern:
    return Pattern(pattern.clause, pattern.name, pattern.impairments, pattern.segments, congestion, options)
