"""Slowdown: the response time over that of the same transfer alone on its path."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare, run
from mayfly.scenario.scenario import load_scenario

SIZES = [1, 536, 1460, 1461, 2920, 2921, 14_600, 100_000, 146_000, 1_000_000, 1_460_001, 30_000_000]


@pytest.mark.parametrize("scenario", ["wired", "wired-ns2"])
@pytest.mark.parametrize("size", SIZES)
def test_a_transfer_alone_has_slowdown_one(scenario, size):
    loaded = load_scenario(scenario, {"duration": "100s", "sample_interval": 0})
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [size]})
    records = run(loaded, "fifo", flows).records
    assert records["slowdown"].item() == pytest.approx(1.0, abs=1e-6)
    assert records["drops"].item() == 0


@pytest.mark.parametrize(
    "path",
    [
        {"rtt_s": 0.2},
        {"direction": "up"},
        {"opened_by": "receiver"},
        {"direction": "up", "opened_by": "receiver", "rtt_s": 0.05},
    ],
    ids=str,
)
def test_a_transfer_alone_has_slowdown_one_on_every_kind_of_path(path):
    loaded = load_scenario("wired", {"duration": "100s", "sample_interval": 0})
    for size in (1, 14_600, 1_000_001):
        flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [size]} | {name: [value] for name, value in path.items()})
        assert run(loaded, "fifo", flows).records["slowdown"].item() == pytest.approx(1.0, abs=1e-6), size


def in_turn(scenario, sizes):
    """Slowdown of transfers of which each has the path for itself."""
    loaded = load_scenario(
        scenario, {"duration": f"{20 * len(sizes)}s", "sample_interval": 0, "network.rate": "10mbit"}
    )
    flows = pl.DataFrame({"start_s": [20.0 * i for i in range(len(sizes))], "size_bytes": sizes})
    slowdown = run(loaded, "fifo", flows).records["slowdown"]
    assert slowdown.null_count() == 0
    return slowdown.to_list()


@pytest.mark.parametrize("scenario", ["wired", "wired-ns2"])
def test_short_transfers_of_a_list_are_measured_each_against_its_own_size(scenario):
    sizes = [*range(1460, 20 * 1460, 1460), *(size for size in SIZES if size <= 300 * 1460), 10_000_000]
    assert in_turn(scenario, sizes) == pytest.approx([1.0] * len(sizes), abs=1e-6)


def test_long_transfers_of_a_list_are_measured_against_the_longest():
    sizes = [300 * 1460 + 1, 500_000, 1_000_000, 1_460_001, 10_000_000]
    # 0.1 % is three segments of the shortest.
    assert in_turn("wired", sizes) == pytest.approx([1.0] * len(sizes), abs=1e-3)


def test_all_transfers_of_a_path_that_loses_alone_are_simulated():
    sizes = [300 * 1460 + 1, 500_000, 1_000_000, 1_460_001, 3_000_000, 10_000_000]
    loaded = load_scenario("whatif", {"duration": "60s", "network.rate": "10mbit"})
    assert run(loaded, "fifo", pl.DataFrame({"start_s": [0.0], "size_bytes": [sizes[-1]]})).records["drops"].item() > 0
    assert in_turn("whatif", sizes) == pytest.approx([1.0] * len(sizes), abs=1e-6)


def test_many_distinct_transfers_are_rounded_not_left_out(monkeypatch):
    monkeypatch.setattr("mayfly.simulate.isolated._MOST_TRANSFERS", 10)
    sizes = [1460 * n - 700 for n in range(1, 40)]
    # Half a segment, on the three links, of a transfer that lasts two round-trip times at least.
    assert in_turn("wired", sizes) == pytest.approx([1.0] * len(sizes), abs=0.06)


@pytest.mark.parametrize("discipline", ["fifo", "scfq", "las", "run2c", "efd", "lars"])
def test_nobody_is_faster_than_alone(discipline):
    loaded = load_scenario("wired", {"duration": "60s", "sample_interval": 0})
    slowdown = run(loaded, discipline).records["slowdown"].drop_nulls()
    assert slowdown.len() > 500
    # Starts are rounded to 1 ns; the shortest transfer takes more than 10 ms.
    assert slowdown.min() >= 1 - 1e-7
    assert slowdown.max() > 1.5, "the load must be felt"


def test_paths_are_told_apart():
    loaded = load_scenario("wired", {"duration": "100s", "sample_interval": 0})
    flows = pl.DataFrame({"start_s": [0.0, 20.0, 40.0], "size_packets": [20] * 3, "rtt_s": [0.01, 0.1, None]})
    records = run(loaded, "fifo", flows).records
    assert records["slowdown"].to_list() == pytest.approx([1.0] * 3, abs=1e-6)
    assert records["response_time_s"][1] > 3 * records["response_time_s"][0]


def test_slowdown_needs_an_end_and_a_transport():
    loaded = load_scenario("wired", {"duration": "1s"})
    flows = pl.DataFrame(
        {"start_s": [0.0, 0.0], "size_bytes": [2**40, 1000], "protocol": ["tcp", "udp"], "rate_bps": [None, 1e6]}
    )
    assert compare(loaded, "fifo,efd", flows).records["slowdown"].null_count() == 4
