"""What the documents say of the last full reproduction is what its summary says."""

from dataclasses import replace

import pytest

from mayfly.errors import MayflyError
from mayfly.papers.catalogue import EXHIBITS
from mayfly.papers.published import BEGIN, END, headline_table, publish, verdicts_page, with_headline
from mayfly.papers.reproduce import reproduce


@pytest.fixture(scope="module")
def found():
    return reproduce(["urvoy-keller-2007-fig-3", "rai-2003-fig-4"], quick=True, replications=2)


def test_every_table_and_figure_is_on_the_page_of_verdicts(found):
    text = verdicts_page(found.document())
    assert all(f"| {exhibit.label} | {exhibit.shows} |" in text for exhibit in EXHIBITS)
    assert "docs/papers/" not in headline_of(text)


def headline_of(text):
    return text.partition("## Chen 2012")[0]


def test_the_table_adds_up(found):
    document = found.document()
    rows = [line.split("|") for line in headline_table(document).splitlines()]
    assert [int(cell) for cell in rows[-1][2:-1]] == [sum(int(row[at]) for row in rows[2:-1]) for at in range(2, 7)]


def test_only_everything_as_declared_is_published(found, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="only all is published"):
        publish(found, tmp_path / "docs", readme)
    (tmp_path / "docs" / "papers").mkdir(parents=True)
    whole = replace(found, asked=("all",), quick=False, replications=None)
    written = publish(whole, tmp_path / "docs", readme)
    assert all(file.is_file() for file in written) and not list(tmp_path.rglob("*.part"))
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    page = (tmp_path / "docs" / "papers" / "urvoy-keller-2007.md").read_text(encoding="utf-8")
    assert page.startswith("# Urvoy-Keller 2007")


def test_a_readme_without_a_place_for_the_table_is_told(found):
    with pytest.raises(MayflyError, match="must have the line"):
        with_headline("no marks", found.document())
