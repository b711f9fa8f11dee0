"""The registry of disciplines, and the way users write one: ``efd`` or ``efd(threshold=40000)``."""

import re
from dataclasses import dataclass, field
from functools import cache

from mayfly.errors import MayflyError
from mayfly.simulate.quantity import shown

_WRITTEN = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)


@cache
def _registry() -> tuple[dict, ...]:
    from mayfly import _native

    return tuple(_native.disciplines())


def disciplines() -> list[dict]:
    """Every registered discipline.

    Returns
    -------
    list of dict
        ``id``, ``about``, ``source``, ``when_full`` (which packet goes), ``time_driven``, ``keeps_flow_order`` and
        ``params``: a list of ``name``, ``unit``, ``about``, ``default`` and bounds ``min``, ``max`` or ``choices``.

    Examples
    --------
    >>> disciplines()[0]["id"]
    'fifo'
    """
    return list(_registry())


@dataclass(frozen=True)
class Discipline:
    """A discipline with its options.

    Parameters
    ----------
    id : str
        Id in the registry.
    options : dict
        Options given, by name; the others have their defaults.
    """

    id: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The id, with the options that were given."""
        given = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.id}({given})" if given else self.id

    @property
    def native(self) -> tuple[str, list[tuple[str, str]]]:
        """As the native module takes it."""
        return self.id, list(self.options.items())


def parse(text: str) -> Discipline:
    """Reads ``id`` or ``id(name=value, ...)``.

    Parameters
    ----------
    text : str
        As a user writes it.

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
    >>> parse("efd(threshold=40000)").label
    'efd(threshold=40000)'
    """
    from mayfly import _native

    match = _WRITTEN.match(text)
    if match is None:
        raise MayflyError(
            f"discipline {shown(text)}: must be an id such as efd, or an id with options: efd(threshold=40000)"
        )
    known = [row["id"] for row in _registry()]
    if match[1] not in known:
        raise MayflyError(f"unknown discipline {shown(match[1])}: {_choose(match[1].lower(), known)}")
    options = {}
    for part in filter(str.strip, re.split(r"[,;]", match[2] or "")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name or not value:
            raise MayflyError(f"discipline {shown(text)}: option {shown(part.strip())} must be written name=value")
        if name in options:
            raise MayflyError(f"discipline {shown(text)}: option {name} is given twice")
        options[name] = value
    try:
        _native.check_discipline(match[1], list(options.items()))
    except ValueError as error:
        raise MayflyError(str(error)) from None
    return Discipline(match[1], options)


def _choose(id: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(id, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"choose from {', '.join(known)}{hint}"


def split(text: str) -> list[str]:
    """Cuts a list at its commas outside parentheses.

    Parameters
    ----------
    text : str
        Such as ``fifo,efd(threshold=40000, count=bytes),las``.

    Returns
    -------
    list of str
        Without blanks around the names and without empty ones.

    Examples
    --------
    >>> split("fifo, efd(threshold=40000, count=bytes),")
    ['fifo', 'efd(threshold=40000, count=bytes)']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def parse_list(text: str) -> list[Discipline]:
    """Reads a comma-separated list; ``all`` stands for the whole registry.

    Parameters
    ----------
    text : str
        Such as ``fifo,efd(threshold=40000),las``.

    Returns
    -------
    list of Discipline
        In the order written, without repetitions.

    Raises
    ------
    MayflyError
        As :func:`parse`, or the list is empty.

    Examples
    --------
    >>> [d.label for d in parse_list("fifo, efd(threshold=40000, count=bytes)")]
    ['fifo', 'efd(threshold=40000, count=bytes)']
    """
    parts = split(text)
    if not parts:
        raise MayflyError(f"disciplines = {shown(text)}: must name at least one; `mayfly disciplines` lists them")
    every = [row["id"] for row in _registry()]
    parts = [id for part in parts for id in (every if part == "all" else [part])]
    found = {discipline.label: discipline for discipline in map(parse, parts)}
    return list(found.values())
