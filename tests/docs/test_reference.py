"""The tables of docs/reference.md hold every discipline, option, field and command of the package."""

import re
import sys
from pathlib import Path

import pytest

import mayfly
from mayfly.simulate.scenario import field_names

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables():
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        import reference_tables
    finally:
        sys.path.pop(0)
    return reference_tables


def first_cells(markdown: str) -> set[str]:
    return set(re.findall(r"^\| \[?`([\w-]+)`", markdown, re.MULTILINE))


def test_every_discipline_has_a_row_and_a_page(tables):
    rows = first_cells(tables.disciplines())
    assert rows == {row["id"] for row in mayfly.disciplines()}
    lacking = [name for name in rows if not (ROOT / "docs" / "disciplines" / f"{name}.md").exists()]
    assert lacking == []


def test_every_option_shows_its_default_and_bounds(tables):
    text = tables.options()
    assert text.count("\n") == 1 + sum(len(row["params"]) for row in mayfly.disciplines())
    assert re.search(r"\| `efd` \| `threshold` \| bytes or packets \| `30000` \| 1 to 1000000000000 \|", text)


def test_every_scenario_field_has_a_row(tables):
    text = tables.scenario_fields()
    assert {name.rpartition(".")[2] for name in field_names()} - {"cbr", "permanent"} <= first_cells(text)
    assert re.search(r"\| `rate` \| rate: bit/s, or `10mbit` \| `10mbit` \|", text)
    assert re.search(r"\| `loss_window` \| `flight` or `cwnd` \| `flight` \|", text)
    assert "[[workload.cbr]]" in text


def test_every_command_lists_its_options(tables):
    text = tables.commands()
    for name in ("compare", "whatif", "simulate", "disciplines"):
        assert f"**`mayfly {name}`**" in text
    assert "`--rate`, required" in text


def test_bars_and_stars_in_a_cell_do_not_break_the_table(tables):
    assert tables.table(("a",), [("x|y *z*",)]).splitlines()[-1] == "| x\\|y \\*z\\* |"
