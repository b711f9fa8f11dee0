"""How a discipline is switched on at an interface of Linux: the commands of tc, alone or below a shaper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mayfly.discipline_registry import Discipline, disciplines
from mayfly.discipline_registry.shapers import LinkLayer, Shape, shaped_words, shapes_itself
from mayfly.discipline_registry.tc_options import Place, leaf_words, leaves
from mayfly.errors import MayflyError
from mayfly.headers import FULL_PACKET_BYTES

ROOT = "6d66:"
"""Handle of what `mayfly qdisc load` puts at a root ("mf"), by which `unload` knows it."""

LEAF = "6d67:"

BELOW_THE_LINK = 0.95
"""Share of the link's rate to shape to: the queue is to be where the discipline is, not in the modem behind it."""

OF_EACH_SIDE = {"cake": "isolation", "lfq": "user"}
"""Option that says what a user is. In both directions it is named, as it was simulated."""


@dataclass(frozen=True)
class Way:
    """One direction, as it is to be shaped.

    Parameters
    ----------
    rate_bps : int
        Bit/s of the shaper.
    limit : int
        Of the queue, in ``unit``.
    unit : str
        ``packets`` or ``bytes``.
    """

    rate_bps: int
    limit: int
    unit: str


@dataclass(frozen=True)
class SwitchOn:
    """Commands that put a discipline at an interface ``eth0``, whatever queue discipline is there before.

    Parameters
    ----------
    line : str
        One line without a shaper, where the interface itself is the bottleneck of what it sends.
    up : tuple of str
        Lines for what the interface sends, with a shaper.
    down : tuple of str
        Lines for what arrives, which is redirected to a device of its own and shaped there.
    """

    line: str
    up: tuple[str, ...]
    down: tuple[str, ...]


def at_interface(
    tc: str, device: str, words: list[str], rate_bps: int | None, size_table: Sequence[str] = ()
) -> list[list[str]]:
    """Commands that put a qdisc at the root of an interface, below htb when there is a rate.

    Where the same kind is there already with the same handle, tc changes it, and what is not named stays.

    Parameters
    ----------
    tc : str
        The program.
    device : str
        Name of the interface.
    words : list of str
        The qdisc with its options.
    rate_bps : int, optional
        What to shape to, bit/s.
    size_table : sequence of str
        Of htb: what the link adds to packets.

    Returns
    -------
    list of list of str

    Examples
    --------
    >>> at_interface("tc", "eth0", ["fq_codel"], None)
    [['tc', 'qdisc', 'replace', 'dev', 'eth0', 'root', 'handle', '6d66:', 'fq_codel']]
    """
    add = [tc, "qdisc", "replace", "dev", device]
    if rate_bps is None:
        return [[*add, "root", "handle", ROOT, *words]]
    shape = ["htb", "rate", f"{rate_bps}bit", "ceil", f"{rate_bps}bit", "quantum", str(FULL_PACKET_BYTES)]
    return [
        [*add, "root", "handle", ROOT, *size_table, "htb", "default", "1"],
        [tc, "class", "add", "dev", device, "parent", ROOT, "classid", f"{ROOT}1", *shape],
        [*add, "parent", f"{ROOT}1", "handle", LEAF, *words],
    ]


def switch_on(
    discipline: Discipline, ways: Mapping[str, Way], layer: LinkLayer | None = None, nat: bool = True
) -> SwitchOn | None:
    """How to put a discipline in front of a link.

    Parameters
    ----------
    discipline : Discipline
        With options of the registry.
    ways : mapping
        ``down``, what arrives from the link, and ``up``, what is sent to it.
    layer : LinkLayer, optional
        What the link adds to packets; lengths are those of Linux when not given.
    nat : bool
        Of what shares among hosts: look behind translated addresses.

    Returns
    -------
    SwitchOn or None
        None where no kernel has it, where it has not these options, or where one line does not do (``drr``, which
        wants classes and a filter: tc-drr(8)).

    Notes
    -----
    A ``tc qdisc replace`` of the kind that is there already changes the options that it names and leaves the others as
    they were. So what is there is deleted first, and every option is named; of dualpi2, which Mayfly has no leaf for,
    those that are not named are the kernel's defaults.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> ways = {"down": Way(19_000_000, 300, "packets"), "up": Way(4_750_000, 300, "packets")}
    >>> switch_on(parse("pie"), ways).line  # doctest: +ELLIPSIS
    'tc qdisc del dev eth0 root 2>/dev/null; tc qdisc add dev eth0 root pie limit 300 target 15000us ...'
    >>> [line for line in switch_on(parse("cake"), ways).up if " add " in line]  # doctest: +ELLIPSIS
    ['tc qdisc add dev eth0 root handle 6d66: cake bandwidth 4750000bit besteffort raw nat egress memlimit ...']
    """
    ways = {side: _counted(discipline, way) for side, way in ways.items()}
    alone = _words(discipline, ways["up"])
    if alone is None:
        return None
    layer = layer or LinkLayer()
    sides = (("up", "eth0"), ("down", "ifb0"))
    up, down = (_shaped(discipline, ways[side], side, device, layer, nat) for side, device in sides)
    if up is None or down is None:
        return None
    kind = next(row for row in disciplines() if row["id"] == discipline.id)["runs_on"]
    first = [f"modprobe sch_{kind['qdisc']}"] if "module" in kind["places"] else []
    line = "; ".join([*first, f"{_DELETE.format('eth0')} 2>/dev/null", f"tc qdisc add dev eth0 root {alone}"])
    return SwitchOn(line, (*first, *up), (*first, *_BESIDE, *down, *_REDIRECT))


_DELETE = "tc qdisc del dev {} root"

_BESIDE = ("ip link add ifb0 type ifb 2>/dev/null", "ip link set ifb0 up")

_REDIRECT = (
    "tc qdisc del dev eth0 ingress 2>/dev/null",
    "tc qdisc add dev eth0 handle ffff: ingress",
    "tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0",
)
"""Last: what arrives goes to a queue that is whole."""


def _shaped(discipline: Discipline, way: Way, side: str, device: str, layer: LinkLayer, nat: bool) -> list[str] | None:
    """Lines that put it at a device with a shaper, whatever is there."""
    if shapes_itself(discipline):
        sided = OF_EACH_SIDE[discipline.id]
        discipline = replace(discipline, options={sided: _default(discipline.id, sided)} | discipline.options)
        place = Place(way.limit, way.unit, FULL_PACKET_BYTES, way.rate_bps)
        words, below = shaped_words(discipline, place, Shape(way.rate_bps, side, nat, layer)), None
    else:
        found = _words(discipline, way)
        if found is None:
            return None
        words, below = found, way.rate_bps
    steps = [
        " ".join(step).replace("qdisc replace", "qdisc add")
        for step in at_interface("tc", device, words.split(), below, layer.size_table() if below else ())
    ]
    return [f"{_DELETE.format(device)} 2>/dev/null", *steps]


def counts_bytes(id: str) -> bool:
    """Whether the kernel's discipline takes a limit in bytes."""
    return id in leaves() and bool(leaves()[id].in_bytes)


def counted(id: str, limit: int, unit: str) -> tuple[int, str]:
    """A limit in what the kernel's discipline counts: a packet for each 1514 bytes where it counts packets.

    Parameters
    ----------
    id : str
        Of the registry.
    limit : int
        In ``packets`` or ``bytes``.
    unit : str
        Which of the two.

    Returns
    -------
    tuple of int and str

    Examples
    --------
    >>> counted("fq_codel", 29_688, "bytes"), counted("fifo", 29_688, "bytes")
    ((20, 'packets'), (29688, 'bytes'))
    """
    if unit == "packets" or counts_bytes(id):
        return limit, unit
    return max(1, round(limit / FULL_PACKET_BYTES)), "packets"


def _counted(discipline: Discipline, way: Way) -> Way:
    limit, unit = counted(discipline.id, way.limit, way.unit)
    return replace(way, limit=limit, unit=unit)


def _words(discipline: Discipline, way: Way) -> str | None:
    """The discipline without a shaper, every option named."""
    if discipline.id not in leaves():
        kind = next(row for row in disciplines() if row["id"] == discipline.id)["runs_on"]["qdisc"]
        return f"{kind} limit {way.limit}" if discipline.id == "dualpi2" and not discipline.options else None
    try:
        return leaf_words(discipline, Place(way.limit, way.unit, FULL_PACKET_BYTES, way.rate_bps))
    except MayflyError:
        return None


def _default(id: str, name: str) -> str:
    row = next(row for row in disciplines() if row["id"] == id)
    return str(next(param["default"] for param in row["params"] if param["name"] == name))
