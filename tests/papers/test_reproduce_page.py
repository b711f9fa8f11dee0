"""The report of a reproduction: exhibits beside their digests, plots of printed numbers, how it was run."""

import re

import numpy as np
import pytest
from browser import Visit, in_browser

from mayfly_papers.declare.declaration import Claim, Finding, Printed, Row, Verdict, compared
from mayfly_papers.declare.figure import Curve, Figure, figures_page
from mayfly_papers.report.page import reproduction_page
from mayfly_papers.report.printed_plot import printed_plot
from mayfly_papers.report.reproduce import Checked, reproduce

SIMULATED = "urvoy-keller-2007-fig-3"
FIGURE = "urvoy-keller-2007-fig-7"


@pytest.fixture(scope="module")
def found():
    return reproduce([FIGURE, SIMULATED], quick=True, replications=2)


@pytest.fixture(scope="module")
def html(found):
    return reproduction_page(found)


def test_an_exhibit_has_what_the_text_says_its_rows_and_how_it_was_run(found, html):
    for exhibit, claims in found.exhibits():
        section = html.partition(f'<h3 id="{exhibit.id}">')[2].partition("</section>")[0]
        assert exhibit.label in section and f"mayfly reproduce {exhibit.id} --quick --replications 2" in section
        digest = section.partition('class="digest"')[2].partition("</div>")[0]
        assert digest.count("<a href") == len(claims)
        for target in re.findall(r'href="#([^"]+)"', digest):
            assert html.count(f'id="{target}"') == 1
        for name in {name for checked in claims for name in checked.experiments}:
            assert f"<td>{name}</td>" in section


def test_only_experiments_that_a_claim_asked_for_are_told_with_it(found):
    by_formula = next(checked for checked in found.checked if FIGURE in checked.exhibits)
    simulated = next(checked for checked in found.checked if SIMULATED in checked.exhibits)
    assert by_formula.experiments == () and simulated.experiments
    assert set(simulated.experiments) <= {e.id for e in found.experiments[simulated.item]}


def test_the_headline_counts_every_claim_and_row_once(found):
    rows = found.document()["headline"]
    assert sum(sum(row["claims"].values()) for row in rows) == len(found.checked)
    assert sum(sum(row["rows"].values()) for row in rows) == sum(len(c.finding.rows) for c in found.checked)


def _checked(name, *numbers):
    rows = [
        Row(label, lambda runs, ours=ours: np.array([ours * 0.9, ours * 1.1]), "s", Printed(printed))
        for label, ours, printed in numbers
    ]
    claim = Claim(name, "Rai 2003, Fig. 7", "says", "settings", tuple(rows))
    return Checked("rai-2003", claim, Finding(claim, tuple(compared(row, None) for row in rows)))


def test_printed_numbers_are_drawn_as_ratios_with_their_intervals():
    plot = printed_plot(
        "rai-2003-fig-7", [_checked("a", ("LAS", 2.0, 1.0), ("FIFO", 1.0, 1.0)), _checked("b", ("LAS", 3, 6))]
    )
    points = {label: trace["x"][at] for trace in plot["data"] for at, label in enumerate(trace["y"])}
    assert points == pytest.approx({"a: LAS": 2, "a: FIFO": 1, "b: LAS": 0.5})
    # Two runs leave a band of single runs that is too wide for any agreement.
    trace = next(trace for trace in plot["data"] if "a: FIFO" in trace["y"])
    assert trace["name"] == str(Verdict.UNDECIDED)
    at = trace["y"].index("a: FIFO")
    low, high = trace["error_x"]["arrayminus"][at], trace["error_x"]["array"][at]
    # Student's t of two values 0.9 and 1.1: 12.7 * 0.1; the lower end stops above 0.
    assert high == pytest.approx(1.2706, rel=1e-3) and low == pytest.approx(0.99)


def test_there_is_nothing_to_draw_of_one_number_or_of_none_above_zero():
    assert printed_plot("x", [_checked("a", ("LAS", 2.0, 1.0))]) is None
    assert printed_plot("x", [_checked("a", ("LAS", 2.0, 0.0), ("FIFO", 1.0, 0.0))]) is None


@in_browser
def test_of_many_plots_those_in_sight_are_drawn(tmp_path):
    """More than a dozen wait until they are near the window: then the page answers at once."""
    curve = Curve("raw", "as simulated", [1, 10, 100], [1.0, 2.0, 3.0])
    figures = [Figure(f"fig-{at}", f"Figure {at}", "Seen.", "size", "time (s)", (curve,)) for at in range(20)]
    file = tmp_path / "many.html"
    file.write_text(figures_page("Many", figures), encoding="utf-8")
    visit = Visit(file, tmp_path)
    assert 1 <= int(re.search(r'data-plots="(\d+)"', visit.dom)[1]) <= 6
    assert 'data-errors="[]"' in visit.dom and (visit.console, visit.requests) == ([], [])
