"""What `tc -s -j qdisc show` of iproute2 7.3 prints of each discipline: marks, shapers, names and flags."""

import json
from pathlib import Path

import pytest
from invocation import mayfly_here

from mayfly.qdisc.changes import changes, marks, shaped_bps
from mayfly.qdisc.show import parse

RECORDED = Path(__file__).parents[3] / "shared" / "audit" / "inputs" / "tc"


def printed(
    kind: str, options: str = "{}", own: str = "", where: str = '"handle":"2:","root":true,"dev":"eth0"'
) -> str:
    """A discipline as tc prints it, which has a name several times in places."""
    own = f",{own}" if own else ""
    return f'{{"kind":"{kind}",{where},"options":{options},"bytes":9,"packets":1,"drops":0,"backlog":0,"qlen":0{own}}}'


def done(*arguments) -> str:
    ended = mayfly_here("qdisc", *arguments)
    assert (ended.status, ended.err) == (0, "")
    return ended.out


@pytest.mark.parametrize(
    ("kind", "options", "own", "expected"),
    [
        # The sum of 534 and 219, which overlap: 577 left with the mark.
        ("dualpi2", "{}", '"ecn-mark":753,"step-mark":219', 534),
        ("dualpi2", "{}", '"ecn-mark":40,"step-mark":40', 40),
        ("fq", "{}", '"ce_mark":356', 356),
        ("codel", "{}", '"ecn_mark":0,"ce_mark":794', 794),
        # Packets marked by the law are marked for the threshold, too: 895 left with the mark.
        ("fq_codel", "{}", '"ecn_mark":117,"ce_mark":895', 895),
        ("fq_codel", "{}", '"ecn_mark":117', 117),
        ("netem", "{}", '"ecn_marked":166', 166),
        ("pie", "{}", '"ecn_mark":4', 4),
        ("red", "{}", '"marked":5,"early":2', 5),
        ("cake", "{}", '"tins":[{"ecn_mark":2},{"ecn_mark":3}]', 5),
        ("sfq", '{"prob_mark":1,"prob_mark_head":2,"forced_mark":4,"forced_mark_head":8,"prob_drop":16}', "", 15),
        ("gred", '{"vqs":[{"vq":0,"prob_mark":3,"forced_mark":4},{"vq":1,"prob_mark":5,"forced_mark":0}]}', "", 12),
        ("pfifo", '{"limit":100}', "", 0),
    ],
)
def test_marks_are_those_that_left_whatever_their_name(machine, kind, options, own, expected):
    text = f"[{printed(kind, options, own)}]"
    (row,) = parse(text)
    assert marks(row) == expected
    machine.answer("tc -s -j qdisc show", text)
    first, second = map(json.loads, done("watch", "eth0", "--json", "--readings", "2", "--every", "100ms").splitlines())
    assert first["qdiscs"][0]["between"]["marks_pkts"] is None
    assert second["qdiscs"][0]["between"]["marks_pkts"] == 0


def test_marks_between_two_readings_are_counted():
    before, now = (parse(f"[{printed('dualpi2', own=f'{chr(34)}ecn-mark{chr(34)}:{count}')}]") for count in (600, 625))
    assert [change.marks_pkts for change in changes(before, now, 1.0)] == [25]


CAKE_MQ = ",".join(
    [
        printed("cake_mq", '{"bandwidth":2500000,"diffserv":"besteffort"}', where='"handle":"8002:","root":true'),
        *(
            printed(
                "cake",
                '{"bandwidth":2500000,"diffserv":"besteffort"}',
                '"memory_used":4,"tins":[{"ecn_mark":1,"avg_delay_us":5,"peak_delay_us":9}]',
                where=f'"handle":"0:","parent":"8002:{queue}"',
            )
            for queue in (4, 3, 2, 1)
        ),
    ]
)


def test_the_rate_of_cake_mq_is_counted_once(machine):
    rows = parse(f"[{CAKE_MQ}]")
    assert [shaped_bps(row) for row in rows] == [20e6, None, None, None, None]
    assert [row.parent_kind for row in rows] == ["", *["cake_mq"] * 4]
    machine.answer("tc -s -j qdisc show", f"[{CAKE_MQ}]")
    page = done("watch", "eth0", "--readings", "2", "--every", "100ms")
    assert "of 20.0 Mbit/s" in page and "80.0 Mbit/s" not in page
    # Below mq each has a shaper of its own.
    apart = [row for row in parse(f"[{CAKE_MQ.replace('cake_mq', 'mq')}]")]
    assert [shaped_bps(row) for row in apart] == [None, 20e6, 20e6, 20e6, 20e6]


def test_a_queue_discipline_newer_than_tc_is_shown_without_its_options(machine):
    """Iproute2 6.1 of cake_mq, on Linux 7.3.4."""
    newer = printed("cake_mq", where='"handle":"7:","root":true,"dev":"eth0"').replace(
        '"options":{}', '"options":{[Unknown qdisc, optlen=148] }'
    )
    machine.answer("tc -s -j qdisc show", f"[{newer},{printed('fq')}]")
    assert [(row.kind, row.options) for row in parse(f"[{newer},{printed('fq')}]")] == [("cake_mq", {}), ("fq", {})]
    assert "cake_mq" in done("show", "eth0")


def test_the_queues_of_cake_mq_are_named_by_their_place(machine):
    machine.answer("tc -s -j qdisc show", f"[{CAKE_MQ}]")
    shown = done("show", "eth0")
    assert [f"cake at 8002:{queue}: " in shown for queue in (4, 3, 2, 1)] == [True] * 4
    page = done("watch", "eth0", "--readings", "2", "--every", "100ms")
    assert [f"cake 0: at 8002:{queue}: " in page for queue in (4, 3, 2, 1)] == [True] * 4


def test_prometheus_gets_the_rate_of_cake_mq_once():
    pytest.importorskip("prometheus_client", reason="prometheus_client is not installed: pip install mayfly[metrics]")
    from mayfly.qdisc.export import families

    (shaped,) = (one for one in families(parse(f"[{CAKE_MQ}]"), 0) if one.name.endswith("shaped_bytes_per_second"))
    assert [(sample.labels["kind"], sample.value) for sample in shaped.samples] == [("cake_mq", 2_500_000)]
    (marked,) = (one for one in families(parse(f"[{CAKE_MQ}]"), 0) if one.name.endswith("marked_packets"))
    assert sum(sample.value for sample in marked.samples) == 4


FQ = printed(
    "fq",
    '{"limit":60,"priomap ":[1,2,2],"weights ":[589824,196608,65536],"horizon":10000000,"horizon_drop":null}',
    '"flows":7,"inactive":1,"throttled":3,"gc":0,"throttled":1200,"ce_mark":9007199254740993',
)


def test_a_flag_is_its_name_and_blanks_are_none_of_it(machine):
    machine.answer("tc -s -j qdisc show", f"[{FQ}]")
    shown = " ".join(done("show", "eth0").split())
    assert "limit 60 priomap 1 2 2 weights 589824 196608 65536 horizon 10000000 horizon_drop" in shown
    assert "None" not in shown


def test_a_name_that_comes_twice_loses_nothing(machine):
    (row,) = parse(f"[{FQ}]")
    assert (row.own["throttled_flows"], row.own["throttled"]) == (3, 1200)
    (other,) = parse(f"[{printed('other', own='{0}a{0}:1,{0}a{0}:2,{0}a{0}:3'.format(chr(34)))}]")
    assert other.own == {"a": 1, "a_2": 2, "a_3": 3}
    # Counted once: the flows, as from an iproute2 that prints the packets only where there are some.
    (single,) = parse(f"[{printed('fq', own='{0}throttled{0}:3'.format(chr(34)))}]")
    assert single.own == {"throttled_flows": 3}


def test_large_counts_stay_exact(machine):
    machine.answer("tc -s -j qdisc show", f"[{FQ}]")
    (row,) = json.loads(done("show", "eth0", "--json"))["qdiscs"]
    assert row["own"]["ce_mark"] == 2**53 + 1
    assert "ce_mark 9007199254740993" in " ".join(done("show", "eth0").split())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tc-dualpi2-marks", {"htb": 0, "dualpi2": 384}),
        ("tc-fq-ce_mark", {"fq": 356}),
        ("tc-codel-ce_mark", {"codel": 794}),
        ("tc-fq_codel-ce_mark", {"fq_codel": 895}),
        ("tc-netem-ecn_marked", {"netem": 166}),
    ],
)
def test_marks_of_recorded_output(name, expected):
    path = RECORDED / f"{name}.json"
    if not path.exists():
        pytest.skip("../shared/audit/inputs/tc is not here")
    rows = parse(path.read_text())
    assert {row.kind: marks(row) for row in rows} == expected


def test_the_recorded_rate_of_cake_mq_is_counted_once():
    path = RECORDED / "tc-cake_mq-4-queues.json"
    if not path.exists():
        pytest.skip("../shared/audit/inputs/tc is not here")
    rows = parse(path.read_text())
    assert sum(shaped_bps(row) or 0 for row in rows) == 20e6 and len(rows) == 5
