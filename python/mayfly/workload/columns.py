"""Columns of connections as arrays, from the compiled module or from a table of polars.

Principle: of some seventy columns a profile needs thirty, and sums and orders them by arrays; the library for tables
takes longer to import than that. Words are places in a list of them. What is not known is NaN, or no word.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Booleans, Floats, Integers, Numbers
from mayfly.errors import MayflyError
from mayfly.limits import limits, refuse_flows

if TYPE_CHECKING:
    import polars as pl

    from mayfly._native import CaptureProfile


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words.

    Parameters
    ----------
    names : sequence of str
        Each word that is there, once.
    codes : numpy.ndarray of int, shape (n,)
        Place of each row's word among them; -1 for none.
    """

    names: Sequence[str]
    codes: Integers

    def among(self, words: Iterable[str]) -> Booleans:
        """Which rows have one of some words, shape (n,)."""
        wanted = frozenset(words)
        # The last of them is at -1.
        found: Booleans = np.array([*(name in wanted for name in self.names), False])[self.codes]
        return found

    def are(self, word: str) -> Booleans:
        """Which rows have a word, shape (n,)."""
        return self.among((word,))

    def of(self, rows: Any) -> Words:
        """The words of some rows."""
        return Words(self.names, self.codes[rows])

    def present(self) -> Words:
        """The same with the words that rows have alone, in the order in which they come."""
        places, firsts = np.unique(self.codes, return_index=True)
        order = places[np.argsort(firsts)]
        order = order[order >= 0]
        anew = np.full(len(self.names) + 1, -1, dtype=np.int32)
        anew[order] = np.arange(len(order), dtype=np.int32)
        return Words([self.names[place] for place in order.tolist()], anew[self.codes])

    def listed(self) -> list[str | None]:
        """The word of each row."""
        names = [*self.names, None]
        return [names[code] for code in self.codes.tolist()]


class Columns:
    """Columns of the same rows.

    Parameters
    ----------
    height : int
        Rows.
    names : sequence of str
        Of the columns.
    numbers, words : callable
        The column of a name, as an array and as words.
    table : callable
        All of it as a table.
    folder : TemporaryDirectory, optional
        Of the files that the columns are in, as long as they are there.
    """

    def __init__(
        self,
        height: int,
        names: Sequence[str],
        numbers: Callable[[str], Any],
        words: Callable[[str], Words],
        table: Callable[[], pl.DataFrame],
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ):
        self.height, self.names = height, names
        self._numbers, self._words, self._table, self._folder = numbers, words, table, folder
        self._found: dict[str, Any] = {}

    def held(self, values: Any) -> Any:
        """What was made of the columns, shape (n,): as pages of a file where these are, since it is as large.

        Raises
        ------
        MayflyError
            The file cannot be written.
        """
        if self._folder is None or not len(values):
            return values
        path = self._new_file(self._folder.name, "")
        with _of_files(self._folder.name):
            values.tofile(path)
            return _mapped(path, values.dtype)

    def _new_file(self, folder: str, ending: str) -> str:
        # Several tables may have their files there, which is this process's own.
        return os.path.join(folder, f"made-{uuid.uuid4().hex}{ending}")

    @property
    def folder(self) -> tempfile.TemporaryDirectory[str] | None:
        """Of the files that the columns are in, if they are."""
        return self._folder

    def held_table(self, made: pl.DataFrame) -> pl.LazyFrame:
        """The same of a table, which is read when it is asked for."""
        import polars as pl

        if self._folder is None:
            return made.lazy()
        path = self._new_file(self._folder.name, ".arrow")
        with _of_files(self._folder.name):
            made.write_ipc(path)
        return pl.scan_ipc(path)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Any:
        """A column of numbers or flags, shape (n_rows,)."""
        if name not in self._found:
            self._found[name] = self._numbers(name)
        return self._found[name]

    def words(self, name: str) -> Words:
        """A column of words."""
        if name not in self._found:
            self._found[name] = self._words(name)
        found: Words = self._found[name]
        return found

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All of it as a table."""
        return self._table()

    def chosen(self, rows: Booleans) -> Columns:
        """The columns of the rows that ``rows`` says, shape (n_rows,); of all of them these."""
        if rows.all():
            return self

        def table() -> pl.DataFrame:
            return self.frame.filter(rows)

        return Columns(
            int(rows.sum()),
            self.names,
            lambda name: self[name][rows],
            lambda name: self.words(name).of(rows).present(),
            table,
        )

    def part(self, names: Iterable[str], rows: Integers) -> pl.DataFrame:
        """Some columns of some rows as a table; what is not known is null.

        Parameters
        ----------
        names : iterable of str
            Of columns.
        rows : numpy.ndarray of int, shape (n,)
            Places of rows.

        Returns
        -------
        polars.DataFrame, shape (n, n_names)
        """
        import polars as pl

        def column(name: str) -> pl.Series:
            if name in WORDS:
                words = self.words(name).of(rows)
                return pl.Series(name, words.names, dtype=pl.String)[words.codes]
            return pl.Series(name, self[name][rows], nan_to_null=True)

        return pl.DataFrame([column(name) for name in names])


if TYPE_CHECKING:
    from typing import TypeAlias

    Table: TypeAlias = Columns | pl.DataFrame
    """Columns, or a table that has them."""
else:
    Table = Any


def columns_of(table: Table) -> Columns:
    """The columns of a table, each taken when it is asked for.

    Parameters
    ----------
    table : polars.DataFrame or Columns
        The latter is itself the answer.

    Returns
    -------
    Columns

    Examples
    --------
    >>> import polars as pl
    >>> found = columns_of(pl.DataFrame({"end": ["a", None, "b"], "rtt_s": [1.0, None, 2.0]}))
    >>> found.words("end").are("b").tolist(), found["rtt_s"].tolist()
    ([False, False, True], [1.0, nan, 2.0])
    """
    if isinstance(table, Columns):
        return table
    return Columns(
        table.height,
        table.columns,
        lambda name: table[name].to_numpy(),
        lambda name: _words_of(table[name]),
        lambda: table,
    )


def _words_of(series: pl.Series) -> Words:
    import polars as pl

    names = series.drop_nulls().unique(maintain_order=True)
    codes = series.replace_strict(names, np.arange(len(names)), default=-1, return_dtype=pl.Int64)
    return Words(names.to_list(), codes.to_numpy())


FEW_WORDS = 127
"""Words whose places fit into a byte each."""

WORDS = frozenset(("protocol", "opener", "responder", "opener_from", "state", "zeek_state", "class", "side", "reason"))
"""Columns of words."""

ROW_BYTES = 1_000
"""Memory that a row of the whole table takes while it is put together."""

_KINDS: Mapping[str, Any] = {"f": np.float64, "i": np.int64, "b": np.bool_}


def columns_of_capture(read: CaptureProfile, height: int, folder: tempfile.TemporaryDirectory[str]) -> Columns:
    """The columns of connections that the compiled module read.

    Parameters
    ----------
    read : CaptureProfile
        Its columns.
    height : int
        Rows.
    folder : TemporaryDirectory
        Where columns of connections that wait in a file are put: pages of such files are no memory of the process.

    Returns
    -------
    Columns

    Raises
    ------
    MayflyError
        A file cannot be written or read; in the reading of a column.
    """
    if read.is_stored():
        return _columns_of_files(read, height, folder)

    def numbers(name: str) -> Numbers | Booleans:
        kind, values = read.numbers(name)
        found: Numbers | Booleans = np.frombuffer(values, _KINDS[kind])
        return found

    def words(name: str) -> Words:
        names, codes = read.words(name)
        return Words(names, np.frombuffer(codes, np.int32))

    def table() -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(read.table())

    return Columns(height, read.names(), numbers, words, table)


def _columns_of_files(read: CaptureProfile, height: int, place: tempfile.TemporaryDirectory[str]) -> Columns:
    folder = place.name

    def numbers(name: str) -> Numbers | Booleans:
        path = os.path.join(folder, name)
        with _of_files(folder):
            found: Numbers | Booleans = _mapped(path, _KINDS[read.numbers_to(name, path)])
        return found

    def words(name: str) -> Words:
        path = os.path.join(folder, name)
        with _of_files(folder):
            names, codes = read.words_to(name, path), _mapped(path, np.int32)
        # Copies of them are made for each figure that has classes.
        return Words(names, codes.astype(np.int8) if len(names) < FEW_WORDS else codes)

    def table() -> pl.DataFrame:
        import polars as pl

        refuse_flows(height, ROW_BYTES, "the table of all connections", "connections")
        with _of_files(folder):
            return pl.DataFrame(read.table())

    return Columns(height, read.names(), numbers, words, table, place)


def _mapped(path: str, kind: Any) -> Any:
    """The values of a file as its pages, which are no memory of the process."""
    limits.maps_data = True
    return np.asarray(np.memmap(path, kind, "r"))


@contextlib.contextmanager
def _of_files(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MayflyError(f"{folder}: connections that do not fit into memory cannot be kept: {error}") from None


def hosts_of_ends(table: Columns) -> tuple[list[str], Integers, Integers]:
    """Every address once, and the place of the opener and of the responder of each row among them."""
    opener, responder = table.words("opener"), table.words("responder")
    places = {name: place for place, name in enumerate(opener.names)}
    moved = np.array([places.setdefault(name, len(places)) for name in responder.names], dtype=np.int64)
    return list(places), opener.codes, moved[responder.codes] if table.height else responder.codes


def begins_of(values: Floats | Integers) -> Integers:
    """Where runs of one value begin, none of no values."""
    return np.flatnonzero(np.concatenate([np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]]))


def sums_at(places: Integers, values: Any, count: int) -> Integers:
    """Sums of whole values by place, shape (count,)."""
    found: Integers = np.zeros(count, dtype=np.int64)
    np.add.at(found, places, values)
    return found
