"""The page of a paper's figures: without a browser, in headless Chromium, and from the command line."""

import re

import pytest
from browser import Visit, figures_in, in_browser
from typer.testing import CliRunner

from mayfly_papers import __main__
from mayfly_papers.declare.figure import Curve, Drawn, Figure, figures_page
from mayfly_papers.pages import PAGES, Page, figures

RAW = Curve("raw", "as simulated, with a < sign", [1, 10, 100], [1.0, 2.0, 3.0], True)
MODEL = Curve("model", "as the theory has it", [1, 10, 100], [1.5, float("inf"), 2.5])
PICTURES = [Figure(f"fig-{at}", f"Figure {at}", "What is seen.", "size", "time (s)", (RAW, MODEL)) for at in (1, 2)]


def test_each_picture_has_a_place_and_each_kind_of_curve_a_row():
    text = figures_page("Two figures", PICTURES)
    drawn = figures_in(text)
    assert list(drawn) == re.findall(r'id="plot-([a-z0-9-]+)"', text) == ["fig-1", "fig-2"]
    assert re.findall(r'data-discipline="(\w+)"', text) == ["raw", "model"]
    assert "with a &lt; sign" in text and text.count("plotly.js v") == 1
    raw, model = drawn["fig-1"]["data"]
    assert (raw["mode"], model["mode"]) == ("markers", "lines")
    assert raw["marker"]["color"] != model["line"]["color"]
    # The infinite one is left out.
    assert (model["x"], model["y"]) == ([1, 100], [1.5, 2.5])


def test_a_line_of_one_point_is_a_point():
    one = Curve("model", "starves all but the smallest", [1, 2], [1.0, float("inf")])
    (trace,) = figures_in(figures_page("One", [Figure("a", "A", "A.", "x", "y", (one,))]))["a"]["data"]
    assert (trace["mode"], trace["x"]) == ("markers", [1])


def test_bars_have_names_and_intervals_where_they_are_finite():
    bars = Curve("raw", "", [0, 1, 2], [1.0, float("nan"), 3.0], half=[0.1, 0.2, 0.3])
    figure = Figure("a", "A", "A.", "x", "y", (bars,), logarithms=False, places=("one", "two", "<three>"))
    found = figures_in(figures_page("One", [figure]))["a"]
    (trace,) = found["data"]
    assert (trace["type"], trace["x"], trace["error_y"]["array"]) == ("bar", [0, 2], [0.1, 0.3])
    assert found["layout"]["xaxis"]["ticktext"] == ["one", "two", "&lt;three&gt;"]


@in_browser
def test_the_page_is_drawn_without_error_or_network(tmp_path):
    page = tmp_path / "figures.html"
    page.write_text(figures_page("Two figures", PICTURES), encoding="utf-8")
    visit = Visit(page, tmp_path)
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == "2"
    assert 'data-errors="[]"' in visit.dom
    assert (visit.console, visit.requests) == ([], [])


def command():
    import typer

    app = typer.Typer()
    app.command()(__main__.main)
    return app


def test_figures_of_an_item_from_the_command_line(tmp_path, monkeypatch):
    drawn = Page(
        "drawn",
        "Drawn",
        "",
        (),
        (),
        figures=(Drawn("", lambda runs: PICTURES[:1]), Drawn("", lambda runs: PICTURES[1:])),
    )
    monkeypatch.setattr(__main__, "PAGES", (*PAGES, drawn))
    done = CliRunner().invoke(command(), ["drawn", "--figures", str(tmp_path / "new")])
    assert done.exit_code == 0
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["drawn.html"]
    assert (tmp_path / "new" / "drawn.html").read_text(encoding="utf-8") == figures(drawn)


@pytest.mark.parametrize("arguments", [["nothing"], ["bare", "--figures", "there"]])
def test_an_item_that_is_not_or_has_none_is_refused_in_a_line(arguments, monkeypatch):
    monkeypatch.setattr(__main__, "PAGES", (*PAGES, Page("bare", "Bare", "", (), ())))
    done = CliRunner().invoke(command(), arguments)
    assert done.exit_code == 2
    assert done.output.startswith(f"ID = {arguments[0]}: ") and done.output.count("\n") == 1
