"""Chen 2012, 9.2.2 and 9.3.2: what applications do inside connections."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.scenario.scenario import load_scenario
from mayfly_papers.chen2012.apps import profile as chen2012_apps_profile
from mayfly_papers.chen2012.apps import replay as chen2012_apps
from mayfly_papers.chen2012.apps import tables as apps_tables
from mayfly_papers.declare import capture_facts
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.declare.figure import figures_page
from mayfly_papers.pages import PAGES
from mayfly_papers.report.reproduce import reproduce

ROOT = Path(__file__).parents[2]
APPS = next(item for item in PAGES if item.id == "chen-2012-apps")


@pytest.fixture(autouse=True)
def from_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def captures():
    absent = [name for name in capture_facts.CAPTURES if not capture_facts.is_present(name)]
    if absent:
        pytest.skip(f"captures {', '.join(absent)} are not beside the checkout")


@pytest.fixture(scope="session")
def apps_runs() -> Runs:
    return Runs(APPS.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", chen2012_apps.CLAIMS, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, apps_runs: Runs) -> None:
    finding = claim.check(apps_runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own_and_every_reason_a_claim():
    ids = [claim.id for claim in APPS.claims]
    assert len(ids) == len(set(ids))
    assert set(chen2012_apps.DIFFERENCES) | set(chen2012_apps_profile.DIFFERENCES) <= set(ids)


@pytest.mark.parametrize("claim", chen2012_apps_profile.CLAIMS, ids=lambda claim: claim.id)
def test_claim_on_captures_stands_as_declared(claim: Claim, captures) -> None:
    finding = claim.check(Runs(()))
    assert finding.expected, finding.account


def test_all_forms_hold_the_same_connections():
    scenario = load_scenario("whatif", {"network.rate": "10mbit", "network.buffer": 300})
    lists = {form: chen2012_apps.drawn(form)(scenario, 0) for form in chen2012_apps.FORMS}
    payload = {form: int(flows["size_bytes"].sum()) for form, flows in lists.items()}
    assert payload["scripted"] == payload["legacy"] < payload["recorded"] < 1.05 * payload["legacy"]
    assert lists["recorded"].height == lists["legacy"].height


def connection(**other) -> dict:
    """A well-behaved one."""
    flags = {f"{end}_{flag}": False for end in ("opener", "responder") for flag in ("fin", "rst")}
    data = {"opener_distinct_bytes": 1, "responder_distinct_bytes": 1}
    return {"rtt_s": 0.1, **flags, **data, "responder_rst": True} | other


def test_well_behaved_is_a_handshake_data_both_ways_and_an_end():
    kinds = [
        {},
        {"rtt_s": None},
        {"opener_distinct_bytes": 0},
        {"responder_distinct_bytes": 0},
        {"responder_rst": False},
    ]
    frame = pl.DataFrame([connection(connection_id=place, **kind) for place, kind in enumerate(kinds)])
    trains = pl.DataFrame({"connection_id": [0, 0, 1, 4]})
    found = apps_tables.well_behaved(frame, trains)
    assert found.connections["connection_id"].to_list() == [0] and found.trains.height == 2


def test_the_first_train_of_a_connection_has_no_warm_up():
    columns = {"connection_id": [3, 3, 3, 5, 5], "side": ["opener", "responder", "opener", "responder", "opener"]}
    trains = pl.DataFrame(columns | {"warm_up_s": [0.0, 0.1, 0.2, 0.0, 0.4], "packets": [1, 2, 3, 4, 5]})
    paths = {"connection_id": [3, 5], "handshake_to_opener_s": [0.05, 0.1]}
    found = apps_tables.Transfers(pl.DataFrame(paths), trains)
    assert found.own_warm_ups_s("initiator") == pytest.approx([0.15, 0.3])
    assert found.warm_ups_s("initiator").tolist() == [0.2, 0.4] and found.warm_ups_s("remote party").tolist() == [0.1]
    assert found.train_packets("remote party").tolist() == [2, 4]


def test_of_two_distributions_the_larger():
    assert apps_tables.larger(np.array([1, 3]), np.array([2, 3])) == (0 + 0 + 1 + 0.5) / 4
    assert apps_tables.near_one(np.array([0.8, 1.0, 1.25, 1.3])) == 0.75


def test_sides_left_out_have_too_few(captures):
    counted = {side: apps_tables.INTERNET if side == "Internet" else apps_tables.INTRANET for side in apps_tables.SIDES}
    for side, names in counted.items():
        for name in capture_facts.CAPTURES:
            found = apps_tables.transfers(side, name).connections.height
            assert (found >= apps_tables.FEWEST) == (name in names), (side, name, found)


def test_the_table_has_a_column_for_each_side_of_a_capture(captures):
    text = apps_tables.profile_table(Runs(()))
    assert "| connections | 3000 | 518 | 89 | 522 | 3000 | 201 | 93 |" in text
    assert text.count("\n|") == 2 + len(apps_tables.ROWS)


def test_pictures_are_shares_above_of_what_is_there(monkeypatch):
    monkeypatch.setattr(apps_tables, "is_present", lambda name: name == "office")
    drawn = apps_tables.figures()
    assert {curve.kind for figure in drawn for curve in figure.curves} == {"Internet, office"}
    for figure in drawn:
        [curve] = figure.curves
        assert np.all(np.diff(curve.y) <= 0) and min(curve.y) > 0 and max(curve.y) < 1
    assert_drawn(APPS.figures[0], drawn)
    assert "Figure 9.4: warm-ups of the remote party" in figures_page("Figures", drawn)


def test_a_capture_that_is_not_there_leaves_its_claims_unmeasured(monkeypatch):
    monkeypatch.setitem(capture_facts.CAPTURES, "gone", ("absent/gone.pcap.gz", None))
    monkeypatch.setattr(chen2012_apps_profile, "transfers", lambda side, name: capture_facts.profiled("gone"))
    found = reproduce(["chen-2012-fig-9.5"])
    assert [(claim.finding, claim.failure) for claim in found.checked] == [
        (None, "absent/gone.pcap.gz: not beside the checkout")
    ] * 2
