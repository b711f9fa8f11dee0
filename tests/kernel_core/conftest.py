"""The programs that run the cores of the kernel modules, and the disciplines of crates/qdisc, over a trace."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SANITIZE = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.fixture(scope="session")
def core(tmp_path_factory) -> Path:
    """The program of the cores, with what finds its errors of memory where the compiler has it."""
    if not shutil.which("cc") or not shutil.which("make"):
        pytest.skip("the cores of the kernel modules cannot be compiled: cc or make is missing")
    out = tmp_path_factory.mktemp("cores")
    make = ["make", "-s", "-C", ROOT / "kernel", "test", f"OUT={out}", f"CFLAGS={SANITIZE}"]
    made = subprocess.run(make, capture_output=True, text=True)
    if "-lasan" in made.stderr or "-lubsan" in made.stderr:
        made = subprocess.run(make[:-1], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return out / "decisions"


@pytest.fixture(scope="session")
def programs(core) -> tuple[Path, Path]:
    """The program of the cores and that of the crate."""
    # As the tests of the crate are built: optimised, with overflow checks, and mostly there already.
    command = ["cargo", "build", "--quiet", "--profile", "test", "-p", "mayfly-qdisc", "--example", "decisions"]
    subprocess.run(command, cwd=ROOT, check=True)
    return core, ROOT / "target" / "debug" / "examples" / "decisions"
