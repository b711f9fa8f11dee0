"""A crate has one binary of integration tests: each is linked with the whole crate and all that it depends on."""

import re
import tomllib
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"


def binaries(crate):
    """Root files of the integration tests that cargo builds for a crate."""
    manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    roots = {crate / test.get("path", f"tests/{test['name']}.rs") for test in manifest.get("test", [])}
    if manifest["package"].get("autotests", True):
        roots |= {*(crate / "tests").glob("*.rs"), *(crate / "tests").glob("*/main.rs")}
    return sorted(roots)


def left_out(crate):
    """Files and folders of ``tests`` that hold Rust and are no module of a binary: cargo would not compile them."""
    reached = set(binaries(crate))
    modules = {name for root in reached for name in re.findall(r"^mod (\w+);", root.read_text(encoding="utf-8"), re.M)}
    found = {*(crate / "tests").glob("*.rs"), *(file.parent for file in (crate / "tests").glob("*/mod.rs"))}
    return sorted(path.name for path in found - reached if path.stem not in modules)


@pytest.mark.parametrize("crate", sorted(folder.parent.name for folder in CRATES.glob("*/tests")))
def test_a_crate_has_one_binary_of_integration_tests(crate):
    assert len(binaries(CRATES / crate)) == 1
    assert left_out(CRATES / crate) == []


def test_a_second_binary_and_a_file_that_is_left_out_are_found(tmp_path):
    tests = tmp_path / "tests"
    for folder in ("shared", "more"):
        (tests / folder).mkdir(parents=True)
    (tests / "shared" / "mod.rs").touch()
    (tests / "one.rs").touch()
    (tests / "two.rs").write_text("mod shared;\n")
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    assert binaries(tmp_path) == [tests / "one.rs", tests / "two.rs"]
    assert left_out(tmp_path) == []
    (tests / "more" / "main.rs").touch()
    assert binaries(tmp_path) == [tests / "more" / "main.rs", tests / "one.rs", tests / "two.rs"]
    (tests / "main.rs").write_text("mod one;\n")
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nautotests = false\n\n[[test]]\nname = "main"\npath = "tests/main.rs"\n'
    )
    assert binaries(tmp_path) == [tests / "main.rs"]
    assert left_out(tmp_path) == ["shared", "two.rs"]
