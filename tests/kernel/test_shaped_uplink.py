"""The commands of docs/kernel/recipes/shaped-uplink.md and of the README, on a router with the real kernel."""

import re
import shutil
import sys
from functools import cache
from pathlib import Path

import guest
import pytest

pytestmark = pytest.mark.kernel

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "kernel" / "recipes" / "shaped-uplink.md"
THREE = (
    "sudo mayfly qdisc install --build",
    "mayfly qdisc load eth0 --both-ways --down 95mbit --up 19mbit",
    "watch eth0",
)
MODEM_BPS = 10_000_000


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@cache
def told() -> dict[str, dict]:
    """What each command printed and returned; the office uploads while those with a ping and a page run."""
    lacking = [name for name in ("modprobe", "ping") if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    if lacking:
        pytest.skip(f"needs programs; on Debian: apt-get install kmod iputils-ping ({', '.join(lacking)} missing)")
    install, load, watch, *_ = (line for line in commands(PAGE) if line.startswith(("sudo mayfly", "mayfly")))
    unload = next(line for line in commands(PAGE) if "unload" in line)
    # The modem of this router has 10 Mbit/s in both directions; a page that ends.
    load = load.replace("95mbit", "9500kbit").replace("19mbit", "9500kbit")
    looks = "tc qdisc show dev eth0; ip -br link show type ifb; tc filter show dev eth0"
    ping = "ping -i 0.2 -c 30 192.0.2.1"
    lines = [(looks, False), (ping, True), (install, False), (load, False), (f"{ping} #", True)]
    lines += [(f"{watch} --readings 2", True), (unload, False), (f"{looks} ", False)]
    settings = {
        "commands": lines,
        "programs": str(Path(sys.executable).parent),
        "build": str(Path(guest.kernel()).parent / "build"),
        "rate_bps": MODEM_BPS,
        "modem_pkts": 300,
        "delay_ms": 10,
        "uploads": 2,
        "udp_bps": 0,
    }
    names = ("before", "ping before", "install", "load", "ping after", "watch", "unload", "after")
    return dict(zip(names, guest.run("uplink.py", settings, memory="512M"), strict=True))


def test_the_readme_and_the_page_have_the_same_three_commands():
    page = [line for line in commands(PAGE) if "mayfly qdisc" in line][:3]
    readme = [line.replace(".venv/bin/", "") for line in commands(ROOT / "README.md") if "mayfly qdisc" in line]
    assert readme == page
    assert all(part in line for part, line in zip(THREE, page, strict=True))


def test_the_uplink_is_shaped_and_watched():
    rows = told()
    assert {name: row["status"] for name, row in rows.items()} == dict.fromkeys(rows, 0), rows
    assert "lfq at eth0" in rows["load"]["out"]
    page = rows["watch"]["out"]
    assert "eth0 up: lfq" in page and "eth0 down (ifb4eth0): lfq" in page
    # The office's uploads fill it, and its host is a user.
    assert re.search(r"sends 9\.[3-5]\d Mbit/s, (9[89]|100)\.\d % of 9\.50 Mbit/s", page), page
    assert "10.10.0.10" in page


def test_a_ping_does_not_wait_behind_the_uploads():
    before, after = (
        float(re.search(r"= [\d.]+/([\d.]+)/", told()[f"ping {when}"]["out"])[1]) for when in ("before", "after")
    )
    # 20 ms there and back; behind 300 packets another 363 ms at most.
    assert before > 150 and after < 30


def test_unloaded_all_is_as_it_was():
    rows = told()
    assert rows["unload"]["out"] == "eth0 is as the kernel makes it\n"
    assert rows["after"]["out"] == rows["before"]["out"]
