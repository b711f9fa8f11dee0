"""The recipe for an access point: its lines, with hostapd, mac80211's own queue and stations on simulated radios."""

import re
import subprocess
import sys
from pathlib import Path

import machine
import pytest

pytestmark = pytest.mark.kernel

SUITE = "bookworm-backports"
"""Since 6.2 every driver of mac80211 queues there."""
BUILD = "make -s modules plugins OUT=/build/out CC=gcc KDIR=$(echo /lib/modules/*)/build"
RECIPE = Path(__file__).resolve().parents[2] / "docs" / "kernel" / "recipes" / "access-point.md"
DURATION_S = 30.0
RATE = {"20mbit": "1mbit"}
"""That of the recipe, and one that an emulated machine forwards."""
RATE_BPS = 1e6


def blocks(kind: str) -> list[str]:
    text = RECIPE.read_text()
    for old, new in RATE.items():
        assert old in text
        text = text.replace(old, new)
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def loads() -> dict[str, list[str]]:
    """What each `mayfly qdisc load` of the recipe would run."""
    ways = {}
    for line in "".join(blocks("console")).splitlines():
        if not line.startswith("$ mayfly qdisc load "):
            continue
        command = f"{Path(sys.executable).with_name('mayfly')} {line.removeprefix('$ mayfly ')}"
        told = subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
        name = re.search(r'--discipline "?(\w+)', line)
        ways[name[1]] = told.splitlines()
    return ways


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> dict:
    configuration, bridge = blocks("sh")[:2]
    settings = {
        "configuration": configuration,
        "bridge": bridge.splitlines(),
        "ways": loads() | {"lfq": [line for line in blocks("sh")[2].splitlines() if line.startswith("tc ")]},
        "duration_s": DURATION_S,
    }
    home = machine.debian(SUITE, "generic")
    modules = [*machine.MODULES, "mac80211_hwsim", "bridge"]
    folder = tmp_path_factory.mktemp("cell")
    return machine.run(home, BUILD, "access_point.py", settings, folder, modules=modules, tools=["hostapd", "iw"])


def test_stations_are_behind_the_bridge_and_mac80211_queues(result):
    assert result["bridged"] == ["eth0", "wlan0"] and result["stations"] == 3
    assert [row["kind"] for row in result["before"]] == [row["kind"] for row in result["after"]] == ["noqueue"]


def test_traffic_passes_both_ways(result):
    for name, way in result["ways"].items():
        assert way["download"]["bytes"] > 0 and way["upload"]["bytes"] > 0, name
        assert len(way["probes"]["times_ms"]) > 0.8 * way["probes"]["sent"] > 0, (name, way)


@pytest.mark.parametrize("name", ["efdack", "pefd", "lfq"])
def test_the_queue_is_in_the_discipline(result, name):
    way = result["ways"][name]
    # None of mac80211's at wlan0, where the discipline holds back what the rate does not carry.
    assert result["ways"][""]["qlen_max"] == 0 < way["qlen_max"]
    rate_bps = way["download"]["bytes"] * 8 / way["download"]["seconds"]
    assert 0.5 * RATE_BPS < rate_bps < RATE_BPS


def test_the_kernel_did_not_complain(result):
    assert result["log"] == []
