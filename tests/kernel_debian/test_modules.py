"""Our modules on Debian's kernels as they are: built with the headers of each, and run there on two processors."""

import re
import statistics
import tempfile
from functools import cache
from pathlib import Path

import machine
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

BUILD = "make -s modules plugins OUT=/build/out CC=gcc KDIR=$(echo /lib/modules/*)/build"
SUITES = {
    "bookworm": r"6\.1\.",
    "bookworm-backports": r"6\.12\.",
    "trixie-backports": r"[6-9]\.",
    "unstable": r"[7-9]\.",
}
"""How the name of the kernel begins."""
KNOWN = [
    {
        "tc": "efd",
        "options": "limit 20",
        "changes": ["limit 3", "count packets threshold 2p", "high las low las", "limit 30kb count acked", "flows 1"],
        "wrong": "limit 0",
        "size_based": True,
    },
    {
        "tc": "las",
        "options": "limit 20",
        "changes": ["limit 3", "half_life 1s", "limit 30kb count acked", "half_life never flows 1", "timeout 1ms"],
        "wrong": "limit 0",
        "size_based": True,
    },
    {
        "tc": "run2c",
        "options": "limit 20",
        "changes": ["limit 3", "threshold 1000b", "limit 30kb count acked", "visit 1ms", "flows 1"],
        "wrong": "threshold 0",
        "size_based": True,
    },
    {
        "tc": "estmred",
        "options": "limit 20 min 5 max 15 bandwidth 1mbit rtt 20ms",
        "changes": ["limit 3", "min 1 max 3", "limit 30kb min 5kb max 15kb", "estimate off", "estimate on method p0"],
        "wrong": "min 50 max 15",
        "size_based": False,
    },
]
"""Those of which more is known than their cases say."""


def by_cases(row: qdiscs.Row) -> dict:
    """Options as the cases of ``kernel/tdc`` have them."""
    short = {"tc": row.id, "options": "limit 20", "size_based": row.size_based}
    return short | {"changes": [option for option, *_ in row.options if option], "wrong": row.refused[0][0]}


_KNOWN = {row["tc"]: row for row in KNOWN}
ROWS = [(_KNOWN.get(row.id) or by_cases(row)) | {"module": row.module} for row in qdiscs.ROWS]
SETTINGS = {
    "rate_bps": 1_000_000,  # emulation on a busy machine forwards more
    "delay_s": 0.01,
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
    "congestion": "cubic",
    "bulk_congestion": "cubic",
    "size_bytes": 10_000,
    "starts_s": [4.0, 6.0, 8.0],
    "duration_s": 10.0,
    "look_s": 1.0,
}
THROUGH = {"bookworm": [row["tc"] for row in ROWS]}
"""Disciplines that run there; the others run lfq: emulation is slow."""
CASES = [(suite, name) for suite in SUITES for name in THROUGH.get(suite, ["lfq"])]
SIZE_BASED = {row["tc"]: row["size_based"] for row in ROWS}
"""Short transfers go first; by other rules they may lose a SYN and wait."""


each_suite = pytest.mark.parametrize("suite", SUITES)
each_case = pytest.mark.parametrize("suite, name", CASES)


@cache
def ran(suite: str) -> dict:
    names = [name for place, name in CASES if place == suite]
    settings = SETTINGS | {"modules": [row for row in ROWS if row["tc"] in names]}
    with tempfile.TemporaryDirectory() as folder:
        return machine.run(machine.debian(suite), BUILD, "modules.py", settings, Path(folder))


@pytest.fixture
def result(suite) -> dict:
    return ran(suite)


@each_suite
def test_they_build_without_a_warning(suite):
    warnings = machine.built(machine.debian(suite), BUILD)
    assert warnings == ""


@each_suite
def test_two_processors_of_the_kernel_as_debian_ships_it(suite, result):
    assert re.match(SUITES[suite], result["kernel"]) and result["kernel"].endswith("-cloud-amd64")
    assert result["processors"] == 2


@each_case
def test_transfers_pass_while_options_change(result, name):
    found = result["modules"][name]
    assert found["added"] == "" and None not in found["still"]["times_s"]
    if SIZE_BASED[name]:
        assert statistics.mean(found["still"]["times_s"]) < 2.0
    assert len(found["changed"]) > 10 and set(found["changed"]) == {""}
    assert found["changing"]["bulk_bytes"] > 0


@each_case
def test_a_bad_option_is_refused_and_a_module_in_use_stays(result, name):
    found = result["modules"][name]
    assert found["refused"] != ""
    assert "is in use" in found["busy"]


@each_case
def test_peers_take_its_place_and_give_it_back(result, name):
    found = result["modules"][name]
    assert set(found["peers"]) == {""}
    assert name in [row["kind"] for row in found["rows"]]


@each_suite
def test_no_backlog_is_left_and_everything_unloads(result):
    assert {row["backlog"] for row in result["left"]} == {0}
    assert set(result["unloaded"]) == {""} and len(result["unloaded"]) == len(result["modules"]) + 1
    assert result["log"] == []
