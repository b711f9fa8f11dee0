"""Our modules on Debian's kernels as they are: built with the headers of three, run on 6.1 with two processors."""

import statistics

import machine
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

BUILD = "make -s modules plugins OUT=/build/out CC=gcc KDIR=$(echo /lib/modules/*)/build"
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
    "modules": ROWS,
}
NAMES = [row["tc"] for row in ROWS]
SIZE_BASED = {row["tc"]: row["size_based"] for row in ROWS}
"""Short transfers go first; by other rules they may lose a SYN and wait."""


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> dict:
    return machine.run("bookworm", BUILD, "modules.py", SETTINGS, tmp_path_factory.mktemp("modules"))


@pytest.mark.parametrize("suite", ["bookworm-backports", "trixie-backports"])
def test_they_build_without_a_warning_with_other_headers(suite):
    warnings = machine.built(suite, BUILD)
    assert warnings == ""


def test_two_processors_of_the_kernel_as_debian_ships_it(result):
    assert result["kernel"].startswith("6.1.") and result["kernel"].endswith("-cloud-amd64")
    assert result["processors"] == 2


@pytest.mark.parametrize("name", NAMES)
def test_transfers_pass_while_options_change(result, name):
    found = result["modules"][name]
    assert found["added"] == "" and None not in found["still"]["times_s"]
    if SIZE_BASED[name]:
        assert statistics.mean(found["still"]["times_s"]) < 2.0
    assert len(found["changed"]) > 10 and set(found["changed"]) == {""}
    assert found["changing"]["bulk_bytes"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_option_is_refused_and_a_module_in_use_stays(result, name):
    found = result["modules"][name]
    assert found["refused"] != ""
    assert "is in use" in found["busy"]


@pytest.mark.parametrize("name", NAMES)
def test_peers_take_its_place_and_give_it_back(result, name):
    found = result["modules"][name]
    assert set(found["peers"]) == {""}
    assert name in [row["kind"] for row in found["rows"]]


def test_no_backlog_is_left_and_everything_unloads(result):
    assert {row["backlog"] for row in result["left"]} == {0}
    assert set(result["unloaded"]) == {""} and len(result["unloaded"]) == len(NAMES) + 1
    assert result["log"] == []
