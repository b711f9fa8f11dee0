"""Types of ``summary.json`` in Python and TypeScript, and tables of its keys, are those of crate ``summary``."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def types():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "docs" / "_ext")
        import summary_types
    return summary_types


def test_the_files_are_made_of_the_crate_of_today(types):
    for path, text in types.written().items():
        assert path.read_text(encoding="utf-8") == text, f"make types ({path.name})"


def test_every_object_has_its_table_once_on_the_page(types):
    found, _ = types.definitions()
    asked = re.findall(r"```\{summary\} (.+)", PAGE)
    made = [types.markdown(name, tuple(elsewhere)) for name, *elsewhere in map(str.split, asked)]
    labels = re.findall(r"^\((summary-\w+)\)=$", "\n\n".join(made), re.MULTILINE)
    objects = {types.label(name) for name, definition in found.items() if "properties" in definition}
    assert len(labels) == len(set(labels))
    assert set(labels) == objects
    linked = set(re.findall(r"\]\(#(summary-\w+)\)", "\n".join(made)))
    assert linked <= objects


def test_a_row_of_a_table_says_what_the_doc_comment_says(types):
    rows = types.markdown("Ping").splitlines()
    assert "| `p95_ms` | number? | ms | 95 of 100 of these take at most this. |" in rows
    assert any(row.startswith("| `grade` | `A+`, `A`, `B`, `C`, `D`, `F`? |") for row in rows)
    [calls] = [row for row in types.markdown("Call").splitlines() if row.startswith("| `calls`")]
    assert calls.startswith("| `calls`? | whole number |")


def test_what_has_a_unit_in_its_name_says_it(types):
    units = {"_s": {"s"}, "_ms": {"ms"}, "_bps": {"bit/s"}, "_bytes": {"bytes"}, "_packets": {"packets"}}
    found, _ = types.definitions()
    # Ratios have the names of what they are ratios of.
    for name, definition in ((name, own) for name, own in found.items() if name != "EngineRatios"):
        for key, schema in definition.get("properties", {}).items():
            if types.is_number(schema) and (ends := [end for end in units if key.endswith(end)]):
                unit, _ = types.with_unit(types.meaning(schema))
                assert unit in units[ends[0]], f"{name}.{key}: {types.meaning(schema)}"


def test_python_types_are_those_of_the_schema(types):
    source = types.Python().module(types.definitions()[0])
    scope: dict = {}
    exec(compile(source, "summary_types", "exec"), scope)
    for name, definition in types.definitions()[0].items():
        if "properties" in definition:
            assert set(scope[name].__annotations__) == set(definition["properties"]), name
