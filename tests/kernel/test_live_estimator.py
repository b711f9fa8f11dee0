"""The commands of docs/how-to/live-estimator.md on a router with the real kernel and tc; its polls are read here."""

import json
import re
import sys
from functools import cache
from pathlib import Path

import guest
import pytest

from mayfly.estimate import read_samples
from mayfly.estimate.follow import follow

pytestmark = pytest.mark.kernel

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "live-estimator.md"
SHORT_S = 6
UDP_BPS = 2_000_000


@cache
def told() -> list[dict]:
    """What the page's commands of the router printed, in its order, and the polls at the end."""
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    # `mayfly estimate` runs here, and there is no other machine to ask by ssh.
    lines = [line for line in lines if not line.startswith(("mayfly estimate", "ssh"))]
    commands = [(line.replace("timeout 600", f"timeout {SHORT_S}"), "traffic" in line) for line in lines]
    kernel = Path(guest.kernel())
    settings = {
        "commands": [*commands, ("cat polls.txt", False), ("tc -s -j qdisc show dev eth0", False)],
        "programs": str(Path(sys.executable).parent),
        "build": str(kernel.parent / "build"),
        "rate_bps": 100_000_000,
        "modem_pkts": 100_000,
        "delay_ms": 50,
        "uploads": 2,
        "udp_bps": UDP_BPS,
    }
    return guest.run("uplink.py", settings, modules=("sch_estmred",), memory="512M")


def test_the_module_tells_its_share():
    load, show, unload, *_ = told()
    assert (load["status"], show["status"], unload["status"]) == (0, 0, 0), (load, show, unload)
    assert re.search(r" estmred: .*share ", " ".join(show["out"].split()))


def test_polls_of_tc_are_samples_at_once_and_followed(tmp_path):
    load, loop, polls, last = told()[3:]
    # timeout ends the loop, and says so.
    assert (load["status"], loop["status"]) == (0, 124), (load, loop)
    path = tmp_path / "polls.txt"
    path.write_text(polls["out"])
    samples = read_samples(path, packet_bytes=1514)
    assert samples.time_s.size > SHORT_S / 0.033 / 2
    first = json.loads(re.search(r"^\[.*\]$", polls["out"], re.MULTILINE)[0])[0]
    final = json.loads(last["out"])[0]
    # What tc counted between the first poll and now, less what passed after the last poll.
    counted = (final["bytes"] - first["bytes"]) / 1514 + final["drops"] - first["drops"]
    assert 0.5 * counted < samples.arrivals.sum() <= counted + 1
    assert samples.arrivals.sum() * 1514 * 8 > UDP_BPS * SHORT_S * 0.8
    estimates = list(follow(polls["out"].splitlines(), "12mbit", "100ms", "1514B"))
    assert len(estimates) >= 2 and all(0 <= share <= 1 for share in estimates[-1].columns["share"])
