"""Tables and plots of a wireless cell, from real runs."""

import json
import re

import pytest
from sections import html_of, section_text, text_of

from mayfly.comparison.comparison import compare
from mayfly.comparison.figures.cell import cell_figures
from mayfly.comparison.page import page_text
from mayfly.comparison.sections import cell
from mayfly.scenario.scenario import load_scenario
from mayfly.show.palette import styles

STYLES = styles(["fifo", "lasack"])


@pytest.fixture(scope="module")
def mixed():
    return compare(load_scenario("wlan", {"duration": "20s"}), "fifo,lasack")


@pytest.fixture(scope="module")
def endless():
    over = {"duration": "8s", "warm_up": "2s", "replications": 2}
    return compare(load_scenario("wlan-5v5", over), "fifo,lasack")


def test_the_table_has_a_line_per_direction_and_the_figures_of_the_summary(endless):
    rows = endless.summary["disciplines"]
    text = text_of(cell.tables(endless.summary)[0])
    assert [line.split()[0] for line in text.splitlines() if "downloads" in line][1:] == ["fifo", "lasack"]
    assert text.count("uploads") == 1 + len(rows)
    assert "short" not in text, "endless flows have no response time"
    for row in rows:
        assert f"{row['wlan']['jain']['flows']:.3f}" in text
    fair = rows[1]["wlan"]
    assert fair["up_down_ratio"] < rows[0]["wlan"]["up_down_ratio"]
    assert fair["goodput_mbps"]["down"]["ci95"] is not None


def test_a_direction_without_flows_has_no_line():
    result = compare(load_scenario("wlan-slow-station", {"duration": "3s"}), "fifo")
    text = text_of(cell.tables(result.summary)[0])
    assert "downloads" in text.splitlines()[-1]
    assert "uploads" not in "".join(text.splitlines()[1:])


def test_a_narrow_terminal_gets_the_first_columns_and_the_names_of_the_others(mixed):
    text = text_of(cell.tables(mixed.summary)[0], 50)
    assert max(map(len, text.splitlines())) <= 50
    assert "no room for: " in text


def test_without_a_cell_there_is_no_table(mixed):
    wired = compare(load_scenario("wired", {"duration": "2s"}), "fifo")
    assert html_of(cell.SECTION, wired.summary) == ""
    assert cell_figures(wired.summary["disciplines"], wired.records, STYLES, 1460) == []


def test_the_plots_are_those_of_records_and_summary(mixed):
    rows = mixed.summary["disciplines"]
    found = {figure.key: figure for figure in cell_figures(rows, mixed.records, STYLES, 1460)}
    assert list(found) == ["cell-goodput", "cell-down", "cell-up", "cell-presence", "cell-air", "cell-again"]
    for row, bars in zip(rows, found["cell-goodput"].data, strict=True):
        got = row["wlan"]["goodput_mbps"]
        assert bars["y"] == pytest.approx([got["down"]["mean"], got["up"]["mean"]], rel=1e-4)
    for way in ("down", "up"):
        flows = mixed.records.filter(discipline="fifo", direction=way)
        assert sum(found[f"cell-{way}"].data[0]["customdata"]) == flows["finish_s"].count()
    for figure in found.values():
        assert all(trace["meta"] in STYLES for trace in figure.data)
    assert len(found["cell-air"].data[0]["y"]) == 10


def test_flows_that_never_end_leave_the_curves_by_size_out(endless):
    found = [figure.key for figure in cell_figures(endless.summary["disciplines"], endless.records, STYLES, 1460)]
    assert found == ["cell-goodput", "cell-air", "cell-again"]


def test_the_page_has_the_cell(mixed):
    page = page_text(mixed.summary, mixed.records, mixed.samples)
    assert "<dt>cell</dt><dd>802.11a, 54mbit, 10 stations</dd>" in page
    assert "<dt>link rate</dt>" not in page
    for head in ("Wireless cell: downloads and uploads", "Frames on the air", "Stations"):
        assert f"<h2>{head}</h2>" in page
    plots = json.loads(re.search(r'id="figures">(.*?)</script>', page, re.DOTALL)[1])
    assert {"cell-goodput", "cell-air"} <= {plot["key"] for plot in plots}


def test_groups_of_transfers_have_a_table_of_their_own(mixed, endless):
    result = compare(load_scenario("wlan-enterprise", {"duration": "20s"}), "fifo")
    text = section_text(cell.SECTION, result.summary)
    groups = result.summary["disciplines"][0]["wlan"]["groups"]
    assert [(row["group"], row["direction"]) for row in groups[:3]] == [
        ("internet", "down"),
        ("internet", "up"),
        ("intranet", "down"),
    ]
    assert "intranet, up" in text
    assert sum(row["flows"] for row in groups) == result.records.height
    far, near = (
        next(row["short"]["mean_s"] for row in groups if row["group"] == name) for name in ("internet", "intranet")
    )
    assert far > 4 * 0.1 > near, "a short transfer takes four round trips or more"
    page = page_text(result.summary, result.records, result.samples)
    assert "<h2>Wireless cell: transfers by group</h2>" in page and "<h2>What TCP sent</h2>" in page
    assert cell.GROUPS not in section_text(cell.SECTION, mixed.summary)
    assert cell.GROUPS not in section_text(cell.SECTION, endless.summary), "these never end"


def test_the_summary_is_json_with_everything_of_a_cell(mixed):
    row = json.loads(json.dumps(mixed.summary, allow_nan=False))["disciplines"][0]["wlan"]
    assert set(row) == {
        "goodput_mbps",
        "up_down_ratio",
        "access_point",
        "directions",
        "mac",
        "jain",
        "stations",
        "groups",
    }
    assert len(row["stations"]) == 10
    assert row["mac"]["queue_drops"] == sum(row["access_point"][kind]["drops"] for kind in ("data", "acks"))
