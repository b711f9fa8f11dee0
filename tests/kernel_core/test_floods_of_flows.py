"""The dearest call of a core under a flood of new flows, a million a second: counted in steps, not in time."""

import math
import subprocess
from pathlib import Path

import cores
import pytest

FLOODED = tuple(id for id in cores.ids() if id != "estmred")
OPTIONS = {"lars": ("half_life=0.001",)}
SMALLEST = {
    "efd": (),
    "pefd": (),
    "efdack": (),
    "estmred": ("arithmetic=integers",),
    "lfq": ("flows=8", "users=8", "target=1000"),
}
"""A table of flows that is always full: those of EFD are as large as the buffer.

After a pause CoDel may drop all that waits at once, as that of Linux does: here it never does."""
MOST_VICTIMS = 4096
LONGEST_GAP = 8
"""Sampling intervals that the estimator bridges."""
REAPED = 8
CHAIN = 16
"""Longest chain of a table of 2^20 flows: more are in none of 2^20 buckets but once in 10^7 tables (Poisson)."""


@pytest.fixture(scope="session")
def flood(core) -> Path:
    return core.with_name("flood")


def phases(flood: Path, id: str, limit: str, packets: int, *options: str) -> dict[str, dict[str, int]]:
    """Of each phase: calls, most steps of one, mean, 99.99 % quantile and maximum of its CPU time (ns), flows known."""
    command = [flood, id, limit, str(packets), *OPTIONS.get(id, ()), *SMALLEST.get(id, ()), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = ("calls", "steps", "mean_ns", "quantile_ns", "most_ns", "flows")
    return {
        words[0]: dict(zip(names, map(int, words[1:]), strict=True))
        for words in map(str.split, done.stdout.splitlines())
    }


def bound(waiting: int) -> int:
    """Steps of a call: chains, flows that leave the table, and the depth of a treap twice, down and up."""
    return 2 * CHAIN + REAPED * (1 + CHAIN) + 2 * 4 * math.ceil(math.log2(waiting))


@pytest.mark.parametrize("id", FLOODED)
def test_no_call_takes_more_steps_where_more_flows_wait_or_are_given_up(flood, id):
    options = () if id in SMALLEST else ("flows=1",)
    few, many = (phases(flood, id, limit, 4000, *options) for limit in ("300p", "30000p"))
    assert set(few) == set(many) == {"fill", "flood", "full", "again", "fade", "pause"}
    for name, row in many.items():
        # A hundred times the flows that wait: before the list of idle flows, a hundred times the steps.
        assert row["steps"] <= bound(30_000), (name, row)
        assert few[name]["steps"] <= bound(300), (name, few[name])
        assert row["calls"] >= 4000
    assert max(row["steps"] for row in many.values()) > 0


@pytest.mark.parametrize("id", ["las", "lasack", "lars", "run2c", "run2cack"])
def test_a_table_that_was_idle_for_too_long_empties_a_few_flows_at_a_time(flood, id):
    found = phases(flood, id, "300p", 20_000, "flows=100000")
    assert found["fade"]["flows"] > 60_000, "known until they were idle for too long"
    assert found["pause"]["flows"] < 21_000, "as unknown, though still in the table"
    assert found["pause"]["steps"] <= bound(300), found


@pytest.mark.parametrize("id", FLOODED)
def test_a_packet_pushes_out_no_more_than_a_fixed_number_of_others(flood, id):
    found = phases(flood, id, "2000000b", 2000)
    # Looked at once, taken out once.
    assert found["giants"]["steps"] <= 2 * MOST_VICTIMS + MOST_VICTIMS * CHAIN, found
    assert found["giants"]["flows"] > 0


def test_the_estimator_does_at_most_eight_steps_with_a_packet(flood):
    found = phases(flood, "estmred", "60p", 4000, "sampling=0.00001", "rate=1e9", "per_estimate=1")
    assert found["flood"]["steps"] == 1, "an interval of 10 us ends with a packet in ten"
    assert found["fade"]["steps"] == LONGEST_GAP, "100,000 intervals end with the first packet after a second"


@pytest.mark.slow
@pytest.mark.parametrize("id", ["efd", "las", "lars", "run2c"])
def test_a_million_flows_wait_and_a_million_are_known(tmp_path, id, capsys):
    # Without what finds errors of memory: how long it takes is printed, not held.
    kernel = Path(__file__).resolve().parents[2] / "kernel"
    made = subprocess.run(["make", "-s", "-C", kernel, f"{tmp_path}/flood", f"OUT={tmp_path}"], capture_output=True)
    assert made.returncode == 0, made.stderr
    for limit, packets in (("300p", 1_100_000), ("1000000p", 20_000)):
        options = () if id in SMALLEST else ("flows=1048576",)
        found = phases(tmp_path / "flood", id, limit, packets, *options)
        with capsys.disabled():
            for name, row in found.items():
                print(f"{id} {limit} {name}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
        assert max(row["steps"] for row in found.values()) <= bound(1_000_000), found
