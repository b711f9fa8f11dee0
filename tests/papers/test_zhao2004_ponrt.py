"""Zhao 2004, II.C and II.D, the estimator: no claim differs without a reason, and no reason is contradicted."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.estimate import Estimates
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one, workload
from mayfly_papers.declare.declaration import Claim, Runs, simulate
from mayfly_papers.pages import PAGES, Kind
from mayfly_papers.zhao2004.estimator.figures import figures_of
from mayfly_papers.zhao2004.estimator.measures import METHODS, Known, late_error, said, samples_of, scored
from mayfly_papers.zhao2004.estimator.scenarios import EXPERIMENTS, MIXES, RED, binomial, short_flows

ITEM = next(item for item in PAGES if item.id == "zhao-2004-ponrt")
OWN = next(item for item in PAGES if item.id == "default-estimator")


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs(ITEM.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", [*ITEM.claims, *OWN.claims], ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, runs: Runs) -> None:
    finding = claim.check(runs)
    assert finding.expected, finding.account


def short(experiment, duration: str = "110s"):
    return replace(experiment, overrides={**experiment.overrides, "duration": duration}, replications=1)


def test_claims_have_names_of_their_own_and_only_they_are_explained():
    from mayfly_papers.declare.data import reasons

    ids = [claim.id for claim in [*ITEM.claims, *OWN.claims]]
    assert len(ids) == len(set(ids))
    assert set(reasons("mayfly_papers.zhao2004.estimator")) <= set(ids)
    assert OWN.kind is Kind.OWN and {claim.id.endswith("-default") for claim in OWN.claims} == {True}
    assert not any(claim.id.endswith("-default") for claim in ITEM.claims)


def test_every_experiment_is_a_scenario_with_samples_three_times_in_a_round_trip():
    for experiment in EXPERIMENTS:
        assert experiment.loaded().sample_interval == pytest.approx(0.033), experiment.id


@pytest.mark.parametrize("identity", ["cbr-22", "rtt-range", "hops-uneven"])
def test_every_method_is_measured_in_a_short_run(identity):
    experiment = next(own for own in EXPERIMENTS if own.id == identity)
    found = simulate(short(experiment))[RED][0]
    for method in METHODS:
        assert 0 <= found[f"{method}_mean"] <= 1
        assert found[f"{method}_mse"] >= (found["share"] * found[f"{method}_error"]) ** 2 * 0.99
    assert 0.7 < found["share"] < 0.85
    assert ("told_mse" in found) == (identity == "rtt-range")


def test_the_truth_counts_short_flows_where_they_do():
    scenario = load_scenario("red-ns2", short_flows(300) | {"duration": "110s", "sample_interval": "33ms"})
    run = run_one(scenario, parse(RED), workload(scenario))
    counted = run.samples.filter(pl.col("time_s") > 100).sum().row(0, named=True)
    arrivals = {row["group"]: row["arrivals"] for row in run.classes}
    rest = sum(arrivals[group] for group in ("ltnrf", "stf")) / sum(arrivals.values())
    assert arrivals["stf"] > 0
    assert counted["nonresponsive_arrivals"] / counted["arrivals"] == pytest.approx(rest, abs=0.005)


def test_mixes_keep_35_flows_and_name_their_rule():
    for flows in MIXES.values():
        given = binomial("iiad", flows)
        assert sum(row["flows"] for row in given["workload.permanent"]) == 35
        assert ("tcp.congestion_of" in given) == (flows > 0)


def test_the_late_error_leaves_out_what_comes_before_ten_seconds():
    times = list(np.arange(1.0, 81.0))
    share = [0.5 if time % 40 < 10 else 0.7 for time in times]
    columns = {"time_s": times, "share": share}
    found = Estimates("default", {"first_s": 0.0}, columns, np.full(80, 0.75), {}, 0.0)
    assert late_error(found, 40.0) == pytest.approx(0.05)


def test_a_run_over_before_estimates_count_has_no_score():
    columns = {"time_s": [1.0, 2.0], "share": [0.5, 0.5], "mean": [0.5, 0.5], "doubt": [None, None]}
    found = Estimates("default", {"first_s": 0.0}, columns, np.full(2, 0.75), {}, 100.0)
    with pytest.raises(MayflyError, match="default: no sample counts in the score: the run must be longer"):
        scored("default", found)


def test_a_start_at_the_truth_is_handed_on():
    experiment = short(next(own for own in EXPERIMENTS if own.id == "cbr-25"))
    scenario = experiment.loaded()
    samples = samples_of(run_one(scenario, parse(RED), workload(scenario)))
    low, high = (said(samples, "p0", Known(), start_share=start).columns["share"] for start in (0.3, 0.8))
    assert np.mean(low) < np.mean(high)


@pytest.mark.papers
def test_every_figure_is_drawn():
    drawn = list(figures_of([short(experiment, "120s") for experiment in EXPERIMENTS]))
    numbers = [figure.title.partition(":")[0].removeprefix("Figure ") for figure in drawn]
    assert_drawn(ITEM.figures[0], drawn)
    assert set(numbers) == {"1", "3", "4", "5", "6", "7", "8a", "8b", "9", "10", "12", "13"}
    curves = [curve for figure in drawn for curve in figure.curves]
    # The model's time at rest is a level: its two ends draw it.
    assert all(len(curve.x) == len(curve.y) > (1 if curve.kind == "R_0 of the model" else 2) for curve in curves)
