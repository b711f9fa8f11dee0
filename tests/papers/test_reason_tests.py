"""Reasons that a run shows: the run shows them."""

from functools import cache

import pytest

from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES, Page
from mayfly_papers.report.reasons import stands

TESTS = [(page, test) for page in PAGES for test in page.reason_tests]


@cache
def runs_of(identity: str) -> Runs:
    return Runs(next(page for page in PAGES if page.id == identity).reason_experiments)


@pytest.mark.papers
@pytest.mark.parametrize(("page", "test"), TESTS, ids=lambda value: value.id)
def test_a_reason_that_a_run_shows_stands(page: Page, test: Claim) -> None:
    finding = test.check(runs_of(page.id))
    assert stands(finding), finding.account


def test_a_reason_with_a_row_that_fails_or_is_open_does_not_stand() -> None:
    from mayfly_papers.declare.rows import at_most

    def found(*values: float):
        import numpy as np

        rows = tuple(at_most("row", lambda runs, value=value: np.array([value, value + 0.01]), 1) for value in values)
        return Claim("a", "Rai 2003", "says", "settings", rows).check(Runs(()))

    assert stands(found(0.5, 0.6)) and not stands(found(0.5, 1.5)) and not stands(found(0.5, 0.99))


def test_every_test_of_a_reason_names_experiments_that_there_are() -> None:
    """Values are asked for by experiment, discipline and measure; the first two are held to what is declared."""

    class Asked(Runs):
        def run(self, identity: str):
            raise KeyError(identity)

    drawn = {"no-draw"}  # Workloads are drawn, nothing is simulated.
    assert drawn <= {test.id for _, test in TESTS}
    for page, test in ((page, test) for page, test in TESTS if test.id not in drawn):
        runs = Asked(page.reason_experiments)
        for row in test.rows:
            with pytest.raises(KeyError):
                row.ours(runs)
