"""Figures of the papers as figures: each names what it draws."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly_papers.chen2012.enterprise import figures as enterprise_figures
from mayfly_papers.chen2012.wired import figures as wired_figures
from mayfly_papers.chen2012.wired import transfers as chen2012
from mayfly_papers.chen2012.wlan import figures as wlan_figures
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Drawn, Figure, figures_page, plots_of
from mayfly_papers.declare.figure_parts import FirstRuns, measured, share_up_to
from mayfly_papers.pages import PAGES
from mayfly_papers.rai2003 import figures as rai2003_figures
from mayfly_papers.report.reproduce import Listing, changed
from mayfly_papers.urvoykeller2007 import cell_figures as urvoy_keller2007_cell_figures

FIGURES = [drawing for item in PAGES for drawing in item.figures if item.id != "today"]
"""Of papers; the page of today draws none of their figures."""


def assert_drawn(drawing: Drawn, figures: Sequence[Figure]) -> None:
    """Pictures are those that a drawing says it draws, in the order of the paper, each with a key of its own."""
    named = [name for figure in figures for name in figure.exhibits]
    assert list(dict.fromkeys(named)) == drawing.exhibits
    assert all(figure.exhibits for figure in figures)
    assert len({figure.key for figure in figures}) == len(figures)


@pytest.mark.parametrize("drawing", FIGURES, ids=lambda drawing: drawing.source)
def test_a_drawing_names_figures_of_a_paper(drawing):
    assert drawing.exhibits and all("-fig-" in name for name in drawing.exhibits)


def test_every_figure_with_claims_is_drawn_once():
    claimed = {row["id"] for row in Listing().rows() if row["claims"] and "-fig-" in row["id"]}
    drawn = [name for drawing in FIGURES for name in drawing.exhibits]
    assert claimed - set(drawn) == set()
    assert len(drawn) == len(set(drawn))


class Stub(Runs):
    """Two replications of every measure, below and above 1."""

    def __init__(self) -> None:
        super().__init__(())

    def values(self, experiment: str, discipline: str, measure: str) -> np.ndarray:
        return np.array([0.5, 1.5])


OF_RUNS = (
    *wired_figures.FIGURES,
    *wlan_figures.FIGURES,
    *urvoy_keller2007_cell_figures.FIGURES,
    enterprise_figures.WIRED,
    enterprise_figures.CELL,
    enterprise_figures.APPS,
)
FORMULAS = [
    drawing
    for drawing in FIGURES
    if drawing.source in ("Chen 2012, Fig. 3.1, 3.2", "Urvoy-Keller 2007, Fig. 7, 8", "Urvoy-Keller 2007, Fig. 10")
]


def check(drawing: Drawn, figures: list[Figure]) -> None:
    assert_drawn(drawing, figures)
    plots, page = plots_of(figures), figures_page("Figures", figures)
    assert [plot["key"] for plot in plots] == re.findall(r'id="plot-([a-z0-9-]+)"', page)
    for figure in figures:
        assert figure.caption.endswith((".", "%")) and figure.curves
        assert all(len(curve.x) == len(curve.y) for curve in figure.curves), figure.key
        # Short runs at a low load leave nothing incomplete.
        assert any(len(curve.x) for curve in figure.curves) or figure.key == "chen-2012-fig-4-8-underload"


@pytest.mark.parametrize("drawing", OF_RUNS, ids=lambda drawing: drawing.source)
@pytest.mark.slow
def test_figures_of_short_runs_are_those_declared(drawing):
    check(drawing, drawing.make(Stub(), 60.0))


@pytest.mark.parametrize("drawing", FORMULAS, ids=lambda drawing: drawing.source)
def test_figures_by_formula_are_those_declared(drawing):
    check(drawing, drawing())


@pytest.mark.slow
@pytest.mark.parametrize("drawing", rai2003_figures.FIGURES, ids=lambda drawing: drawing.source)
def test_figures_of_rai_2003(drawing):
    check(drawing, drawing.make(None, 2400.0))


def test_means_have_their_interval_and_what_was_not_measured_is_left_out():
    def absent(runs):
        raise MayflyError("not declared")

    own = measured(Stub(), "a", "a", [1, 2], [lambda runs: np.array([1.0, 3.0]), absent])
    assert own.y[0] == 2 and own.half[0] == pytest.approx(12.706, rel=1e-4)
    assert np.isnan(own.y[1])


def test_a_share_counts_what_a_logarithm_does_not_show():
    curve = share_up_to("a", "a", np.array([0, 0, 1, 2]))
    assert (list(curve.x), list(curve.y)) == ([1, 2], [0.75, 1.0])


def test_experiments_of_a_shorter_reproduction_are_run_in_place_of_those_declared():
    shorter = changed(chen2012.EXPERIMENTS[0], True, None)
    first = FirstRuns(chen2012.EXPERIMENTS, Runs([shorter]))
    assert first(shorter.id, "fifo").counters["end_ns"] == pytest.approx(200e9)


def test_runs_of_another_experiment_are_not_kept():
    first = FirstRuns(chen2012.EXPERIMENTS, most_s=5.0)
    one = first("wired-8", "fifo")
    assert first("wired-8", "fifo") is one and one.counters["end_ns"] == pytest.approx(5e9)
    first("wired-15", "fifo")
    assert first("wired-8", "fifo") is not one
