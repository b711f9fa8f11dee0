"""NetFlow records as nfdump writes them: ``nfdump -o csv``, of one direction each or of both (``-b``)."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import Format, Rules, first_words, lines
from mayfly.workload.formats.log import Addresses, count, flows_of_log, number, port, refused

NEEDED = ("ts", "td", "sa", "da", "sp", "dp", "pr", "ipkt", "ibyt", "opkt", "obyt")

SILENCE_S = 120.0
"""Records of one five-tuple further apart belong to different connections; as for captures."""

HEADERS_BYTES = {("tcp", False): 52, ("tcp", True): 72, ("udp", False): 28, ("udp", True): 48}
"""Headers of a packet by protocol and whether of IPv6: those of TCP with timestamps. NetFlow counts IP packets only."""


def records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of the file, from 1; the summary behind them is none.

    Raises
    ------
    MayflyError
        The header lacks a column, or a row has another number of cells.
    """
    source = printable(path)
    with reading(source), lines(path) as text:
        cells = csv.reader(text)
        try:
            names = [name.strip() for name in next(cells, [])]
            if lacking := [name for name in NEEDED if name not in names]:
                raise MayflyError(f"{source}: column {lacking[0]} is missing: must be as nfdump -o csv writes it")
            for row, found in enumerate(cells, 1):
                if not found or found[0].strip() in ("Summary", "No matching flows"):
                    return
                if len(found) != len(names):
                    raise MayflyError(
                        f"{source}: row {row}: {len(found)} cells: must be {len(names)}, as in the header"
                    )
                yield row, dict(zip(names, map(str.strip, found), strict=True))
        except csv.Error as error:
            raise MayflyError(f"{source}: line {cells.line_num}: {error}") from None


def _seconds(text: str, row: int, source: str) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise refused(source, row, "ts", text, "a time such as 2026-11-21 20:13:28") from None


def directions(path: Path) -> pl.DataFrame:
    """One row per record and direction that carried packets: ``row, protocol, a, a_port, b, b_port`` and counts."""
    source, addresses, found = printable(path), Addresses(), []
    for row, record in records(path):
        protocol = record["pr"].lower()
        if protocol not in ("tcp", "udp"):
            continue
        ends = [addresses.checked(record[name], row, name, source) for name in ("sa", "da")]
        ports = [port(record[name], row, name, source) for name in ("sp", "dp")]
        start_s = _seconds(record["ts"], row, source)
        end_s = start_s + number(record["td"], row, "td", source)
        sides = list(zip(ends, ports, strict=True))
        for way, packets, wire in ((1, "ipkt", "ibyt"), (-1, "opkt", "obyt")):
            n, size = count(record[packets], row, packets, source), count(record[wire], row, wire, source)
            if n:
                (a, a_port), (b, b_port) = sides[::way]
                found.append((row, protocol, a, a_port, b, b_port, start_s, end_s, n, size))
    names = ("row", "protocol", "a", "a_port", "b", "b_port", "start_s", "end_s", "packets", "wire_bytes")
    return pl.DataFrame(found, schema=dict(zip(names, _TYPES, strict=True)), orient="row")


_TYPES = (pl.Int64, pl.String, *(pl.String, pl.Int64) * 2, pl.Float64, pl.Float64, pl.Int64, pl.Int64)


def connections(records: pl.DataFrame) -> pl.DataFrame:
    """Put the records of both directions, and those cut at timeouts, together.

    Parameters
    ----------
    records : polars.DataFrame
        As :func:`directions` returns it.

    Returns
    -------
    polars.DataFrame
        One row per connection, with the columns that :func:`mayfly.workload.formats.log.flows_of_log` takes. The
        opener is the side with the higher port, else the sender of the first record: times are whole seconds.
    """
    opens = (pl.col("a_port") > pl.col("b_port")) | (
        (pl.col("a_port") == pl.col("b_port")) & (pl.col("a") == pl.col("a").first().over(_pair()))
    )
    known = records.sort("start_s", "row").with_columns(opens.alias("opens"))
    sides = [
        pl.when("opens").then(pl.col(own)).otherwise(pl.col(other)).alias(name)
        for own, other, name in (("a", "b", "opener"), ("b", "a", "responder"))
    ] + [
        pl.when("opens").then(pl.col(own)).otherwise(pl.col(other)).alias(name)
        for own, other, name in (("a_port", "b_port", "opener_port"), ("b_port", "a_port", "responder_port"))
    ]
    key = ["protocol", "opener", "opener_port", "responder", "responder_port"]
    before_s = pl.col("end_s").cum_max().shift(1)
    known = known.with_columns(sides).with_columns(
        ((pl.col("start_s") - before_s) > SILENCE_S).fill_null(False).cum_sum().over(key).alias("number")
    )
    six = pl.col("a").str.contains(":", literal=True)
    headers = pl.lit(0)
    for (protocol, ipv6), size in HEADERS_BYTES.items():
        headers = pl.when((pl.col("protocol") == protocol) & (six == ipv6)).then(size).otherwise(headers)
    payload = (pl.col("wire_bytes") - headers * pl.col("packets")).clip(lower_bound=0)
    known = known.with_columns(payload.alias("distinct_bytes"))
    sums = [
        pl.col(name).filter(pl.col("opens") == (end == "opener")).sum().alias(f"{end}_{name}")
        for end in ("opener", "responder")
        for name in ("packets", "wire_bytes", "distinct_bytes")
    ]
    grouped = known.group_by(*key, "number", maintain_order=True)
    return grouped.agg(pl.col("start_s").min(), pl.col("end_s").max(), *sums)


def _pair() -> list[pl.Expr]:
    return [pl.col("protocol"), pl.min_horizontal("a", "b"), pl.max_horizontal("a", "b"), pl.col("a_port")]


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    found = connections(directions(path))
    return flows_of_log({name: found[name].to_list() for name in found.columns}, path, rules)


def _is_nfdump(head: bytes) -> bool:
    found = first_words(head)
    return bool(found) and set(NEEDED) <= set(found[0].split(","))


CSV = Format(
    id="nfdump",
    title="NetFlow, as nfdump -o csv writes it",
    holds="connections: start in whole seconds, packets and IP bytes each way; payload estimated; no round-trip times",
    suffixes=(),
    sniff=_is_nfdump,
    read=_read,
    source="[nfdump](https://github.com/phaag/nfdump)",
)
