"""Logs and connection vectors of other programs: Zeek, nfdump, Tmix in both formats, ns-3."""

import json
from typing import Any

from case import Case
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from values import ODD_FLOATS, ODD_NUMBERS, TEXTS, damaged, mostly

ADDRESSES = mostly(
    st.sampled_from(["10.0.0.1", "10.0.0.2", "198.51.100.7", "2001:db8::1", "::"]),
    st.sampled_from(["", "x", "1", "10.0.0.999", "fe80::1%eth0"]),
    60,
)
ODD: SearchStrategy[Any] = st.one_of(
    ODD_NUMBERS, ODD_FLOATS, TEXTS, st.sampled_from(["-", "(empty)", "", "1e400", "0x10", "1_0", " 5 ", "\x1b[2J"])
)
COUNTS = mostly(st.integers(0, 100_000), ODD, 80)
PORTS = mostly(st.sampled_from([0, 53, 80, 40_000, 65_535]), ODD, 80)
TIMES = mostly(st.one_of(st.floats(0, 100), st.sampled_from([0, 1_700_000_000.5])), ODD, 80)

ZEEK = {
    "ts": mostly(
        TIMES, st.sampled_from(["2026-11-21T20:13:28.5Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "T"]), 30
    ),
    "uid": TEXTS,
    "id.orig_h": ADDRESSES,
    "id.orig_p": PORTS,
    "id.resp_h": ADDRESSES,
    "id.resp_p": PORTS,
    "proto": mostly(st.sampled_from(["tcp", "udp"]), st.sampled_from(["icmp", "", "TCP", "unknown_transport"]), 8),
    "duration": TIMES,
    "orig_bytes": COUNTS,
    "resp_bytes": COUNTS,
    "orig_pkts": COUNTS,
    "orig_ip_bytes": COUNTS,
    "resp_pkts": COUNTS,
    "resp_ip_bytes": COUNTS,
}
NFDUMP = {
    "ts": mostly(
        st.sampled_from(["2026-11-21 20:13:43", "2026-11-21 20:13:44", "2026-11-21 23:59:59"]),
        st.one_of(ODD.map(str), st.sampled_from(["0001-01-01 00:00:00", "9999-12-31 23:59:59", "2026-11-21"])),
        60,
    ),
    "td": TIMES,
    "sa": ADDRESSES,
    "da": ADDRESSES,
    "sp": PORTS,
    "dp": PORTS,
    "pr": mostly(st.sampled_from(["TCP", "UDP"]), st.sampled_from(["ICMP", "", "6"]), 8),
    "ipkt": COUNTS,
    "ibyt": COUNTS,
    "opkt": COUNTS,
    "obyt": COUNTS,
}


def _rows(columns: dict[str, SearchStrategy[Any]]) -> SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=8)


@st.composite
def zeek(draw: st.DrawFn) -> bytes:
    """A ``conn.log``, tab-separated or a JSON document a line."""
    rows = draw(_rows(ZEEK))
    if draw(st.booleans()):
        lines = [json.dumps({name: value for name, value in row.items() if value != "-"}) for row in rows]
        if draw(st.integers(0, 9)) == 9:
            lines.append(draw(st.sampled_from(["{}", "[]", '{"id.orig_h": ' + "[" * 5000, "{", "null", '{"ts": 1}'])))
        return "\n".join(lines).encode("utf-8", "surrogatepass")
    separator = draw(mostly(st.just("\\x09"), st.sampled_from(["\\x2c", "", "\\x0", "\\xff", "ü"]), 8))
    names = list(ZEEK)
    head = [f"#separator {separator}", "#unset_field\t-", "#empty_field\t(empty)", "#fields\t" + "\t".join(names)]
    lines = ["\t".join(str(row[name]).replace("\t", " ") for name in names) for row in rows]
    return "\n".join([*head, *lines, "#close\t2026"]).encode("utf-8", "surrogatepass")


@st.composite
def nfdump(draw: st.DrawFn) -> bytes:
    """As ``nfdump -o csv`` writes it."""
    lines = [",".join(NFDUMP)] + [",".join(str(value) for value in row.values()) for row in draw(_rows(NFDUMP))]
    return "\n".join([*lines, "Summary", "flows,bytes"]).encode("utf-8", "surrogatepass")


@st.composite
def tmix(draw: st.DrawFn) -> bytes:
    """Connection vectors of both formats, with lines where they do not belong."""
    number = mostly(
        st.integers(0, 200_000), st.sampled_from([2**40, 2**40 + 1, 10**15, -1, "x", "", "٣", 86_400_000_001]), 100
    )
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        head = draw(st.sampled_from(["SEQ", "CONC", "S", "C"]))
        count = 4 if head in ("SEQ", "S") else 5
        lines.append(" ".join([head, *(str(draw(number)) for _ in range(count))]))
        inside = {
            "SEQ": ["> 1", "< 1", "t 1", "w 2", "r 1", "l 2"],
            "CONC": ["c> 1", "c< 1", "t> 1", "t< 1", "r 1"],
            "S": ["I 3", "A 3", "w 2", "r 1"],
            "C": ["I 3", "A 3", "r 1"],
        }[head]
        for _ in range(draw(st.integers(0, 6))):
            word, _, numbers = draw(
                mostly(st.sampled_from(inside), st.sampled_from(["> 2", "Q 1", "# 0", "c> 0"]), 20)
            ).partition(" ")
            lines.append(" ".join([word, *(str(draw(number)) for _ in range(int(numbers)))]))
    return "\n".join(lines).encode()


@st.composite
def ns3(draw: st.DrawFn) -> bytes:
    """CSV of numbers, in the order in which ns-3 scripts read them."""
    flag, whole, real = st.sampled_from([0, 1]), st.integers(0, 3000), st.floats(0, 3)
    usual = (real, whole, whole, whole, flag, flag, st.integers(29, 1500), st.sampled_from([0, 10**6]), real)
    rows = draw(st.lists(st.tuples(*(mostly(cell, ODD, 80) for cell in usual)), max_size=6))
    return "\n".join(["start,size,src,dst,up,udp,packet,rate,rtt", *(",".join(map(str, row)) for row in rows)]).encode(
        "utf-8", "surrogatepass"
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A log, converted or simulated."""
    content = draw(damaged(draw(st.one_of(zeek(), nfdump(), tmix(), ns3())), one_in=6))
    target = draw(st.sampled_from(["csv", "parquet", "cvec", "ns2.cvec", "ns3.csv"]))
    near = draw(st.sampled_from([(), ("--internal", "10.0.0.0/24")]))
    simulate = ("simulate", "wired", "--discipline", "fifo", "--flows", "log", "--duration", "1s", "--out", "out/run")
    convert = ("workload", "convert", "log", f"out/flows.{target}", *near)
    arguments = draw(st.sampled_from([convert, convert, simulate]))
    return Case("logs", ((*arguments, "--json"),), {"log": content})
