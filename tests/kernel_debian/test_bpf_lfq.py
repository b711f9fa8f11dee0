"""Lagged fair queueing as a BPF qdisc, in the newest kernel of Debian's backports."""

import statistics

import machine
import pytest
from test_bpf import BUILD, SUITE
from test_bpf import SETTINGS as TRANSFERS

pytestmark = pytest.mark.kernel

SETTINGS = TRANSFERS | {"shares_s": 20.0}


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("bpf_lfq")
    return machine.run(machine.debian(SUITE), BUILD, "lfq_bpf.py", SETTINGS, folder)


def test_short_transfers_pass_the_bulk_transfer(result):
    assert result["added"] == ""
    times = {name: result[name]["times_s"] for name in ("pfifo", "lfq")}
    assert None not in times["lfq"]
    assert statistics.mean(times["lfq"]) < statistics.mean(filter(None, times["pfifo"])) / 2


def test_its_shaper_passes_the_rate_and_no_more(result):
    most = SETTINGS["rate_bps"] / 8 * SETTINGS["duration_s"] * 1448 / 1514
    assert result["pfifo"]["bulk_bytes"] / 2 < result["lfq"]["bulk_bytes"] < most


def test_users_share_whatever_their_number_of_flows(result):
    many, one = result["shares"]["10.0.1.11"], result["shares"]["10.0.1.12"]
    # Flows would share 8 to 1.
    assert 0.6 < many / one < 1.7, result["shares"]


def test_it_counts_what_it_did(result):
    (counters,) = result["counters"]
    assert counters["handle"] == 0x10 << 16
    assert counters["users"] == result["users"] >= 2
    assert counters["admitted"] >= 2 and counters["sharing"] == 0
    assert counters["ahead"] > 0  # first packets of flows of a user without debt
    assert counters["early"] > 0 and counters["pushed_out"] + counters["full"] > 0


def test_a_limit_set_while_packets_pass_holds(result):
    (row,) = result["small"]["middle"]
    assert row["kind"] == "bpf_lfq" and row["qlen"] <= 3
    assert result["small"]["bulk_bytes"] > 0


def test_nothing_is_left_and_the_kernel_did_not_complain(result):
    assert result["deleted"] == ""
    assert result["left"]["queues"] == result["left"]["users"] == []
    assert [row["kind"] for row in result["left"]["rows"]] == ["noqueue"]
    assert result["log"] == []
