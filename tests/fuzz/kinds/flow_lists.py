"""Flow lists: CSV and Parquet with every column, values at and beyond their bounds, and other types."""

import gzip
import io
from typing import Any

import polars as pl
from case import Case
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from values import ODD_FLOATS, ODD_NUMBERS, TEXTS, WORDS, column, damaged, mostly

from mayfly.workload.column_kinds import Bursts, Choice, Number, Script
from mayfly.workload.lists import COLUMNS

SCRIPTS = st.sampled_from(
    [
        "up 400 | wait 20ms | down 14600 pace 1ms",
        "down 90000 parts 30000,90000",
        "up 1",
        "up 400 | wait 99s",
        "wait 1s",
        "down 0",
        "down 1099511627776 pace 1ns",
        "up 400 | pause 1s",
        "",
    ]
)
BURSTS = st.sampled_from(
    ["0:1000", "0:1000x25/0.008 40:500", "0:1000x2500000000/1e-9", "1e9:29", "0:0", "5:100 0:100", "x", ""]
)


def _of(kind: Any) -> SearchStrategy[Any]:
    """Cells of a column."""
    if isinstance(kind, Number):
        low, high = kind.low, kind.high
        whole = kind.dtype == pl.Int64
        # Flows of few bytes run in a short time.
        near = min(high, max(low, 0) + 200_000)
        inside = st.integers(int(max(low, 0)), int(near)) if whole else st.floats(max(low, 0), min(high, 5.0))
        edge = st.sampled_from([low, high, 0, low - 1])
        return mostly(inside, st.one_of(edge, ODD_NUMBERS, ODD_FLOATS, TEXTS, st.none()), 40)
    if isinstance(kind, Choice):
        return mostly(st.sampled_from(["down", "up", "tcp", "udp", "sender", "receiver", "d", "u"]), TEXTS, 20)
    if isinstance(kind, Script):
        return SCRIPTS
    if isinstance(kind, Bursts):
        return BURSTS
    return mostly(st.one_of(st.integers(0, 5), WORDS), st.one_of(TEXTS, ODD_NUMBERS, st.none()), 15)


def _usual(name: str) -> SearchStrategy[Any]:
    """Values that go together, for lists that are read to their end."""
    return {
        "direction": st.sampled_from(["down", "up"]),
        "protocol": st.sampled_from(["tcp", "tcp", "udp"]),
        "opened_by": st.sampled_from(["sender", "receiver"]),
        "size_bytes": st.integers(1, 100_000),
        "size_packets": st.integers(1, 60),
        "packet_bytes": st.integers(29, 1500),
        "rate_bps": st.sampled_from([1e3, 1e5, 1e6, 1e7]),
        "rtt_s": st.sampled_from([1e-9, 0.001, 0.1, 60.0]),
        "start_s": st.floats(0, 2),
        "stage": st.integers(0, 3),
        "after": st.one_of(st.none(), st.none(), st.integers(0, 3)),
        "group": st.sampled_from(["a", "b", None]),
        "transport": st.sampled_from([None, None, None, "a"]),
        "src": st.integers(1, 5),
        "dst": st.integers(6, 9),
    }.get(name, _of(COLUMNS[name]))


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') else text


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, and rows."""
    more = draw(
        st.lists(
            st.sampled_from([name for name in COLUMNS if name not in ("start_s", "size_bytes", "size_packets")]),
            max_size=7,
            unique=True,
        )
    )
    names = draw(mostly(st.just(["start_s", "size_bytes", *more]), st.just([*more, "size_packets"]), 10))
    names = list(dict.fromkeys(names))
    if draw(st.integers(0, 40)) == 40:
        names.append(draw(st.sampled_from(["size", "Start_s", "start_s", "", "\x1b[2J"])))
    wild = draw(st.integers(0, 2)) == 2
    cells = {
        name: (_of if wild else lambda kind, name=name: _usual(name))(COLUMNS[name])
        for name in names
        if name in COLUMNS
    }
    count = draw(mostly(st.integers(1, 12), st.just(0), 20))
    rows = [[draw(cells[name]) if name in cells else 0 for name in names] for _ in range(count)]
    if not wild and "rate_bps" in names and "protocol" in names:
        # Only UDP has a rate and a length of packets.
        for row in rows:
            if row[names.index("protocol")] != "udp":
                for name in {"rate_bps", "packet_bytes"} & set(names):
                    row[names.index(name)] = None
            elif "transport" in names:
                row[names.index("transport")] = None
    return names, rows


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """The list as CSV."""
    names, rows = draw(tables())
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    lines = [",".join(map(_cell, row)) for row in [names, *rows]]
    if rows and draw(st.integers(0, 15)) == 15:
        lines[-1] += draw(st.sampled_from([",", ",1,2", '"', "\0"]))
    content = (end.join(lines) + draw(st.sampled_from([end, ""]))).encode("utf-8", "surrogatepass")
    content = draw(damaged(content, one_in=6))
    return draw(damaged(gzip.compress(content, 1, mtime=0), one_in=4)) if draw(st.integers(0, 7)) == 7 else content


@st.composite
def parquet_files(draw: st.DrawFn) -> bytes:
    """The list as Parquet, the columns in whatever types they come out in."""
    names, rows = draw(tables())
    columns = {}
    for place, name in enumerate(dict.fromkeys(names)):
        values = [row[place] for row in rows]
        columns[name] = column(name, values)
        odd = draw(mostly(st.none(), st.sampled_from(["list", "f32", "i8", "bytes", "category", "time", "null"]), 15))
        columns[name] = _in_other_type(columns[name], odd)
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, compression=draw(st.sampled_from(["zstd", "snappy", "uncompressed"])))
    return draw(damaged(buffer.getvalue(), one_in=3))


def _in_other_type(column: pl.Series, odd: str | None) -> pl.Series:
    if odd == "list":
        return column.implode().new_from_index(0, len(column)) if len(column) else column
    if odd == "null":
        return pl.Series(column.name, [None] * len(column), dtype=pl.Null)
    kinds = {"f32": pl.Float32, "i8": pl.Int8, "bytes": pl.Binary, "category": pl.Categorical, "time": pl.Datetime}
    if odd is None:
        return column
    try:
        return column.cast(kinds[odd], strict=False)
    except pl.exceptions.PolarsError:
        return column


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A command that takes a flow list."""
    parquet = draw(st.integers(0, 2)) == 2
    given = {"flows": draw(parquet_files() if parquet else csv_files())}
    end = ("--duration", "2s", "--out", "out/run", "--json", "--quiet")
    arguments = draw(
        st.sampled_from(
            [
                ("simulate", "wired", "--discipline", "efd", "--flows", "flows", *end),
                ("simulate", "wlan", "--discipline", "fifo", "--flows", "flows", *end),
                ("compare", "wired", "--disciplines", "fifo,fq_codel", "--flows", "flows", *end),
                ("workload", "convert", "flows", "out/flows.csv", "--json"),
                ("workload", "convert", "flows", "out/flows.parquet", "--json"),
                ("workload", "convert", "flows", "out/flows.cvec", "--json"),
                ("workload", "convert", "flows", "out/flows.ns2.cvec", "--json"),
                ("workload", "convert", "flows", "out/flows.ns3.csv", "--json"),
            ]
        )
    )
    return Case("flow-lists", (arguments,), given)
