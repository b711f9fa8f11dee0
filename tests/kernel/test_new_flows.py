"""Floods of new flows in the kernel: they pass, flows are forgotten, and how long it took is printed, not held."""

import re

import guest
import pytest

pytestmark = pytest.mark.kernel

LEAVES = ("las limit 100000 flows 1", "las limit 100000 flows 1 half_life 1ms", "run2c limit 100000 flows 1")
FEW = "efd limit 100000"
PACKETS = 200_000


@pytest.mark.parametrize("leaf", [*LEAVES, FEW])
def test_a_full_table_of_flows_takes_a_flood(leaf, capsys):
    id = leaf.split()[0]
    settings = {"leaf": leaf, "rate": "1mbit", "packets": PACKETS}
    found = guest.run("flood.py", settings, modules=(f"sch_{id}",), memory="1024M", virtual=False)
    with capsys.disabled():
        times = ", ".join(f"{name} {found[name]:.0f}" for name in ("per_s", "mean_ns", "quantile_ns", "most_ns"))
        print(f"\n{leaf}: {times}")
    flows, most = map(int, re.search(r"flows (\d+) max (\d+)", found["shown"]).groups())
    assert 90_000 < most <= 100_001 and flows <= most, found["shown"]
    if leaf != FEW:
        # Each flow that came in while all places were taken forgot another one.
        assert int(re.search(r"evicted (\d+)", found["shown"])[1]) > 100, found["shown"]
