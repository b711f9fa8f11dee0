"""Programs in a real Linux kernel: User Mode Linux in virtual time (kernel/uml)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from mayfly.engines import modules as modules_of
from mayfly.engines.guest import series

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
UML = KERNEL / "uml"
CACHE = Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")
FRAGMENT = os.environ.get("MAYFLY_KERNEL_FRAGMENT", "")
"""File of kernel/uml with more of the kernel's configuration: config.kasan for one that finds errors of memory."""
MEMORY = "512M" if FRAGMENT else "256M"
LIMIT_S = 1800 if FRAGMENT else 600
"""Wall time of one run: some seconds on an idle machine. A process that spins stops the guest's clock."""


def kernel(fragment: str = FRAGMENT) -> str:
    """Path of the test kernel, built if it is not in the cache; the test skips, saying why, where that cannot be.

    Its series is what ``MAYFLY_KERNEL`` asks for.
    """
    return _kernel(fragment, series())


@cache
def _kernel(fragment: str, _series: str) -> str:
    built = subprocess.run([UML / "build.sh", CACHE, fragment], capture_output=True, text=True)
    last = (built.stderr.strip().splitlines() or [""])[-1]
    if built.returncode == 77:
        pytest.skip(last)
    assert built.returncode == 0, built.stderr
    return built.stdout.strip()


def built() -> Path:
    """Folder with our kernel modules and plug-ins of tc, built for the test kernel if they are not in the cache."""
    return modules_of.built(KERNEL, Path(kernel()), CACHE)


def run(
    module: str,
    settings: dict,
    keep: Path | None = None,
    modules: tuple[str, ...] = (),
    memory: str = MEMORY,
    virtual: bool = True,
    fragment: str = FRAGMENT,
) -> dict:
    """Calls `run(settings)` of a module of kernel/uml in the guest, and returns what it returns.

    `keep` is the folder for files of the run, captures for example; a temporary one when not given. `modules` are
    those of our kernel modules that are loaded before, ``sch_efd`` for one; tc finds their plug-ins. `memory` is the
    guest's. Where its time is not `virtual` it is that of the machine, and a run may last ``seconds`` of the settings.
    `fragment` is of the kernel's configuration, as in `FRAGMENT`.
    """
    linux = kernel(fragment)
    with tempfile.TemporaryDirectory() as folder:
        out = keep or Path(folder)
        (out / "settings.json").write_text(json.dumps(settings))
        command = [linux, f"mem={memory}", "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "ro", "quiet"]
        # Nothing that a run did not send: one that wants IPv6 at an interface switches it on, by sysctl.
        command += ["ipv6.disable_ipv6=1"]
        command += ["con=null", "con0=null,fd:1", "con1=null", *(["time-travel=inf-cpu"] if virtual else [])]
        command += [f"init={sys.executable}"]
        command += ["--", str(UML / "init.py"), str(out), str(UML / module)]
        own = "-"
        limit_s = LIMIT_S + (0 if virtual else settings.get("seconds", 0))
        if modules:
            own = Path(folder) / "modules"
            shutil.copytree(built(), own)
            (own / "load").write_text("\n".join(("mayfly_common", *modules)))
        command.append(str(own))
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s)
        failure = out / "failure.txt"
        assert not failure.exists(), failure.read_text()
        result = out / "result.json"
        assert result.exists(), f"the guest left no result: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return json.loads(result.read_text())
