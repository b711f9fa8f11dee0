"""NetFlow records as nfdump writes them, CSV or JSON: of one direction each or of both (``-b``, ``-B``).

The columns of ``-o csv`` have one set of names up to nfdump 1.7.4 and another since 1.7.5, which has no counts of the
other direction; ``-o 'csv:%ts,...'`` has those that it is asked for. All are read by name.
"""

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import Format, Rules, first_words, lines
from mayfly.workload.formats.log import (
    HEADERS_BYTES,
    LATEST_S,
    Addresses,
    bytes_or_none,
    count,
    flows_of_log,
    number,
    port,
    refused,
    summed,
)

_NAMES = {
    "start": ("firstSeen", "ts", "first"),
    "end": ("lastSeen", "te", "last"),
    "lasted": ("duration", "td"),
    "protocol": ("proto", "pr"),
    "source": ("srcAddr", "sa", "src4_addr", "src6_addr"),
    "source_port": ("srcPort", "sp", "src_port"),
    "destination": ("dstAddr", "da", "dst4_addr", "dst6_addr"),
    "destination_port": ("dstPort", "dp", "dst_port"),
    "packets": ("inPackets", "packets", "ipkt", "in_packets"),
    "bytes": ("inBytes", "bytes", "ibyt", "in_bytes"),
    "out_packets": ("outPackets", "opkt", "out_packets"),
    "out_bytes": ("outBytes", "obyt", "out_bytes"),
    "flows": ("flows",),
}
"""What is read of a record, and how CSV since 1.7.5, CSV before and JSON call it."""

_OPTIONAL = ("end", "lasted", "out_packets", "out_bytes", "flows")

BOTH_WAYS = "-o 'csv:%ts,%td,%pr,%sa,%sp,%da,%dp,%ipkt,%ibyt,%opkt,%obyt,%fl'"
"""Option of nfdump 1.7.5 and later whose CSV has the counts of both directions."""

_PROTOCOLS = {"6": "tcp", "17": "udp"}

_DAY = re.compile(r"\d{4}-\d\d-\d\d[ T]")

SILENCE_S = 120.0
"""Records of one five-tuple further apart belong to different connections; as for captures."""


class Record:
    """A row of the file, by what is read of it.

    Parameters
    ----------
    row : int
        From 1.
    values : dict
        As they stand in the file.
    names : dict of str to str
        For each of what is read the name that the file has for it.
    """

    def __init__(self, row: int, values: dict[str, Any], names: dict[str, str]):
        self.row, self._values, self._names = row, values, names

    def __contains__(self, what: str) -> bool:
        return what in self._names and self._values.get(self._names[what]) is not None

    def named(self, what: str) -> tuple[Any, int, str]:
        """Value, row and name, as the checks of :mod:`mayfly.workload.formats.log` take them."""
        name = self._names.get(what, _NAMES[what][0])
        return self._values.get(name), self.row, name


def _named(found: list[str]) -> dict[str, str]:
    return {what: name for what, names in _NAMES.items() for name in names if name in found}


def records(path: Path) -> Iterator[Record]:
    """Records of the file; the summary behind them is none.

    Parameters
    ----------
    path : path
        CSV with its header, a JSON array, or a JSON document a line.

    Yields
    ------
    Record

    Raises
    ------
    MayflyError
        The header lacks a column, a row has another number of cells, or it is no JSON.
    """
    source = printable(path)
    with reading(source), lines(path) as text:
        begin = ""
        for line in text:
            begin = line
            if line.strip():
                break
        if begin.lstrip().startswith(("[", "{")):
            yield from _documents(begin, text, source)
        else:
            yield from _rows(begin, text, source)


def _rows(begin: str, text: Iterator[str], source: str) -> Iterator[Record]:
    names = [name.strip() for name in next(csv.reader([begin]), [])]
    named = _named(names)
    lacking = [what for what in _NAMES if what not in named and what not in _OPTIONAL]
    if not {"end", "lasted"} & named.keys():
        lacking.append("lasted")
    if lacking:
        name = _NAMES[lacking[0]][0]
        raise MayflyError(f"{source}: column {name} is missing: must be as nfdump -o csv or {BOTH_WAYS} writes it")
    cells = csv.reader(text)
    try:
        for row, found in enumerate(cells, 1):
            if not found or found[0].strip() in ("Summary", "No matching flows"):
                return
            if len(found) != len(names):
                raise MayflyError(f"{source}: row {row}: {len(found)} cells: must be {len(names)}, as in the header")
            yield Record(row, dict(zip(names, map(str.strip, found), strict=True)), named)
    except csv.Error as error:
        raise MayflyError(f"{source}: line {cells.line_num + 1}: {error}") from None


def _documents(begin: str, text: Iterator[str], source: str) -> Iterator[Record]:
    """Of ``-o json``, one array over many lines, and of ``-o ndjson``; those of events count no packets."""
    if begin.lstrip().startswith("{"):
        each = (line for line in itertools.chain([begin], text) if line.strip())
        found: Iterable[Any] = (_parsed(line, f"row {row}: ", source) for row, line in enumerate(each, 1))
    else:
        found = _parsed(begin + "".join(text), "", source)
    for row, document in enumerate(found, 1):
        if not isinstance(document, dict):
            raise MayflyError(f"{source}: row {row}: {printable(document)}: must be a record of nfdump -o json")
        if document.get("type", "FLOW") == "FLOW":
            yield Record(row, document, _named(list(document)))


def _parsed(text: str, where: str, source: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
        raise MayflyError(f"{source}: {where}{reason}: must be JSON as nfdump -o json or -o ndjson writes it") from None


def _seconds(record: Record, what: str, source: str) -> float:
    """A time of a record, s since 1970: day and hour, or a number of seconds (``%tsr``) or ms (``-o csv-fast``)."""
    text, row, name = record.named(what)
    if isinstance(text, str) and _DAY.match(text):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            pass
    elif isinstance(text, str) and text.replace(".", "", 1).isdecimal():
        value = number(text, row, name, source, 1000 * LATEST_S)
        return value if value <= LATEST_S else value / 1000
    raise refused(source, row, name, text, "a time such as 2026-11-21 20:13:28.108")


def _protocol(record: Record, source: str) -> str | None:
    """``tcp`` or ``udp``, by name or by number; None for another."""
    text, row, name = record.named("protocol")
    if text is None or text == "":
        raise refused(source, row, name, text, "a protocol: TCP, 6, ...")
    word = str(text).strip().lower()
    return _PROTOCOLS.get(word, word if word in ("tcp", "udp") else None)


def directions(path: Path, notes: list[str] | None = None, account: _native.Account | None = None) -> pl.DataFrame:
    """One row per record and direction that carried packets: ``row, protocol, a, a_port, b, b_port`` and counts.

    Parameters
    ----------
    path : path
    notes : list of str, optional
        Gets a sentence where all records are of one direction.
    account : _native.Account, optional
        Gets the records that were seen, used and left out, with their IP bytes.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    MayflyError
        A value is refused; or a record is of several flows and has no counts of the other direction, which no record
        of its own has either.
    """
    source, addresses, found = printable(path), Addresses(), []
    account = _native.Account() if account is None else account
    total, total_packets = 0, 0
    joined, single = dict[tuple[Any, ...], tuple[int, int]](), set[tuple[Any, ...]]()
    for record in records(path):
        protocol = _protocol(record, source)
        if protocol is None:
            told = bytes_or_none(*(record.named(what)[0] for what in ("bytes", "out_bytes") if what in record))
            total = summed(total, told, record.row, "bytes", source)
            account.see(1, told)
            account.leave_out("protocol", 1, told)
            continue
        row = record.row
        ends = [addresses.checked(*record.named(what), source) for what in ("source", "destination")]
        ports = [port(*record.named(what), source) for what in ("source_port", "destination_port")]
        start_s = _seconds(record, "start", source)
        if "lasted" in record:
            end_s = start_s + number(*record.named("lasted"), source)
        else:
            end_s = max(start_s, _seconds(record, "end", source))
        sides = list(zip(ends, ports, strict=True))
        ways = [(1, "packets", "bytes")]
        if "out_packets" in record and "out_bytes" in record:
            ways.append((-1, "out_packets", "out_bytes"))
        carried, there = 0, False
        for way, packets, wire in ways:
            n, size = (count(*record.named(what), source) for what in (packets, wire))
            carried += size
            total_packets = summed(total_packets, n, row, "packets", source)
            if n:
                there = True
                (a, a_port), (b, b_port) = sides[::way]
                found.append((row, protocol, a, a_port, b, b_port, start_s, end_s, n, size))
        total = summed(total, carried, row, "bytes", source)
        account.see(1, carried)
        if there:
            account.take(1, carried)
        else:
            account.leave_out("aside", 1, carried)
        if len(ways) == 1:
            single.add((protocol, *sides))
            flows = count(*record.named("flows"), source) if "flows" in record else 1
            if flows > 1:
                joined.setdefault((protocol, *sides), (row, flows))
    for (protocol, near, far), (row, flows) in joined.items():
        if (protocol, far, near) not in single:
            raise MayflyError(
                f"{source}: row {row}: flows = {flows} without outPackets: nfdump -b and -B leave the packets of the "
                f"other direction out of this CSV: write it with {BOTH_WAYS}, or without -b and -B"
            )
    tcp = [one for one in single if one[0] == "tcp"]
    if notes is not None and tcp and not any((protocol, far, near) in single for protocol, near, far in tcp):
        notes.append(
            f"{source}: no record of TCP has one of the other direction: if nfdump wrote it with -b or -B, it left "
            f"those out: write it without, or with {BOTH_WAYS}"
        )
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
        opener is the side with the higher port, else the sender of the first record: times may be whole seconds.
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
    counted = pl.col("row").n_unique().cast(pl.Int64).alias("records"), pl.col("wire_bytes").sum().alias("bytes")
    return grouped.agg(pl.col("start_s").min(), pl.col("end_s").max(), *counted, *sums)


def _pair() -> list[pl.Expr]:
    return [pl.col("protocol"), pl.min_horizontal("a", "b"), pl.max_horizontal("a", "b"), pl.col("a_port")]


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    account = _native.Account()
    found = connections(directions(path, rules.notes, account))
    return flows_of_log({name: found[name].to_list() for name in found.columns}, path, rules, account)


def _is_nfdump(head: bytes) -> bool:
    found = first_words(head)
    if not found:
        return False
    if found[0].startswith(("[", "{")):
        return b'"in_packets"' in head and (b'"src4_addr"' in head or b'"src6_addr"' in head)
    named = _named([name.strip() for name in found[0].split(",")])
    return {"start", "source", "destination", "packets", "bytes"} <= named.keys()


CSV = Format(
    id="nfdump",
    title="NetFlow, as nfdump -o csv, json or ndjson writes it",
    holds="connections: start, packets and IP bytes each way; payload estimated; no round-trip times",
    suffixes=(),
    sniff=_is_nfdump,
    read=_read,
    source="[nfdump](https://github.com/phaag/nfdump)",
)
