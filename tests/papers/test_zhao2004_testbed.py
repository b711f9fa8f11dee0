"""Zhao 2004, III, in the kernel and in the simulator: no claim differs without a reason, none is contradicted."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly_papers.declare.declaration import Claim, Runs, simulate
from mayfly_papers.pages import PAGES
from mayfly_papers.zhao2004.testbed.claims import DIFFERENCES
from mayfly_papers.zhao2004.testbed.measures import LOOK_S, Series, document_of, judged, kernel_document, series_of
from mayfly_papers.zhao2004.testbed.scenarios import EXPERIMENTS, LOADS, fetches

ITEM = next(item for item in PAGES if item.id == "zhao-2004-testbed")


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs(ITEM.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", ITEM.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, runs: Runs) -> None:
    finding = claim.check(runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own_and_tell_when_the_kernel_ran():
    ids = [claim.id for claim in ITEM.claims]
    assert len(ids) == len(set(ids)) and set(DIFFERENCES) <= set(ids)
    assert all(kernel_document()["date"] in claim.settings for claim in ITEM.claims)


def test_what_the_kernel_showed_is_whole():
    figures = kernel_document()["figures"]
    assert list(figures) == list(LOADS)
    for figure, found in figures.items():
        assert [run["seed"] for run in found] == list(range(1, len(found) + 1)) and len(found) > 1
        for run in map(series_of, found):
            assert run.time_s[-1] == pytest.approx(LOADS[figure].duration_s)
            assert np.isfinite(run.estimated[run.counted]).all()
            assert (run.web.sum() > 0) == (figure == "24")
        loads = [run.mean(run.measured, 60, 90) for run in map(series_of, found)]
        assert max(loads) - min(loads) < 0.02


def test_bytes_so_far_become_bytes_of_each_interval():
    rows = [
        {"client": 10, "cbr": 30, "web": 0, "share": None},
        {"client": 20, "cbr": 90, "web": 10, "share": 0.7512345},
    ]
    found = document_of(rows, "qdisc htb 1: root\nqdisc estmred 10: limit 60p\n", 3)
    assert found == {
        "seed": 3,
        "tcp": [10, 10],
        "cbr": [30, 60],
        "web": [0, 10],
        "estimated": [None, 0.75123],
        "status": "qdisc estmred 10: limit 60p",
    }
    series = series_of(found)
    assert series.measured.tolist() == [0.75, 0.875] and series.cbr_share.tolist() == [0.75, 0.75]
    assert math.isnan(series.estimated[0]) and series.time_s.tolist() == [LOOK_S, 2 * LOOK_S]


def test_errors_count_from_60_seconds_and_parts_have_their_own_means():
    time_s = np.arange(1.0, 101.0)
    estimated = np.where(time_s <= 60, 0.0, 0.6)
    series = Series(time_s, np.full(100, 1.0), np.full(100, 1.0), np.zeros(100), estimated)
    found = judged(series, {"before": (40, 80)})
    assert found["mse"] == pytest.approx(0.01) and found["mse_unsmoothed"] == pytest.approx(0.01)
    assert found["before_estimated"] == pytest.approx(0.3) and found["before_measured"] == 0.5


def test_udp_packets_of_an_interval_follow_the_step():
    load = LOADS["23"]
    counted = load.cbr_packets(np.array([50.0, 100.0, 110.0, 180.0, 190.0]))
    per_s = np.diff([0, *np.cumsum(counted)]) / [50, 50, 10, 70, 10]
    rates = np.array([0.65, 0.65, 0.90, (0.9 * 60 + 0.65 * 10) / 70, 0.65])
    assert per_s == pytest.approx(rates * 12e6 / 8 / 1514)


def test_a_user_fetches_one_file_after_the_other():
    rows = fetches(2, (90.0, 170.0), np.random.default_rng(1))
    assert 90 <= rows[0]["start_s"] < 91 and rows[0]["after"] is None
    assert [row["after"] for row in rows[1:]] == [row["stage"] for row in rows[:-1]]


@pytest.mark.parametrize("identity", ["testbed-23", "testbed-24"])
def test_the_simulated_testbed_is_measured(identity):
    experiment = next(own for own in EXPERIMENTS if own.id == identity)
    [found] = simulate(replace(experiment, replications=1))[experiment.disciplines[0]]
    assert 0.6 < found["before_measured"] < found["during_measured"] < 0.9
    assert 0 < found["mse"] < found["mse_unsmoothed"] < 0.05
    assert (found["during_cbr"] < found["during_measured"]) == (identity == "testbed-24")


def test_users_have_gone_when_they_should():
    experiment = next(own for own in EXPERIMENTS if own.id == "testbed-24")
    flows = experiment.flows(experiment.loaded(), 0)
    assert flows.filter(pl.col("group") == "web").height > 300
    assert set(flows["after"].drop_nulls()) <= set(flows["stage"].drop_nulls())


def test_figures_are_drawn():
    drawn = ITEM.figures[0]()
    assert_drawn(ITEM.figures[0], drawn)
    assert [len(figure.curves) for figure in drawn] == [2, 4, 4, 4, 4, 4]
