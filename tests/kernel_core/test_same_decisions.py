"""The cores of the kernel modules (kernel/core) decide about every packet as the disciplines of crates/qdisc do."""

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import traces

ROOT = Path(__file__).resolve().parents[2]
SANITIZE = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"

EFD = [(f"high={high}", f"low={low}") for high in ("fifo", "las") for low in ("fifo", "las")]
ROWS = [
    *(("efd", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 1500.5, 30_000)),
    *(("pefd", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 20)),
    *(("efdack", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 30_000)),
]
"""Disciplines with options: every core, every option."""

LIMITS = ("1p", "2p", "30p", "300p", "1500b", "4000b", "100000b", "700000b")


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> tuple[Path, Path]:
    """The program of the cores, with what finds its errors of memory, and that of the crate."""
    compiler = shutil.which("cc")
    if not compiler or not shutil.which("make"):
        pytest.skip("the cores of the kernel modules cannot be compiled: cc or make is missing")
    out = tmp_path_factory.mktemp("cores")
    make = ["make", "-s", "-C", ROOT / "kernel", "test", f"OUT={out}", f"CFLAGS={SANITIZE}"]
    made = subprocess.run(make, capture_output=True, text=True)
    if "-lasan" in made.stderr or "-lubsan" in made.stderr:
        made = subprocess.run(make[:-1], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    command = ["cargo", "build", "--quiet", "-p", "mayfly-qdisc", "--example", "decisions"]
    subprocess.run(command, cwd=ROOT, check=True)
    return out / "decisions", ROOT / "target" / "debug" / "examples" / "decisions"


def compare(programs: tuple[Path, Path], discipline: str, limit: str, options: tuple[str, ...], trace: Iterator[str]):
    """Fails at the first line in which the two differ."""
    text = "\n".join(trace) + "\n"
    lines = []
    for program in programs:
        done = subprocess.run([program, discipline, limit, *options], input=text, capture_output=True, text=True)
        assert done.returncode == 0, (program.parent.name, done.stderr)
        lines.append(done.stdout.splitlines())
    core, crate = lines
    assert len(core) == len(crate) == text.count("\n")
    if core == crate:
        return
    at = next(k for k, (a, b) in enumerate(zip(core, crate, strict=True)) if a != b)
    before = "\n".join(text.splitlines()[max(at - 3, 0) : at + 1])
    pytest.fail(f"{discipline} {limit} {options}, line {at + 1}:\ncore  {core[at]}\ncrate {crate[at]}\nafter\n{before}")


@pytest.mark.parametrize(("discipline", "options"), ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_random_calls(programs, discipline, options):
    for seed, (limit, flows) in enumerate(itertools.product(LIMITS, (2, 40))):
        compare(programs, discipline, limit, options, traces.drawn(seed, 3000, flows))


@pytest.mark.parametrize("discipline", sorted({row[0] for row in ROWS}))
def test_traffic_made_to_hurt(programs, discipline):
    own = [options for other, options in ROWS if other == discipline]
    for options in (own[0], own[-1]):
        for limit in ("3p", "1000p", "300000b"):
            compare(programs, discipline, limit, options, traces.flood(20_000))
            compare(programs, discipline, limit, options, traces.alternation(5000))


@pytest.mark.parametrize("discipline", sorted({row[0] for row in ROWS}))
def test_a_recorded_capture(programs, discipline):
    own = [options for other, options in ROWS if other == discipline]
    for options in (own[0], own[-1]):
        compare(programs, discipline, "100p", options, traces.recorded(2e6))


@pytest.mark.parametrize("arguments", [["efd", "0p"], ["efd", "5"], ["none", "5p"], ["efd", "5p", "x=1"]])
def test_bad_arguments_are_refused_in_a_line(programs, arguments):
    done = subprocess.run([programs[0], *arguments], input="", capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("decisions: ") and done.stderr.count("\n") == 1
