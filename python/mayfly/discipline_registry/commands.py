"""How a discipline is switched on at an interface of Linux: the commands of tc, alone or below a shaper."""

from collections.abc import Sequence
from dataclasses import dataclass

from mayfly.discipline_registry import Discipline, disciplines
from mayfly.discipline_registry.leaves import Place, leaf_words, leaves
from mayfly.errors import MayflyError

ROOT = "6d66:"
"""Handle of what `mayfly qdisc load` puts at a root ("mf"), by which `unload` knows it."""

LEAF = "6d67:"
FULL_PACKET_BYTES = 1514

BELOW_THE_LINK = 0.95
"""Share of the link's rate to shape to: the queue is to be where the discipline is, not in the modem behind it."""

_SHORT = ("fifo", "codel", "fq_codel", "pie", "fq_pie", "fq")
"""Disciplines of Linux whose own defaults are those simulated, but for the limit and for ECN."""


@dataclass(frozen=True)
class SwitchOn:
    """Commands that put a discipline at an interface ``eth0``.

    Parameters
    ----------
    line : str
        One line: where the interface itself is the link (cake and modules: with their shaper).
    load : str
        One line of Mayfly that puts it below a shaper.
    shaped : tuple of str
        Lines of tc that do the same, for a router that is faster than the link behind it.
    arriving : tuple of str
        Lines for what comes in, which is redirected to a device of its own and shaped there.
    """

    line: str
    load: str
    shaped: tuple[str, ...]
    arriving: tuple[str, ...]


def at_interface(
    tc: str, device: str, words: list[str], rate_bps: int | None, size_table: Sequence[str] = ()
) -> list[list[str]]:
    """Commands that put a qdisc at the root of an interface, below htb when there is a rate.

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


def switch_on(discipline: Discipline, limit: int, unit: str, rate_bps: int) -> SwitchOn | None:
    """How to put a discipline in front of a link.

    Parameters
    ----------
    discipline : Discipline
        With options of the registry.
    limit : int
        Of its queue, in ``unit``.
    unit : str
        ``packets`` or ``bytes``.
    rate_bps : int
        Of the link, bit/s.

    Returns
    -------
    SwitchOn or None
        None where no kernel has it, where it has not these options, or where one line does not do (``drr``, which
        wants classes and a filter: tc-drr(8)).

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> switch_on(parse("fq_codel"), 300, "packets", 10**7).line
    'tc qdisc replace dev eth0 root fq_codel limit 300'
    >>> switch_on(parse("cake"), 300, "packets", 10**7).line
    'tc qdisc replace dev eth0 root cake bandwidth 9500kbit besteffort'
    >>> switch_on(parse("efd"), 300, "packets", 10**7).line
    'mayfly qdisc load eth0 --rate 9500kbit --buffer 300 --discipline efd'
    """
    below_bps = round(rate_bps * BELOW_THE_LINK)
    row = next(row for row in disciplines() if row["id"] == discipline.id)["runs_on"]
    if discipline.id == "cake" and not discipline.options:
        rate = rate_words(below_bps)
        lines = [f"tc qdisc replace dev {device} root cake bandwidth {rate} besteffort" for device in ("eth0", "ifb0")]
        return SwitchOn(lines[0], _load(discipline, limit, unit, below_bps), (lines[0],), (*_REDIRECT, lines[1]))
    words = _words(discipline, limit, unit, below_bps, row["qdisc"])
    if words is None:
        return None
    first = [f"modprobe sch_{row['qdisc']}"] if "module" in row["places"] else []
    shaped, arriving = (
        [*first, *(" ".join(step) for step in at_interface("tc", device, words.split(), below_bps))]
        for device in ("eth0", "ifb0")
    )
    load = _load(discipline, limit, unit, below_bps)
    line = load if first else f"tc qdisc replace dev eth0 root {words}"
    return SwitchOn(line, load, tuple(shaped), (*_REDIRECT, *arriving))


def _load(discipline: Discipline, limit: int, unit: str, rate_bps: int) -> str:
    size = f"{limit}" if unit == "packets" else f"{limit}B"
    label = f'"{discipline.label}"' if discipline.options else discipline.id
    return f"mayfly qdisc load eth0 --rate {rate_words(rate_bps)} --buffer {size} --discipline {label}"


_REDIRECT = (
    "ip link add ifb0 type ifb && ip link set ifb0 up",
    "tc qdisc add dev eth0 handle ffff: ingress",
    "tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0",
)


def rate_words(rate_bps: int) -> str:
    """As tc and `--rate` take it, exactly."""
    for factor, unit in ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit")):
        if rate_bps % factor == 0:
            return f"{rate_bps // factor}{unit}"
    return f"{rate_bps}bit"


def _words(discipline: Discipline, limit: int, unit: str, rate_bps: int, kind: str) -> str | None:
    leaf = leaves().get(discipline.id)
    if unit == "bytes" and (leaf is None or not leaf.in_bytes):
        limit, unit = max(1, round(limit / FULL_PACKET_BYTES)), "packets"
    if discipline.id in _SHORT and not discipline.options and leaf is not None:
        return f"{leaf.kind if unit == 'packets' else leaf.in_bytes} limit {limit}"
    if leaf is None:
        return f"{kind} limit {limit}" if discipline.id == "dualpi2" and not discipline.options else None
    try:
        return leaf_words(discipline, Place(limit, unit, FULL_PACKET_BYTES, rate_bps))
    except MayflyError:
        return None
