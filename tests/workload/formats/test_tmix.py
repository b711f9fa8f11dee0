"""Connection vectors of Tmix, in both formats."""

import polars as pl
import pytest
from scripted import texts

from mayfly.errors import MayflyError
from mayfly.workload.formats.registry import read_flows_any, write_flows_as
from mayfly.workload.lists import flow_list

VECTORS = """\
# two connections
SEQ 6851 2 21217 555382   # begins at 6.851 ms
w 64800 6432
r 1176194
l 0.000000 0.000000
> 245
t 51257
< 510
t 1000
> 100
t 20
> 50
t 6304943

CONC 1429381 2 2 26876 793318
w 65535 5840
m 1460 1460
r 36556
l 0.000000 0.010000
c> 222
t> 62436302
c< 726
t< 62400173
c> 16
t> 725
c< 84
t< 130
"""

SAME = """\
S 6851 2 21217 555382
w 64800 6432
r 1176194
l 0.000000 0.000000
I 0 0 245
A 0 51257 510
I 0 1000 100
I 20 0 50
I 6304943 0 0

C 1429381 2 2 26876 793318
w 65535 5840
m 1460 1460
r 36556
l 0.000000 0.010000
I 0 0 222
A 0 0 726
I 62436302 0 16
A 62400173 0 84
I 725 0 0
A 130 0 0
"""


def text_of(path, text):
    path.write_text(text)
    return path


def test_both_formats_say_the_same(tmp_path):
    original = read_flows_any(text_of(tmp_path / "a.txt", VECTORS))
    assert original.equals(read_flows_any(text_of(tmp_path / "b.txt", SAME)))
    assert original.select("start_s", "src", "dst", "direction", "opened_by", "rtt_s", "size_bytes").rows() == [
        (0.006851, 1, 2, "down", "receiver", 1.176194, 905),
        (1.429381, 1, 2, "down", "receiver", 0.036556, 810),
        (1.429381, 2, 1, "up", "sender", 0.036556, 238),
    ]
    assert texts(original) == [
        "up 245 | wait 51257us | down 510 | wait 1ms | up 100 | wait 20us | up 50",
        "down 726 | wait 62400173us | down 84",
        "up 222 | wait 62436302us | up 16",
    ]


@pytest.mark.parametrize("name", ["x.cvec", "x.ns2.cvec"])
def test_what_was_read_is_written_and_read_again(name, tmp_path):
    flows = read_flows_any(text_of(tmp_path / "a.cvec", VECTORS))
    assert write_flows_as(flows, tmp_path / name) == []
    assert read_flows_any(tmp_path / name).equals(flows)


def test_a_vector_is_written_as_it_stands_in_the_manual(tmp_path):
    flows = flow_list(
        pl.DataFrame({"start_s": [0.5], "rtt_s": [0.02], "script": ["up 400 | wait 20ms | down 9000 | up 10 | up 20"]})
    )
    write_flows_as(flows, tmp_path / "x.cvec")
    head = "500000 2 1 1\nw 65535 65535\nr 20000\nl 0.000000 0.000000\n"
    assert (tmp_path / "x.cvec").read_text() == f"SEQ {head}> 400\nt 20000\n< 9000\nt 1\n> 10\nt 1\n> 20\nt 1\n"
    write_flows_as(flows, tmp_path / "x.ns2.cvec")
    expected = f"S {head}I 0 0 400\nA 0 20000 9000\nI 0 1 10\nI 1 0 20\nI 1 0 0\n"
    assert (tmp_path / "x.ns2.cvec").read_text() == expected


def test_what_a_vector_cannot_hold_is_told(tmp_path):
    flows = flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 0.0, 0.0, 1.0],
                "protocol": ["udp", "tcp", "tcp", "tcp"],
                "rate_bps": [1e6, None, None, None],
                "size_bytes": [100, None, 100, 100],
                "stage": [None, 1, None, None],
                "after": [None, None, None, 1],
                "script": [None, "wait 1s | up 9 pace 1ms | down 50 parts 20,30", None, None],
            }
        )
    )
    assert write_flows_as(flows, tmp_path / "x.cvec") == [
        "1 UDP flows were left out",
        "1 flows that start after others were left out",
        "1 scripts lost their pace",
        "1 scripts lost their parts",
        "1 scripts that begin with a wait start so much later",
        "1 flows are opened from the far side, which vectors do not say: they are read as opened here",
        "2 flows have no round-trip time: r 0",
    ]
    read = read_flows_any(tmp_path / "x.cvec")
    assert read["start_s"].to_list() == [0.0, 1.0]
    assert texts(read) == [None, "up 9 | wait 1us | down 50"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SEQ 1 1 1 1\nw 1 1\n> x\n", "line 3: > x: must be > and 1 whole numbers of 1 to 15 digits"),
        ("SEQ 1 1 1\n> 5\n", "line 1: SEQ 1 1 1: must be SEQ and 4 whole numbers"),
        ("SEQ 1 1 1 1\nc> 5\n", "line 2: c>: must be w, r, m, l or >, <, t"),
        ("S 1 1 1 1\n> 5\n", "line 2: >: must be w, r, m, l or I, A"),
        ("SEQ 1 1 1 1\n> 99999999999999\n", "line 2: 99999999999999: must be at most 2^40 bytes"),
        ("SEQ 1 1 1 1\n> 5\nt 99999999999999\n> 5\n", "line 4: a wait of 99999999999999 us: must be at most a day"),
        ("SEQ 1 1 1 1\nr 99999999\n> 5\n", "rtt_s = 99.999999: must be a number from 1.0000000000000001e-09 to 60 s"),
        ("SEQ 1 1 1 1\n", "no connection vector that carries anything"),
    ],
)
def test_a_bad_line_is_told_with_its_number(text, said, tmp_path):
    with pytest.raises(MayflyError) as told:
        read_flows_any(text_of(tmp_path / "a.cvec", text))
    assert said in str(told.value) and "\n" not in str(told.value)


def test_a_list_without_tcp_cannot_be_written(tmp_path):
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1], "protocol": ["udp"], "rate_bps": [1e6]}))
    with pytest.raises(MayflyError, match="no flow is left"):
        write_flows_as(flows, tmp_path / "x.cvec")
    assert list(tmp_path.iterdir()) == []
