"""Disciplines that shape by themselves, and what a link adds to a packet, in the words of tc."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mayfly.discipline_registry import Discipline
from mayfly.discipline_registry.tc_options import CAKE_AS_LEAF, Place, leaf_of, leaf_words, leaves
from mayfly.errors import MayflyError
from mayfly.text.nearest import hint
from mayfly.text.quantity import shown

OVERHEAD_BOUNDS = (-64, 256)
MPU_BOUNDS = (0, 256)

_WHOLE = re.compile(r"-?[0-9]{1,9}")
_CELLS = ("noatm", "atm", "ptm")
_KEYWORDS: Mapping[str, tuple[int, int, str]] = {
    "conservative": (48, 0, "atm"),
    "ipoa-vcmux": (8, 0, "atm"),
    "ipoa-llcsnap": (16, 0, "atm"),
    "bridged-vcmux": (24, 0, "atm"),
    "bridged-llcsnap": (32, 0, "atm"),
    "pppoa-vcmux": (10, 0, "atm"),
    "pppoa-llc": (14, 0, "atm"),
    "pppoe-vcmux": (32, 0, "atm"),
    "pppoe-llcsnap": (40, 0, "atm"),
    "pppoe-ptm": (30, 0, "ptm"),
    "bridged-ptm": (22, 0, "ptm"),
    "docsis": (18, 64, "noatm"),
    "ethernet": (38, 84, "noatm"),
}
"""Overhead, least packet (bytes; 0: not said) and cells of links, as tc-cake(8) names them.

As cake and lfq have it, overheads add up, with that of ``ether-vlan`` too.
"""

_WHOLE_KEYWORD = "conservative"
"""Whatever was said before, its overhead is all."""


_VLAN_BYTES = 4
MAC_HEADER_BYTES = 14
"""Of Ethernet: part of the length that a size table of tc begins with; cake and lfq begin with the packet of IP."""

SIDES = {"down": "dst", "up": "src"}
"""Which address is the user's, of packets from and to the provider: that of the host behind this interface."""

_BY_HOST = {"lfq": "user", "cake": "isolation"}


@dataclass(frozen=True)
class LinkLayer:
    """What the link adds to a packet of IP.

    Parameters
    ----------
    words : tuple of str
        As cake and lfq take them; empty where nothing is said.
    overhead_bytes, mpu_bytes : int
        Added to each packet, and the least that one takes.
    cells : str
        ``noatm``, ``atm`` (48 of 53 bytes) or ``ptm`` (64 of 65).
    raw : bool
        Lengths as Linux counts them.
    """

    words: tuple[str, ...] = ()
    overhead_bytes: int = 0
    mpu_bytes: int = 0
    cells: str = "noatm"
    raw: bool = True

    def size_table(self, mac_bytes: int = MAC_HEADER_BYTES) -> list[str]:
        """Words that make a parent such as htb count the same.

        Parameters
        ----------
        mac_bytes : int
            Part of a packet's length in front of its IP packet, as the interface has it: a size table begins with both.

        Raises
        ------
        MayflyError
            It has no such cells.
        """
        if self.raw:
            return []
        if self.cells == "ptm":
            raise MayflyError(f"overhead = {' '.join(self.words)}: htb counts no ptm; lfq and cake do")
        layer = "atm" if self.cells == "atm" else "ethernet"
        return [
            *("stab", "overhead", str(self.overhead_bytes - mac_bytes)),
            *("mpu", str(self.mpu_bytes), "linklayer", layer),
        ]


def link_layer(text: str | None) -> LinkLayer:
    """What a link adds, as a user writes it.

    Parameters
    ----------
    text : str, optional
        Bytes, or words of tc-cake(8): ``18``, ``docsis``, ``overhead 44 mpu 64 atm``, ``pppoe-ptm ether-vlan``.

    Returns
    -------
    LinkLayer

    Raises
    ------
    MayflyError
        An unknown word, or a number out of its bounds.

    Examples
    --------
    >>> link_layer("18").words, link_layer("docsis").mpu_bytes
    (('overhead', '18'), 64)
    >>> link_layer("ether-vlan docsis").overhead_bytes, link_layer("ether-vlan conservative").overhead_bytes
    (22, 48)
    >>> link_layer("pppoe-llcsnap ether-vlan").size_table()
    ['stab', 'overhead', '30', 'mpu', '0', 'linklayer', 'atm']
    """
    if text is None:
        return LinkLayer()
    words = text.split()
    if len(words) == 1 and _WHOLE.fullmatch(words[0]):
        words = ["overhead", *words]
    if not words:
        raise MayflyError(f"overhead = {shown(text)}: must be bytes, or words of tc-cake(8) such as docsis")
    layer, left = LinkLayer(tuple(words), raw=False), list(words)
    while left:
        word = left.pop(0)
        if word in ("overhead", "mpu"):
            bounds = OVERHEAD_BOUNDS if word == "overhead" else MPU_BOUNDS
            number = _whole(text, word, left.pop(0) if left else "", bounds)
            layer = replace(layer, overhead_bytes=number) if word == "overhead" else replace(layer, mpu_bytes=number)
        elif word in _CELLS:
            layer = replace(layer, cells=word)
        elif word == "raw":
            layer = LinkLayer(tuple(words))
        elif word == "ether-vlan":
            layer = replace(layer, overhead_bytes=layer.overhead_bytes + _VLAN_BYTES, raw=False)
        elif word in _KEYWORDS:
            overhead, mpu, cells = _KEYWORDS[word]
            added = 0 if word == _WHOLE_KEYWORD else layer.overhead_bytes
            mpu = mpu or layer.mpu_bytes
            layer = replace(layer, overhead_bytes=added + overhead, mpu_bytes=mpu, cells=cells, raw=False)
        else:
            known = ("overhead", "mpu", *_CELLS, "raw", "ether-vlan", *_KEYWORDS)
            raise MayflyError(f"overhead = {shown(text)}: {word}: must be one of {', '.join(known)}{hint(word, known)}")
    return layer


def _whole(text: str, name: str, digits: str, bounds: tuple[int, int]) -> int:
    low, high = bounds
    if not _WHOLE.fullmatch(digits) or not low <= int(digits) <= high:
        raise MayflyError(f"overhead = {shown(text)}: {name} must be from {low} to {high} bytes")
    return int(digits)


@dataclass(frozen=True)
class Shape:
    """What a discipline shapes to.

    Parameters
    ----------
    rate_bps : int
        Of the link, bit/s.
    side : str
        ``down`` for what comes from the provider, ``up`` for what goes there; empty where it is not said.
    nat : bool
        Look behind translated addresses.
    layer : LinkLayer
        What the link adds to packets.
    """

    rate_bps: int
    side: str = ""
    nat: bool = False
    layer: LinkLayer = field(default_factory=LinkLayer)


def shapes_itself(discipline: Discipline) -> bool:
    """Whether the kernel's discipline has a shaper.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> [shapes_itself(parse(id)) for id in ("lfq", "cake", "fq_codel")]
    [True, True, False]
    """
    return discipline.id in leaves() and leaf_of(discipline).shapes


def shaped_words(discipline: Discipline, place: Place, shape: Shape) -> str:
    """A discipline with its shaper, as ``tc qdisc add ...`` takes it.

    Parameters
    ----------
    discipline : Discipline
        One that shapes by itself, with options of the registry. Where it faces the provider and they do not say what a
        user is, a user is a host behind the interface.
    place : Place
        Its limit.
    shape : Shape

    Returns
    -------
    str

    Raises
    ------
    MayflyError
        The kernel has no such option.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> place, shape = Place(300, "packets", 1514, 10**7), Shape(10**7, "down", True, link_layer("docsis"))
    >>> shaped_words(parse("cake"), place, shape)
    'cake bandwidth 10000000bit besteffort docsis nat ingress memlimit 691200 rtt 100000us dual-dsthost'
    """
    option = _BY_HOST[discipline.id]
    if shape.side and option not in discipline.options:
        discipline = replace(discipline, options=discipline.options | {option: SIDES[shape.side]})
    words = leaf_words(discipline, place).removeprefix(f"{discipline.id} ").removeprefix(f"{CAKE_AS_LEAF} ")
    rate = f"{discipline.id} bandwidth {shape.rate_bps}bit"
    once = ["besteffort"] if discipline.id == "cake" else []
    # All of them are said: where the discipline is there already, what is not said would stay.
    sided = ["nat" if shape.nat else "nonat", "ingress" if shape.side == "down" else "egress"]
    return " ".join((rate, *once, *(shape.layer.words or ("raw",)), *sided, words))
