"""Reads Parquet files for :mod:`mayfly.text.parquet`, in a process of its own; nothing of Mayfly is loaded here.

Principle: requests come on standard input, a line of JSON each, and the content of the file after it where it is none
of the disk. The answer is a line of JSON, and each chunk of each column as a stream of Arrow IPC behind its length. A
column is given up as soon as it is sent: a table is in memory once, here or there, and one of its columns twice.
"""

import io
import json
import os
import resource
import signal
import stat
import struct
import sys
import threading
import time
from errno import EISDIR
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")
"""Before the bytes of a chunk."""

_PARENT_S = 0.5
"""Between two looks whether the process that asks is still there."""


def serve() -> None:
    """Answers requests until there are no more."""
    import polars as pl

    asked, answer = sys.stdin.buffer, sys.stdout.buffer
    while line := asked.readline():
        request = json.loads(line)
        content = None if request["bytes"] is None else asked.read(request["bytes"])
        try:
            metadata, table = _read(request, content)
        except OSError as error:
            _refuse(answer, "OSError", error.strerror or str(error), error.errno)
        except pl.exceptions.PolarsError as error:
            _refuse(answer, type(error).__name__, str(error))
        except BaseException as error:
            # Panics of its native code are no exceptions of polars.
            _refuse(answer, "ComputeError", f"damaged: {error}")
        else:
            _tell(answer, {"metadata": metadata, "chunks": [table[name].n_chunks() for name in table.columns]})
            del content
            _send(answer, table)
        answer.flush()


def _read(request: dict[str, Any], content: bytes | None) -> tuple[dict[str, str], Any]:
    import polars as pl

    with _opened(request["path"]) if content is None else io.BytesIO(content) as file:
        metadata = pl.read_parquet_metadata(file)
        if request["metadata_only"]:
            return metadata, pl.DataFrame()
        if (most := request["most_rows"]) is not None:
            # What a few bytes claim to hold is counted before it is unpacked.
            file.seek(0)
            count = pl.scan_parquet(file).select(pl.len()).collect().item()
            if count > most:
                raise pl.exceptions.ComputeError(f"{count:,} rows: at most {most:,}")
        file.seek(0)
        if (rows := request["rows"]) is not None:
            # Of a file of the disk, the row groups of these rows alone are read.
            of = file if request["path"] is None else request["path"]
            part = pl.scan_parquet(of, glob=False, hive_partitioning=False).slice(*rows)
            return metadata, (part if request["columns"] is None else part.select(request["columns"])).collect()
        return metadata, pl.read_parquet(file, columns=request["columns"], hive_partitioning=False)


def _opened(path: str) -> BinaryIO:
    # A pipe would wait for who writes.
    source = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(source).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(source, "rb")
    os.close(source)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    raise OSError("not a regular file")


def _tell(answer: BinaryIO, found: dict[str, Any]) -> None:
    answer.write(json.dumps(found).encode() + b"\n")


def _refuse(answer: BinaryIO, kind: str, text: str, errno: int | None = None) -> None:
    _tell(answer, {"error": {"kind": kind, "text": text, "errno": errno}})


def _send(answer: BinaryIO, table: Any) -> None:
    import polars as pl

    for name in table.columns:
        column = table.drop_in_place(name)
        chunks = column.get_chunks()
        del column
        while chunks:
            buffer = io.BytesIO()
            chunks.pop(0).to_frame().write_ipc_stream(buffer, compat_level=pl.CompatLevel.newest())
            with buffer.getbuffer() as content:
                answer.write(LENGTH.pack(len(content)))
                answer.write(content)


def _end_with_parent(parent: int) -> None:
    """Ends the process soon after the one that asks has ended, however that did."""
    while os.getppid() == parent:
        time.sleep(_PARENT_S)
    os._exit(1)


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])
    # An interrupt is for the process that asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    serve()
