"""No claim of Zhao 2004, Table III and chapter IV, differs without a reason, and no reason is contradicted."""

import pytest

from mayfly.papers import ITEMS
from mayfly.papers.declaration import Claim, Runs

ZHAO = next(item for item in ITEMS if item.id == "zhao-2004")


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
