"""No circles between the files of a crate, but for the pairs of a trait and its registry."""

from pathlib import Path

import pytest
from rust_imports import circles, imports

CRATES = Path(__file__).parents[2] / "crates"

# What makes a queue from an id knows all disciplines, and each of them is written against the trait beside it; so it is
# with the estimator and its methods.
PAIRS = {
    "qdisc": [["base", "disciplines"]],
    "estimator": [
        [
            "estimator",
            "methods",
            "methods/basic",
            "methods/cbr",
            "methods/default",
            "methods/loss",
            "methods/multihop",
            "methods/p0",
            "methods/response",
            "methods/responsive",
            "registry",
        ]
    ],
}


@pytest.mark.parametrize("crate", sorted(folder.name for folder in CRATES.iterdir() if (folder / "src").is_dir()))
def test_there_is_no_circle_but_those_of_registries(crate):
    graph = imports(CRATES / crate / "src")
    assert graph and circles(graph) == PAIRS.get(crate, [])


def test_circles_are_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use b::c::Thing;\n")
    (tmp_path / "a.rs").write_text("use crate::Thing;\n")
    (tmp_path / "b" / "mod.rs").write_text("pub mod c;\n")
    (tmp_path / "b" / "c.rs").write_text("// use crate::nothing;\nuse crate::{a, b};\n#[cfg(test)]\nmod tests {\n}\n")
    graph = imports(tmp_path)
    assert graph == {"lib": set(), "a": {"b/c"}, "b": set(), "b/c": {"a", "b"}}
    assert circles(graph) == [["a", "b/c"]]
