"""Loads with the kernel's own htb and pfifo, in a network namespace of a user who is root there only."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from mayfly.discipline_registry import parse
from mayfly.discipline_registry.commands import Way, switch_on

INSIDE = ["unshare", "--user", "--map-root-user", "--net", "--"]

SCRIPT = """
import json, subprocess, sys
from pathlib import Path
from mayfly.qdisc import journal
from mayfly.qdisc.load import Wanted, load, unload

journal.FOLDER = Path(sys.argv[1])
subprocess.run("tc qdisc add dev lo root handle 1: pfifo limit 77".split(), check=True)

def shown(*words):
    return subprocess.run(["tc", *words, "show", "dev", "lo"], capture_output=True, text=True, check=True).stdout

def there():
    return json.loads(shown("-j", "qdisc")), shown("class")

found = [there()]
for wanted in json.loads(sys.argv[2]):
    load(Wanted("lo", **wanted), Path())
    found.append(there())
unload("lo")
found.append(there())
print(json.dumps(found))
"""


@pytest.fixture(scope="module", autouse=True)
def kernel():
    """Skips where a user may not have a namespace, or the kernel has no htb."""
    if shutil.which("unshare") is None or shutil.which("tc") is None:
        pytest.skip("no unshare, or no tc")
    tried = subprocess.run([*INSIDE, "tc", "qdisc", "add", "dev", "lo", "root", "htb"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"no htb in a namespace of one's own: {tried.stderr.strip()}")


def loaded(tmp_path, *wanted):
    command = [*INSIDE, sys.executable, "-c", SCRIPT, str(tmp_path / "journals"), json.dumps(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, *loads, after = json.loads(done.stdout)
    assert after == before  # put back
    return loads


def told(state):
    """Kinds and limits of the queues, and rates of the classes."""
    queues, classes = state
    limits = [(row["kind"], row["options"].get("limit")) for row in queues]
    return sorted(limits), re.findall(r"class htb .* rate (\w+)", classes)


def test_the_second_of_two_loads_gives_what_it_asks_for(tmp_path):
    first, second = loaded(
        tmp_path,
        {"discipline": "fifo", "rate": "5mbit", "buffer": "50"},
        {"discipline": "fifo", "rate": "9mbit", "buffer": "70", "overhead": "18"},
    )
    assert told(first) == ([("htb", None), ("pfifo", 50)], ["5Mbit"])
    assert told(second) == ([("htb", None), ("pfifo", 70)], ["9Mbit"])


def test_a_load_without_a_shaper_leaves_nothing_of_one_with_it(tmp_path):
    first, second, third = loaded(
        tmp_path,
        {"discipline": "fifo", "buffer": "50"},
        {"discipline": "fifo", "rate": "9mbit", "buffer": "30kB"},
        {"discipline": "fifo", "buffer": "90"},
    )
    assert told(first) == ([("pfifo", 50)], [])
    assert told(second) == ([("bfifo", 30_000), ("htb", None)], ["9Mbit"])
    assert told(third) == ([("pfifo", 90)], [])


LINES = """
import json, subprocess, sys

def there():
    shown = [subprocess.run(["tc", *words, "show", "dev", "lo"], capture_output=True, text=True, check=True).stdout
             for words in (["-j", "qdisc"], ["class"])]
    return json.loads(shown[0]), shown[1]

found = []
for lines in json.loads(sys.argv[1]):
    subprocess.run("\\n".join(["set -e", *lines]).replace("2>/dev/null", "2>/dev/null || true"), shell=True, check=True)
    found.append(there())
print(json.dumps(found))
"""


def test_the_printed_lines_of_tc_give_the_same_whatever_was_there_before():
    """They were a replace without a handle: of a kind that is there already it changes what it names only."""

    def lines(limit, rate_bps):
        found = switch_on(parse("fifo"), {way: Way(rate_bps, limit, "packets") for way in ("down", "up")})
        return [line.replace("eth0", "lo") for line in found.up], [found.line.replace("eth0", "lo")]

    (shaped, alone), (other, _) = lines(50, 5_000_000), lines(70, 9_000_000)
    before = ["tc qdisc add dev lo root handle 6d66: pfifo limit 33"]
    done = subprocess.run(
        [*INSIDE, sys.executable, "-c", LINES, json.dumps([before, shaped, other, alone, shaped, shaped])],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    _, first, second, third, fourth, fifth = (told(state) for state in json.loads(done.stdout))
    assert first == fourth == fifth == ([("htb", None), ("pfifo", 50)], ["5Mbit"])
    assert (second, third) == (([("htb", None), ("pfifo", 70)], ["9Mbit"]), ([("pfifo", 50)], []))
