"""What the kernel and the simulator did on one pattern: equal, or the first difference and where.

Two things are held apart. **Order**: the segments with data, one by one, and the acknowledgements that came, one by
one, up to the one that acknowledged all. **Times**: the instant of every segment. A timer of the kernel fires at a
tick, up to one late, long ones up to several (`grain_ns`), and what follows is as late; so a segment may be off by
that for each time before it at which the sender had been quiet for longer than a tick, and by `EXACT_NS`, what the
guest's clock and the nanoseconds of fast links add up to.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from mayfly.engines.segments.shown import CA_STATES, segment
from mayfly.engines.segments.simulated import Event, in_kernel, simulated
from mayfly.engines.segments.traces import Trace
from mayfly.errors import MayflyError

EXACT_NS = 100_000
DONE = "nothing"


@dataclass(frozen=True)
class Comparison:
    """One pattern.

    Parameters
    ----------
    trace : Trace
        Of the kernel.
    kernel, here : tuple of Event
        At the sender's host.
    first : tuple of int, or None
        Places of the first segments, of those sent, that differ, in `kernel` and `here`; of the first acknowledgements
        where all that was sent is equal.
    worst_ns : int
        Largest difference between times of the same segment, as far as they are the same.
    late : int or None
        Place in `kernel` of the first segment that is off by more than ticks explain.
    refused : str
        Why the simulator does not run the pattern, empty where it does.
    """

    trace: Trace
    kernel: tuple[Event, ...]
    here: tuple[Event, ...]
    first: tuple[int | None, int | None] | None
    worst_ns: int
    late: int | None
    refused: str = ""

    @property
    def equal(self) -> bool:
        """Whether the same segments were sent and acknowledged in the same order."""
        return self.first is None and not self.refused

    @property
    def in_time(self) -> bool:
        """Whether they are equal, and each at its time."""
        return self.equal and self.late is None

    def kind(self) -> str:
        """Where the first difference is: the kernel's state, what it sent, what was sent here."""
        if self.refused:
            return f"refused: {self.refused}"
        if self.first is None:
            return "times" if self.late is not None else "equal"
        theirs, ours = (
            _what(events, place) for events, place in ((self.kernel, self.first[0]), (self.here, self.first[1]))
        )
        place = self.first[0]
        at_ns = self.kernel[place].time_ns if place is not None else self.kernel[-1].time_ns
        before = [state for state in self.trace.states if state["time_ns"] < at_ns]
        state = CA_STATES[before[-1]["ca_state"]] if before else CA_STATES[0]
        return f"{state}: {theirs} / {ours}"


def _what(events: Sequence[Event], place: int | None) -> str:
    """A word for an event: whether data is sent first or again, or an acknowledgement."""
    if place is None:
        return DONE
    event = events[place]
    if not event.sent:
        return "ack"
    first = event.what[0]
    before = [other.what[0] for other in events[:place] if other.sent and other.what[1]]
    return "new data" if not before or first > max(before) else f"repair {before.count(first)}"


def until_done(events: Iterable[Event], size_bytes: int) -> Iterator[Event]:
    """Those up to the acknowledgement of all."""
    for event in events:
        yield event
        if not event.sent and event.what[0] >= size_bytes:
            return


def compared(trace: Trace, changes: Mapping[str, Any] | None = None) -> Comparison:
    """Leads the pattern of a trace through the simulator, and compares.

    Parameters
    ----------
    trace : Trace
        Of the kernel.
    changes : mapping, optional
        Fields of ``[tcp]`` that win over those of the preset `linux`.

    Returns
    -------
    Comparison
    """
    try:
        here = simulated(trace, changes)
    except MayflyError as error:
        return Comparison(trace, tuple(in_kernel(trace)), (), None, 0, None, str(error))
    return of_events(trace, in_kernel(trace), here)


def of_events(trace: Trace, kernel: Iterable[Event], here: Iterable[Event]) -> Comparison:
    """Compares two lists of events at the sender's host."""
    both = [tuple(until_done(events, trace.size_bytes)) for events in (kernel, here)]
    first = None
    for sent in (True, False):
        places = [[n for n, event in enumerate(events) if event.sent == sent] for events in both]
        for one, other in zip_longest(*places):
            if one is None or other is None or both[0][one].what != both[1][other].what:
                first = first or (one, other)
                break
    worst, late = _times(both[0], both[1], 1_000_000_000 // trace.hz)
    return Comparison(trace, both[0], both[1], first, worst, late)


def _times(kernel: Sequence[Event], here: Sequence[Event], tick_ns: int) -> tuple[int, int | None]:
    """Largest difference of times, and place of the first segment that ticks do not explain."""
    ours = iter([event for event in here if event.sent])
    worst, late, allowed, before_ns = 0, None, EXACT_NS, 0
    for place, event in enumerate(kernel):
        if event.sent:
            allowed += grain_ns(event.time_ns - before_ns, tick_ns)
        before_ns = event.time_ns
        if not event.sent:
            continue
        other = next(ours, None)
        if other is None or other.what != event.what:
            break
        off = abs(event.time_ns - other.time_ns)
        worst = max(worst, off)
        if off > allowed and late is None:
            late = place
    return worst, late


def grain_ns(quiet_ns: int, tick_ns: int) -> int:
    """How late the kernel's timers may make a sender that was quiet for so long: nothing below a tick.

    A timer of 64 ticks and more fires at every eighth tick only, one of 512 at every 64th (kernel/time/timer.c).

    Examples
    --------
    >>> [grain_ns(quiet * 1_000_000, 1_000_000) // 1_000_000 for quiet in (1, 40, 63, 64, 511, 512, 5000)]
    [0, 1, 1, 8, 8, 64, 512]
    """
    if quiet_ns <= tick_ns:
        return 0
    grain_ns = tick_ns
    while quiet_ns >= 64 * grain_ns:
        grain_ns *= 8
    return grain_ns


def side_by_side(found: Comparison, before: int = 12, behind: int = 24) -> Iterator[str]:
    """Both sides around the first difference, or from the beginning where there is none.

    Parameters
    ----------
    found : Comparison
        One pattern.
    before, behind : int
        Events shown on either side of it.

    Yields
    ------
    str
        Lines.
    """
    yield f"{found.trace.id}: {found.kind()}, worst time {found.worst_ns / 1e6:.3f} ms"
    yield f"  {found.trace.pattern['impairments']}"
    if found.refused:
        return
    first = found.first or (found.late, found.late)
    at_ns = [
        events[place].time_ns if place is not None else events[-1].time_ns
        for events, place in zip((found.kernel, found.here), first, strict=True)
    ]
    middle = min(at_ns)
    columns = []
    for events, place in zip((found.kernel, found.here), first, strict=True):
        near = sum(event.time_ns < middle for event in events)
        rows = []
        for number in range(max(near - before, 0), min(near + behind, len(events))):
            mark = "*" if number == place else " "
            rows.append(mark + _line(events[number], found.trace.mss))
        columns.append(rows)
    yield f"  {'kernel':<58} simulator"
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f" {left:<58} {right}"
    states = [state for state in found.trace.states if state["time_ns"] <= at_ns[0]]
    if states:
        told = {name: value for name, value in states[-1].items() if name not in ("time_ns", "packets")}
        yield f"  tcp_info before: {told}"


def _line(event: Event, mss: int) -> str:
    at = f"{event.time_ns / 1e6:10.3f}"
    if event.sent:
        first, payload, echo = event.what
        return f"{at} > {segment(first, mss) if payload else 'SYN'}{' CWR' if echo else ''}"
    acknowledged, echo, edges = event.what
    blocks = " ".join(f"{segment(edges[k], mss)}-{segment(edges[k + 1], mss)}" for k in range(0, len(edges), 2))
    return f"{at}        < {segment(acknowledged, mss)}{' ECE' if echo else ''} {blocks}".rstrip()
