"""The page of `mayfly model compare`: without a browser, and in headless Chromium."""

import re

import pytest
from browser import Visit, figures_in, in_browser

from mayfly.models.queue.answer import answer
from mayfly.models.queue.compared import compared
from mayfly.models.queue.page import model_page, write_model_page

LAW = "bounded-pareto:min=1,max=1e5,alpha=1.1"


@pytest.fixture(scope="module")
def found():
    return compared("ps,las,fifo", LAW, [0.5, 1.2])


@pytest.fixture(scope="module")
def text(found):
    return model_page(found)


def test_every_plot_has_a_place(text):
    keys = list(figures_in(text))
    assert keys == ["slowdown-0", "response-0", "slowdown-1", "response-1", "load", "law"]
    assert re.findall(r'id="plot-([a-z0-9-]+)"', text) == keys


def test_curves_are_the_model_and_stop_where_jobs_starve(text):
    figures = figures_in(text)
    traces = {trace["meta"]: trace for trace in figures["response-0"]["data"]}
    assert list(traces) == ["ps", "las", "fifo"]
    las = traces["las"]
    exact = answer("las", LAW, 0.5, las["x"]).response_time
    assert las["y"] == pytest.approx(exact.tolist(), rel=1e-4)
    assert traces["ps"]["y"] == pytest.approx([2 * x for x in traces["ps"]["x"]], rel=1e-4)
    assert "Chen 2012, Eq. 5.3" in las["hovertemplate"]
    starved = {trace["meta"]: trace for trace in figures["slowdown-1"]["data"]}
    assert starved["ps"]["x"] == starved["fifo"]["x"] == []
    assert 1 < max(starved["las"]["x"]) < 1e5
    assert "jobs of every size wait without end" in text


def test_the_law_shows_jobs_and_work(text):
    jobs, work = figures_in(text)["law"]["data"]
    assert jobs["y"][0] == work["y"][0] == 1.0
    assert all(share >= few for share, few in zip(work["y"], jobs["y"], strict=False))


def test_a_law_of_one_size_has_points():
    figures = figures_in(model_page(compared("las,ps", "deterministic:value=3", [0.5])))
    assert [(trace["mode"], trace["x"], trace["y"]) for trace in figures["response-0"]["data"]] == [
        ("markers", [3.0], [9.0]),
        ("markers", [3.0], [6.0]),
    ]


@in_browser
def test_the_page_is_drawn_without_error_or_network(found, tmp_path):
    visit = Visit(write_model_page(tmp_path / "models.html", found), tmp_path)
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == "6"
    assert 'data-errors="[]"' in visit.dom
    assert (visit.console, visit.requests) == ([], [])
