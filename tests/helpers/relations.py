"""What must not change when a run is asked for in another way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from drawn_links import DURATION_S, FIGURES, Drawn, Figures, Row, by_flow, parameters, ran, scenario, table

import mayfly

Found = tuple[Figures, Figures]

NANOSECOND = 1e-9
"""Moments of a later run are floats of seconds that have fewer digits left below the point."""


@dataclass(frozen=True)
class Relation:
    """Two runs that must give the same.

    Parameters
    ----------
    id : str
        Short name.
    says : str
        What is changed.
    runs : callable
        Figures that are expected and found, by flow, from a drawn link and the figures of its own run.
    holds_of : callable
        Whether it says something of a drawn link.
    figures : sequence of str
        Those that are compared.
    tolerance_s : float
        By which times may differ: what moments lose to rounding when they are moved.
    """

    id: str
    says: str
    runs: Callable[[Drawn, Figures], Found]
    holds_of: Callable[[Drawn], bool] = lambda _: True
    figures: Sequence[str] = FIGURES
    tolerance_s: float = 0.0

    def differences(self, one: Drawn, base: Figures) -> list[str]:
        """Each figure that differs, in words."""
        return list(differing(*self.runs(one, base), self.figures, self.tolerance_s))


def differing(expected: Figures, found: Figures, figures: Iterable[str], tolerance_s: float) -> Iterator[str]:
    for flow, row in expected.items():
        other = found.get(flow)
        if other is None:
            yield f"flow {flow}: is missing"
            continue
        for name in figures:
            if not _alike(row[name], other[name], tolerance_s if isinstance(row[name], float) else 0.0):
                yield f"flow {flow}: {name} {row[name]} -> {other[name]}"


def _alike(one: float | None, other: float | None, tolerance: float) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) <= tolerance)


def _twice(one: Drawn, base: Figures) -> Found:
    return base, ran(one)


def _with_drops(one: Drawn, base: Figures) -> Found:
    return base, ran(one, trace_drops=True)


def _other_numbers(one: Drawn, base: Figures) -> Found:
    changed, before = renumbered(one)
    return base, {before[number]: row for number, row in ran(changed).items()}


def renumbered(one: Drawn) -> tuple[Drawn, dict[int, int]]:
    """Flows have other numbers; which ones they had before."""
    numbers = Random(one.number).sample(range(10**6), len(one.rows))
    return one.with_([row | {"flow_id": numbers[at]} for at, row in enumerate(one.rows)]), {
        number: at for at, number in enumerate(numbers)
    }


def _other_order(one: Drawn, base: Figures) -> Found:
    return base, ran(shuffled(one))


def shuffled(one: Drawn) -> Drawn:
    """Rows of the flow list stand in another order."""
    return one.with_(Random(one.number).sample(one.rows, len(one.rows)))


def _other_names(one: Drawn, base: Figures) -> Found:
    return base, ran(renamed(one, in_order=one.kind == "cell"))


def renamed(one: Drawn, in_order: bool) -> Drawn:
    """Hosts have other names, whose order is that of the old ones or another."""
    hosts = sorted({row[end] for row in one.rows for end in ("src", "dst")}, key=int)
    words = Random(one.number).sample(WORDS, len(hosts))
    names = dict(zip(hosts, sorted(words) if in_order else words, strict=True))
    return one.with_([row | {end: names[row[end]] for end in ("src", "dst")} for row in one.rows])


WORDS = ("ash", "birch", "cedar", "elm", "fir", "hazel", "lime", "maple", "oak", "pine", "rowan", "yew")


def _longer(one: Drawn, base: Figures) -> Found:
    ended = {flow: row for flow, row in base.items() if row["response_time_s"] is not None}
    return _known(one, ended), _known(one, ran(one.with_(duration=f"{2 * DURATION_S}s")))


def _known(one: Drawn, figures: Figures) -> Figures:
    """Without those of QUIC that go on when the receiver has all (`exceptions`)."""
    if not one.is_quic:
        return figures
    return {flow: {name: row[name] if name in RECEIVED else None for name in row} for flow, row in figures.items()}


RECEIVED = ("response_time_s", "last_data_s", "delivered_bytes")
"""What stands when the receiver has all."""


def _idle_flow(one: Drawn, base: Figures) -> Found:
    late_s = DURATION_S - 0.1
    # From a host that no other flow has, but in a cell and in a parking lot, whose hosts are given.
    hosts = {"src": "99", "dst": "98", "direction": "down"}
    if not one.is_dumbbell:
        hosts = {name: one.rows[0][name] for name in hosts}
    late: Row = {"flow_id": 10**6, "start_s": late_s, "protocol": "tcp", "size_bytes": 100, **hosts}
    starts = {row["flow_id"]: row["start_s"] for row in one.rows}
    ended = {
        flow: row
        for flow, row in base.items()
        if row["response_time_s"] is not None and starts[flow] + row["response_time_s"] < late_s - 1.0
    }
    return _known(one, ended), _known(one, ran(one.with_([*one.rows, late])))


def _compared(one: Drawn, base: Figures) -> Found:
    other = "las" if one.discipline == "fifo" else "fifo"
    found = mayfly.compare(scenario(one), [one.discipline, other], table(one.rows))
    return base, by_flow(found.records.filter(discipline=one.discipline))


SHIFT_S = 3840.0
"""A multiple of every period that begins with the run (`exceptions.PERIODS`)."""

CODEL_OF_LINUX = ("fq_codel", "dqfq")
FROM_S, CODEL_SHIFT_S = 64.0, 1024.0
"""Where CoDel counts in 32 bits as Linux does: both runs lie between 1.6 s and 2199 s (`exceptions`)."""


def moved(one: Drawn, by_s: float) -> Drawn:
    """All begins so much later, and the run ends so much later."""
    rows = [row | {"start_s": round(row["start_s"] + by_s, 6)} for row in one.rows]
    return one.with_(rows, duration=f"{DURATION_S + by_s}s")


def ran_later(one: Drawn, by_s: float) -> Figures:
    """Figures of the run that begins so much later, with moments that count from there."""
    found = ran(moved(one, by_s))
    return {flow: row | {"last_data_s": _sum(row["last_data_s"], -by_s)} for flow, row in found.items()}


def _sum(moment_s: float | None, by_s: float) -> float | None:
    return None if moment_s is None else moment_s + by_s


def _later(one: Drawn, base: Figures) -> Found:
    if one.discipline in CODEL_OF_LINUX:
        return ran_later(one, FROM_S), ran_later(one, FROM_S + CODEL_SHIFT_S)
    return base, ran_later(one, SHIFT_S)


def _turned_round(one: Drawn, _: Figures) -> Found:
    same = {
        "network.symmetric": True,
        "network.exit_rate": one.overrides["network.access_rate"],
        "network.exit_delay": one.overrides["network.access_delay"],
        "network.reverse_discipline": "same",
    }
    if one.kind == "shaper":
        same["network.shaper.reverse_rate"] = one.overrides["network.shaper.rate"]
    other = {"down": "up", "up": "down"}
    link = one.with_(**same)
    turned = link.with_([row | {"direction": other[row["direction"]]} for row in one.rows])
    return ran(link), ran(turned)


SLOWER = 2
TIMES_OF_TCP = ("initial_rto", "min_rto", "max_rto", "tick", "delayed_ack")
SCALABLE_PRESETS = ("qualnet-4.5-like", "ns-3.37", "ns2")
"""Those whose times are all fields.

Linux and QUIC have others, of HyStart, pacing and recovery; so do CUBIC and BBR.
"""
NOT_SCALABLE = (*CODEL_OF_LINUX, "lfq")
"""They count time in units of 2^10 and 2^16 ns, which no option moves."""


def _slower(one: Drawn, _: Figures) -> Found:
    """All rates halved, all times doubled, those of discipline and transport too."""
    one = one.with_(tcp__preset=SCALABLE_PRESETS[one.number % len(SCALABLE_PRESETS)], tcp__congestion="aimd")
    times = [name for name in FIGURES if name.endswith("_s")]
    found = {
        flow: row | {name: None if row[name] is None else row[name] / SLOWER for name in times}
        for flow, row in ran(slowed(one)).items()
    }
    return ran(one), found


def slowed(one: Drawn) -> Drawn:
    given = scenario(one)
    overrides = {"duration": f"{SLOWER * DURATION_S}s"}
    overrides |= {f"tcp.{name}": f"{SLOWER * getattr(given.tcp, name)}s" for name in TIMES_OF_TCP}
    for name, value in one.overrides.items():
        if name.endswith("rate"):
            overrides[name] = f"{int(value.removesuffix('bit')) // SLOWER}bit"
        elif name.endswith("delay"):
            overrides[name] = f"{int(value.removesuffix('ms')) * SLOWER}ms"
    rows = [
        row
        | {"start_s": row["start_s"] * SLOWER}
        | ({"rate_bps": row["rate_bps"] / SLOWER} if "rate_bps" in row else {})
        for row in one.rows
    ]
    return replace(one.with_(rows, **overrides), discipline=slowed_discipline(one.discipline))


def slowed_discipline(discipline: str) -> str:
    """With its times doubled, and its gains per second halved."""
    factors = {"s": Fraction(SLOWER), "1/s": Fraction(1, SLOWER), "per second": Fraction(1, SLOWER)}
    options = [
        f"{name}={type(one['default'])(one['default'] * factors[one['unit']])}"
        for name, one in parameters(discipline).items()
        if one["unit"] in factors
    ]
    return f"{discipline}({','.join(options)})" if options else discipline


RELATIONS = (
    Relation("twice", "the same again", _twice),
    Relation("drops", "a record of each drop is made", _with_drops),
    Relation("numbers", "flows have other numbers", _other_numbers),
    Relation("order", "rows of the flow list stand in another order", _other_order),
    Relation("names", "hosts have other names", _other_names, lambda one: one.kind != "parking lot"),
    Relation("longer", "the run is twice as long: flows that ended", _longer),
    Relation("idle", "a flow comes when all else is over", _idle_flow),
    Relation("compared", "compare runs it, next to another discipline", _compared),
    Relation("later", "all begins later", _later, lambda one: not one.has_bbr, tolerance_s=NANOSECOND),
    Relation("turned", "both directions change places", _turned_round, lambda one: one.is_symmetric, FIGURES[:-2]),
    Relation(
        "slower",
        "rates are halved and times doubled",
        _slower,
        lambda one: one.is_dumbbell and one.discipline not in NOT_SCALABLE,
    ),
)
"""Of a link that is turned round the queue of the way down, which the last two figures are of, is another one."""
