"""Samples of a queue for ``mayfly estimate``: CSV, Parquet, and polls of ``tc -s qdisc`` as text or JSON."""

import io
import json
from typing import Any

import polars as pl
from case import Case
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from values import ODD_FLOATS, ODD_NUMBERS, TEXTS, column, damaged, mostly

ODD: SearchStrategy[Any] = st.one_of(ODD_NUMBERS, ODD_FLOATS, TEXTS, st.none())
VALUES = st.sampled_from(["0.25", "1", "0.5", "33ms", "0", "-1", "nan", "inf", "1e300", "1ns", "x"])
QUEUES = ["queue_packets", "queue_mean_packets", "mean_queue_pkts", "backlog_packets", "inst_queue_pkts"]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Columns of samples with a clock that mostly moves on."""
    count = draw(st.sampled_from([3, 10, 60, 60, 200, 0, 1, 2]))
    step_s = draw(st.sampled_from([0.03, 0.03, 0.1, 0.1, 1.0, 0.0, 1e-9, 1e6, -0.1]))
    clock = [round(draw(st.sampled_from([0.0, 100.0, 1.7e9])) + step_s * place, 9) for place in range(count)]
    queue = draw(st.lists(st.integers(0, 300), min_size=1, max_size=12))
    came = draw(st.lists(st.integers(0, 2000), min_size=1, max_size=12))
    lost = draw(st.lists(st.integers(0, 60), min_size=1, max_size=12))
    table: dict[str, list[Any]] = {
        "time_s": clock,
        draw(st.sampled_from(QUEUES)): [queue[place % len(queue)] for place in range(count)],
        "arrivals": [came[place % len(came)] for place in range(count)],
        "drops": [lost[place % len(lost)] for place in range(count)],
    }
    if draw(st.integers(0, 2)) == 2:
        table["nonresponsive_arrivals"] = [number // 2 for number in table["arrivals"]]
    if draw(st.integers(0, 8)) == 8:
        table["discipline"] = [draw(st.sampled_from(["fifo", "red"])) for _ in range(min(count, 3))] + ["red"] * max(
            count - 3, 0
        )
    for _ in range(draw(mostly(st.just(0), st.integers(1, 4), 3))):
        name = draw(st.sampled_from(sorted(table)))
        if count:
            table[name][draw(st.integers(0, count - 1))] = draw(ODD)
    if draw(st.integers(0, 20)) == 20:
        del table[draw(st.sampled_from(sorted(table)))]
    return table


def _csv(table: dict[str, list[Any]]) -> bytes:
    rows = zip(*table.values(), strict=False)
    lines = [
        ",".join(table),
        *(",".join("" if cell is None else str(cell).replace(",", ";") for cell in row) for row in rows),
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _parquet(table: dict[str, list[Any]]) -> bytes:
    columns = []
    for name, values in table.items():
        columns.append(column(name, values))
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


@st.composite
def polls(draw: st.DrawFn) -> bytes:
    """What a loop around ``tc -s qdisc`` prints, its counters mostly growing."""
    as_json, lines = draw(st.booleans()), []
    sent = drops = 0
    for place in range(draw(st.integers(0, 30))):
        sent += draw(mostly(st.integers(0, 10**6), st.sampled_from([-(10**7), 2**63]), 30))
        drops += draw(st.integers(0, 5))
        backlog = draw(st.integers(0, 200_000))
        device = draw(mostly(st.just("eth0"), st.sampled_from(["lo", "\x1b[2J"]), 15))
        lines.append(
            draw(mostly(st.just(f"{1.7e9 + place * 0.1:.2f}"), st.sampled_from(["", "x", "9" * 400, "0"]), 30))
        )
        if as_json:
            row = {
                "kind": "red",
                "dev": device,
                "root": True,
                "bytes": sent,
                "packets": sent // 1000,
                "drops": drops,
                "backlog": backlog,
                "qlen": 3,
            }
            for _ in range(draw(mostly(st.just(0), st.just(1), 20))):
                row[draw(st.sampled_from(sorted(row)))] = draw(ODD)
            lines.append(json.dumps(draw(mostly(st.just([row]), st.sampled_from([[], {}, [[]], [None]]), 30))))
        else:
            lines.append(f"qdisc red 1: dev {device} root refcnt 2")
            lines.append(f" Sent {sent} bytes {sent // 1000} pkt (dropped {drops}, overlimits 0 requeues 0)")
            lines.append(f" backlog {backlog}{draw(st.sampled_from(['', 'K', 'M', 'Q']))}b 3p requeues 0")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """An estimate, by any method."""
    form = draw(st.sampled_from(["csv", "csv", "parquet", "polls"]))
    table = draw(tables())
    content = draw(polls()) if form == "polls" else (_csv if form == "csv" else _parquet)(table)
    content = draw(damaged(content, one_in=2 if form == "parquet" else 5))
    rtt = draw(st.sampled_from(["100ms", "24ms..176ms", "100ms", "1s", "auto", "1ns", "0s", "60s", "2s..1s"]))
    method = draw(st.sampled_from(["default", "response", "basic", "p0", "loss", "multihop", "cbr", "nonsense"]))
    more: list[str] = []
    if draw(st.integers(0, 4)) == 4:
        name = draw(st.sampled_from(["gamma_1", "gamma_2", "sampling", "window", "alpha", "x"]))
        more += [
            "--set",
            f"{name}={draw(VALUES)}",
        ]
    for option, values in (
        ("--ticks", ["1", "100", "1000000000", "0"]),
        ("--from", ["1s", "1h"]),
        ("--alarm", ["0.7", "0.7,0.6", "2", "nan"]),
        ("--packet", ["1B", "1500B", "0B", "1GB"]),
        ("--out", ["out/series.csv"]),
        ("--discipline", ["red"]),
    ):
        if draw(st.integers(0, 9)) == (0 if option == "--discipline" and "discipline" in table else 9):
            more += [option, draw(st.sampled_from(values))]
    if form == "polls" and draw(st.integers(0, 4)) == 4:
        more.append("--follow")
    else:
        more.append("--json")
    rate = draw(mostly(st.sampled_from(["28mbit", "1kbit", "400gbit"]), st.just("0"), 20))
    return Case(
        "samples",
        (("estimate", "samples", "--rate", rate, "--rtt", rtt, "--method", method, *more),),
        {"samples": content},
    )
