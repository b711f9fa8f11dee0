"""Marks as `mayfly qdisc` reads them from tc, next to the receiver's count of packets with *congestion experienced*.

`MAYFLY_TC` names a tc of iproute2 7.3, without which what older ones do not print is left out.
"""

import os
import subprocess
from functools import cache

import guest
import pytest

from mayfly.engines.guest import series
from mayfly.qdisc.changes import marks
from mayfly.qdisc.show import parse

pytestmark = pytest.mark.kernel

TC = os.environ.get("MAYFLY_TC", "")
ECT1, ECT0 = 1, 2
FRAMES = 2000
OF_ANY_TC = {
    "codel": ("codel ecn", [ECT0]),
    "codel with ce_threshold": ("codel noecn ce_threshold 1ms", [ECT0]),
    "fq_codel": ("fq_codel ecn", [ECT0, ECT0]),
    "fq_codel with ce_threshold": ("fq_codel ecn ce_threshold 1ms", [ECT0, ECT0]),
    "fq with ce_threshold": ("fq limit 60 ce_threshold 1ms", [ECT0]),
    "pie": ("pie ecn", [ECT0]),
    # It marks in place of drops up to this probability, 10 % by default, over which chance may take it at once.
    "fq_pie": ("fq_pie ecn ecn_prob 99", [ECT0, ECT0]),
    "cake": ("cake bandwidth 9mbit diffserv4", [ECT0, ECT0]),
    # These count when a packet arrives: none is dropped for a full queue here.
    "red": ("red limit 4000000 min 15000 max 45000 avpkt 1000 burst 20 probability 0.1 bandwidth 10mbit ecn", [ECT0]),
    "sfq": ("sfq limit 1200 redflowlimit 200000 min 8000 max 60000 probability 0.2 ecn", [ECT0] * 16),
    "choke": ("choke limit 1200 min 20 max 60 probability 0.1 bandwidth 10mbit burst 30 ecn", [ECT0] * 500),
}
OF_NEWEST = {
    "dualpi2": ("dualpi2", [ECT1, ECT0]),
    "dualpi2 of L4S alone": ("dualpi2", [ECT1]),
    "netem": ("netem loss 20% ecn", [ECT0]),
}
CASES = OF_ANY_TC | (OF_NEWEST if TC and series() == "newest" else {})


@cache
def found() -> dict:
    cases = {name: {"leaf": leaf, "codes": codes} for name, (leaf, codes) in CASES.items()}
    return guest.run("marks.py", {"cases": cases, "frames": FRAMES, "tc": TC})


@pytest.mark.parametrize("name", [*OF_ANY_TC, *OF_NEWEST])
def test_marks_are_the_packets_that_arrive_marked(name):
    if name not in CASES:
        pytest.skip("needs MAYFLY_KERNEL=newest, and a tc of iproute2 7.3 in MAYFLY_TC")
    case = found()[name]
    (leaf,) = (row for row in parse(case["tc"]) if row.parent != "root")
    assert case["packets"] == leaf.sent_pkts and case["ce"] > 0, case
    if leaf.kind == "dualpi2":
        # A packet that both its probability and its step mark counts twice.
        assert marks(leaf) <= case["ce"] <= leaf.own["ecn-mark"] < 2 * case["ce"], (leaf.own, case["ce"])
        return
    # Each match takes a packet that waits, which may be marked.
    taken = leaf.own["matched"] if leaf.kind == "choke" else 0
    assert marks(leaf) - taken <= case["ce"] <= marks(leaf), (leaf, case["ce"])


def test_tc_of_the_environment_is_a_tc():
    if not TC:
        pytest.skip("MAYFLY_TC names no tc")
    assert "iproute2" in subprocess.run([TC, "-V"], capture_output=True, text=True, check=True).stdout
