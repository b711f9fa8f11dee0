"""No statement of Chen 2012, ch. 8 differs on a capture at hand without a reason."""

from pathlib import Path

import pytest

from mayfly.papers import ITEMS, chen2012_traffic
from mayfly.papers.capture_facts import CAPTURES, told
from mayfly.papers.declaration import Claim, Runs

ROOT = Path(__file__).parents[2]
TRAFFIC = next(item for item in ITEMS if item.id == "chen-2012-traffic")


@pytest.fixture(autouse=True)
def from_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def present():
    for file, _ in CAPTURES.values():
        if not (ROOT / file).exists():
            pytest.skip(f"{Path(file).name} is not beside the checkout")


@pytest.mark.slow
@pytest.mark.parametrize("claim", TRAFFIC.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim) -> None:
    present()
    finding = claim.check(Runs(()))
    assert finding.expected, finding.account


def test_every_reason_has_a_claim() -> None:
    ids = [claim.id for claim in TRAFFIC.claims]
    assert len(ids) == len(set(ids)) and set(chen2012_traffic.DIFFERENCES) <= set(ids)


def test_the_classes_of_table_8_2_are_those_of_the_text() -> None:
    counts = [counts[0] for counts in chen2012_traffic.TABLE_8_2.values()]
    assert sum(counts) == 1_137_969


def test_shares_of_a_capture_are_those_of_its_connections() -> None:
    document = told("office")
    assert chen2012_traffic.class_share(document, "lc-rp") == 1
    assert chen2012_traffic.side_share(document, "external") == 1
    up, down = (document["directions"]["bytes"][f"external {way}"]["bytes"] for way in ("up", "down"))
    left_out = document["directions"]["left_out"]["immature"]["bytes"]
    assert chen2012_traffic.down_over_up(document, "external") == down / up
    assert up + down + left_out == document["dataset"]["bytes"]


@pytest.mark.slow
def test_the_tables_have_a_column_for_each_capture() -> None:
    present()
    text = chen2012_traffic.tables(Runs(()))
    assert text.count("| Eurecom | office | lab | home | mix |") == 3
