"""What the page of today says of the arena is what the page of the arena says."""

from pathlib import Path

from mayfly.arena.rows import ROWS
from mayfly_papers.today import INTRODUCTION

DOCS = Path(__file__).parents[2] / "docs"


def cells(text: str) -> dict[str, dict[str, str]]:
    """Cells of the table whose first column is ``row``, by row and discipline, without marks of bold type."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    start = next(place for place, line in enumerate(lines) if line[0] == "row" and "fifo" in line)
    found = {}
    for line in lines[start + 2 :]:
        if line[0] not in {row.title for row in ROWS}:
            break
        texts = [cell.replace("**", "") for cell in line[1:]]
        found[line[0]] = dict(zip(lines[start][1:], texts, strict=True))
    return found


def test_every_figure_of_the_table_is_that_of_the_arena() -> None:
    board, told = cells((DOCS / "arena.md").read_text(encoding="utf-8")), cells(INTRODUCTION)
    assert len(told) > 12 and {"fifo", "fq_codel", "cake", "efd"} == set(next(iter(told.values())))
    for title, own in told.items():
        assert own == {label: board[title][label] for label in own}, title


def test_no_figure_of_a_discipline_that_was_withdrawn_is_left() -> None:
    assert "lfq" not in {
        label for own in cells((DOCS / "arena.md").read_text(encoding="utf-8")).values() for label in own
    }
    assert "94 of 110" not in INTRODUCTION


def test_the_page_begins_as_its_module_says() -> None:
    assert INTRODUCTION in (DOCS / "papers" / "today.md").read_text(encoding="utf-8")
