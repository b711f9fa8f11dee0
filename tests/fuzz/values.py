"""Values of settings, from the types of their fields: mostly what a field takes, sometimes anything."""

import io
import math
import types
from typing import Any, Literal, Union, get_args, get_origin

import polars as pl
import tomli_w
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mayfly import fields
from mayfly.discipline_registry import disciplines

MOST = 2**63

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
WORDS = st.sampled_from(["a", "b", "voice", "web", "senders", "receivers", "r1", "r2", "r3", "r1>r2", "1", "-1", ""])

ODD_NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30])
ODD_FLOATS = st.sampled_from(
    [0.0, -0.0, 1e-308, 5e-324, 1e-9, 0.999999999, 1.0000001, 1e15, 1e300, math.inf, -math.inf, math.nan]
)
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**64), 2**64), st.floats(), ODD_NUMBERS, ODD_FLOATS, TEXTS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=4,
)
"""What no field expects."""


def mostly(usual: SearchStrategy[Any], odd: SearchStrategy[Any], one_in: int = 12) -> SearchStrategy[Any]:
    """The first, but for one value in so many."""
    return st.integers(1, one_in).flatmap(lambda drawn: odd if drawn == one_in else usual)


def _with_units(number: SearchStrategy[float], units: list[str]) -> SearchStrategy[str]:
    return st.builds(lambda value, unit: f"{value:.6g}{unit}", number, st.sampled_from(units))


RATES = mostly(
    st.one_of(
        st.sampled_from(["64kbit", "1mbit", "10mbit", "100mbit", 5_000_000]),
        _with_units(st.floats(1, 99), ["mbit", "M", "Mb/s"]),
    ),
    st.one_of(
        st.sampled_from(["1kbit", "1gbit", "400gbit", 1000, "2MB/s", "999bit", "401gbit", ""]),
        _with_units(st.floats(0.5, 2000), ["kbit", "gbit"]),
    ),
)
BUFFERS = mostly(
    st.one_of(st.sampled_from([1, 2, 3, 20, 300, "1kB", "450kB", "20ms"]), st.integers(1, 2000)),
    st.one_of(
        st.sampled_from([10_000_000, "1B", "100GB", "1ns", "0ms", 0, 10**8, [5, "packets"]]),
        _with_units(st.floats(0, 2000), ["", "B", "kB", "p", "ms"]),
    ),
)


def _bounds(metadata: list[Any]) -> tuple[float | None, float | None]:
    low: float | None = None
    high: float | None = None
    for mark in metadata:
        low = getattr(mark, "ge", getattr(mark, "gt", low)) if isinstance(mark, Ge | Gt) else low
        high = getattr(mark, "le", getattr(mark, "lt", high)) if isinstance(mark, Le | Lt) else high
    return low, high


def _times(metadata: list[Any]) -> SearchStrategy[Any]:
    """Times within the bounds of a field, in seconds or with a unit."""
    low, high = _bounds(metadata)
    low, high = low or 0.0, min(high if high is not None else 1e4, 1e4)
    inside = st.one_of(
        st.floats(low, high),
        st.sampled_from([t for t in (0.0, 1e-9, 1e-3, 0.02, 0.2, 1.0, 60.0) if low <= t <= high] or [low]),
    )
    written = st.builds(
        lambda t, unit: t if unit == "" else f"{t * {'s': 1, 'ms': 1e3, 'us': 1e6}[unit]:.9g}{unit}",
        inside,
        st.sampled_from(["", "s", "ms", "us"]),
    )
    return mostly(written, st.sampled_from(["0s", "1ns", "1h", "-1s", "2 years", "63072000s", 1e9, low, high]), 15)


def _option(parameter: dict[str, Any]) -> SearchStrategy[str]:
    if "choices" in parameter:
        return st.sampled_from(parameter["choices"])
    low, high = float(parameter.get("min", 0)), float(parameter.get("max", 1e9))
    inside = st.floats(low, high).map(lambda value: f"{value:.6g}")
    return mostly(
        st.one_of(inside, st.sampled_from([f"{low:.9g}", f"{high:.9g}", f"{int(low)}"])),
        st.sampled_from(["", "nan", "-1", "1e400", "1:2:3", "1kB", "1s", "x"]),
        20,
    )


@st.composite
def _discipline(draw: st.DrawFn) -> str:
    row: dict[str, Any] = dict(draw(st.sampled_from(disciplines())))
    if not row["params"] or draw(st.integers(0, 2)):
        return str(row["id"])
    chosen = draw(st.lists(st.sampled_from(row["params"]), max_size=3, unique_by=lambda p: p["name"]))
    options = ",".join(f"{p['name']}={draw(_option(p))}" for p in chosen)
    return f"{row['id']}({options})"


DISCIPLINES = mostly(
    _discipline(), st.sampled_from(["", "all", "nonsense", "efd(", "efd()", "efd(threshold=)", "a,b"]), 40
)

_MARKS: dict[int, SearchStrategy[Any]] = {
    id(fields.Rate.__metadata__[0]): RATES,  # type: ignore[attr-defined]
    id(fields.Buffer.__metadata__[0]): BUFFERS,  # type: ignore[attr-defined]
    id(fields.Bytes.__metadata__[0]): st.one_of(st.integers(0, 70_000), st.sampled_from(["64kB", "2346B", "4GB"])),  # type: ignore[attr-defined]
    id(fields.Name.__metadata__[0]): WORDS,  # type: ignore[attr-defined]
    id(fields.Reverse.__metadata__[0]): st.one_of(st.just("same"), DISCIPLINES),  # type: ignore[attr-defined]
    id(fields.Compared.__metadata__[0]): st.one_of(st.just("compare"), DISCIPLINES),  # type: ignore[attr-defined]
}
"""Strategies of the types of :mod:`mayfly.fields`, by what marks them."""


def _number(kind: type, metadata: list[Any]) -> SearchStrategy[Any]:
    low, high = _bounds(metadata)
    if kind is int:
        least, most = int(low or 0), int(min(high if high is not None else 1000, MOST - 1))
        # Small numbers run in a short time; the ends are where mistakes are.
        usual = st.integers(least, max(least, min(most, least + 20)))
        return mostly(usual, st.sampled_from([least, most, least - 1, most + 1]), 20)
    least_f, most_f = low if low is not None else -10.0, high if high is not None else 1000.0
    return mostly(st.floats(least_f, most_f), st.one_of(st.just(least_f), st.just(most_f), ODD_FLOATS), 20)


def _marked(metadata: list[Any]) -> SearchStrategy[Any] | None:
    if any(mark is fields.Seconds.__metadata__[0] for mark in metadata):  # type: ignore[attr-defined]
        return _times(metadata)
    return next((_MARKS[id(mark)] for mark in metadata if id(mark) in _MARKS), None)


def of_type(annotation: Any, metadata: list[Any]) -> SearchStrategy[Any]:
    """What a type takes.

    Parameters
    ----------
    annotation : type
    metadata : list
        Bounds and validators beside it.
    """
    if (known := _marked(metadata)) is not None:
        return known
    origin = get_origin(annotation)
    if hasattr(annotation, "__metadata__"):
        if (model := fields.section_of(annotation)) is not None:
            return section(model)
        return of_type(annotation.__origin__, [*annotation.__metadata__, *metadata])
    if origin in (Union, types.UnionType):
        return st.one_of([of_type(one, metadata) for one in get_args(annotation) if one is not type(None)])
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if origin is tuple:
        return st.lists(of_type(get_args(annotation)[0], []), max_size=3)
    if origin is dict:
        return st.dictionaries(WORDS, of_type(get_args(annotation)[1], []), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return section(annotation)
    if annotation is bool:
        return st.booleans()
    if annotation in (int, float):
        return _number(annotation, metadata)
    if annotation is str:
        return st.one_of(WORDS, TEXTS, st.sampled_from(["54mbit", "mcs7", "given.csv", "/dev/null", "absent.csv"]))
    return ANYTHING


def of_field(field: FieldInfo) -> SearchStrategy[Any]:
    """What a field takes, and now and then what it does not."""
    return mostly(of_type(field.annotation, list(field.metadata)), ANYTHING, 60)


@st.composite
def section(draw: st.DrawFn, model: type[BaseModel], most: int = 6, leave: tuple[str, ...] = ()) -> dict[str, Any]:
    """A table: what a section needs, some of the rest, rarely a field that there is not."""
    named = {field.alias or name: field for name, field in model.model_fields.items() if name not in leave}
    needed = [name for name, field in named.items() if field.is_required()]
    chosen = draw(st.lists(st.sampled_from(sorted(named)), max_size=most, unique=True))
    found = {name: draw(of_field(named[name])) for name in dict.fromkeys([*needed, *chosen])}
    if draw(st.integers(0, 80)) == 80:
        found[draw(st.one_of(TEXTS, st.sampled_from(sorted(named)).map(lambda name: name + "s")))] = draw(ANYTHING)
    if needed and draw(st.integers(0, 60)) == 60:
        del found[needed[0]]
    return found


def column(name: str, values: list[Any]) -> pl.Series:
    """A column of a Parquet file, as text where its values have no type in common."""
    try:
        found = pl.Series(name, values, strict=True)
        if found.dtype.is_nested() or found.dtype == pl.Object:
            # Some of these, such as tables without a key, no Parquet holds.
            pl.DataFrame([found]).write_parquet(io.BytesIO())
        return found
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        pass
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def as_toml(document: dict[str, Any]) -> bytes:
    """A document as TOML."""
    return tomli_w.dumps(document).encode("utf-8", "surrogatepass")


@st.composite
def damaged(draw: st.DrawFn, content: bytes, one_in: int = 3) -> bytes:
    """Bytes as they are, or in one of so many with some changed, cut, doubled or put in."""
    if draw(st.integers(1, one_in)) != one_in or not content:
        return content
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(found) - 1, 0)))
        length = draw(st.sampled_from([1, 2, 4, 8, 40]))
        what = draw(st.sampled_from(["flip", "set", "cut", "end", "double", "insert"]))
        if what == "flip" and at < len(found):
            found[at] ^= 1 << draw(st.integers(0, 7))
        elif what == "set":
            found[at : at + length] = bytes([draw(st.sampled_from([0, 0xFF, 0x7F, 0x80, 0x2C, 0x0A]))]) * length
        elif what == "cut":
            del found[at : at + length]
        elif what == "end":
            del found[len(found) - min(len(found) - at, draw(st.sampled_from([1, 3, 20, 10**6]))) :]
        elif what == "double":
            found[at:at] = found[at : at + length]
        else:
            found[at:at] = draw(st.binary(min_size=1, max_size=8))
    return bytes(found)
