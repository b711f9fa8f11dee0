"""``conn.log`` of Zeek: tab-separated with its header, or a JSON document a line."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import Format, Rules, first_words, lines
from mayfly.workload.formats.log import LATEST_S, Addresses, count, flows_of_log, number, port, refused

SIDES = (("opener", "orig"), ("responder", "resp"))


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of the log as they stand in it, from 1; what is unset is left out.

    Raises
    ------
    MayflyError
        The header lacks a field, a row has too many, or is no JSON document.
    """
    source = printable(path)
    with reading(source), lines(path) as text:
        names, separator, unset, empty, row = None, "\t", "-", "(empty)", 0
        for line in text:
            line = line.rstrip("\r\n")
            if line.startswith("#"):
                word, _, rest = line[1:].partition(" " if line.startswith("#separator") else separator)
                separator = _unescaped(rest) if word == "separator" else separator
                unset = rest if word == "unset_field" else unset
                empty = rest if word == "empty_field" else empty
                names = rest.split(separator) if word == "fields" else names
            elif line.strip():
                row += 1
                if line.startswith("{"):
                    yield row, _json(line, row, source)
                    continue
                if names is None:
                    raise MayflyError(f"{source}: row {row}: no line #fields before it")
                cells = line.split(separator)
                if len(cells) != len(names):
                    raise MayflyError(f"{source}: row {row}: {len(cells)} cells: must be {len(names)}, as in #fields")
                yield row, {n: c for n, c in zip(names, cells, strict=True) if c != unset and c != empty}


def _unescaped(text: str) -> str:
    try:
        return bytes(text.strip(), "ascii").decode("unicode_escape") or "\t"
    except (UnicodeError, ValueError):
        return "\t"


def _json(line: str, row: int, source: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise MayflyError(f"{source}: row {row}: {printable(line)}: must be a JSON document") from None
    return {name: value for name, value in found.items() if value is not None}


def time_of(value: object, row: int, source: str) -> float:
    """Time of a row, s since 1970: a number, or text of ISO 8601 as ``json_timestamps`` writes it."""
    if isinstance(value, str) and "T" in value:
        try:
            return datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
        except ValueError:
            raise refused(source, row, "ts", value, "a time in ISO 8601, or s since 1970") from None
    return number(value, row, "ts", source, LATEST_S)


def connections(path: Path) -> dict[str, list[Any]]:
    """Connections of TCP and UDP.

    Parameters
    ----------
    path : path
        The log.

    Returns
    -------
    dict of list, each of shape (n_connections,)
        As :func:`mayfly.workload.formats.log.flows_of_log` takes it, and the ports.

    Raises
    ------
    MayflyError
        The file cannot be read, or a value is refused; with its row.
    """
    source, addresses = printable(path), Addresses()
    names = ("protocol", "opener", "opener_port", "responder", "responder_port", "start_s", "end_s")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    rows |= {f"{end}_{name}": [] for end, _ in SIDES for name in ("packets", "wire_bytes", "distinct_bytes")}
    for row, record in records(path):
        protocol = record.get("proto")
        if protocol is None:
            raise refused(source, row, "proto", None, "tcp, udp, icmp or unknown_transport")
        if protocol not in ("tcp", "udp"):
            continue
        start_s = time_of(record.get("ts"), row, source)
        lasted_s = number(record.get("duration", 0), row, "duration", source, LATEST_S)
        found = {"protocol": protocol, "start_s": start_s, "end_s": start_s + lasted_s}
        for end, side in SIDES:
            found[end] = addresses.checked(record.get(f"id.{side}_h"), row, f"id.{side}_h", source)
            found[f"{end}_port"] = port(record.get(f"id.{side}_p"), row, f"id.{side}_p", source)
            for name, field in (("packets", "pkts"), ("wire_bytes", "ip_bytes"), ("distinct_bytes", "bytes")):
                found[f"{end}_{name}"] = count(record.get(f"{side}_{field}", 0), row, f"{side}_{field}", source)
            if protocol == "udp" and f"{side}_pkts" not in record and found[f"{end}_distinct_bytes"]:
                raise refused(source, row, f"{side}_pkts", None, "there where UDP carried payload")
        for name, value in found.items():
            rows[name].append(value)
    return rows


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    return flows_of_log(connections(path), path, rules)


def _is_zeek(head: bytes) -> bool:
    for line in first_words(head):
        if line.startswith("#fields"):
            return "id.orig_h" in line.split()
        if not line.startswith("#"):
            return line.startswith("{") and '"id.orig_h"' in line
    return False


CONN_LOG = Format(
    id="zeek",
    title="conn.log of Zeek, tab-separated or JSON",
    holds="connections: start, end, payload and packets each way; no round-trip times",
    suffixes=(),
    sniff=_is_zeek,
    read=_read,
    source="[Zeek](https://docs.zeek.org/en/current/logs/conn.html)",
)
