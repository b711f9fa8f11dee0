"""``conn.log`` of Zeek: tab-separated with its header, or a JSON document a line."""

import json
from collections.abc import Iterator
from datetime import datetime
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

SIDES = (("opener", "orig"), ("responder", "resp"))

LEAST_HEADERS_BYTES = {False: 40, True: 60}
"""Headers of a TCP packet without options, by whether of IPv6."""


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


def connections(
    path: Path, notes: list[str] | None = None, account: _native.Account | None = None
) -> dict[str, list[Any]]:
    """Connections of TCP and UDP.

    Parameters
    ----------
    path : path
        The log.
    notes : list of str, optional
        Gets a sentence on payload that is not as the log says.
    account : _native.Account, optional
        Gets the records that were seen, used and left out, with their IP bytes, or their payload where there are none.

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
    account = _native.Account() if account is None else account
    names = ("records", "bytes", "protocol", "opener", "opener_port", "responder", "responder_port", "start_s", "end_s")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    rows |= {f"{end}_{name}": [] for end, _ in SIDES for name in ("packets", "wire_bytes", "distinct_bytes")}
    has_payload, corrected, missed_bytes, total = False, 0, 0, 0
    for row, record in records(path):
        protocol = record.get("proto")
        if protocol is None:
            raise refused(source, row, "proto", None, "tcp, udp, icmp or unknown_transport")
        if protocol not in ("tcp", "udp"):
            size = bytes_or_none(record.get("orig_ip_bytes"), record.get("resp_ip_bytes"))
            total = summed(total, size, row, "bytes", source)
            account.see(1, size)
            account.leave_out("protocol", 1, size)
            continue
        start_s = time_of(record.get("ts"), row, source)
        lasted_s = number(record.get("duration", 0), row, "duration", source, LATEST_S)
        found: dict[str, Any] = {"records": 1, "protocol": protocol, "start_s": start_s, "end_s": start_s + lasted_s}
        for end, side in SIDES:
            found[end] = addresses.checked(record.get(f"id.{side}_h"), row, f"id.{side}_h", source)
            found[f"{end}_port"] = port(record.get(f"id.{side}_p"), row, f"id.{side}_p", source)
            for name, field in (("packets", "pkts"), ("wire_bytes", "ip_bytes"), ("distinct_bytes", "bytes")):
                found[f"{end}_{name}"] = count(record.get(f"{side}_{field}", 0), row, f"{side}_{field}", source)
            has_payload |= f"{side}_bytes" in record
            if protocol == "udp" and f"{side}_pkts" not in record and found[f"{end}_distinct_bytes"]:
                raise refused(source, row, f"{side}_pkts", None, "there where UDP carried payload")
        missed = count(record.get("missed_bytes", 0), row, "missed_bytes", source)
        if protocol == "tcp" and missed and _without_missed(found, missed):
            corrected, missed_bytes = corrected + 1, missed_bytes + missed
        sizes = [sum(found[f"{end}_{name}"] for end, _ in SIDES) for name in ("wire_bytes", "distinct_bytes")]
        found["bytes"] = sizes[0] or sizes[1]
        total = summed(total, found["bytes"], row, "bytes", source)
        account.see(1, found["bytes"])
        account.take(1, found["bytes"])
        for name, value in found.items():
            rows[name].append(value)
    told = list[str]()
    if corrected:
        told.append(
            f"{corrected:,} connection{'' if corrected == 1 else 's'} of {source}: payload without the "
            f"{missed_bytes:,} bytes that Zeek missed (missed_bytes), and no more than the IP bytes hold"
        )
    if not has_payload and rows["protocol"]:
        _estimate(rows)
        told.append(f"{source} has no orig_bytes and resp_bytes: payload is IP bytes without the usual headers")
    if notes is not None:
        notes += told
    return rows


def _without_missed(found: dict[str, Any], missed: int) -> bool:
    """Takes the bytes that Zeek did not see from the sides that lack them; False where none does.

    Zeek counts payload by sequence numbers, so that a wild number is payload too, and missed.
    """
    sizes = {end: found[f"{end}_distinct_bytes"] for end, _ in SIDES}
    room = {
        end: found[f"{end}_wire_bytes"] - LEAST_HEADERS_BYTES[":" in found[end]] * found[f"{end}_packets"]
        for end, _ in SIDES
    }
    if any(found[f"{end}_wire_bytes"] for end, _ in SIDES):
        lacking = [end for end, _ in SIDES if sizes[end] > max(0, room[end])]
    else:
        # The log does not say which side it is: the one with more payload.
        lacking = [max(sizes, key=lambda end: sizes[end])]
        room = sizes
    for end in lacking:
        seen = max(0, room[end])
        alone = len(lacking) == 1 and sizes[end] >= missed
        found[f"{end}_distinct_bytes"] = min(seen, sizes[end] - missed) if alone else seen
    return bool(lacking)


def _estimate(rows: dict[str, list[Any]]) -> None:
    """Payload of a log that has IP bytes and packets only, as of NetFlow."""
    for end, _ in SIDES:
        for place, protocol in enumerate(rows["protocol"]):
            headers = HEADERS_BYTES[protocol, ":" in rows[end][place]] * rows[f"{end}_packets"][place]
            rows[f"{end}_distinct_bytes"][place] = max(0, rows[f"{end}_wire_bytes"][place] - headers)


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    account = _native.Account()
    return flows_of_log(connections(path, rules.notes, account), path, rules, account)


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
