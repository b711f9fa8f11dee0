"""Kinds of columns of a flow list: what values each may hold, and how they are read from numbers or text."""

from dataclasses import dataclass

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.readable import printable
from mayfly.workload import applications, bursts, scripts

WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
NAME = r"^\P{C}+$"


@dataclass(frozen=True)
class Number:
    """A numeric column: its type and the closed range of its values, in ``unit``."""

    dtype: type[pl.DataType]
    low: float
    high: float
    unit: str
    meaning: str

    @property
    def type(self) -> str:
        """Name of the type in the tables of columns."""
        return "int64" if self.dtype is pl.Int64 else "float64"

    def domain(self) -> str:
        """Say the range, for messages."""
        kind = "a whole number" if self.dtype is pl.Int64 else "a number"
        return f"{kind} from {self.low:.17g} to {self.high:.17g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Choice:
    """A column of one of a few words, or of their first letters; the first is the default."""

    words: tuple[str, ...]
    meaning: str
    type = "string"
    unit = ""

    def domain(self) -> str:
        """Say the words, for messages."""
        return " or ".join(self.words)


@dataclass(frozen=True)
class Host:
    """A column of end points: whole numbers or names."""

    meaning: str
    type = "string or int64"
    unit = ""

    def domain(self) -> str:
        """Say the rule, for messages."""
        return "a whole number or a name of 1 to 255 printable characters"


@dataclass(frozen=True)
class Bursts:
    """A column of UDP bursts, text or lists of structs, which :mod:`mayfly.workload.bursts` checks."""

    meaning: str
    type = "string"
    unit = ""
    taken = (pl.String, pl.List)

    def domain(self) -> str:
        """Say the rule, for messages."""
        return bursts.EXPECTED


@dataclass(frozen=True)
class Label:
    """A column of free names; null where not given."""

    meaning: str
    type = "string"
    unit = ""

    def domain(self) -> str:
        """Say the rule, for messages."""
        return "a name of 1 to 255 printable characters"


@dataclass(frozen=True)
class Script:
    """A column of scripts, text or lists of structs, which :mod:`mayfly.workload.scripts` checks."""

    meaning: str
    type = "string"
    unit = ""
    taken = (pl.String, pl.List)

    def domain(self) -> str:
        """Say the rule, for messages."""
        return scripts.EXPECTED


@dataclass(frozen=True)
class Application:
    """A column of applications, read by :mod:`mayfly.workload.applications`; absent where no flow has any."""

    meaning: str
    type = "string"
    unit = ""
    taken = (pl.String,)

    def domain(self) -> str:
        """Say the rule, for messages."""
        return applications.EXPECTED


Kind = Number | Choice | Host | Bursts | Label | Script | Application


def checked(raw: pl.Series, column: Kind, source: str) -> pl.Series:
    """Give the column its own type, null where it was null; refuse the first value outside its domain."""
    if isinstance(raw.dtype, pl.Categorical | pl.Enum):
        raw = raw.cast(pl.String)
    if isinstance(column, Host) and raw.dtype.is_integer():
        values = raw.cast(pl.Int64, strict=False)
        good = values.is_not_null() | raw.is_null()
    elif isinstance(column, Number) and (raw.dtype.is_numeric() or raw.dtype == pl.String):
        values = numbers(raw, column.dtype)
        good = values.is_between(column.low, column.high)
    elif isinstance(raw.dtype, column.taken if isinstance(column, Bursts | Script | Application) else ()):
        return raw
    elif raw.dtype == pl.String:
        # Numbers, bursts, scripts and applications are done with above.
        assert isinstance(column, Choice | Host | Label)
        values, good = words(raw, column)
    else:
        raise MayflyError(f"{source}: column {raw.name} is of type {printable(raw.dtype)}: must be {column.domain()}")
    if values.null_count() > raw.null_count() or not good.all():
        wrong = raw.is_not_null() & ~good.fill_null(False)
        refuse(raw.name, wrong, raw, column.domain(), source)
    return values


def numbers(raw: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """``raw`` as numbers, null where it is none; a whole number may be spelt ``1460.0`` or have blanks around it."""
    if raw.dtype == dtype:
        return raw
    if dtype == pl.Float64:
        values = raw.cast(pl.Float64, strict=False)
        if raw.dtype == pl.String and values.null_count() > raw.null_count():
            values = raw.str.strip_chars().cast(pl.Float64, strict=False)
        return values
    if raw.dtype == pl.String:
        raw = raw.str.strip_chars()
    whole = raw.cast(pl.Int64, strict=False) if raw.dtype.is_integer() or raw.dtype == pl.String else None
    if whole is None or whole.null_count() > raw.null_count():
        real = raw.cast(pl.Float64, strict=False)
        lax = real.set(~(real == real.floor()).fill_null(False), None).cast(pl.Int64, strict=False)
        whole = lax if whole is None else whole.zip_with(whole.is_not_null(), lax)
    return whole


def words(raw: pl.Series, column: Choice | Host | Label) -> tuple[pl.Series, pl.Series]:
    """``raw`` without blanks around its values, and whether each is allowed."""
    distinct = raw.unique().drop_nulls()
    if (distinct.str.strip_chars() != distinct).any():
        raw = raw.str.strip_chars()
        distinct = raw.unique().drop_nulls()
    if isinstance(column, Choice):
        letters = {word[0]: word for word in column.words}
        if distinct.is_in(list(letters)).any():
            raw = raw.replace(letters)
            distinct = raw.unique().drop_nulls()
        allowed = distinct.is_in(list(column.words))
    else:
        allowed = distinct.str.contains(NAME) & (distinct.str.len_chars() <= 255)
    if allowed.all():
        return raw, allowed
    return raw, raw.is_in(distinct.filter(allowed).implode())


def is_whole(host: pl.Series) -> bool:
    """Whether every name is a whole number in its shortest spelling, so that the number tells the same hosts apart."""
    return bool(host.unique().drop_nulls().str.contains(WHOLE).all())


def refuse(name: str, wrong: pl.Series, values: pl.Series, bound: str, source: str) -> None:
    """Raise for the value in the first row where ``wrong`` is true."""
    row = wrong.arg_max() or 0
    shown = values[row : row + 1]
    if isinstance(values.dtype, pl.List):
        shown = (scripts if name == "script" else bursts).written(shown)
    raise MayflyError(f"{source}: row {row + 1}: {name} = {printable(shown.item())}: must be {bound}")
