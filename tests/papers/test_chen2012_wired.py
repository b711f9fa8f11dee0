"""No claim of Chen 2012, 4.5 and 4.6 differs without a reason, and no reason is contradicted."""

import numpy as np
import pytest

from mayfly.simulate.run import workload
from mayfly_papers.chen2012.wired.draws import class_means, draws, mean_table
from mayfly_papers.chen2012.wired.transfers import SETTING
from mayfly_papers.chen2012.wired.unknowns import CALIBRATION
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
        assert {"fifo", "las", "run2c", "efd"} <= set(experiment.disciplines)
        assert any(label.startswith("lars") for label in experiment.disciplines)
        assert experiment.loaded().duration == 1000.0


def test_the_page_runs_its_setting_and_that_is_one_of_those_searched() -> None:
    assert all(SETTING[unknown.id] in unknown.values for unknown in CALIBRATION.unknowns)
    page = {own.id: own for own in WIRED.experiments}
    for own in CALIBRATION.experiments(SETTING):
        timer = {"tcp.min_rto": SETTING["timer"]}
        assert own.overrides == page[own.id].overrides | timer and own.disciplines == page[own.id].disciplines
        assert own.loaded().tcp == page[own.id].loaded().tcp


def test_draws_are_those_of_the_runs() -> None:
    own, flows = draws(5_800_000, 2), workload(next(e for e in WIRED.experiments if e.id == "wired-5.8").loaded(), 1)
    assert own.transfers[1] == flows.height
    packets = flows["size_bytes"].to_numpy() // 1460
    assert (own.short_packets[1], own.long_packets[1]) == class_means(packets)
    assert own.offered_mbps[1] == pytest.approx(packets.sum() * 1500 * 8e-9)
    # Transfers that start evenly stay 32.5 s on average: 30 s, and half the time between visits.
    assert mean_table(np.arange(0, 900, 0.01)) == pytest.approx(90_000 * 32.5 / 1000, rel=1e-3)
