"""Disciplines of the registry as leaves of the kernel, in the words of tc.

A leaf takes the options that the kernel's discipline has, in the kernel's units. Where that has one way only, another
one that the user asks for is refused by name, and a default of ours that is another one is told among the differences.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from mayfly.discipline_registry import Discipline, disciplines
from mayfly.errors import MayflyError

Words = Callable[[str], str]
"""Value of an option of the registry to words of tc."""


@dataclass(frozen=True)
class Place:
    """Where a leaf goes: its limit in ``packets`` or ``bytes``, a full packet, the link and what it adds to a frame.

    It `shapes` to the rate of the link where nothing else does; only a leaf that can.
    """

    limit: int
    unit: str
    full_packet_bytes: int
    rate_bps: int
    overhead_bytes: int = 0
    shapes: bool = False


@dataclass(frozen=True)
class Leaf:
    """A discipline of the registry in the kernel.

    Parameters
    ----------
    kind : str
        Its name for tc.
    options : mapping
        By option of the registry, its words; of options that are not given, those of Mayfly's default.
    fixed : mapping
        By option of the registry, the only value there is in the kernel.
    together : callable, optional
        From place and options: the words for the limit and for options that only go together, which `taken` names.
    taken : tuple of str
        Options that `together` reads.
    in_bytes : str
        Name of the qdisc for limits in bytes; empty when there is none.
    differs : str
        What the kernel's discipline does differently; empty when nothing but the fixed options is known.
    module : str
        Name of our kernel module; empty for what Linux has.
    shapes : bool
        Whether it can do without htb above it: it has a shaper of its own.
    """

    kind: str
    options: Mapping[str, Words] = field(default_factory=dict)
    fixed: Mapping[str, str | float] = field(default_factory=dict)
    together: Callable[[Place, Mapping[str, str]], str] | None = None
    taken: tuple[str, ...] = ()
    in_bytes: str = ""
    differs: str = ""
    module: str = ""
    shapes: bool = False


def _time(name: str) -> Words:
    """Seconds as microseconds."""
    return lambda value: f"{name} {round(float(value) * 1e6)}us"


def _whole(name: str) -> Words:
    return lambda value: f"{name} {int(float(value))}"


def _bytes(name: str) -> Words:
    return lambda value: f"{name} {round(float(value))}b"


def _switch(on: str, off: str) -> Words:
    return lambda value: on if value == "on" else off


def _word(name: str) -> Words:
    return lambda value: f"{name} {value}"


def _seconds(name: str) -> Words:
    """Whole seconds."""

    def words(value: str) -> str:
        if float(value) != int(float(value)):
            raise MayflyError(f"{name} = {value}: the kernel takes whole seconds")
        return f"{name} {int(float(value))}"

    return words


def _sixteenths(name: str) -> Words:
    """A gain of PIE, 1/s."""

    def words(value: str) -> str:
        count = float(value) * 16
        if count != int(count) or not 0 <= count <= 32:
            raise MayflyError(f"{name} = {value}: the kernel takes sixteenths up to 2")
        return f"{name} {int(count)}"

    return words


def burst_of(weight: float, threshold_packets: float) -> int:
    """Burst for tc that gives RED's average the weight nearest to one.

    Parameters
    ----------
    weight : float
        Of the present queue in the average, 0 to 1.
    threshold_packets : float
        Lower threshold, average packets.

    Returns
    -------
    int
        Packets.

    Raises
    ------
    MayflyError
        No burst gives it.

    Notes
    -----
    iproute2, ``tc_red_eval_ewma``: the weight is the first W = 2^-n, n from 1 on, for which
    burst + 1 - threshold <= (1 - (1 - W)^burst) / W.

    Examples
    --------
    >>> burst_of(0.002, 75.0)
    224
    """
    wanted = round(-math.log2(weight))
    for burst in range(math.ceil(threshold_packets), 1_000_000):
        found = _weight_log(burst, threshold_packets)
        if found == wanted:
            return burst
        if found > wanted:
            break
    raise MayflyError(f"weight = {weight}: tc has no burst for 2^-{wanted} with min_th = {threshold_packets:g} packets")


def _weight_log(burst: int, threshold_packets: float) -> int:
    for log in range(1, 32):
        weight = 2.0**-log
        if burst + 1 - threshold_packets <= (1 - (1 - weight) ** burst) / weight:
            return log
    return 32


def _thresholds(place: Place, options: Mapping[str, str], mean_bytes: float) -> tuple[float, float]:
    """Thresholds in packets of the mean length, with the defaults of docs/disciplines/red.md."""
    length = mean_bytes if options["mode"] == "bytes" else 1.0
    low, high = (float(options[name]) / length for name in ("min_th", "max_th"))
    count = place.limit if place.unit == "packets" else place.limit / mean_bytes
    low = low or (high / 3 if high else count / 4)
    return low, high or 3 * low


def _red(place: Place, options: Mapping[str, str]) -> str:
    """The kernel counts bytes: thresholds in packets are full packets."""
    mean = float(options["mean_packet"]) if options["mode"] == "bytes" else place.full_packet_bytes
    low, high = _thresholds(place, options, mean)
    limit = place.limit * (1 if place.unit == "bytes" else place.full_packet_bytes)
    burst, rate = burst_of(float(options["weight"]), low), f"bandwidth {place.rate_bps}bit"
    return f"limit {limit} min {round(low * mean)} max {round(high * mean)} avpkt {round(mean)} burst {burst} {rate}"


def _choke(place: Place, options: Mapping[str, str]) -> str:
    low, high = _thresholds(place, options, place.full_packet_bytes)
    burst, rate = burst_of(float(options["weight"]), low), f"bandwidth {place.rate_bps}bit"
    average = f"avpkt {place.full_packet_bytes} burst {burst} {rate}"
    return f"limit {place.limit} min {round(low)} max {round(high)} {average}"


def _sfq(place: Place, options: Mapping[str, str]) -> str:
    divisor = int(float(options["divisor"]))
    if divisor & (divisor - 1):
        raise MayflyError(f"divisor = {divisor}: the kernel takes powers of two")
    return f"limit {place.limit} divisor {divisor} flows {divisor}"


CAKE_AS_LEAF = "unlimited besteffort raw no-split-gso"
"""cake where something else shapes."""


def _cake(place: Place, options: Mapping[str, str]) -> str:
    if not math.isclose(float(options["target"]) * 20, float(options["interval"])):
        raise MayflyError(f"target = {options['target']}: the kernel's cake takes a twentieth of interval")
    memory = place.limit * (1 if place.unit == "bytes" else PACKET_MEMORY_BYTES)
    begin = f"{_bandwidth(place)} besteffort no-split-gso" if place.shapes else CAKE_AS_LEAF
    return f"{begin} memlimit {memory} rtt {round(float(options['interval']) * 1e6)}us"


def _bandwidth(place: Place) -> str:
    """A shaper that counts lengths as the link does; overhead is what is beyond a packet of IP."""
    return f"bandwidth {place.rate_bps}bit overhead {ETHERNET_BYTES + place.overhead_bytes} mpu 0 noatm"


ETHERNET_BYTES = 14

PACKET_MEMORY_BYTES = 2304
"""Memory of a packet of 1500 bytes in Linux 6.1 (``skb->truesize``), which cake's limit counts."""


def _ours(place: Place, options: Mapping[str, str]) -> str:
    """A limit as our plug-ins take it."""
    return f"limit {place.limit}{'p' if place.unit == 'packets' else 'b'}"


def _lfq(place: Place, options: Mapping[str, str]) -> str:
    return f"{_bandwidth(place)} {_ours(place, options)}" if place.shapes else _ours(place, options)


def _efd(count: str) -> Leaf:
    """EFD, its volumes counted in bytes, packets or bytes acknowledged too."""
    unit = "p" if count == "packets" else "b"
    return Leaf(
        "efd",
        {
            "threshold": lambda value: f"threshold {round(float(value))}{unit} count {count}",
            "high": _word("high"),
            "low": _word("low"),
        },
        together=_ours,
        in_bytes="efd",
        module="sch_efd",
    )


_SIDES = {"sent": "bytes", "acknowledged": "acked"}
_IDLE = {"visit": _time("visit"), "timeout": _time("timeout")}


def _by_flow(kind: str, options: Mapping[str, Words], count: str = "") -> Leaf:
    """One of ours that keeps flows it has seen in a table; `count` is what their volume is, where no option says it."""

    def together(place: Place, values: Mapping[str, str]) -> str:
        counted = count or _SIDES[values["count"]]
        return f"{_ours(place, values)} count {counted}"

    return Leaf(
        kind,
        dict(options) | _IDLE,
        together=together,
        taken=() if count else ("count",),
        in_bytes=kind,
        differs="knows 16384 flows at most",
        module=f"sch_{kind}",
    )


def _plain(name: str, write: Callable[[float], str] = "{:g}".format) -> Words:
    """A number."""
    return lambda value: f"{name} {write(float(value))}"


def _ticks(value: str) -> str:
    if not float(value):
        raise MayflyError("ticks = 0: the kernel has no floating point")
    return f"ticks {float(value):.0f}"


def _estmred(place: Place, options: Mapping[str, str]) -> str:
    mean = float(options["mean_packet"])
    low, high = _thresholds(place, options, mean)
    unit, length = ("b", mean) if options["mode"] == "bytes" else ("p", 1)
    return f"{_ours(place, options)} min {round(low * length)}{unit} max {round(high * length)}{unit} avpkt {mean:.0f}b"


_MICROSECONDS, _WHOLE = "{:.6f}s".format, "{:.0f}".format
_ESTMRED = {
    "max_p": _plain("probability", "{:.9f}".format),
    "weight": _plain("weight", "{:.9f}".format),
    # Absent: measured.
    "rate": lambda value: f"bandwidth {float(value):.0f}bit" if float(value) else "",
    "ticks": _ticks,
    **{name: _word(name) for name in ("gentle", "spacing", "ecn", "estimate", "method")},
    **{name: _plain(name, _MICROSECONDS) for name in ("rtt", "queued_rtt", "sampling", "start")},
    **{name: _plain(name, _WHOLE) for name in ("per_estimate", "zero_intervals")},
    **{name: _plain(name) for name in ("mark_max", "queue_filter", "drop_filter", "smoothing", "gamma_1", "gamma_2")},
    **{name: _plain(name) for name in ("start_share", "per_ack", "above", "below")},
}

_RED_TAKEN = ("min_th", "max_th", "mode", "weight", "mean_packet")
_RED_OPTIONS = {"max_p": lambda value: f"probability {float(value):g}", "ecn": _switch("ecn", "")}
_RED_FIXED: dict[str, str | float] = {"gentle": "off", "spacing": "uniform", "mark_max": 1.0, "transmission": 0.0}
_CODEL = {"target": _time("target"), "interval": _time("interval"), "ecn": _switch("ecn", "noecn")}
_PIE = {
    "target": _time("target"),
    "update": _time("tupdate"),
    "alpha": _sixteenths("alpha"),
    "beta": _sixteenths("beta"),
    "ecn": _switch("ecn", "noecn"),
}
_PIE_FIXED: dict[str, str | float] = {"burst": 0.15, "mean_packet": 1500.0, "derandomize": "on", "high_delay": 0.25}

_ISOLATION = {"triple": "triple-isolate", "src": "dual-srchost", "dst": "dual-dsthost", "flow": "flows"}

LEAVES: dict[str, Leaf] = {
    "fifo": Leaf("pfifo", in_bytes="bfifo"),
    "red": Leaf(
        "red",
        _RED_OPTIONS,
        _RED_FIXED,
        _red,
        _RED_TAKEN,
        in_bytes="red",
        differs="average, thresholds and limit are in bytes, the weight is a power of two",
    ),
    "choke": Leaf(
        "choke",
        _RED_OPTIONS,
        _RED_FIXED | {"mode": "packets"},
        _choke,
        tuple(name for name in _RED_TAKEN if name != "mode"),
        differs="the weight is a power of two",
    ),
    "sfq": Leaf(
        "sfq",
        {"quantum": _whole("quantum"), "depth": _whole("depth"), "perturb": _seconds("perturb")},
        {},
        _sfq,
        ("divisor",),
        differs="of equally long queues another one loses",
    ),
    "fq": Leaf(
        "fq",
        {
            "quantum": _whole("quantum"),
            "initial_quantum": _whole("initial_quantum"),
            "flow_limit": _whole("flow_limit"),
            "refill": _time("refill_delay"),
        },
        {"timeout": 3.0},
        differs="flows of forwarded packets are hashed onto 1024",
    ),
    "codel": Leaf("codel", _CODEL, {"mtu": 1514}),
    "fq_codel": Leaf(
        "fq_codel",
        _CODEL | {"flows": _whole("flows"), "quantum": _whole("quantum"), "drop_batch": _whole("drop_batch")},
        {"mtu": 1514, "rules": "linux"},
    ),
    "pie": Leaf("pie", _PIE, _PIE_FIXED | {"ecn_max": 0.1}),
    "fq_pie": Leaf(
        "fq_pie",
        _PIE
        | {
            "flows": _whole("flows"),
            "quantum": _whole("quantum"),
            "ecn_max": lambda value: f"ecn_prob {round(float(value) * 100)}",
        },
        _PIE_FIXED,
    ),
    "cake": Leaf(
        "cake",
        {"isolation": _ISOLATION.__getitem__},
        {"quantum": 1514},
        _cake,
        ("target", "interval"),
        in_bytes="cake",
        differs="its limit counts the memory of packets",
        shapes=True,
    ),
    "estmred": Leaf(
        "estmred",
        _ESTMRED,
        {"arithmetic": "integers", "transmission": 0.0, "drop_scale": 1.0},
        _estmred,
        ("min_th", "max_th", "mode", "mean_packet"),
        in_bytes="estmred",
        module="sch_estmred",
    ),
    "lfq": Leaf(
        "lfq",
        {
            **{name: _word(name) for name in ("user", "weights")},
            **{name: _whole(name) for name in ("prefix", "flows", "users")},
            **{name: _bytes(name) for name in ("user_lag", "flow_lag", "debt", "mtu")},
            **{name: _time(name) for name in ("probation", "lag_time", "patience", "target", "interval", "step")},
            "pace": _plain("pace"),
            "ecn": _switch("ecn", "noecn"),
        },
        {"medium": "wire", "quantum": 30_000},
        _lfq,
        in_bytes="lfq",
        module="sch_lfq",
        shapes=True,
    ),
    "efd": _efd("bytes"),
    "pefd": _efd("packets"),
    "efdack": _efd("acked"),
    "las": _by_flow("las", {}, "bytes"),
    "lasack": _by_flow("las", {}, "acked"),
    "lars": _by_flow("las", {"half_life": _time("half_life")}),
    "run2c": _by_flow("run2c", {"threshold": _bytes("threshold")}, "bytes"),
    "run2cack": _by_flow("run2c", {"threshold": _bytes("threshold")}, "acked"),
}
"""Disciplines that the kernel has by another name, with other options or in several kinds, by id; `leaves` has all."""


@cache
def leaves() -> Mapping[str, Leaf]:
    """Disciplines that the kernel has, by id: `LEAVES`, and those that say they run as a module of ours.

    Such a module (``kernel/sch_<id>.c``) takes a limit and the options of the registry by their names, but for those
    that its row in `LEAVES` spells otherwise.

    Returns
    -------
    mapping of Leaf
        The same one each time.
    """
    found = dict(LEAVES)
    for row in disciplines():
        id, params = row["id"], row["params"]
        if id not in LEAVES:
            if "module" in row["runs_on"]["places"]:
                found[id] = Leaf(id, _by_name(params), together=_ours, in_bytes=id, module=f"sch_{id}")
        elif (leaf := LEAVES[id]).module:
            spelled = {*leaf.options, *leaf.fixed, *leaf.taken}
            rest = [param for param in params if param["name"] not in spelled]
            found[id] = replace(leaf, options={**leaf.options, **_by_name(rest)})
    return found


def _by_name(params: Iterable[Mapping[str, Any]]) -> dict[str, Words]:
    return {param["name"]: _as_is(param["name"], param["unit"], "choices" in param) for param in params}


def _as_is(name: str, unit: str, is_word: bool) -> Words:
    if is_word:
        return _word(name)
    return {"s": _time, "bytes": _bytes}.get(unit, _plain)(name)


def leaf_words(discipline: Discipline, place: Place) -> str:
    """A discipline as ``tc qdisc add ...`` takes it.

    Parameters
    ----------
    discipline : Discipline
        With options of the registry.
    place : Place
        Its limit and its link.

    Returns
    -------
    str
        Name of the qdisc and its options.

    Raises
    ------
    MayflyError
        The kernel has no such discipline, option or unit of the limit.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> leaf_words(parse("fifo"), Place(300, "packets", 1500, 10**7))
    'pfifo limit 300'
    """
    leaf = leaf_of(discipline)
    if place.unit == "bytes" and not leaf.in_bytes:
        raise MayflyError(f"buffer = {place.limit} bytes: the kernel's {leaf.kind} counts packets")
    given, defaults = discipline.options, _defaults(discipline.id)
    values = defaults | given
    for name, only in leaf.fixed.items():
        if name in given and not _same(given[name], only):
            raise MayflyError(f"{discipline.label}: {name} = {given[name]}: the kernel's {leaf.kind} has {only} only")
    try:
        words = [words(values[name]) for name, words in leaf.options.items()]
        together = leaf.together(place, values) if leaf.together else f"limit {place.limit}"
    except MayflyError as error:
        raise MayflyError(f"{discipline.label}: {error}") from None
    return " ".join(filter(None, (leaf.kind if place.unit == "packets" else leaf.in_bytes, together, *words)))


def leaf_of(discipline: Discipline) -> Leaf:
    """The leaf of a discipline.

    Raises
    ------
    MayflyError
        The kernel has none; options that it does not know of.
    """
    known = leaves()
    if discipline.id not in known:
        raise MayflyError(f"{discipline.id}: not in the kernel: must be one of {', '.join(known)} with --engine linux")
    leaf = known[discipline.id]
    for name in discipline.options:
        if name not in (*leaf.options, *leaf.fixed, *leaf.taken):
            raise MayflyError(f"{discipline.label}: {name}: the kernel's {leaf.kind} has no such option")
    return leaf


def differences(discipline: Discipline) -> str:
    """What the kernel's discipline does differently, in words; empty when nothing is known.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> differences(parse("choke"))
    'gentle = off; the weight is a power of two'
    """
    leaf, values = leaf_of(discipline), _defaults(discipline.id)
    other = [f"{name} = {only}" for name, only in leaf.fixed.items() if not _same(values.get(name, ""), only)]
    return "; ".join(filter(None, (*other, leaf.differs)))


def _defaults(id: str) -> dict[str, str]:
    row = next(row for row in disciplines() if row["id"] == id)
    return {param["name"]: str(param["default"]) for param in row["params"]}


def _same(value: str, only: str | float) -> bool:
    try:
        return float(value) == float(only)
    except (TypeError, ValueError):
        return value == only
