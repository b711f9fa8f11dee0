"""Readings of settings that a text does not print: which claims belong to which, and which reading counts.

A claim that is checked under several readings is declared once for each, and its id ends in the suffix of the reading.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mayfly.errors import MayflyError

FILE = "readings.toml"


@dataclass(frozen=True)
class Reading:
    """One way to read a page's text.

    Parameters
    ----------
    name : str
        In words.
    suffixes : tuple of str
        That ids of its claims end in; the empty one is for ids without any.
    evidence : str
        Why it counts; empty for a reading that lost.
    """

    name: str
    suffixes: tuple[str, ...]
    evidence: str = ""


@cache
def readings() -> dict[str, tuple[Reading, ...]]:
    """Readings by page, the one that counts first.

    Raises
    ------
    MayflyError
        A page whose first reading has no evidence.
    """
    table = tomllib.loads((files(__package__) / FILE).read_text(encoding="utf-8"))
    found = {}
    for page, entries in table.items():
        read = tuple(
            Reading(entry["name"], tuple(entry["suffixes"]), " ".join(entry.get("evidence", "").split()))
            for entry in entries
        )
        if not read[0].evidence:
            raise MayflyError(f"{FILE}, {page}: the reading that counts must have its evidence")
        found[page] = read
    return found


def split(page: str, claim: str) -> tuple[str, int | None]:
    """The id without its suffix, and the place of its reading; None where the page has no readings.

    Examples
    --------
    >>> split("chen-2012-wired", "table-4.1-at-10.4"), split("formulas", "figure-7")
    (('table-4.1', 0), ('figure-7', None))
    """
    known = [(suffix, place) for place, reading in enumerate(readings().get(page, ())) for suffix in reading.suffixes]
    for suffix, place in sorted(known, key=lambda pair: -len(pair[0])):
        if claim.endswith(suffix):
            return claim.removesuffix(suffix), place
    return claim, None


def by_reading(page: str, claims: Iterable[str]) -> dict[str, dict[int | None, list[str]]]:
    """Claims of a page by stem, then by the place of their reading, those that count first."""
    found: dict[str, dict[int | None, list[str]]] = {}
    for claim in claims:
        stem, place = split(page, claim)
        found.setdefault(stem, {}).setdefault(place, []).append(claim)
    return {
        stem: dict(sorted(of.items(), key=lambda item: -1 if item[0] is None else item[0]))
        for stem, of in found.items()
    }


def counting(page: str, claims: Iterable[str]) -> set[str]:
    """Of the claims of a page those of the reading that counts; where it has none of a stem, of the next one.

    Examples
    --------
    >>> sorted(counting("urvoy-keller-2007", ["table-1", "mix-overload", "mix-overload-long"]))
    ['mix-overload', 'table-1']
    """
    return {claim for of in by_reading(page, claims).values() for claim in next(iter(of.values()))}
