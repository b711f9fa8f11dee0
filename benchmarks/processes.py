"""Programs beside ours: how they are built, and what CPU time a run of one takes."""

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
NS3_HEADERS = Path("/usr/include/ns3")


def cpu(command: Sequence[object], folder: str | Path) -> tuple[float, str]:
    """User and system time of one finished run, s, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [str(part) for part in command]
    done = subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def lines(command: Sequence[object]) -> list[dict]:
    """What a program prints, one JSON object per line."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ns3_program(name: str, modules: Sequence[str], folder: Path) -> Path | None:
    """`NAME.cc` of this folder compiled with modules of ns-3, last what all others need; None where that cannot be."""
    compiler = shutil.which("g++")
    if compiler is None or not all((NS3_HEADERS / f"{module}-module.h").exists() for module in modules):
        print("ns-3 is not installed (Debian: apt-get install libns3-dev g++): no peer", file=sys.stderr)
        return None
    program = folder / name
    libraries = [f"-lns3-{module}" for module in modules]
    command = [compiler, "-O2", "-std=c++17", HERE / f"{name}.cc", "-o", program, *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        print(f"{name}.cc is for ns-3.37 and does not compile here ({errors[0]}): no peer", file=sys.stderr)
        return None
    return program
