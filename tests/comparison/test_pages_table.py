"""Page load times in terminal and report."""

from sections import html_of, section_text

from mayfly.comparison.sections.users import PAGES


def row(label, *pages):
    keys = ("group", "pages", "unfinished", "mean_s", "p50_s", "p95_s")
    return {"label": label, "pages": [dict(zip(keys, page, strict=True)) for page in pages]}


ROWS = [
    row("fifo", ("http/1.1", 147, 5, 2.59, 1.87, 7.86), (None, 3, 3, None, None, None)),
    row("las", ("http/1.1", 150, 0, 0.5, 0.4, 1.1), (None, 3, 0, 1.0, 1.0, 1.0)),
]


def test_each_group_has_a_line_and_the_discipline_stands_once():
    lines = [line.split() for line in section_text(PAGES, ROWS, 90).splitlines()[-4:]]
    assert lines[0] == ["fifo", "http/1.1", "147", "5", "2.59", "s", "1.87", "s", "7.86", "s"]
    assert lines[1] == ["–", "3", "3", "–", "–", "–"]
    assert lines[2][0] == "las" and lines[2][4:6] == ["500", "ms"]


def test_the_report_has_the_same_and_nothing_without_pages():
    text = html_of(PAGES, ROWS)
    assert text.count("<tr>") == 5 and "<td>2.59 s</td>" in text and "<td>500 ms</td>" in text
    assert html_of(PAGES, [{"label": "fifo"}]) == ""


def test_names_of_groups_are_escaped():
    assert "<b>" not in html_of(PAGES, [row("fifo", ("<b>", 1, 0, 1.0, 1.0, 1.0))])
