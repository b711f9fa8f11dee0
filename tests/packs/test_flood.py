"""The pack about a flood of UDP: cases, what is measured, and the table of its page."""

from pathlib import Path

import polars as pl
import pytest
from browser import figures_in

from mayfly import MayflyError, flood
from mayfly.packs.flood import LONG, MIXED, cases
from mayfly.packs.flood_report import flood_page, sentences

PAGE = Path(__file__).parents[2] / "docs" / "estimate" / "applications.md"


@pytest.fixture(scope="module")
def found():
    return flood("fifo,fq_codel", duration="24s", replications=2)


def test_cases_have_the_flows_they_name():
    for case in cases():
        rows = case.scenario.workload
        udp = sum(row.flows for row in rows.cbr)
        assert udp == {"calm": 0, "long": LONG, "mixed": MIXED}[case.id.partition("-")[0]]
        assert bool(rows.short_term) == (not case.id.startswith("long"))
        if udp:
            assert (rows.cbr[0].spread == 0) == case.id.endswith("in-step")


def test_rows_add_up_to_the_link(found):
    for (case, discipline), own in found.table.partition_by("case", "discipline", as_dict=True).items():
        assert own["share"].sum() == pytest.approx(1.0), (case, discipline)
        # Link headers do not exist: 28 Mb/s is all there is.
        assert own["throughput_mbps"].sum() < 28.01
        assert own["drop_rate"].is_between(0, 1).all()
    flooded = found.table.filter(pl.col("case").str.starts_with("long"))
    assert flooded["group"].unique().sort().to_list() == ["flood", "long"]


def test_only_short_flows_have_response_times(found):
    short = pl.col("group") == "short"
    known = pl.col("response_s").is_not_null() & pl.col("response_ci95_s").is_not_null()
    assert found.table.filter(short).select(known.all()).item()
    assert not found.table.filter(~short).select(pl.col("response_s").is_not_null().any()).item()


def test_fair_queueing_takes_from_the_flood_what_drop_tail_leaves_it(found):
    def rate(discipline, group):
        row = found.table.filter(case="long-staggered", discipline=discipline, group=group)
        return row["throughput_mbps"].item()

    assert rate("fq_codel", "flood") < rate("fifo", "flood")
    assert rate("fq_codel", "long") > rate("fifo", "long")


def test_tables_hold_every_discipline_and_case(found):
    assert len(found.tables()) == len(cases())
    text = found.markdown()
    assert text.count("| `fq_codel` |") == len(cases()) and "**14 CBR flows in step" in text


def test_files_and_summary(found, tmp_path):
    files = found.write(tmp_path / "out")
    assert pl.read_parquet(files["table"]).equals(found.table)
    assert [case["case"] for case in found.summary["cases"]] == [case.id for case in cases()]


def test_bad_input_is_one_line():
    with pytest.raises(MayflyError, match="duration"):
        flood("fifo", duration="0s")
    with pytest.raises(MayflyError, match="fifoo"):
        flood("fifoo")


@pytest.mark.papers
def test_the_page_shows_what_the_pack_measures():
    assert flood(replications=4).markdown() in PAGE.read_text()


def test_the_page_leads_with_what_is_left_to_tcp(found):
    page = flood_page(found)
    [(key, figure)] = figures_in(page).items()
    assert key == "left" and page.index(sentences(found)[0][:30]) < page.index('id="plot-left"') < page.index("<table>")
    flooded = found.table.filter(pl.col("case").str.starts_with("long-"), group="long")
    for label in ("fifo", "fq_codel"):
        worst = flooded.filter(discipline=label)["throughput_mbps"].min()
        bars = [trace for trace in figure["data"] if trace["meta"] == label and trace["xaxis"] == "x2"]
        assert bars[0]["x"] == [pytest.approx(worst, rel=1e-4)]
    assert page.count("<table>") == len(found.labels)
