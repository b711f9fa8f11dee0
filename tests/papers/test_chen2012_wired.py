"""No claim of Chen 2012, 4.5 and 4.6 differs without a reason, and no reason is contradicted."""

import pytest

from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES

DIFFERENCES = reasons("mayfly_papers.chen2012.wired")

WIRED = PAGES[0]


@pytest.fixture(scope="session")
def wired_runs() -> Runs:
    return Runs(WIRED.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", WIRED.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, wired_runs: Runs) -> None:
    finding = claim.check(wired_runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own() -> None:
    ids = [claim.id for claim in WIRED.claims]
    assert len(ids) == len(set(ids))


def test_every_reason_belongs_to_a_claim() -> None:
    assert set(DIFFERENCES) <= {claim.id for claim in WIRED.claims}


def test_every_discipline_and_both_readings_of_every_load_are_declared() -> None:
    loads = {experiment.overrides["workload.load"] for experiment in WIRED.experiments}
    assert {8_000_000, 5_800_000, 15_000_000, 10_400_000, 4_000_000, 12_000_000} <= loads
    for experiment in WIRED.experiments:
        assert {"fifo", "las", "run2c", "efd", "lars"} <= set(experiment.disciplines)
        assert experiment.loaded().duration == 1000.0
