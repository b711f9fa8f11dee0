"""The frame of a page: contents, answers, what several pages share."""

import hashlib
import re

import pytest

from mayfly.errors import MayflyError
from mayfly.show import page
from mayfly.show.assets import FOLDER, refuse_unknown, share
from mayfly.show.palette import styles
from mayfly.show.plots import Bar, Figure, Panel, bar_panels


def headings(count):
    return [f"<h2>Part {at}</h2>" for at in range(count)]


def test_the_contents_are_the_headings_and_each_has_its_place():
    parts = page.with_contents(["<h1>Title</h1>", "<p>answer</p>", *headings(3)])
    text = "".join(parts)
    names = re.findall(r'<a href="#(.*?)">(.*?)</a>', text)
    assert names == [(f"section-part-{at}", f"Part {at}") for at in range(3)]
    assert all(text.count(f'id="{name}"') == 1 for name, _ in names)
    assert text.index("answer") < text.index("<nav") < text.index("<h2")


def test_a_short_page_has_no_contents():
    assert page.with_contents(["<h1>Title</h1>", *headings(2)]) == ["<h1>Title</h1>", *headings(2)]


def test_the_same_title_twice_and_a_title_without_letters_have_names():
    text = "".join(page.with_contents(["<h2>A</h2>", "<h2>A</h2>", "<h2>\u00b5</h2>"]))
    assert re.findall(r'id="(.*?)"', text) == ["section-a", "section-a-2", "section-"]


def test_of_very_many_headings_those_of_plots_are_left_out():
    plots = [page.place(f"p{at}", 300, f"Plot {at}", "") for at in range(page.MOST_FIGURES)]
    text = "".join(page.with_contents([*headings(3), *plots]))
    assert len(re.findall("<li>", text)) == 3 and text.count('id="plot-') == page.MOST_FIGURES


def test_the_answer_ends_its_sentences_and_escapes_them():
    text = page.answer(["one <b>", "two."], ["three"], more="others", after="<pre>tc</pre>")
    assert "one &lt;b&gt;.</p><pre>tc</pre>" in text and "two.</p>" in text and "two..</p>" not in text
    assert "<summary>others</summary>" in text and page.answer([]) == ""


def test_bars_leave_room_for_their_text_and_escape_names():
    bars = {"a<b": Bar(2.0, "2 s", [1.0, 4.0]), "c": Bar(None, "never ends")}
    figure = bar_panels("k", "t", "c", [Panel("time (s)", bars, mark=1.0)], styles(list(bars)))
    assert figure.layout["xaxis"]["range"][1] > 4.0 and figure.layout["shapes"][0]["x0"] == 1.0
    assert figure.data[0]["y"] == ["a&lt;b"] and figure.data[0]["meta"] == "a<b"
    found = page.for_script(figure)
    assert found["grid"] == ("time (s)",) and found["layout"]["height"] == 2 * page.GRID_LINE_PX + page.GRID_AROUND_PX


@pytest.fixture
def report(tmp_path):
    figure = Figure("a", "A", "", [{"type": "scatter", "x": [1], "y": [1]}], {})
    text = page.document("t", ["<h1>t</h1>", page.place_of(figure)], [page.for_script(figure)])
    return page.write(tmp_path / "report.html", text)


def test_a_shared_library_stands_once_in_the_folder_with_its_digest(report):
    whole = report.stat().st_size
    library = share(report)
    second = page.write(report.with_name("other.html"), report.read_text(encoding="utf-8"))
    assert library.parent == report.parent / FOLDER and report.stat().st_size < 60_000 < 4_000_000 < whole
    digest = hashlib.sha384(library.read_bytes()).hexdigest()
    assert digest[:8] in library.name
    text = report.read_text(encoding="utf-8")
    assert f"{FOLDER}/{library.name}" in text and "integrity=" in text and "default-src 'none'" in text
    assert share(second) is None, "what has no library inside is left as it is"
    assert second.read_text(encoding="utf-8") == text
    assert [path.name for path in library.parent.iterdir()] == [library.name]


def test_a_library_that_was_changed_is_written_again(report):
    text = report.read_text(encoding="utf-8")
    library = share(report)
    before = library.read_bytes()
    library.write_text("alert(1)")
    report.write_text(text, encoding="utf-8")
    share(report)
    assert library.read_bytes() == before


def test_another_way_to_carry_it_is_refused_before_the_work():
    with pytest.raises(MayflyError, match=r"assets = 'linked': must be inline or shared"):
        refuse_unknown("linked")


def test_the_library_of_the_page_is_the_one_that_plotly_gives():
    from plotly.offline import get_plotlyjs

    assert f"<script>{page.inline(get_plotlyjs())}</script>" in page.document("A page", [], [])
