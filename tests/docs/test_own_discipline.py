"""The discipline of docs/how-to/own-discipline.md: in a copy of the checkout, tested, built, run as the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "own-discipline.md").read_text(encoding="utf-8")
FILE = ROOT / "docs" / "how-to" / "own-discipline" / "sqf.rs"
MODULE, ROW = re.findall(r"^```rust\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TESTS, COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TABLE = re.search(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_file_has_fewer_lines_than_promised_and_the_page_counts_them():
    code = FILE.read_text(encoding="utf-8").split("#[cfg(test)]")[0].rstrip()
    assert len(code.splitlines()) < 100
    assert f"{len(code.splitlines())} lines" in PAGE


def test_mayfly_does_not_have_it():
    assert not (ROOT / "crates" / "qdisc" / "src" / "disciplines" / FILE.name).exists()


@pytest.mark.slow
def test_the_discipline_passes_and_prints_what_the_page_shows(tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, checkout)
    for name in ("crates", "python"):
        shutil.copytree(ROOT / name, checkout / name)
    source = checkout / "crates" / "qdisc" / "src" / "disciplines"
    shutil.copy(FILE, source)
    registry = source / "mod.rs"
    text = registry.read_text(encoding="utf-8")
    for before, line in (("pub mod srpt;", MODULE), ("    Srpt(srpt", ROW)):
        assert text.count(before) == 1
        text = text.replace(before, line + before)
    registry.write_text(text, encoding="utf-8")

    # Kept between runs, apart from the checkout's own builds.
    target = ROOT / "target" / "own-discipline"
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "PYTHONPATH": str(checkout / "python"),
        "COLUMNS": "100",
    }

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for line in TESTS.splitlines():
        # A filter that no test has is no error of cargo's.
        assert re.search(r"test result: ok\. [1-9]", run(*line.split()))
    build, *lines = COMMANDS.splitlines()
    # Without an environment of its own: the module that `make build` builds, where Python looks first.
    assert build == "make build"
    run("cargo", "build", "--release", "-p", "mayfly-py")
    native = checkout / "python" / "mayfly" / "_native.abi3.so"
    native.unlink(missing_ok=True)
    shutil.copy(target / "release" / "lib_native.so", native)
    shown = [run(sys.executable, "-m", "mayfly.cli", *line.split()[1:]) for line in lines]
    assert "shortest queue first" in shown[0]
    assert shown[1].split() == TABLE.split()
