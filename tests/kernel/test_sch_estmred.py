"""`sch_estmred` in the kernel: its estimate beside byte counters, marks, the estimator left out."""

import guest
import ponrt
import pytest

from mayfly_papers.zhao2004.testbed.measures import series_of

pytestmark = pytest.mark.kernel

BULK = {
    "rate_bps": 10_000_000,
    "delay_s": 0.01,
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1", "net.ipv4.tcp_ecn": "1"},
    "cubic": {},
    "congestion": "cubic",
    "bulk_congestion": "cubic",
    "size_bytes": 40_000,
    "starts_s": [5.0 + second for second in range(10)],
    "duration_s": 16.0,
    "look_s": 1.0,
    "capture": False,
}
LEAF = "estmred limit 100 avpkt 1514b bandwidth 10mbit rtt 20ms"


def leaf(options: str) -> dict:
    return guest.run("transfers.py", {**BULK, "leaf": f"{LEAF} {options}"}, modules=("sch_estmred",))["leaf"]


def test_the_estimate_is_that_of_the_byte_counters():
    # What Zhao 2004 found with the gains of the Linux testbed: an MSE of 0.001586 (III.D), "less than 4 %".
    run = ponrt.in_kernel("22-87")
    assert series_of(run).mse() < 0.001586
    assert " estm " in run["status"] and " = 0." in run["status"]


def test_packets_that_understand_ecn_are_marked():
    shown = leaf("ecn on")
    assert shown["marked"] > 0 and shown["early"] == 0
    assert shown["drops"] == shown["pdrop"]


def test_without_the_estimator_it_is_red():
    shown = leaf("estimate off")
    assert shown["early"] > 0 and shown["marked"] == 0
    assert not {"estm", "share", "doubt"} & set(shown)
