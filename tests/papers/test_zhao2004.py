"""No claim of Zhao 2004, Table III and chapter IV, differs without a reason, and no reason is contradicted."""

from dataclasses import replace

import numpy as np
import pytest
from test_paper_figures import assert_drawn

from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES
from mayfly_papers.zhao2004.aqm.delays import no_more
from mayfly_papers.zhao2004.aqm.figures import figures
from mayfly_papers.zhao2004.aqm.scenarios import CHAPTER_4, LINKS, SETTING, chapter_4, shares
from mayfly_papers.zhao2004.aqm.unknowns import CALIBRATION

DIFFERENCES = reasons("mayfly_papers.zhao2004.aqm")

ZHAO = next(item for item in PAGES if item.id == "zhao-2004")


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs(ZHAO.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", ZHAO.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, runs: Runs) -> None:
    finding = claim.check(runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own() -> None:
    ids = [claim.id for claim in ZHAO.claims]
    assert len(ids) == len(set(ids))


def test_only_claims_are_explained() -> None:
    assert set(DIFFERENCES) <= {claim.id for claim in ZHAO.claims}


def test_the_page_runs_its_setting_and_that_is_one_of_those_searched() -> None:
    assert all(SETTING[unknown.id] in unknown.values for unknown in CALIBRATION.unknowns)
    page = {own.id: own for own in ZHAO.experiments}
    for own in CALIBRATION.experiments(SETTING):
        assert (own.overrides, own.disciplines) == (page[own.id].overrides, page[own.id].disciplines)


def test_shares_of_payload_leave_out_the_header_of_tcp_alone() -> None:
    class Run:
        classes = (
            {"group": "ltrf", "sent": 100, "sent_bytes": 104_000, "arrivals": 110, "drops": 10, "marks": 0},
            {"group": "ltnrf", "sent": 50, "sent_bytes": 50_000, "arrivals": 50, "drops": 0, "marks": 0},
        )
        counters = {  # noqa: RUF012
            "drops": 10,
            "arrivals": 160,
            "utilisation": 0.5,
            "queueing_delay": {"mean_s": 0.06, "deviation_s": 0.01},
        }

    found = shares(Run())
    assert found["ltrf_share_payload"] == pytest.approx(100 / 150)
    assert found["ltrf_of_link_payload"] == pytest.approx(0.5 * 100 / 154)
    assert found["ltnrf_of_link_payload"] == found["ltnrf_of_link"] == pytest.approx(0.5 * 50 / 154)
    assert found["utilisation_payload"] == pytest.approx(0.5 * 150 / 154)
    assert found["delay"] == pytest.approx(0.5) and found["normalised_payload"] == pytest.approx(100 / 150)


def test_flows_on_and_off_are_as_many_as_constant_ones() -> None:
    for mbps in LINKS:
        steady, swings = (chapter_4("red", mbps, 1300, "staggered", on_off=on_off).loaded() for on_off in (False, True))
        [constant], [row] = steady.workload.cbr, swings.workload.on_off
        assert not swings.workload.cbr and (row.flows, row.rate) == (constant.flows, constant.rate)
        assert row.on == row.off == 20


def test_what_stays_within_single_runs_is_no_more() -> None:
    values = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([1.5, 2.5, 3.5]), "c": np.array([4.0, 5.0, 6.0])}
    rows = [no_more(name, lambda runs, name=name: runs[name], lambda runs: runs["a"], "") for name in "bc"]
    assert [bool((row.margin(values) > 0).all()) for row in rows] == [True, False]


@pytest.mark.papers
def test_every_figure_of_chapter_4_is_drawn() -> None:
    short = [
        replace(own, overrides={**own.overrides, "duration": "20s", "warm_up": "10s"}, replications=1)
        for own in CHAPTER_4
    ]
    drawn = list(figures(Runs(short)))
    assert_drawn(ZHAO.figures[0], drawn)
    assert all(len(curve.x) == len(curve.y) == 3 for figure in drawn for curve in figure.curves)
