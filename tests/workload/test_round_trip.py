"""Capture, workload, simulation, capture again: what the replay keeps."""

from pathlib import Path

import polars as pl
import pytest
from test_capture import shared

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.comparison.comparison import run
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.recording import Recording
from mayfly.workload.replayed import Captured, flows_of, read_options
from mayfly.workload.round_trip import compared

PAGE = Path(__file__).parents[2] / "docs/how-to/round-trip.md"
KEPT = ["size_bytes", "trains", "train_bytes", "think_s"]


def there_and_back(path, tmp_path, rate="1gbit", buffer=10_000):
    scenario = load_scenario("whatif", {"network.rate": rate, "network.buffer": buffer, "duration": 1e6})
    options = read_options("trains", initial_window=scenario.tcp.initial_window)
    before = Captured(path, options)
    flows, *_ = flows_of(before.replay("trains", mss=scenario.tcp.mss), (1e9, 1e9))
    result = run(scenario, "fifo", flows.drop("connection_id"), recording=Recording(tmp_path / "run.pcap", "client"))
    return before, Captured(tmp_path / "run.pcap", options), result


def test_a_link_that_is_free_keeps_sizes_trains_and_think_times(tmp_path):
    before, after, result = there_and_back("captures/office.pcap.gz", tmp_path)
    assert result.records["drops"].sum() == 0
    found = compared(before, after)
    assert found.filter(pl.col("quantity").is_in(["size_bytes", "trains"]))["ks"].to_list() == [0.0] * 4
    kept = found.filter(pl.col("quantity").is_in([*KEPT, "pause_s"]))
    # No test at 5 % tells the replay from the capture.
    assert (kept["ks"] < kept["critical"]).all(), kept
    think = found.filter(pl.col("quantity") == "think_s")
    for share in ("p50", "p90", "p99"):
        # A full packet lasts 12 us on the link, and a transmission of a train at most some of them.
        gap_s = (think[f"{share}_after"] - think[f"{share}_before"]).abs()
        assert (gap_s < 1e-3 + 0.01 * think[f"{share}_before"]).all(), think


def test_a_congested_link_changes_times_and_keeps_sizes(tmp_path):
    before, after, result = there_and_back("captures/office.pcap.gz", tmp_path, "10mbit", 100)
    assert result.records["drops"].sum() > 100
    found = {(row["quantity"], row["side"]): row for row in compared(before, after).iter_rows(named=True)}
    assert found["size_bytes", "opener"]["ks"] == found["trains", "responder"]["ks"] == 0
    # A tap in front of the clients sees the server's answer late by the queue: think times of servers seem longer.
    assert found["think_s", "responder"]["p90_after"] > 2 * found["think_s", "responder"]["p90_before"]


QUANTITIES = {
    "sizes of connections": "size_bytes",
    "trains of a connection": "trains",
    "sizes of trains": "train_bytes",
    "think times": "think_s",
    "pauses": "pause_s",
    "durations of trains": "train_s",
}
CAPTURES = ("office.pcap.gz", "access_app_mix.pcap.gz", "enterprise_ad_lab.pcap.gz")


def on_the_page(place):
    """Distance and critical value that the page shows of a capture, by quantity, as it writes them."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if " | " in line]
    return {QUANTITIES[row[0]]: tuple(row[1 + 2 * place : 3 + 2 * place]) for row in rows if row[0] in QUANTITIES}


@pytest.mark.parametrize("name", [CAPTURES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in CAPTURES[1:])])
def test_the_page_shows_what_comes_back(name, tmp_path):
    own = name == CAPTURES[0]
    before, after, _ = there_and_back(f"captures/{name}" if own else shared(name), tmp_path)
    found = compared(before, after).filter(pl.col("side") == "responder")
    told = {
        row["quantity"]: (
            f"**{row['ks']:.3f}**" if row["ks"] > row["critical"] else f"{row['ks']:.3f}",
            f"{row['critical']:.3f}",
        )
        for row in found.iter_rows(named=True)
    }
    assert told == on_the_page(CAPTURES.index(name))
    # What a replay is for: who sends how much, and when after the other side.
    kept = found.filter(pl.col("quantity").is_in(["size_bytes", "trains", "think_s"]))
    assert (kept["ks"] < kept["critical"]).all(), found
