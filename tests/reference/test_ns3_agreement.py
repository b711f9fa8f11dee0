"""Agreement with ns-3.37 on the flow list B_8M under FIFO and FqCoDel (settings in the README of the reference)."""

from functools import cache
from pathlib import Path

import polars as pl
import pytest

import mayfly

SHARED = Path(__file__).resolve().parents[3] / "shared" / "reference"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.exists(), reason="needs the ns-3 results in ../shared/reference/ns3"),
]

# ns-3.37: NewReno, initial window 2, SYN timeout 3 s, minimum 1 s, delayed ACK 200 ms, window 43 MSS; the flows run to
# their end. Its FIN rides on the last data, so the end is the last data here.
SETTINGS = {
    "duration": "1300s",
    "stop_when_idle": True,
    "tcp.min_rto": "1s",
    "tcp.initial_rto": "3s",
    "tcp.initial_window": 2,
    "tcp.receiver_window": 43,
    "tcp.delayed_ack": "200ms",
    "tcp.impatient": False,
    "tcp.fin": False,
}

# ns-3.37 drops while fewer than 1500 bytes are left behind the packet, RFC 8289 while no more than an MTU is: so one
# packet of 1500 bytes left behind is enough for ns-3.
DISCIPLINES = {"fifo": ("fifo", 300), "fqcodel": ("fq_codel(mtu=1499, quantum=1500, rules=rfc)", 301)}


@cache
def both(name: str) -> tuple[pl.DataFrame, dict]:
    """Per flow our response time and theirs, and our summary row."""
    discipline, buffer = DISCIPLINES[name]
    scenario = mayfly.load_scenario("wired", SETTINGS | {"network.buffer": buffer})
    result = mayfly.run(scenario, discipline, SHARED / "ns2" / "flows_B_8M.csv.gz")
    theirs = pl.read_csv(SHARED / "ns3" / f"dumbbell_{name}_B.csv.gz").select(
        "flow_id", theirs=pl.col("finish_data_s") - pl.col("start_s")
    )
    flows = result.records.select("flow_id", "size_packets", ours="response_time_s")
    return flows.join(theirs, on="flow_id", validate="1:1"), result.summary["disciplines"][0]


def mean_by_class(flows: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Means of the short and the long flows (the largest that carry half of the bytes)."""
    flows = flows.sort("size_packets", descending=True)
    long = pl.col("size_packets").cum_sum() <= pl.col("size_packets").sum() / 2
    classed = flows.group_by(pl.when(long).then(pl.lit("long")).otherwise(pl.lit("short")).alias("class"))
    means = classed.agg(pl.col("ours").mean(), pl.col("theirs").mean())
    return {row["class"]: (row["ours"], row["theirs"]) for row in means.iter_rows(named=True)}


def runs() -> dict[str, dict]:
    rows = pl.read_csv(SHARED / "ns3" / "dumbbell_runs.csv").iter_rows(named=True)
    return {row["disc"]: row for row in rows}


@pytest.mark.parametrize("name", DISCIPLINES)
def test_long_flows_and_the_queue_agree(name):
    flows, row = both(name)
    assert flows["ours"].null_count() == 0
    ours, theirs = mean_by_class(flows)["long"]
    assert ours == pytest.approx(theirs, rel=0.05)
    assert row["queue_mean_packets"] == pytest.approx(runs()[name]["q_mean"], rel=0.05)


def test_short_flows_agree_under_fifo():
    ours, theirs = mean_by_class(both("fifo")[0])["short"]
    assert ours == pytest.approx(theirs, rel=0.05)


def test_fq_codel_drops_as_much():
    # One number of one run each; the drops of our own seeds spread by 1 %.
    assert both("fqcodel")[1]["drops"] == pytest.approx(runs()["fqcodel"]["drops"], rel=0.05)


def test_the_median_short_flow_agrees_up_to_the_queue_of_the_device():
    # ns-3 has a device queue of one packet behind the scheduler: each round trip waits for up to 1.2 ms more. The means
    # differ by more (docs/validation.md): 2.7 % of the smallest flows end with a timeout in ns-3, 0.6 % here.
    # SYN and windows of 2, 3 and 5 segments make four rounds, and data waits for one packet more.
    flows = both("fqcodel")[0].filter(pl.col("size_packets") <= 10)
    for (size,), of_size in flows.group_by("size_packets"):
        later = of_size["theirs"].median() - of_size["ours"].median()
        assert 0 <= later <= 5 * 0.0012, size
