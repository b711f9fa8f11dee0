"""No claim of Chen 2012, 9.3.1 on the wire differs without a reason; its measures, by hand."""

import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload
from mayfly_papers.chen2012.enterprise import claims as chen2012_enterprise
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES

ENTERPRISE = next(item for item in PAGES if item.id == "chen-2012-enterprise")


@pytest.fixture(scope="session")
def enterprise_runs() -> Runs:
    return Runs(ENTERPRISE.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", ENTERPRISE.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, enterprise_runs: Runs) -> None:
    finding = claim.check(enterprise_runs)
    assert finding.expected, finding.account


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (ENTERPRISE.claims, ENTERPRISE.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(chen2012_enterprise.DIFFERENCES) <= {claim.id for claim in ENTERPRISE.claims}


def test_experiments_are_those_of_tables_9_1_and_9_2() -> None:
    for experiment in ENTERPRISE.experiments:
        scenario = experiment.loaded()
        _, model, load = experiment.id.split("-")
        assert scenario.workload.load == int(load) * 10**6 and scenario.network.buffer == (300, "packets")
        rtts_ms = [part.rtt * 1000 for part in scenario.workload.part]
        assert rtts_ms == pytest.approx([1, 100] if model == "topological" else [10.9])


def test_measures_are_means_by_latency_and_size() -> None:
    (experiment,) = [one for one in ENTERPRISE.experiments if one.id == "wired-topological-8"]
    scenario = experiment.loaded().model_copy(update={"duration": 30.0})
    run = run_one(scenario, parse("fifo"), workload(scenario, 0), 0)
    found = chen2012_enterprise.measured(run)
    own = run.records.filter(pl.col("group") == "intranet", pl.col("size_packets") <= 20)
    assert found["intranet_small_s"] == pytest.approx(own["response_time_s"].mean())
    assert sum(value for name, value in found.items() if name.startswith("share_")) == pytest.approx(1)
    assert found["rtt_internet_ms"] >= 100 > found["rtt_intranet_ms"] >= 1
