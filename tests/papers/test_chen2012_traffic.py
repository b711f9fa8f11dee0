"""No statement of Chen 2012, ch. 8 differs on a capture at hand without a reason."""

from pathlib import Path

import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly_papers.chen2012.traffic import captures as chen2012_traffic
from mayfly_papers.chen2012.traffic import figures as traffic_figures
from mayfly_papers.chen2012.traffic import hosts as chen2012_hosts
from mayfly_papers.declare.capture_facts import CAPTURES, told
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.declare.figure import figures_page
from mayfly_papers.pages import PAGES

ROOT = Path(__file__).parents[2]
TRAFFIC = next(item for item in PAGES if item.id == "chen-2012-traffic")


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
    assert len(ids) == len(set(ids)) and set(chen2012_traffic.DIFFERENCES | chen2012_hosts.DIFFERENCES) <= set(ids)


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


def test_hosts_of_the_office_send_and_receive_what_its_profile_says() -> None:
    found = chen2012_hosts.clients("office", "external")
    assert found.height == 6 and chen2012_hosts.clients("office", "internal").is_empty()
    told_so = chen2012_hosts.median("office", "down_up_external", "bytes")(Runs(()))
    # Of six values the third: half of them are at or below it.
    assert told_so[0] == sorted(found["down_up_external_bytes"])[2]


@pytest.mark.slow
def test_captures_are_taken_where_enough_clients_have_a_ratio() -> None:
    present()
    of = {"external": chen2012_hosts.EXTERNAL, "internal": chen2012_hosts.INTERNAL, "both": chen2012_hosts.BOTH}
    for side, names in of.items():
        enough = [name for name in CAPTURES if chen2012_hosts.clients(name, side).height >= chen2012_hosts.FEWEST]
        assert tuple(enough) == names


def test_a_host_is_steady_with_one_role_in_three_traces() -> None:
    told_so = pl.DataFrame(
        {"server": [3, 0, 3, 2, 0], "client": [0, 5, 1, 0, 0]},
    ).with_columns(verdict=pl.Series(["always server", "always client", "likely server", "always server", "-"]))
    assert chen2012_hosts.steady_share(told_so) == 2 / 5


def test_pictures_of_the_office_alone(monkeypatch) -> None:
    monkeypatch.setattr(traffic_figures, "is_present", lambda name: name == "office")
    drawn = traffic_figures.figures()
    assert all(len(curve.x) == len(curve.y) > 0 for figure in drawn for curve in figure.curves)
    assert "Figure 8.6: quantiles of flow sizes, office" in figures_page("Figures", drawn)


@pytest.mark.slow
def test_every_figure_is_drawn_from_all_captures() -> None:
    present()
    drawn = traffic_figures.figures()
    assert_drawn(TRAFFIC.figures[0], drawn)
    assert all(len(curve.x) == len(curve.y) > 0 for figure in drawn for curve in figure.curves)


@pytest.mark.slow
def test_the_tables_have_a_column_for_each_capture() -> None:
    present()
    text = chen2012_traffic.tables(Runs(()))
    assert text.count("| Eurecom | office | lab | home | mix |") == 3
