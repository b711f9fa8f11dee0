"""Programs beside ours: how they are built, and what CPU time and memory a run of one takes."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

HERE = Path(__file__).parent
NS3_HEADERS = Path("/usr/include/ns3")
NS3_IN_CPP20 = 43
"""First release 3.N, of those that were tried, whose headers need C++20."""
LAUNCHER = """
import os, sys
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
told = os.waitstatus_to_exitcode(status), used.ru_utime, used.ru_stime, used.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, told)).encode())
"""
"""A child counts what its parent held when it forked as its own memory, so that a small process starts it."""


@dataclass(frozen=True)
class Spent:
    """One finished run: CPU time of all its processes, s; time on the clock, s; resident set of the largest, bytes."""

    cpu_s: float
    clock_s: float
    memory_bytes: int
    printed: str


def spent(command: Sequence[object], folder: str | Path, source: IO[bytes] | None = None) -> Spent:
    """What a run that reads ``source`` took; memory below that of a bare Python, 10 MB, is not told apart.

    Raises
    ------
    RuntimeError
        When it ended with another status than 0: the program, the status and the last line of its errors.
    """
    arguments = [str(part) for part in command]
    if shutil.which(arguments[0]) is None:
        raise RuntimeError(f"{arguments[0]} is not there")
    read, told = os.pipe()
    begin = time.monotonic()
    with os.fdopen(read) as figures:
        try:
            launched = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(told), *arguments]
            done = subprocess.run(launched, cwd=folder, stdin=source, capture_output=True, pass_fds=(told,))
        finally:
            os.close(told)
        clock_s = time.monotonic() - begin
        parts = figures.read().split()
    status, errors = int(parts[0]) if parts else done.returncode, done.stderr.decode(errors="replace").splitlines()
    if status != 0:
        raise RuntimeError(f"{arguments[0]} ended with status {status}: {errors[-1] if errors else 'nothing said'}")
    user, system, kilobytes = float(parts[1]), float(parts[2]), int(parts[3])
    return Spent(user + system, clock_s, kilobytes * 1024, done.stdout.decode(errors="replace"))


def cpu(command: Sequence[object], folder: str | Path) -> tuple[float, str]:
    """User and system time of one finished run, s, and what it printed."""
    done = spent(command, folder)
    return done.cpu_s, done.printed


def lines(command: Sequence[object]) -> list[dict]:
    """What a program prints, one JSON object per line."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ns3_version(wheel: Path | None = None) -> str:
    """Version of ns-3 as its headers have it, 3.37 for one; empty where there is none."""
    try:
        text = (_ns3_headers(wheel) / "version-defines.h").read_text()
    except OSError:
        return ""
    numbers = [re.search(rf"define NS3_VERSION_{name} (\d+)", text) for name in ("MAJOR", "MINOR")]
    return ".".join(number[1] for number in numbers if number)


def _ns3_headers(wheel: Path | None) -> Path:
    return NS3_HEADERS if wheel is None else wheel / "include/ns3"


def _standards(version: str) -> tuple[str, str]:
    """Standards of C++ to be tried: the headers of 3.37 do not compile with C++20, those of 3.43 and 3.48 need it."""
    minor = int(version.partition(".")[2] or 0)
    return ("c++20", "c++17") if minor >= NS3_IN_CPP20 else ("c++17", "c++20")


def ns3_program(name: str, modules: Sequence[str], folder: Path, wheel: Path | None = None) -> Path | None:
    """`NAME.cc` of this folder compiled with modules of ns-3, last what all others need; None where that cannot be.

    Debian's ns-3, or with `wheel` the folder `ns3` that PyPI's wheel installs: its libraries contain assertions and
    logging, which a program that uses its headers has to define. :func:`ns3_version` says which release it is.
    """
    compiler, headers = shutil.which("g++"), _ns3_headers(wheel)
    if compiler is None or not all((headers / f"{module}-module.h").exists() for module in modules):
        missing = "Debian: apt-get install libns3-dev g++" if wheel is None else f"no headers in {wheel}, or no g++"
        print(f"ns-3 is not installed ({missing}): no peer", file=sys.stderr)
        return None
    if wheel is None:
        program = folder / name
        options: list[object] = [f"-lns3-{module}" for module in modules]
    else:
        program, libraries = folder / f"{name}_wheel", wheel / "lib64"
        version = next(libraries.glob("libns3*-core.so")).name.removesuffix("core.so")
        options = ["-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE", "-isystem", wheel / "include"]
        options += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *(f"-l:{version}{module}.so" for module in modules)]
    failed = ""
    for standard in _standards(ns3_version(wheel)):
        command = [compiler, "-O2", f"-std={standard}", HERE / f"{name}.cc", "-o", program, *options]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode == 0:
            return program
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        failed = failed or f"-std={standard}: {(errors or ['no message'])[0]}"
    found = ns3_version(wheel) or "of an unknown version"
    print(f"{name}.cc does not compile with ns-3 {found} ({failed}): no peer", file=sys.stderr)
    return None
