"""The replay of a capture by the kernel, beside that by the simulator."""

from pathlib import Path

import guest
import polars as pl
import pytest
from guest_hosts import PRESET

from mayfly.comparison.whatif import whatif
from mayfly.engines import engine as engine_named

pytestmark = pytest.mark.kernel

CAPTURE = Path(__file__).resolve().parents[2] / "captures" / "office.pcap.gz"


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


def split(trains: pl.DataFrame) -> list[pl.DataFrame]:
    return [trains.filter(discipline=label) for label in ("fifo", "fifo (linux)")]


# Of transfers and of packets at their times all is compared; of scripts what one of them takes, with a buffer that
# neither overflows: the kernel overflows one of 300 packets and the simulator just does not (docs/kernel/engine.md).
@pytest.mark.parametrize("replay", ["transfers", "users", "packets"])
def test_a_capture_replayed_by_the_kernel_is_as_by_the_simulator(replay):
    # No discipline that hashes: a ping in the queue of a transfer is one run in a hundred, on either side.
    inside = ["10.10.0.0/24"]
    engine = engine_named("both")
    buffer = 600 if replay == "users" else 300
    given = {"internal": inside, "replay": replay, "disciplines": "fifo", "overrides": {"tcp.preset": PRESET}}
    result = whatif(CAPTURE, "10mbit", buffer, engine=engine, **given)
    here, kernel = result.summary["disciplines"]
    assert (here["label"], kernel["label"]) == ("fifo", "fifo (linux)")
    assert result.summary["resampling"]["hours"] == 0 and "engine" in result.summary["resampling"]["why_none"]
    ping = [row["users"]["ping"] for row in (here, kernel)]
    assert ping[1]["probes"] == ping[0]["probes"] > 700 and ping[1]["idle_ms"] == ping[0]["idle_ms"]
    if replay == "users":
        assert kernel["trains"]["count"] == here["trains"]["count"] > 1700
        # Users who wait ask later once a burst took longer, so that totals drift apart. Train by train half of them
        # take as long to 0.5 ms.
        took = [part.with_columns(took_s=pl.col("end_s") - pl.col("start_s")) for part in split(result.trains)]
        pairs = took[0].join(took[1], on=["flow_id", "train"], suffix="_kernel")
        away_s = pairs["took_s_kernel"] - pairs["took_s"]
        assert pairs.height == here["trains"]["count"]
        assert [away_s.quantile(share) for share in (0.25, 0.5, 0.75)] == pytest.approx([0.0] * 3, abs=0.0005)
    judged = [row["recorded"] if replay == "packets" else row["users"]["short"] for row in (here, kernel)]
    if replay == "users" and PRESET != "linux-6.1":
        pytest.xfail("open in 7.3: the median of short exchanges is 10 % off (docs/kernel/engine.md)")
    assert judged[1]["p50_s"] == pytest.approx(judged[0]["p50_s"], rel=0.05)
    if replay == "users":
        return
    assert judged[1]["p95_s"] == pytest.approx(judged[0]["p95_s"], rel=0.05)
    for name in ("p50_ms", "p95_ms"):
        assert ping[1][name] == pytest.approx(ping[0][name], rel=0.05)
    assert kernel["users"]["call"]["mos"] == pytest.approx(here["users"]["call"]["mos"], abs=0.1)
