"""No circles between the files of a crate."""

from pathlib import Path

import pytest
from rust_imports import circles, imports

CRATES = Path(__file__).parents[2] / "crates"


@pytest.mark.parametrize("crate", sorted(folder.name for folder in CRATES.iterdir() if (folder / "src").is_dir()))
def test_there_is_no_circle(crate):
    graph = imports(CRATES / crate / "src")
    assert graph and circles(graph) == []


def test_circles_are_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use b::c::Thing;\n")
    (tmp_path / "a.rs").write_text("use crate::Thing;\n")
    (tmp_path / "b" / "mod.rs").write_text("pub mod c;\n")
    (tmp_path / "b" / "c.rs").write_text("// use crate::nothing;\nuse crate::{a, b};\n#[cfg(test)]\nmod tests {\n}\n")
    graph = imports(tmp_path)
    assert graph == {"lib": set(), "a": {"b/c"}, "b": set(), "b/c": {"a", "b"}}
    assert circles(graph) == [["a", "b/c"]]
