"""The commands of docs/tutorials/office-uplink.md on a router with the real kernel, modules, tc and modprobe."""

import re
import shutil
import sys
from functools import cache
from pathlib import Path

import guest
import pytest

pytestmark = pytest.mark.kernel

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "office-uplink.md"
PROGRAMS = {"ping": "iputils-ping", "modprobe": "kmod", "tcpdump": "tcpdump"}
RATE_BPS = 10_000_000
PACKET_S = 1514 * 8 / RATE_BPS


@cache
def told() -> dict[str, list[dict]]:
    """What each command of the page printed and returned, in its order, by the command without its comment."""
    lacking = [
        package for name, package in PROGRAMS.items() if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    ]
    if lacking:
        pytest.skip(f"needs programs; on Debian: apt-get install {' '.join(lacking)}")
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    # The capture is cut short, and made while there is something to see.
    commands = [(line.replace("timeout 600", "timeout 5"), "upload" in line or "tcpdump" in line) for line in lines]
    commands += [("stat -c %s uplink.pcap", False), ("modprobe --dry-run sch_efd", False), ("lsmod", False)]
    kernel = Path(guest.kernel())
    settings = {
        "commands": commands,
        "programs": str(Path(sys.executable).parent),
        "build": str(kernel.parent / "build"),
        "rate_bps": RATE_BPS,
        "modem_pkts": 300,
        "delay_ms": 10,
        "uploads": 2,
        "udp_bps": 0,
    }
    found: dict[str, list[dict]] = {}
    for row in guest.run("uplink.py", settings, memory="512M"):
        found.setdefault(row["command"].split("  #")[0].strip(), []).append(row)
    return found


def ran(command: str) -> list[str]:
    """Standard output of each time that a command ran; it must have succeeded."""
    rows = told()[command]
    assert [row["status"] for row in rows] == [0] * len(rows), rows
    return [row["out"] for row in rows]


def mean_ms(ping: str) -> float:
    return float(re.search(r"= [\d.]+/([\d.]+)/", ping)[1])


def test_a_ping_under_load_is_near_the_idle_one_once_it_is_loaded():
    idle, before, after = map(mean_ms, ran("ping -i 0.2 -c 50 192.0.2.1"))
    assert before > 10 * idle
    # It may meet the packet that is sent, on the router and in the modem.
    assert after < idle + 2 * PACKET_S * 1e3


def test_built_installed_and_loaded_as_the_page_says():
    assert ran("mayfly qdisc build") == ["built into mayfly-qdisc\n"]
    assert ran("sudo mayfly qdisc install") == ["installed; mayfly qdisc load DEV\n"]
    for device in ("eth0", "lan0"):
        ran(f"sudo mayfly qdisc load {device} --rate 9500kbit --discipline efd --buffer 100")
    shown = ran("mayfly qdisc show eth0")[0]
    assert re.search(r"^eth0 +root +htb ", shown, re.MULTILINE)
    assert re.search(r"^eth0 +6d66:1 +efd +\d\dp ", shown, re.MULTILINE)
    # As wide as the terminal.
    assert re.search(r" efd: high_pkts \d, low_pkts \d\d, flows .* limit 100 ", " ".join(shown.split()))
    assert "efd 6d67: parent 6d66:1 limit 100p" in ran("tc -s qdisc show dev eth0")[0]


def test_taken_back_nothing_is_left():
    for device in ("eth0", "lan0"):
        assert ran(f"sudo mayfly qdisc unload {device}") == [f"{device} is as the kernel makes it\n"]
    before, after = ran("tc qdisc show dev eth0")
    assert before == after and "noqueue" in after
    ran("sudo mayfly qdisc uninstall")
    assert told()["modprobe --dry-run sch_efd"][0]["status"] != 0
    assert "sch_efd" not in ran("lsmod")[0] and "mayfly_common" not in ran("lsmod")[0]


def test_the_capture_of_the_page_is_written():
    # timeout ends it, and says so by its status.
    (row,) = (row for command, rows in told().items() if "tcpdump" in command for row in rows)
    assert row["status"] == 124, row
    assert int(ran("stat -c %s uplink.pcap")[0]) > 100_000
