"""RED row of Zhao 2004, Table III against ns-2.35, for Reno and for Sack1 (settings in the README of the reference)."""

import csv
from pathlib import Path

import pytest

import mayfly
from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload

SUMMARY = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2" / "zhao_summary.csv"
SHARE_POINTS, DROP_POINTS = 1.5, 0.7
"""Tolerances of issue 4, % points."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SUMMARY.exists(), reason="needs the ns-2 results in ../shared/reference/ns2"),
]


@pytest.mark.parametrize(
    ("row", "tcp"),
    [
        ("zhao_red_reno_cbr22", {"tcp.recovery": "reno", "tcp.min_rto": "1s"}),
        ("zhao_red_sack_cbr22", {"tcp.recovery": "sack", "tcp.min_rto": "200ms"}),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_share_and_drop_rate_under_red_agree_with_ns_2(row, tcp, seed):
    with SUMMARY.open(newline="") as file:
        ns2 = next(line for line in csv.DictReader(file) if line["config"].startswith(f"{row},"))
    scenario = mayfly.load_scenario("red-ns2", {"seed": seed, **tcp})
    result = run_one(scenario, parse(scenario.disciplines[0]), workload(scenario))
    counted = {group["group"]: group for group in result.classes}
    sent, arrivals, drops = (sum(g[name] for g in counted.values()) for name in ("sent", "arrivals", "drops"))
    assert 100 * counted["ltrf"]["sent"] / sent == pytest.approx(float(ns2["tcp%"]), abs=SHARE_POINTS)
    assert 100 * drops / arrivals == pytest.approx(100 * float(ns2["droprate"]), abs=DROP_POINTS)
