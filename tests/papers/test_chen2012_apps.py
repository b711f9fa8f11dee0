"""Chen 2012, 9.2.2 and 9.3.2: what applications do inside connections."""

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.papers import ITEMS, apps_tables, chen2012_apps
from mayfly.papers.declaration import Claim, Runs
from mayfly.simulate.scenario import load_scenario

APPS = next(item for item in ITEMS if item.id == "chen-2012-apps")


@pytest.fixture(scope="session")
def apps_runs() -> Runs:
    return Runs(APPS.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", APPS.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, apps_runs: Runs) -> None:
    finding = claim.check(apps_runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own_and_every_reason_a_claim():
    ids = [claim.id for claim in APPS.claims]
    assert len(ids) == len(set(ids)) and set(chen2012_apps.DIFFERENCES) <= set(ids)


def test_all_forms_hold_the_same_connections():
    scenario = load_scenario("whatif", {"network.rate": "10mbit", "network.buffer": 300})
    lists = {form: chen2012_apps.drawn(form)(scenario, 0) for form in chen2012_apps.FORMS}
    payload = {form: int(flows["size_bytes"].sum()) for form, flows in lists.items()}
    assert payload["scripted"] == payload["legacy"] < payload["recorded"] < 1.05 * payload["legacy"]
    assert lists["recorded"].height == lists["legacy"].height


def test_the_shares_are_of_well_behaved_connections():
    text = apps_tables.profile_table(Runs(()))
    assert "office, 518 connections" in text
    assert text.count("\n|") == 9
