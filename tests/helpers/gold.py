"""Fixed results in ``tests/data/gold``: what the compiled module must give, whatever Python does around it.

A file is one JSON object with a case on each line. Lists of integers and texts are stored as facts: how many values,
how many of them are missing, their sum, a digest. Figures are stored as values. ``MAYFLY_GOLD=write`` stores what is
found in place of comparing it (``make gold``).
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

FOLDER = Path(__file__).parents[1] / "data" / "gold"
WRITES = os.environ.get("MAYFLY_GOLD") == "write"
DIGITS = 11
"""Of a float that is stored; figures are compared to nine."""


def digest(data: bytes) -> str:
    """Name of these bytes, in 16 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def facts(values: Any) -> Any:
    """Facts of each list in nested objects: ``"12-3 4711 0123456789abcdef"``, 12 values, of which 3 are missing."""
    if isinstance(values, Mapping):
        return {name: facts(values[name]) for name in sorted(values)}
    if not isinstance(values, list | tuple):
        return values
    if not values:
        return "0"
    missing = sum(value is None for value in values)
    numbers = [value for value in values if isinstance(value, int)]
    spelled = digest(json.dumps(values, separators=(",", ":"), sort_keys=True).encode())
    return f"{len(values)}{f'-{missing}' if missing else ''} {sum(numbers)} {spelled}"


def at_once(values: Any) -> str:
    """One digest of nested objects, floats as they are stored."""
    return digest(json.dumps(rounded(values), separators=(",", ":"), sort_keys=True).encode())


def table(frame: pl.DataFrame) -> dict[str, str]:
    """Facts of each column: its type, rows, missing values, sum, and a digest that knows the last bit."""
    return {column.name: f"{column.dtype} {_of_column(column)}" for column in frame}


def _of_column(column: pl.Series) -> str:
    missing = column.null_count()
    count = f"{len(column)}{f'-{missing}' if missing else ''}"
    if missing == len(column):
        return count
    if not column.dtype.is_numeric():
        return f"{count} {digest(json.dumps([None if value is None else str(value) for value in column]).encode())}"
    values = column.fill_null(0).to_numpy()
    return f"{count} {values.sum():.9g} {digest(column.is_null().to_numpy().tobytes() + values.tobytes())}"


def rounded(values: Any) -> Any:
    """Figures as they are stored: those that are missing are left out."""
    if isinstance(values, Mapping):
        return {name: rounded(each) for name, each in values.items() if each is not None}
    if isinstance(values, list | tuple):
        return [rounded(each) for each in values]
    return float(f"{values:.{DIGITS}g}") if isinstance(values, float) and math.isfinite(values) else values


def differences(gold: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where two nested results differ: floats by more than 1e-9 of their value, all else at all."""
    if isinstance(gold, Mapping) and isinstance(found, Mapping):
        if list(gold) != list(found):
            yield f"{place}: keys {list(gold)} / {list(found)}"
        for name in gold:
            if name in found:
                yield from differences(gold[name], found[name], f"{place}.{name}" if place else name)
    elif isinstance(gold, list) and isinstance(found, list | tuple):
        if len(gold) != len(found):
            yield f"{place}: {len(gold)} / {len(found)} values"
        for at, (one, other) in enumerate(zip(gold, found, strict=False)):
            yield from differences(one, other, f"{place}[{at}]")
    elif isinstance(gold, float) and isinstance(found, int | float) and not isinstance(found, bool):
        if not math.isclose(gold, found, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{place}: {gold} / {found}"
    elif type(gold) is not type(found) or gold != found:
        yield f"{place}: {gold!r} / {found!r}"


@cache
def _file(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def check(file: str, case: str, found: Any) -> None:
    """Compares what was found with the gold of a case, or stores it.

    Parameters
    ----------
    file : str
        Name of the file without its ending.
    case : str
        Unique in the file.
    found : dict
        Facts and figures.
    """
    gold = _file(file)
    found = json.loads(json.dumps(rounded(found)))
    if WRITES:
        # A case whose figures differ by rounding alone stays as it is, so that the change shows what moved.
        if case not in gold or any(differences(gold[case], found)):
            gold[case] = found
        _write(FOLDER / f"{file}.json", gold)
        return
    if case not in gold:
        pytest.fail(f"{case}: no gold in {file}.json; make gold writes it")
    differ = list(differences(gold[case], found))
    assert not differ, f"{case}: {len(differ)} differences, gold / found\n" + "\n".join(differ[:40])


def _write(path: Path, gold: Mapping[str, Any]) -> None:
    lines = (f"{json.dumps(name)}: {json.dumps(gold[name], separators=(',', ':'))}" for name in sorted(gold))
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def shared(*parts: str) -> Path:
    """A file below ``shared/data/pcap`` beside the checkout; the test is skipped, visibly, where it is not there."""
    found = next((up / "shared/data/pcap" for up in FOLDER.parents if (up / "shared/data/pcap").is_dir()), None)
    path = Path(*parts) if found is None else found.joinpath(*parts)
    if not path.exists():
        pytest.skip("shared/data/pcap is not beside the checkout")
    return path
