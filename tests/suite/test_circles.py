"""No circles between the files of a crate, nor between the modules of a Python package."""

from pathlib import Path

import pytest
from python_imports import imports as python_imports
from rust_imports import circles, imports

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"

KNOWN = {"netsim": [("out/records", "app/stream")]}
"""Imports that close a circle, by crate: each is to be removed, there and here."""


@pytest.mark.parametrize("crate", sorted(folder.name for folder in CRATES.iterdir() if (folder / "src").is_dir()))
def test_there_is_no_circle(crate):
    graph = imports(CRATES / crate / "src")
    assert graph
    known = [(file, other) for file, other in KNOWN.get(crate, []) if other in graph.get(file, ())]
    for file, other in known:
        graph[file].discard(other)
    assert circles(graph) == []
    for file, other in known:
        graph[file].add(other)
        assert circles(graph), f"{file} imports {other} in no circle: no longer to be listed here"
        graph[file].discard(other)


def test_circles_are_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use b::c::Thing;\n")
    (tmp_path / "a.rs").write_text("use crate::Thing;\n")
    (tmp_path / "b" / "mod.rs").write_text("pub mod c;\n")
    (tmp_path / "b" / "c.rs").write_text("// use crate::nothing;\nuse crate::{a, b};\n#[cfg(test)]\nmod tests {\n}\n")
    graph = imports(tmp_path)
    assert graph == {"lib": set(), "a": {"b/c"}, "b": set(), "b/c": {"a"}}
    assert circles(graph) == [["a", "b/c"]]


def test_a_circle_through_the_child_of_a_module_is_found(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "lib.rs").write_text("mod settings;\nmod rules;\n")
    (tmp_path / "settings.rs").write_text("use crate::rules::Congestion;\n")
    (tmp_path / "rules" / "mod.rs").write_text("mod rule;\nuse rule::{Rule, Traits};\npub struct Congestion;\n")
    (tmp_path / "rules" / "rule.rs").write_text("use super::Congestion;\nuse crate::settings::EcnMode;\n")
    graph = imports(tmp_path)
    assert graph == {"lib": set(), "settings": {"rules"}, "rules": {"rules/rule"}, "rules/rule": {"settings"}}
    assert circles(graph) == [["rules", "rules/rule", "settings"]]


def test_a_name_that_is_handed_on_leads_to_its_file(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\n")
    (tmp_path / "a.rs").write_text("use crate::b::{Thing, self};\npub fn f() -> crate::b::Other { Thing }\n")
    (tmp_path / "b" / "mod.rs").write_text("mod c;\npub(crate) use c::{Thing, inner::Other as Other};\n")
    (tmp_path / "b" / "c.rs").write_text("use self::inner::Deep;\nmod inner;\n")
    (tmp_path / "b" / "c").mkdir()
    (tmp_path / "b" / "c" / "inner.rs").write_text("use super::super::Own;\n")
    graph = imports(tmp_path)
    assert graph == {"lib": set(), "a": {"b", "b/c", "b/c/inner"}, "b": set(), "b/c": {"b/c/inner"}, "b/c/inner": set()}


def test_there_is_no_circle_of_python_modules():
    graph = python_imports(ROOT / "python" / "mayfly", ROOT / "papers" / "src" / "mayfly_papers")
    assert len(graph) > 300 and "mayfly.comparison.whatif" in graph["mayfly.cli.whatif"]
    assert circles(graph) == []


def test_circles_of_python_modules_are_found(tmp_path):
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("from made import _native\nfrom made.a import f\n")
    (package / "a.py").write_text("from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from made.c import T\n")
    (package / "b.py").write_text("import os\n\n\ndef f():\n    from made import c\n")
    (package / "c.py").write_text("import made.b\nfrom made.a import f\n")
    graph = python_imports(package)
    assert graph == {"made": {"made.a"}, "made.a": set(), "made.b": {"made.c"}, "made.c": {"made.a", "made.b"}}
    assert circles(graph) == [["made.b", "made.c"]]
