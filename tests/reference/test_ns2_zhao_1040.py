"""Zhao 2004, Tables III and X: agreement with ns-2.35 where TCP packets have 1040 bytes on the wire, its own default.

``ns2_zhao_1040.csv`` is what Debian's ns-2 gave with ``zhao.tcl`` of the shared reference, `tcpwire=1040`, every source
in step (`cbrspread=0`), RED with the thresholds told, SACK with a minimum timeout of 0.2 s where nothing else is said.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload
from mayfly_papers.zhao2004.aqm.scenarios import shares

SEEDS = range(1, 4)
SHARE, DROPS = 0.02, 0.007
"""As in `test_ns2_zhao.py` under RED: tolerances of issue 4, of the link and of the drop rate."""

pytestmark = pytest.mark.slow
REFERENCE = pl.read_csv(Path(__file__).parent / "ns2_zhao_1040.csv")


def measured(row: dict) -> dict[str, np.ndarray]:
    """Ours with the settings of a row, one value per seed."""
    marks = ",ecn=on" if row["queue"] == "ecn" else ""
    thresholds = f"min_th={row['min_th']},max_th={row['max_th']},spacing=wait,mark_max=0.1{marks}"
    discipline = parse("fifo" if row["queue"] == "dt" else f"red({thresholds})")
    flows, others, rate_bps = row["ltrf"], row["ltnrf"], round(row["ltnrf_mbps"] * 1e6)
    cbr = {"rate": rate_bps, "packet": 1000, "flows": others, "users": others, "spread": 0.0, "group": "ltnrf"}
    mice = {"sources": row["stf"], "size": 10, "period": "10s", "spread": "10s", "users": 50, "group": "stf"}
    scenario = load_scenario(
        "red-ns2",
        {
            "network.rate": row["rate_mbps"] * 1_000_000,
            "network.access_delay": f"{row['access_ms']}ms",
            "network.exit_delay": f"{row['access_ms']}ms",
            "network.buffer": row["buffer"],
            "network.buffer_counts_transmission": row["queue"] == "dt",
            "tcp.mss": 1000,
            "tcp.recovery": {"sack1": "sack", "reno": "reno"}[row["tcp"]],
            "tcp.min_rto": f"{row['min_rto_s']}s",
            "tcp.ecn": row["queue"] == "ecn",
            "workload.permanent": [{"flows": flows, "spread": "2s", "users": flows, "group": "ltrf"}],
            "workload.cbr": [cbr],
        }
        | ({"workload.short_term": [mice], "tcp.recycled_senders": True} if row["stf"] else {}),
    )
    found = [shares(run_one(scenario, discipline, workload(scenario, seed), seed)) for seed in SEEDS]
    return {name: np.array([own[name] for own in found]) for name in found[0]}


def of(*queues: str, **fields: object) -> list:
    """Rows of the reference with these queues and fields, as parameters named by their settings."""
    rows = REFERENCE.filter(pl.col("queue").is_in(queues), **fields).to_dicts()
    names = ("queue", "min_th", "ltnrf", "stf", "access_ms", "tcp", "min_rto_s")
    return [pytest.param(row, id="-".join(str(row[name]) for name in names)) for row in rows]


@pytest.mark.parametrize("row", of("red", "ecn", rate_mbps=100))
def test_red_at_100_mbps_as_ns2(row):
    ours = measured(row)
    tcp, other = ours["ltrf_of_link_payload"], ours["ltnrf_of_link"]
    assert np.abs(tcp - row["tcp_payload_of_link"]).max() < SHARE, (tcp, row)
    assert np.abs(other - row["cbr_of_link"]).max() < SHARE, (other, row)
    assert np.abs(ours["ltnrf_drops"] - row["cbr_drop_rate"]).max() < DROPS, (ours["ltnrf_drops"], row)


@pytest.mark.parametrize("row", of("red", rate_mbps=28, min_th=15.0))
def test_the_red_row_of_table_iii_as_ns2(row):
    ours = measured(row)
    tcp, drops = ours["ltrf_share_payload"], ours["drops"] / 100
    assert np.abs(tcp - row["tcp_share_pct"] / 100).max() < SHARE, (tcp, row)
    assert np.abs(drops - row["drop_rate"]).max() < DROPS, (drops, row)
