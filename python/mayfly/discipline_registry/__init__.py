"""The registry of disciplines, and the way users write one: ``efd`` or ``efd(threshold=40kB)``."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from mayfly.discipline_registry.kernels import has_none
from mayfly.errors import MayflyError
from mayfly.text.nearest import hint
from mayfly.text.quantity import bare, shown

if TYPE_CHECKING:
    from mayfly._native import DisciplineRow

FAMILIES = ("plain", "size-based", "fair queueing", "queue management")
"""Families in the order of lists and reports."""

OWN_BEST = ("efd", "lfq")
"""Disciplines of this project that a link is tried with: `efd` has two queues, `lfq` a queue for every flow."""

SHORTLIST = ("fifo", "fq_codel", "cake", "pie", *OWN_BEST)
"""What a link is tried with where nobody names disciplines, as far as the registry knows them: what is there without
one, what Linux brings of fair queueing and of queue management alone, and ours. ``shortlist`` in a list."""

PLACES = {
    "kernel": "in Linux as it comes",
    "module": "with Mayfly's kernel module",
    "bpf": "as a BPF qdisc",
    "simulation": "in simulation only",
    "bound": "a bound: it knows what no queue can know",
}
"""Where a discipline can run, in words."""

_WRITTEN = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)


@cache
def _registry() -> "tuple[DisciplineRow, ...]":
    import json

    from mayfly import _native

    return tuple(json.loads(_native.disciplines()))


def disciplines() -> "list[DisciplineRow]":
    """Every registered discipline.

    Returns
    -------
    list of dict
        ``id``, ``family`` (of `FAMILIES`), ``about``, ``source``, ``when_full`` (which packet goes), ``time_driven``,
        ``keeps_flow_order``, ``runs_on`` (``places`` of `PLACES`, ``qdisc`` and ``options`` for tc, and ``since`` which
        Linux) and ``params``: a list of ``name``, ``unit``, ``about``, ``default`` and bounds ``min``,
        ``max`` or ``choices``. A default that is a list takes up to ``most`` ascending numbers, written ``1:2``.

    Examples
    --------
    >>> disciplines()[0]["id"]
    'fifo'
    """
    return list(_registry())


def runs_on(id: str) -> list[str]:
    """Where a discipline can run.

    Parameters
    ----------
    id : str
        Of the registry.

    Returns
    -------
    list of str
        Of `PLACES`; empty for an id that the registry does not have.

    Examples
    --------
    >>> runs_on("fq_codel"), runs_on("efd"), runs_on("srpt")
    (['kernel'], ['module', 'bpf'], ['bound'])
    """
    return next((list(row["runs_on"]["places"]) for row in _registry() if row["id"] == id), [])


def where_text(row: "DisciplineRow") -> str:
    """Where a discipline of the registry can run, in words.

    Examples
    --------
    >>> where_text(next(row for row in disciplines() if row["id"] == "pefd"))
    "with Mayfly's kernel module: efd count packets"
    >>> where_text(next(row for row in disciplines() if row["id"] == "dualpi2"))
    'in Linux since 6.17, where the kernel is built with it (none of Debian is): dualpi2'
    """
    at = row["runs_on"]
    text = " or ".join(PLACES[place] for place in at["places"])
    name = " ".join(filter(None, (at["qdisc"], at["options"])))
    since = f", since {at['since']}" if at["since"] else ""
    if "kernel" in at["places"] and has_none(at["qdisc"]):
        release = f" since {at['since']}" if at["since"] else ""
        text = text.replace(
            PLACES["kernel"], f"in Linux{release}, where the kernel is built with it (none of Debian is)"
        )
        since = ""
    return f"{text}{since}: {name}" if name else text


def by_family() -> "dict[str, list[DisciplineRow]]":
    """The registry in families.

    Returns
    -------
    dict of list of dict
        Rows of :func:`disciplines` by family, in the order of `FAMILIES`, then of the registry.

    Examples
    --------
    >>> next(iter(by_family()))
    'plain'
    """
    present = dict.fromkeys(row["family"] for row in _registry())
    order = [*(family for family in FAMILIES if family in present), *(f for f in present if f not in FAMILIES)]
    return {family: [row for row in _registry() if row["family"] == family] for family in order}


def named_in(text: str) -> "list[DisciplineRow]":
    """Rows of the registry a user means.

    Parameters
    ----------
    text : str
        An id, a family or ``all``.

    Returns
    -------
    list of dict
        In the order of :func:`by_family`.

    Raises
    ------
    MayflyError
        None of these.

    Examples
    --------
    >>> [row["id"] for row in named_in("efd")]
    ['efd']
    """
    families = by_family()
    rows = [row for members in families.values() for row in members]
    found = {slug(family): members for family, members in families.items()} | {"all": rows}
    found |= {row["id"]: [row] for row in rows}
    if text not in found:
        raise _unknown(text, list(found))
    return found[text]


def slug(family: str) -> str:
    """A family as a word of a list.

    Parameters
    ----------
    family : str
        Its name in the registry.

    Returns
    -------
    str
        Without blanks.

    Examples
    --------
    >>> slug("fair queueing")
    'fair-queueing'
    """
    return family.replace(" ", "-")


@dataclass(frozen=True)
class Discipline:
    """A discipline with its options.

    Parameters
    ----------
    id : str
        Id in the registry.
    options : dict
        Options given, by name, numbers without suffix; the others have their defaults.
    written : dict
        The same as the user wrote them; without effect on what the discipline is.
    """

    id: str
    options: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def label(self) -> str:
        """The id, with the options that were given, as they were written."""
        given = ", ".join(f"{name}={value}" for name, value in (self.options | self.written).items())
        return f"{self.id}({given})" if given else self.id

    @property
    def family(self) -> str:
        """Group in lists and reports."""
        return next(row["family"] for row in _registry() if row["id"] == self.id)

    @property
    def native(self) -> tuple[str, list[tuple[str, str]]]:
        """As the native module takes it."""
        return self.id, list(self.options.items())


def parse(text: str) -> Discipline:
    """Reads ``id`` or ``id(name=value, ...)``.

    Parameters
    ----------
    text : str
        As a user writes it; times and sizes may have a suffix, as in ``timeout=200ms`` or ``threshold=30kB``.

    Returns
    -------
    Discipline
        Checked against the registry.

    Raises
    ------
    MayflyError
        Unknown id or option, or a value out of its bounds.

    Examples
    --------
    >>> parse("run2c(threshold=40kB)").label, parse("run2c(threshold=40kB)").options
    ('run2c(threshold=40kB)', {'threshold': '40000'})
    """
    match = _WRITTEN.match(text)
    if match is None:
        raise MayflyError(
            f"discipline {shown(text)}: must be an id such as efd, or an id with options: efd(threshold=40000)"
        )
    row = next((row for row in _registry() if row["id"] == match[1]), None)
    if row is None:
        raise _unknown(match[1], [row["id"] for row in _registry()])
    written = {}
    for part in filter(str.strip, re.split(r"[,;]", match[2] or "")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name or not value:
            raise MayflyError(f"discipline {shown(text)}: option {shown(part.strip())} must be written name=value")
        if name in written:
            raise MayflyError(f"discipline {shown(text)}: option {name} is given twice")
        written[name] = value
    units = {param["name"]: param["unit"] for param in row["params"]}
    options = {name: bare(value, units.get(name, "")) for name, value in written.items()}
    _check(match[1], options, written)
    return Discipline(match[1], options, written)


def _check(id: str, options: dict[str, str], written: dict[str, str]) -> None:
    from mayfly import _native

    try:
        _native.check_discipline(id, list(options.items()))
    except ValueError as error:
        message = str(error)
        for name, value in options.items():
            # The message holds the bare number; the user is to find what was written.
            message = message.replace(f"{name} = '{value}'", f"{name} = '{written[name]}'", 1)
        raise MayflyError(message) from None


def _unknown(name: str, known: list[str]) -> MayflyError:
    near = hint(name.lower(), known)
    return MayflyError(f"unknown discipline {shown(name)}: must be one that `mayfly disciplines` lists{near}")


def split(text: str) -> list[str]:
    """Cuts a list at its commas outside parentheses.

    Parameters
    ----------
    text : str
        Such as ``fifo,efd(threshold=40000, high=las),las``.

    Returns
    -------
    list of str
        Without blanks around the names and without empty ones.

    Examples
    --------
    >>> split("fifo, efd(threshold=40000, high=las),")
    ['fifo', 'efd(threshold=40000, high=las)']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def parse_list(text: str) -> list[Discipline]:
    """Reads a comma-separated list of disciplines, families and exceptions.

    Parameters
    ----------
    text : str
        Such as ``fifo,efd(threshold=40000),las``. ``all`` stands for the whole registry, ``shortlist`` for `SHORTLIST`
        and the name of a family, such as ``fair-queueing``, for its members. What a minus precedes is left out, with
        any options; a list of nothing else begins with all.

    Returns
    -------
    list of Discipline
        In the order written, without repetitions; `all` and families in the order of :func:`by_family`.

    Raises
    ------
    MayflyError
        As :func:`parse`, the list is empty, or an exception is not in it.

    Examples
    --------
    >>> [d.label for d in parse_list("fifo, efd(threshold=40000), size-based, -las")][:2]
    ['fifo', 'efd(threshold=40000)']
    """
    parts = split(text)
    if not parts:
        raise MayflyError(f"disciplines = {shown(text)}: must name at least one; `mayfly disciplines` lists them")
    without = [part.removeprefix("-").strip() for part in parts if part.startswith("-")]
    named = [part for part in parts if not part.startswith("-")] or ["all"]
    found: dict[tuple[str, frozenset[tuple[str, str]]], Discipline] = {}
    for discipline in (member for part in named for member in _members(part)):
        found.setdefault((discipline.id, frozenset(discipline.options.items())), discipline)
    for part in without:
        gone = [key for key in found if any(_covers(member, found[key]) for member in _members(part))]
        if not gone:
            raise MayflyError(f"disciplines = {shown(text)}: -{part} must be in the list to be left out")
        for key in gone:
            del found[key]
    if not found:
        raise MayflyError(f"disciplines = {shown(text)}: must leave at least one")
    return list(found.values())


def _members(part: str) -> list[Discipline]:
    """What one part of a list stands for."""
    families = by_family()
    groups = {slug(family): rows for family, rows in families.items()}
    groups["all"] = [row for rows in families.values() for row in rows]
    groups["shortlist"] = [row for id in SHORTLIST for row in groups["all"] if row["id"] == id]
    ids = [row["id"] for row in groups["all"]]
    if part in groups:
        return [Discipline(row["id"]) for row in groups[part]]
    match = _WRITTEN.match(part)
    if match is not None and match[1] in groups:
        raise MayflyError(f"discipline {shown(part)}: must be without options, as {match[1]} is several")
    if match is not None and match[1] not in ids:
        raise _unknown(match[1], [*ids, *groups])
    return [parse(part)]


def _covers(without: Discipline, found: Discipline) -> bool:
    """Whether an exception means a discipline; one without options means all its variants."""
    return without.id == found.id and (not without.options or without.options == found.options)
