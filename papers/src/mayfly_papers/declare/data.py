"""What a page holds as data: the numbers that a paper prints, and why some do not come out.

Both are TOML files beside the claims. In ``printed.toml`` a number stands alone, or with the interval that is printed
with it, ``{ value = 0.39, ci95 = [0.379, 0.4] }``; its table is named as the table or figure of the paper, or as the
function that declares the claim. In ``reasons.toml`` every ``[[reason]]`` names its claims, and as ``test`` the run
that shows it (`TESTS` of ``reason_tests.py``); one without is argued.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from mayfly.errors import MayflyError
from mayfly_papers.declare.declaration import Difference, Printed, Verdict

PRINTED_FILE, REASONS_FILE = "printed.toml", "reasons.toml"


def _table(package: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MayflyError(f"{package}, {name}: {error}") from None


@cache
def printed(package: str) -> dict[str, Any]:
    """Printed numbers of a page.

    Parameters
    ----------
    package : str
        The page's package: ``__package__`` of its modules.

    Returns
    -------
    dict
        As in the file: arrays as tuples, numbers with an interval as `Printed`.

    Raises
    ------
    MayflyError
        Not TOML, or something else than numbers, words, arrays and tables.
    """
    return {
        name: _read(value, f"{package}, {PRINTED_FILE}, {name}")
        for name, value in _table(package, PRINTED_FILE).items()
    }


def _read(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        if "value" in value:
            return _number_with_interval(value, where)
        return {name: _read(inner, f"{where}.{name}") for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(_read(inner, where) for inner in value)
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return value
    raise MayflyError(f"{where} = {value}: must be a number, a word, an array or a table")


def _number_with_interval(value: Mapping[str, Any], where: str) -> Printed:
    if not set(value) <= {"value", "ci95"}:
        raise MayflyError(f"{where}: has {', '.join(value)}; must have value, and may have ci95")
    if "ci95" not in value:
        return Printed(value["value"])
    low, high = value["ci95"]
    if not low <= value["value"] <= high:
        raise MayflyError(f"{where} = {value['value']}: must be within its interval, {low} to {high}")
    return Printed(value["value"], (low, high))


def numbered(table: Mapping[str, Any]) -> dict[int, Any]:
    """A table whose names are whole numbers, by these."""
    return {int(name): value for name, value in table.items()}


@cache
def reasons(package: str) -> dict[str, Difference]:
    """Why claims of a page do not come out as printed.

    Parameters
    ----------
    package : str
        The page's package: ``__package__`` of its modules.

    Returns
    -------
    dict of Difference
        By claim.

    Raises
    ------
    MayflyError
        Not TOML, another verdict than those there are, or two reasons for one claim.
    """
    found: dict[str, Difference] = {}
    for entry in _table(package, REASONS_FILE)["reason"]:
        verdicts = [str(verdict) for verdict in Verdict]
        if entry["verdict"] not in verdicts:
            raise MayflyError(
                f"{package}, {REASONS_FILE}: verdict = {entry['verdict']}: must be one of {', '.join(verdicts)}"
            )
        # Lines of the file are not lines of the text.
        text = re.sub(r"[ \n]+", " ", entry["text"]).strip(" ")
        for claim in entry["claims"]:
            if claim in found:
                raise MayflyError(f"{package}, {REASONS_FILE}: {claim} has two reasons; must have one")
            found[claim] = Difference(Verdict(entry["verdict"]), text, entry.get("test", ""))
    return found
