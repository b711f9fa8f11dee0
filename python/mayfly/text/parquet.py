"""Parquet files of strangers, read where they can do no harm: the only place of Mayfly that reads Parquet.

Principle: a damaged file can make the decoder of polars ask for more memory than there is, and Rust ends the process
then, without an exception that somebody could catch (`memory allocation of 2305843009213693952 bytes failed`). No check
beforehand finds such a file without decoding it, since the number may be in compressed data. So a process of its own
decodes (:mod:`mayfly.text.parquet_process`), and what it found crosses as Arrow IPC. Where that process dies, the file
is damaged, and that is an error like any other. It is started at the first file, which takes some 0.2 s, and reads
those that follow.
"""

import atexit
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.limits import counted
from mayfly.text import parquet_process
from mayfly.text.parquet_process import LENGTH

if TYPE_CHECKING:
    import polars as pl

MAGIC = b"PAR1"
"""How a Parquet file begins."""

_LARGE_BYTES = 64 << 20
"""Of an answer: the process that gave more has memory that it would keep, and is ended."""


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a Parquet file does.

    Raises
    ------
    MayflyError
        It cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise MayflyError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from None


def read_parquet(
    source: str | os.PathLike[str] | bytes,
    *,
    columns: Sequence[str] | None = None,
    most_rows: int | None = None,
    rows: tuple[int, int] | None = None,
) -> "pl.DataFrame":
    """Read a Parquet file.

    Parameters
    ----------
    source : path or bytes
        A regular file, or the content of one.
    columns : sequence of str, optional
        Those to read; all when None.
    most_rows : int, optional
        A file that says it has more is refused before it is unpacked.
    rows : tuple of int, optional
        First row, from 0, and how many, in place of all; fewer at the end.

    Returns
    -------
    polars.DataFrame, shape (n_rows, n_columns)

    Raises
    ------
    OSError
        The file cannot be opened.
    polars.exceptions.PolarsError
        It is damaged, has too many rows, or lacks a column.

    Examples
    --------
    >>> import io
    >>> import polars as pl
    >>> kept = io.BytesIO()
    >>> pl.DataFrame({"size": [3, 4]}).write_parquet(kept)
    >>> read_parquet(kept.getvalue())["size"].to_list()
    [3, 4]
    >>> read_parquet(kept.getvalue(), rows=(1, 5))["size"].to_list()
    [4]
    """
    wanted = columns if columns is None else [*columns]
    _, table = _PROCESS.ask(source, columns=wanted, most_rows=most_rows, rows=rows)
    return table


def read_parquet_metadata(source: str | os.PathLike[str] | bytes) -> dict[str, str]:
    """Read what a Parquet file says of itself, by key.

    Parameters
    ----------
    source : path or bytes
        As for :func:`read_parquet`.

    Returns
    -------
    dict of str

    Raises
    ------
    OSError, polars.exceptions.PolarsError
        As :func:`read_parquet`.
    """
    metadata, _ = _PROCESS.ask(source, metadata_only=True)
    return metadata


class _Process:
    """The process that decodes, started when it is needed; one file at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self,
        source: str | os.PathLike[str] | bytes,
        *,
        columns: list[str] | None = None,
        most_rows: int | None = None,
        rows: tuple[int, int] | None = None,
        metadata_only: bool = False,
    ) -> "tuple[dict[str, str], pl.DataFrame]":
        content = source if isinstance(source, bytes) else None
        path = None if isinstance(source, bytes) else os.fspath(source)
        request = {
            # The process has its own working directory.
            "path": None if path is None else os.path.abspath(path),
            "bytes": None if content is None else len(content),
            "columns": columns,
            "most_rows": most_rows,
            "rows": rows,
            "metadata_only": metadata_only,
        }
        with self._lock:
            try:
                found, table = self._answer(request, content)
            except EOFError:
                raise _damaged(self.end()) from None
            except BaseException:
                # After an interrupt, half of an answer may be on its way.
                self.end()
                raise
        if (error := found.get("error")) is not None:
            raise _as_told(error, path)
        return found["metadata"], table

    def _answer(self, request: dict[str, Any], content: bytes | None) -> "tuple[dict[str, Any], pl.DataFrame]":
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        # Where it is dead, its answer ends at once.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.write(content or b"")
            process.stdin.flush()
        found, table, length = _received(process.stdout)
        if length > _LARGE_BYTES:
            self.end()
        return found, table

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", parquet_process.__file__, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            counted.add(self._process.pid)
        return self._process

    def end(self) -> int:
        """Ends the process, whatever it does.

        Returns
        -------
        int
            How it ended, as :mod:`subprocess` tells it; 0 where there was none.
        """
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        with contextlib.suppress(BrokenPipeError), process:
            pass
        counted.discard(process.pid)
        return process.returncode

    def forget(self) -> None:
        """Of a process that was forked: the one that decodes is its parent's."""
        self._lock, self._process = threading.Lock(), None
        counted.clear()


def _received(answer: "IO[bytes]") -> "tuple[dict[str, Any], pl.DataFrame, int]":
    """An answer, and how many bytes its table has.

    Raises
    ------
    EOFError
        It ended too early.
    """
    import polars as pl

    line = answer.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    found = json.loads(line)
    columns, total = [], 0
    for count in found.get("chunks", []):
        chunks = []
        for _ in range(count):
            (length,) = LENGTH.unpack(_exactly(answer, LENGTH.size))
            chunks.append(pl.read_ipc_stream(io.BytesIO(_exactly(answer, length))).to_series())
            total += length
        columns.append(pl.concat(chunks, rechunk=False))
    return found, pl.DataFrame(columns), total


def _exactly(answer: "IO[bytes]", length: int) -> bytes:
    content = answer.read(length)
    if len(content) < length:
        raise EOFError
    return content


def _as_told(error: dict[str, Any], path: str | None) -> Exception:
    """The exception that the process told of."""
    import polars as pl

    if error["kind"] == "OSError":
        return OSError(error["errno"], error["text"], path)
    kind: object = getattr(pl.exceptions, error["kind"], None)
    if isinstance(kind, type) and issubclass(kind, pl.exceptions.PolarsError):
        return kind(error["text"])
    return pl.exceptions.ComputeError(error["text"])


def _damaged(status: int) -> Exception:
    import polars as pl

    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return pl.exceptions.ComputeError(f"damaged: reading it ended with {how}")


_PROCESS = _Process()
atexit.register(_PROCESS.end)
os.register_at_fork(after_in_child=_PROCESS.forget)
