"""Digests of what Mayfly writes: an item is a flat table of keys with small values, so that a difference has a name."""

import fnmatch
import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

Value: TypeAlias = str | int | float | bool | None
Item: TypeAlias = dict[str, Value]

VOLATILE = (
    "*cpu_s",  # what a run cost
    "*took_s",
    "date",  # of a reproduction, which also names version and machine
    "mayfly",
    "machine",
)
"""Keys of documents that differ between two runs of the same code: they are left out."""

UNSTEADY = ("*: compare *--models*", "claim chen-2012-models/*")
"""Items whose floats are kept to `DIGITS` digits: `mayfly.models.against.by_class` at commit e06c634 adds up in the
order of a hash table, so that the last bits differ from run to run."""

DIGITS = 10

NAMES = ("label", "id", "name", "claim", "group", "key")
"""Keys that tell the objects of a list apart, the best first."""

_INLINE = 4
_NUMBERED = 12
_NAMED = 1000
_TEXT = 160


def digest(data: bytes) -> str:
    """Name of these bytes, in 16 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def canonical(value: Any) -> str:
    """The one spelling of a document: keys sorted, floats to their last bit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_volatile(key: str) -> bool:
    """Whether a dotted key differs between two runs of the same code."""
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in VOLATILE)


def neutral(value: Any, places: Iterable[tuple[str, str]], key: str = "", digits: int | None = None) -> Any:
    """A document without volatile keys, its absolute places named instead of spelled, floats to so many digits."""
    if isinstance(value, dict):
        inner = {name: (f"{key}.{name}" if key else name, held) for name, held in value.items()}
        kept = {name: held for name, held in inner.items() if not is_volatile(held[0])}
        return {name: neutral(held, places, path, digits) for name, (path, held) in kept.items()}
    if isinstance(value, list):
        return [neutral(held, places, key, digits) for held in value]
    if isinstance(value, str):
        for place, name in places:
            value = value.replace(place, name)
    if isinstance(value, float) and digits is not None:
        return float(f"{value:.{digits}g}")
    return value


def document(value: Any, places: Iterable[tuple[str, str]] = (), depth: int | None = None, name: str = "") -> Item:
    """A JSON document: the digest of its canonical form, and its flattened form.

    Below `depth` levels, where one is given, there are digests only. The name is that of the item.
    """
    unsteady = any(fnmatch.fnmatchcase(name, pattern) for pattern in UNSTEADY)
    kept = neutral(value, tuple(places), digits=DIGITS if unsteady else None)
    item: Item = {"digest": digest(canonical(kept).encode())}
    _flatten(kept, "", depth, item)
    return item


def _flatten(value: Any, key: str, depth: int | None, into: Item) -> None:
    if depth == 0:
        into[key] = f"#{digest(canonical(value).encode())}"
        return
    deeper = None if depth is None else depth - 1
    if isinstance(value, dict) and value:
        for name, held in value.items():
            _flatten(held, f"{key}.{name}" if key else name, deeper, into)
    elif isinstance(value, list) and value and all(isinstance(held, dict) for held in value):
        _flatten_rows(value, key, deeper, into)
    elif isinstance(value, dict | list):
        short = len(value) <= _INLINE
        into[key] = canonical(value) if short else f"{len(value)} values #{digest(canonical(value).encode())}"
    elif isinstance(value, str) and len(value) > _TEXT:
        into[key] = f"{value[:_TEXT]}... #{digest(value.encode())}"
    else:
        into[key] = value


def _flatten_rows(rows: list[dict[str, Any]], key: str, depth: int | None, into: Item) -> None:
    """Objects by their names where they have some, by number where they are few, else by column."""
    named = next((name for name in NAMES if _tells_apart(rows, name)), None)
    if named and len(rows) <= _NAMED:
        into[f"{key}.order"] = f"{len(rows)} rows #{digest(canonical([row[named] for row in rows]).encode())}"
        for row in rows:
            _flatten(row, f"{key}.{row[named]}", depth, into)
    elif len(rows) <= _NUMBERED:
        for number, row in enumerate(rows):
            _flatten(row, f"{key}.{number}", depth, into)
    else:
        for name in sorted({name for row in rows for name in row}):
            column = [row.get(name) for row in rows]
            into[f"{key}.*.{name}"] = f"{len(rows)} rows #{digest(canonical(column).encode())}"


def _tells_apart(rows: list[dict[str, Any]], name: str) -> bool:
    values = [row.get(name) for row in rows]
    return all(isinstance(value, str) for value in values) and len(set(values)) == len(values)


def table(frame: pl.DataFrame) -> Item:
    """A table: each column by its name, with type and values; the order of the columns apart."""
    item: Item = {"rows": frame.height, "order": digest("\n".join(frame.columns).encode())}
    for column in frame:
        item[f"column {column.name}"] = f"{column.dtype} {digest(_content(column))}"
    return item


def _content(column: pl.Series) -> bytes:
    """Every value exactly, missing ones apart from all others."""
    if column.dtype.is_numeric() and not column.dtype.is_decimal():
        missing = column.is_null().to_numpy().tobytes()
        return missing + column.fill_null(0).to_numpy().tobytes()
    return canonical([value if value is None else str(value) for value in column.to_list()]).encode()


def read_table(path: Path) -> pl.DataFrame:
    """A Parquet file."""
    return pl.read_parquet(path)


def tables(path: Path, name: str) -> dict[str, Item]:
    """A Parquet file: a table for each of its disciplines, or one."""
    frame = read_table(path)
    if "discipline" not in frame.columns:
        return {name: table(frame)}
    order: Item = {"disciplines": canonical(frame["discipline"].unique(maintain_order=True).to_list())}
    found = {name: order}
    for (discipline,), rows in frame.group_by(["discipline"], maintain_order=True):
        found[f"{name} {discipline}"] = table(rows)
    return found


def file(path: Path, name: str, places: Iterable[tuple[str, str]] = ()) -> dict[str, Item]:
    """A file as it is, after unpacking: Parquet by columns, JSON by keys, others by their bytes."""
    if path.suffix == ".parquet":
        return tables(path, name)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if path.suffix == ".json":
        return {name: document(json.loads(data), places)}
    for place, word in places:
        data = data.replace(place.encode(), word.encode())
    return {name: {"bytes": len(data), "digest": digest(data)}}


def safe_name(text: str) -> str:
    """A file name made of any text."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-")[:60]
