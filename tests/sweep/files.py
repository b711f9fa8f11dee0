"""A small sweep, for the tests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from mayfly.sweep.plan import Plan, load_plan

GRID = """
scenario = "wired"
disciplines = "fifo,efd"
seeds = {seeds}

[set]
duration = "{duration}"

[fields]
"network.buffer" = [20, 100]
"workload.load" = {{ from = "4mbit", to = "8mbit", steps = 2 }}
"""


def grid(folder: Path, seeds: int = 2, duration: str = "3s") -> Path:
    path = folder / "sweep.toml"
    path.write_text(GRID.format(seeds=seeds, duration=duration))
    return path


def plan_of(folder: Path, text: str) -> Plan:
    path = folder / "sweep.toml"
    path.write_text(text)
    return load_plan(path)


def start(*arguments: object) -> subprocess.Popen:
    """The command in a group of its own, to be killed with its workers."""
    command = [sys.executable, "-m", "mayfly.cli", "sweep", *map(str, arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # A job in the background of a shell has interrupts ignored, and so would what it starts.
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    return subprocess.Popen(command, env=os.environ, start_new_session=True, **quiet, **heard)
