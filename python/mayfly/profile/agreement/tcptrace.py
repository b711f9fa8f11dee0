"""tcptrace: ``tcptrace -l -n`` as it prints it, and with ``--csv``; round-trip times with ``-r``."""

import csv
import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.profile.agreement.table import METRICS, Seen, Tool, in_order
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import first_words, lines

NAMES = {
    "total_packets": "packets",
    "unique_bytes_sent": "distinct_bytes",
    "actual_data_pkts": "data_packets",
    "actual_data_bytes": "payload_bytes",
    "pure_acks_sent": "acks",
    "rexmt_data_pkts": "retransmits",
    "rexmt_data_bytes": "retransmitted_bytes",
    "outoforder_pkts": "out_of_order",
    "zero_win_adv": "zero_windows",
    "RTT_samples": "rtt_samples",
    "RTT_min": "rtt_min_s",
    "RTT_avg": "rtt_mean_s",
    "RTT_max": "rtt_max_s",
    "RTT_from_3WHS": "handshake_s",
}
"""Its names of a direction, as in CSV, and ours. Times are milliseconds."""

LABELS = {name.replace("_", " "): name for name in NAMES}
"""Its names in the long output."""

PRINTED_S = 1e-4
"""Round-trip times are printed in tenths of a millisecond."""

_PAIR = re.compile(r"^\s+(?P<label>[^:]+):\s+(?P<left>\S+)(?: \S+)?\s+(?P=label):\s+(?P<right>\S+)(?: \S+)?\s*$")
_BEGIN = re.compile(r"^TCP connection \d+:\s*$")
_HOST = re.compile(r"^\s*host (\w+):\s+(.*):(\d+)\s*$")


def _value(name: str, text: str, place: str) -> float | None:
    text = text.strip()
    if text in ("", "NA"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 2**53:
        raise MayflyError(f"{place}: {name} = {printable(text)}: must be a number from 0 to 2^53")
    return value / 1000 if METRICS[NAMES[name]].unit == "s" else value


def _rows_of_csv(path: Path, source: str) -> Iterator[dict[str, Any]]:
    with reading(source), lines(path) as text:
        kept = (line for line in text if line.strip() and not line.startswith("#"))
        table = csv.reader(kept)
        names = [name.strip() for name in next(table, [])]
        for row, cells in enumerate(table, 1):
            place = f"{source}: row {row}"
            if len(cells) not in (len(names), len(names) - 1):
                raise MayflyError(f"{place}: {len(cells)} cells: must be {len(names)}, as in the header")
            found = dict(zip(names, cells, strict=False))
            yield _row(found, place) | {
                f"{way}_{ours}": _value(name, found[f"{name}_{tail}"], place)
                for name, ours in NAMES.items()
                for way, tail in (("ab", "a2b"), ("ba", "b2a"))
                if f"{name}_{tail}" in found
            }


def _row(found: dict[str, str], place: str) -> dict[str, Any]:
    try:
        first_s, last_s = (_unpadded(found[f"{which}_packet"]) for which in ("first", "last"))
        ends = {"a": found["host_a"].strip(), "b": found["host_b"].strip()}
        ports = {"a_port": int(found["port_a"]), "b_port": int(found["port_b"])}
    except (KeyError, ValueError) as error:
        raise MayflyError(
            f"{place}: {printable(error)}: must be a connection as tcptrace -l -n --csv writes it"
        ) from None
    return {"protocol": "tcp", **ends, **ports, "start_s": first_s, "duration_s": last_s - first_s}


def _unpadded(text: str) -> float:
    """A time of the CSV, s: 6.6.7 prints microseconds without leading zeros, 7.000012 as 7.12."""
    whole, _, microseconds = text.strip().partition(".")
    return int(whole) + int(microseconds or 0) / 1e6


def _rows_of_text(path: Path, source: str) -> Iterator[dict[str, Any]]:
    with reading(source), lines(path) as text:
        row: dict[str, Any] | None = None
        times: dict[str, float] = {}
        hosts = 0
        for number, line in enumerate(text, 1):
            place = f"{source}: line {number}"
            if _BEGIN.match(line):
                if row is not None:
                    yield row
                row, hosts, times = {"protocol": "tcp"}, 0, {}
            elif row is None:
                continue
            elif found := _HOST.match(line):
                end = "ab"[hosts % 2]
                row[end], row[f"{end}_port"], hosts = found[2], int(found[3]), hosts + 1
            elif line.strip().startswith(("first packet:", "last packet:")):
                word, _, date = line.strip().partition(":")
                times[word] = _time(date.strip(), place)
                if len(times) == 2:
                    row["start_s"] = times["first packet"]
                    row["duration_s"] = times["last packet"] - times["first packet"]
            elif (found := _PAIR.match(line)) and (name := LABELS.get(found["label"])):
                row[f"ab_{NAMES[name]}"] = _value(name, found["left"], place)
                row[f"ba_{NAMES[name]}"] = _value(name, found["right"], place)
        if row is not None:
            yield row


def _time(text: str, place: str) -> float:
    try:
        return datetime.strptime(text + " +0000", "%a %b %d %H:%M:%S.%f %Y %z").timestamp()
    except ValueError:
        raise MayflyError(
            f"{place}: {printable(text)}: must be a date such as Sat Nov 21 20:13:27.862104 2026"
        ) from None


def _read(path: Path, rows_of: Callable[[Path, str], Iterator[dict[str, Any]]]) -> Seen:
    source = printable(path)
    rows = list(rows_of(path, source))
    if not rows or any(not {"a", "b", "start_s"} <= row.keys() for row in rows):
        raise MayflyError(f"{source}: no connections with ends and times: must be as tcptrace -l -n writes it")
    numbers = {name for row in rows for name in row} - {"protocol", "a", "b", "a_port", "b_port"}
    schema = {"protocol": pl.String, "a": pl.String, "a_port": pl.Int64, "b": pl.String, "b_port": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema | dict.fromkeys(sorted(numbers), pl.Float64))
    frame = _without_zeros(frame).with_columns(pl.col("start_s") - pl.col("start_s").min())
    for way in ("ab", "ba"):
        if f"{way}_out_of_order" in frame.columns:
            both = pl.col(f"{way}_retransmits") + pl.col(f"{way}_out_of_order")
            frame = frame.with_columns(both.alias(f"{way}_repeats"))
    times = dict.fromkeys(("rtt_min_s", "rtt_mean_s", "rtt_max_s", "handshake_s"), PRINTED_S)
    return Seen("tcptrace", path.name, in_order(frame), times | {"duration_s": 1e-6})


def _without_zeros(frame: pl.DataFrame) -> pl.DataFrame:
    """Times without samples are printed as 0.0: they are none."""
    for way in ("ab", "ba"):
        names = [
            f"{way}_{name}" for name in ("rtt_min_s", "rtt_mean_s", "rtt_max_s") if f"{way}_{name}" in frame.columns
        ]
        frame = frame.with_columns(
            pl.when(pl.col(f"{way}_rtt_samples") > 0).then(pl.col(name)).alias(name) for name in names
        )
        if f"{way}_handshake_s" in frame.columns:
            frame = frame.with_columns(pl.col(f"{way}_handshake_s").replace(0.0, None))
    return frame


CSV = Tool(
    id="tcptrace-csv",
    title="tcptrace -l -n --csv, with -r for round-trip times",
    sniff=lambda head: any(line.startswith("conn_#,host_a,host_b") for line in first_words(head)[:20]),
    read=lambda path: _read(path, _rows_of_csv),
)

TEXT = Tool(
    id="tcptrace",
    title="tcptrace -l -n, with -r for round-trip times",
    sniff=lambda head: any(line.startswith("TCP connection 1:") for line in first_words(head)[:20]),
    read=lambda path: _read(path, _rows_of_text),
)
