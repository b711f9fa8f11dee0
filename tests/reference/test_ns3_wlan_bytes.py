"""A buffer in bytes at the access point: agreement with ns-3.37, five endless uploads against five downloads.

``ns3_wlan_bytes.csv`` is what Debian's ns-3 gave with ``benchmarks/ns3_wlan.cc``: payload from 10 s on, of the
transfers of `wlan-5v5`. The MAC of ns-3 holds one frame more than the buffer.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload

pytestmark = pytest.mark.slow
REFERENCE = pl.read_csv(Path(__file__).parent / "ns3_wlan_bytes.csv")
SEEDS = range(4)
FACTOR = 1.15
"""Between the ratios of uploads to downloads; two runs of ns-3 under PEFD are 8 % apart."""


@pytest.mark.parametrize(
    ("discipline", "buffer"), REFERENCE.select("discipline", "buffer_bytes").unique(maintain_order=True).rows()
)
def test_uploads_over_downloads_as_ns3(discipline: str, buffer: int) -> None:
    rows = REFERENCE.filter(discipline=discipline, buffer_bytes=buffer)
    scenario = load_scenario("wlan-ns3", {"network.buffer": f"{buffer}B", "duration": "100s", "warm_up": "10s"})
    payload = pl.col("delivered_bytes") - pl.col("warm_up_bytes")
    found = []
    for seed in SEEDS:
        records = run_one(scenario, parse(discipline), workload(scenario, seed), seed).records
        up, down = (records.filter(direction=way).select(payload.sum()).item() for way in ("up", "down"))
        found.append(up / down)
    theirs = (rows["up_mbps"] / rows["down_mbps"]).mean()
    assert abs(np.log(np.mean(found) / theirs)) < np.log(FACTOR), (found, theirs)
