"""What the documents say of the last full reproduction is what its summary says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mayfly.errors import MayflyError
from mayfly_papers.declare.exhibits import EXHIBITS
from mayfly_papers.report.published import BEGIN, END, REPORT, headline_table, publish, verdicts_page, with_headline
from mayfly_papers.report.reproduce import reproduce

ROOT = Path(__file__).parents[2]
SUMMARY = ROOT / "docs" / REPORT / "summary.json"


@pytest.fixture(scope="module")
def found():
    return reproduce(["urvoy-keller-2007-fig-3", "rai-2003-fig-4"], quick=True, replications=2)


@pytest.fixture(scope="module")
def committed():
    return json.loads(SUMMARY.read_text(encoding="utf-8"))


def test_the_readme_and_the_page_of_verdicts_are_those_of_the_committed_summary(committed):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_headline(readme, committed) == readme
    assert (ROOT / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8") == verdicts_page(committed)


def test_the_committed_report_is_that_of_its_summary_and_of_everything(committed):
    assert (committed["asked"], committed["quick"]) == (["all"], False)
    report = SUMMARY.with_name("report.html").read_text(encoding="utf-8")
    assert committed["date"] in report and all(f'id="{row["id"]}"' in report for row in committed["exhibits"])
    assert committed["verdicts"]["not measured"] == 0


def test_every_table_and_figure_is_on_the_page_of_verdicts(found):
    text = verdicts_page(found.document())
    assert all(f"| {exhibit.label} | {exhibit.shows} |" in text for exhibit in EXHIBITS)
    assert "docs/papers/" not in headline_of(text)


def headline_of(text):
    return text.partition("## Chen 2012")[0]


def test_the_table_adds_up(found):
    document = found.document()
    lines = [line.strip("| ").split(" | ") for line in headline_table(document).splitlines()]
    counts = [[int(cell.replace(",", "")) for cell in line[1:7]] for line in lines[2:]]
    assert counts[-1] == [sum(column) for column in zip(*counts[:-1], strict=True)]
    rows = [str(row.verdict) for checked in found.checked if checked.finding for row in checked.finding.rows]
    hold = rows.count("agrees") + rows.count("same direction")
    assert counts[-1][5] == len(rows) and lines[-1][7] == f"{100 * hold / len(rows):.0f}\N{NO-BREAK SPACE}%"


def test_only_everything_as_declared_is_published(found, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nstale\n{END}\nafter\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="only all is published"):
        publish(found, tmp_path / "docs", readme)
    (tmp_path / "docs" / "papers").mkdir(parents=True)
    whole = replace(found, asked=("all",), quick=False, replications=None)
    written = publish(whole, tmp_path / "docs", readme)
    assert all(file.is_file() for file in written) and not list(tmp_path.rglob("*.part"))
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "stale" not in text
    page = (tmp_path / "docs" / "papers" / "urvoy-keller-2007.md").read_text(encoding="utf-8")
    assert page.startswith("# Urvoy-Keller 2007")


def test_a_readme_without_a_place_for_the_table_is_told(found):
    with pytest.raises(MayflyError, match="must have the line"):
        with_headline("no marks", found.document())
