"""Results of runs in a folder: each is there as soon as it ends, and is gathered into Parquet shards now and then.

``runs/KEY.json`` holds a row that is not in a shard yet, ``shards/*.parquet`` the others, ``records/KEY.parquet`` the
flow records of a run where they are kept. A row appears complete or not at all, so a process may be killed at any time;
several may write into one folder, for nobody changes a file of another. A row that is there twice is the same twice.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.files import complete
from mayfly.text.folder import write_table

SCHEMA = 1
"""Version of the shards."""

GATHERED = 500
"""Rows in a shard."""

_TEXT = ("key", "status", "error", "discipline", "variant", "warm_up_note")
_WHOLE = ("seed",)


class Store:
    """The folder of a sweep.

    Parameters
    ----------
    folder : path
    create : bool
        Whether it may be made.

    Raises
    ------
    MayflyError
        It is not there, or cannot be written.
    """

    def __init__(self, folder: str | os.PathLike[str], create: bool = False):
        self.folder = Path(folder)
        self._fresh: list[str] = []
        if not create:
            if not (self.folder / "shards").is_dir():
                raise MayflyError(f"{folder}: not the folder of a sweep; `mayfly sweep FILE --out DIR` makes one")
            return
        try:
            for name in ("runs", "shards", "records"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MayflyError(f"{folder}: cannot be written: {error.strerror}") from None

    def rows(self) -> dict[str, dict[str, Any]]:
        """Every result by its address."""
        found: dict[str, dict[str, Any]] = {}
        for path in sorted((self.folder / "shards").glob("*.parquet")):
            for row in _read_shard(path).to_dicts():
                found[row["key"]] = row
        for row in self._loose():
            found[row["key"]] = row
        return found

    def _loose(self) -> Iterator[dict[str, Any]]:
        for path in sorted((self.folder / "runs").glob("*.json")):
            # Another process may have gathered it in the meantime; then it is in a shard.
            with contextlib.suppress(FileNotFoundError):
                yield json.loads(path.read_text(encoding="utf-8"))

    def table(self) -> pl.DataFrame:
        """All results as a table, a column for every figure that any run gave."""
        return _frame(list(self.rows().values()))

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
        try:
            if records is not None:
                with complete(self.folder / "records" / f"{key}.parquet", durable=True) as part:
                    write_table(records, part, compression_level=1)
            with complete(self.folder / "runs" / f"{key}.json", durable=True) as part:
                part.write_text(json.dumps(row, allow_nan=False), encoding="utf-8")
        except OSError as error:
            raise MayflyError(f"{self.folder}: cannot be written: {error.strerror or error}") from None
        self._fresh.append(key)
        if len(self._fresh) >= GATHERED:
            self.gather()

    def gather(self, left_behind: bool = False) -> None:
        """Moves rows into a shard.

        Parameters
        ----------
        left_behind : bool
            Also those of processes that ended before they could.
        """
        runs = self.folder / "runs"
        keys = [path.stem for path in sorted(runs.glob("*.json"))] if left_behind else self._fresh
        rows = []
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                rows.append(json.loads((runs / f"{key}.json").read_text(encoding="utf-8")))
        if rows:
            try:
                with complete(self.folder / "shards" / f"{uuid.uuid4().hex}.parquet", durable=True) as part:
                    write_table(_frame(rows), part, metadata={"mayfly.sweep": str(SCHEMA)})
            except OSError as error:
                raise MayflyError(f"{self.folder}: cannot be written: {error.strerror or error}") from None
        for key in keys:
            (runs / f"{key}.json").unlink(missing_ok=True)
        self._fresh = []


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


def _read_shard(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = (str(error).splitlines() or ["?"])[0]
        raise MayflyError(f"{path}: not a shard of a sweep: {reason}") from None
