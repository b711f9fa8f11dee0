"""Which libraries each command loads: those that it uses, and no other.

A library takes from 20 ms (typer) to 100 ms (polars, scipy.special) of each start on a quiet machine. A row that grows
is a command that starts later: the import goes into the function that needs it.
"""

import gzip
import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from invocation import PLAIN

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
LIBRARIES = (
    "duckdb",
    "mayfly._native",
    "numpy",
    "plotly",
    "polars",
    "pydantic",
    "rich",
    "scipy",
    "typer",
)
LIST = "start_s,size_packets\n0,10\n1,200\n"

TYPER, NATIVE = "typer", "mayfly._native"
HELP = {TYPER}
LISTED = {TYPER, NATIVE}
FRAMES = {TYPER, NATIVE, "polars"}
CHECKED = LISTED | {"numpy", "pydantic"}
SCENARIO = FRAMES | CHECKED
NUMBERS = {TYPER, "numpy"}

COMMANDS = {
    "": HELP,
    "--help": HELP,
    "--version": HELP,
    "simulate --help": HELP,
    "model --help": HELP,
    "model las --help": HELP,
    "profile --help": HELP,
    "sweep --help": HELP,
    "completion bash": HELP,
    "disciplines --json": LISTED,
    "disciplines efd --json": LISTED,
    "disciplines": LISTED | {"rich"},
    "simulate wired --discipline fifo --flows flows.csv --out OUT --json": LISTED,
    "simulate wired-ns2 --discipline efd --flows flows.csv --duration 9s --seed 3 --out OUT --json --quiet": LISTED,
    "simulate wired --discipline fifo --flows flows.csv --out OUT --json --set network.rate=9mbit": CHECKED,
    "simulate wired --discipline fifo --flows flows.csv --out OUT --json --set tcp.preset=ns-3.37": LISTED,
    "simulate wired --discipline fifo --duration 1s --out OUT --json": LISTED | {"numpy"},
    "simulate wired --discipline fifo --duration 1s --out OUT --json --set network.buffer=50": LISTED | {"numpy"},
    "simulate wired --discipline fifo --duration 1s --out OUT --json --set network.rate=9mbit": CHECKED,
    "compare wired --disciplines fifo,efd --duration 2s --out OUT --json": LISTED | {"numpy"},
    "compare wired --disciplines fifo,efd --flows flows.csv --out OUT --json": LISTED | {"numpy"},
    "compare wired --disciplines fifo,efd --duration 2s --out OUT --json --set network.rate=9mbit": CHECKED,
    "whatif SMALL --rate 10mbit --buffer 300 --disciplines fifo,efd --out OUT --json": SCENARIO,
    "model fifo --law exponential:mean=1 --rho 0.5 --at 1,2 --json": NUMBERS,
    "model ps --law exponential:mean=1 --rho 0.5 --at 1,2 --json": NUMBERS,
    "model ps --law exponential:mean=1 --rho 0.5": NUMBERS | {"rich"},
    "model las --law bounded-pareto:min=1,max=1e6,alpha=1.1 --rho 0.5 --json": NUMBERS,
    "model las --law exponential:mean=10 --rho 0.5 --json": NUMBERS,
    "model las --law hyperexponential:mean=10,cov=2 --rho 0.5 --json": NUMBERS,
    "model law zipf:min=6,mean=40,cov=6 --at 6,20 --json": NUMBERS | {"scipy"},
    "model sampling --p 0.02 --at 10,50 --json": NUMBERS | {"scipy"},
    "workload formats --json": FRAMES | {"numpy"},
    "profile OFFICE --connections --out OUT --json": LISTED,
    "profile OFFICE --out OUT --json": LISTED | {"numpy"},
    "profile OFFICE --internal 10.10.0.0/24 --bin 5s --bootstrap 0 --out OUT --json": LISTED | {"numpy"},
    "profile OFFICE --out OUT": LISTED | {"numpy"},
    "profile OFFICE --bootstrap 0 --trains --out OUT --json": FRAMES | {"numpy"},
}
"""Libraries by command; of every other command by what it does."""

LOADED = """
import atexit, json, sys
sys.argv[:] = ["mayfly", *sys.argv[1:]]
atexit.register(lambda: print("\\n" + json.dumps(sorted(sys.modules)), file=sys.stderr))
from mayfly.cli import main
main()
"""


def beginning(capture, packets):
    """The first packets of a pcap file in gzip."""
    data, at = gzip.decompress(capture.read_bytes()), 24
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    for _ in range(packets):
        at += 16 + struct.unpack_from(f"{order}I", data, at + 8)[0]
    return data[:at]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command or "(none)")
def test_a_command_loads_what_it_uses(command, tmp_path):
    (tmp_path / "flows.csv").write_text(LIST)
    if "SMALL" in command:
        (tmp_path / "small.pcap").write_bytes(beginning(OFFICE, 1000))
    places = {"OFFICE": str(OFFICE), "SMALL": "small.pcap", "OUT": "out"}
    words = [places.get(word, word) for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, env=PLAIN, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    modules = set(json.loads(done.stderr.splitlines()[-1]))
    assert {name for name in LIBRARIES if name in modules} == COMMANDS[command]
    # What polars, scipy and `numpy.unique` ask for, another 20 ms.
    assert "numpy.ma" not in modules or {"polars", "scipy"} & modules


def test_imports_of_the_package_load_nothing():
    code = f"import sys, mayfly; print([name for name in {LIBRARIES} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=PLAIN, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("size", "threads"), [(10, "1"), ((1 << 20) + 1, "3")])
def test_tables_of_a_small_file_are_made_by_one_thread(size, threads, tmp_path):
    """And no other process hears of it."""
    (tmp_path / "capture").write_bytes(bytes(size))
    code = """
import os
from mayfly.limits import one_thread_if_small
one_thread_if_small("capture")
print("POLARS_MAX_THREADS" in os.environ)
os.environ.setdefault("POLARS_MAX_THREADS", "3")
import polars
print(polars.thread_pool_size())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=PLAIN, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["False", threads]
