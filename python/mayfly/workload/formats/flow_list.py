"""Our own flow lists, CSV and Parquet: :mod:`mayfly.workload.lists`."""

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import polars as pl

from mayfly.text.parquet import MAGIC
from mayfly.workload import lists
from mayfly.workload.formats.format import Format, Rules, first_words


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    return lists.read_flows(path, mss=rules.mss)


def _is_csv(head: bytes) -> bool:
    found = first_words(head)
    return bool(found) and "start_s" in [name.strip().strip('"') for name in found[0].split(",")]


def _write_csv(flows: pl.DataFrame, path: Path, name: str) -> None:
    lists.in_text(flows).write_csv(
        path, compression="gzip" if name.endswith(".gz") else "uncompressed", check_extension=False
    )


def _write_csv_parts(parts: Iterator[pl.DataFrame], path: Path, name: str) -> None:
    with path.open("wb") as plain, contextlib.ExitStack() as stack:
        # Without the time of writing, as the other way has it.
        packed = gzip.GzipFile("", "wb", 6, plain, mtime=0) if name.endswith(".gz") else None
        file = cast("IO[bytes]", plain if packed is None else stack.enter_context(packed))
        for place, part in enumerate(parts):
            lists.in_text(part).write_csv(file, include_header=not place)


CSV = Format(
    id="csv",
    title="flow list, CSV",
    holds="everything, scripts and bursts too",
    suffixes=(".csv", ".csv.gz"),
    sniff=_is_csv,
    read=_read,
    write=_write_csv,
    write_parts=_write_csv_parts,
    source="[](../tables.md#flow-list-input)",
)

PARQUET = Format(
    id="parquet",
    title="flow list, Parquet",
    holds="everything, scripts and bursts too",
    suffixes=(".parquet",),
    sniff=lambda head: head.startswith(MAGIC),
    read=_read,
    write=lambda flows, path, _: lists.in_text(flows).write_parquet(path),
    source="[](../tables.md#flow-list-input)",
)
