"""Sub-flows of Chen 2012, 5.1 and 5.3: what the claims are made of, by hand and from short runs."""

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload
from mayfly_papers.chen2012.subflows import claims as chen2012_subflows
from mayfly_papers.chen2012.subflows import figures as subflow_figures
from mayfly_papers.chen2012.subflows import measures as subflow_measures
from mayfly_papers.chen2012.subflows import tables as subflow_tables
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.declare.figure import figures_page
from mayfly_papers.pages import PAGES

DIFFERENCES = reasons("mayfly_papers.chen2012.subflows")

EXPERIMENT = chen2012_subflows.EXPERIMENTS[0]
SUBFLOWS = next(item for item in PAGES if item.id == "chen-2012-subflows")


@pytest.fixture(scope="session")
def subflow_runs() -> Runs:
    return Runs(SUBFLOWS.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", SUBFLOWS.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, subflow_runs: Runs) -> None:
    finding = claim.check(subflow_runs)
    assert finding.expected, finding.account


@pytest.fixture(scope="module")
def runs():
    scenario = EXPERIMENT.loaded().override(duration="300s")
    flows = workload(scenario)
    return {name: run_one(scenario, parse(name), flows) for name in ("efd", "efd(high=las,low=las)")}


@pytest.fixture(scope="module")
def measured(runs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subflow_measures, "DURATION_S", 300.0)
        return {name: subflow_measures.variant(run) for name, run in runs.items()}


def test_claims_have_names_of_their_own_and_every_reason_a_claim():
    ids = [claim.id for claim in chen2012_subflows.CLAIMS]
    assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= set(ids)


def test_experiments_are_those_of_the_thesis():
    for experiment in chen2012_subflows.EXPERIMENTS:
        scenario = experiment.loaded()
        network = scenario.network
        assert (network.delay, network.access_delay, network.exit_delay) == (0, 0, 0)
        assert (scenario.duration, scenario.warm_up) == (subflow_measures.DURATION_S, subflow_measures.WARM_UP_S)
        assert (network.rate, network.buffer) == (subflow_measures.RATE_BPS, (300, "packets"))
        assert scenario.workload.load == 0.5 * network.rate
        labels = [parse(name) for name in experiment.disciplines]
        # th = 20 packets of 1500 bytes is the default.
        assert [dict(label.native[1]).get("threshold") for label in labels] == [None] * 4
    assert {subflow_measures.named(run_of(name)) for name in EXPERIMENT.disciplines} == {
        f"{high}+{low}" for high, low in chen2012_subflows.VARIANTS
    }


def run_of(name):
    class Run:
        discipline = parse(name)

    return Run


def test_every_measure_that_claims_name_is_there(measured):
    class Anything:
        """Runs of which every measure is asked for once."""

        def __init__(self):
            self.asked = set()

        def values(self, experiment, discipline, measure):
            self.asked.add(measure)
            return np.array([1.0, 2.0])

    runs = Anything()
    for claim in chen2012_subflows.CLAIMS:
        claim.check(runs)
    assert subflow_tables.error_tables(runs).count("| flows, cuts, without | 1 [1, 1] |") == 2
    for found in measured.values():
        assert runs.asked <= set(found)
        assert all(np.isfinite(value) for value in found.values())


def test_the_model_is_told_of_the_load_that_was_drawn(runs, measured):
    run = runs["efd"]
    # Data as offered, and on the link what was sent of it, and 160 bytes a flow.
    sizes = run.records["size_packets"]
    rho = sizes.sum() * subflow_measures.PACKET_S / 300
    assert rho == pytest.approx(0.5, rel=0.01)
    # In processor sharing all of a flow takes 1 / (1 - load of the high queue), however it is cut.
    found = measured["efd"]
    assert found["cuts_bare_s"] < found["cuts_control_s"]
    at = np.arange(sizes.min(), 21)
    level = np.exp(np.log(at).mean()) * subflow_measures.PACKET_S
    assert level < found["cuts_bare_s"] < level / (1 - rho)


def test_sizes_by_class_are_means_over_sizes_not_flows():
    sizes, times = np.array([1, 10, 20, 21]), np.array([1.0, 2.0, 4.0, 100.0])
    assert subflow_measures.level(sizes, times, "upto_th") == pytest.approx(2.0)
    flows = pl.DataFrame({"size_packets": [5, 5, 7], "time": [1.0, 3.0, 4.0]})
    curves = subflow_measures.curves(flows, "time")
    assert [part.tolist() for part in curves["raw"]] == [[5, 7], [2.0, 4.0]]
    assert len(curves["filtered"][1]) == 2


def test_a_tail_is_what_the_largest_hundredth_carries():
    assert subflow_measures.tail(np.r_[np.ones(99), 99.0]) == pytest.approx(0.5)
    sample = np.random.default_rng(1).exponential(size=200_000)
    # Of the exponential law the largest hundredth carries (1 + log 100) / 100.
    assert subflow_measures.tail(sample) == pytest.approx(0.0561, rel=0.02)


def test_shares_of_sizes_count_data_packets(runs, measured):
    rows = runs["efd"].subflows.filter(pl.col("queued_s") >= 100)
    data = (rows["high_data_packets"] + rows["low_data_packets"]).to_numpy()
    assert measured["efd"]["small"] == pytest.approx((data[data > 0] <= 3).mean())
    assert measured["efd"]["tail_high"] < measured["efd"]["tail_all"]
    assert measured["efd"]["measured_small"] == pytest.approx(measured["efd"]["small"], rel=1e-12)
    assert measured["efd"]["measured_distance"] == pytest.approx(0, abs=1e-12)


def test_total_time_is_the_response_but_for_the_hosts(runs):
    run = runs["efd"]
    times = subflow_measures.flow_times(run.subflows, subflow_measures.RATE_BPS)
    joined = run.records.filter(pl.col("finish_s").is_not_null()).join(times, on="flow_id")
    path = joined["response_time_s"] - joined["total_s"]
    # SYN from the sender to the queue, its last acknowledgement to the receiver: two short packets at 100 Mb/s.
    assert path.min() == pytest.approx(2 * 40 * 8 / 100e6, abs=2e-6)
    assert path.max() < 1e-3


def test_figures_are_drawn():
    figures = subflow_figures.figures_of(EXPERIMENT.loaded().override(duration="150s"))
    keys = [figure.key for figure in figures]
    assert keys[:4] == ["fig-5-2a", "fig-5-2b", "fig-5-11a", "fig-5-11b"]
    assert len(keys) == len(set(keys)) == 16
    assert all(len(curve.x) == len(curve.y) > 0 for figure in figures for curve in figure.curves)
    assert_drawn(SUBFLOWS.figures[0], figures)
    assert "Figure 5.17e" in figures_page("sub-flows", figures)
