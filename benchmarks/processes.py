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


def ns3_program(name: str, modules: Sequence[str], folder: Path, wheel: Path | None = None) -> Path | None:
    """`NAME.cc` of this folder compiled with modules of ns-3, last what all others need; None where that cannot be.

    Debian's ns-3.37, or with `wheel` the folder `ns3` that PyPI's wheel of 3.44 installs: its libraries contain
    assertions and logging, and a program that uses its headers is told so.
    """
    compiler, headers = shutil.which("g++"), NS3_HEADERS if wheel is None else wheel / "include/ns3"
    if compiler is None or not all((headers / f"{module}-module.h").exists() for module in modules):
        missing = "Debian: apt-get install libns3-dev g++" if wheel is None else f"no headers in {wheel}, or no g++"
        print(f"ns-3 is not installed ({missing}): no peer", file=sys.stderr)
        return None
    if wheel is None:
        program = folder / name
        options = ["-std=c++17", *(f"-lns3-{module}" for module in modules)]
    else:
        program, libraries = folder / f"{name}_wheel", wheel / "lib64"
        version = next(libraries.glob("libns3*-core.so")).name.removesuffix("core.so")
        options = ["-std=c++20", "-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE", "-isystem", wheel / "include"]
        options += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *(f"-l:{version}{module}.so" for module in modules)]
    command = [compiler, "-O2", HERE / f"{name}.cc", "-o", program, *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        print(f"{name}.cc is for ns-3.37 and 3.44 and does not compile here ({errors[0]}): no peer", file=sys.stderr)
        return None
    return program
