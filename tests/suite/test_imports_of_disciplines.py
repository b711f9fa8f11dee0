"""Who imports whom in crates/qdisc: a discipline stands on parts, never on another discipline."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "crates" / "qdisc" / "src"
IMPORT = re.compile(r"\b(?:crate|super)::(?:disciplines::)?([a-z_0-9]+)")


def code_of(file):
    """A Rust file without comments and without its unit tests."""
    text = file.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod tests")[0]
    return re.sub(r"//.*", "", text)


DISCIPLINES = {file.stem for file in (SOURCES / "disciplines").glob("*.rs")} - {"mod"}


@pytest.mark.parametrize("name", sorted(DISCIPLINES))
def test_a_discipline_imports_no_other(name):
    code = code_of(SOURCES / "disciplines" / f"{name}.rs")
    assert "crate::disciplines" not in code
    assert not {m[1] for m in IMPORT.finditer(code) if m[0].startswith("super")} & DISCIPLINES


@pytest.mark.parametrize("file", sorted((SOURCES / "parts").glob("*.rs")), ids=lambda file: file.stem)
def test_a_part_imports_no_discipline(file):
    assert "crate::disciplines" not in code_of(file)


def test_the_kernel_calls_a_core_as_its_discipline():
    kernel = SOURCES.parents[2] / "kernel"
    modules = {file.stem.removeprefix("sch_") for file in kernel.glob("sch_*.c")} - {"common"}
    assert modules and modules <= DISCIPLINES
    assert modules <= {file.stem for file in (kernel / "core").glob("*.h")}
