"""No claim of Urvoy-Keller 2007 differs without a reason; the measures, by hand."""

import numpy as np
import pytest

from mayfly.papers import ITEMS, urvoy_keller2007, urvoy_keller2007_measures
from mayfly.papers.declaration import Claim, Runs
from mayfly.papers.urvoy_keller2007_differences import DIFFERENCES
from mayfly.simulate.disciplines import parse
from mayfly.simulate.run import run_one, workload

REPORT = next(item for item in ITEMS if item.id == "urvoy-keller-2007")


@pytest.fixture(scope="session")
def report_runs() -> Runs:
    return Runs(REPORT.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", REPORT.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, report_runs: Runs) -> None:
    finding = claim.check(report_runs)
    assert finding.expected, finding.account


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (REPORT.claims, REPORT.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= {claim.id for claim in REPORT.claims}


def test_table_1_is_declared_and_its_laws_have_the_means_it_prints() -> None:
    (table,) = [claim for claim in REPORT.claims if claim.id == "table-1"]
    assert len(table.rows) == 42
    for law in urvoy_keller2007.LAWS:
        experiment = next(one for one in REPORT.experiments if one.id == f"{law}-3")
        flows = experiment.prepare(workload(experiment.loaded()), 0)
        packets = flows["size_bytes"].to_numpy() / 1460
        assert packets.min() == 3
        offered = packets.sum() * 1500 * 8 / 1000
        assert offered == pytest.approx(3e6, rel=0.04)
        assert packets.mean() == pytest.approx(float(law.split("-")[1]), rel=0.06)


def test_las_beside_lasack_with_acknowledgements_that_weigh_nothing() -> None:
    sizes = np.array([1.0, 3.0, 20.0])
    las = urvoy_keller2007_measures.las_response_s(sizes, 0.05, 0.0, sizes)
    lasack = urvoy_keller2007_measures.las_response_s(sizes, 0.05, 0.05, sizes)
    assert (lasack > las).all() and lasack == pytest.approx(las, rel=0.05)
    # Everybody below 1 s is served at once but for the first seconds of others: Eq. 9.
    rho = 0.05 * 1.0
    assert las[0] == pytest.approx(0.05 / (2 * (1 - rho) ** 2) + 1 / (1 - rho))
    assert np.isinf(urvoy_keller2007_measures.las_response_s(sizes, 1.0, 0.0, sizes)[2])


def test_measures_of_a_short_run() -> None:
    experiment = next(one for one in REPORT.experiments if one.id == "bp-9.67-3")
    scenario = experiment.loaded().override(duration="60s")
    run = run_one(scenario, parse("las"), experiment.prepare(workload(scenario), 0))
    found = urvoy_keller2007_measures.downloads(run)
    assert found["unique_mbps"] == pytest.approx(3.0, rel=0.1)
    assert 2 < found["capacity_mbps"] < 5
    assert found["smallest_s"] < found["half_s"] < found["ninety_s"]
    assert found["smallest_presence_s"] < found["smallest_s"]
