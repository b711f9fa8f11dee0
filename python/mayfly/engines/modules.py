"""Our kernel modules and plug-ins of tc, built for the test kernel once per state of their sources."""

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from mayfly.errors import MayflyError

COMMON = "mayfly_common"
"""Module that all of ours need."""


def home_of(sources: Path, kernel: Path, cache: Path) -> Path:
    """Folder in which the modules of these sources for this kernel are, or will be.

    Parameters
    ----------
    sources, kernel, cache : Path
        As :func:`built` has them.

    Returns
    -------
    Path
    """
    digest = hashlib.sha256(kernel.parent.name.encode())
    for path in sorted(sources.rglob("*")):
        if path.suffix in (".c", ".h") or path.name in ("Kbuild", "Makefile"):
            digest.update(str(path.relative_to(sources)).encode() + b"\0" + path.read_bytes())
    return cache / f"modules-{digest.hexdigest()[:12]}"


def built(sources: Path, kernel: Path, cache: Path) -> Path:
    """Folder with the modules (``sch_efd.ko``) and plug-ins (``q_efd.so``), built if they are not in the cache.

    Parameters
    ----------
    sources : Path
        Folder ``kernel`` of the checkout.
    kernel : Path
        The kernel's program; beside it, in ``build``, is what modules are built with.
    cache : Path
        Where kernels and modules are kept.

    Returns
    -------
    Path

    Raises
    ------
    MayflyError
        The build failed: the first error.
    """
    home = home_of(sources, kernel, cache)
    with open(f"{home}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                part = Path(folder) / "part"
                _make(sources, "modules", "ARCH=um", f"KDIR={kernel.parent / 'build'}", f"OUT={folder}")
                _make(sources, "plugins", f"OUT={folder}")
                part.mkdir()
                for path in (*Path(folder).glob("modules/*.ko"), *Path(folder).glob("tc/*.so")):
                    shutil.copy(path, part)
                part.rename(home)
    return home


def _make(sources: Path, *arguments: str) -> None:
    made = subprocess.run(["make", "-s", "-C", str(sources), *arguments], capture_output=True, text=True)
    if made.returncode:
        lines = (made.stderr or made.stdout).strip().splitlines() or ["make failed"]
        first = next((line for line in lines if "error" in line.lower()), lines[0])
        raise MayflyError(f"kernel modules: {first}")
    if "warning:" in made.stderr:
        raise MayflyError(f"kernel modules: {next(line for line in made.stderr.splitlines() if 'warning:' in line)}")
