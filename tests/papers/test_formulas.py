"""No statement that a formula answers differs without a reason."""

import pytest

from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.formulas.claims import DIFFERENCES
from mayfly_papers.pages import PAGES

FORMULAS = next(item for item in PAGES if item.id == "formulas")


@pytest.mark.parametrize("claim", FORMULAS.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim) -> None:
    finding = claim.check(Runs(()))
    assert finding.expected, finding.account


def test_every_reason_has_a_claim() -> None:
    ids = [claim.id for claim in FORMULAS.claims]
    assert len(ids) == len(set(ids)) and set(DIFFERENCES) <= set(ids)
