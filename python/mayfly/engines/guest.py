"""Runs in a guest: User Mode Linux in virtual time, from a checkout and with a kernel built before (``kernel/uml``)."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mayfly.engines import modules
from mayfly.errors import MayflyError

MEMORY = "1500M"
"""Of the guest; taken from the host as it is used."""

PROGRAM = "flow_list.py"
INIT = "init.py"


def sources() -> Path:
    """Folder ``kernel`` of the checkout.

    Raises
    ------
    MayflyError
        The package is not in a checkout.
    """
    found = Path(__file__).resolve().parents[3] / "kernel"
    if not (found / "uml" / PROGRAM).is_file():
        raise MayflyError("no kernel sources beside the package: --engine linux needs a checkout of Mayfly")
    return found


def programs(folder: Path, *names: str) -> list[Path]:
    """What a guest runs: programs and what they import from the folder that they are in.

    Parameters
    ----------
    folder : Path
        ``kernel/uml``.
    *names : str
        Of programs; what a flow list needs when not given.

    Returns
    -------
    list of Path
        In the order of their names.
    """
    found, left = set[Path](), [folder / name for name in names or (INIT, PROGRAM)]
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                left += [folder / f"{alias.name}.py" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                left.append(folder / f"{node.module}.py")
    return sorted(found)


def cached() -> Path:
    """Folder in which kernels and modules are kept."""
    return Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")


HZ = 100
"""Ticks a second of User Mode Linux."""

CONFIGS = {HZ: "", 1000: " config.packetdrill"}
"""Ticks a second that a test kernel may have, and the configuration that gives it them."""


KERNEL = "6.1"
"""Series of the test kernel, unless ``MAYFLY_KERNEL`` asks for the newest that was built."""

NEWEST = "newest"


def series() -> str:
    """What ``MAYFLY_KERNEL`` asks for: `KERNEL` or `NEWEST`.

    Raises
    ------
    MayflyError
        It asks for something else.
    """
    asked = os.environ.get("MAYFLY_KERNEL") or KERNEL
    if asked not in (KERNEL, NEWEST):
        raise MayflyError(f"MAYFLY_KERNEL = {asked}: must be {KERNEL} or {NEWEST}")
    return asked


def kernel(hz: int = HZ) -> Path:
    """The test kernel of the series asked for: of those in the cache the last built, without checks that make one slow.

    Parameters
    ----------
    hz : int
        Its ticks a second, one of `CONFIGS`.

    Raises
    ------
    MayflyError
        None is built.
    """
    cache, asked = cached(), series()
    old = f"uml-{KERNEL}."
    found = (
        linux
        for linux in cache.glob("uml-*/linux")
        if linux.parent.name.startswith(old) == (asked == KERNEL) and _is_plain(linux, hz)
    )
    built = sorted(found, key=lambda path: path.stat().st_mtime)
    if not built:
        script = sources() / "uml" / "build.sh"
        choice = "" if asked == KERNEL else f"MAYFLY_KERNEL={asked} "
        command = f"{choice}{script} {cache}{CONFIGS[hz]}"
        what = (
            ("" if asked == KERNEL else f"{asked} ") + "test kernel" + ("" if hz == HZ else f" of {hz} ticks a second")
        )
        raise MayflyError(f"no {what} in {cache}: build it once, 6 minutes of CPU: {command}")
    return built[-1]


def _is_plain(linux: Path, hz: int) -> bool:
    """Whether it has that many ticks, and is built without `config.kasan`, with which a run takes six times as long."""
    config = linux.with_name("config")
    lines = config.read_text().splitlines() if config.exists() else []
    # What such a file says comes last, and counts.
    ticks = [line for line in lines if line.startswith("CONFIG_HZ=")] or [f"CONFIG_HZ={HZ}"]
    return ticks[-1] == f"CONFIG_HZ={hz}" and "CONFIG_KASAN=y" not in lines


def run(
    settings: dict[str, Any], module: str = "", program: str = PROGRAM, hz: int = HZ, folder: Path | None = None
) -> Any:
    """Runs a flow list in the kernel.

    Parameters
    ----------
    settings : dict
        As ``kernel/uml/flow_list.py`` takes them.
    module : str
        Those of our kernel modules which are needed, such as ``sch_efd``, with spaces between; built before the first
        run.
    program : str
        Another one beside it, and its settings.
    hz : int
        Ticks a second of the kernel.
    folder : path, optional
        Where the guest has its ``/run/out``, for files that a program reads or leaves there.

    Returns
    -------
    dict or list
        As it returns them.

    Raises
    ------
    MayflyError
        No kernel, or the guest failed: the last line of what it said.
    """
    init, linux = sources() / "uml" / INIT, kernel(hz)
    with tempfile.TemporaryDirectory() as own:
        out = Path(own) if folder is None else folder
        (out / "settings.json").write_text(json.dumps(settings))
        command = [str(linux), f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "ro", "quiet"]
        # Where Linux has it, programs of the guest take a third of the time (6.16 and newer; they are trusted).
        command += [] if linux.parent.name.startswith(f"uml-{KERNEL}.") else ["seccomp=on"]
        # Nothing that a run did not send: one that wants IPv6 at an interface switches it on, by sysctl.
        command += ["ipv6.disable_ipv6=1"]
        command += ["con=null", "con0=null,fd:1", "con1=null", "time-travel=inf-cpu", f"init={sys.executable}"]
        command += ["--", str(init), str(out), str(init.with_name(program)), _own_modules(Path(own), linux, module)]
        done = _finished(command)
        failure, result = out / "failure.txt", out / "result.json"
        if failure.exists():
            raise MayflyError(f"the guest failed: {failure.read_text().strip().splitlines()[-1]}")
        if not result.exists():
            last = (done.strip().splitlines() or ["it said nothing"])[-1]
            raise MayflyError(f"the guest left no result: {last}")
        return json.loads(result.read_text())


def _own_modules(folder: Path, linux: Path, module: str) -> str:
    """Folder with our modules, and in it the names of those to load."""
    if not module:
        return "-"
    own = folder / "modules"
    shutil.copytree(modules.built(sources(), linux, cached()), own)
    (own / "load").write_text(f"{modules.COMMON} {module}")
    return str(own)


def _finished(command: list[str]) -> str:
    """What the guest said; it is ended with us."""
    guest = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        return guest.communicate()[0]
    except BaseException:
        guest.terminate()
        guest.wait()
        raise
