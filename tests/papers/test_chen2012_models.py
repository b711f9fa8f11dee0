"""No claim of Chen 2012, 5 differs without a reason; its measures and its figures, from short runs."""

import json
import re

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly.discipline_registry import parse
from mayfly.models.queue.flow_records import Link
from mayfly.simulate.run import run_one, workload
from mayfly_papers.chen2012.queues import figures as queue_figures
from mayfly_papers.chen2012.queues import measures as queue_measures
from mayfly_papers.chen2012.queues.tables import percent
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.declare.figure import Curve, Figure, figures_page
from mayfly_papers.pages import PAGES

DIFFERENCES = reasons("mayfly_papers.chen2012.queues")

MODELS = next(item for item in PAGES if item.id == "chen-2012-models")


@pytest.fixture(scope="session")
def model_runs() -> Runs:
    return Runs(MODELS.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", MODELS.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, model_runs: Runs) -> None:
    finding = claim.check(model_runs)
    assert finding.expected, finding.account


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (MODELS.claims, MODELS.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= {claim.id for claim in MODELS.claims}


@pytest.fixture(scope="module")
def half_load():
    experiment = next(one for one in MODELS.experiments if one.id == "queues-0.5")
    return experiment.loaded().override(duration="400s")


@pytest.fixture(scope="module")
def run_las(half_load):
    return run_one(half_load, parse("las"), workload(half_load))


def test_the_law_is_that_of_the_thesis_and_the_load_is_exact(half_load, run_las) -> None:
    link = queue_measures.link_of(run_las)
    law = queue_measures.nominal_law(link)
    assert law.mean == pytest.approx(40 * 1500 + 160, rel=1e-3)
    # 160 bytes a flow do not vary.
    assert law.cov == pytest.approx(6, rel=0.005)
    control = 160 * run_las.records.height * 8 / 400
    payload_and_headers = run_las.records["size_packets"].sum() * 1500 * 8 / 400
    assert link.queue(run_las.records).rho == pytest.approx((payload_and_headers + control) / 10e6)
    # Exact to the nearest flow, of up to 18 MB.
    assert abs(payload_and_headers - 5e6) * 400 / 8 <= 12_121 * 1500


def test_measures_of_a_short_run_agree_with_the_records(run_las) -> None:
    found = queue_measures.beside_models(run_las)
    flows = run_las.records.filter((pl.col("start_s") >= 100) & pl.col("finish_s").is_not_null())
    few = flows.filter(pl.col("size_packets").is_between(7, 10))
    assert found["few_s"] == pytest.approx(few["response_time_s"].mean())
    assert found["all_s"] == pytest.approx(flows["response_time_s"].mean())
    assert 0.7 < found["las_smallest"] < found["las_path_smallest"] < 1
    assert abs(found["las_raw_median_short"]) <= found["las_raw_p90_short"]
    assert found["las_moderate"] == pytest.approx(1, abs=0.05)


def test_a_queue_of_whole_flows_is_the_queue_of_the_theory() -> None:
    """Lindley's recursion on the same flows: FIFO serves them one after another."""
    experiment = next(one for one in MODELS.experiments if one.id == "whole-flows-0.5")
    scenario = experiment.loaded().override(duration="400s")
    # Larger ones than the initial window are not there as a whole.
    flows = workload(scenario).filter(pl.col("size_bytes") <= 1000 * 1460)
    run = run_one(scenario, parse("fifo"), flows)
    jobs = Link(queue_measures.RATE_BPS, 400.0).jobs(run.records).sort("start_s")
    service = jobs["wire_bytes"].to_numpy() * 8 / queue_measures.RATE_BPS
    walk = np.r_[0.0, np.cumsum(service[:-1] - np.diff(jobs["start_s"].to_numpy()))]
    theory = walk - np.minimum.accumulate(walk) + service
    # Flows take turns in the order of their acknowledgements of the handshake, each behind a queue of its own.
    took = jobs["response_time_s"].to_numpy()
    assert np.nanmedian(took / theory) == pytest.approx(1, abs=0.05)
    assert np.nansum(took) == pytest.approx(np.sum(theory[~np.isnan(took)]), rel=0.05)


def test_figures_are_the_runs_and_stand_on_one_page(half_load) -> None:
    heavier = next(one for one in MODELS.experiments if one.id == "queues-0.9").loaded()
    figures = queue_figures.figures_of([one.override(duration="150s") for one in (half_load, heavier)])
    assert [figure.title for figure in figures][:2] == ["Figure 5.3: FIFO, load 0.5", "Figure 5.4: SCFQ, load 0.5"]
    assert [figure.key for figure in figures] == [f"fig-5-{number}" for number in range(3, 11)]
    assert_drawn(MODELS.figures[0], figures)
    curves = {curve.kind: curve for curve in figures[0].curves}
    assert list(curves) == ["raw", "medfilt", "fifo model", "ps model"]
    sizes = np.array(curves["ps model"].x)
    service = (sizes * 1500 + 160) * 8 / 10e6
    assert np.array(curves["ps model"].y) / service == pytest.approx(np.full(len(sizes), 1 / (1 - 0.5)), rel=0.02)
    text = figures_page("Figures", figures)
    assert text.count("plotly.js v") == 1
    drawn = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])
    assert [plot["key"] for plot in drawn] == [figure.key for figure in figures]
    assert all(f'id="plot-{figure.key}"' in text for figure in figures)
    assert drawn[0]["data"][0]["mode"] == "markers"


def test_what_is_not_finite_is_not_drawn() -> None:
    curve = Curve("model", "a model", [1, 2, 3], [1.0, float("inf"), 3.0])
    text = figures_page("One", [Figure("a", "A", "A.", "x", "y", (curve,))])
    (plot,) = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])
    assert plot["data"][0]["x"] == [1, 3]


def test_per_cent() -> None:
    assert [percent(value) for value in (0.0312, -0.996, 9.2)] == ["+3.1 %", "-100 %", "+920 %"]
