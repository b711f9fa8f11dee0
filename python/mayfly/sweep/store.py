"""Results of runs in a folder: each is there as soon as it ends, and is gathered into Parquet shards now and then.

``runs/KEY.json`` holds a row that is not in a shard yet, ``shards/DIGEST.parquet`` the others, ``records/KEY.parquet``
the flow records of a run where they are kept. A row appears complete or not at all, so a process may be killed at any
time; several may write into one folder, for nobody changes a file of another. A row that is there twice is the same
twice.

A folder may come from a stranger, or be damaged. Rows and shards hold a digest of their content (SHA-256, a shard in
its name), so that no figure changes unseen; a file that does not agree is named, and `Store.check` sets it aside. No
symbolic link is followed inside the folder, and only its owner writes into it.
"""

import contextlib
import fcntl
import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.text.files import complete, first_line, flushed
from mayfly.text.folder import write_table
from mayfly.text.parquet import read_parquet
from mayfly.text.quantity import shown
from mayfly.text.readable import printable

SCHEMA = 1
"""Version of the shards."""

GATHERED = 500
"""Rows in a shard."""

LARGEST_FILE = 1 << 30
"""Bytes of a row or shard at most."""

MOST_ROWS = 10_000_000
"""Rows of a shard at most."""

FOLDERS = ("runs", "shards", "records")

_TEXT = ("key", "status", "error", "discipline", "variant", "warm_up_note")
_WHOLE = ("seed",)
_NEEDED = ("key", "status", "discipline", "seed")
_STATUSES = ("done", "failed")
_FIELD = "field."
"""How the names of the fields that vary begin; they alone may be text that is not in `_TEXT`."""
_DIGEST = "sha256"
"""Of the rest of a row, in its file; and how the names of shards begin that have one."""


class DamagedError(MayflyError):
    """A file of a store does not hold what it held when it was written.

    Parameters
    ----------
    path : Path
    reason : str
    """

    def __init__(self, path: Path, reason: str):
        self.path, self.reason = path, reason
        super().__init__(f"{path}: damaged: {reason}; `mayfly sweep check {path.parent.parent}` sets it aside")


@dataclass(frozen=True, repr=False)
class Checked(Result):
    """What a check found.

    Parameters
    ----------
    rows : int
        Results that are sound.
    damaged : list of DamagedError
        What was set aside.
    unsigned : int
        Shards without a digest, of an earlier version: they can be read, but a changed figure would not be seen.
    """

    rows: int
    damaged: list[DamagedError]
    unsigned: int

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        files = [{"file": str(error.path), "reason": error.reason} for error in self.damaged]
        return {"rows": self.rows, "damaged": files, "unsigned": self.unsigned}

    def tables(self) -> list[Any]:
        """None: sentences say it."""
        return []

    def sentences(self) -> list[str]:
        """What was found, in words."""
        said = [f"{printable(error.path.name)}: {error.reason}; set aside" for error in self.damaged]
        said.append(f"{self.rows:,} results are sound, {len(self.damaged):,} files are set aside in damaged")
        if self.damaged:
            said.append("the same `mayfly sweep FILE --out DIR` runs what they held again")
        if self.unsigned:
            said.append(f"{self.unsigned:,} shards of an earlier version have no digest: a changed figure is not seen")
        return said


class Store:
    """The folder of a sweep.

    Parameters
    ----------
    folder : path
    create : bool
        Whether it may be made, and written.

    Raises
    ------
    MayflyError
        It is not there, or cannot be written, or is not safe to write: it belongs to somebody else, or a folder in it
        is a symbolic link.
    """

    def __init__(self, folder: str | os.PathLike[str], create: bool = False):
        self.folder = Path(folder)
        self._fresh: list[str] = []
        if not create:
            if not (self.folder / "shards").is_dir():
                raise MayflyError(f"{folder}: not the folder of a sweep; `mayfly sweep FILE --out DIR` makes one")
            return
        try:
            absent = [path for path in (self.folder, *self.folder.absolute().parents) if not os.path.lexists(path)]
            for path in (self.folder, *(self.folder / name for name in FOLDERS)):
                path.mkdir(parents=True, exist_ok=True)
                _refuse_unsafe(path, inside=path is not self.folder)
            for path in (*(path.parent for path in absent), self.folder):
                flushed(path)
        except OSError as error:
            raise MayflyError(f"{folder}: cannot be written: {error.strerror}") from None

    def rows(self) -> dict[str, dict[str, Any]]:
        """Every result by its address.

        Raises
        ------
        DamagedError
            A file is.
        """
        # Rows go from `runs` into shards while this reads: one that has left is in a shard that is listed after it.
        loose = {row["key"]: row for row in self._loose()}
        found: dict[str, dict[str, Any]] = {}
        for path in self._shards():
            for row in _read_shard(path).to_dicts():
                found[row["key"]] = row
        return found | loose

    def _shards(self) -> list[Path]:
        return sorted((self.folder / "shards").glob("*.parquet"))

    def _loose(self) -> Iterator[dict[str, Any]]:
        for path in sorted((self.folder / "runs").glob("*.json")):
            # Another process may have gathered it in the meantime; then it is in a shard.
            with contextlib.suppress(FileNotFoundError):
                yield _read_row(path)

    def table(self) -> pl.DataFrame:
        """All results as a table, a column for every figure that any run gave."""
        return _frame(list(self.rows().values()))

    def records(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Flow records that are kept, with the address of their run.

        Raises
        ------
        DamagedError
            A file is no table.
        """
        for path in sorted((self.folder / "records").glob("*.parquet")):
            try:
                yield path.stem, read_parquet(_content(path))
            except (OSError, pl.exceptions.PolarsError) as error:
                raise DamagedError(path, f"no flow records: {first_line(error)}") from None

    def add(self, row: dict[str, Any], records: pl.DataFrame | None = None) -> None:
        """Keeps a result.

        Parameters
        ----------
        row : dict
            With ``key``.
        records : polars.DataFrame, optional
            Flow records; there before the row is.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        key = row["key"]
        with self._written():
            if records is not None:
                from mayfly.workload.lists import in_text

                with complete(self.folder / "records" / f"{key}.parquet", clear=False) as part:
                    write_table(in_text(records), part, compression_level=1)
            with complete(self.folder / "runs" / f"{key}.json", clear=False) as part:
                part.write_text(json.dumps({_DIGEST: _digest_of(row), "row": row}, allow_nan=False), encoding="utf-8")
        self._fresh.append(key)
        if len(self._fresh) >= GATHERED:
            self.gather()

    def gather(self, left_behind: bool = False) -> None:
        """Moves rows into a shard.

        Parameters
        ----------
        left_behind : bool
            Also those of processes that ended before they could.

        Raises
        ------
        MayflyError
            The folder cannot be written, or a row is damaged.
        """
        runs = self.folder / "runs"
        keys = [path.stem for path in sorted(runs.glob("*.json"))] if left_behind else self._fresh
        rows = []
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                rows.append(_read_row(runs / f"{key}.json"))
        if rows:
            buffer = io.BytesIO()
            _frame(rows).write_parquet(buffer, metadata={"mayfly.sweep": str(SCHEMA)})
            content = buffer.getvalue()
            with self._written(), complete(self.folder / "shards" / _signed_name(content), clear=False) as part:
                part.write_bytes(content)
        with self._written():
            for key in keys:
                (runs / f"{key}.json").unlink(missing_ok=True)
        self._fresh = []

    def check(self) -> Checked:
        """Reads every file, and moves what is damaged into the folder ``damaged``: the sweep runs it again.

        Returns
        -------
        Checked

        Raises
        ------
        MayflyError
            A sweep runs here, or the folder cannot be written.
        """
        damaged, keys, unsigned = [], set(), 0
        with self.alone((0, 1)):
            for path in (*sorted((self.folder / "runs").glob("*.json")), *self._shards()):
                try:
                    keys |= {_read_row(path)["key"]} if path.suffix == ".json" else set(_read_shard(path)["key"])
                    unsigned += path.suffix == ".parquet" and not _signed(path)
                except DamagedError as error:
                    damaged.append(error)
            try:
                for found in damaged:
                    aside = self.folder / "damaged"
                    aside.mkdir(exist_ok=True)
                    _refuse_unsafe(aside, inside=True)
                    found.path.rename(aside / found.path.name)
            except OSError as error:
                raise MayflyError(f"{self.folder}: cannot be written: {error.strerror}") from None
        return Checked(len(keys), damaged, unsigned)

    @contextmanager
    def alone(self, shard: tuple[int, int]) -> Iterator[None]:
        """Nobody else runs this part, nor the sweep in another number of parts: runs would be made twice.

        Parameters
        ----------
        shard : tuple of int
            Part, from 0, of so many.

        Yields
        ------
        None
            The whole sweep, part 0 of 1, is alone in the folder: what writers that were killed left half done is
            removed.

        Raises
        ------
        MayflyError
            Another process runs it, or a lock cannot be opened.
        """
        part, parts = shard
        with self._locked(".lock") as everybody, self._locked(f".lock-{part + 1}-of-{parts}") as mine:
            with self._written():
                _agree(everybody, parts, self.folder)
            try:
                fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MayflyError(f"{self.folder}: another process runs this sweep there") from None
            if parts == 1:
                with self._written():
                    for name in FOLDERS:
                        for left in (self.folder / name).glob(".*.partial"):
                            left.unlink(missing_ok=True)
            yield

    @contextmanager
    def _written(self) -> Iterator[None]:
        """What fails in the folder is one line."""
        try:
            yield
        except OSError as error:
            raise MayflyError(f"{self.folder}: cannot be written: {error.strerror or error}") from None

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """One process at a time reads the results and writes the report: a later report has no fewer results.

        Yields
        ------
        None

        Raises
        ------
        MayflyError
            The lock cannot be opened.
        """
        with self._locked(".lock-report") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _locked(self, name: str) -> Iterator[int]:
        """A lock of the folder, open: no link is followed, and nothing is emptied."""
        path = self.folder / name
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        except OSError as error:
            reason = "is a symbolic link" if path.is_symlink() else error.strerror
            raise MayflyError(f"{path}: cannot be locked: {reason}; remove it") from None
        try:
            if not stat.S_ISREG(os.fstat(lock).st_mode):
                raise MayflyError(f"{path}: cannot be locked: no regular file; remove it")
            yield lock
        finally:
            os.close(lock)


def _agree(lock: int, parts: int, folder: Path) -> None:
    """Holds the lock together with those that run the sweep in as many parts; the first one writes how many."""
    for _ in range(50):
        # Whoever changes the number has the lock alone for that moment.
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(parts).encode(), 0)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if (there := os.pread(lock, 20, 0)) == str(parts).encode():
                return
            if there:
                break
        time.sleep(0.02)
    raise MayflyError(f"{folder}: another process runs this sweep there, in another number of parts than {parts}")


def _refuse_unsafe(path: Path, *, inside: bool) -> None:
    """Refuses to write into what is a link inside a store, and into folders of others."""
    if inside and path.is_symlink():
        raise MayflyError(f"{path}: a symbolic link in the folder of a sweep is not followed; remove it")
    if (owner := path.stat().st_uid) != os.geteuid():
        raise MayflyError(f"{path}: belongs to another user ({owner}): copy the folder, and sweep into the copy")


def _content(path: Path) -> bytes:
    """A file of a store, if it is one: no link, pipe or device, and not larger than any store makes."""
    try:
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DamagedError(path, "a symbolic link" if path.is_symlink() else str(error.strerror)) from None
    with open(source, "rb") as stream:
        about = os.fstat(source)
        if not stat.S_ISREG(about.st_mode):
            raise DamagedError(path, "no regular file")
        if about.st_size > LARGEST_FILE:
            raise DamagedError(path, f"{about.st_size:,} bytes: at most {LARGEST_FILE:,}")
        return stream.read()


def _digest_of(row: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, allow_nan=False).encode()).hexdigest()


def _read_row(path: Path) -> dict[str, Any]:
    """A row that is not in a shard yet; one of an earlier version stands alone, without a digest."""
    try:
        row = json.loads(_content(path).decode("utf-8"), parse_constant=_refuse_constant)
        if isinstance(row, dict) and "row" in row:
            digest, row = row.get(_DIGEST), row["row"]
            if digest != hashlib.sha256(json.dumps(row, allow_nan=False).encode()).hexdigest():
                raise DamagedError(path, "changed since it was written")
        if not isinstance(row, dict) or row.get("key") != path.stem or row.get("status") not in _STATUSES:
            raise DamagedError(path, "not the row of its key")
        _refuse_types(row)
        # As it will be in a shard.
        _frame([row])
    except (ValueError, TypeError, OverflowError, RecursionError, pl.exceptions.PolarsError) as error:
        raise DamagedError(path, f"not a row: {first_line(error)}") from None
    return row


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no figure")


def _signed(path: Path) -> bool:
    return path.name.startswith(f"{_DIGEST}-")


def _signed_name(content: bytes) -> str:
    return f"{_DIGEST}-{hashlib.sha256(content).hexdigest()}.parquet"


def _read_shard(path: Path) -> pl.DataFrame:
    content = _content(path)
    if _signed(path) and path.name != _signed_name(content):
        raise DamagedError(path, "changed since it was written")
    try:
        table = read_parquet(content, most_rows=MOST_ROWS)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DamagedError(path, f"not a shard of a sweep: {first_line(error)}") from None
    for name in _NEEDED:
        if name not in table.schema or table[name].null_count():
            raise DamagedError(path, f"not a shard of a sweep: no column {name}")
    for name, kind in table.schema.items():
        if not _is_of_a_sweep(name, kind):
            raise DamagedError(path, f"not a shard of a sweep: column {printable(name)} is of type {kind}")
        if kind.is_float() and not table[name].is_finite().all():
            raise DamagedError(path, f"not a shard of a sweep: a value of column {printable(name)} is no figure")
    if not table["status"].is_in(_STATUSES).all():
        raise DamagedError(path, "not a shard of a sweep: a status is none")
    return table


def _is_of_a_sweep(name: str, kind: pl.DataType) -> bool:
    """Whether a column of a shard has a type that `_frame` gives it."""
    if name in _TEXT:
        return kind == pl.String or (kind == pl.Null and name not in _NEEDED)
    if name in _WHOLE:
        return kind.is_integer()
    return kind.is_numeric() or kind in (pl.Boolean, pl.Null) or (kind == pl.String and name.startswith(_FIELD))


def _refuse_types(row: dict[str, Any]) -> None:
    """Refuses a row with what no run writes: it would stop whoever reads it.

    Raises
    ------
    ValueError
        A text, a seed or a figure that is none.
    """
    for name in _NEEDED:
        if name not in row or row[name] is None:
            raise ValueError(f"no {name}")
    for name, value in row.items():
        if name in _TEXT:
            known = value is None or isinstance(value, str)
        elif name in _WHOLE:
            known = type(value) is int and 0 <= value < 2**63
        else:
            known = (
                value is None or isinstance(value, int | float) or (isinstance(value, str) and name.startswith(_FIELD))
            )
        if not known:
            raise ValueError(f"{name} = {shown(value)}")


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table whose columns have types of their own, whatever a shard happens to hold."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if name in _TEXT or any(isinstance(value, str) for value in values):
            texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
            columns[name] = pl.Series(name, texts, dtype=pl.String)
        elif name in _WHOLE:
            columns[name] = pl.Series(name, values, dtype=pl.Int64)
        elif values and all(value is None or isinstance(value, bool) for value in values):
            columns[name] = pl.Series(name, values, dtype=pl.Boolean)
        else:
            numbers = [None if value is None else float(value) for value in values]
            columns[name] = pl.Series(name, numbers, dtype=pl.Float64)
    return pl.DataFrame(columns)
