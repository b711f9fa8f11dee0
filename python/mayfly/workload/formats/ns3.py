"""CSV for a simple ns-3 script: a line per transfer, numbers only, so that ``>>`` of C++ or ``split`` reads it."""

import csv
from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import Format, Rules, first_words, lines
from mayfly.workload.lists import flow_list

COLUMNS = {
    "start": "start_s",
    "size": "size_bytes",
    "src": "src",
    "dst": "dst",
    "up": "direction",
    "udp": "protocol",
    "packet": "packet_bytes",
    "rate": "rate_bps",
    "rtt": "rtt_s",
}
"""Columns of the file, in order, and of our flow list."""


def _write(flows: pl.DataFrame, path: Path, name: str) -> list[str]:
    lost = []
    waits = flows["after"].is_not_null()
    if waits.any():
        lost.append(f"{waits.sum()} flows that start after others were left out")
    for column, word in (("script", "script"), ("bursts", "bursts")):
        if column in flows.columns and (held := flows[column].count()):
            end = "became one transfer of its bytes" if column == "script" else "became a mean rate"
            lost.append(f"{held} flows with {word}: {end}")
    numbers = {host: place for place, host in enumerate(pl.concat([flows["src"], flows["dst"]]).unique().sort(), 0)}
    if flows["src"].dtype == pl.String:
        lost.append(f"{len(numbers)} hosts are numbered from 0, in the order of their names")
    hosts = [
        (pl.col(end).replace_strict(numbers, return_dtype=pl.Int64) if flows[end].dtype == pl.String else pl.col(end))
        for end in ("src", "dst")
    ]
    table = flows.filter(~waits).select(
        pl.col("start_s").alias("start"),
        pl.col("size_bytes").alias("size"),
        *(host.alias(end) for host, end in zip(hosts, ("src", "dst"), strict=True)),
        (pl.col("direction") == "up").cast(pl.Int8).alias("up"),
        (pl.col("protocol") == "udp").cast(pl.Int8).alias("udp"),
        pl.col("packet_bytes").fill_null(0).alias("packet"),
        pl.col("rate_bps").fill_null(0.0).alias("rate"),
        pl.col("rtt_s").fill_null(0.0).alias("rtt"),
    )
    if table.height == 0:
        raise MayflyError("no flow is left: ns-3 CSV holds no flows that start after others")
    with path.open("wb") as file:
        table.write_csv(file)
    return lost


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    source = printable(path)
    with reading(source), lines(path) as text:
        rows = csv.reader(text)
        names = [name.strip() for name in next(rows, [])]
        if names != list(COLUMNS):
            raise MayflyError(f"{source}: columns {','.join(names)}: must be {','.join(COLUMNS)}")
        columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS.values()}
        for row, cells in enumerate(rows, 1):
            if len(cells) != len(names):
                raise MayflyError(f"{source}: row {row}: {len(cells)} cells: must be {len(names)}, as in the header")
            for name, cell in zip(names, cells, strict=True):
                columns[COLUMNS[name]].append(_cell(name, cell.strip(), row, source))
    return flow_list(pl.DataFrame(columns, schema_overrides=_STRINGS), mss=rules.mss, source=source)


_STRINGS = dict.fromkeys(("start_s", "size_bytes", "src", "dst", "packet_bytes", "rate_bps", "rtt_s"), pl.String)


def _cell(name: str, cell: str, row: int, source: str) -> str | None:
    if name in ("up", "udp"):
        words = {"up": ("down", "up"), "udp": ("tcp", "udp")}[name]
        if cell not in ("0", "1"):
            raise MayflyError(f"{source}: row {row}: {name} = {printable(cell)}: must be 0 or 1")
        return words[int(cell)]
    # 0 stands for none: a number in every cell is what C++ reads without a parser.
    return None if name in ("packet", "rate", "rtt") and cell in ("0", "0.0") else cell


CSV = Format(
    id="ns3",
    title="CSV of numbers for an ns-3 script: " + ",".join(COLUMNS),
    holds="transfers: start, size, hosts, direction, packets and rate of UDP, round-trip time",
    suffixes=(".ns3.csv",),
    sniff=lambda head: first_words(head)[:1] == [",".join(COLUMNS)],
    read=_read,
    write=_write,
    source="this page",
)
