"""What the documents say of the last full reproduction is what its summary says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mayfly.errors import MayflyError
from mayfly_papers.declare.exhibits import EXHIBITS
from mayfly_papers.pages import Kind
from mayfly_papers.report.page import SCORE_BEGIN, SCORE_END
from mayfly_papers.report.published import (
    ARTICLE,
    BEGIN,
    END,
    REPORT,
    judge,
    pages_table,
    publish,
    verdicts_page,
    with_headline,
    with_score,
)
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
    article = (ROOT / "docs" / "papers" / ARTICLE).read_text(encoding="utf-8")
    assert with_score(article, committed) == article
    assert (ROOT / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8") == verdicts_page(committed)


def test_the_committed_report_is_that_of_its_summary_and_of_everything(committed):
    assert (committed["asked"], committed["quick"]) == (["all"], False)
    report = SUMMARY.with_name("report.html").read_text(encoding="utf-8")
    assert committed["date"] in report and all(f'id="{row["id"]}"' in report for row in committed["exhibits"])
    assert committed["verdicts"]["not measured"] == 0


def test_every_table_and_figure_is_on_the_page_of_verdicts(found):
    text = verdicts_page(found.document())
    assert all(f"| {exhibit.label} | {exhibit.shows} |" in text for exhibit in EXHIBITS)
    assert "docs/papers/" not in text.partition("## Chen 2012")[0]


def test_the_table_adds_up(found):
    document = found.document()
    lines = [line.strip("| ").split(" | ") for line in pages_table(document, list(Kind)).splitlines()]
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
    article = tmp_path / "docs" / "papers" / ARTICLE
    article.write_text(f"# Right\n{SCORE_BEGIN}stale{SCORE_END}\n", encoding="utf-8")
    whole = replace(found, asked=("all",), quick=False, replications=None)
    written = publish(whole, tmp_path / "docs", readme)
    assert all(file.is_file() for file in written) and not list(tmp_path.rglob("*.part"))
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "stale" not in text
    page = (tmp_path / "docs" / "papers" / "urvoy-keller-2007.md").read_text(encoding="utf-8")
    assert page.startswith("# Urvoy-Keller 2007")
    assert "stale" not in article.read_text(encoding="utf-8") and article in written
    with pytest.raises(MayflyError, match=r"right\.md: must have the line"):
        with_score("no marks", found.document())


def test_a_readme_without_a_place_for_the_table_is_told(found):
    with pytest.raises(MayflyError, match="must have the line"):
        with_headline("no marks", found.document())


def test_what_follows_from_the_rows_is_written_anew_without_a_run(committed, tmp_path):
    """Judging the committed summary changes nothing; another row changes the table, and the report around it stays."""
    folder = tmp_path / "docs" / REPORT
    folder.mkdir(parents=True), (tmp_path / "docs" / "papers").mkdir()
    readme = tmp_path / "README.md"
    readme.write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    article = tmp_path / "docs" / "papers" / ARTICLE
    article.write_text((ROOT / "docs" / "papers" / ARTICLE).read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("summary.json", "report.html"):
        (folder / name).write_text(SUMMARY.with_name(name).read_text(encoding="utf-8"), encoding="utf-8")
    for file in judge(tmp_path / "docs", readme):
        assert file.read_text(encoding="utf-8") == (ROOT / file.relative_to(tmp_path)).read_text(encoding="utf-8")
    changed = json.loads(json.dumps(committed))
    claim = next(one for one in changed["claims"] if one["id"] == "figure-4.2-at-5.8")
    claim["rows"][0] |= {"ours": 302.0, "verdict": "differs"}
    (folder / "summary.json").write_text(json.dumps(changed), encoding="utf-8")
    judge(tmp_path / "docs", readme)
    text = readme.read_text(encoding="utf-8")
    assert "302" in text and "mixed (3 of 4)" in text and text.endswith("at your choice.\n")
    report = (folder / "report.html").read_text(encoding="utf-8")
    before = SUMMARY.with_name("report.html").read_text(encoding="utf-8")
    assert report.partition(SCORE_BEGIN)[0] == before.partition(SCORE_BEGIN)[0] != before
    assert report.partition(SCORE_END)[2] == before.partition(SCORE_END)[2] != ""
    (folder / "report.html").write_text("no marks", encoding="utf-8")
    with pytest.raises(MayflyError, match="make reproduction writes them"):
        judge(tmp_path / "docs", readme)
